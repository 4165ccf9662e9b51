"""Whether a saved index can be matched: compiled code relies on what is checked here.

A seal says that a folder is as it was written, not that it was written by refless. Checks take time
in proportion to what is stored.
"""

import io
import math
from collections.abc import Mapping
from io import BufferedReader
from itertools import pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from refless.human import check_scale
from refless.ngrams import UNCLIPPED, Shape
from refless.postings import BLOCK
from refless.records import COLUMNS, Aggregate, RatedPool, Scale
from refless.tokenize import TOKENIZERS

POSTINGS = (
    "order", "lengths", "order_starts", "block_starts", "features", "feature_starts", "members",
    "common", "bits", "words",
)  # fmt: skip
TEXTS = (*COLUMNS, "annotators", "tokens")
DTYPES = {
    "ratings.values": "<f8", "scores": "<f8", "postings.features": "<i4", "postings.members": "<u2",
    "postings.common": "<i2", "postings.bits": "<u4",
}  # fmt: skip
HEAD = 128  # bytes before each array
MOST = 2**31 - 1  # features and texts, whose numbers are 32 bits
Array = npt.NDArray[Any]
Arrays = dict[str, Array]


class Facts(msgspec.Struct, frozen=True):
    """What index.json says of the pool and of what is counted."""

    size: Annotated[int, msgspec.Meta(ge=0, le=MOST)]
    fingerprint: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{12}\Z")]
    scale: Scale | None
    aggregate: Aggregate
    named: bool
    merged: bool
    tokenize: str
    orders: tuple[int, int]
    clip: bool
    score_names: tuple[str, ...] = ()

    @property
    def shape(self) -> Shape:
        """What is counted."""
        low, high = self.orders
        return Shape(tokenize=self.tokenize, low=low, high=high, clip=self.clip)


def facts_in(manifest: Mapping[str, Any], files: Mapping[str, object]) -> Facts:
    """The facts, of the types that they must have, and with the files that belong to them.

    Raises:
        ValueError: the first that is not so.
    """
    facts = msgspec.convert(manifest, Facts)
    check_scale(facts.scale)
    _hold(facts.tokenize in TOKENIZERS, "tokenize names no tokenizer")
    shape = facts.shape
    _hold(shape.high <= len(files), "orders go beyond the files")
    wanted = {f"{name}.{part}" for name in TEXTS for part in ("bytes", "starts")}
    wanted |= {f"ratings.{name}" for name in ("text", "annotator", "values")}
    wanted |= {"scores"} if facts.score_names else set()
    wanted |= {f"postings.{name}" for name in POSTINGS}
    wanted |= {f"keys.{i}" for i in range(shape.high - 1)}
    wanted |= {f"{name}.{i}" for name in ("firsts", "upto") for i in range(shape.orders)}
    _hold(wanted == set(files), "the files are not those of its orders")
    return facts


def dtype_of(name: str) -> np.dtype[Any]:
    """The type of an array's numbers."""
    if name.startswith("upto."):
        return np.dtype("<i4")
    return np.dtype("|u1" if name.endswith(".bytes") else DTYPES.get(name, "<i8"))


def mapped(name: str, facts: Facts, file: BufferedReader) -> Array:
    """An array out of its open file, copy-on-write: the loops see the same type as for a fresh one.

    Raises:
        ValueError: a file that does not begin as numpy writes such an array.
    """
    dtype = dtype_of(name)
    size = file.seek(0, io.SEEK_END) - HEAD
    shape: tuple[int, ...] = (size // dtype.itemsize,)
    if name == "postings.bits":
        shape = (shape[0] // max(facts.size, 1), facts.size)
    file.seek(0)
    whole = size == math.prod(shape) * dtype.itemsize
    _hold(whole and file.read(HEAD) == _head(dtype, shape), f"{name} is no such array")
    if size == 0:  # which cannot be mapped
        return np.zeros(shape, dtype)
    return np.asarray(np.memmap(file, dtype, mode="c", offset=HEAD, shape=shape))


def _head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """What numpy writes before an array, which is compared and never parsed."""
    head = io.BytesIO()
    said = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, said)
    return head.getvalue()


def strings(name: str, arrays: Arrays) -> tuple[str, ...]:
    """A column of strings.

    Raises:
        ValueError: bytes that are no UTF-8.
    """
    raw, starts = arrays[f"{name}.bytes"].tobytes(), arrays[f"{name}.starts"].tolist()
    return tuple(raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(starts))


def scores_in(arrays: Arrays, facts: Facts) -> dict[str, Array]:
    """The columns of scores by name."""
    each = (
        arrays["scores"].reshape(facts.size, len(facts.score_names)).T if facts.score_names else ()
    )
    return dict(zip(facts.score_names, each, strict=True))


def check_sound(arrays: Arrays, facts: Facts) -> None:
    """Raises ValueError where an array is not what the loops and the records take it for."""
    for name in TEXTS:
        _hold_starts(f"{name}.starts", arrays, len(arrays[f"{name}.bytes"]))
    for name in COLUMNS:
        present = name in {"ids", "texts"} or len(arrays[f"{name}.starts"]) > 1
        _hold_size(f"{name}.starts", arrays, facts.size * present + 1)
    _check_ratings(arrays, facts.size)
    _check_scores(arrays, facts)
    _check_postings(arrays, facts, _checked_features(arrays, facts.shape))


def check_strings(pool: RatedPool, tokens: tuple[str, ...], shape: Shape) -> None:
    """Raises ValueError for ids that are not unique, or names and tokens that are not sorted."""
    _hold(len({*pool.ids}) == len(pool), "ids are not unique")
    for column in (pool.ratings.annotators, tokens):
        _hold(all(a < b for a, b in pairwise(column)), "annotators or tokens are not sorted")
    characters = shape.tokenize != "char" or all(len(token) == 1 for token in tokens)
    _hold(characters, "a token is no character")


def _check_ratings(arrays: Arrays, n: int) -> None:
    text, values = arrays["ratings.text"], arrays["ratings.values"]
    _hold_size("ratings.text", arrays, len(values))
    _hold_size("ratings.annotator", arrays, len(values))
    _hold_within("ratings.text", text, n)
    people = max(1, len(arrays["annotators.starts"]) - 1)
    _hold_within("ratings.annotator", arrays["ratings.annotator"], people)
    _hold(bool(np.isfinite(values).all()), "a rating is not finite")
    _hold(bool((np.bincount(text, minlength=n) > 0).all()), "a text has no rating")


def _check_scores(arrays: Arrays, facts: Facts) -> None:
    if facts.score_names:
        _hold_size("scores", arrays, facts.size * len(facts.score_names))
        _hold(not bool(np.isinf(arrays["scores"]).any()), "a score is infinite")
        _hold(all(a < b for a, b in pairwise(facts.score_names)), "names of scores are not sorted")


def _checked_features(arrays: Arrays, shape: Shape) -> list[int]:
    """Where the features of each order begin, and their end."""
    tokens = len(arrays["tokens.starts"]) - 1
    below, ends = tokens, [0]
    for order in range(1, shape.high + 1):
        if order > 1:
            keys = arrays[f"keys.{order - 2}"]
            _hold_rising(f"keys.{order - 2}", keys)
            _hold_within(f"keys.{order - 2}", keys, below * tokens)
            below = len(keys)
        if order >= shape.low:
            name = f"firsts.{order - shape.low}"
            first = arrays[name]
            _hold_size(name, arrays, below + 1)
            _hold_rising(name, first)
            _hold(first[0] == ends[-1] and first[-1] <= MOST, f"{name} has other ends")
            clipped = shape.clip or first[-1] - first[0] == below
            _hold(bool(clipped), f"{name} counts more than is not clipped")
            ends.append(int(first[-1]))
            _check_runs(f"upto.{order - shape.low}", arrays, first - first[0], shape)
    return ends


def _check_runs(name: str, arrays: Arrays, first: Array, shape: Shape) -> None:
    """Of each n-gram the features stand for its occurrences from the first on."""
    _hold_size(name, arrays, int(first[-1]))
    upto = arrays[name].astype(np.int64)
    if not shape.clip:
        _hold(bool((upto == UNCLIPPED).all()), f"{name} counts what is not clipped")
    rising = np.diff(upto, prepend=0) > 0
    rising[first[:-1]] = upto[first[:-1]] > 0
    _hold(bool(rising.all()), f"{name} do not rise")


def _check_postings(arrays: Arrays, facts: Facts, ends: list[int]) -> None:
    p = {name: arrays[f"postings.{name}"] for name in POSTINGS}
    n = facts.size
    blocks = -(-n // BLOCK)
    sizes = {
        "order": n, "lengths": n, "order_starts": len(ends), "block_starts": blocks + 1,
        "feature_starts": len(p["features"]) + 1, "common": ends[-1], "words": len(ends),
    }  # fmt: skip
    for name, size in sizes.items():
        _hold_size(f"postings.{name}", arrays, size)
    _hold_within("postings.order", p["order"], n)
    _hold(bool((np.bincount(p["order"], minlength=n) == 1).all()), "postings.order repeats a text")
    _hold(p["order_starts"].tolist() == ends, "postings.order_starts are not the features'")
    lengths = p["lengths"]
    _hold(bool((lengths[1:] >= lengths[:-1]).all()), "postings.lengths fall")
    _hold_within("postings.lengths", lengths[[0, -1]] if n else lengths, MOST)
    _hold_starts("postings.block_starts", arrays, len(p["features"]))
    _hold_starts("postings.feature_starts", arrays, len(p["members"]))
    _hold_starts("postings.words", arrays, len(p["bits"]))
    _hold_within("postings.features", p["features"], ends[-1])
    _hold_within("postings.common", p["common"][p["common"] != -1], 32 * len(p["bits"]))
    for block, (begin, end) in enumerate(pairwise(p["block_starts"].tolist())):
        _hold_rising("postings.features", p["features"][begin:end])
        own = p["members"][p["feature_starts"][begin] : p["feature_starts"][end]]
        _hold_within("postings.members", own, min(BLOCK, n - block * BLOCK))


def _hold_size(name: str, arrays: Arrays, size: int) -> None:
    _hold(len(arrays[name]) == size, f"{name} has another length")


def _hold_starts(name: str, arrays: Arrays, end: int) -> None:
    """From 0 to the end, never falling."""
    starts = arrays[name]
    ends = len(starts) > 0 and starts[0] == 0 and starts[-1] == end
    _hold(bool(ends and (starts[1:] >= starts[:-1]).all()), f"{name} do not rise from 0 to the end")


def _hold_rising(name: str, array: Array) -> None:
    _hold(bool((array[1:] > array[:-1]).all()), f"{name} do not rise")


def _hold_within(name: str, array: Array, end: int) -> None:
    inside = len(array) == 0 or (array.min() >= 0 and int(array.max()) < end)
    _hold(bool(inside), f"{name} has a number outside 0 to {end - 1}")


def _hold(holds: bool, found: str) -> None:
    if not holds:
        raise ValueError(found)
