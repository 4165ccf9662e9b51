"""Probabilities that a judge gives beside what people say: are they the shares that they claim?"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.evaluation.labels import Labels
from refless.registry.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    codes_of,
    numbered,
)
from refless.stats.answers import Estimate
from refless.stats.clusters import effective_size
from refless.stats.contrast import mean_of
from refless.stats.intervals import VERDICTS
from refless.stats.verdicts import proportion

BINS = 10  # of scores, equally many in each
FEWEST = 10  # labels in a bin, and of passes and of fails
FOLDS = 5
DIFFERENT = 5  # values that probabilities have at least
FINITE = 1e-6  # probabilities nearer to 0 or 1 have no log odds
LEAST = 0.001  # of a probability in the log loss, so that one sure error is not all

Recalibrated = Literal["as it is", "Platt", "isotonic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Texts with alike probabilities.

    Attributes:
        n: texts; probability: their mean; passed: share that people pass.
    """

    n: int
    probability: float
    passed: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Probabilities beside the verdicts of people.

    Attributes:
        brier: mean squared difference; its parts over the bins are (Murphy 1973) reliability -
            resolution + uncertainty + within, the last by differences inside bins.
        ece: expected calibration error, the mean distance of the bins; ece_debiased: less what
            chance adds to it (the mean of a folded normal distribution; Kumar et al. 2019).
        curve: the bins, from the lowest probability on.
        method: the map to better probabilities that has the least held-out log loss; losses: of
            each, by its name; NaN if there are too few passes, or fails, to learn one.
    """

    brier: Estimate
    reliability: float
    resolution: float
    uncertainty: float
    within: float
    ece: float
    ece_debiased: float
    curve: tuple[ReliabilityBin, ...]
    method: Recalibrated
    losses: dict[Recalibrated, float]


def are_probabilities(scores: FloatArray) -> bool:
    """Whether scores lie in [0, 1], and are more than verdicts, a few votes or words."""
    inside = (scores >= 0) & (scores <= 1)
    return bool(inside.all()) and len({*scores.tolist()}) >= DIFFERENT


def calibration_of(scores: FloatArray, good: BoolArray, unit: IntArray) -> Calibration:
    """The calibration of probabilities.

    Args:
        scores: [n] in [0, 1]; good: [n] whether people pass the text; unit: [n] what was drawn as
            a whole.
    """
    passed = good.astype(np.float64)
    place = bins_of(scores)
    weights = np.bincount(place) / len(scores)
    said = np.bincount(place, scores) / np.bincount(place)
    shares = np.bincount(place, passed) / np.bincount(place)
    base = float(passed.mean())
    gaps = said - shares
    reliability = float(weights @ np.square(gaps))
    resolution = float(weights @ np.square(shares - base))
    uncertainty = base * (1 - base)
    brier = mean_of(np.square(scores - passed), unit, scale=VERDICTS)
    excess = _chance_error(gaps, _errors(passed, place, unit)) - np.abs(gaps)
    ece = float(weights @ np.abs(gaps))
    losses = _losses(scores, good, unit)
    method: Recalibrated = min(losses, key=lambda name: losses[name])
    curve = tuple(
        ReliabilityBin(
            n=int((place == number).sum()),
            probability=float(said[number]),
            passed=proportion(good[place == number], unit[place == number]),
        )
        for number in range(len(said))
    )
    return Calibration(
        brier=Estimate.of(brier, len(scores)),
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within=brier.value - (reliability - resolution + uncertainty),
        ece=ece,
        ece_debiased=max(0.0, ece - float(weights @ excess)),
        curve=curve,
        method=method,
        losses=losses,
    )


def bins_of(scores: FloatArray) -> IntArray:
    """[n] the bin of each score, from 0; equal scores share one, and none is empty."""
    count = min(BINS, max(1, len(scores) // FEWEST))
    edges = np.percentile(scores, 100 * np.linspace(0, 1, count + 1))[1:-1]
    places = np.searchsorted(edges, scores)
    return codes_of(places)


def _errors(passed: FloatArray, place: IntArray, unit: IntArray) -> FloatArray:
    """[bins] standard error of the share of passes in each bin, of rows drawn as wholes."""
    errors = []
    for number in range(int(place.max()) + 1):
        values = passed[place == number]
        centred = values - values.mean()
        size = effective_size(centred, unit[place == number])
        errors.append(math.sqrt(float(values.var()) / size))
    return np.array(errors)


def _chance_error(gaps: FloatArray, errors: FloatArray) -> FloatArray:
    """[bins] mean size of gaps that are normal with these errors (Leone et al. 1961)."""
    from scipy.special import ndtr

    sizes = np.abs(gaps)
    safe = np.where(errors > 0, errors, 1.0)
    z = sizes / safe
    density = np.exp(-np.square(z) / 2) * math.sqrt(2 / math.pi)
    folded = safe * density + sizes * (1 - 2 * ndtr(-z))
    return np.where(errors > 0, folded, sizes)


def _log_loss(probabilities: FloatArray, good: BoolArray) -> float:
    """The mean negative log of the probability of what people say."""
    clipped = np.clip(probabilities, LEAST, 1 - LEAST)
    return float(-np.log(np.where(good, clipped, 1 - clipped)).mean())


def _losses(
    scores: FloatArray, good: BoolArray, unit: IntArray
) -> dict[Recalibrated, float]:
    """The log loss of each map, learned in folds of whole units."""
    losses: dict[Recalibrated, float] = {"as it is": _log_loss(scores, good)}
    if min(good.sum(), (~good).sum()) < FEWEST:
        return losses
    methods: tuple[Recalibrated, ...] = ("Platt", "isotonic")
    for method in methods:
        mapped = held_out_map(method, scores, good, unit)
        losses[method] = _log_loss(mapped, good)
    return losses


def held_out_map(
    method: Recalibrated, scores: FloatArray, good: BoolArray, unit: IntArray
) -> FloatArray:
    """[n] better probabilities, each learned without its fold of units."""
    fold = numbered(unit.tolist(), len(unit)) % FOLDS
    mapped = scores.copy()
    for number in np.unique(fold):
        inside = fold == number
        mapped[inside] = better(method, scores[~inside], good[~inside], scores[inside])
    return mapped


def better(
    method: Recalibrated, scores: FloatArray, good: BoolArray, new: FloatArray
) -> FloatArray:
    """Probabilities of new scores by a map that is learned from scores and verdicts."""
    if method == "Platt" and len(scores):
        return _platt(scores, good, new)
    if method == "isotonic" and len(scores):
        return _isotonic(scores, good, new)
    return new


def _platt(scores: FloatArray, good: BoolArray, new: FloatArray) -> FloatArray:
    """A logistic curve in the log odds of the scores; Platt's (1999) targets draw few labels in."""
    from scipy.optimize import minimize
    from scipy.special import expit

    passes = int(good.sum())
    fails = len(good) - passes
    targets = np.where(good, (passes + 1) / (passes + 2), 1 / (fails + 2))
    design = np.stack([_log_odds(scores), np.ones(len(scores))], axis=1)

    def loss(line: FloatArray) -> tuple[float, FloatArray]:
        logits = design @ line
        value = (np.logaddexp(0, logits) - targets * logits).sum()
        return float(value), design.T @ (expit(logits) - targets)

    line = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    return np.asarray(expit(line[0] * _log_odds(new) + line[1]))


def _log_odds(scores: FloatArray) -> FloatArray:
    clipped = np.clip(scores, FINITE, 1 - FINITE)
    return np.asarray(np.log(clipped / (1 - clipped)))


def _isotonic(scores: FloatArray, good: BoolArray, new: FloatArray) -> FloatArray:
    """The rising step function nearest to the verdicts, with straight lines between its steps.

    A pass is made up at the lowest score and a fail at the highest, so that few labels are never
    sure.
    """
    from scipy.optimize import isotonic_regression

    values, place = np.unique(scores, return_inverse=True)
    counts = np.bincount(place).astype(np.float64)
    passes = np.bincount(place, good).astype(np.float64)
    counts[[0, -1]] += 1
    passes[0] += 1
    rising = isotonic_regression(passes / counts, weights=counts).x
    return np.asarray(np.interp(new, values, rising))


def with_probabilities(labels: Labels, passing: float) -> Calibration | None:
    """The calibration of a judge's scores; None if they are no probabilities."""
    if not len(labels) or not are_probabilities(labels.judge):
        return None
    return calibration_of(labels.judge, labels.human >= passing, labels.unit)
