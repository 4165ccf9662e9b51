"""Items on which raters differ: whether they do, and whose rating then stands for the item."""

from collections.abc import Iterable
from typing import Any

Ratings = dict[str, Any]  # rows of a rater by dimension
TURN = 2  # the round in which a rater decides, who sees the ratings of round 0


def decided(rows: Iterable[Any], apart: float) -> tuple[bool, tuple[Any, ...]]:
    """Whether raters of an item differ, and the rows of the latest rater who decided.

    Nobody decides who had rated the item.

    Args:
        rows: what holds now of one item; apart: points of the scale up to which ratings agree.
    """
    turns: dict[int, dict[int, Ratings]] = {0: {}, TURN: {}}
    for row in rows:
        if row.kind != "skipped" and row.round in turns:
            turns[row.round].setdefault(row.rater, {})[row.dimension] = row
    names = {name for ratings in turns[0].values() for name in ratings}
    first = {
        rater: ratings for rater, ratings in turns[0].items() if ratings.keys() == names
    }
    if _agree([*first.values()], apart):
        return False, ()
    verdicts = [
        ratings
        for rater, ratings in turns[TURN].items()
        if ratings.keys() == names and rater not in turns[0]
    ]
    if not verdicts:
        return True, ()
    latest = max(verdicts, key=lambda ratings: max(row.id for row in ratings.values()))
    return True, tuple(latest.values())


def _agree(ratings: list[Ratings], apart: float) -> bool:
    by_dimension = (
        [by[name].value for by in ratings] for name in next(iter(ratings), ())
    )
    return all(max(values) - min(values) <= apart for values in by_dimension)
