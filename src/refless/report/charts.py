"""Charts as SVG: numbers to the layers of one drawing, styled by the page's style sheet.

Classes `c0` to `c3` tell series apart by colour, and by dashes where colours might be confused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from refless.report.document import Figure, Section, Table
from refless.report.plot import (
    BOTTOM,
    TOP,
    Axis,
    PlotFrame,
    axis_over,
)
from refless.report.templates import Drawing, drawing
from refless.report.wording import (
    labels,
    number,
    percent_with_interval,
    with_intervals,
)
from refless.stats.intervals import UNDEFINED, Interval

ROW = 34  # height of a line of a row chart
LETTERS = 20  # of a row's name
MOST_ROWS = 30  # of a chart; its table has all


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value of an axis: a line, with its interval as a band."""

    value: float
    style: str
    interval: Interval = UNDEFINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a row chart: a name, a value, its interval; its point's colour."""

    name: str
    value: float
    interval: Interval
    style: str = "c0"


def _frame(x: Axis, y: Axis) -> PlotFrame:
    """The frame with room for the names of y, a row each."""
    longest = max(map(len, y.names), default=0)
    start = 30 + round(8.4 * longest)
    return PlotFrame(x=x, y=y, start=start, height=TOP + ROW * len(y.names) + BOTTOM)


def row_chart(
    lines: Sequence[Line],
    x: str | Axis,
    label: str,
    *,
    zero: bool = False,
    marks: Sequence[Mark] = (),
) -> Drawing:
    """A point with an interval for each of the first lines; the label names their values.

    Args:
        lines: rows from the top.
        x: the axis, or its label.
        label: the first words of a screen reader.
        zero: whether the axis holds 0.
        marks: values to compare with.
    """
    lines = lines[:MOST_ROWS]
    if isinstance(x, str):
        values = [(line.value, *line.interval) for line in lines]
        values += [(mark.value, *mark.interval) for mark in marks]
        ends = [0.0] if zero else []
        x = axis_over([*ends, *chain(*values)], x)
    short = labels([line.name for line in lines], LETTERS, "…")
    names = tuple(short[line.name] for line in lines)
    n = len(lines)
    ticks = tuple(n - i - 0.5 for i in range(n))
    y = Axis(label="", low=0, high=max(n, 1), ticks=ticks, step=1, names=names)
    label += ": " + ", ".join(f"{line.name} {number(line.value)}" for line in lines)
    return drawing(
        "chart.svg",
        frame=_frame(x, y),
        top=TOP,
        label=label,
        lines=[*zip(y.ticks, lines, strict=False)],
        marks=marks,
    )


def charted(
    title: str,
    header: tuple[str, ...],
    entries: Sequence[tuple[Line, tuple[str, ...]]],
    caption: str,
    *,
    axis: str,
    label: str,
    zero: bool = False,
    even: float | None = None,
    numeric: tuple[bool, ...] = (),
    lines: tuple[str, ...] = (),
    width: int = 30,
    shares: bool = False,
) -> Section:
    """A table of named values with their intervals and more cells, and the same as a row chart.

    Args:
        title: of the section; header: of name, value and the other cells.
        entries: a line, and its cells behind name and value.
        caption: of the chart; axis, label, zero: as of `row_chart`.
        even: the value that stands for no difference, a line across.
        numeric: as of `Table`; lines: of the section.
        width: columns that a name has at most.
        shares: whether values are shares, told in percent.
    """
    names = labels([line.name for line, _ in entries], width)
    drawn = [line for line, _ in entries]
    intervals = [line.interval for line in drawn]
    values = with_intervals([line.value for line in drawn], intervals)
    if shares:
        parts = [percent_with_interval(line.value, line.interval) for line in drawn]
        values = tuple(parts)
    rows = tuple(
        (names[line.name], value, *cells)
        for (line, cells), value in zip(entries, values, strict=True)
    )
    table = Table(header=header, rows=rows, numeric=numeric)
    marks = [] if even is None else [Mark(value=even, style="c3")]
    svg = row_chart(drawn, axis, label, zero=zero, marks=marks)
    figure = Figure(svg=svg, caption=caption, table=table)
    return Section(title=title, figures=(figure,), table=table, lines=lines)
