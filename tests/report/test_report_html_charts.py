"""Charts and coverage: places, ticks, bars and intervals, without a browser."""

import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refless.report.charts import Line, row_chart
from refless.report.plot import axis_over
from refless.report.templates import escaped

finite = st.floats(-1e6, 1e6)


@example([300001.0, -6.103515625e-05])  # just below a tick, seen from afar
@given(st.lists(finite, min_size=1, max_size=30))
def test_axis_holds_its_values(values: list[float]) -> None:
    """Between two and ten ticks, evenly apart, around every value."""
    axis = axis_over(values, "x")
    assert axis.low <= min(values) + 1e-6
    assert max(values) - 1e-6 <= axis.high
    assert 2 <= len(axis.ticks) <= 10
    assert np.allclose(np.diff(axis.ticks), axis.step)
    assert len({axis.name(tick) for tick in axis.ticks}) == len(axis.ticks)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((0, 1), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ((0.003, 0.011), ["0.002", "0.004", "0.006", "0.008", "0.010", "0.012"]),
        ((0, 1200), ["0", "200", "400", "600", "800", "1,000", "1,200"]),
        ((-0.5, 1), ["-0.5", "0.0", "0.5", "1.0"]),
    ],
)
def test_ticks_are_round(values: tuple[float, float], names: list[str]) -> None:
    """Steps of 1, 2 or 5 times a power of ten, with the digits they need."""
    axis = axis_over(values, "x")
    assert [axis.name(tick) for tick in axis.ticks] == names


def test_axis_of_nothing() -> None:
    """No value, or a single one, still gives an axis with a length."""
    assert axis_over([], "x").low < axis_over([], "x").high
    assert axis_over([math.nan, 3.0, 3.0], "x").low < 3 < axis_over([3.0], "x").high


def test_rows_say_what_is_undefined() -> None:
    """A system without a mean keeps its line."""
    lines = [
        Line(name="a" * 50, value=0.5, interval=(0.4, 0.6)),
        Line(name="b", value=math.nan, interval=(math.nan, math.nan)),
    ]
    said = "".join(
        t.text or ""
        for t in ET.fromstring(row_chart(lines, "x", "a", "").svg).iter("text")
    )
    assert "undefined" in said
    assert "a" * 19 + "…" in said


@given(st.text())
def test_escaped_is_harmless(text: str) -> None:
    """Nothing that ends an element or an attribute, turns the direction, or is no character."""
    safe = escaped(text)
    assert not re.search(
        "[<>\"'\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", safe
    )
    safe.encode()
