"""How agreement grows with the number of rated texts (BLEU Neighbors, Figure 4)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.human import copies_of
from refless.data.records import RatedPool
from refless.estimators import Scorer
from refless.estimators.folds import whole
from refless.estimators.neighbors import BLEUNeighbors
from refless.estimators.scorer import Within
from refless.extensions.papers.judging import canonical, signed
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval
from refless.stats.measures import MEASURES

REPETITIONS = 20
MORE = 100
STEPS = 10
FEWEST_TEXTS = 10  # the smallest subset, and the fewest estimates that are correlated
FEWEST_SIZES = 3  # of the upper half, for a forecast
RESAMPLES = 1_000
DRAWN = ("spearman", "pearson", "mse")
RANGES = {**{name: (MEASURES[name].low, MEASURES[name].high) for name in DRAWN}, "coverage": (0, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What more ratings would bring: an extrapolation, no measurement.

    Attributes:
        size: rated texts there would then be.
        value: the measure expected there; NaN where there is too little to go by.
        interval: 95 %, of the fitted curve at that size.
        gain: value minus that of the same curve at the pool's own size.
        gain_interval: 95 %.
    """

    size: int
    value: float = math.nan
    interval: Interval = UNDEFINED
    gain: float = math.nan
    gain_interval: Interval = UNDEFINED


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LearningCurve:
    """A measure for every size of the rated pool, over random subsets.

    Attributes:
        sizes: [k] numbers of rated texts, ascending; the last is the whole pool. Copies of a text
            are drawn together, so subsets may be a little smaller.
        repetitions: random subsets a size.
        values: by measure (`spearman`, `pearson`, `mse`, `coverage`), [k, repetitions]; NaN where
            undefined, as correlations of fewer than ten estimates are.
        mean, sd: by measure, [k] over the defined repetitions; NaN where most are not.
        forecast: by measure, what `more` further rated texts would bring; an extrapolation.
        more: that number of texts.
        signature: everything that can change these numbers.
    """

    sizes: IntArray
    repetitions: int
    values: dict[str, FloatArray]
    mean: dict[str, FloatArray]
    sd: dict[str, FloatArray]
    forecast: dict[str, Forecast]
    more: int
    signature: Signature


def learning_curve(
    scorer: Scorer,
    pool: RatedPool,
    labels: Sequence[str] = (),
    *,
    group: str = "id",
    sizes: Sequence[int] = (),
    repetitions: int = REPETITIONS,
    more: int = MORE,
    seed: int = 0,
) -> LearningCurve:
    """Agreement of held-out estimates within random subsets of a pool (section 5.5).

    Each repetition draws n texts without replacement, of copies of a text all or none, and judges
    each of them by the others outside its group. For BLEU Neighbors all similarities are computed
    once; other estimators are fitted anew for every subset.

    Args:
        scorer: an estimator or given scores.
        pool: the rated texts.
        labels: [n] groups that are held out together; each text alone without them.
        group: what they are, for the signature.
        sizes: numbers of texts; ten even steps by default. The whole pool is always the last.
        repetitions: subsets a size, 2 or more.
        more: rated texts that the forecast adds.
        seed: of the subsets.

    Raises:
        UsageError: fewer than two repetitions, or a size that the pool does not have.
    """
    if repetitions < 2 or any(not 2 <= size <= len(pool) for size in sizes):
        raise UsageError("a learning curve needs 2 repetitions and sizes from 2 to the whole pool")
    pool, held, human = canonical(pool, labels)
    steps = _sizes(len(pool)) if not sizes else np.unique([*sizes, len(pool)]).astype(np.int64)
    predict, copies = _within(scorer, pool), copies_of(pool)
    values = {name: np.full((len(steps), repetitions), np.nan) for name in RANGES}
    rng = np.random.default_rng(seed)
    for i, size in enumerate(steps.tolist()):
        for j in range(repetitions if size < len(pool) else 1):
            rows = _drawn(copies, size, rng)
            for name, value in _measured(human[rows], predict(rows)(held[rows])).items():
                values[name][i, j:] = value
    both = {name: _mean_and_sd(table) for name, table in values.items()}
    return LearningCurve(
        sizes=steps,
        repetitions=repetitions,
        values=values,
        mean={name: mean for name, (mean, _) in both.items()},
        sd={name: sd for name, (_, sd) in both.items()},
        forecast={n: _forecast(n, steps, table, more, seed) for n, table in values.items()},
        more=more,
        signature=signed(scorer, pool, group, subsets=repetitions, seed=seed),
    )


def _within(scorer: Scorer, pool: RatedPool) -> Within:
    """Held-out estimates of some rows of the pool among themselves."""
    within = scorer.within(pool) if isinstance(scorer, BLEUNeighbors) else None
    if within is not None:
        return within

    def refitted(rows: IntArray) -> Callable[[IntArray], FloatArray]:
        part = pool.take(rows)
        return lambda groups: (
            scorer.held_out(part, np.unique(groups, return_inverse=True)[1]).values
        )

    return refitted


def _drawn(copies: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """At most so many rows; a single copy of a text would have lost what its others tell of it."""
    if len(np.unique(copies)) < len(copies):
        rows = whole(copies, size, rng)
        if 2 * len(rows) > size:
            return rows
    return np.sort(rng.choice(len(copies), size, replace=False))


def _sizes(n: int) -> IntArray:
    steps = np.rint(np.linspace(n / STEPS, n, STEPS)).astype(np.int64)
    return np.unique(np.clip(steps, min(FEWEST_TEXTS, n), n))


def _measured(human: FloatArray, predicted: FloatArray) -> dict[str, float]:
    known = ~np.isnan(predicted)
    measures = {name: MEASURES[name].value(human[known], predicted[known]) for name in DRAWN}
    if known.sum() < FEWEST_TEXTS:
        measures |= dict.fromkeys(("spearman", "pearson"), math.nan)
    return {**measures, "coverage": float(known.mean())}


def _mean_and_sd(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """[k] mean and standard deviation over the defined repetitions of [k, repetitions]."""
    known = ~np.isnan(table)
    n, least = known.sum(axis=1), np.where(known, table, np.inf).min(axis=1)
    # Above the least of them, so that equal values have a spread of exactly 0.
    above = np.where(known, table - least[:, None], 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = above.sum(axis=1) / n
        squares = (np.square(above - mean[:, None]) * known).sum(axis=1)
        few = 2 * n < table.shape[1]
        return np.where(few, np.nan, least + mean), np.where(
            few, np.nan, np.sqrt(squares / (n - 1))
        )


def _forecast(name: str, sizes: IntArray, table: FloatArray, more: int, seed: int) -> Forecast:
    """The line of a measure on 1/sqrt(size) through the upper half of sizes, prolonged.

    The interval is over the random subsets (each size's repetitions resampled); that the texts of
    the pool are themselves a sample is not in it.
    """
    half = sizes >= (sizes[-1] + 1) // 2
    x, values = 1 / np.sqrt(sizes[half]), table[half]
    goal = int(sizes[-1]) + more
    if half.sum() < FEWEST_SIZES or np.isnan(values).any():
        return Forecast(size=goal)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(values.shape[1], size=(RESAMPLES, *values.shape))
    means = np.take_along_axis(values[None], drawn, axis=2).mean(axis=2)
    ends = np.array([1 / math.sqrt(goal), 1 / math.sqrt(sizes[-1])])
    then, now = np.clip(_line(x, values.mean(axis=1)[None], ends)[:, 0], *RANGES[name])
    all_then, all_now = np.clip(_line(x, means, ends), *RANGES[name])
    return Forecast(
        size=goal,
        value=float(then),
        interval=percentile_interval(all_then),
        gain=float(then - now),
        gain_interval=percentile_interval(all_then - all_now),
    )


def _line(x: FloatArray, y: FloatArray, ends: FloatArray) -> FloatArray:
    """[ends, b] the least-squares line of each of [b, k] at the ends."""
    centred = x - x.mean()
    slope = (y * centred).sum(axis=1) / np.square(centred).sum()
    return np.asarray(y.mean(axis=1) + slope * (ends - x.mean())[:, None])
