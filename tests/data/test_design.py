"""Independent units of items, sources, copies and columns, against a search by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.design import LINKED, Design, connected, joined
from refless.data.records import Ratings, Texts
from refless.registry.arrays import numbered
from refusals import bad_usage


def texts(
    words: Sequence[str] = (),
    *,
    items: Sequence[str] = (),
    sources: Sequence[str] = (),
    systems: Sequence[str] = (),
) -> Texts:
    """Texts by their columns; without words each is another one."""
    n = max(len(words), len(items), len(sources), len(systems))
    ids = tuple(map(str, range(n)))
    own = tuple(f"no other text is like text {row}" for row in ids)
    columns = {
        "items": tuple(items),
        "sources": tuple(sources),
        "systems": tuple(systems),
    }
    return Texts(ids=ids, texts=tuple(words) or own, **columns)


def parts(design: Design) -> list[list[int]]:
    """The rows of each unit, whatever its number."""
    units: dict[int, list[int]] = {}
    for row, unit in enumerate(design.unit.tolist()):
        units.setdefault(unit, []).append(row)
    return sorted(units.values())


def linked(columns: Sequence[Sequence[str]]) -> list[list[int]]:
    """Rows that a shared label connects, from row to row until no further one is reached."""
    n = len(columns[0])
    seen: set[int] = set()
    units = []
    for start in range(n):
        reached = set()
        ahead = [start]
        while ahead:
            row = ahead.pop()
            if row in reached:
                continue
            reached.add(row)
            ahead += [
                other
                for other in range(n)
                if any(
                    column[row] and column[row] == column[other] for column in columns
                )
            ]
        if start not in seen:
            units.append(sorted(reached))
            seen |= reached
    return sorted(units)


@pytest.mark.parametrize(
    ("items", "sources", "level", "units"),
    [
        ("aabbcc", "xxxxyy", "source", [[0, 1, 2, 3], [4, 5]]),  # items in sources
        ("aaaabb", "wwxxyy", "item", [[0, 1, 2, 3], [4, 5]]),  # sources in items
        ("aabb", "", "item", [[0, 1], [2, 3]]),
        ("", "xxyy", "source", [[0, 1], [2, 3]]),
        ("aabb", "aabb", "source", [[0, 1], [2, 3]]),  # sources stand in for items
        (
            "aabb",
            "xxyy",
            "source",
            [[0, 1], [2, 3]],
        ),  # of two as coarse the source says it
        (
            "aabb",
            "xxxx",
            "item",
            [[0, 1], [2, 3]],
        ),  # one source: the answer is about it
        ("abcd", "wxyz", "source", [[0], [1], [2], [3]]),
        ("abbc", "xxyz", LINKED, [[0, 1, 2], [3]]),
        ("abbcd", "xxyzz", LINKED, [[0, 1, 2], [3, 4]]),
    ],
)
def test_items_and_sources(
    items: str, sources: str, level: str, units: list[list[int]]
) -> None:
    """The coarser of both is drawn as a whole, and pairs are told by items."""
    design = Design.of(texts(items=tuple(items), sources=tuple(sources)))
    assert (design.level, parts(design)) == (level, units)
    assert design.constant == (("source",) if {*sources} == {"x"} else ())
    assert design.paired == bool(items)
    if items:
        assert design.item.tolist() == numbered(items, len(items)).tolist()
    assert design.units == len(units)
    assert design.together == (len(units) < len(design))


def test_blank_labels_stand_alone() -> None:
    """A text without an item is a unit, unless its source ties it to others."""
    items = ("a", "", "a", "", "")
    assert parts(Design.of(texts(items=items))) == [[0, 2], [1], [3], [4]]
    design = Design.of(texts(items=items, sources=("x", "x", "y", "z", "z")))
    assert parts(design) == [[0, 1, 2], [3, 4]]
    nameless = Design.of(texts(items=("", "", "", "")))
    assert (nameless.level, nameless.units) == ("text", 4)


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["", "a", "b", "c", "d", "e"])] * 2),
        min_size=1,
        max_size=12,
    )
)
def test_what_a_label_connects(rows: list[tuple[str, str]]) -> None:
    """Arrays give what a search from row to row does, in any order of rows.

    If that is everything, units are what the column with the fewest values says.
    """
    columns = [*zip(*rows, strict=True)]
    unit = connected([numbered(column, len(column)) for column in columns])
    design = Design(unit=unit, item=unit, level="item", paired=True)
    assert parts(design) == linked(columns)
    whole = Design.of(texts(items=columns[0], sources=columns[1]))
    usable = [column for column in columns if len({*column}) > 1]
    if usable and columns[0] != columns[1]:
        expected = linked(usable)
        if len(expected) == 1:  # labels connect everything: the coarser column alone
            expected = min((linked([column]) for column in usable[::-1]), key=len)
        assert parts(whole) == expected
    again = Design.of(texts(items=columns[0][::-1], sources=columns[1][::-1]))
    last = len(rows) - 1
    turned = [last - np.array(unit[::-1]) for unit in parts(again)]
    assert sorted(unit.tolist() for unit in turned) == parts(whole)
    assert again.level == whole.level
    assert again.labels[::-1] == whole.labels


def test_copies_are_one() -> None:
    """Long texts that repeat another of their system; a short one may be written twice."""
    long = "the same words stand here twice"
    short = "yes"
    design = Design.of(
        texts((long, long, short, short, "another text that stands by itself"))
    )
    assert (parts(design), design.copies) == ([[0, 1], [2], [3], [4]], 1)
    of_two = Design.of(texts((long, long), systems=("a", "b")))
    assert (of_two.units, of_two.copies) == (2, 0)
    with_items = Design.of(texts((long, long), items=("a", "b")))
    assert (with_items.units, with_items.copies) == (2, 0)
    alone = Design.of(texts((long, long)), group="id")
    assert (alone.units, alone.copies, alone.together) == (2, 0, False)


def test_groups_that_the_user_names() -> None:
    """A column, known or not, instead of items and sources; pairs are items all the same."""
    rows = texts(items=tuple("aabb"), sources=tuple("xyxy"), systems=tuple("mnmm"))
    assert parts(Design.of(rows, "item")) == [[0, 1], [2, 3]]
    assert parts(Design.of(rows, "source")) == [[0, 2], [1, 3]]
    assert parts(Design.of(rows, "system")) == [[0, 2, 3], [1]]
    assert parts(Design.of(rows, "day", ("1", "1", "2", ""))) == [[0, 1], [2], [3]]
    for group in ("id", "source"):
        assert Design.of(rows, group).item.tolist() == [0, 0, 1, 1]
    with bad_usage("the texts have no task column"):
        Design.of(rows, "task")
    with bad_usage("the texts have no day column"):
        Design.of(rows, "day")


def test_some_of_the_texts() -> None:
    """Units, items and labels go with their rows."""
    design = Design.of(texts(items=tuple("aabbcc"), sources=tuple("xxxxyy")))
    some = design.take(np.array([5, 0, 2]))
    assert (some.labels, some.units, len(some)) == (("y", "x", "x"), 2, 3)
    assert parts(some) == [[0], [1, 2]]


def test_rated_and_other_rows_share_units() -> None:
    """Columns that both have; items of one file alone tie nothing."""
    rated = texts(items=tuple("aab"), sources=tuple("xxy"))
    others = texts(items=tuple("bc"))
    both = joined(rated, others)
    assert (both.items, both.sources) == (tuple("aabbc"), ())
    assert parts(Design.of(both)) == [[0, 1], [2, 3], [4]]
    assert joined(rated, texts()).sources == rated.sources


def ratings_of(pairs: Sequence[tuple[int, int]]) -> Ratings:
    """Ratings by (text, rater)."""
    text, annotator = np.array(pairs).T
    names = tuple(f"rater {k}" for k in range(int(annotator.max()) + 1))
    return Ratings(
        text=text, annotator=annotator, values=np.ones(len(text)), annotators=names
    )


@pytest.mark.parametrize(
    ("design", "sentence"),
    [
        (Design.of(texts(("one", "two"))), "2 texts, each drawn by itself."),
        (
            Design.of(texts(items=tuple("aabbcc"), sources=tuple("xxxxyy"))),
            "6 texts from 2 sources, which were drawn whole.",
        ),
        (
            Design.of(texts(items=tuple("aabb"), sources=tuple("xxxx"))),
            "4 texts from 2 items, which were drawn whole; all are of one source.",
        ),
        (
            Design.of(texts(("here are the same five words",) * 2 + ("no",))),
            "3 texts, each drawn by itself; 1 text repeats another and counts with it.",
        ),
        (
            Design.of(texts(("here are the same five words",) * 3)),
            "3 texts, each drawn by itself; 2 texts repeat others and count with them.",
        ),
        (
            Design.of(texts(("yes", "yes", "no")), "text"),
            "3 texts, each drawn by itself; 1 text repeats another and counts with it.",
        ),
        (
            Design.of(texts(systems=tuple("aaaa")), "system"),
            "4 texts from 1 system, which was drawn whole.",
        ),
        (
            Design.of(texts(items=tuple("abbc"), sources=tuple("xxyz"))),
            "4 texts from 2 groups of items that share sources, which were drawn whole.",
        ),
    ],
)
def test_it_is_said(design: Design, sentence: str) -> None:
    """On a page, in a sentence, with raters if they are known."""
    assert design.said() == sentence
    every = ratings_of([(text, text % 3) for text in range(len(design))])
    raters = min(len(design), 3)
    assert design.said(every) == f"{sentence[:-1]}; {raters} raters, 1 on each text."
    some = ratings_of([(0, 0), (0, 1)])
    assert design.said(some) == f"{sentence[:-1]}; 2 raters, 2 on each rated text."
    unlike = ratings_of([(0, 0), (0, 1), (0, 1), (1, 2)])  # the second one rated twice
    noun = "text" if len(design) == 2 else "rated text"
    assert (
        design.said(unlike) == f"{sentence[:-1]}; 3 raters, 1.5 on a {noun} on average."
    )
    nobody = Ratings(text=np.array([0]), annotator=np.array([0]), values=np.ones(1))
    assert design.said(nobody) == sentence
