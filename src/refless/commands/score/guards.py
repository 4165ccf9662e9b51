"""Faults of outputs that a mean does not show: copies, odd texts, odd judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refless.commands.score.copies import Copies, copies
from refless.commands.score.novelty import Unlike, unlike
from refless.data.design import units_of
from refless.data.records import RatedPool, Residuals, picked
from refless.evaluation.groups import mean_of_others
from refless.evaluation.judge_shift import JudgeShift, judge_shifts
from refless.evaluation.scoring import Mean, Scored, scored
from refless.registry.arrays import FloatArray, IntArray, numbered
from refless.stats.clusters import independent
from refless.stats.fisher import Marked
from refless.stats.intervals import student
from refless.text.runs import RatedRuns

LEVEL = 0.01  # of a test, as several are made
LEAST = 0.01  # of the outputs: a smaller share changes no mean
ALIKE = 0.05  # spread of estimates beside that of ratings
SEVERAL = 5  # estimates that have a spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """Copies, odd outputs and odd judges.

    Attributes:
        copies: outputs that copy rated texts; without_copies: the mean of the others, None where
            no more copy than is usual.
        unlike: outputs that no rated text is like; None where too few texts are rated to tell.
        judges: the scores that estimates read beside those of rated texts.
    """

    copies: Copies
    without_copies: Mean | None
    unlike: Unlike | None
    judges: tuple[JudgeShift, ...]


def guards(
    estimated: Scored,
    rated: RatedPool,
    errors: Residuals,
    *,
    groups: Sequence[str] = (),
    judges: bool = False,
    seed: int = 0,
    runs: RatedRuns | None = None,
) -> Guards:
    """Looks for all of it.

    Args:
        estimated: outputs with their estimates; rated: what they rest on, in an order of its own.
        errors: held-out errors, for the mean without copies.
        groups: [n] what the outputs belong to; by default their source or item.
        judges: whether the estimates read scores of others.
        seed: of what is drawn.
        runs: of the rated texts, where they are known.
    """
    outputs = estimated.outputs
    copied, are_copies = copies(outputs, rated, seed, runs)
    without_copies = None
    if more(copied.overall, copied.systems):
        originals = np.flatnonzero(~are_copies)
        without_copies = _without(estimated, originals, errors, groups, seed)
    shifts: tuple[JudgeShift, ...] = ()
    if judges:
        shifts = judge_shifts(outputs.scores, units_of(outputs), rated)
    return Guards(
        copies=copied,
        without_copies=without_copies,
        unlike=unlike(outputs, rated, seed),
        judges=shifts,
    )


def more(overall: Marked, systems: Mapping[str, Marked]) -> dict[str, Marked]:
    """All outputs, named "", and systems that are shown to be marked more often than is usual.

    Where each system is, all outputs are enough.
    """
    every = {"": overall} if _shown(overall) else {}
    marked = {name: mark for name, mark in systems.items() if _shown(mark)}
    if every and len(marked) == len(systems):
        return every
    return every | marked


def alike(estimates: FloatArray, errors: Residuals) -> bool:
    """Whether estimates hardly differ, beside the human ratings of the rated texts."""
    defined = estimates[~np.isnan(estimates)]
    human = errors.human
    least = ALIKE * float(human.std()) if len(human) else 0.0
    return len(defined) >= SEVERAL and bool(defined.std() <= least)


def beats_constant(errors: Residuals) -> bool:
    """Whether held-out estimates are shown to err less than the mean of the other ratings.

    By the 95 % interval of the difference of squared errors, sources drawn whole; also where the
    ratings are not known.
    """
    n = len(errors.human)
    if n < 2:
        return not n
    labels = errors.sources if len({*errors.sources}) > 1 else ()
    groups = numbered(labels, n)
    constant_errors = errors.human - mean_of_others(errors.human, groups)
    less = np.square(constant_errors) - np.square(errors.values)
    error = np.sqrt(less.var(ddof=1) / independent(less, labels))
    freedom = len({*groups.tolist()}) - 1
    return bool(less.mean() > student(freedom) * error)


def _shown(mark: Marked) -> bool:
    """Whether so many are marked that it is no chance and changes a mean."""
    is_large = mark.share >= LEAST and mark.share - mark.usual >= mark.least
    return is_large and mark.p < LEVEL


def _without(
    estimated: Scored,
    rows: IntArray,
    errors: Residuals,
    groups: Sequence[str],
    seed: int,
) -> Mean:
    """The mean of some of the outputs."""
    outputs = estimated.outputs.take(rows)
    estimates = estimated.estimates.take(rows)
    labels = picked(tuple(groups), rows)
    return scored(outputs, estimates, errors, labels, seed=seed).overall
