"""Numbers and texts as people see them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from refless.report.wording import (
    clipped,
    labels,
    number,
    numbers,
    p_value,
    percent,
    with_interval,
    with_intervals,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (math.nan, "-"),
        (0.3164, "0.316"),
        (1.0, "1.000"),
        (-1.0354, "-1.035"),
        (-2.0, "-2.00"),
        (4.343, "4.34"),
        (72.345, "72.3"),
        (231.4, "231"),
        (1.5e6, "1.5000e+06"),
    ],
)
def test_number(value: float | None, shown: str) -> None:
    """Three digits, or a dash for what is undefined; large numbers keep tables narrow."""
    assert number(value) == shown


def test_numbers_of_a_column_are_cut_alike() -> None:
    """The largest decides, so that points stay below each other."""
    assert numbers([0.5, 72.345, math.nan]) == ("0.5", "72.3", "-")
    assert with_intervals([0.5, 72.3], [(-1, 2), (math.nan, math.nan)]) == (
        "0.5 [-1.0, 2.0]",
        "72.3",
    )


def test_with_interval() -> None:
    """No empty brackets where there is no interval; all three numbers are cut alike."""
    assert with_interval(0.5, (-0.25, 2.25)) == "0.50 [-0.25, 2.25]"
    assert with_interval(0.5, (0.25, 0.75), 2) == "0.50 [0.25, 0.75]"
    assert with_interval(0.5, (math.nan, math.nan), 2) == "0.50"
    assert with_interval(math.nan, (math.nan, math.nan)) == "-"


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0 %"), (1, "100 %"), (0.001, "<1 %"), (0.999, ">99 %"), (0.96, "96 %")],
)
def test_percent(share: float, shown: str) -> None:
    """Some is never shown as none, nor nearly all as all."""
    assert percent(share) == shown


@given(st.text(max_size=60), st.integers(8, 50))
def test_clipped(text: str, width: int) -> None:
    """One line of at most so many columns, without anything that commands a terminal."""
    shown = clipped(text, width)
    assert cell_len(shown) <= width
    shown.encode("utf-8")  # no lone surrogates
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)


def test_clipped_wide() -> None:
    """Characters of two columns count as two: 5 of them and three dots in 13 columns."""
    assert clipped("漢" * 20, 13) == "漢" * 5 + "..."
    assert clipped("a  b\n c") == "a b c"


def test_p_values_never_read_as_0() -> None:
    """Three digits, or less than the smallest of these."""
    assert [p_value(p) for p in (0.0, 0.00099, 0.001, 0.04, 1.0)] == [
        "<0.001",
        "<0.001",
        "0.001",
        "0.040",
        "1.000",
    ]
    assert p_value(float("nan")) == "-"


SYSTEMS = [
    "Nucleus Decoding (p = 0.9)",
    "Nucleus Decoding (p = 0.95)",
    "Beam Search (beam = 16)",
]


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(12, 30))
def test_labels_stay_different(names: list[str], width: int) -> None:
    """Each name has one label that fits, and no other name has it."""
    found = labels(names, width, "…")
    assert found.keys() == {*names}
    assert len({*found.values()}) == len(found)
    assert all(cell_len(label) <= width for label in found.values())


def test_labels_are_cut_where_they_differ() -> None:
    """At the end, or in the middle where their ends tell them apart."""
    found = labels(SYSTEMS, 20, "…")
    assert [*found.values()] == [
        "Nucleus De…(p = 0.9)",
        "Nucleus De…p = 0.95)",
        "Beam Search (beam =…",
    ]
    same = [f"{'a' * 30}{middle}{'b' * 30}" for middle in "xy"]
    assert [*labels(same, 20).values()] == [
        "aaaaaaaaa...bbbbbbbb",
        "aaaaaaaaaaaaaaa... 2",
    ]
