"""Saved indexes that grow: rated texts come batch by batch, and none is read into memory twice.

Each batch is an index of its own, on the disk. Two indexes become one without counting n-grams
again: the texts of both are merged in canonical order, and postings only learn their new rows. A
run merges indexes of like size, so that each text is copied a few times, however many batches come.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import numpy as np

from refless.data.human import canonical_order, fingerprint
from refless.data.joining import check_alike, identity, joined, joined_ratings, places
from refless.data.records import COLUMNS, RatedPool
from refless.data.stored import RATINGS, Array, file_of, hashed, packed
from refless.files.folders import WAIT, Claim, Kept, claimed, kept_in
from refless.files.packed import Packed
from refless.loops import Loops
from refless.metrics.index import INDEX, RatedIndex, load_index, segment_arrays
from refless.metrics.kernels.bleu import SEGMENT, Segment
from refless.metrics.soundness import dtype_of, of_segment
from refless.registry.arrays import IntArray
from refless.registry.errors import UsageError
from refless.text.ngrams import Shape

loops = Loops("packed")

SMALL = 1 << 14  # texts up to which an index is made anew, which takes no time
FEW = 1 << 10  # texts of a segment that is never left beside another such
SORTED_BY = ("texts", "sources", "systems", "items", "tasks", "ids")  # as `canonical_order` does
NAMELESS = "0" * 12  # stands for the fingerprint of what is not yet the whole


def add_to_index(
    folder: str | os.PathLike[str],
    more: RatedPool | Iterable[RatedPool],
    *,
    shape: Shape | None = None,
    wait: float = WAIT,
    tell: Callable[[str], None] | None = None,
) -> RatedIndex:
    """Adds ratings to the saved index; nobody else writes it meanwhile, so that none are lost.

    Args:
        folder: of the index; more: the ratings, at once or in batches.
        shape: what the index must count; None: whatever it counts.
        wait: seconds to wait for another writer; tell: told that one is waited for.

    Raises:
        IndexFolderError: no index, or one that is damaged.
        InputError: a text about which they disagree; a folder that cannot be written.
        UsageError: another shape, scale, aggregate or other columns.
    """
    if not (Path(folder) / INDEX.manifest).exists():
        raise INDEX.fault(Path(folder), INDEX.missing)
    with claimed(folder, INDEX, wait=wait, tell=tell) as claim:
        there = load_index(folder)
        if shape not in (None, there.shape):
            raise UsageError("--append keeps the n-grams of the index; make a new one instead")
        batches = [more] if isinstance(more, RatedPool) else more
        return put_batches(claim, batches, there.shape, there)


def put_batches(
    claim: Claim, batches: Iterable[RatedPool], shape: Shape, there: RatedIndex | None = None
) -> RatedIndex:
    """Replaces the index in a claimed folder by one of all batches, after the one that is there."""
    rest = iter(batches)
    some = [*islice(rest, 2)]
    if len(some) == 1 and (there is None or len(there.pool) + len(some[0]) <= SMALL):
        made = RatedIndex.build(some[0], shape) if there is None else there.append(some[0])
        made.put(claim)
        return made
    with _place(claim) as place:
        stack = [] if there is None else [_Saved(claim.folder, there)]
        for batch in chain(some, rest):
            stack.append(_saved(place, RatedIndex.build(batch, shape)))
            while len(stack) > 1 and len(stack[-2].index.pool) < 2 * len(stack[-1].index.pool):
                stack[-2:] = [_merged(place, *stack[-2:])]
        while len(stack) > 1:
            stack[-2:] = [_merged(place, *stack[-2:])]
        (whole,) = stack
        digest = fingerprint(whole.index.pool)
        made = replace(whole.index, fingerprint=digest)
        claim.put(made.facts(), (), digest, kept_in(whole.folder, INDEX))
    return made


@dataclass(frozen=True, slots=True)
class _Saved:
    """An index, and the folder that it is mapped from."""

    folder: Path
    index: RatedIndex


@contextmanager
def _place(claim: Claim) -> Iterator[Path]:
    """A folder for what is not yet the whole; if we are killed, the next run sweeps it away."""
    place = claim.folder / f"data-{NAMELESS}-{secrets.token_hex(4)}"
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _saved(place: Path, index: RatedIndex) -> _Saved:
    claim = _claim(place)
    index.put(claim)
    return _Saved(claim.folder, load_index(claim.folder))


def _claim(place: Path) -> Claim:
    """A new folder, of which nobody else knows."""
    folder = place / secrets.token_hex(4)
    folder.mkdir()
    return Claim(folder, INDEX, lasting=False)


def _merged(place: Path, first: _Saved, second: _Saved) -> _Saved:
    """Both as one, in a folder of its own.

    Raises:
        InputError: a text about which they disagree.
        UsageError: pools of another kind.
    """
    one, other = first.index.pool, second.index.pool
    check_alike(one, other)
    at = _places(one, other)
    fresh = np.flatnonzero(at < 0)
    order = _order(one, other, fresh)
    n = len(order)
    row = np.full(len(one) + len(other), -1)
    row[order] = np.arange(n)
    mine, theirs = row[: len(one)], row[len(one) :].copy()
    theirs[at >= 0] = mine[at[at >= 0]]
    parts = _segments(first, second, order, mine, theirs)
    kept = {name: file for part in parts for name, file in part.kept.items()}
    facts = {
        **first.index.facts(),
        "fingerprint": NAMELESS,
        "size": n,
        "segments": [len(part.segment.postings) for part in parts],
    }
    claim = _claim(place)
    arrays = _arrays(one, other, order, (mine, theirs), parts)
    contents = ((name, file_of(array, dtype_of(name))) for name, array in arrays)
    claim.put(facts, contents, NAMELESS, kept)
    return _Saved(claim.folder, load_index(claim.folder))


def _places(first: RatedPool, second: RatedPool) -> IntArray:
    """[second] row of each text in the first pool, -1 where it is new there."""
    at = np.full(len(second), -1)
    names = identity(first)
    if not names or not len(first):
        return at
    mine, theirs = (
        hashed([Packed.of(getattr(one, name)) for name in names]) for one in (first, second)
    )
    rows, others = np.flatnonzero(np.isin(mine, theirs)), np.flatnonzero(np.isin(theirs, mine))
    place, _ = places(first.take(rows), second.take(others))
    known = place < len(rows)
    at[others[known]] = rows[place[known]]
    return at


def _order(first: RatedPool, second: RatedPool, fresh: IntArray) -> IntArray:
    """All rows of the first pool and the fresh ones of the second, in canonical order.

    Rows of the second pool are counted on from the first one's. Copies, which ids do not tell
    apart, are sorted by their scores and ratings.
    """
    order, tied = loops.merge(*_table(first), *_table(second), fresh)
    rows = order[tied]
    if len(rows):
        ours = rows < len(first)
        copies = joined(first.take(rows[ours]), second.take(rows[~ours] - len(first)))
        order[tied] = np.concatenate([rows[ours], rows[~ours]])[canonical_order(copies)]
    return np.asarray(order)


def _table(pool: RatedPool) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The columns that a pool is sorted by: their bytes, and where each string begins."""
    names = SORTED_BY if pool.named else SORTED_BY[:-1]
    nothing = Packed(np.zeros(0, np.uint8), np.zeros(len(pool) + 1, np.int64))
    given = [Packed.of(getattr(pool, name)) if name in names else () for name in SORTED_BY]
    columns = [
        column if len(column) and isinstance(column, Packed) else nothing for column in given
    ]
    return tuple(one.raw for one in columns), tuple(one.starts for one in columns)


@dataclass(frozen=True, slots=True)
class _Part:
    """A segment of the whole, and which of its files are there already, by their names now."""

    segment: Segment
    kept: dict[str, Kept]


def _segments(
    first: _Saved, second: _Saved, order: IntArray, mine: IntArray, theirs: IntArray
) -> list[_Part]:
    """The segments of both, with their new rows; few small ones become one, counted anew."""
    one, other = first.index.prepared.segments, second.index.prepared.segments
    found = [(first, i, segment.moved(mine)) for i, segment in enumerate(one)]
    fresh = order[order >= len(mine)] - len(mine)
    loose = [] if len(fresh) == len(theirs) else [theirs[fresh]]
    if not loose:
        found += [(second, i, segment.moved(theirs)) for i, segment in enumerate(other)]
    found.sort(key=lambda one: -len(one[2].postings))
    sizes = [len(segment.postings) for *_, segment in found]
    count = _absorbed(sizes, sum(map(len, loose)))
    loose += [found.pop()[2].postings.order for _ in range(count)]
    files = {saved.folder: kept_in(saved.folder, INDEX) for saved in (first, second)}
    parts = [
        _Part(segment, _kept(files[saved.folder], segment, was, number))
        for number, (saved, was, segment) in enumerate(found)
    ]
    rows = np.sort(np.concatenate([*loose, np.zeros(0, np.int64)]))
    texts = (first.index.pool.texts, second.index.pool.texts)
    for begin in range(0, len(rows), SEGMENT):
        own = rows[begin : begin + SEGMENT]
        sources = order[own].tolist()
        read = [texts[0][i] if i < len(mine) else texts[1][i - len(mine)] for i in sources]
        parts.append(_Part(Segment.build(read, first.index.shape, own), {}))
    return parts


def _absorbed(sizes: Sequence[int], total: int) -> int:
    """How many of the last segments, the smallest, are counted anew with so many further texts.

    As many as are no more than twice what they join, so that a text is counted a few times in its
    life; and no two small ones stay.
    """
    count, begun = 0, total
    for size in reversed(sizes):
        first = total == 0
        if total + size > SEGMENT or not (first or size <= max(2 * total, FEW)):
            break
        total, count = total + size, count + 1
    return count if begun or count > 1 else 0


def _kept(files: Mapping[str, Kept], segment: Segment, was: int, number: int) -> dict[str, Kept]:
    """The files of a segment but for its rows, by their names in the whole."""
    names = segment_arrays(segment, 0).keys() - {"postings.order"}
    return {of_segment(name, number): files[of_segment(name, was)] for name in names}


def _arrays(
    one: RatedPool,
    other: RatedPool,
    order: IntArray,
    rows: tuple[IntArray, IntArray],
    parts: Sequence[_Part],
) -> Iterator[tuple[str, Array]]:
    """What has to be written of the whole: one column at a time is in memory."""
    for name in COLUMNS:
        mine, theirs = Packed.of(getattr(one, name)), Packed.of(getattr(other, name))
        if name == "ids" and not one.named:
            theirs = _counted_on(theirs, len(one), order)
        there = len(mine) + len(theirs) > 0
        yield from packed(name, _gathered(mine, theirs, order) if there else ()).items()
    here = replace(one.ratings, text=rows[0][one.ratings.text])
    ratings = joined_ratings(here, other.ratings, rows[1])
    yield from packed("annotators", ratings.annotators).items()
    yield from ((f"ratings.{name}", getattr(ratings, name)) for name in RATINGS)
    if one.score_names:
        yield "scores", np.concatenate([one.scores, other.scores])[order].ravel()
    for number, part in enumerate(parts):
        arrays = segment_arrays(part.segment, number)
        yield from ((name, array) for name, array in arrays.items() if name not in part.kept)


def _gathered(first: Packed, second: Packed, order: IntArray) -> Packed:
    """The strings of both in that order; rows of the second are counted on."""
    sizes = np.concatenate([np.diff(first.starts), np.diff(second.starts)])[order]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    raw = np.empty(starts[-1], dtype=np.uint8)
    loops.gather(first.raw, first.starts, second.raw, second.starts, order, starts[1:], raw)
    return Packed(raw, starts)


def _counted_on(ids: Packed, n: int, order: IntArray) -> Packed:
    """The numbers that new texts without ids of their own get after n others, in their order."""
    fresh = order[order >= n] - n
    numbers = np.array([int(name) for name in ids], dtype=np.int64)
    rank = np.zeros(len(ids), dtype=np.int64)
    rank[fresh[np.argsort(numbers[fresh])]] = np.arange(n + 1, n + 1 + len(fresh))
    return Packed.of([str(number) for number in rank])
