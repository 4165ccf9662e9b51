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
    names = set().union(*turns[0].values())
    complete = [ratings for ratings in turns[0].values() if ratings.keys() == names]
    if not complete or all(_spread(name, complete) <= apart for name in names):
        return False, ()
    verdicts = [
        ratings
        for rater, ratings in turns[TURN].items()
        if ratings.keys() == names and rater not in turns[0]
    ]
    latest = max(verdicts, key=_last_act, default={})
    return True, tuple(latest.values())


def first_ratings(
    rows: Iterable[Any], dimensions: Iterable[str]
) -> dict[str, list[float]]:
    """The ratings of an item before anybody decided, by dimension, in ascending order."""
    values: dict[str, list[float]] = {name: [] for name in dimensions}
    for row in rows:
        if not row.round and row.kind != "skipped":
            values[row.dimension].append(row.value)
    return {name: sorted(ratings) for name, ratings in values.items()}


def _spread(name: str, raters: list[Ratings]) -> float:
    """The largest difference between raters in a dimension."""
    values = [ratings[name].value for ratings in raters]
    return float(max(values) - min(values))


def _last_act(ratings: Ratings) -> int:
    return int(max(row.id for row in ratings.values()))
