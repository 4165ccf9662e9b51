"""Which rated texts to show beside a text: the most similar ones, whatever the estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from refless.estimators import BLEUNeighbors, Estimator, Kriging
from refless.kernels.bleu import PreparedBleu
from refless.matching import Held
from refless.ngrams import Shape
from refless.records import FloatArray, IntArray
from refless.studies.neighbors import kernel_in

MOST = 5  # texts shown beside one
CELLS = 2**22  # similarities held at once: 32 MB
NOTHING = 1e-12  # similarities up to here are none


class Compare(Protocol):
    """Texts -> [texts, rated texts] similarities."""

    def __call__(self, texts: Sequence[str]) -> FloatArray: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How an estimator sees texts: similarities, and from which one on it calls texts near."""

    similarities: Compare
    least: float
    name: str


def comparison(estimator: Estimator) -> Comparison:
    """The similarity that a fitted estimator goes by; BLEU* both ways where it sums several."""
    texts = estimator.rated.texts
    if isinstance(estimator, BLEUNeighbors):
        prepared = kernel_in(estimator).prepare(texts)
        return Comparison(
            similarities=prepared.similarities, least=estimator.threshold, name=estimator.kernel
        )
    shape = Shape()
    if isinstance(estimator, Kriging):
        low, high = estimator.orders
        shape = Shape(tokenize=estimator.tokenize, low=low, high=high)
    both_ways = PreparedBleu.build(texts, shape).symmetric
    return Comparison(similarities=both_ways, least=0.0, name="bleu* both ways")


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
        for i, row in enumerate(found, begin):
            if held is not None and held.group[i] >= 0:
                group = held.group[i]
                row[held.places[held.starts[group] : held.starts[group + 1]]] = -1.0
            yield _best(row, compare.least, most)


def _best(row: FloatArray, least: float, most: int) -> tuple[tuple[int, float], ...]:
    """The most similar ones; rated texts are in canonical order, which settles ties."""
    near: IntArray = np.flatnonzero((row >= least - NOTHING) & (row > NOTHING))
    best = near[np.argsort(-row[near], kind="stable")][:most]
    return tuple((int(i), float(row[i])) for i in best)
