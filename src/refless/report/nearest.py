"""Which rated texts to show beside a text: the most similar ones, whatever the estimator."""

from collections.abc import Iterator, Sequence

import numpy as np

from refless.estimators import Comparison
from refless.matching import Held
from refless.records import FloatArray, IntArray

MOST = 5  # texts shown beside one
CELLS = 2**22  # similarities held at once: 32 MB
NOTHING = 1e-12  # similarities up to here are none


def nearest(
    compare: Comparison,
    texts: Sequence[str],
    rated: int,
    held: Held | None = None,
    most: int = MOST,
) -> Iterator[tuple[tuple[int, float], ...]]:
    """For each text its nearest rated texts, as (row of the rated texts, similarity).

    Args:
        compare: the similarity.
        texts: the texts.
        rated: number of rated texts.
        held: which of these a text must not see.
        most: how many are wanted; fewer where fewer are near.
    """
    block = max(1, CELLS // max(1, rated))
    for begin in range(0, len(texts), block):
        found = compare.similarities(texts[begin : begin + block])
        if held is not None:
            held.hide(found, begin)
        yield from (_best(row, compare.least, most) for row in found)


def _best(row: FloatArray, least: float, most: int) -> tuple[tuple[int, float], ...]:
    """The most similar ones; rated texts are in canonical order, which settles ties."""
    near: IntArray = np.flatnonzero((row >= least - NOTHING) & (row > NOTHING))
    best = near[np.argsort(-row[near], kind="stable")][:most]
    return tuple((int(i), float(row[i])) for i in best)
