"""Raters who rated one of two systems only: their strictness would pass for a difference."""

import math
from dataclasses import replace

import numpy as np

from refless.evaluation.entries import Field
from refless.registry.arrays import BoolArray, IntArray
from refless.stats.samples import FEWEST_RATERS

FEWEST = 6  # ratings: of so many dealt at random all are rarely of one system
RATIO = 10  # times as many ratings of one system as of the other
LEAST = 2  # outputs of each system that others have rated
LEFT = 1 / 3  # of the rated outputs, of four raters or more


def by_raters_of_both(
    field: Field, names: tuple[str, str]
) -> tuple[Field, dict[str, str]]:
    """Two systems by raters of both alone, and of each rater left out the system they rated.

    Ratings of the others still teach the estimates. Nobody is left out if that would leave a
    system without ratings: then nobody rated both. Nor if it would cost more than two thirds of
    the rated outputs, and raters are enough for the interval to know their strictness.
    """
    raters = field.raters
    if raters is None or not raters.names:
        return field, {}
    systems = np.array(field.outputs.systems, dtype=object)[raters.text]
    size = len(raters.names)
    counts = np.array(
        [np.bincount(raters.rater[systems == name], minlength=size) for name in names]
    )
    more = counts.max(axis=0)
    one_sided = (more >= FEWEST) & (more >= RATIO * counts.min(axis=0))
    compared = np.isin(systems, names)
    kept = ~(compared & one_sided[raters.rater])
    few = np.count_nonzero(more) < FEWEST_RATERS
    least = [
        LEAST if few else math.ceil(LEFT * _outputs(raters.text, systems == name))
        for name in names
    ]
    left = [_outputs(raters.text, kept & (systems == name)) for name in names]
    if not one_sided.any() or any(n < m for n, m in zip(left, least, strict=True)):
        return field, {}
    said = {
        raters.names[rater]: names[int(counts[:, rater].argmax())]
        for rater in np.flatnonzero(one_sided).tolist()
    }
    return _without(field, kept), said


def _outputs(text: IntArray, chosen: BoolArray) -> int:
    """The number of outputs that the chosen ratings are of."""
    return len(np.unique(text[chosen]))


def _without(field: Field, kept: BoolArray) -> Field:
    """The outputs by some of their single ratings; those that have none left are not rated."""
    raters = field.raters
    if raters is None:
        return field
    changed = np.unique(raters.text[~kept])
    part = replace(
        raters,
        text=raters.text[kept],
        rater=raters.rater[kept],
        rating=raters.rating[kept],
    )
    n = len(field.human)
    counts = np.bincount(part.text, minlength=n)
    sums = np.bincount(part.text, part.rating, minlength=n)
    human = field.human.copy()
    with np.errstate(invalid="ignore"):
        human[changed] = sums[changed] / counts[changed]
    return replace(field, human=human, raters=part)
