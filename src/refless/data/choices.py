"""Choices between two texts: items of two rated texts, the preferred one 1, the other 0."""

import hashlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from refless.data.records import RatedPool, Texts
from refless.registry.arrays import BoolArray, FloatArray, IntArray, Names, codes

SCALE = (0.0, 1.0)
ITEM = "choice "  # how the names of such items begin
CHOICES = "choices between two texts"


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Pairs of texts, and how often the first of each was preferred.

    Attributes:
        first, second: [k] rows of the texts.
        share: [k] of the votes that the first won, ties half; votes: [k] how many.
        groups: [k] what a pair is held out and drawn with: its source, or else all pairs that
            equal texts connect.
    """

    first: IntArray
    second: IntArray
    share: FloatArray
    votes: IntArray
    groups: IntArray

    def __len__(self) -> int:
        return len(self.first)

    @property
    def decided(self) -> BoolArray:
        """[k] whether more people preferred one of the two."""
        return np.asarray(self.share != 0.5)


def item_of(keys: Names) -> str:
    """The name of the item that two texts are, whichever stands first."""
    return (
        ITEM
        + hashlib.sha256(repr(sorted(keys)).encode("utf-8", "replace")).hexdigest()[:12]
    )


def are_choices(texts: Texts) -> bool:
    """Whether people chose between the texts of each item."""
    return bool(texts.items) and all(name.startswith(ITEM) for name in texts.items)


def choices_in(pool: RatedPool) -> Choices:
    """The choices that a pool's ratings are, ordered by item; see `are_choices`."""
    order = sorted(range(len(pool)), key=lambda i: (pool.items[i], pool.ids[i]))
    pairs = [(a, b) for a, b in pairwise(order) if pool.items[a] == pool.items[b]]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Choices(
        first=first,
        second=second,
        share=pool.human[first],
        votes=np.bincount(pool.ratings.text, minlength=len(pool))[first],
        groups=group_numbers(pool)[first],
    )


def group_numbers(texts: Texts) -> IntArray:
    """[n] what each text is held out with: its source, or else all that equal texts connect."""
    if any(texts.sources):
        return codes(texts.sources)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    item = codes(texts.items)
    text = codes(texts.texts) + len(texts)
    edges = coo_array((np.ones(len(texts)), (item, text)), shape=(2 * len(texts),) * 2)
    return np.asarray(
        connected_components(edges, directed=False)[1][item], dtype=np.int64
    )
