"""The share of pairs in which an estimator, a score or a rule picks the text people preferred.

Every method gives each text a number, held out with its source. Of two texts it picks the one with
the higher number.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.data.choices import Choices
from refless.data.records import RatedPool
from refless.registry.arrays import BoolArray, FloatArray, IntArray, places_of
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval
from refless.stats.resampling import RESAMPLES, weights_of

COIN = "a coin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One method.

    Attributes:
        name: of it.
        accuracy: share of the pairs that people decided in which it picks their text, a pair
            without a difference half; interval: 95 %, whole sources drawn.
        gap: accuracy of the reference minus this one's; gap_interval: 95 %.
    """

    name: str
    accuracy: float
    interval: Interval
    gap: float
    gap_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The agreement of one person with most others who judged the same pair.

    Attributes:
        n: choices that others judged too, and not evenly.
        accuracy: share of agreement, a tie half; interval: 95 %, whole sources drawn.
        reference: the same of the reference on these pairs; gap: that minus `accuracy`;
            gap_interval: 95 %.
    """

    n: int
    accuracy: float
    interval: Interval
    reference: float
    gap: float
    gap_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """Methods side by side on pairs of texts.

    Attributes:
        choices, pairs, texts, groups: how many; groups are held out, and drawn, as a whole.
        even: pairs on which people are evenly split, which no method can get right.
        judges: one a method, the reference first.
        person: a single person; None if nobody judged what another did.
    """

    choices: int
    pairs: int
    texts: int
    groups: int
    even: int
    judges: tuple[Judge, ...]
    person: Person | None


def pairwise(
    pool: RatedPool,
    choices: Choices,
    differences: Mapping[str, FloatArray],
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Pairwise:
    """Methods on the same pairs; the first of them is the reference.

    Intervals are those of a bootstrap over what is held out together, the same draws for all.

    Args:
        pool: the texts; choices: between them.
        differences: by method, [k] its number of the first text less that of the second.
        seed: of what is drawn.
    """
    decided = choices.decided
    right = {
        name: _right(choices.share, column) for name, column in differences.items()
    }
    mean = partial(_mean, groups=choices.groups, seed=seed, resamples=resamples)
    first = next(iter(right))
    judges = []
    for name in differences:
        accuracy, interval = mean(right[name], decided)
        gap, gap_interval = mean(right[first] - right[name], decided)
        judges.append(
            Judge(
                name=name,
                accuracy=accuracy,
                interval=interval,
                gap=gap,
                gap_interval=UNDEFINED if name == first else gap_interval,
            )
        )
    sources = pool.sources or ("",) * len(pool)
    return Pairwise(
        choices=int(choices.votes.sum()),
        pairs=len(choices),
        texts=len({*zip(sources, pool.texts, strict=True)}),
        groups=len(np.unique(choices.groups)),
        even=int((~decided).sum()),
        judges=tuple(judges),
        person=_person(pool, choices, differences[first], seed, resamples),
    )


def _mean(
    values: FloatArray, used: BoolArray, groups: IntArray, seed: int, resamples: int
) -> tuple[float, Interval]:
    """Mean of some rows and its 95 % interval by a bootstrap over groups; NaN without any."""
    if not used.any():
        return math.nan, UNDEFINED
    value = float(values[used].mean())
    if len(np.unique(groups[used])) < 2:
        return value, UNDEFINED
    filled = np.where(used, values, 0.0)
    rng = np.random.default_rng(seed)
    means = []
    for weights in weights_of(len(used), resamples=resamples, rng=rng, clusters=groups):
        total = weights @ used.astype(np.float64)
        drawn = total > 0
        means.append((weights[drawn] @ filled) / total[drawn])
    return value, percentile_interval(np.concatenate(means))


def _right(share: FloatArray, difference: FloatArray) -> FloatArray:
    """[k] 1 if the text that most people preferred is picked, 0.5 without a difference."""
    picked = np.sign(np.nan_to_num(difference))
    preferred = np.sign(share - 0.5)
    return np.asarray(0.5 + 0.5 * picked * preferred)


def _person(
    pool: RatedPool, choices: Choices, difference: FloatArray, seed: int, resamples: int
) -> Person | None:
    """Each vote against the mean of the others on the same pair."""
    pair = places_of(choices.first, len(pool))[pool.ratings.text]
    vote = pool.ratings.values[pair >= 0]
    pair = pair[pair >= 0]
    votes = choices.votes[pair]
    peers = votes - 1
    wins = choices.share[pair] * votes - vote
    uneven = np.abs(2.0 * wins - peers) > 1e-9
    used = (peers > 0) & uneven
    if not used.any():
        return None
    share = np.where(used, wins / np.maximum(peers, 1), 0.5)
    agreed = _right(share, vote - 0.5)
    reference = _right(share, difference[pair])
    mean = partial(_mean, groups=choices.groups[pair], seed=seed, resamples=resamples)
    accuracy, interval = mean(agreed, used)
    gap, gap_interval = mean(reference - agreed, used)
    return Person(
        n=int(used.sum()),
        accuracy=accuracy,
        interval=interval,
        reference=mean(reference, used)[0],
        gap=gap,
        gap_interval=gap_interval,
    )
