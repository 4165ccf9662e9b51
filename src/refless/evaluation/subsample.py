"""A part of many rated texts, drawn so that neither the order of rows nor a rating decides."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from refless.data.human import canonical_order, content_of
from refless.data.records import RatedPool
from refless.registry.arrays import IntArray

FEWEST_WHOLE = 20  # units

Marks = npt.NDArray[np.uint64]


def drawn_rows(pool: RatedPool, labels: Sequence[str], most: int, seed: int) -> IntArray:
    """Rows of at most so many texts, ascending; all if there are no more.

    Groups, or copies, are drawn whole if 20 or more fit; else single texts.

    Args:
        pool: the rated texts; labels: [n] what is held out together.
        most: texts, at least 1.
        seed: of the drawing.
    """
    if len(pool) <= most:
        return np.arange(len(pool))
    units = _of_groups(_marks(pool, seed), labels)
    _, codes, sizes = np.unique(units, return_inverse=True, return_counts=True)
    rows = np.flatnonzero((np.cumsum(sizes) <= most)[codes])  # of the smallest numbers that fit
    if len(np.unique(units[rows])) >= FEWEST_WHOLE:
        return rows
    drawn = np.random.default_rng(seed).choice(len(pool), most, replace=False)
    return np.sort(canonical_order(pool)[drawn])


def _marks(pool: RatedPool, seed: int) -> Marks:
    """[n] a drawn number for each content, the same for copies."""
    key = str(seed).encode()[-64:]
    digests = (
        hashlib.blake2b("\0".join(row).encode("utf-8", "surrogatepass"), digest_size=8, key=key)
        for row in zip(*content_of(pool), strict=True)
    )
    return np.frombuffer(b"".join(digest.digest() for digest in digests), dtype="<u8")


def _of_groups(marks: Marks, labels: Sequence[str]) -> Marks:
    """[n] a number for each group, from those of its texts in any order; not from its label."""
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int64)
    sums = np.zeros(len(place), dtype=np.uint64)
    np.add.at(sums, codes, marks)
    return sums[codes]
