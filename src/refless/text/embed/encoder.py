"""An encoder of Hugging Face's transformers: vectors of tokens, and of sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refless.files.untrusted import json_in
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError, UsageError
from refless.registry.progress import Progress
from refless.text.embed.devices import AUTO, CPU, FLOAT32, device_of
from refless.text.embed.digests import files_digest, folder_digest
from refless.text.embed.embedded import Embedded, VectorArray
from refless.text.embed.loading import (
    UNLIMITED,
    described,
    folder_of,
    model_name,
    network_of,
)
from refless.text.embed.static import StaticTable, plain, static_files, static_table
from refless.text.tokenize import distinct

# that are known here
MODULES = {
    "Transformer",
    "StaticEmbedding",
    "Pooling",
    "Normalize",
}
REMEMBERED = 50_000  # most texts whose vectors stay in memory, for estimators that read them again
BLOCK = 4_000  # texts whose static embeddings are added up at a time
BATCH_TOKENS = {  # tokens, padding included, that go through an encoder at once
    "cpu": 8_192,
    "cuda": 32_768,
}
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

_SENTENCES: dict[tuple[tuple[str, object], ...], dict[str, VectorArray]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """An encoder of Hugging Face's transformers; for sentences, static embeddings too.

    Attributes:
        model: a folder, or a name in Hugging Face's cache.
        layer: hidden layer whose vectors are taken, 0 for the input embeddings; None takes the one
            of BERTScore's release for a model that it knows, else the last.
        device: `auto`, `cpu` or `cuda`.
        precision: `float32` or `bfloat16`.
    """

    model: str
    layer: int | None = None
    device: str = AUTO
    precision: str = FLOAT32

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the texts' tokens; texts longer than the model can read are cut.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            UsageError: no such model here, no such layer, or no such device.
        """
        once, rows = distinct(texts)
        folder = folder_of(self.model)
        tokenizer, config = described(str(folder))
        ids = _ids(tokenizer, once, _most_tokens(tokenizer, config))
        marks = set(tokenizer.all_special_ids)
        starts = np.cumsum([0, *map(len, ids)])
        flat = np.array([i for row in ids for i in row], dtype=np.int64)
        vectors = np.zeros((len(flat), config.hidden_size), dtype=np.float32)
        for batch, states, _ in self._states(folder, ids, once):
            hidden = states.float().cpu().numpy()
            for i, rows_of_text in zip(batch, hidden, strict=True):
                vectors[starts[i] : starts[i + 1]] = rows_of_text[: len(ids[i])]
        special = np.isin(flat, list(marks - {tokenizer.unk_token_id}))
        return Embedded(
            rows=rows, starts=starts, vectors=vectors, ids=flat, special=special
        )

    def sentences(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> VectorArray:
        """[texts, dimensions] a vector of length 1 for each text; the last ones are remembered.

        The mean of its tokens' vectors, the model's own marks included, or the first one's if the
        model's `1_Pooling` says so: as sentence-transformers does it. A text that is longer than
        the model can read is cut. Static embeddings have the mean of known tokens, 0 without any.

        Raises:
            MissingExtraError: what the folder needs is not installed.
            UsageError: no such model here, no such layer, or another way of pooling.
        """
        settings = tuple(self.sentence_settings().items())
        folder = folder_of(self.model)
        files = static_files(folder)
        if files is not None:
            return _sums(static_table(folder, files), texts, progress)
        vectors_of = _SENTENCES.setdefault(settings, {})
        new = [text for text in dict.fromkeys(texts) if text not in vectors_of]
        tokenizer, config = described(str(folder))
        ids = _ids(tokenizer, new, _most_tokens(tokenizer, config, folder))
        for done, (place, mean) in enumerate(self._pooled(folder, ids, new), 1):
            vectors_of[new[place]] = _units(mean[None])[0]
            if progress is not None:
                progress(done / len(new))
        table = np.zeros((len(texts), config.hidden_size), dtype=np.float32)
        for i, text in enumerate(texts):
            table[i] = vectors_of[text]
        for text in [*vectors_of][: max(0, len(vectors_of) - REMEMBERED)]:
            del vectors_of[text]
        return table

    def _pooled(
        self, folder: Path, ids: Sequence[list[int]], texts: Sequence[str]
    ) -> Iterator[tuple[int, FloatArray]]:
        """Places of texts, and the mean of each one's tokens' vectors, or the first of them."""
        first = self.pooling() == "cls"
        for batch, states, mask in self._states(folder, ids, texts):
            inside = states[:, :1] if first else states * mask[..., None]
            counts = 1 if first else mask.sum(dim=1, keepdim=True)
            means = inside.double().sum(dim=1) / counts
            yield from zip(batch, means.cpu().numpy(), strict=True)

    def _states(
        self, folder: Path, ids: Sequence[list[int]], texts: Sequence[str]
    ) -> Iterator[tuple[list[int], Any, Any]]:
        """Places of texts, their [texts, longest, dimensions] vectors and [texts, longest] mask."""
        tokenizer, config = described(str(folder))
        layer = self.resolved_layer()
        # one more than is taken: some networks scale what comes out of the last one
        layers = min(layer + 1, config.num_hidden_layers)
        device = device_of(self.device)
        network = network_of(str(folder), layers, device, self.precision)
        for batch in _batches(ids, texts, BATCH_TOKENS[device]):
            rows = [ids[i] for i in batch]
            states, mask = _hidden(network, rows, tokenizer.pad_token_id or 0, layer)
            yield batch, states, mask

    def pooling(self) -> str:
        """The pooling of tokens' vectors: `mean`, or `cls`, the first one.

        Raises:
            UsageError: the model asks for another way.
        """
        folder = folder_of(self.model)
        settings = json_in(folder / "1_Pooling" / "config.json", dict)
        named = settings.get("pooling_mode", [])  # as newer versions write it
        chosen = {*map(str, named if isinstance(named, list) else [named])}
        flags = {
            name
            for name, value in settings.items()
            if name.startswith("pooling_mode_") and value
        }
        ways = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
        chosen |= {ways.get(name, name) for name in flags}
        modules = json_in(folder / "modules.json", list)
        kinds = [
            module.get("type") if isinstance(module, dict) else module
            for module in modules
        ]
        unknown = {str(kind).rpartition(".")[2] for kind in kinds} - MODULES
        if len(chosen) < 2 and chosen <= {*ways.values()} and not unknown:
            return chosen.pop() if chosen else "mean"
        names = ", ".join(sorted(chosen | unknown))
        raise UsageError(
            f"'{self.model}' makes sentences by {names}; only by mean or cls, as it is"
        )

    def resolved_layer(self) -> int:
        """The layer in force."""
        last = int(described(str(folder_of(self.model)))[1].num_hidden_layers)
        layer = (
            LAYERS.get(model_name(self.model), last)
            if self.layer is None
            else self.layer
        )
        if not 0 <= layer <= last:
            raise UsageError(
                f"layer {layer} of '{self.model}' does not exist; there are 0-{last}"
            )
        return layer

    def settings(self) -> dict[str, object]:
        """The settings for a signature: name, content and layer; a card, or fewer digits."""
        settings: dict[str, object] = {
            "model": model_name(self.model),
            "sha": folder_digest(folder_of(self.model)),
            "layer": self.resolved_layer(),
        }
        if device_of(self.device) != CPU:
            settings["device"] = device_of(self.device)
        if self.precision != FLOAT32:
            settings["precision"] = self.precision
        return settings

    def sentence_settings(self) -> dict[str, object]:
        """The settings for a signature of `sentences`: also pooling, and most tokens of a text.

        Raises:
            UsageError: as of `sentences`.
        """
        folder = folder_of(self.model)
        pooling = self.pooling()
        files = static_files(folder)
        if files is None:
            longest = _most_tokens(*described(str(folder)), folder)
            return {**self.settings(), "pooling": pooling, "tokens": longest}
        if self.layer is not None:
            raise UsageError(
                f"'{self.model}' holds static embeddings, which have no layers"
            )
        if self.device not in (AUTO, CPU) or self.precision != FLOAT32:
            raise UsageError(
                f"'{self.model}' holds static embeddings: they are float32, and no card reads them"
            )
        return {
            "model": model_name(self.model),
            "sha": files_digest(files),
            "pooling": pooling,
        }


def _sums(
    table: StaticTable, texts: Sequence[str], progress: Progress | None
) -> VectorArray:
    """[texts, dimensions] sums of static embeddings at length 1; each different text once."""
    once, rows = distinct(texts)
    vectors = np.zeros((len(once), table.vectors.shape[1]), dtype=np.float32)
    for begin in range(0, len(once), BLOCK):
        block = once[begin : begin + BLOCK]
        vectors[begin : begin + BLOCK] = _units(table.totals(block))
        if progress is not None:
            progress((begin + len(block)) / len(once))
    return vectors if len(once) == len(texts) else vectors[rows]


def _most_tokens(tokenizer: Any, config: Any, folder: Path | None = None) -> int:  # noqa: ANN401
    """Most tokens that the model reads at once, with its marks; of sentences, with the folder."""
    positions = getattr(config, "max_position_embeddings", UNLIMITED)
    limits = [min(tokenizer.model_max_length, UNLIMITED), positions]
    if config.model_type in {"roberta", "xlm-roberta", "camembert"}:
        limits[1] -= 2  # their positions begin after the padding's
    if folder is not None:
        path = folder / "sentence_bert_config.json"
        limit = json_in(path, dict).get("max_seq_length")
        if limit is not None and not (isinstance(limit, int) and limit > 2):
            raise InputError(
                f"max_seq_length is {limit!r}", path=str(path), remedy="give a number"
            )
        limits += [] if limit is None else [limit]
    return int(min(limits))


def _ids(tokenizer: Any, texts: Sequence[str], most: int) -> list[list[int]]:  # noqa: ANN401
    """Each text's token ids, the model's marks included; at most so many."""
    if not texts:
        return []
    return list(
        tokenizer([*map(plain, texts)], truncation=True, max_length=most)["input_ids"]
    )


def _batches(
    ids: Sequence[list[int]], texts: Sequence[str], tokens: int
) -> Iterator[list[int]]:
    """Rows of similar length, the same batches whatever the order of the texts."""
    order = sorted(range(len(ids)), key=lambda i: (len(ids[i]), texts[i]))
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * len(ids[i]) > tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _units(vectors: FloatArray) -> VectorArray:
    """The vectors at length 1; 0 stays 0."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    lengths[lengths == 0] = 1.0
    return np.asarray(vectors / lengths[:, None], dtype=np.float32)


def _hidden(
    network: Any,  # noqa: ANN401
    ids: Sequence[list[int]],
    pad: int,
    layer: int,
) -> tuple[Any, Any]:
    """Hidden states [texts, longest, dimensions] of a layer, and the mask [texts, longest]."""
    import torch

    longest = max(map(len, ids))
    tokens = torch.tensor([row + [pad] * (longest - len(row)) for row in ids])
    lengths = torch.tensor([len(row) for row in ids])
    mask = (torch.arange(longest) < lengths[:, None]).long().to(network.device)
    if int(tokens.max()) >= len(network.get_input_embeddings().weight):
        # on a graphics card no error could be caught
        raise UsageError(
            "the encoder cannot read these texts: it has words without a vector"
        )
    try:
        with torch.inference_mode():
            states = network(
                tokens.to(network.device),
                attention_mask=mask,
                output_hidden_states=True,
            ).hidden_states[layer]
    except (IndexError, TypeError, ValueError) as broken:
        raise UsageError(f"the encoder cannot read these texts: {broken}") from broken
    except torch.OutOfMemoryError as full:
        raise UsageError(
            "the graphics card has too little memory for this encoder; use device=cpu"
        ) from full
    if not torch.isfinite(states).all():
        raise UsageError(
            "the encoder gives numbers that are not finite; its weights are damaged"
        )
    return states, mask
