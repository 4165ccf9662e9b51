"""Texts and ratings as rows, a mapping each, which the reader reads back."""

from typing import Any

from refless.data.records import RatedPool, Texts

NAMED = ("id", "source", "item", "system", "task", "text")  # columns


def rows_of(texts: Texts) -> list[dict[str, Any]]:
    """A row for each text, of the columns that are there."""
    columns = {name: column for name in NAMED if (column := getattr(texts, f"{name}s"))}
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def rating_rows(pool: RatedPool) -> list[dict[str, Any]]:
    """A row for each rating; they read back as the same pool."""
    ratings = pool.ratings
    rows = rows_of(pool)
    who = pool.ratings.annotators or ("",)
    columns = (
        ratings.text.tolist(),
        ratings.annotator.tolist(),
        ratings.values.tolist(),
    )
    return [
        {**rows[i], "annotator": who[k], "rating": value}
        for i, k, value in zip(*columns, strict=True)
    ]
