"""Charts as SVG: numbers to the layers of one drawing, styled by the page's style sheet.

Classes `c0` to `c3` tell series apart by colour, and by dashes where colours might be confused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from refless.report.document import Figure, Section, Table
from refless.report.plot import axis_over
from refless.report.wording import (
    labels,
    number,
    percent_with_interval,
    with_intervals,
)
from refless.stats.intervals import UNDEFINED, Interval

LETTERS = 20  # of a row's name
MOST_ROWS = 30  # of a chart; its table has all
RIGHT = 496  # of the axis, in units of the drawing


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


def row_chart(
    lines: Sequence[Line],
    axis_label: str,
    label: str,
    caption: str,
    *,
    zero: bool = False,
    marks: Sequence[Mark] = (),
) -> Figure:
    """A point with an interval for each of the first lines; the label names their values.

    Args:
        lines: rows from the top.
        axis_label: what their values are.
        label: the first words of a screen reader; caption: the words below.
        zero: whether the axis holds 0.
        marks: values to compare with.
    """
    lines = lines[:MOST_ROWS]
    values = [0.0] if zero else []
    drawn: list[Line | Mark] = [*lines, *marks]
    for entry in drawn:
        values += [entry.value, *entry.interval]
    short = labels([line.name for line in lines], LETTERS, "…")
    longest = max(map(len, short.values()), default=0)
    left = 30 + round(8.4 * longest)
    label += ": " + ", ".join(f"{line.name} {number(line.value)}" for line in lines)
    shown = {
        "axis": replace(axis_over(values, axis_label), left=left, right=RIGHT),
        "rows": [(short[line.name], line) for line in lines],
        "marks": marks,
        "label": label,
    }
    return Figure(template="chart.svg", values=shown, caption=caption)


def charted(
    title: str,
    header: tuple[str, ...],
    entries: Sequence[tuple[Line, tuple[str, ...]]],
    caption: str,
    *,
    axis: str,
    label: str,
    zero: bool = False,
    marks: Sequence[Mark] = (),
    numeric: tuple[bool, ...] = (),
    lines: tuple[str, ...] = (),
    width: int = 30,
    shares: bool = False,
) -> Section:
    """A table of named values with their intervals and more cells, and the same as a row chart.

    Args:
        title: of the section; header: of name, value and the other cells.
        entries: a line, and its cells behind name and value.
        caption: of the chart; axis, label, zero, marks: as of `row_chart`.
        numeric: as of `Table`; lines: of the section.
        width: columns that a name has at most.
        shares: whether values are shares, told in percent.
    """
    drawn = [line for line, _ in entries]
    names = labels([line.name for line in drawn], width)
    numbers = [line.value for line in drawn]
    intervals = [line.interval for line in drawn]
    if shares:
        values = tuple(map(percent_with_interval, numbers, intervals))
    else:
        values = with_intervals(numbers, intervals)
    rows = tuple(
        (names[line.name], value, *cells)
        for (line, cells), value in zip(entries, values, strict=True)
    )
    table = Table(header=header, rows=rows, numeric=numeric)
    chart = row_chart(drawn, axis, label, caption, zero=zero, marks=marks)
    figure = replace(chart, table=table)
    return Section(title=title, figures=(figure,), table=table, lines=lines)
