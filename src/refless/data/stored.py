"""Rated texts and other columns as files of numpy in a saved folder, and back, checked.

A seal says that a folder is as it was written, not that it was written by refless: whatever is read
is checked for type, length and range. Checks take time in proportion to what is stored.
"""

import io
import math
from collections.abc import Mapping, Sequence
from io import BufferedReader
from itertools import pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from refless.data.human import check_scale, human_ratings
from refless.data.records import COLUMNS, Aggregate, RatedPool, Ratings, Scale, columns_of, scored
from refless.files.packed import Packed
from refless.loops import Loops

loops = Loops("packed")

POOL = (*COLUMNS, "annotators")  # columns of strings
RATINGS = ("text", "annotator", "values")
HEAD = 128  # bytes before each array
PIECE = 1 << 24  # bytes of strings that are decoded at once
MOST = 2**31 - 1  # texts, whose numbers are 32 bits
Array = npt.NDArray[Any]
Arrays = dict[str, Array]


class PoolFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a manifest says of rated texts."""

    size: Annotated[int, msgspec.Meta(ge=0, le=MOST)]
    fingerprint: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{12}\Z")]
    scale: Scale | None
    aggregate: Aggregate
    named: bool
    merged: bool
    score_names: tuple[str, ...] = ()


def facts_of(pool: RatedPool, fingerprint: str) -> dict[str, object]:
    """What a manifest says of these rated texts."""
    given = {"size": len(pool), "fingerprint": fingerprint}
    names = (name for name in PoolFacts.__struct_fields__ if name not in given)
    return {**given, **{name: getattr(pool, name) for name in names}}


def arrays_of(pool: RatedPool) -> Arrays:
    """Rated texts as arrays."""
    arrays: Arrays = {}
    for name, column in {**columns_of(pool), "annotators": pool.ratings.annotators}.items():
        arrays.update(packed(name, column))
    for name in RATINGS:
        arrays[f"ratings.{name}"] = getattr(pool.ratings, name)
    if pool.score_names:
        arrays["scores"] = pool.scores.ravel()
    return arrays


def names_of(facts: PoolFacts) -> set[str]:
    """The files that rated texts are stored in."""
    wanted = {f"{name}.{part}" for name in POOL for part in ("bytes", "starts")}
    wanted |= {f"ratings.{name}" for name in RATINGS}
    return wanted | ({"scores"} if facts.score_names else set())


def pool_in(arrays: Arrays, facts: PoolFacts) -> RatedPool:
    """The rated texts that `check_pool` has found sound; their strings stay mapped."""
    ratings = Ratings(
        text=arrays["ratings.text"],
        annotator=arrays["ratings.annotator"],
        values=arrays["ratings.values"],
        annotators=strings("annotators", arrays),
    )
    scale, aggregate = facts.scale, facts.aggregate
    columns: dict[str, Any] = {
        name: Packed(arrays[f"{name}.bytes"], starts) if len(starts) > 1 else ()
        for name in COLUMNS
        for starts in (arrays[f"{name}.starts"],)
    }
    return RatedPool(
        **columns,
        **scored(_scores_in(arrays, facts)),
        human=human_ratings(ratings, facts.size, scale=scale, aggregate=aggregate),
        ratings=ratings,
        scale=scale,
        aggregate=aggregate,
        named=facts.named,
        merged=facts.merged,
    )


def check_pool(arrays: Arrays, facts: PoolFacts) -> None:
    """Raises ValueError where an array is not what the records take it for."""
    check_scale(facts.scale)
    for name in POOL:
        check_strings(name, arrays)
    for name in COLUMNS:
        present = name in {"ids", "texts"} or len(arrays[f"{name}.starts"]) > 1
        hold_size(f"{name}.starts", arrays, facts.size * present + 1)
    _check_unique(Packed(arrays["ids.bytes"], arrays["ids.starts"]))
    hold_sorted("annotators", strings("annotators", arrays))
    _check_ratings(arrays, facts.size)
    if facts.score_names:
        hold_size("scores", arrays, facts.size * len(facts.score_names))
        hold(not bool(np.isinf(arrays["scores"]).any()), "a score is infinite")
        hold_sorted("names of scores", facts.score_names)


def _check_ratings(arrays: Arrays, n: int) -> None:
    text, values = arrays["ratings.text"], arrays["ratings.values"]
    hold_size("ratings.text", arrays, len(values))
    hold_size("ratings.annotator", arrays, len(values))
    hold_within("ratings.text", text, n)
    people = max(1, len(arrays["annotators.starts"]) - 1)
    hold_within("ratings.annotator", arrays["ratings.annotator"], people)
    hold(bool(np.isfinite(values).all()), "a rating is not finite")
    hold(bool((np.bincount(text, minlength=n) > 0).all()), "a text has no rating")


def _scores_in(arrays: Arrays, facts: PoolFacts) -> dict[str, Array]:
    """The columns of scores by name."""
    names = facts.score_names
    each = arrays["scores"].reshape(facts.size, len(names)).T if names else ()
    return dict(zip(names, each, strict=True))


def check_strings(name: str, arrays: Arrays) -> None:
    """Raises ValueError where a column of strings cannot be decoded string by string."""
    raw, starts = arrays[f"{name}.bytes"], arrays[f"{name}.starts"]
    hold_starts(f"{name}.starts", arrays, len(raw))
    inner = raw[starts[starts < len(raw)]]
    hold(not bool((inner & 0xC0 == 0x80).any()), f"{name}.starts cut a character")
    cuts = starts[np.searchsorted(starts, np.arange(0, len(raw) + PIECE, PIECE), side="right") - 1]
    for begin, end in pairwise([*cuts.tolist(), len(raw)]):
        if int(raw[begin:end].max(initial=0)) >= 128:
            raw[begin:end].tobytes().decode("utf-8", "surrogatepass")


def _check_unique(ids: Packed) -> None:
    """Raises ValueError for two ids that are one; only those of one hash are compared."""
    found = hashed([ids])
    order = np.argsort(found)
    same = order[1:][found[order[1:]] == found[order[:-1]]]
    rows = np.flatnonzero(np.isin(found, found[same])).tolist()
    hold(len({ids[row] for row in rows}) == len(rows), "ids are not unique")


def hashed(columns: Sequence[Packed]) -> npt.NDArray[np.uint64]:
    """[n] a hash of each row of some columns, of which there is at least one."""
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        loops.hashes(column.raw, column.starts, found)
    return found


def packed(name: str, column: Sequence[str]) -> Arrays:
    """A column of strings as UTF-8 bytes and where each string begins."""
    found = Packed.of(column)
    return {f"{name}.bytes": found.raw, f"{name}.starts": found.starts}


def strings(name: str, arrays: Mapping[str, Array]) -> tuple[str, ...]:
    """A column of strings; raises ValueError for bytes that are no UTF-8."""
    return Packed(arrays[f"{name}.bytes"], arrays[f"{name}.starts"]).whole()


def file_of(array: Array, dtype: np.dtype[Any]) -> tuple[bytes, npt.NDArray[np.uint8]]:
    """An array as a file of numpy, in two pieces."""
    plain = np.ascontiguousarray(array, dtype=dtype)
    return _head(dtype, plain.shape), plain.reshape(-1).view(np.uint8)


def mapped(
    name: str, file: BufferedReader, dtype: np.dtype[Any], columns: int | None = None
) -> Array:
    """An array out of its open file, copy-on-write: the loops see the same type as for a fresh one.

    Args:
        name: for the error; file: open; dtype: of its numbers.
        columns: of a table; None for a plain row of numbers.

    Raises:
        ValueError: a file that does not begin as numpy writes such an array.
    """
    size = file.seek(0, io.SEEK_END) - HEAD
    shape: tuple[int, ...] = (size // dtype.itemsize,)
    if columns is not None:
        shape = (shape[0] // max(columns, 1), columns)
    file.seek(0)
    whole = size == math.prod(shape) * dtype.itemsize
    hold(whole and file.read(HEAD) == _head(dtype, shape), f"{name} is no such array")
    if size == 0:  # which cannot be mapped
        return np.zeros(shape, dtype)
    return np.asarray(np.memmap(file, dtype, mode="c", offset=HEAD, shape=shape))


def _head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """What numpy writes before an array, which is compared and never parsed."""
    head = io.BytesIO()
    said = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, said)
    return head.getvalue()


def hold_size(name: str, arrays: Mapping[str, Array], size: int) -> None:
    """Raises ValueError for an array of another length."""
    hold(len(arrays[name]) == size, f"{name} has another length")


def hold_starts(name: str, arrays: Mapping[str, Array], end: int) -> None:
    """Raises ValueError for starts that do not go from 0 to the end, or that fall."""
    starts = arrays[name]
    ends = len(starts) > 0 and starts[0] == 0 and starts[-1] == end
    hold(bool(ends and (starts[1:] >= starts[:-1]).all()), f"{name} do not rise from 0 to the end")


def hold_rising(name: str, array: Array) -> None:
    """Raises ValueError for numbers that do not rise."""
    hold(bool((array[1:] > array[:-1]).all()), f"{name} do not rise")


def hold_sorted(name: str, column: tuple[str, ...]) -> None:
    """Raises ValueError for strings out of order, or one that is there twice."""
    hold(all(a < b for a, b in pairwise(column)), f"{name} are not sorted")


def hold_within(name: str, array: Array, end: int) -> None:
    """Raises ValueError for a number below 0, or for `end` or more."""
    inside = len(array) == 0 or (array.min() >= 0 and int(array.max()) < end)
    hold(bool(inside), f"{name} has a number outside 0 to {end - 1}")


def hold(holds: bool, found: str) -> None:
    """Raises ValueError with what was found where something does not hold."""
    if not holds:
        raise ValueError(found)
