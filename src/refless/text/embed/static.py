"""Static embeddings: a table with a vector for each token, read without torch.

model2vec, sentence-transformers (`StaticEmbedding`) and WordLlama write such folders: a tokenizer
of Hugging Face's and a safetensors file. Nothing in them is code, and nothing is ever downloaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from refless.files.arrays import Array
from refless.files.untrusted import check_foreign, json_in
from refless.loops import Loops
from refless.registry.arrays import BoolArray, FloatArray, IntArray, aligned
from refless.registry.errors import UsageError
from refless.text.embed.byte_pairs import BytePairs
from refless.text.embed.digests import stamp
from refless.text.embed.embedded import VectorArray
from refless.text.tokenize import IdArray

loops = Loops("lookups")

TABLES = ("embeddings", "embedding.weight")  # of model2vec; of the others
NUMBERS = {"F64", "F32", "F16", "I8", "I32", "I64"}  # not BF16, which numpy lacks
PLACES = (
    ("0_StaticEmbedding", "0_StaticEmbedding"),
    (".", "."),
    ("weights", "tokenizers"),
)
AGAIN = "copy or download the folder again"


@dataclass(frozen=True, slots=True, eq=False)
class StaticTable:
    """A table of vectors and the tokenizer whose tokens it is about."""

    folder: str  # where it lies
    tokenizer: Path  # its file
    vectors: Array  # [rows, dimensions] as they are saved
    mapping: IntArray  # [tokens] row of each token of the tokenizer
    weights: FloatArray  # [tokens] what each token's vector counts
    pairs: BytePairs | None  # the same tokenizer, quicker, for most texts
    single: (
        VectorArray  # [rows, dimensions] the vectors, of the rows that were asked for
    )
    is_single: BoolArray  # [rows] which these are

    def totals(self, texts: Sequence[str]) -> FloatArray:
        """[texts, dimensions] sums of the vectors of each text's tokens, times their weights.

        The whole text counts; unknown tokens are left out, as model2vec does it. A text without a
        known token has 0. No other text changes a bit of it.

        Raises:
            UsageError: the tokenizer cannot read them: it lacks its own unknown token.
        """
        texts = [*map(plain, texts)]
        if self.pairs is None:
            return self._summed(*self._tokens(texts))
        tokens, starts, is_other = self.pairs.tokens(texts)
        sums = self._summed(tokens, starts)
        others = np.flatnonzero(is_other)
        if len(others):
            sums[others] = self._summed(*self._tokens([texts[i] for i in others]))
        return sums

    def _tokens(self, texts: Sequence[str]) -> tuple[IdArray, IntArray]:
        """The tokens of texts by the tokenizer, and [texts + 1] where those of each begin."""
        try:
            reader = _reader(self.tokenizer, stamp(self.tokenizer))
            encoded = reader.encode_batch_fast(texts, add_special_tokens=False)
        except BaseException as broken:
            raise _unreadable(self.folder, broken) from broken
        ids = [encoding.ids for encoding in encoded]
        tokens = np.array([*chain.from_iterable(ids)], dtype=np.int32)
        return tokens, np.cumsum([0, *map(len, ids)], dtype=np.int64)

    def _summed(self, tokens: IdArray, starts: IntArray) -> FloatArray:
        """[texts, dimensions] the sums of the vectors of their tokens."""
        rows = self.mapping[tokens]
        new = np.unique(rows[~self.is_single[rows]])
        # two threads that ask for the same rows write the same
        self.single[new] = self.vectors[new]
        self.is_single[new] = True
        laid = (starts, self.mapping, self.single)
        sums = loops.products_loop(tokens, self.weights[tokens], *laid)
        return np.asarray(sums, dtype=np.float64)


def plain(text: str) -> str:
    """The text without what UTF-8 cannot hold."""
    is_plain = text.isascii()
    return text if is_plain else text.encode("utf-8", "replace").decode()


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
def _reader(tokenizer: Path, _stamp: Any) -> Any:  # noqa: ANN401
    """The tokenizer of a file."""
    from tokenizers import Tokenizer

    reader = Tokenizer.from_file(str(tokenizer))
    reader.no_truncation()
    reader.no_padding()
    return reader


@lru_cache(maxsize=2)
def _loaded(
    folder: str, table: Path, tokenizer: Path, _stamps: tuple[Any, ...]
) -> StaticTable:
    from safetensors import safe_open

    settings = json_in(tokenizer, dict)
    try:
        with safe_open(table, framework="np") as tensors:
            vectors, mapping, weights = _arrays(folder, tensors)
        pairs = BytePairs.of(settings)
        if pairs is None:
            known = _reader(tokenizer, stamp(tokenizer)).get_vocab()
        else:
            added = settings["added_tokens"]
            known = settings["model"]["vocab"] | {
                entry["content"]: entry["id"] for entry in added
            }
        tokens = max(known.values(), default=-1) + 1
        unknown = _unknown(settings["model"], known)
    except UsageError:
        raise
    except BaseException as broken:  # whatever a damaged file leads to
        raise _unreadable(folder, broken) from broken
    rows = min(len(mapping), len(weights))
    if not 0 < tokens <= rows:
        message = f"{tokens} tokens and {rows} vectors"
        raise UsageError(f"'{folder}' has {message}, which do not match; {AGAIN}")
    if unknown is not None:
        weights[unknown] = 0.0
    return StaticTable(
        folder,
        tokenizer,
        vectors,
        mapping,
        weights,
        pairs,
        single=aligned(vectors.shape, np.float32),
        is_single=np.zeros(len(vectors), dtype=np.bool_),
    )


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


def _unknown(model: Mapping[str, Any], known: Mapping[str, int]) -> int | None:
    """The unknown token of a tokenizer's model; UsageError where tokens are drawn."""
    if model.get("dropout"):
        raise UsageError(
            "its tokenizer drops merges at random (dropout); set that to null"
        )
    token = model.get("unk_token")
    number = model.get("unk_id") if token is None else known.get(token)
    return None if number is None else int(number)
