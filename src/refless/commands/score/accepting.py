"""Estimates high enough to need no person: learn, then test (Angelopoulos et al. 2021).

A threshold is believed if the texts above it, held out, refute that more than a given share of such
texts is bad. Thresholds are tested from several starts, each from the highest on and until one is
not believed (fixed sequences, by Bonferroni among starts), so the promise holds for the one chosen.
"""

import math
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.clusters import effective_size

SURE = 0.9  # chance that the promise holds
LIKELY = 0.75  # chance that a share is below the bar, if a number of ratings is told
EVEN = 0.5  # chance that a share is no higher than what such a number counts with
STARTS = 5
START_ERROR = (1 - SURE) / STARTS  # of each start (Bonferroni)
STEPS = 20  # thresholds that are tried
MOST = 100  # times the ratings that there are; beyond this no number is told


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdStep:
    """Coverage and errors of a threshold.

    Attributes:
        threshold: estimates from here on are accepted; coverage: share of the rated texts.
        wrong: share of these that people rate below the bar; highest: the most that it may be, with
            the chance SURE for this threshold alone.
    """

    threshold: float
    coverage: float
    wrong: float
    highest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepting:
    """From which estimate on outputs need no person.

    Attributes:
        above: the bar for a good text; at_most_wrong: share of bad ones among the accepted.
        sure: chance of the promise; steps: thresholds that were tried, the highest first.
        chosen: the one that accepts most and is believed, or None.
        needed: rated texts that should do, where there is none; None if more may not help, as the
            held-out share above no threshold shows that so few are bad.
    """

    above: float
    at_most_wrong: float
    sure: float
    steps: tuple[ThresholdStep, ...]
    chosen: ThresholdStep | None
    needed: int | None = None

    def takes(self, estimates: FloatArray) -> BoolArray:
        """[n] which outputs are accepted; never one without an estimate."""
        least = math.inf if self.chosen is None else self.chosen.threshold
        return np.asarray(estimates >= least)


def accepting(
    estimates: FloatArray,
    human: FloatArray,
    clusters: IntArray,
    above: float,
    at_most_wrong: float,
) -> Accepting:
    """The lowest threshold that keeps the promise.

    Args:
        estimates: [n] held out, finite; human: [n] ratings; clusters: [n] rows that belong
            together.
        above: a text is bad that people rate below; at_most_wrong: in (0, 1).
    """
    # sums then do not depend on the order of rows
    order = np.lexsort((clusters, human, -estimates))
    estimates = estimates[order]
    clusters = clusters[order]
    bad = human[order] < above
    steps = []
    believed = []
    sizes = []
    for threshold in _thresholds(estimates, at_most_wrong):
        accepted = estimates >= threshold
        wrong = bad[accepted]
        share = float(wrong.mean())
        size = effective_size(wrong - wrong.mean(), clusters[accepted])
        step = ThresholdStep(
            threshold=threshold,
            coverage=float(accepted.mean()),
            wrong=share,
            highest=_highest(share, size, 1 - SURE),
        )
        steps.append(step)
        believed.append(_highest(share, size, START_ERROR) <= at_most_wrong)
        sizes.append(size)
    reached = [_reached(believed, start) for start in _starts(len(steps))]
    last = max(reached, default=-1)
    chosen = steps[last] if last >= 0 else None
    needed = None
    if chosen is None:
        needed = _needed(steps, sizes, len(estimates), at_most_wrong)
    return Accepting(
        above=above,
        at_most_wrong=at_most_wrong,
        sure=SURE,
        steps=tuple(steps),
        chosen=chosen,
        needed=needed,
    )


def _thresholds(estimates: FloatArray, at_most_wrong: float) -> list[float]:
    """Thresholds to test, from the highest on.

    Args:
        estimates: [n] from the highest on.
        at_most_wrong: so few texts that no bad one of them is no evidence are not tried.
    """
    n = len(estimates)
    if not n:
        return []
    least = math.ceil(math.log(START_ERROR) / math.log(1 - at_most_wrong))
    counts = np.geomspace(min(least, n), n, STEPS).round().astype(int)
    thresholds: list[float] = np.unique(estimates[counts - 1])[::-1].tolist()
    return thresholds


def _highest(share: float, size: float, chance: float) -> float:
    """The upper end of a share at an effective size, wrong with this chance (Clopper-Pearson)."""
    from scipy.special import betaincinv

    count = share * size
    return float(betaincinv(count + 1, size - count, 1 - chance)) if share < 1 else 1.0


def _starts(count: int) -> list[int]:
    """Places of the thresholds that tests start from, equally far apart."""
    if not count:
        return []
    last = count - 1
    return sorted({round(i * last / (STARTS - 1)) for i in range(STARTS)})


def _reached(believed: list[bool], start: int) -> int:
    """The last of the thresholds believed one after the other from a start on; -1 for none."""
    last = -1
    for place in range(start, len(believed)):
        if not believed[place]:
            break
        last = place
    return last


def _needed(
    steps: list[ThresholdStep], sizes: list[float], n: int, at_most_wrong: float
) -> int | None:
    """Rated texts with which one of these thresholds should be believed; None if none may be.

    A threshold counts if its share is likely to be below the bar, whichever of the starts it is
    tested from. Of many shares the lowest is often low by chance.
    """
    enough = []
    sizes_ahead = (
        np.unique(np.geomspace(n, MOST * n, 60).astype(int)).tolist() if n else []
    )
    for step, size in zip(steps, sizes, strict=True):
        if _highest(step.wrong, size, (1 - LIKELY) / STARTS) > at_most_wrong:
            continue
        share = _highest(step.wrong, size, EVEN)
        for ratings in sizes_ahead:
            later = size * ratings / n
            if _highest(share, later, START_ERROR) <= at_most_wrong:
                enough.append(ratings)
                break
    return min(enough, default=None)
