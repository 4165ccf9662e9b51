"""An encoder of Hugging Face's transformers; nothing is ever downloaded, no code of a model run.

It is a folder, or a name that is in Hugging Face's cache. Weights are read from safetensors alone:
the older `.bin` files are pickles, which can hold code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from refless.embed.digests import folder_digest, stamp
from refless.embed.embedded import Embedded, VectorArray
from refless.errors import InputError, MissingExtraError, UsageError
from refless.matching import Progress
from refless.outside import check_foreign, is_file, is_folder, json_of
from refless.tokenize import distinct

MODULES = {"Transformer", "Pooling", "Normalize"}  # of sentence-transformers that are known here
REMEMBERED = 50_000  # most texts whose vectors stay in memory, for estimators that read them again
UNLIMITED = 1 << 20  # tokens of a text, where a model says no other number
BATCH_TOKENS = 8_192  # tokens, padding included, that go through an encoder at once
LAYERS = {  # the layers of BERTScore's own release (Zhang et al. 2020), by the model's name
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-cased-finetuned-mrpc": 9,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "albert-base-v2": 9,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "deberta-large-mnli": 18,
    "deberta-xlarge-mnli": 40,
}

_SENTENCES: dict[tuple[str, tuple[int, int], int], dict[str, VectorArray]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """An encoder of Hugging Face's transformers.

    Attributes:
        model: a folder, or a name in Hugging Face's cache.
        layer: hidden layer whose vectors are taken, 0 for the input embeddings; None takes the one
            of BERTScore's release for a model that it knows, else the last.
    """

    model: str
    layer: int | None = None

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the texts' tokens; texts longer than the model can read are cut.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            UsageError: no such model here, or no such layer.
        """
        once, rows = distinct(texts)
        tokenizer, network = _loaded(str(folder_of(self.model)))
        layer = self.resolved_layer()
        ids = _token_ids(tokenizer, network, once)
        marks = set(tokenizer.all_special_ids)
        starts = np.cumsum([0, *map(len, ids)])
        flat = np.array([i for row in ids for i in row], dtype=np.int64)
        vectors = np.zeros((len(flat), network.config.hidden_size), dtype=np.float32)
        for i, states in _states(tokenizer, network, ids, once, layer):
            vectors[starts[i] : starts[i + 1]] = states
        special = np.isin(flat, list(marks - {tokenizer.unk_token_id}))
        return Embedded(rows=rows, starts=starts, vectors=vectors, ids=flat, special=special)

    def sentences(self, texts: Sequence[str], progress: Progress | None = None) -> VectorArray:
        """[texts, dimensions] a vector of length 1 for each text; the last ones are remembered.

        The mean of its tokens' vectors, the model's own marks included, or the first one's where
        the model's `1_Pooling` says so: as sentence-transformers does it.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            UsageError: no such model here, no such layer, or another way of pooling.
        """
        folder = folder_of(self.model)
        tokenizer, network = _loaded(str(folder))
        layer, first = self.resolved_layer(), self.pooling() == "cls"
        known = _SENTENCES.setdefault((str(folder), stamp(folder), layer), {})
        new = [text for text in dict.fromkeys(texts) if text not in known]
        ids = _token_ids(tokenizer, network, new, _most_tokens(folder))
        for done, (i, states) in enumerate(_states(tokenizer, network, ids, new, layer), 1):
            vector = states[0] if first else states.mean(axis=0)
            known[new[i]] = vector / (np.linalg.norm(vector) or 1.0)
            if progress is not None:
                progress(done / len(new))
        found = np.zeros((len(texts), network.config.hidden_size), dtype=np.float32)
        for i, text in enumerate(texts):
            found[i] = known[text]
        for text in [*known][: max(0, len(known) - REMEMBERED)]:
            del known[text]
        return found

    def pooling(self) -> str:
        """How tokens' vectors become one: `mean`, or `cls`, the first one.

        Raises:
            UsageError: the model asks for another way.
        """
        folder = folder_of(self.model)
        said = _said(folder / "1_Pooling" / "config.json", dict)
        named = said.get("pooling_mode", [])  # as newer versions write it
        chosen = {named} if isinstance(named, str) else {*map(str, _list(named))}
        flags = {name for name, value in said.items() if name.startswith("pooling_mode_") and value}
        ways = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
        chosen |= {ways.get(name, name) for name in flags}
        modules = _said(folder / "modules.json", list)
        kinds = [one.get("type") if isinstance(one, dict) else one for one in modules]
        more = {str(kind).rpartition(".")[2] for kind in kinds} - MODULES
        if len(chosen) < 2 and chosen <= {*ways.values()} and not more:
            return chosen.pop() if chosen else "mean"
        what = ", ".join(sorted(chosen | more))
        raise UsageError(f"'{self.model}' makes sentences by {what}; only by mean or cls, as it is")

    def resolved_layer(self) -> int:
        """The layer in force."""
        most = int(_loaded(str(folder_of(self.model)))[1].config.num_hidden_layers)
        layer = LAYERS.get(model_name(self.model), most) if self.layer is None else self.layer
        if not 0 <= layer <= most:
            raise UsageError(f"layer {layer} of '{self.model}' does not exist; there are 0-{most}")
        return layer

    def settings(self) -> dict[str, object]:
        """What belongs in a signature: name, content and layer."""
        folder = folder_of(self.model)
        name, sha = model_name(self.model), folder_digest(str(folder), stamp(folder))
        return {"model": name, "sha": sha, "layer": self.resolved_layer()}


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
        raise MissingExtraError(f"the encoder '{model}'", "neural") from missing
    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError, ValueError) as absent:
        raise UsageError(
            f"'{model}' is neither a folder nor in Hugging Face's cache; name a folder, or fetch "
            f"it first where there is a network: hf download {model}"
        ) from absent


@cache
def _loaded(folder: str) -> tuple[Any, Any]:
    """Tokenizer and network, in memory once."""
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer, logging
    except ImportError as missing:
        raise MissingExtraError(f"the encoder '{folder}'", "neural") from missing
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    _check_no_code(Path(folder))
    safe = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _offline():
            tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
            network, told = AutoModel.from_pretrained(
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
        raise UsageError(f"'{folder}' holds no encoder that can be loaded: {why}") from broken
    if absent:  # they would be drawn at random
        raise UsageError(f"'{folder}' holds no encoder: weights are missing ({min(absent)})")
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise UsageError(f"'{folder}' holds no encoder: it has no hidden layers")
    return tokenizer, network.eval()


def _check_no_code(folder: Path) -> None:
    """Raises UsageError for a model that works only with code of its own, or as a pickle."""
    for name in ("config.json", "tokenizer_config.json"):
        said = _said(folder / name, dict)
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


def _said(path: Path, kind: type[Any]) -> Any:  # noqa: ANN401 - whatever a model says
    """What a model says in a file of its own; nothing where there is no such file."""
    said = json_of(path) if is_file(path) else kind()
    if not isinstance(said, kind):
        raise InputError(f"a JSON {kind.__name__} is needed here", path=str(path))
    return said


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _most_tokens(folder: Path) -> int | None:
    """Where sentence-transformers cuts texts for this model."""
    path = folder / "sentence_bert_config.json"
    most = _said(path, dict).get("max_seq_length")
    if most is not None and not (isinstance(most, int) and most > 2):
        raise InputError(f"max_seq_length is {most!r}", path=str(path), remedy="give a number")
    return most


def _token_ids(
    tokenizer: Any,  # noqa: ANN401 - transformers' types
    network: Any,  # noqa: ANN401
    texts: Sequence[str],
    most: int | None = None,
) -> list[list[int]]:
    positions = getattr(network.config, "max_position_embeddings", UNLIMITED)
    limits = [min(tokenizer.model_max_length, UNLIMITED), positions]
    if network.config.model_type in {"roberta", "xlm-roberta", "camembert"}:
        limits[1] -= 2  # their positions begin after the padding's
    if most is not None:
        limits.append(most)
    plain = [text.encode("utf-8", "replace").decode() for text in texts]
    if not plain:
        return []
    return list(tokenizer(plain, truncation=True, max_length=min(limits))["input_ids"])


def _batches(ids: Sequence[list[int]], texts: Sequence[str]) -> Iterator[list[int]]:
    """Rows of similar length, the same batches whatever the order of the texts."""
    order = sorted(range(len(ids)), key=lambda i: (len(ids[i]), texts[i]))
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * len(ids[i]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _states(
    tokenizer: Any,  # noqa: ANN401
    network: Any,  # noqa: ANN401
    ids: Sequence[list[int]],
    texts: Sequence[str],
    layer: int,
) -> Iterator[tuple[int, VectorArray]]:
    """Each text's place and the [tokens, dimensions] vectors of its tokens."""
    for batch in _batches(ids, texts):
        found = _hidden(network, [ids[i] for i in batch], tokenizer.pad_token_id or 0, layer)
        for i, states in zip(batch, found, strict=True):
            yield i, states[: len(ids[i])]


def _hidden(network: Any, ids: Sequence[list[int]], pad: int, layer: int) -> VectorArray:  # noqa: ANN401
    """[texts, longest, dimensions] hidden states of a layer."""
    import torch

    longest = max(map(len, ids))
    tokens = torch.tensor([row + [pad] * (longest - len(row)) for row in ids])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids])
    try:
        with torch.inference_mode():
            states = network(tokens, attention_mask=mask, output_hidden_states=True).hidden_states
    except (IndexError, TypeError, ValueError) as broken:  # a vocabulary larger than its vectors
        raise UsageError(f"the encoder cannot read these texts: {broken}") from broken
    found: VectorArray = states[layer].numpy()
    if not np.isfinite(found).all():
        raise UsageError("the encoder gives numbers that are not finite; its weights are damaged")
    return found
