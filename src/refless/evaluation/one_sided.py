"""Raters who rated one of two systems only: their strictness would pass for a difference."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from refless.evaluation.entries import Field
from refless.evaluation.raters import Raters
from refless.registry.arrays import BoolArray

FEWEST = 6  # ratings: of so many dealt at random all are rarely of one system
RATIO = 10  # times as many ratings of one system as of the other
LEFT = 1 / 5  # of all ratings


def by_raters_of_both(
    field: Field, names: tuple[str, str]
) -> tuple[Field, dict[str, str]]:
    """Two systems by raters of both alone, and of each rater left out the system they rated.

    Ratings of the others still teach the estimates. Nobody is left out if that would leave less
    than a fifth of a system's ratings: the interval then has what is known of strictness.
    """
    raters = field.raters
    if raters is None:
        return field, {}
    systems = np.array(field.outputs.systems, dtype=object)[raters.text]
    arms = np.array([systems == name for name in names])
    size = len(raters.names)
    counts = np.array([np.bincount(raters.rater[arm], minlength=size) for arm in arms])
    more = counts.max(axis=0)
    one_sided = (more >= FEWEST) & (more >= RATIO * counts.min(axis=0))
    kept = ~(arms.any(axis=0) & one_sided[raters.rater])
    if ((arms & kept).sum(axis=1) < LEFT * arms.sum(axis=1)).any():
        return field, {}
    sides = counts.argmax(axis=0)
    said = {raters.names[k]: names[sides[k]] for k in np.flatnonzero(one_sided)}
    return _without(field, raters, kept), said


def by_those_who_count(field: Field, systems: Sequence[str]) -> Field:
    """The outputs by the ratings that count in the difference of two systems; of more by all."""
    if len(systems) != 2:
        return field
    return by_raters_of_both(field, (systems[0], systems[1]))[0]


def _without(field: Field, raters: Raters, kept: BoolArray) -> Field:
    """The outputs by some of their single ratings; those that have none left are not rated."""
    text = raters.text[kept]
    rating = raters.rating[kept]
    human = field.human.copy()
    n = len(human)
    counts = np.bincount(text, minlength=n)
    sums = np.bincount(text, rating, n)
    changed = np.unique(raters.text[~kept])
    with np.errstate(invalid="ignore"):
        human[changed] = sums[changed] / counts[changed]
    part = replace(raters, text=text, rater=raters.rater[kept], rating=rating)
    return replace(field, human=human, raters=part)
