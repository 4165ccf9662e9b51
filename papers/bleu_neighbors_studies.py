"""How BLEU Neighbors was evaluated: its thresholds, its learning curve, easy texts, other tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from refless.data.human import (
    canonical_order,
    cells_of,
    copies_of,
    fingerprint,
    human_ratings,
)
from refless.data.records import Estimates, Predictions, RatedPool, as_outputs
from refless.estimators.folds import whole
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.held_out import Agreement, agreement
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.signature import Signature
from refless.stats.intervals import (
    LEVEL,
    UNDEFINED,
    Interval,
    fisher_interval,
    percentile_interval,
)
from refless.stats.measures import MEASURES
from refless.stats.resampling import RESAMPLES, weights_of

REPETITIONS, STEPS = 20, 10  # random subsets of a size, and sizes, of a learning curve
FEWEST_TEXTS = 10  # the smallest subset, and the fewest estimates that are correlated


def signed(estimator: BLEUNeighbors, pool: RatedPool, **settings: object) -> Signature:
    """The estimator's signature with the pool and a study's own settings."""
    return estimator.signature(pool).plus(
        scale=pool.scale,
        pool=fingerprint(pool.take(canonical_order(pool))),
        size=len(pool),
        heldout="id",
        **settings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Agreement and coverage at one setting of the thresholds; NaN where undefined."""

    coverage: float
    mse: float
    spearman: float
    interval: Interval
    n: int


def point_at(pool: RatedPool, tau: float, fewest: int, share: float) -> Point:
    """The pool's texts judged by its others with these thresholds (Figures 2 and 3)."""
    pool = pool.take(canonical_order(pool))
    estimator = BLEUNeighbors(tau=tau, min_neighbors=fewest, max_fraction=share)
    estimates = estimator.held_out(pool)
    known = estimates.defined
    both = pool.human[known], estimates.values[known]
    n = int(known.sum())
    spearman = MEASURES["spearman"].value(*both)
    return Point(
        coverage=n / max(1, len(pool)),
        mse=MEASURES["mse"].value(*both),
        spearman=spearman,
        interval=fisher_interval(spearman, n, ranked=True),
        n=n,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LearningCurve:
    """Spearman and coverage for every size of the rated pool, over random subsets.

    Attributes:
        sizes: [k] numbers of rated texts, ascending; the last is the whole pool.
        mean, sd: by measure, [k] over the defined repetitions; NaN where most are not.
        signature: everything that can change these numbers.
    """

    sizes: IntArray
    mean: dict[str, FloatArray]
    sd: dict[str, FloatArray]
    signature: Signature


def learning_curve(
    pool: RatedPool, estimator: BLEUNeighbors | None = None, *, seed: int = 0
) -> LearningCurve:
    """Agreement of held-out estimates within random subsets of a pool (section 5.5, Figure 4).

    Each repetition draws n texts without replacement, of copies of a text all or none, and judges
    each of them by the others. All similarities are computed once.
    """
    estimator = estimator or BLEUNeighbors()
    pool = pool.take(canonical_order(pool))
    n = len(pool)
    human = pool.human
    copies = copies_of(pool)
    within = estimator.within(pool)
    if within is None:
        raise ValueError("the pool is too large for a table of similarities")
    steps = np.rint(np.linspace(n / STEPS, n, STEPS)).astype(np.int64)
    sizes = np.unique(np.clip(steps, min(FEWEST_TEXTS, n), n))
    values = {
        m: np.full((len(sizes), REPETITIONS), np.nan) for m in ("spearman", "coverage")
    }
    rng = np.random.default_rng(seed)
    for i, size in enumerate(sizes.tolist()):
        for j in range(REPETITIONS if size < n else 1):
            rows = _drawn(copies, size, rng)
            predicted = within(rows)(rows)  # each text is a group of its own
            known = ~np.isnan(predicted)
            both = human[rows][known], predicted[known]
            enough = known.sum() >= FEWEST_TEXTS
            spearman = MEASURES["spearman"].value(*both) if enough else np.nan
            values["spearman"][i, j:] = spearman
            values["coverage"][i, j:] = known.mean()
    moments = {name: _mean_and_sd(table) for name, table in values.items()}
    return LearningCurve(
        sizes=sizes,
        mean={name: mean for name, (mean, _) in moments.items()},
        sd={name: sd for name, (_, sd) in moments.items()},
        signature=signed(estimator, pool, subsets=REPETITIONS, seed=seed),
    )


def _drawn(copies: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """At most so many rows; a single copy of a text would have lost what its others tell of it."""
    if len(np.unique(copies)) < len(copies):
        rows = whole(copies, size, rng)
        if 2 * len(rows) > size:
            return rows
    return np.sort(rng.choice(len(copies), size, replace=False))


def _mean_and_sd(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """[k] mean and standard deviation over the defined repetitions of [k, repetitions]."""
    known = ~np.isnan(table)
    n = known.sum(axis=1)
    least = np.where(known, table, np.inf).min(axis=1)
    # Above the least of them, so that equal values have a spread of exactly 0.
    above = np.where(known, table - least[:, None], 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = above.sum(axis=1) / n
        squares = (np.square(above - mean[:, None]) * known).sum(axis=1)
        few = 2 * n < table.shape[1]
        return np.where(few, np.nan, least + mean), np.where(
            few, np.nan, np.sqrt(squares / (n - 1))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EasyTexts:
    """Annotators' errors on all texts beside those on the texts with an estimate.

    Attributes:
        n_scored: texts with an estimate.
        all_texts: mean over annotators of their MSE on all texts that they rated.
        estimated: the same on the texts with an estimate.
        difference: estimated minus all_texts; below 0, people find the estimated texts easier.
        interval: 95 %, paired over annotators; p: two-sided, of no difference.
    """

    n_scored: int
    all_texts: float
    estimated: float
    difference: float
    interval: Interval
    p: float


def easy_texts(pool: RatedPool, estimated: BoolArray, *, seed: int = 0) -> EasyTexts:
    """Annotators' errors on the texts that have an estimate, against all (section 5.3).

    The paper names no test; this is a paired bootstrap over the annotators who rated texts with an
    estimate (BCa intervals: they may be few).

    Args:
        pool: the rated texts, with named annotators; the human rating includes each, as published.
        estimated: [n] where there is an estimate.
        seed: of the bootstrap.
    """
    everywhere, inside = _errors(pool, estimated)
    gap = inside - everywhere
    n = len(inside)
    order = np.lexsort((everywhere, gap))
    weights = weights_of(n, resamples=RESAMPLES, rng=np.random.default_rng(seed))
    drawn = np.asarray((np.concatenate([*weights]) / n * gap[order]).sum(axis=1))
    left_out = (gap[order].sum() - gap[order]) / (n - 1)
    below = int((drawn <= 0).sum())
    above = int((drawn >= 0).sum())
    return EasyTexts(
        n_scored=int(estimated.sum()),
        all_texts=float(everywhere[order].mean()),
        estimated=float(inside[order].mean()),
        difference=float(gap[order].mean()),
        interval=bca_interval(drawn, float(gap[order].mean()), left_out),
        p=min(1.0, 2 * (1 + min(below, above)) / (1 + len(drawn))),
    )


def _errors(pool: RatedPool, estimated: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The MSE of each annotator who has both: on all texts, and on those with an estimate."""
    cells, who, text = cells_of(pool.ratings, len(pool))
    off = np.square(human_ratings(cells, len(who), scale=pool.scale) - pool.human[text])
    order = np.lexsort((off, who))  # sums then do not depend on the order of texts
    who = who[order]
    text = text[order]
    off = off[order]
    everywhere = _means(who, off)
    inside = _means(who[estimated[text]], off[estimated[text]])
    inside = np.concatenate(
        [inside, np.full(max(0, len(everywhere) - len(inside)), np.nan)]
    )
    both = ~np.isnan(everywhere) & ~np.isnan(inside)
    return everywhere[both], inside[both]


def _means(who: IntArray, off: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.bincount(who, weights=off) / np.bincount(who))


def bca_interval(drawn: FloatArray, value: float, left_out: FloatArray) -> Interval:
    """The middle 95 % of resampled values, moved for bias and skewness (BCa, Efron 1987).

    Args:
        drawn: [b] resampled values; undefined ones (NaN) are left out.
        value: the value itself.
        left_out: [n] the value without each unit (the jackknife).

    Undefined as the percentile interval is; that interval itself where nothing varies.
    """
    defined = drawn[~np.isnan(drawn)]
    if len(defined) == 0 or 2 * len(defined) < len(drawn) or math.isnan(value):
        return UNDEFINED
    below = (float((defined < value).mean()) + float((defined <= value).mean())) / 2
    spread = left_out.mean() - left_out
    squares = float(np.square(spread).sum())
    if not 0 < below < 1 or not squares > 0:
        return percentile_interval(drawn)
    acceleration = float((spread**3).sum()) / (6 * squares**1.5)
    normal = NormalDist()
    bias = normal.inv_cdf(below)

    def moved(share: float) -> float:
        z = bias + normal.inv_cdf(share)
        return normal.cdf(bias + z / (1 - acceleration * z))

    low, high = np.quantile(defined, [moved((1 - LEVEL) / 2), moved((1 + LEVEL) / 2)])
    return float(low), float(high)


def predictions_of(pool: RatedPool, estimates: Estimates) -> Predictions:
    """A pool's estimates beside its human ratings."""
    return Predictions(
        id=pool.ids,
        human=pool.human,
        predicted=estimates.values,
        reason=estimates.reasons,
    )


def transfer(pools: Mapping[str, RatedPool], *, seed: int = 0) -> list[dict[str, Any]]:
    """Every task's ratings judging every task's texts (Table 2); its own texts are held out."""
    estimator = BLEUNeighbors()
    tasks = sorted(pools)
    signatures = [signed(estimator, pools[task]) for task in tasks]
    signature = signatures[0].plus(
        tasks=tuple(tasks),
        pool=tuple(one.get("pool") or "" for one in signatures),
        size=tuple(len(pools[task]) for task in tasks),
        scale=tuple(str(pools[task].scale) for task in tasks),
        ci=f"boot-{RESAMPLES}",
        seed=seed,
    )

    def cell(learned: str, target: str) -> Agreement:
        pool = pools[target]
        estimates = (
            estimator.held_out(pool)
            if learned == target
            else estimator.fitted_to(pools[learned]).estimate(as_outputs(pool))
        )
        return agreement(predictions_of(pool, estimates), seed=seed)

    return [
        {
            "learned": learned,
            "judged": target,
            "agreement": cell(learned, target),
            "signature": str(signature.plus(learned=learned, judged=target)),
        }
        for learned in tasks
        for target in tasks
    ]
