"""Pictures of answers, drawn 340 units wide so that their words are readable on a phone.

A difference has its zero line, and the names of what is better at both ends; a judge has a grid of
its scores against people's; estimates lie around the line of perfect ones.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from refless.registry.plural import counted
from refless.report.document import Figure
from refless.report.plot import Axis, axis_over
from refless.report.templates import drawing
from refless.report.wording import labels, number, percent
from refless.stats.intervals import Interval

LEFT = 40  # of a plot, in units of the drawing
RIGHT = 320
HIGHEST = 12  # dots above each other; more become bars
MOST_LEVELS = 7  # of a grid
BINS = 5  # of scores that have more
NAME = 16  # letters of a version
MOST_DOTS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Pile:
    """Items with one difference: the place on the axis, how many, and whose they are."""

    at: float
    count: int
    style: str


def across(axis: Axis, value: float) -> float:
    """The place of a value on an axis, in units of the drawing."""
    return round(LEFT + axis.share(value) * (RIGHT - LEFT), 1)


def difference_picture(
    names: tuple[str, str],
    value: float,
    interval: Interval,
    differences: Sequence[float],
    *,
    state: str,
    unit: str,
    bar: float = 0.0,
) -> Figure:
    """The mean difference with its interval above, and the difference of each item below.

    Args:
        names: of the old and the new version; the difference is that of the new less the old.
        value, interval: the mean difference, NaN where there is none.
        differences: of the items that are rated for both.
        state: of the card; unit: of the axis.
        bar: the least difference that passes a gate.
    """
    short = labels(names, NAME, "…")
    old, new = (short[name] for name in names)
    top = _around_zero([value, *interval, bar], "")
    below = _around_zero(differences, f"item by item: {new} minus {old}, in {unit}")
    piles = _piles(below, differences)
    tallest = max((pile.count for pile in piles), default=0)
    ends = f"from {number(interval[0])} to {number(interval[1])}"
    label = f"{new} minus {old}: {number(value)}, 95 % interval {ends}"
    svg = drawing(
        "difference.svg",
        old=old,
        new=new,
        top=top,
        below=below,
        across=across,
        value=value,
        interval=interval,
        bar=bar,
        piles=piles,
        per_dot=tallest <= HIGHEST,
        tallest=max(tallest, 1),
        state=state,
        label=label,
        signed=_signed,
    )
    items = counted(len(differences), "item")
    caption = (
        "Bar: where the average difference lies, with 95 % confidence. Below, on a scale of its "
        f"own: {items} rated for both, {new} better to the right."
    )
    if bar:
        caption = f"Dashed line: the loss that is allowed. {caption}"
    return Figure(svg=svg, caption=caption)


def _around_zero(values: Sequence[float], label: str) -> Axis:
    """An axis with 0 in the middle that holds all finite values."""
    finite = [abs(value) for value in values if math.isfinite(value)]
    reach = max(finite, default=1.0) or 1.0
    wide = axis_over([-reach, reach], label)
    end = max(-wide.low, wide.high)
    return Axis(label=label, low=-end, high=end, ticks=(-end, 0.0, end), step=wide.step)


def _piles(axis: Axis, differences: Sequence[float]) -> list[Pile]:
    """Items piled up by their difference, rounded to a fortieth of the axis."""
    step = (axis.high - axis.low) / 40
    counts = Counter(round(value / step) for value in differences)
    piles = []
    for place, count in sorted(counts.items()):
        style = "same"
        if place:
            style = "new" if place > 0 else "old"
        piles.append(Pile(at=across(axis, place * step), count=count, style=style))
    return piles


def _signed(value: float) -> str:
    """A number with its sign: `+0.22`; 0 has none."""
    text = number(abs(value), 2)
    if value == 0:
        return text
    return ("+" if value > 0 else "\N{MINUS SIGN}") + text


def judge_picture(
    name: str, people: Sequence[float], judge: Sequence[float], *, of_verdicts: bool
) -> Figure:
    """A grid of a judge's scores against people's ratings, with the number of texts in each cell.

    Args:
        name: of the judge; people, judge: [n] of the same texts.
        of_verdicts: whether both are passes and fails.
    """
    of_people = _levels(people)
    of_judge = of_people if _within(judge, of_people) else _levels(judge)
    cells = Counter(
        (_nearest(of_judge, x), _nearest(of_people, y))
        for x, y in zip(judge, people, strict=True)
    )
    words = {0.0: "fail", 1.0: "pass"} if of_verdicts else {}
    same = of_people == of_judge
    agreeing = sum(count for (x, y), count in cells.items() if same and x == y)
    share = percent(agreeing / len(people)) if people else "-"
    caption = f"{counted(len(people), 'output')} by both."
    if same:
        caption += f" Outlined: the same from both, {share} of them."
    svg = drawing(
        "grid.svg",
        name=labels([name], NAME + 8, "…")[name],
        columns=[words.get(level, f"{level:.3g}") for level in of_judge],
        rows=[words.get(level, f"{level:.3g}") for level in of_people],
        cells=cells,
        most=max(cells.values(), default=1),
        same=same,
        label=f"{name} against people: {caption}",
    )
    return Figure(svg=svg, caption=caption)


def _within(values: Sequence[float], levels: Sequence[float]) -> bool:
    """Whether values lie inside some levels and spread over half of them at least."""
    low = min(values, default=0.0)
    high = max(values, default=0.0)
    wide = levels[-1] - levels[0]
    return levels[0] <= low and high <= levels[-1] and high - low >= wide / 2


def _levels(values: Sequence[float]) -> list[float]:
    """The different values, whole ones between them too; of many the middles of five bins."""
    low = min(values, default=0.0)
    high = max(values, default=1.0)
    whole = [float(k) for k in range(math.floor(low), math.ceil(high) + 1)]
    if high - low >= 1 and len(whole) <= MOST_LEVELS:
        return whole
    step = (high - low) / BINS or 1.0
    return [low + step * (k + 0.5) for k in range(BINS)]


def _nearest(levels: Sequence[float], value: float) -> int:
    """The number of the level that is nearest to a value; of two the higher one."""
    return min(range(len(levels)), key=lambda k: (abs(levels[k] - value), -k))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPoint:
    """Alike predictions: their mean, and the mean of what people give with its interval."""

    at: float
    mean: float
    interval: Interval


def calibration_picture(
    points: Sequence[CalibrationPoint],
    across_label: str,
    upwards: str,
    caption: str,
    *,
    dots: Sequence[tuple[float, float]] = (),
    average: float | None = None,
) -> Figure:
    """Predictions against what people give, around the dashed line of perfect ones.

    Args:
        points: groups of alike predictions.
        across_label, upwards: of the axes.
        caption: the words below, which say how to read it.
        dots: single predictions with what people give; of many every k-th is drawn.
        average: of what people give, a line across.
    """
    stride = 1 + len(dots) // MOST_DOTS
    ends = chain.from_iterable((point.at, *point.interval) for point in points)
    axis = axis_over([*chain.from_iterable(dots), *ends], across_label)
    svg = drawing(
        "calibration.svg",
        axis=axis,
        across=across,
        points=points,
        dots=sorted(dots)[::stride],
        average=average,
        axis_text=_axis_text,
        upwards=upwards,
        label=f"{across_label}, against {upwards}",
    )
    return Figure(svg=svg, caption=caption)


def _axis_text(value: float) -> str:
    """A number at an axis."""
    return number(value, 2)
