"""Rated texts as arrays of a saved file, and back, checked."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np

from refless.data.human import check_scale, human_ratings
from refless.data.records import COLUMNS, RatedPool, Ratings, Scale, columns_of, scored
from refless.files.arrays import (
    Array,
    Arrays,
    array_of,
    check_sorted,
    check_within,
    json_array,
    json_of,
    require,
)
from refless.registry.arrays import Strings

PREFIX = "pool."
STRINGS = f"{PREFIX}strings"


class PoolFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the rated texts of a file."""

    size: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    scale: Scale | None
    named: bool
    score_names: Strings = ()


def facts_of(pool: RatedPool) -> dict[str, Any]:
    """The facts about these rated texts that a file holds."""
    names = (name for name in PoolFacts.__struct_fields__ if name != "size")
    return {"size": len(pool), **{name: getattr(pool, name) for name in names}}


def arrays_of(pool: RatedPool) -> Arrays:
    """Rated texts as arrays: all columns of strings as JSON, ratings and scores as numbers."""
    ratings = pool.ratings
    return {
        STRINGS: json_array({**columns_of(pool), "annotators": ratings.annotators}),
        f"{PREFIX}text": ratings.text.astype("<i8"),
        f"{PREFIX}annotator": ratings.annotator.astype("<i8"),
        f"{PREFIX}ratings": ratings.values.astype("<f8"),
        f"{PREFIX}scores": pool.scores.astype("<f8"),
    }


def pool_in(facts: PoolFacts, arrays: Mapping[str, Array]) -> RatedPool:
    """The rated texts; raises ValueError where an array is not what the records take it for."""
    n = facts.size
    check_scale(facts.scale)
    columns = json_of(arrays, STRINGS, dict[str, Strings])
    annotators = columns.pop("annotators", ())
    require(
        set(columns) <= set(COLUMNS) and {"ids", "texts"} <= set(columns),
        "columns of others",
    )
    for name, column in columns.items():
        optional = name not in {"ids", "texts"} and not column
        require(optional or len(column) == n, f"{name} has another length")
    require(len(set(columns["ids"])) == n, "ids are not unique")
    check_sorted("annotators", annotators)
    ratings = _ratings(arrays, n, annotators)
    human = human_ratings(ratings, n, scale=facts.scale)
    return RatedPool(
        **columns,
        **scored(_scores(facts, arrays)),
        human=human,
        ratings=ratings,
        scale=facts.scale,
        named=facts.named,
    )


def _ratings(arrays: Mapping[str, Array], n: int, annotators: Strings) -> Ratings:
    shape = arrays[f"{PREFIX}ratings"].shape if f"{PREFIX}ratings" in arrays else ()
    require(len(shape) == 1, "the ratings are no list of numbers")
    values = array_of(arrays, f"{PREFIX}ratings", shape)
    text = array_of(arrays, f"{PREFIX}text", shape, "<i8")
    annotator = array_of(arrays, f"{PREFIX}annotator", shape, "<i8")
    check_within(f"{PREFIX}text", text, n)
    check_within(f"{PREFIX}annotator", annotator, max(1, len(annotators)))
    require(bool(np.isfinite(values).all()), "a rating is not finite")
    require(bool((np.bincount(text, minlength=n) > 0).all()), "a text has no rating")
    return Ratings(text=text, annotator=annotator, values=values, annotators=annotators)


def _scores(facts: PoolFacts, arrays: Mapping[str, Array]) -> dict[str, Array]:
    names = facts.score_names
    check_sorted("names of scores", names)
    table = array_of(
        arrays, f"{PREFIX}scores", (facts.size, len(names)) if names else (0, 0)
    )
    require(not bool(np.isinf(table).any()), "a score is infinite")
    return dict(zip(names, table.T, strict=True))
