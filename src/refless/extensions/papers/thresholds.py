"""What tau, a and b (or any other threshold of abstention) do to agreement and coverage."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.data.human import canonical_order
from refless.data.records import RatedPool
from refless.estimators import Scorer
from refless.estimators.folds import rows_in, subsampled
from refless.estimators.neighborhood import Neighborhood
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.annotators import annotators
from refless.extensions.papers.judging import canonical, signed
from refless.metrics.kernels import kernel_of
from refless.metrics.matching import hold_out
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.signature import Signature
from refless.stats.intervals import fisher_interval
from refless.stats.measures import MEASURES

TAUS = (0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.16, 0.20, 0.30)
MIN_NEIGHBORS = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 50)
MAX_FRACTIONS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.66, 0.7, 0.8, 0.9, 1.0)
FEWEST_TEXTS = 10  # a correlation of fewer texts wins no place on the front
SWEPT = ("mse", "pearson", "spearman", "kendall")


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
        setting: the scorer's own place on the axes; NaN where it has none.
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
    setting: tuple[float, float, float]
    signature: Signature


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sweep:
    """Held-out estimates at many thresholds of abstention.

    Attributes:
        axes: what the three thresholds are called; "" for an axis that does not exist.
        grid: the values along each.
        at: place along each axis -> [n] estimates, NaN where undefined.
        setting: the thresholds in force; NaN where there is none.
        settings: what a signature says of thresholds that are swept over.
    """

    axes: tuple[str, str, str]
    grid: tuple[FloatArray, IntArray, FloatArray]
    at: Callable[[int, int, int], FloatArray]
    setting: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    settings: Mapping[str, object] = field(default_factory=dict)


def thresholds(
    scorer: Scorer,
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
        scorer: an estimator or given scores.
        pool: the rated texts.
        labels: [n] groups that are held out together; each text alone without them.
        group: what they are, for the signature.
        taus, min_neighbors, max_fractions: the grids, for BLEU Neighbors.
    """
    pool, held, human = canonical(pool, labels)
    if isinstance(scorer, BLEUNeighbors):
        sweep = _neighbor_sweep(scorer, pool, held, taus, min_neighbors, max_fractions)
    else:
        sweep = _deviation_sweep(scorer, pool, held)
    return _swept(pool, human, sweep, signed(scorer, pool, group, **sweep.settings))


def _neighbor_sweep(
    scorer: BLEUNeighbors,
    pool: RatedPool,
    groups: IntArray,
    taus: Sequence[float],
    min_neighbors: Sequence[int],
    max_fractions: Sequence[float],
) -> Sweep:
    """Held-out estimates over grids of tau, a and b, out of one matching pass."""
    grid = (
        np.unique(np.asarray(taus, dtype=np.float64)),
        np.unique(np.asarray(min_neighbors, dtype=np.int64)),
        np.unique(np.asarray(max_fractions, dtype=np.float64)),
    )
    ordered, rule = pool.take(canonical_order(pool, groups)), scorer.rule()
    rated = subsampled(ordered, scorer.subsample, scorer.seed)
    state = Neighborhood.of(pool, rated, kernel_of(scorer.kernel).prepare(rated.texts), "")
    hidden = hold_out(groups, groups[rows_in(pool, rated)])
    means, counts = state.means(pool.texts, grid[0], rule, hidden, scorer.progress)
    sizes = len(rated) - hidden.sizes()

    def at(i: int, j: int, k: int) -> FloatArray:
        limits = replace(rule, least=int(grid[1][j]), most=float(grid[2][k]))
        return np.where(limits.admits(counts[:, i], sizes), means[:, i], np.nan)

    return Sweep(
        axes=("tau", "min_neighbors", "max_fraction"),
        grid=grid,
        at=at,
        setting=(scorer.threshold, float(scorer.min_neighbors), scorer.max_fraction),
        settings={"tau": "grid", "a": "grid", "b": "grid"},
    )


def _deviation_sweep(scorer: Scorer, pool: RatedPool, groups: IntArray) -> Sweep:
    """Held-out estimates at the standard deviations that 10 %, 20 % ... 100 % of them reach."""
    estimates = scorer.held_out(pool, groups)
    deviations = estimates.sd[~np.isnan(estimates.sd)]
    largest = np.array([np.inf])
    if len(deviations):
        largest = np.unique(np.quantile(deviations, np.arange(1, 11) / 10, method="higher"))

    def at(i: int, *_: int) -> FloatArray:
        return np.where(estimates.sd <= largest[i], estimates.values, np.nan)

    return Sweep(
        axes=("max_sd", "", ""),
        grid=(largest, np.zeros(1, dtype=np.int64), np.ones(1)),
        at=at if len(estimates.sd) else lambda *_: estimates.values,
    )


def _swept(pool: RatedPool, human: FloatArray, sweep: Sweep, signature: Signature) -> Thresholds:
    shape = tuple(len(axis) for axis in sweep.grid)
    found = {name: np.full(shape, np.nan) for name in SWEPT}
    n_scored = np.zeros(shape, dtype=np.int64)
    interval = np.full((*shape, 2), np.nan)
    known: dict[bytes, dict[str, float]] = {}  # many points leave the same estimates
    for point in np.ndindex(*shape):
        values = sweep.at(*point)
        key = values.tobytes()
        defined = ~np.isnan(values)
        n_scored[point] = n = int(defined.sum())
        if key not in known:
            both = human[defined], values[defined]
            known[key] = {name: MEASURES[name].value(*both) for name in SWEPT}
        for name, value in known[key].items():
            found[name][point] = value
        interval[point] = fisher_interval(known[key]["spearman"], n, ranked=True)
    coverage = n_scored / max(1, len(pool))
    solid = np.where(n_scored >= FEWEST_TEXTS, found["spearman"], np.nan)
    people = annotators(pool)
    average = {} if people is None else dict(people.average)
    return Thresholds(
        taus=sweep.grid[0],
        min_neighbors=sweep.grid[1],
        max_fractions=sweep.grid[2],
        n=len(pool),
        n_scored=n_scored,
        coverage=coverage,
        **found,
        spearman_interval=interval,
        human=average,
        above_human=solid > average.get("spearman", np.nan),
        pareto=_pareto(solid, coverage),
        axes=sweep.axes,
        setting=sweep.setting,
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
