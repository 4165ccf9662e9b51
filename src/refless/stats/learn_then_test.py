"""Thresholds from which on scores may be trusted: learn, then test (Angelopoulos et al. 2021).

A threshold is certified if the texts from it on refute that more than a given share of such texts
is wrong. Thresholds are tested in order, from the highest on. Most of the chance of error is spent
at the first, the others at the middle; it passes from each certified threshold to the next, and is
lost at one that is not (the fallback procedure, Wiens 2003). So the promise holds for the threshold
that is chosen, and a judge who errs on a few of his highest scores gets a second start.

The order begins at the first threshold that could pass if none of its texts were wrong. Scores and
what was drawn as a whole tell it. It does not look at which texts are wrong, so the promise holds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray

LIKELY = 0.92  # chance that a share is below the bar, if a number of ratings is told
EVEN = 0.5  # chance that a share is no higher than what such a number counts with
# places among the thresholds, and the part of the chance of error that is spent there
STARTS = ((0.0, 0.7), (0.5, 0.3))
STEPS = 20  # thresholds that are tried
MOST = 100  # times the ratings that there are; beyond this no number is told

# rows [k] -> independent rows they are worth
EffectiveSize = Callable[[IntArray], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The promise that is asked for.

    Attributes:
        at_most_wrong: share of wrong texts among those from the threshold on, in (0, 1).
        error: chance that the promise does not hold, for all tests together.
        promises: how many share this chance.
    """

    at_most_wrong: float
    error: float
    promises: int = 1

    @property
    def of_sequence(self) -> float:
        """The chance of error that the tests of one promise share."""
        return self.error / self.promises


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdStep:
    """Coverage and errors of a threshold.

    Attributes:
        threshold: scores from here on are accepted; coverage: share of the rated texts.
        wrong: share of these that people call wrong; highest: the most that it may be, with the
            promised confidence, for this threshold alone.
        effective_n: independent texts that those from here on are worth.
        certified: whether tests in order show that the promise holds from here on.
    """

    threshold: float
    coverage: float
    wrong: float
    highest: float
    effective_n: float
    certified: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Candidates:
    """Rated texts of which those with the highest scores may be accepted.

    Attributes:
        scores: [n] finite; wrong: [n] whether accepting a text is an error.
        unit: [n] what was drawn as a whole.
        effective: gives how many independent texts some of them, by their numbers, are worth.
    """

    scores: FloatArray
    wrong: BoolArray
    unit: IntArray
    effective: EffectiveSize

    def steps(self, risk: Risk, chance: float) -> list[ThresholdStep]:
        """Thresholds to try, from the highest on.

        Args:
            risk: the promise; chance: so few texts that even without a wrong one they do not show
                it, wrong with this chance, are not tried.
        """
        n = len(self.scores)
        if not n:
            return []
        order = np.lexsort((self.wrong, -self.scores))
        scores = self.scores[order]
        wrong = self.wrong[order]
        least = math.ceil(math.log(chance) / math.log(1 - risk.at_most_wrong))
        start = _first_count(scores, self.unit[order], least)
        counts = np.geomspace(start, n, STEPS).round().astype(int)
        steps = []
        for threshold in np.unique(scores[counts - 1])[::-1].tolist():
            count = int(np.searchsorted(-scores, -threshold, side="right"))
            share = float(wrong[:count].mean())
            size = self.effective(order[:count])
            step = ThresholdStep(
                threshold=threshold,
                coverage=count / n,
                wrong=share,
                highest=highest_share(share, size, risk.error),
                effective_n=size,
            )
            steps.append(step)
        return steps


def _first_count(scores: FloatArray, unit: IntArray, least: int) -> int:
    """The texts from the highest threshold on that has so many units, or all units.

    Args:
        scores: [n] falling; unit: [n] of the same texts; least: units.
    """
    first_rows = np.sort(np.unique(unit, return_index=True)[1])
    threshold = scores[first_rows[:least][-1]]
    return int((scores >= threshold).sum())


def tested(candidates: Candidates, risk: Risk) -> tuple[ThresholdStep, ...]:
    """The thresholds that were tried, the highest first, certified or not."""
    steps = candidates.steps(risk, risk.of_sequence * STARTS[0][1])
    parts: dict[int, float] = {}
    for place, part in STARTS:
        start = round(place * (len(steps) - 1))
        parts[start] = parts.get(start, 0.0) + part
    result = []
    chance = 0.0
    for place, step in enumerate(steps):
        chance += risk.of_sequence * parts.get(place, 0.0)
        certified = chance > 0 and _is_low(step, risk, chance)
        if not certified:
            chance = 0.0
        result.append(replace(step, certified=certified))
    return tuple(result)


def _is_low(step: ThresholdStep, risk: Risk, chance: float) -> bool:
    """Whether a share is shown to be low enough, wrong with this chance."""
    bound = highest_share(step.wrong, step.effective_n, chance)
    return bound <= risk.at_most_wrong


def shown_nowhere(candidates: Candidates, risk: Risk) -> bool:
    """True if no threshold would do even if it was the only one, and all texts independent."""
    from scipy.special import betaincinv

    order = np.argsort(-candidates.scores)
    scores = candidates.scores[order]
    last_rows = np.flatnonzero(np.diff(scores, append=-math.inf))
    right = np.cumsum(~candidates.wrong[order])[last_rows]
    bounds = betaincinv(last_rows + 2 - right, right, 1 - risk.error)
    return not (bounds <= risk.at_most_wrong).any()  # not a number if none is right


def highest_share(share: float, size: float, chance: float) -> float:
    """The upper end of a share at an effective size, wrong with this chance (Clopper-Pearson)."""
    from scipy.special import betaincinv

    count = share * size
    return float(betaincinv(count + 1, size - count, 1 - chance)) if share < 1 else 1.0


def labels_needed(candidates: Candidates, risk: Risk) -> int | None:
    """Rated texts with which some threshold should be certified; None if more may not help.

    A threshold counts if its share is likely to be below the bar: of many shares the lowest is
    often low by chance.
    """
    n = len(candidates.scores)
    enough = []
    sizes_ahead = (
        np.unique(np.geomspace(n, MOST * n, 60).astype(int)).tolist() if n else []
    )
    chance = risk.of_sequence * STARTS[-1][1]
    for step in candidates.steps(risk, 1 - LIKELY):
        if not _is_low(step, risk, 1 - LIKELY):
            continue
        size = step.effective_n
        share = highest_share(step.wrong, size, EVEN)
        for ratings in sizes_ahead:
            later = size * ratings / n
            if highest_share(share, later, chance) <= risk.at_most_wrong:
                enough.append(ratings)
                break
    return min(enough, default=None)
