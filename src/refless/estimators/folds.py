"""Groups of rated texts, folds of whole groups, drawn parts; copies stay together."""

from __future__ import annotations

import numpy as np

from refless.data.human import copies_of, members_of
from refless.data.records import RatedPool
from refless.registry.arrays import IntArray, numbers_of
from refless.registry.errors import UsageError

FEWEST = 5  # rated texts for a model


def group_numbers(pool: RatedPool, groups: IntArray | None) -> IntArray:
    """[n] group of each text; by default each text is a group of its own.

    Raises:
        UsageError: not one number from 0 a text.
    """
    if groups is None:
        return np.arange(len(pool))
    if len(groups) != len(pool) or np.min(groups, initial=0) < 0:
        raise UsageError(
            f"groups must be one number from 0 a text: {len(pool)} texts, {len(groups)} groups"
        )
    return np.asarray(groups, dtype=np.int64)


def folds_in(
    pool: RatedPool, groups: IntArray, folds: int, seed: int | tuple[int, ...] = 2
) -> IntArray:
    """[n] fold of each text; groups stay whole, and copies of a text that no group sets apart.

    Groups of the same contents share a fold, so neither ratings nor the order of rows nor labels
    decide where a text goes. Folds are those of any multiple of their number, put together.
    """
    members = members_of(groups, copies_of(pool))
    place = {inside: i for i, inside in enumerate(sorted(set(members.values())))}
    fold = _drawn_folds(len(place), folds, seed)
    of_rows = [fold[place[members[group]]] for group in groups.tolist()]
    return np.array(of_rows, dtype=np.int64)


def folds_of(groups: IntArray, folds: int) -> IntArray:
    """[n] fold of each row; groups stay whole and are drawn in the order of rows, not of labels."""
    number = numbers_of(groups)
    return _drawn_folds(int(number.max(initial=-1)) + 1, folds)[number]


def _drawn_folds(n: int, folds: int, seed: int | tuple[int, ...] = 2) -> IntArray:
    """[n] fold of each group."""
    return np.random.default_rng(seed).permutation(n) % folds


def whole(copies: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """At most so many drawn rows, in their order, with all copies of a text or none.

    Args:
        copies: [n] number of what each row is a copy of.
        size: rows; of one text with more copies than that, some are drawn.
        rng: where chance comes from.
    """
    if len(copies) <= size:
        return np.arange(len(copies))
    _, inverse, sizes = np.unique(copies, return_inverse=True, return_counts=True)
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    room = size
    first = rng.choice(len(sizes), min(size, len(sizes)), replace=False)
    # if copies leave room
    remaining = np.ones(len(sizes), dtype=np.bool_)
    remaining[first] = False
    later = rng.permutation(np.flatnonzero(remaining))
    for text in np.concatenate([first, later]):
        if not room:
            break
        if sizes[text] <= room:
            room = room - int(sizes[text])
            chosen[text] = True
    if not chosen.any():
        return np.sort(rng.choice(len(copies), size, replace=False))
    return np.flatnonzero(chosen[inverse])


def rows_in(pool: RatedPool, part: RatedPool) -> IntArray:
    """[part] row of each of a part of a pool's texts in the pool."""
    row = {name: i for i, name in enumerate(pool.ids)}
    return np.array([row[name] for name in part.ids], dtype=np.int64)
