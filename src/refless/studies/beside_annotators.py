"""An estimator beside single annotators, on equal terms: both against the mean of the others.

The mean of k ratings is a better rating than that of the k - 1 which leave an annotator out. An
estimator held against the first beats an annotator held against the second by that alone, so here
both are held against the second, annotator by annotator, each on the texts that this one rated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.human import canonical_order
from refless.records import Estimates, FloatArray, IntArray, RatedPool, take
from refless.stats import weighted
from refless.stats.intervals import LEVEL, Interval, percentile_interval, quantile
from refless.stats.resampling import RESAMPLES, weights_of
from refless.studies.annotators import FEWEST, Column, columns_of

MOST = 50_000  # ratings that are resampled in full; of more there are fewer resamples
FEWEST_RESAMPLES = 100


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BesideAnnotators:
    """Annotators and the estimator against the mean of the other annotators.

    Attributes:
        spearman, mse: [annotators, 2] the annotator's and the estimator's, on the annotator's
            texts that have an estimate; NaN where undefined.
        annotator, estimator: mean Spearman of each, over annotators with both.
        difference_interval: 95 %, of estimator - annotator: texts and annotators are drawn.
    """

    spearman: FloatArray
    mse: FloatArray
    annotator: float
    estimator: float
    difference_interval: Interval


def beside_annotators(
    pool: RatedPool,
    estimates: Estimates,
    *,
    clusters: IntArray | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> BesideAnnotators | None:
    """The comparison, or None where no two annotators rated a text that has an estimate.

    Args:
        pool: the rated texts; estimates: one a text, made without its ratings.
        clusters: [n] number of what is drawn together; single texts without it.
        seed: of the bootstrap; resamples: its size.
    """
    order = _order(pool, estimates.values, clusters)
    values = estimates.values[order]
    place = np.argsort(order)
    known = [_known(column, place, values) for column in columns_of(pool, leave_out=True)]
    several = [column for column in known if len(column.rows) >= 2]
    enough = [column for column in several if len(column.rows) >= FEWEST]
    used = enough if len(enough) >= 2 else several
    if len(used) < 2:
        return None
    judges = [(column.scores, values[column.rows]) for column in used]
    pairs = [
        tuple(weighted.spearman(column.human, judged) for judged in both)
        for column, both in zip(used, judges, strict=True)
    ]
    spearman = _of(pairs, used, np.ones((1, len(pool))))[0]
    errors = [
        [float(np.sort(np.square(column.human - judged)).mean()) for judged in both]
        for column, both in zip(used, judges, strict=True)
    ]
    average = _averages(spearman)
    return BesideAnnotators(
        spearman=spearman,
        mse=np.array(errors),
        annotator=float(average[0]),
        estimator=float(average[1]),
        difference_interval=_interval(
            pairs, used, len(pool), None if clusters is None else clusters[order], seed, resamples
        ),
    )


def _known(column: Column, place: IntArray, values: FloatArray) -> Column:
    """The column in canonical order, its texts with an estimate alone."""
    rows = place[column.rows]
    kept = np.argsort(rows)
    kept = kept[~np.isnan(values[rows[kept]])]
    return Column(column.name, rows[kept], column.human[kept], column.scores[kept])


def _of(
    pairs: list[tuple[weighted.OfWeights, ...]], used: list[Column], weights: FloatArray
) -> FloatArray:
    """[resamples, annotators, 2] Spearman of annotator and estimator."""
    found = [
        np.stack([of(weights[:, column.rows]) for of in both], axis=1)
        for both, column in zip(pairs, used, strict=True)
    ]
    return np.stack(found, axis=1)


def _averages(spearman: FloatArray) -> FloatArray:
    """[2] means over the annotators for which both are defined; NaN without any."""
    both = spearman[~np.isnan(spearman).any(axis=1)]
    return np.asarray(both.mean(axis=0)) if len(both) else np.full(2, np.nan)


def _interval(
    pairs: list[tuple[weighted.OfWeights, ...]],
    used: list[Column],
    n: int,
    clusters: IntArray | None,
    seed: int,
    resamples: int,
) -> Interval:
    rng = np.random.default_rng(seed)
    size = sum(len(column.rows) for column in used)
    times = min(resamples, max(FEWEST_RESAMPLES, resamples * MOST // size))
    blocks = weights_of(n, resamples=times, rng=rng, clusters=clusters)
    drawn = np.concatenate([_drawn(_of(pairs, used, weights), rng) for weights in blocks])
    known = drawn[~np.isnan(drawn)]
    if times == resamples or len(known) < 2:
        return percentile_interval(drawn)
    half = quantile(LEVEL) * float(known.std(ddof=1))  # so many ratings that it is normal
    return float(known.mean()) - half, float(known.mean()) + half


def _drawn(spearman: FloatArray, rng: np.random.Generator) -> FloatArray:
    """[resamples] mean difference over as many annotators, drawn; NaN where none is defined."""
    gaps = spearman[:, :, 1] - spearman[:, :, 0]
    chosen = np.take_along_axis(gaps, rng.integers(gaps.shape[1], size=gaps.shape), axis=1)
    defined = ~np.isnan(chosen)
    counts, sums = defined.sum(axis=1), np.where(defined, chosen, 0.0).sum(axis=1)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def _order(pool: RatedPool, values: FloatArray, clusters: IntArray | None) -> IntArray:
    """[n] rows by content, so that their order changes nothing: also by who gave which rating."""
    marks: list[list[tuple[int, float]]] = [[] for _ in range(len(pool))]
    ratings = pool.ratings
    columns = (ratings.text.tolist(), ratings.annotator.tolist(), ratings.values.tolist())
    for text, who, value in zip(*columns, strict=True):
        marks[text].append((who, value))
    known = np.where(np.isnan(values), -np.inf, values).tolist()
    rows = np.array(sorted(range(len(pool)), key=lambda i: (sorted(marks[i]), known[i])))
    held = None if clusters is None else clusters[rows]
    return np.asarray(rows[canonical_order(take(pool, rows), held)])
