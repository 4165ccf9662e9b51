"""Two rated pools as one."""

from dataclasses import replace

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import COLUMNS, RatedPool, Ratings, numbered
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
    """The ratings of two pools as one; texts are the same if their identity says so.

    That is the id if both pools have ids of their own; (task, system, source, text) if both had a
    column of annotators; else every row is a text of its own. What the first pool says of a text
    stays.

    Raises:
        UsageError: pools of another kind.
        InputError: an id that names another text.
    """
    _check_alike(first, second)
    place, fresh = _places(first, second)
    ratings = _joined_ratings(first.ratings, second.ratings, place)
    n = len(first) + len(fresh)
    more = second.take(fresh)
    columns = {name: getattr(first, name) + getattr(more, name) for name in COLUMNS}
    if not first.named:
        columns["ids"] = first.ids + numbered(n)[len(first) :]
    scores = np.concatenate([first.scores, more.scores]) if first.score_names else first.scores
    human = human_ratings(ratings, n, scale=first.scale, aggregate=first.aggregate)
    return replace(first, **columns, scores=scores, human=human, ratings=ratings)


def _check_alike(first: RatedPool, second: RatedPool) -> None:
    """Raises UsageError for pools that cannot be joined, as they are of another kind."""
    kinds = {nouns: (getattr(first, name), getattr(second, name)) for name, nouns in KINDS.items()}
    if len(first) and len(second):
        columns = ((name, getattr(first, name), getattr(second, name)) for name in COLUMNS)
        kinds |= {name: (bool(a), bool(b)) for name, a, b in columns}
        names = first.ratings.annotators, second.ratings.annotators
        kinds["annotators"] = (bool(names[0]), bool(names[1]))
    for nouns, (a, b) in kinds.items():
        if a != b:
            raise UsageError(f"ratings of two kinds cannot be joined ({nouns}: {a} and {b})")


def _places(first: RatedPool, second: RatedPool) -> tuple[IntArray, list[int]]:
    """Row of each of the second pool's texts in the joined pool, and which of them are new."""
    source = "sources" if first.sources else "items"
    names: tuple[str, ...] = ("tasks", "systems", source, "texts") if first.merged else ()
    names = ("ids",) if first.named else tuple(name for name in names if getattr(first, name))
    keys, others = ([*zip(*(getattr(p, n) for n in names), strict=True)] for p in (first, second))
    rows = dict(zip(keys, range(len(first)), strict=True)) if names else {}
    fresh = [row for row in range(len(second)) if not names or others[row] not in rows]
    place = np.zeros(len(second), dtype=np.int64)
    place[fresh] = np.arange(len(first), len(first) + len(fresh))
    for row in sorted({*range(len(second))} - {*fresh}):
        place[row] = rows[others[row]]
        if second.texts[row] != first.texts[place[row]]:
            problem = f"id '{second.ids[row]}' names another text than before"
            raise InputError(problem, remedy="give each text its own id")
    return place, fresh


def _joined_ratings(first: Ratings, second: Ratings, place: IntArray) -> Ratings:
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
