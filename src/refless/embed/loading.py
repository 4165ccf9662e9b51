"""Models of Hugging Face's transformers; nothing is ever downloaded, no code of a model run.

A model is a folder, or a name that is in Hugging Face's cache. Weights are read from safetensors
alone: the older `.bin` files are pickles, which can hold code.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from refless.embed.static import static_files
from refless.errors import MissingExtraError, UsageError
from refless.outside import check_foreign, is_folder, json_in

UNLIMITED = 1 << 20  # tokens of a text, where a model says no other number


def model_name(model: str) -> str:
    """The last part of a model's path or name."""
    return Path(model).resolve().name if is_folder(model) else model.rpartition("/")[2]


def folder_of(model: str) -> Path:
    """Where a model lies on this machine.

    Raises:
        MissingExtraError: the extra is not installed.
        UsageError: it is neither a folder nor in Hugging Face's cache.
    """
    if is_folder(model):
        return Path(model)
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError as missing:
        raise MissingExtraError(f"the model '{model}'", "neural") from missing
    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError, ValueError) as absent:
        raise UsageError(
            f"'{model}' is neither a folder nor in Hugging Face's cache; name a folder, or fetch "
            f"it first where there is a network: hf download {model}"
        ) from absent


@cache
def loaded(folder: str, *, causal: bool = False) -> tuple[Any, Any]:
    """Tokenizer and network of an encoder, or of a causal language model, in memory once.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        UsageError: the folder holds no such model, asks for code of its own, or is damaged.
    """
    kind = "language model" if causal else "encoder"
    if static_files(Path(folder)) is not None:
        what = kind if causal else "layer of an encoder"
        need = f"a {what} of transformers is needed here"
        raise UsageError(f"'{folder}' holds static embeddings; {need}")
    try:
        import torch
        from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, logging
    except ImportError as missing:
        raise MissingExtraError(f"the {kind} '{folder}'", "neural") from missing
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    _check_no_code(Path(folder))
    safe = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _offline():
            tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
            of_kind: Any = AutoModelForCausalLM if causal else AutoModel
            network, told = of_kind.from_pretrained(
                folder,
                dtype=torch.float32,
                use_safetensors=True,
                output_loading_info=True,
                **safe,
            )
            absent = [one for one in told["missing_keys"] if not one.startswith("pooler.")]
            sizes = network.config.hidden_size, network.config.num_hidden_layers
    except BaseException as broken:  # whatever a damaged folder leads to
        check_foreign(broken)
        why = " ".join(str(broken).split())[:300]
        raise UsageError(f"'{folder}' holds no {kind} that can be loaded: {why}") from broken
    if absent:  # they would be drawn at random
        raise UsageError(f"'{folder}' holds no {kind}: weights are missing ({min(absent)})")
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise UsageError(f"'{folder}' holds no {kind}: it has no hidden layers")
    return tokenizer, network.eval()


def _check_no_code(folder: Path) -> None:
    """Raises UsageError for a model that works only with code of its own, or as a pickle."""
    for name in ("config.json", "tokenizer_config.json"):
        said = json_in(folder / name, dict)
        if "auto_map" in said:
            raise UsageError(
                f"'{folder}' asks for code of its own to be run ('auto_map' in {name}), which "
                "refless never does; choose an encoder that transformers knows"
            )
        kernel = [said.get(key) for key in ("attn_implementation", "_attn_implementation")]
        if any(isinstance(one, str) and "/" in one for one in kernel):
            raise UsageError(f"'{folder}' asks for a kernel from elsewhere ({name}); remove that")
    if any(folder.glob("*.bin")) and not any(folder.glob("*.safetensors*")):
        raise UsageError(
            f"'{folder}' has its weights as a pickle (.bin), which can hold code and is never "
            "loaded; save the model again: model.save_pretrained(FOLDER) writes safetensors"
        )


@contextmanager
def _offline() -> Iterator[None]:
    """Keeps Hugging Face's libraries from asking their hub anything meanwhile."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def plain(text: str) -> str:
    """The text without what UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
