"""Win rates of systems, if people chose between the outputs of two."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from refless.commands.populations import Looks
from refless.data.choices import SCALE, Choices
from refless.data.records import RatedPool
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.answers import Answer
from refless.stats.contrast import mean_of
from refless.stats.corrections import corrected
from refless.stats.intervals import VERDICTS, Interval

LEVEL = 0.05
EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A win rate, ties half.

    Attributes:
        rate: in [0, 1]; interval: 95 %; p: of 0.5.
        error, freedom, centre: its standard error, and of the interval the degrees of freedom and
            the middle, which few choices draw towards one half.
        wide: by what the interval is wider than that of one look.
        choices: behind it; clusters: what they belong to, which is drawn as a whole.
    """

    rate: float
    interval: Interval
    p: float
    error: float
    freedom: float
    centre: float
    wide: float = 1.0
    choices: int
    clusters: int

    @property
    def answer(self) -> Answer:
        """The same as an answer, which can be held against other bars."""
        return Answer(
            value=self.rate,
            error=self.error,
            freedom=self.freedom,
            centre=self.centre,
            bounds=VERDICTS,
            wide=self.wide,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wins:
    """The win rate of the second of two systems over the first.

    Attributes:
        first, second: their names.
        by_item: over items as they were drawn (sources); ties: choices of neither.
        p_holm: by item, corrected for the number of pairs of systems; shown: whether below 0.05.
    """

    first: str
    second: str
    by_item: Rate
    ties: int
    p_holm: float
    shown: bool


def wins(
    pool: RatedPool, choices: Choices, systems: Sequence[str], looks: Looks = "one"
) -> tuple[Wins, ...]:
    """Every two of the systems that people chose between.

    Args:
        pool: the texts, with systems; choices: between them.
        systems: the old one first; the second of two is the later one.
        looks: at which intervals and p-values are to hold, one or any.
    """
    group = np.zeros(len(pool), dtype=np.int64)
    group[choices.first] = group[choices.second] = choices.groups
    rival = [""] * len(pool)
    for a, b in zip(choices.first.tolist(), choices.second.tolist(), strict=True):
        rival[a] = pool.systems[b]
        rival[b] = pool.systems[a]
    sides = [*zip(rival, pool.systems, strict=True)]
    votes_of: dict[tuple[str, str], list[int]] = defaultdict(list)
    for vote, text in enumerate(pool.ratings.text.tolist()):
        votes_of[sides[text]].append(vote)
    pairs = []
    for first, second in combinations(systems, 2):
        votes = np.array(votes_of[first, second], dtype=np.int64)
        if len(votes):
            won = pool.ratings.values[votes]
            by_item = rate(won, group[pool.ratings.text[votes]], looks)
            ties = int((won == 0.5).sum())
            pair = Wins(
                first=first,
                second=second,
                by_item=by_item,
                ties=ties,
                p_holm=math.nan,
                shown=False,
            )
            pairs.append(pair)
    p_values = corrected(pair.by_item.p for pair in pairs)
    return tuple(
        replace(pair, p_holm=p, shown=p < LEVEL)
        for pair, p in zip(pairs, p_values, strict=True)
    )


def rate(won: FloatArray, clusters: IntArray, looks: Looks = "one") -> Rate:
    """Mean of outcomes with its interval; undefined with fewer than two clusters.

    Args:
        won: [n] 1, 0.5 or 0; clusters: [n] what was drawn as a whole.
        looks: at which the interval is to hold, one or any.
    """
    answer = mean_of(won, clusters, scale=SCALE)
    drawn = len(np.unique(clusters))
    if looks == "any":
        answer = answer.at_any_look(drawn, 0.0)
    return Rate(
        rate=answer.value,
        interval=answer.interval,
        p=answer.beyond(EVEN).p,
        error=answer.error,
        freedom=answer.freedom,
        centre=answer.centre,
        wide=answer.wide,
        choices=len(won),
        clusters=drawn,
    )
