"""Systems and their differences as JSON and as rows; all numbers in the raters' units."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from refless.data.records import Scale
from refless.evaluation.comparing import Method, Pair, Standing
from refless.report.export import Cell
from refless.report.record import Count, Record, Signed, record
from refless.report.result import GateRecord
from refless.report.wording import Looks
from refless.stats.intervals import Interval


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


def standing_record(standing: Standing) -> StandingRecord:
    """A system as JSON has it."""
    mean: AnswerRecord = record(AnswerRecord, standing.answer)
    return record(StandingRecord, standing, mean=mean)


def pair_record(pair: Pair) -> PairRecord:
    """A pair as JSON has it."""
    answer, alone = pair.answer, pair.powered.alone
    return record(
        PairRecord,
        pair,
        pair.powered,
        difference=record(AnswerRecord, answer),
        p=answer.p,
        p_second_better=answer.above,
        worth=pair.powered.worth if pair.method == "ratings and estimates" else math.nan,
        ratings_alone=record(AnswerRecord, alone),
        p_ratings_alone=alone.p,
    )


def pair_row(pair: Pair) -> dict[str, Cell]:
    """A pair as a row of a table."""
    row = pair_record(pair)
    low, high = row.difference.interval
    return {
        "first": row.first,
        "second": row.second,
        "difference": row.difference.value,
        "low": low,
        "high": high,
        "p": row.p,
        "p_holm": row.p_holm,
        "p_second_better": row.p_second_better,
        "method": row.method,
        "items": row.items,
        "both_rated": row.both_rated,
        "one_rated": row.one_rated,
        "worth": row.worth,
    }
