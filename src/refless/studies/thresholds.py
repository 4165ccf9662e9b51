"""What tau, a and b (or any other threshold of abstention) do to agreement and coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from refless.estimators.neighbors import ROUNDING, BLEUNeighbors
from refless.estimators.protocol import subsampled
from refless.matching import hold_out
from refless.records import BoolArray, Estimates, FloatArray, IntArray, RatedPool, take
from refless.signature import Signature
from refless.stats import correlation, deviations
from refless.stats.intervals import fisher_interval
from refless.studies.annotators import annotators
from refless.studies.judging import Judge, canonical, signed
from refless.studies.neighbors import neighbor_means
from refless.truth import scaled

TAUS = (0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.16, 0.20, 0.30)
MIN_NEIGHBORS = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 50)
MAX_FRACTIONS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.66, 0.7, 0.8, 0.9, 1.0)
FEWEST_TEXTS = 10  # a correlation of fewer texts wins no place on the front
MEASURES: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "mse": deviations.mse,
    "pearson": correlation.pearson,
    "spearman": correlation.spearman,
    "kendall": correlation.kendall,
}

_Grid = tuple[FloatArray, IntArray, FloatArray]
_Predicted = Callable[[int, int, int], FloatArray]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Thresholds:
    """Agreement and coverage over a grid; [t, a, b] arrays are NaN where undefined.

    Attributes:
        taus: [t] least similarities, ascending.
        min_neighbors: [a] least numbers of neighbours.
        max_fractions: [b] largest shares of the pool that may be neighbours.
        n: number of texts.
        n_scored: [t, a, b] texts with an estimate.
        coverage: [t, a, b] their share.
        mse, pearson, spearman, kendall: [t, a, b] over the texts with an estimate.
        spearman_interval: [t, a, b, 2] 95 %, by Fisher's z.
        human: the average annotator's measures, by name; empty without annotators.
        above_human: [t, a, b] Spearman above the average annotator's, over ten texts or more.
        pareto: [t, a, b] no other point has as much of Spearman and of coverage, and more of one;
            over ten texts or more.
        axes: what the three axes are called; an axis of length 1 has nothing to vary.
        signature: everything that can change these numbers but the grids.
    """

    taus: FloatArray
    min_neighbors: IntArray
    max_fractions: FloatArray
    n: int
    n_scored: IntArray
    coverage: FloatArray
    mse: FloatArray
    pearson: FloatArray
    spearman: FloatArray
    kendall: FloatArray
    spearman_interval: FloatArray
    human: dict[str, float]
    above_human: BoolArray
    pareto: BoolArray
    axes: tuple[str, str, str]
    signature: Signature


def thresholds(
    judge: Judge,
    pool: RatedPool,
    labels: Sequence[str] = (),
    *,
    group: str = "id",
    taus: Sequence[float] = TAUS,
    min_neighbors: Sequence[int] = MIN_NEIGHBORS,
    max_fractions: Sequence[float] = MAX_FRACTIONS,
) -> Thresholds:
    """Agreement and coverage over grids of tau, a and b (BLEU Neighbors, Figures 2 and 3).

    One matching pass finds the neighbours for every tau; a and b are filters on their number. An
    estimator with a standard deviation is swept over the largest one admitted, in ten steps of
    coverage; what has no threshold is one point.

    Args:
        judge: an estimator or given scores.
        pool: the rated texts.
        labels: [n] groups that are held out together; each text alone without them.
        group: what they are, for the signature.
        taus, min_neighbors, max_fractions: the grids, for BLEU Neighbors.
    """
    pool, held, truth = canonical(pool, labels)
    if isinstance(judge, BLEUNeighbors):
        axes = ("tau", "min_neighbors", "max_fraction")
        grid = (
            np.unique(np.asarray(taus, dtype=np.float64)),
            np.unique(np.asarray(min_neighbors, dtype=np.int64)),
            np.unique(np.asarray(max_fractions, dtype=np.float64)),
        )
        predicted = _neighbors(judge, pool, held, grid)
        signature = signed(judge, pool, group, tau="grid", a="grid", b="grid")
    else:
        axes = ("max_sd", "", "")
        estimates = judge.held_out(pool, held)
        grid = (_deviations(estimates), np.zeros(1, dtype=np.int64), np.ones(1))
        predicted = _certain(estimates, grid[0])
        signature = signed(judge, pool, group)
    return _swept(pool, truth, grid, predicted, axes, signature)


def _neighbors(judge: BLEUNeighbors, pool: RatedPool, held: IntArray, grid: _Grid) -> _Predicted:
    """[n] estimates for any point of the grid, out of one matching pass."""
    taus, fewest, largest = grid
    rows = np.arange(len(pool))
    if judge.subsample < 1.0:
        rated = subsampled(pool, judge.subsample, judge.seed)
        place = {name: i for i, name in enumerate(pool.ids)}
        rows = np.array([place[name] for name in rated.ids], dtype=np.int64)
    rated = take(pool, rows)
    hidden = hold_out(held, held[rows])
    means, counts = neighbor_means(judge, rated, pool.texts, taus, hidden)
    values = scaled(means, pool.scale)
    sizes = len(rated) - np.bincount(held[rows], minlength=int(held.max(initial=0)) + 1)[held]

    def at(i: int, j: int, k: int) -> FloatArray:
        enough = counts[:, i] >= max(1, int(fewest[j]))
        few = counts[:, i] <= largest[k] * sizes + ROUNDING
        return np.where(enough & few, values[:, i], np.nan)

    return at


def _deviations(estimates: Estimates) -> FloatArray:
    """The largest standard deviations that leave 10 %, 20 % ... 100 % of the estimates."""
    known = estimates.sd[~np.isnan(estimates.sd)]
    if not len(known):
        return np.array([np.inf])
    return np.unique(np.quantile(known, np.arange(1, 11) / 10, method="higher"))


def _certain(estimates: Estimates, largest: FloatArray) -> _Predicted:
    if not len(estimates.sd):
        return lambda *_: estimates.values
    return lambda i, *_: np.where(estimates.sd <= largest[i], estimates.values, np.nan)


def _swept(
    pool: RatedPool,
    truth: FloatArray,
    grid: _Grid,
    predicted: _Predicted,
    axes: tuple[str, str, str],
    signature: Signature,
) -> Thresholds:
    shape = tuple(len(axis) for axis in grid)
    found = {name: np.full(shape, np.nan) for name in MEASURES}
    n_scored = np.zeros(shape, dtype=np.int64)
    interval = np.full((*shape, 2), np.nan)
    known: dict[bytes, dict[str, float]] = {}  # many points leave the same estimates
    for point in np.ndindex(*shape):
        values = predicted(*point)
        key = values.tobytes()
        defined = ~np.isnan(values)
        n_scored[point] = n = int(defined.sum())
        if key not in known:
            known[key] = {
                name: measure(truth[defined], values[defined]) for name, measure in MEASURES.items()
            }
        for name, value in known[key].items():
            found[name][point] = value
        interval[point] = fisher_interval(known[key]["spearman"], n, ranked=True)
    coverage = n_scored / max(1, len(pool))
    solid = np.where(n_scored >= FEWEST_TEXTS, found["spearman"], np.nan)
    people = annotators(pool)
    human = {} if people is None else dict(people.average)
    return Thresholds(
        taus=grid[0],
        min_neighbors=grid[1],
        max_fractions=grid[2],
        n=len(pool),
        n_scored=n_scored,
        coverage=coverage,
        mse=found["mse"],
        pearson=found["pearson"],
        spearman=found["spearman"],
        kendall=found["kendall"],
        spearman_interval=interval,
        human=human,
        above_human=solid > human.get("spearman", np.nan),
        pareto=_pareto(solid, coverage),
        axes=axes,
        signature=signature,
    )


def _pareto(spearman: FloatArray, coverage: FloatArray) -> BoolArray:
    """Where no other point has as much of both and more of one."""
    front = np.zeros(spearman.shape, dtype=np.bool_)
    known = np.flatnonzero(~np.isnan(spearman.ravel()))
    rho, share = spearman.ravel()[known], coverage.ravel()[known]
    best = -np.inf
    for level in np.unique(share)[::-1]:
        there = share == level
        top = rho[there].max()
        if top > best:
            front.ravel()[known[there & (rho == top)]] = True
            best = top
    return front
