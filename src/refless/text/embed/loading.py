"""Models of Hugging Face's transformers; nothing is ever downloaded, no code of a model run.

A model is a folder, or a name that is in Hugging Face's cache. Weights are read from safetensors
alone: the older `.bin` files are pickles, which can hold code.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refless.files.untrusted import check_foreign, is_folder, json_in
from refless.registry.errors import MissingExtraError, UsageError
from refless.text.embed.static import static_files

BUILT_IN = (
    "wordllama"  # the package whose table of vectors is there wherever refless is
)
SAFE = {"local_files_only": True, "trust_remote_code": False}
UNLIMITED = 1 << 20  # tokens of a text, where a model says no other number
KERNELS = ("attn_implementation", "experts_implementation")
LARGEST = {  # whole numbers of a configuration, by their names: what is built one by one has least
    "layers?$": 1 << 10,
    "^num_": 1 << 16,
    "^(?!.*theta)": 1 << 24,
    "": 1 << 40,
}


def model_name(model: str) -> str:
    """The last part of a model's path or name."""
    return Path(model).resolve().name if is_folder(model) else model.rpartition("/")[2]


def folder_of(model: str) -> Path:
    """The folder of a model on this machine.

    Raises:
        MissingExtraError: the extra is not installed.
        UsageError: it is neither a folder nor in Hugging Face's cache.
    """
    package = find_spec(BUILT_IN) if model == BUILT_IN else None
    # it is only looked for: none of its code is run
    if package is not None and package.origin:
        return Path(package.origin).parent
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
def described(folder: str) -> tuple[Any, Any]:
    """Tokenizer and configuration of an encoder, in memory once.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        UsageError: the folder holds no such model, asks for code of its own, or is damaged.
    """
    if static_files(Path(folder)) is not None:
        need = "a layer of an encoder of transformers is needed here"
        raise UsageError(f"'{folder}' holds static embeddings; {need}")
    try:
        import torch  # noqa: F401 - transformers needs it, and says so late
        from transformers import AutoConfig, AutoTokenizer, logging
    except ImportError as missing:
        raise MissingExtraError(f"the encoder '{folder}'", "neural") from missing
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    _check_no_code(Path(folder))
    with _refused_if_damaged(folder), _offline():
        tokenizer = AutoTokenizer.from_pretrained(folder, **SAFE)
        config = AutoConfig.from_pretrained(folder, **SAFE)
        sizes = config.hidden_size, config.num_hidden_layers
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise UsageError(f"'{folder}' holds no encoder: it has no hidden layers")
    return tokenizer, config


@cache
def network_of(folder: str, layers: int, device: str, precision: str) -> Any:  # noqa: ANN401
    """The first layers of an encoder's network, in memory once.

    Args:
        folder: of the encoder.
        layers: how many; the others are not computed.
        device: `cpu` or `cuda`.
        precision: name of torch's type of the numbers.

    Raises:
        MissingExtraError, UsageError: as of `described`.
    """
    _, config = described(folder)
    import torch
    from transformers import AutoModel

    with _refused_if_damaged(folder), _offline():
        network, loading = AutoModel.from_pretrained(
            folder,
            dtype=getattr(torch, precision),
            use_safetensors=True,
            output_loading_info=True,
            **SAFE,
        )
        absent = [
            key for key in loading["missing_keys"] if not key.startswith("pooler.")
        ]
    if absent:  # they would be drawn at random
        raise UsageError(
            f"'{folder}' holds no encoder: weights are missing ({min(absent)})"
        )
    for module in [*network.modules()]:
        stacked = isinstance(module, torch.nn.ModuleList)
        if stacked and len(module) == config.num_hidden_layers:
            del module[layers:]
    return network.eval().to(device)


@contextmanager
def _refused_if_damaged(folder: str) -> Iterator[None]:
    """Whatever a damaged folder leads to becomes one UsageError."""
    try:
        yield
    except BaseException as broken:
        check_foreign(broken)
        why = " ".join(str(broken).split())[:300]
        raise UsageError(
            f"'{folder}' holds no encoder that can be loaded: {why}"
        ) from broken


def _check_no_code(folder: Path) -> None:
    """Raises UsageError for a model that needs code, a pickle, or sizes that none has."""
    for name in ("config.json", "tokenizer_config.json"):
        for key, value in _settings(json_in(folder / name, dict)):
            _check_setting(f"'{folder}'", name, key, value)
    if (folder / "adapter_config.json").exists():
        raise UsageError(
            f"'{folder}' holds an adapter; merge it with its model and save that"
        )
    again = "save the model again: model.save_pretrained(FOLDER) writes safetensors"
    if any(folder.glob("*.bin")) and not any(folder.glob("*.safetensors*")):
        raise UsageError(
            f"'{folder}' has its weights as a pickle (.bin), which can hold code and is never "
            f"loaded; {again}"
        )
    index = folder / "model.safetensors.index.json"
    shards = json_in(index, dict).get("weight_map", {})
    for name in shards.values() if isinstance(shards, dict) else [shards]:
        if not (isinstance(name, str) and re.fullmatch(r"[^/\\]+\.safetensors", name)):
            message = f"'{folder}' has weights in {name!r} ({index.name})"
            raise UsageError(
                f"{message}, which is no .safetensors file of that folder; {again}"
            )


def _settings(settings: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    """The names and values of a configuration, and of those within it."""
    pairs = settings.items() if isinstance(settings, dict) else enumerate(settings)
    for key, value in pairs:
        yield str(key), value
        if isinstance(value, dict | list):
            yield from _settings(value)


def _check_kernel(folder: str, name: str, key: str, value: object) -> None:
    """Raises UsageError for a kernel that is not among those of the library."""
    if value is not None and (not isinstance(value, str) or "/" in value):
        raise UsageError(
            f"{folder} asks for a kernel from elsewhere ({name}); remove '{key}'"
        )


def _check_setting(folder: str, name: str, key: str, value: object) -> None:
    """Raises UsageError for what leads to code or weights from elsewhere, or builds without end."""
    if key == "auto_map":
        raise UsageError(
            f"{folder} asks for code of its own to be run ('auto_map' in {name}), which "
            "refless never does; choose an encoder that transformers knows"
        )
    if key.strip("_").removesuffix("_internal") in KERNELS:
        _check_kernel(folder, name, key, value)
    if key == "transformers_weights":
        raise UsageError(
            f"{folder} names a file of weights itself ({name}); remove '{key}'"
        )
    message = next(most for ending, most in LARGEST.items() if re.search(ending, key))
    if name == "config.json" and isinstance(value, int) and abs(value) > message:
        raise UsageError(
            f"{folder} has {key} {value} in {name}; at most {message} is read"
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
