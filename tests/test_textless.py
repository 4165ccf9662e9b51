"""Ratings without texts answer all that needs no text: which system is better, who agrees."""

from __future__ import annotations

from typing import Any

import pytest

import refless
from command_line import ANY_NEIGHBOR
from refless.registry.errors import InputError, UsageError

Rows = list[dict[str, Any]]
PEOPLE = ("ann", "bob", "cid")


def rated(items: int = 30, gap: float = 0.6, texts: bool = False) -> Rows:
    """Three people's ratings of two systems' answers to the same items, and texts if asked for."""
    rows: Rows = []
    for i in range(items):
        for k, system in enumerate(("old", "new")):
            for j, person in enumerate(PEOPLE):
                rating = 1 + (3 * i + 5 * j + i * j) % 4 + round(k * gap * (i % 3))
                row = {"item": f"i{i:02}", "system": system, "annotator": person}
                text = {"text": f"answer {i} of {system} in five words"} if texts else {}
                rows.append({**row, "rating": min(rating, 5), **text})
    return rows


def without(rows: Rows, *names: str) -> Rows:
    return [{name: cell for name, cell in row.items() if name not in names} for row in rows]


def compared(rows: Rows, **more: Any) -> refless.CompareResult:
    return refless.compare(rows, scale=(1, 5), estimator=ANY_NEIGHBOR[1], **more)


@pytest.mark.parametrize(
    "more", [{}, {"these_items": True}, {"looks": "any"}, {"group": "item"}], ids=str
)
def test_the_same_numbers_as_with_texts(more: dict[str, Any]) -> None:
    """All are rated, so that texts change nothing; the signature tells both apart."""
    with_texts = compared(rated(texts=True), **more)
    alone = compared(rated(), **more)
    assert alone.comparison == with_texts.comparison
    assert str(alone.signature).startswith("ratings|scale:1,5|pool:")
    assert with_texts.signature.name == "bleu-neighbors"


def test_ratings_of_some_items() -> None:
    """The others stay unknown: nothing is estimated, as one sentence says; the gate holds."""
    rows = [row | {"rating": row["rating"] if row["item"] < "i20" else None} for row in rated()]
    result = compared(rows, system=["old", "new"], fail_if_worse=True, margin=0.5)
    (pair,) = result.comparison.pairs
    assert (pair.method, pair.both_rated, pair.items) == ("ratings", 20, 30)
    assert result.comparison.coverage == 0
    half = compared([row for row in rows if row["rating"] is not None])
    assert pair.difference == half.comparison.pairs[0].difference.turned()
    assert result.gate.verdict == "passed"
    shown = str(result)
    assert "It rests on ratings alone, of 20 items with ratings for both, out of 30." in shown
    assert "--selection" not in shown
    assert sum("without estimates" in note for note in result.notes) == 1


def test_an_item_stands_for_the_text() -> None:
    """Rows of one item and system are one output, also if several items share a source."""
    rows = [row | {"source": f"s{row['item'][1]}"} for row in rated()]
    (standing, _) = compared(rows).comparison.standings
    assert (standing.outputs, standing.rated) == (30, 30)


def test_a_system_without_ratings() -> None:
    """It is named, as there is nothing to estimate it from."""
    rows = [row | {"rating": None if row["system"] == "new" else row["rating"]} for row in rated()]
    assert "Nothing can be said of new and old: no output of new is rated." in str(compared(rows))


def test_annotators_without_a_name_for_what_they_rated() -> None:
    """Nothing says which ratings are of one output."""
    with pytest.raises(InputError, match=r"neither texts nor ids .*'item': 'NAME'"):
        compared(without(rated(), "item"))


def test_nothing_teaches_estimates() -> None:
    """Ratings that do not stand for the others would need texts."""
    with pytest.raises(UsageError, match=r"selection='unknown' needs texts"):
        compared(rated(), selection="unknown")


def test_further_ratings_need_texts(tmp_path: Any) -> None:
    """They only teach estimates."""
    with pytest.raises(InputError, match="no column for the text"):
        compared(rated(), rated=rated(texts=True))
