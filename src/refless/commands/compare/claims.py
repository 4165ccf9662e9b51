"""The claim of a study: what its ratings show, for the goal that ends it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refless.commands.compare.document import verdict
from refless.commands.compare.looks import look_lines
from refless.commands.compare.wins import Rate, Wins
from refless.data.records import Ratings
from refless.evaluation.comparing import Comparison, Pair, Standing
from refless.evaluation.planned_look import at_planned_look
from refless.evaluation.racing import confidence_said, raced_at, standing_said
from refless.registry.plural import counted
from refless.report.wording import percent
from refless.stats.answers import UNKNOWN
from refless.stats.group_sequential import LookPlan
from refless.stats.intervals import Interval

GOAL = re.compile(
    r"(difference|every system's mean|win rate)(?: known)? to (?!0*\.?0*$)(\d*\.?\d+)"
    "|difference shown|best known"
)
RACE = "best known"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The claim of a study.

    Attributes:
        said: in a sentence.
        known: a row for each pair, or each system, in units of the ratings.
        reached: whether this is what the goal asks for.
        raters: ratings of the outputs compared, by rater; of all together without names.
        spent: share of the error that may be spent by now; 1 without planned looks.
        lines: sentences on the planned look, if it is one.
    """

    said: str
    known: list[Row]
    reached: bool
    raters: Mapping[str, int]
    spent: float = 1.0
    lines: tuple[str, ...] = ()


def counts_of(ratings: Ratings) -> dict[str, int]:
    """The number of ratings of each rater, or of all if they have no names."""
    names = ratings.annotators or ("",)
    counts = np.bincount(ratings.annotator, minlength=len(names))
    return dict(zip(names, counts.tolist(), strict=True))


def always(pair: Pair, questions: int, reach: float) -> Interval:
    """The interval of a difference by ratings, for any number of looks and so many questions."""
    answer = pair.difference if pair.method.startswith("ratings") else UNKNOWN
    return answer.at_any_look(pair.powered.rated, reach, questions).interval


def always_of_rate(rate: Rate, questions: int) -> Interval:
    """The interval of a win rate, likewise."""
    return rate.answer.at_any_look(rate.clusters, 0.0, questions).interval


def known_pairs(
    pairs: Sequence[Pair], goal: str, plan: LookPlan | None, reach: float
) -> list[Row]:
    """A row a pair; intervals hold together if the goal is their width."""
    rows = []
    for pair in pairs:
        interval = pair.difference.interval
        if GOAL.fullmatch(goal) and " to " in goal:
            interval = _together(pair, len(pairs), plan, reach)
        row = {
            "first": pair.first,
            "second": pair.second,
            "difference": pair.difference.value,
            "interval": interval,
            "p_holm": pair.p_holm,
        }
        rows.append(row)
    return rows


def _together(
    pair: Pair, questions: int, plan: LookPlan | None, reach: float
) -> Interval:
    """The interval that holds at all looks, and for so many questions (Bonferroni)."""
    if plan is None or pair.look is None:
        return always(pair, questions, reach)
    shared = replace(plan, alpha=plan.alpha / questions)
    looks = shared.looks(max(pair.look.items, 1))
    return at_planned_look(pair.difference, looks).interval


def known_means(standings: Sequence[Standing], reach: float) -> list[Row]:
    """A row a system: its mean, with an interval for all together and any number of looks."""
    rows = []
    for standing in standings:
        by_ratings = standing.method.startswith("ratings")
        answer = standing.mean if by_ratings else UNKNOWN
        mean = answer.at_any_look(standing.rated, reach, len(standings))
        rows.append(
            {"system": standing.name, "mean": mean.value, "interval": mean.interval}
        )
    return rows


def narrow(rows: Sequence[Row], goal: str) -> bool:
    """True if each interval is as narrow on either side as a goal asks for."""
    match = GOAL.fullmatch(goal)
    if match is None or match[2] is None or not rows:
        return False
    low, high = np.array([row["interval"] for row in rows]).T
    return bool((high - low <= 2 * float(match[2])).all())


def claim_of_ratings(
    comparison: Comparison,
    goal: str,
    plan: LookPlan | None,
    reach: float,
    raters: Mapping[str, int],
) -> Claim:
    """The claim of ratings that are compared.

    Args:
        comparison: of the systems; plan: of its looks, if they are planned.
        goal: what ends the study, see `GOAL`; "" for none.
        reach: how far ratings can lie apart; raters: ratings by rater.
    """
    if goal == RACE and plan is not None:
        return _claim_of_race(comparison, plan, raters)
    if goal.startswith("every"):
        known = known_means(comparison.standings, reach)
    else:
        known = known_pairs(comparison.pairs, goal, plan, reach)
    shown = all(pair.shown for pair in comparison.pairs)
    looks = [pair.look for pair in comparison.pairs if pair.look is not None]
    return Claim(
        said=verdict(comparison),
        known=known,
        reached=shown if goal == "difference shown" else narrow(known, goal),
        raters=raters,
        spent=max((look.spent for look in looks), default=1.0),
        lines=look_lines(comparison.pairs, 0.0),
    )


def _claim_of_race(
    comparison: Comparison, plan: LookPlan, raters: Mapping[str, int]
) -> Claim:
    """The claim of a race: the systems among which the best one is."""
    race, own = raced_at(comparison, plan)
    known = [
        {"system": racer.name, "rated": racer.rated, "behind": racer.behind}
        for racer in race.systems
    ]
    said = f"{standing_said(race)} {confidence_said(race)}"
    looks = own.looks(max(race.items, 1))
    spent = looks.spent[-1] / looks.alpha
    lines = [said, f"{percent(spent)} of this error may be spent by now."]
    ahead = [at for at in own.at if at > race.items]
    if ahead and len(race.left) > 1:
        systems = counted(len(race.left), "system")
        lines.append(
            f"Ending here would leave {systems} tied for first. "
            f"The next look is at {ahead[0]:,} items."
        )
    return Claim(
        said=said,
        known=known,
        reached=len(race.left) == 1,
        raters=raters,
        spent=spent,
        lines=tuple(lines),
    )


def claim_of_wins(
    wins: Sequence[Wins], goal: str, said: str, raters: Mapping[str, int]
) -> Claim:
    """The claim of choices that are compared; intervals hold together, and at any look."""
    known = [
        {
            "first": win.first,
            "second": win.second,
            "difference": win.by_item.rate,
            "interval": always_of_rate(win.by_item, len(wins)),
        }
        for win in wins
    ]
    return Claim(said=said, known=known, reached=narrow(known, goal), raters=raters)
