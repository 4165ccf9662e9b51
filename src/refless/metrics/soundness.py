"""Whether a saved index can be matched: compiled code relies on what is checked here."""

from collections.abc import Mapping
from io import BufferedReader
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from refless.data.stored import (
    MOST,
    Array,
    Arrays,
    PoolFacts,
    check_pool,
    check_strings,
    hold,
    hold_rising,
    hold_size,
    hold_sorted,
    hold_starts,
    hold_within,
    mapped,
    names_of,
    strings,
)
from refless.metrics.postings import BLOCK
from refless.text.ngrams import UNCLIPPED, Shape
from refless.text.tokenize import TOKENIZERS

POSTINGS = (
    "order", "lengths", "order_starts", "block_starts", "features", "feature_starts", "members",
    "common", "bits", "words",
)  # fmt: skip
DTYPES = {
    "ratings.values": "<f8", "scores": "<f8", "postings.features": "<i4", "postings.members": "<u2",
    "postings.common": "<i2", "postings.bits": "<u4",
}  # fmt: skip


class Facts(PoolFacts, frozen=True, kw_only=True):
    """What index.json says of the pool and of what is counted."""

    tokenize: str
    orders: tuple[int, int]
    clip: bool
    segments: tuple[int, ...] | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Texts in each segment; older indexes have one."""
        return (self.size,) if self.segments is None else self.segments

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
    hold(facts.tokenize in TOKENIZERS, "tokenize names no tokenizer")
    shape = facts.shape
    hold(shape.high <= len(files), "orders go beyond the files")
    hold(0 < len(facts.sizes) <= len(files), "segments go beyond the files")
    hold(min(facts.sizes) >= 0 and sum(facts.sizes) == facts.size, "segments of other sizes")
    own = {"tokens.bytes", "tokens.starts"} | {f"postings.{name}" for name in POSTINGS}
    own |= {f"keys.{i}" for i in range(shape.high - 1)}
    own |= {f"{name}.{i}" for name in ("firsts", "upto") for i in range(shape.orders)}
    every = {of_segment(name, i) for name in own for i in range(len(facts.sizes))}
    hold(names_of(facts) | every == set(files), "the files are not those of its orders")
    return facts


def of_segment(name: str, number: int) -> str:
    """What a file of a segment is called, given what that of the first is."""
    return f"{name}.s{number}" if number else name


def _apart(name: str) -> tuple[str, int]:
    """The name in the first segment, and which segment it is."""
    first, found, number = name.rpartition(".s")
    return (first, int(number)) if found and number.isdecimal() else (name, 0)


def arrays_in(arrays: Arrays, segment: int) -> Arrays:
    """The arrays of a segment, by the names of the first."""
    own = ((_apart(name), array) for name, array in arrays.items())
    return {name: array for (name, number), array in own if number == segment}


def dtype_of(name: str) -> np.dtype[Any]:
    """The type of an array's numbers."""
    name, _ = _apart(name)
    if name.startswith("upto."):
        return np.dtype("<i4")
    return np.dtype("|u1" if name.endswith(".bytes") else DTYPES.get(name, "<i8"))


def array_in(name: str, facts: Facts, file: BufferedReader) -> Array:
    """An array out of its open file; raises ValueError for one of another type."""
    first, segment = _apart(name)
    columns = facts.sizes[segment] if first == "postings.bits" else None
    return mapped(name, file, dtype_of(name), columns)


def check_sound(arrays: Arrays, facts: Facts) -> None:
    """Raises ValueError where an array is not what the loops and the records take it for."""
    check_pool(arrays, facts)
    rows = []
    for number, size in enumerate(facts.sizes):
        own = arrays_in(arrays, number)
        check_strings("tokens", own)
        _check_tokens(strings("tokens", own), facts.shape)
        _check_postings(own, size, facts, _checked_features(own, facts.shape))
        rows.append(own["postings.order"])
    once = np.bincount(np.concatenate(rows), minlength=facts.size) == 1
    hold(bool(once.all()), "postings.order repeats a text")


def _check_tokens(tokens: tuple[str, ...], shape: Shape) -> None:
    """Raises ValueError for tokens that are not sorted, or that are none of the tokenizer's."""
    hold_sorted("tokens", tokens)
    characters = shape.tokenize != "char" or all(len(token) == 1 for token in tokens)
    hold(characters, "a token is no character")


def _checked_features(arrays: Arrays, shape: Shape) -> list[int]:
    """Where the features of each order begin, and their end."""
    tokens = len(arrays["tokens.starts"]) - 1
    below, ends = tokens, [0]
    for order in range(1, shape.high + 1):
        if order > 1:
            keys = arrays[f"keys.{order - 2}"]
            hold_rising(f"keys.{order - 2}", keys)
            hold_within(f"keys.{order - 2}", keys, below * tokens)
            below = len(keys)
        if order >= shape.low:
            name = f"firsts.{order - shape.low}"
            first = arrays[name]
            hold_size(name, arrays, below + 1)
            hold_rising(name, first)
            hold(first[0] == ends[-1] and first[-1] <= MOST, f"{name} has other ends")
            clipped = shape.clip or first[-1] - first[0] == below
            hold(bool(clipped), f"{name} counts more than is not clipped")
            ends.append(int(first[-1]))
            _check_runs(f"upto.{order - shape.low}", arrays, first - first[0], shape)
    return ends


def _check_runs(name: str, arrays: Arrays, first: Array, shape: Shape) -> None:
    """Of each n-gram the features stand for its occurrences from the first on."""
    hold_size(name, arrays, int(first[-1]))
    upto = arrays[name].astype(np.int64)
    if not shape.clip:
        hold(bool((upto == UNCLIPPED).all()), f"{name} counts what is not clipped")
    rising = np.diff(upto, prepend=0) > 0
    rising[first[:-1]] = upto[first[:-1]] > 0
    hold(bool(rising.all()), f"{name} do not rise")


def _check_postings(arrays: Arrays, n: int, facts: Facts, ends: list[int]) -> None:
    p = {name: arrays[f"postings.{name}"] for name in POSTINGS}
    blocks = -(-n // BLOCK)
    sizes = {
        "order": n, "lengths": n, "order_starts": len(ends), "block_starts": blocks + 1,
        "feature_starts": len(p["features"]) + 1, "common": ends[-1], "words": len(ends),
    }  # fmt: skip
    for name, size in sizes.items():
        hold_size(f"postings.{name}", arrays, size)
    hold_within("postings.order", p["order"], facts.size)
    hold(p["order_starts"].tolist() == ends, "postings.order_starts are not the features'")
    lengths = p["lengths"]
    hold(bool((lengths[1:] >= lengths[:-1]).all()), "postings.lengths fall")
    hold_within("postings.lengths", lengths[[0, -1]] if n else lengths, MOST)
    hold_starts("postings.block_starts", arrays, len(p["features"]))
    hold_starts("postings.feature_starts", arrays, len(p["members"]))
    hold_starts("postings.words", arrays, len(p["bits"]))
    hold_within("postings.features", p["features"], ends[-1])
    hold_within("postings.common", p["common"][p["common"] != -1], 32 * len(p["bits"]))
    for block, (begin, end) in enumerate(pairwise(p["block_starts"].tolist())):
        hold_rising("postings.features", p["features"][begin:end])
        own = p["members"][p["feature_starts"][begin] : p["feature_starts"][end]]
        hold_within("postings.members", own, min(BLOCK, n - block * BLOCK))
