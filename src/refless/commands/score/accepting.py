"""Estimates high enough to need no person."""

import math
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.clusters import effective_size_of_share
from refless.stats.learn_then_test import (
    Candidates,
    Risk,
    ThresholdStep,
    labels_needed,
    tested,
)

SURE = 0.9  # chance that the promise holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepting:
    """From which estimate on outputs need no person.

    Attributes:
        above: the bar for a good text; at_most_wrong: share of bad ones among the accepted.
        sure: chance of the promise; steps: thresholds that were tried, the highest first.
        chosen: the one that accepts most and is certified, or None.
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
    risk = Risk(at_most_wrong=at_most_wrong, error=1 - SURE)
    bad = human < above

    def effective(rows: IntArray) -> float:
        accepted = bad[rows].astype(np.float64)
        return effective_size_of_share(accepted, clusters[rows])

    candidates = Candidates(
        scores=estimates, wrong=bad, unit=clusters, effective=effective
    )
    steps = tested(candidates, risk)
    certified = [step for step in steps if step.certified]
    return Accepting(
        above=above,
        at_most_wrong=at_most_wrong,
        sure=SURE,
        steps=steps,
        chosen=certified[-1] if certified else None,
        needed=None if certified else labels_needed(candidates, risk),
    )
