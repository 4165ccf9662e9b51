"""A board of systems from votes between two of their outputs each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.commands.compare.bradley_terry import PairVotes, Strengths, strengths
from refless.commands.populations import Looks
from refless.data.choices import Choices
from refless.data.records import RatedPool
from refless.stats.intervals import Interval
from refless.stats.samples import FEWEST_RATERS

LEVEL = 0.05  # a p-value below this, corrected for all pairs, shows who is preferred


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One system on the board.

    Attributes:
        name: of the system; votes: in which it took part.
        win_rate: expected against a system of average strength; interval: 95 %, for all systems
            together.
        ranks: the best and the worst rank that no shown preference speaks against.
        ahead_of: systems that it is shown to be preferred to.
    """

    name: str
    votes: int
    win_rate: float
    interval: Interval
    ranks: tuple[int, int]
    ahead_of: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEffect:
    """Something that texts have more or less of, such as a length.

    Attributes:
        name: of its column.
        win_rate: expected of a text that has one standard deviation more than the other, if all
            else is equal; interval: 95 %.
    """

    name: str
    win_rate: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Systems by strength, the strongest first.

    Attributes:
        rows: of the systems.
        clusters: what votes belong to, each drawn as a whole.
        voters: how many there are, if they are too few to stand for others; else 0.
        made_up: whether votes were made up, as some system won or lost all of its own.
        controls: in which systems are compared as if their texts were alike.
    """

    rows: tuple[BoardRow, ...]
    clusters: tuple[str, ...]
    voters: int
    made_up: bool
    controls: tuple[ControlEffect, ...]


def votes_of(
    pool: RatedPool,
    choices: Choices,
    systems: Sequence[str],
    controls: Sequence[str] = (),
) -> PairVotes:
    """The votes between two of the systems, by source, and by voter if enough are known.

    Leads in controls, which are scores of the pool, are in their standard deviations.
    """
    number = {name: place for place, name in enumerate(systems)}
    system = np.array([number.get(name, -1) for name in pool.systems], dtype=np.int64)
    other = np.zeros(len(pool), dtype=np.int64)
    other[choices.first] = choices.second
    rival = np.full(len(pool), -1, dtype=np.int64)
    rival[choices.first] = system[choices.second]
    source = np.zeros(len(pool), dtype=np.int64)
    source[choices.first] = choices.groups
    ratings = pool.ratings
    between = (system >= 0) & (rival >= 0) & (system != rival)
    rows = np.flatnonzero(between[ratings.text])
    rows = rows[np.lexsort((ratings.values[rows], ratings.text[rows]))]
    text = ratings.text[rows]
    leads = [
        pool.score(name)[text] - pool.score(name)[other[text]] for name in controls
    ]
    clusters = [source[text]]
    if len(ratings.annotators) >= FEWEST_RATERS:
        clusters.append(ratings.annotator[rows])
    return PairVotes(
        first=system[text],
        second=rival[text],
        won=ratings.values[rows],
        clusters=clusters,
        systems=len(systems),
        controls=[lead / (lead.std() or 1.0) for lead in leads],
    )


def board(
    pool: RatedPool,
    choices: Choices,
    systems: Sequence[str],
    controls: Sequence[str] = (),
    looks: Looks = "one",
) -> Board | None:
    """The board of the systems; None if votes of two sources or more do not tell strengths.

    Args:
        pool: the texts, with systems and scores; choices: between them.
        systems: on the board; controls: names of scores in which texts count as alike.
        looks: at which intervals and ranks are to hold, one or any.
    """
    names = sorted(systems)
    votes = votes_of(pool, choices, names, controls)
    if not len(votes.won) or len(np.unique(votes.clusters[0])) < 2:
        return None
    result = strengths(votes)
    if result is None:
        return None
    if looks == "any":
        result = result.at_any_look()
    voters = len(pool.ratings.annotators)
    few = voters < FEWEST_RATERS
    return Board(
        rows=_rows(result, votes, names),
        voters=voters if few else 0,
        clusters=("source",) if few else ("source", "voter"),
        made_up=result.made_up,
        controls=_controls(result, controls),
    )


def _controls(result: Strengths, names: Sequence[str]) -> tuple[ControlEffect, ...]:
    """The effect of each control, as a win rate."""
    effects = zip(
        names, result.effects.tolist(), result.effect_intervals(), strict=True
    )
    return tuple(
        ControlEffect(
            name=name, win_rate=_expit(value), interval=(_expit(low), _expit(high))
        )
        for name, value, (low, high) in effects
    )


def _rows(
    result: Strengths, votes: PairVotes, names: Sequence[str]
) -> tuple[BoardRow, ...]:
    """The systems, the strongest first; of equal ones by name."""
    preferences = _preferences(result)
    sides = np.concatenate([votes.first, votes.second])
    counts = np.bincount(sides, minlength=len(names)).tolist()
    values = result.values.tolist()
    intervals = result.intervals()
    order = sorted(range(len(names)), key=lambda i: (-values[i], names[i]))
    rows = []
    for place in order:
        beaten = [i for i in order if (place, i) in preferences]
        worse = sum(loser == place for _, loser in preferences)
        low, high = intervals[place]
        rows.append(
            BoardRow(
                name=names[place],
                votes=counts[place],
                win_rate=_expit(values[place]),
                interval=(_expit(low), _expit(high)),
                ranks=(1 + worse, len(names) - len(beaten)),
                ahead_of=tuple(names[i] for i in beaten),
            )
        )
    return tuple(rows)


def _preferences(result: Strengths) -> set[tuple[int, int]]:
    """Pairs of systems of which the first is shown to be preferred to the second."""
    preferences = set()
    for (first, second), p in result.pairs().items():
        if p < LEVEL:
            ahead = result.values[first] > result.values[second]
            preferences.add((first, second) if ahead else (second, first))
    return preferences


def _expit(value: float) -> float:
    """The chance of log-odds."""
    return 1 / (1 + math.exp(-value))
