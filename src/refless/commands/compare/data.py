"""Systems and their differences as JSON and as rows; all numbers in the raters' units."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from refless.data.records import Scale
from refless.evaluation.comparing import Comparison, Method, Pair, Standing
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.result import GateRecord
from refless.report.wording import Looks
from refless.stats.intervals import Interval
from refless.stats.prediction_powered import Answer


@dataclass(frozen=True, kw_only=True)
class AnswerRecord:
    """A mean or a difference.

    Attributes:
        error: standard error.
        interval: 95 %.
    """

    value: float
    error: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class StandingRecord:
    """A system.

    Attributes:
        outputs, rated: how many it has, and how many of them are rated.
        mean: of its ratings, as people would give them to all of its outputs.
        method: what the mean is made of.
        ranks: the best and the worst rank that no shown difference speaks against.
    """

    name: str
    outputs: Count
    rated: Count
    mean: AnswerRecord
    method: Method
    ranks: tuple[Count, Count]


@dataclass(frozen=True, kw_only=True)
class PairRecord:
    """Two systems.

    Attributes:
        difference: rating of the second less that of the first.
        p: of no difference; p_holm: corrected for the number of pairs.
        p_second_better: probability that the second is better, if nothing was known before.
        shown: whether a difference is shown: p_holm below .05.
        method: what the difference is made of.
        paired: whether it is over items that both answered; items: how many; left_out: items of one
            system alone.
        both_rated, one_rated: items with ratings for both, and for one.
        share: of the estimates that is used; correlation: of differences of ratings and estimates.
        worth: rated items that would be as exact without estimates.
        ratings_alone: the difference by ratings alone; p_ratings_alone: its p.
        needed: rated items that should show a difference four times out of five, as differences
            usually are; null where all would not do, or it is not known.
        chance: that ratings of all items show one.
        apart: whether nobody rated both systems.
    """

    first: str
    second: str
    difference: AnswerRecord
    p: float
    p_holm: float
    p_second_better: float
    shown: bool
    method: Method
    paired: bool
    items: Count
    left_out: Count
    both_rated: Count
    one_rated: Count
    share: float
    correlation: float
    worth: float
    ratings_alone: AnswerRecord
    p_ratings_alone: float
    needed: Count | None
    chance: float
    apart: bool


@dataclass(frozen=True, kw_only=True)
class CompareRecord(Record):
    """Systems compared, in the raters' units.

    Attributes:
        scale: of the ratings; null without one.
        selection: how the rated outputs were chosen.
        these_items: whether the question is about these items alone, and not about items like them.
        looks: whether intervals hold for one look, or any number of them.
        coverage: share of the outputs with an estimate.
        systems: the best first.
    """

    command: Literal["compare"] = "compare"
    signature: Signed
    scale: Scale | None
    selection: Literal["random", "active", "unknown"]
    these_items: bool
    looks: Looks
    coverage: Annotated[float, Meta(ge=0, le=1)]
    systems: tuple[StandingRecord, ...]
    pairs: tuple[PairRecord, ...]
    gate: GateRecord


def systems_of(found: Comparison) -> tuple[StandingRecord, ...]:
    """The systems as JSON has them."""
    return tuple(record(StandingRecord, one, mean=_answer(one.answer)) for one in found.standings)


def pairs_of(found: Comparison) -> tuple[PairRecord, ...]:
    """The pairs as JSON has them."""
    return tuple(map(_pair, found.pairs))


def compare_rows(found: Comparison) -> Rows:
    """A row a pair."""
    return [_row(pair) for pair in found.pairs]


def _answer(answer: Answer) -> AnswerRecord:
    return record(AnswerRecord, answer)


def _pair(pair: Pair) -> PairRecord:
    answer, alone = pair.answer, pair.powered.alone
    used = pair.method == "ratings and estimates"
    return record(
        PairRecord,
        pair,
        pair.powered,
        difference=_answer(answer),
        p=answer.p,
        p_second_better=answer.above,
        worth=pair.powered.worth if used else math.nan,
        ratings_alone=_answer(alone),
        p_ratings_alone=alone.p,
    )


def _row(pair: Pair) -> dict[str, Cell]:
    found = _pair(pair)
    low, high = found.difference.interval
    return {
        "first": found.first,
        "second": found.second,
        "difference": found.difference.value,
        "low": low,
        "high": high,
        "p": found.p,
        "p_holm": found.p_holm,
        "p_second_better": found.p_second_better,
        "method": found.method,
        "items": found.items,
        "both_rated": found.both_rated,
        "one_rated": found.one_rated,
        "worth": found.worth,
    }


def ranks_of(one: Standing) -> str:
    """`2` or `1 to 3`."""
    best, worst = one.ranks
    return str(best) if best == worst else f"{best} to {worst}"
