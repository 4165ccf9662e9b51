"""Static embeddings: a table with a vector for each token, read without torch.

model2vec, sentence-transformers (`StaticEmbedding`) and WordLlama write such folders: a tokenizer
of Hugging Face's and a safetensors file. Nothing in them is code, and nothing is ever downloaded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from refless.files.arrays import Array
from refless.files.untrusted import check_foreign, json_in
from refless.loops import Loops
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.text.embed.digests import stamp
from refless.text.embed.embedded import VectorArray

loops = Loops("terms")

TABLES = ("embeddings", "embedding.weight")  # of model2vec; of the others
NUMBERS = {"F64", "F32", "F16", "I8", "I32", "I64"}  # not BF16, which numpy lacks
PLACES = (
    ("0_StaticEmbedding", "0_StaticEmbedding"),
    (".", "."),
    ("weights", "tokenizers"),
)
REMEMBERED = 20_000  # parts of texts whose sums stay in memory
BLANK = "\u2581"  # stands for a blank in the tokens of SentencePiece
SPLIT = {  # the normalizer of such a tokenizer: a blank before the text, too
    "type": "Sequence",
    "normalizers": [
        {"type": "Prepend", "prepend": BLANK},
        {"type": "Replace", "pattern": {"String": " "}, "content": BLANK},
    ],
}
AGAIN = "copy or download the folder again"


class PartSums:
    """The sums of parts of texts, each computed once; forgotten if there are too many."""

    def __init__(self, dimensions: int) -> None:
        self.lock = Lock()
        self.vectors: FloatArray = np.zeros((0, dimensions))
        self._row: dict[str, int] = {}

    def add(
        self, parts: Sequence[str], sums_of: Callable[[Sequence[str]], FloatArray]
    ) -> None:
        """Computes the sums of those parts that are new."""
        if len(self._row) > REMEMBERED:
            self._row.clear()
        new = [part for part in dict.fromkeys(parts) if part not in self._row]
        if not new:
            return
        begin = len(self._row)
        sums = sums_of(new)
        if begin + len(new) > len(self.vectors):
            room = np.zeros((2 * (begin + len(new)), sums.shape[1]))
            room[:begin] = self.vectors[:begin]
            self.vectors = room
        self.vectors[begin : begin + len(new)] = sums
        self._row |= dict(zip(new, range(begin, begin + len(new)), strict=True))

    def rows(self, parts: Sequence[str]) -> IntArray:
        """[parts] the row of each part's sum in `vectors`."""
        rows = map(self._row.__getitem__, parts)
        return np.fromiter(rows, dtype=np.int64, count=len(parts))


@dataclass(frozen=True, slots=True, eq=False)
class StaticTable:
    """A table of vectors and the tokenizer whose tokens it is about."""

    folder: str  # where it lies
    tokenizer: Any
    vectors: Array  # [rows, dimensions] as they are saved
    mapping: IntArray  # [tokens] row of each token of the tokenizer
    weights: FloatArray  # [tokens] what each token's vector counts
    # the token that stands for what the tokenizer does not know; None for none
    unknown: int | None

    # whether what it makes of a text is what it makes of the parts between blanks
    is_split: bool
    sums: PartSums

    def totals(self, texts: Sequence[str]) -> FloatArray:
        """[texts, dimensions] sums of the vectors of each text's tokens, times their weights.

        The whole text counts; unknown tokens are left out, as model2vec does it. A text without a
        known token has 0. No other text changes a bit of it.

        Raises:
            UsageError: the tokenizer cannot read them: it lacks its own unknown token.
        """
        parts = [*map(self._parts, texts)]
        every = [*chain.from_iterable(parts)]
        with self.sums.lock:
            self.sums.add(every, self._sums)
            rows = self.sums.rows(every)
            return _summed(
                rows,
                np.ones(len(rows)),
                parts,
                self.sums.vectors,
            )

    def _parts(self, text: str) -> list[str]:
        """The parts of a text that the tokenizer reads one by one."""
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        parts = text.split(" ")
        marks = "<" in text or BLANK in text  # of added tokens, of blanks
        return parts if self.is_split and "" not in parts and not marks else [text]

    def _sums(self, parts: Sequence[str]) -> FloatArray:
        """[parts, dimensions] the sum of each by the tokenizer."""
        try:
            encoded = self.tokenizer.encode_batch_fast(parts, add_special_tokens=False)
        except BaseException as broken:
            raise _unreadable(self.folder, broken) from broken
        ids = [encoding.ids for encoding in encoded]
        tokens = np.array([*chain.from_iterable(ids)], dtype=np.int64)
        weights = np.where(tokens == self.unknown, 0.0, self.weights[tokens])
        used, places = np.unique(self.mapping[tokens], return_inverse=True)
        vectors = self.vectors[used].astype(np.float32)
        return _summed(places, weights, ids, vectors)


def _summed(
    rows: IntArray,
    weights: FloatArray,
    parts: Sequence[Sequence[object]],
    vectors: VectorArray | FloatArray,
) -> FloatArray:
    """[parts, dimensions] sums of the vectors in these rows, as many as each part has items."""
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    sums: FloatArray = loops.sums_loop(rows, weights, starts, vectors)
    return sums


def static_files(folder: Path) -> tuple[Path, Path] | None:
    """The table and the tokenizer of a folder of static embeddings; None for another folder.

    A folder whose `config.json` names a model of another kind is an encoder of transformers.

    Raises:
        UsageError: several tables or tokenizers, or a table without a tokenizer.
    """
    if (
        json_in(folder / "config.json", dict).get("model_type", "model2vec")
        != "model2vec"
    ):
        return None
    for tables, tokenizers in PLACES:
        paths = sorted((folder / tables).glob("*.safetensors"))
        if paths:
            own = [folder / tokenizers / "tokenizer.json"]
            named = (
                own
                if own[0].is_file()
                else sorted((folder / tokenizers).glob("*.json"))
            )
            return _only(folder, paths, "table"), _only(folder, named, "tokenizer")
    return None


def _only(folder: Path, paths: Sequence[Path], kind: str) -> Path:
    if not paths:
        raise UsageError(
            f"'{folder}' has a table of vectors and no tokenizer.json; {AGAIN}"
        )
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        raise UsageError(
            f"'{folder}' holds more than one {kind} ({names}); keep one of them there"
        )
    return paths[0]


def static_table(folder: Path, files: tuple[Path, Path]) -> StaticTable:
    """The table of a folder, in memory once.

    Raises:
        UsageError: what the files hold is no table of vectors, or no tokenizer.
        InputError: the tokenizer is no JSON.
    """
    return _loaded(str(folder), *files, tuple(map(stamp, files)))


@lru_cache(maxsize=2)
def _loaded(
    folder: str, table: Path, tokenizer: Path, _stamps: tuple[Any, ...]
) -> StaticTable:
    import tokenizers
    from safetensors import safe_open

    settings = json_in(tokenizer, dict)
    try:
        with safe_open(table, framework="np") as tensors:
            arrays = _arrays(folder, tensors)
        reader = tokenizers.Tokenizer.from_file(str(tokenizer))
        reader.no_truncation()
        reader.no_padding()
        tokens = max(reader.get_vocab().values(), default=-1) + 1
        unknown = _unknown(settings, reader)
        is_split = _is_split(settings)
    except UsageError:
        raise
    except BaseException as broken:  # whatever a damaged file leads to
        raise _unreadable(folder, broken) from broken
    sums = PartSums(arrays[0].shape[1])
    read = StaticTable(
        folder,
        reader,
        *arrays,
        unknown,
        is_split,
        sums,
    )
    return _checked(read, tokens)


def _unreadable(folder: str, broken: BaseException) -> UsageError:
    """The error for one of the libraries', unless that is an interrupt or too little memory."""
    check_foreign(broken)
    why = " ".join(str(broken).split())[:300]
    return UsageError(f"'{folder}' holds no embeddings that can be read: {why}")


def _arrays(folder: str, tensors: Any) -> tuple[Array, IntArray, FloatArray]:  # noqa: ANN401
    """Vectors, mapping and weights of a safetensors file, checked one by one."""
    names = set(tensors.keys())
    present = [name for name in TABLES if name in names]
    if not present or names - {*present, "mapping", "weights"}:
        contents = ", ".join(sorted(names))[:200] or "nothing"
        needed = "a tensor 'embeddings' or 'embedding.weight'"
        raise UsageError(
            f"'{folder}' holds no static embeddings: {needed} is needed, found {contents}"
        )
    vectors = _numbers(folder, tensors, present[0], 2)
    rows = len(vectors)
    mapping = (
        _numbers(folder, tensors, "mapping", 1)
        if "mapping" in names
        else np.arange(rows)
    )
    if mapping.dtype.kind not in "iu" or not ((mapping >= 0) & (mapping < rows)).all():
        raise UsageError(
            f"'{folder}' maps tokens to rows that its table lacks; {AGAIN}"
        )
    plain = np.ones(len(mapping))
    weights = _numbers(folder, tensors, "weights", 1) if "weights" in names else plain
    return vectors, mapping.astype(np.int64), weights.astype(np.float64)


def _numbers(folder: str, tensors: Any, name: str, axes: int) -> Any:  # noqa: ANN401
    """One tensor, not empty, of numbers that are finite in single precision."""
    part = tensors.get_slice(name)
    kind = part.get_dtype()
    shape = part.get_shape()
    if kind not in NUMBERS:
        needed = "save it as float32 or float16"
        raise UsageError(
            f"'{folder}' has its {name} as {kind}, which is not read; {needed}"
        )
    if len(shape) != axes or 0 in shape:
        raise UsageError(
            f"'{folder}' has {name} of shape {shape}, not of {axes} axes; {AGAIN}"
        )
    array = tensors.get_tensor(name)
    with np.errstate(over="ignore"):
        finite = np.isfinite(array.astype(np.float32)).all()
    if not finite:
        raise UsageError(
            f"'{folder}' has numbers that are not finite in its {name}; {AGAIN}"
        )
    return array


def _unknown(tokenizer_json: dict[str, Any], tokenizer: Any) -> int | None:  # noqa: ANN401
    """The unknown token of what `tokenizer.json` says; UsageError where tokens are drawn."""
    model = tokenizer_json["model"]
    if model.get("dropout"):
        raise UsageError(
            "its tokenizer drops merges at random (dropout); set that to null"
        )
    token = model.get("unk_token")
    token_id = model.get("unk_id") if token is None else tokenizer.token_to_id(token)
    return None if token_id is None else int(token_id)


def _is_split(tokenizer_json: dict[str, Any]) -> bool:
    """Whether no token of what `tokenizer.json` says goes beyond the blank before its word."""
    model = tokenizer_json["model"]
    rules = (
        model.get("type") == "BPE",
        tokenizer_json.get("normalizer") == SPLIT,
        tokenizer_json.get("pre_tokenizer") is None,
        all(entry["content"][:1] == "<" for entry in tokenizer_json["added_tokens"]),
    )
    vocabulary = model.get("vocab", ())
    return all(rules) and not any(BLANK in token.lstrip(BLANK) for token in vocabulary)


def _checked(table: StaticTable, tokens: int) -> StaticTable:
    """The table, where it has a row and a weight for every token."""
    rows = min(len(table.mapping), len(table.weights))
    if not 0 < tokens <= rows:
        message = f"{tokens} tokens and {rows} vectors"
        raise UsageError(f"'{table.folder}' has {message}, which do not match; {AGAIN}")
    return table
