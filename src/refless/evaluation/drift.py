"""Raters who differ from the others, and ratings and errors that drift over time.

Were raters alike, the ratings of a text might have come from them in any order. How a sum over one
rater's ratings then scatters is known in closed form (the moments of a linear permutation
statistic), whatever the texts and however few values there are; no model of raters is needed.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from refless.data.records import RatedPool
from refless.evaluation.annotators import FEWEST
from refless.registry.arrays import FloatArray, IntArray, codes_of
from refless.stats.corrections import corrected
from refless.stats.correlation import correlation_p, pearson, ranks

EARLIEST = 20  # ratings, or texts, by which a drift is told


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterDrift:
    """One rater beside the others on the same texts; p-values corrected over raters (Holm).

    Attributes:
        n: ratings of texts that others rated too.
        level: mean difference from the others, in units of the human rating; level_p: two-sided.
        agreement: Pearson's correlation with the mean of the others, NaN where undefined.
        follows: by how much the ratings rise where the means of texts rise by 1, which is what
            raters do on average; follows_p: one-sided, of following them no less than the others.
        spread: standard deviation of the ratings; same: share of the commonest.
        drift: change from the first rating of all to the last, beside the others; drift_p.
    """

    name: str
    n: int
    level: float
    level_p: float
    agreement: float
    follows: float
    follows_p: float
    spread: float
    same: float
    drift: float
    drift_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A change over time, from the first to the last.

    Attributes:
        n: ratings, or texts; change: in units of the human rating; p: two-sided.
    """

    n: int
    change: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Raters, and time.

    Attributes:
        raters: those with ten ratings or more, of texts that others rated too.
        over_time: ratings beside those of others on the same texts, each rater by itself; None
            without times, or where no texts have several ratings.
        errors: ratings less estimates; None without times.
    """

    raters: tuple[RaterDrift, ...]
    over_time: Trend | None
    errors: Trend | None


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """Ratings of texts that have several.

    Attributes:
        rating, text, who, time: [m]; mean, variance: [m] of the text's ratings.
        others_mean: [m] mean of the text's ratings but this one.
    """

    rating: FloatArray
    text: IntArray
    who: IntArray
    time: FloatArray
    mean: FloatArray
    others_mean: FloatArray
    variance: FloatArray


def drift(pool: RatedPool, estimates: FloatArray, groups: IntArray) -> Drift:
    """Differences of raters, and changes over time.

    Args:
        pool: the rated texts, sorted by content.
        estimates: [n] of each without its group, NaN where there is none.
        groups: [n] what is held out together.
    """
    over_time = None
    errors = None
    if len(pool.ratings.times):
        over_time = _over_time(_slots(pool, _varied(pool)))
        errors = _errors(pool, estimates, groups)
    return Drift(
        raters=_raters(pool, _slots(pool, np.arange(len(pool.ratings.values)))),
        over_time=over_time,
        errors=errors,
    )


def _varied(pool: RatedPool) -> IntArray:
    """The ratings of all raters but those who give one number: what is off theirs is no trend."""
    ratings = pool.ratings
    who = ratings.annotator
    highest = np.full(who.max(initial=-1) + 1, -np.inf)
    lowest = -highest
    np.maximum.at(highest, who, ratings.values)
    np.minimum.at(lowest, who, ratings.values)
    return np.flatnonzero((highest > lowest)[who])


def _slots(pool: RatedPool, among: IntArray) -> _Slots:
    """The ratings, among some, of texts that have several of these."""
    ratings = pool.ratings
    n = len(pool)
    low, high = pool.scale or (0.0, 1.0)
    counts = np.bincount(ratings.text[among], minlength=n)
    rows = among[counts[ratings.text[among]] > 1]
    text = ratings.text[rows]
    values = (ratings.values[rows] - low) / (high - low)
    k = counts[text].astype(np.float64)
    mean = np.bincount(text, values, n)[text] / k
    variance = np.bincount(text, np.square(values - mean), n)[text] / k
    times = np.full(len(rows), np.nan)
    if len(ratings.times):
        times = ratings.times[rows]
    return _Slots(
        rating=values,
        text=text,
        who=ratings.annotator[rows],
        time=times,
        mean=mean,
        others_mean=(k * mean - values) / (k - 1),
        variance=variance,
    )


def _raters(pool: RatedPool, slots: _Slots) -> tuple[RaterDrift, ...]:
    when = _places(slots.time)
    raters = []
    for number, name in enumerate(pool.ratings.annotators):
        rows = np.flatnonzero(slots.who == number)
        if len(rows) >= FEWEST:
            raters.append(_rater(name, slots, rows, when[rows]))
    if len(raters) < 2:
        return ()
    level = corrected(rater.level_p for rater in raters)
    follows = corrected(rater.follows_p for rater in raters)
    drift = corrected(rater.drift_p for rater in raters)
    return tuple(
        replace(rater, level_p=level[i], follows_p=follows[i], drift_p=drift[i])
        for i, rater in enumerate(raters)
    )


def _rater(name: str, slots: _Slots, i: IntArray, when: FloatArray) -> RaterDrift:
    """One rater's numbers, p-values uncorrected."""
    ratings = slots.rating[i]
    mean = slots.mean[i]
    others_mean = slots.others_mean[i]
    off = ratings - mean
    variance = slots.variance[i]
    centred = mean - mean.mean()
    texts = float(np.square(centred).sum())
    follows = float((off * centred).sum())
    follows_variance = float((variance * np.square(centred)).sum())
    timed = np.flatnonzero(~np.isnan(when))
    if len(timed) < FEWEST:
        timed = timed[:0]
    place = when[timed] - when[timed].mean() if len(timed) else when[timed]
    change = float((off[timed] * place).sum())
    change_variance = float((variance[timed] * np.square(place)).sum())
    times = float(np.square(place).sum())
    counts = np.unique(ratings, return_counts=True)[1]
    return RaterDrift(
        name=name,
        n=len(i),
        level=float((ratings - others_mean).mean()),
        level_p=_two_sided(float(off.sum()), float(variance.sum())),
        agreement=pearson(others_mean, ratings),
        follows=1 + follows / texts if texts > 0 else math.nan,
        follows_p=_below(follows, follows_variance),
        spread=float(ratings.std(ddof=1)),
        same=float(counts.max()) / len(i),
        drift=change / times if times > 0 else math.nan,
        drift_p=_two_sided(change, change_variance),
    )


def _places(times: FloatArray) -> FloatArray:
    """[n] place in time, from 0 for the first to 1 for the last; NaN where it is not known."""
    places = np.full(len(times), np.nan)
    timed = ~np.isnan(times)
    if timed.sum() > 1:
        places[timed] = (ranks(times[timed]) - 1) / (timed.sum() - 1)
    return places


def _over_time(slots: _Slots) -> Trend | None:
    """Ratings less the text's mean, against the place in time within each rater's own."""
    rows = np.flatnonzero(~np.isnan(slots.time))
    if len(rows) < EARLIEST:
        return None
    when = _places(slots.time)[rows]
    who = slots.who[rows]
    text = slots.text[rows]
    place = when - _means(when, who)[who]
    off = (slots.rating - slots.mean)[rows]
    apart = place - _means(place, text)[text]
    k = np.bincount(text)[text]
    spread = slots.variance[rows] * np.where(k > 1, k / np.maximum(k - 1, 1), 1.0)
    top = float((off * place).sum())
    below = float((place * apart).sum())
    moves = np.where(k > 1, apart, place)
    p = _two_sided(top, float((spread * np.square(moves)).sum()))
    return Trend(n=len(rows), change=top / below if below > 0 else math.nan, p=p)


def _errors(pool: RatedPool, estimates: FloatArray, groups: IntArray) -> Trend | None:
    """Ratings less estimates against time, a group at a time."""
    ratings = pool.ratings
    timed = ~np.isnan(ratings.times)
    text = ratings.text[timed]
    counts = np.bincount(text, minlength=len(pool))
    sums = np.bincount(text, ratings.times[timed], len(pool))
    rows = np.flatnonzero((counts > 0) & ~np.isnan(estimates))
    if len(rows) < EARLIEST:
        return None
    codes = codes_of(groups[rows])
    errors = _means((pool.human - estimates)[rows], codes)
    when = _places(_means(sums[rows] / counts[rows], codes))
    r = pearson(errors, when)
    n = len(when)
    if math.isnan(r):
        return None
    change = r * float(errors.std()) / float(when.std())
    p = correlation_p(r, n) if n >= EARLIEST else math.nan
    return Trend(n=len(rows), change=change, p=p)


def _means(values: FloatArray, codes: IntArray) -> FloatArray:
    """[codes] mean of the values of each."""
    return np.asarray(np.bincount(codes, values) / np.maximum(np.bincount(codes), 1))


def _below(total: float, variance: float) -> float:
    """Chance of a sum as low, NaN where nothing varies."""
    if not variance > 0:
        return math.nan
    return math.erfc(-total / math.sqrt(2 * variance)) / 2


def _two_sided(total: float, variance: float) -> float:
    return math.erfc(abs(total) / math.sqrt(2 * variance)) if variance > 0 else math.nan
