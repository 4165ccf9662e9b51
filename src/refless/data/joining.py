"""Two rated pools as one."""

from dataclasses import replace

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import COLUMNS, RatedPool, Ratings, sortable
from refless.registry.arrays import IntArray
from refless.registry.errors import InputError, UsageError

KINDS = {
    "scale": "scale",
    "aggregate": "what stands for several ratings of a text",
    "named": "ids",
    "merged": "annotators of texts without ids",
    "score_names": "scores of others",
}


def joined(first: RatedPool, second: RatedPool) -> RatedPool:
    """The ratings of two pools as one; texts are the same where their identity says so.

    That is the id where both pools have ids of their own; (task, system, source, text) where both
    had a column of annotators; else every row is a text of its own.

    Raises:
        UsageError: pools of another kind.
        InputError: a text about which they disagree.
    """
    check_alike(first, second)
    place, fresh = places(first, second)
    ratings = joined_ratings(first.ratings, second.ratings, place)
    n = len(first) + len(fresh)
    columns = {
        name: getattr(first, name) + tuple(getattr(second, name)[i] for i in fresh)
        for name in COLUMNS
        if getattr(first, name) or getattr(second, name)
    }
    if not first.named:
        columns["ids"] = first.ids + tuple(str(len(first) + i + 1) for i in range(len(fresh)))
    if first.score_names:
        columns["scores"] = np.concatenate([first.scores, second.scores[fresh]])
    human = human_ratings(ratings, n, scale=first.scale, aggregate=first.aggregate)
    return replace(first, **columns, human=human, ratings=ratings)


def check_alike(first: RatedPool, second: RatedPool) -> None:
    """Raises UsageError for pools that cannot be joined, as they are of another kind."""
    for name, words in KINDS.items():
        mine, theirs = getattr(first, name), getattr(second, name)
        if mine != theirs:
            raise UsageError(
                f"ratings of two kinds cannot be joined ({words}: {_told(mine)} for the first, "
                f"{_told(theirs)} for the second)"
            )
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in COLUMNS}
    pairs["annotators"] = (first.ratings.annotators, second.ratings.annotators)
    for name, (mine, theirs) in pairs.items():
        if len(first) and len(second) and bool(mine) != bool(theirs):
            raise UsageError(
                f"ratings of two kinds cannot be joined ({name}: {_told(bool(mine))} for the "
                f"first, {_told(bool(theirs))} for the second)"
            )


def _told(value: object) -> str:
    """A scale, a name, names, or whether there is something, in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    parts = value if isinstance(value, tuple) else (value or "none",)
    return " ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in parts) or "none"


def places(first: RatedPool, second: RatedPool) -> tuple[IntArray, list[int]]:
    """Row of each of the second pool's texts in the joined pool, and which of them are new."""
    names = identity(first)
    keys = [[*zip(*(getattr(one, name) for name in names), strict=True)] for one in (first, second)]
    known = dict(zip(keys[0], range(len(first)), strict=True)) if names else {}
    place = np.empty(len(second), dtype=np.int64)
    fresh: list[int] = []
    for row in range(len(second)):
        at = known.get(keys[1][row]) if names else None
        if at is None:
            at = len(first) + len(fresh)
            fresh.append(row)
        else:
            _check_same(first, at, second, row)
        place[row] = at
    return place, fresh


def _check_same(first: RatedPool, at: int, second: RatedPool, row: int) -> None:
    """A text that both pools hold must be the same in every column."""
    who = f"id '{second.ids[row]}'" if first.named else f"the text '{second.texts[row][:40]}'"
    for name in COLUMNS[1:]:
        mine, theirs = getattr(first, name), getattr(second, name)
        if mine and mine[at] != theirs[row]:
            raise InputError(
                f"{who} names another {name.removesuffix('s')} in the index",
                remedy="give each text its own id",
            )
    if sortable(first.scores[at : at + 1], 1) != sortable(second.scores[row : row + 1], 1):
        raise InputError(f"{who} has other scores in the index", remedy="make them equal")


def identity(pool: RatedPool) -> tuple[str, ...]:
    """The columns that say whether two ratings are of one text; none where each row is one."""
    if pool.named:
        return ("ids",)
    source = "sources" if pool.sources else "items"
    names = ("tasks", "systems", source, "texts") if pool.merged else ()
    return tuple(name for name in names if getattr(pool, name))


def joined_ratings(first: Ratings, second: Ratings, place: IntArray) -> Ratings:
    """Ratings of both; the second one's texts have these places among the first one's."""
    names = tuple(sorted({*first.annotators, *second.annotators}))
    number = {name: i for i, name in enumerate(names)}

    def renumbered(ratings: Ratings) -> IntArray:
        table = np.array([number[name] for name in ratings.annotators] or [0], dtype=np.int64)
        return table[ratings.annotator]

    return Ratings(
        text=np.concatenate([first.text, place[second.text]]),
        annotator=np.concatenate([renumbered(first), renumbered(second)]),
        values=np.concatenate([first.values, second.values]),
        annotators=names,
    )
