"""Charts as SVG text: pure functions of numbers, styled by the page's style sheet.

Classes `c0` to `c3` tell series apart by colour, and by dashes where colours might be confused.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray
from refless.report.plot import (
    BOTTOM,
    GAP,
    STRIP,
    TOP,
    Axis,
    Frame,
    axis_over,
    drawing,
    tag,
    written,
    x_axis,
    y_axis,
)
from refless.report.wording import labels, number
from refless.stats.intervals import UNDEFINED, Interval

BARS = 24  # of a histogram, at most
GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples fill an interval evenly
ROW = 34  # height of a line of a row chart
LETTERS = 20  # of a row's name
MOST_ROWS = 30  # of a chart; its table has all
SINGLE, WIDEST = 4.0, 14.0  # radius of a point of a cloud: of one text, and of the most


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A text as a point; an undefined x puts it into the strip at the left."""

    x: float
    y: float
    text: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A number to be found in a chart: a line across, with its interval as a band."""

    value: float
    style: str
    interval: Interval = UNDEFINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line through points; low and high are the ends of a band, or empty.

    `knots` tells whether its points are drawn; many would hide the line.
    """

    x: Sequence[float]
    y: Sequence[float]
    style: str
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    knots: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a row chart: a name, a value, its interval."""

    name: str
    value: float
    interval: Interval


def scatter(
    dots: Sequence[Dot], x: Axis, y: Axis, label: str, *, diagonal: bool = False, strip: str = ""
) -> str:
    """Points that can be hovered and focused, each a text of the report.

    Args:
        dots: the points.
        x, y: the axes.
        label: what a screen reader says.
        diagonal: draw the line x = y.
        strip: what points without an x are called.
    """
    beside = any(math.isnan(dot.x) for dot in dots)
    frame = Frame(x=x, y=y, strip=STRIP + GAP if beside else 0)
    parts = [y_axis(frame), x_axis(frame)]
    if beside:
        edge = frame.left + STRIP
        parts.append(tag("line", x1=edge, x2=edge, y1=TOP, y2=frame.bottom, class_="axis"))
        middle = frame.left + STRIP / 2
        parts.append(
            tag("text", written(strip), x=middle, y=frame.bottom + 19, text_anchor="middle")
        )
    if diagonal:
        parts.append(_diagonal(frame))
    places = [(frame.across(dot.x), dot) for dot in dots if not math.isnan(dot.x)]
    places += [(_in_strip(dot, frame), dot) for dot in dots if math.isnan(dot.x)]
    points = "".join(
        f'<circle class="dot{" none" if math.isnan(dot.x) else ""}" data-t="{dot.text}" r="4" '
        f'cx="{at:.1f}" cy="{frame.down(dot.y):.1f}"/>'
        for at, dot in places
    )
    ring = tag("circle", class_="ring", r=8, cx=-99, cy=-99)
    return drawing("".join([*parts, f"<g>{points}</g>", ring]), label, linked=True)


def _in_strip(dot: Dot, frame: Frame) -> float:
    """A place across the strip that spreads points which would else hide each other."""
    return frame.left + 6 + (dot.text * GOLDEN % 1) * (STRIP - 12)


def _diagonal(frame: Frame) -> str:
    low, high = max(frame.x.low, frame.y.low), min(frame.x.high, frame.y.high)
    if low >= high:
        return ""
    ends = {"x1": frame.across(low), "x2": frame.across(high)}
    return tag("line", **ends, y1=frame.down(low), y2=frame.down(high), class_="mark c2")


def cloud(across: FloatArray, up: FloatArray, x: Axis, y: Axis, label: str) -> str:
    """Points that have no texts, and the line x = y; the area tells how many fall together.

    Args:
        across, up: [n] the points.
        x, y: the axes.
        label: what a screen reader says.
    """
    frame = Frame(x=x, y=y)
    places, counts = np.unique(np.stack([across, up]), axis=1, return_counts=True)
    one = min(SINGLE, WIDEST / math.sqrt(counts.max(initial=1)))
    points = [
        tag(
            "circle",
            cx=frame.across(place[0]),
            cy=frame.down(place[1]),
            r=one * math.sqrt(count),
            class_="knot c0",
            opacity="0.5",
        )
        for place, count in zip(places.T.tolist(), counts.tolist(), strict=True)
    ]
    return drawing("".join([y_axis(frame), x_axis(frame), _diagonal(frame), *points]), label)


def histogram(
    values: FloatArray, label: str, *, x: str, y: str, marks: Sequence[Mark] = ()
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """How often values occur, with marks; and the rows (range, count) of its table.

    Args:
        values: finite ones are counted.
        label: what a screen reader says.
        x, y: labels of the axes.
        marks: numbers to be found among the values.
    """
    finite = values[np.isfinite(values)]
    axis = axis_over([*finite.tolist(), *_ends(marks)], x)
    bins = _bins(axis)
    counts, _ = np.histogram(np.clip(finite, axis.low, axis.high), bins)
    up = axis_over([0.0, max(1.0, float(counts.max(initial=0)))], y, most_ticks=5)
    up = whole(up)
    frame = Frame(x=axis, y=up)
    parts = [y_axis(frame), *(_upright_band(mark, frame) for mark in marks)]
    for begin, end, count in zip(bins, bins[1:], counts.tolist(), strict=False):
        if count:
            left, right, top = frame.across(begin), frame.across(end), frame.down(count)
            size = {"width": right - left - 1.5, "height": frame.bottom - top}
            parts.append(tag("rect", x=left + 0.75, y=top, **size, class_="bar"))
    parts += [x_axis(frame), *(_upright(mark, frame) for mark in marks)]
    rows = tuple(
        (f"{begin:.4g} to {end:.4g}", str(count))
        for begin, end, count in zip(bins, bins[1:], counts.tolist(), strict=False)
    )
    return drawing("".join(parts), label), rows


def _ends(marks: Sequence[Mark]) -> list[float]:
    return [end for mark in marks for end in (mark.value, *mark.interval)]


def _bins(axis: Axis) -> list[float]:
    """Ends of bars: the ticks, each of their distances split in as many as go."""
    steps = len(axis.ticks) - 1
    parts = next((k for k in (5, 4, 2) if steps * k <= BARS), 1)
    return [round(axis.low + i * axis.step / parts, 12) for i in range(steps * parts + 1)]


def whole(axis: Axis) -> Axis:
    """A count's axis has no ticks between whole numbers."""
    ticks = tuple(tick for tick in axis.ticks if tick == round(tick))
    step = max(1.0, axis.step)
    return Axis(label=axis.label, low=axis.low, high=axis.high, ticks=ticks, step=step)


def _upright(mark: Mark, frame: Frame) -> str:
    """A mark on the x axis."""
    at = frame.across(mark.value)
    return tag("line", x1=at, x2=at, y1=TOP, y2=frame.bottom, class_=f"mark {mark.style}")


def _upright_band(mark: Mark, frame: Frame) -> str:
    """Its interval, which is drawn behind everything."""
    if math.isnan(mark.interval[0]):
        return ""
    begin, end = (min(max(e, frame.x.low), frame.x.high) for e in mark.interval)
    left, right = frame.across(begin), frame.across(end)
    size = {"width": right - left, "height": frame.bottom - TOP}
    return tag("rect", x=left, y=TOP, **size, class_=f"band {mark.style}")


def curves(
    series: Sequence[Series],
    x: Axis,
    y: Axis,
    label: str,
    *,
    level: Mark | None = None,
    at: float = math.nan,
    shaded: Interval = UNDEFINED,
) -> str:
    """Lines with bands; `level` is a line across, `at` the x in force, `shaded` a part of x."""
    frame = Frame(x=x, y=y)
    parts = [y_axis(frame), x_axis(frame)]
    parts.append(_upright_band(Mark(value=math.nan, style="c2", interval=shaded), frame))
    if not math.isnan(at):
        place = frame.across(at)
        parts.append(tag("line", x1=place, x2=place, y1=TOP, y2=frame.bottom, class_="mark c3"))
    if level is not None and not math.isnan(level.value):
        height = frame.down(level.value)
        ends = {"x1": frame.left, "x2": frame.right}
        parts.append(tag("line", **ends, y1=height, y2=height, class_=f"mark {level.style}"))
    parts += [_band(one, frame) for one in series if len(one.low)]
    parts += [_path(one, frame) for one in series]
    return drawing("".join(parts), label)


def _stretches(one: Series) -> list[list[int]]:
    """Places of points that follow each other without an undefined one between."""
    found: list[list[int]] = [[]]
    for i, value in enumerate(one.y):
        if math.isnan(value):
            found.append([])
        else:
            found[-1].append(i)
    return [stretch for stretch in found if stretch]


def _path(one: Series, frame: Frame) -> str:
    parts = []
    for stretch in _stretches(one):
        places = [(frame.across(one.x[i]), frame.down(one.y[i])) for i in stretch]
        line = " ".join(f"{across:.1f},{down:.1f}" for across, down in places)
        parts.append(tag("polyline", points=line, class_=f"line {one.style}"))
        parts += [
            tag("circle", cx=across, cy=down, r=3, class_=f"knot {one.style}")
            for across, down in places
            if one.knots or len(places) == 1
        ]
    return "".join(parts)


def _band(one: Series, frame: Frame) -> str:
    parts = []
    for stretch in _stretches(one):
        inside = [i for i in stretch if not (math.isnan(one.low[i]) or math.isnan(one.high[i]))]
        upper = [(frame.across(one.x[i]), frame.down(_held(one.high[i], frame))) for i in inside]
        lower = [(frame.across(one.x[i]), frame.down(_held(one.low[i], frame))) for i in inside]
        line = " ".join(f"{across:.1f},{down:.1f}" for across, down in [*upper, *reversed(lower)])
        parts.append(tag("polygon", points=line, class_=f"band {one.style}"))
    return "".join(parts)


def _held(value: float, frame: Frame) -> float:
    return min(max(value, frame.y.low), frame.y.high)


def row_chart(lines: Sequence[Line], x: str, label: str, *, zero: bool = False) -> str:
    """A point with an interval for each of the first lines; the label names their values.

    Args:
        lines: what is drawn.
        x: label of the axis; label: what a screen reader says first.
        zero: whether the axis holds 0.
    """
    lines = lines[:MOST_ROWS]
    ends = (end for line in lines for end in (line.value, *line.interval))
    values = ", ".join(f"{line.name} {number(line.value)}" for line in lines)
    return rows(lines, axis_over([*([0.0] if zero else []), *ends], x), f"{label}: {values}")


def rows(lines: Sequence[Line], x: Axis, label: str, *, bars: bool = False) -> str:
    """A line a name: its value as a point (or a bar) with an interval."""
    names = labels([line.name for line in lines], LETTERS, "…")
    longest = max(map(len, names.values()), default=0)
    height = TOP + ROW * len(lines) + BOTTOM
    frame = Frame(x=x, y=axis_over([0, 1], ""), left=30 + round(8.4 * longest), height=height)
    parts = [x_axis(frame, grid=True)]
    for i, line in enumerate(lines):
        middle = TOP + ROW * (i + 0.5)
        parts.append(
            tag(
                "text", written(names[line.name]), x=frame.left - 8, y=middle + 4, text_anchor="end"
            )
        )
        parts.append(_row(line, middle, frame, bars=bars))
    return drawing("".join(parts), label, height=height)


def _row(line: Line, middle: float, frame: Frame, *, bars: bool) -> str:
    if math.isnan(line.value):
        return tag("text", "undefined", x=frame.left + 6, y=middle + 4, class_="soft")
    parts, at = [], frame.across(line.value)
    if bars:
        begin = frame.across(max(0.0, frame.x.low))
        size = {"width": max(0.0, at - begin), "height": 18}
        parts.append(tag("rect", x=begin, y=middle - 9, **size, class_="bar"))
    low, high = line.interval
    if not math.isnan(low):
        left, right = frame.across(max(low, frame.x.low)), frame.across(min(high, frame.x.high))
        parts.append(tag("line", x1=left, x2=right, y1=middle, y2=middle, class_="whisker"))
    if not bars:
        parts.append(tag("circle", cx=at, cy=middle, r=5, class_="knot c0"))
    return "".join(parts)
