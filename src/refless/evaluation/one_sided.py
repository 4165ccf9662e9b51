"""Raters who rated one of two systems only: their strictness would pass for a difference."""

from dataclasses import replace

import numpy as np

from refless.evaluation.entries import Field
from refless.registry.arrays import BoolArray

FEWEST = 6  # ratings: of so many dealt at random all are rarely of one system
RATIO = 10  # times as many ratings of one system as of the other
LEAST = 2  # outputs of each system that others have rated


def by_raters_of_both(
    field: Field, names: tuple[str, str]
) -> tuple[Field, dict[str, str]]:
    """Two systems by raters of both alone, and of each rater left out the system they rated.

    Ratings of the others still teach the estimates. Nobody is left out if that would leave a
    system without ratings: then nobody rated both.
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
    left = [len({*raters.text[kept & (systems == name)].tolist()}) for name in names]
    if not one_sided.any() or min(left) < LEAST:
        return field, {}
    said = {
        raters.names[rater]: names[int(counts[:, rater].argmax())]
        for rater in np.flatnonzero(one_sided).tolist()
    }
    return _without(field, kept), said


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
