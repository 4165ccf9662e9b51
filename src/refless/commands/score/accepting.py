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
    order = np.lexsort(
        (clusters, human, -estimates)
    )  # sums then do not depend on that of rows
    estimates = estimates[order]
    clusters = clusters[order]
    bad = human[order] < above
    n = len(estimates)
    least = math.ceil(math.log((1 - SURE) / STARTS) / math.log(1 - at_most_wrong))
    places = (
        np.unique(
            np.geomspace(max(1, min(least, n)), max(1, n), STEPS).round().astype(int)
        )
        - 1
    )
    thresholds = np.unique(estimates[places])[::-1] if n else np.zeros(0)
    steps = []
    believed = []
    sizes = []
    for threshold in thresholds.tolist():
        accepted = estimates >= threshold
        share = float(bad[accepted].mean())
        size = effective_size(bad[accepted] - bad[accepted].mean(), clusters[accepted])
        highest = _highest(share, size, 1 - SURE)
        coverage = float(accepted.mean())
        steps.append(
            ThresholdStep(
                threshold=threshold, coverage=coverage, wrong=share, highest=highest
            )
        )
        believed.append(_highest(share, size, (1 - SURE) / STARTS) <= at_most_wrong)
        sizes.append(size)
    last = max((_reached(believed, start) for start in _starts(len(steps))), default=-1)
    return Accepting(
        above=above,
        at_most_wrong=at_most_wrong,
        sure=SURE,
        steps=tuple(steps),
        chosen=steps[last] if last >= 0 else None,
        needed=_needed(steps, sizes, n, at_most_wrong) if last < 0 else None,
    )


def _highest(share: float, size: float, chance: float) -> float:
    """The upper end of a share at an effective size, wrong with this chance (Clopper-Pearson)."""
    from scipy.special import betaincinv

    count = share * size
    return float(betaincinv(count + 1, size - count, 1 - chance)) if share < 1 else 1.0


def _starts(count: int) -> list[int]:
    return (
        sorted({round(i * (count - 1) / (STARTS - 1)) for i in range(STARTS)})
        if count
        else []
    )


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
    told = []
    for step, size in zip(steps, sizes, strict=True):
        if _highest(step.wrong, size, (1 - LIKELY) / STARTS) > at_most_wrong:
            continue
        share = _highest(step.wrong, size, EVEN)
        for ratings in np.unique(np.geomspace(n, MOST * n, 60).astype(int)).tolist():
            later = size * ratings / n
            if _highest(share, later, (1 - SURE) / STARTS) <= at_most_wrong:
                told.append(ratings)
                break
    return min(told, default=None)
