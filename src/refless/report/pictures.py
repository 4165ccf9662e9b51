"""Pictures of answers, drawn 340 units wide so that their words are readable on a phone.

A difference has its zero line, and the names of what is better at both ends; a judge has a grid of
its scores against people's; estimates lie around the line of perfect ones.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean
from typing import NamedTuple

from refless.registry.plural import counted
from refless.report.document import Figure
from refless.report.plot import Axis, axis_over
from refless.report.wording import labels, number, percent
from refless.stats.intervals import Interval

MOST_LEVELS = 7  # of a grid
BINS = 5  # of scores that have more
NAME = 16  # letters of a version
MOST_DOTS = 1_500
EVEN = 0.5  # of choices


class Pile(NamedTuple):
    """Items with one difference: the place on the axis, how many, and whose they are."""

    at: float
    size: int
    style: str


def difference_picture(
    names: tuple[str, str],
    value: float,
    interval: Interval,
    differences: Sequence[float],
    *,
    state: str,
    unit: str,
    bar: float,
    more: int,
) -> Figure:
    """The mean difference with its interval above, and the difference of each item below.

    Args:
        names: of the old and the new version; the difference is that of the new less the old.
        value, interval: the mean difference, NaN where there is none.
        differences: of the items that are rated for both.
        state: of the card; unit: of the axis.
        bar: the least difference that passes a gate.
        more: items that are rated for one version, whose ratings the mean difference has too.
    """
    old, new = _short(names)
    label = f"item by item: {new} minus {old}, in {unit}"
    below = _around_zero([value, *interval, bar, *differences], label)
    top = replace(below, label="")
    ends = f"from {number(interval[0])} to {number(interval[1])}"
    also = ""
    if more:
        also = f" The bar also uses {counted(more, 'item')} rated for one version"
        if differences:
            mean = _signed(fmean(differences))
            also += f"; on those rated for both alone the average is {mean}"
        also += "."
    allowed = "Dashed line: the loss that is allowed. " if bar else ""
    return _two_sided(
        top,
        below,
        value,
        interval,
        differences,
        old=old,
        new=new,
        side="is better",
        state=state,
        signed=_signed,
        bar=bar,
        label=f"{new} minus {old}: {number(value)}, 95 % interval {ends}",
        caption=f"{allowed}Bar: where the average difference lies, with 95 % confidence. Below: "
        f"{counted(len(differences), 'item')} rated for both, {new} better to the right.{also}",
    )


def preference_picture(
    names: tuple[str, str],
    rate: float,
    interval: Interval,
    shares: Sequence[float],
    *,
    state: str,
    unit: str,
) -> Figure:
    """The share of choices that the new version wins, around 50 %, and that of each source below.

    Args:
        names: of the old and the new version.
        rate, interval: the win rate of the new one.
        shares: of the choices on each source that the new one wins.
        state: of the card; unit: the noun for what shares are of.
    """
    old, new = _short(names)
    top = Axis(label="", low=0.0, high=1.0, ticks=(0.0, EVEN, 1.0), step=EVEN)
    below = replace(top, label=f"{unit} by {unit}: share that prefers {new}")
    return _two_sided(
        top,
        below,
        rate,
        interval,
        shares,
        old=old,
        new=new,
        side="is preferred",
        bar=0.0,
        state=state,
        signed=percent,
        label=f"{new} wins {percent(rate)}, 95 % interval "
        f"from {percent(interval[0])} to {percent(interval[1])}",
        caption=f"Bar: the share of choices that {new} wins, with 95 % confidence. Below: "
        f"{counted(len(shares), unit)}, those that prefer {new} to the right.",
    )


def _short(names: tuple[str, str]) -> tuple[str, str]:
    """Both names cut to fit into a picture."""
    short = labels(names, NAME, "…")
    return short[names[0]], short[names[1]]


def _two_sided(
    top: Axis,
    below: Axis,
    value: float,
    interval: Interval,
    values: Sequence[float],
    *,
    caption: str,
    **shown: object,
) -> Figure:
    """An average with its interval on the top axis, and what it is the average of on the other.

    Args:
        top, below: axes; what is equal stands in their middle.
        value, interval: the average; values: of items.
        caption: the words below; shown: what else the drawing needs.
    """
    piles = _piles(below, values)
    tallest = max((pile.size for pile in piles), default=0)
    shown |= {
        "top": top,
        "below": below,
        "value": value,
        "interval": interval,
        "piles": piles,
        "tallest": tallest,
    }
    return Figure(template="difference.svg", values=shown, caption=caption)


def _around_zero(values: Sequence[float], label: str) -> Axis:
    """An axis with 0 in the middle that holds all finite values."""
    finite = [abs(value) for value in values if math.isfinite(value)]
    reach = max(finite, default=1.0) or 1.0
    wide = axis_over([-reach, reach], label)
    return replace(wide, ticks=(wide.low, 0.0, wide.high))


def _piles(axis: Axis, differences: Sequence[float]) -> list[Pile]:
    """Items piled up by their distance from the middle, rounded to a fortieth of the axis."""
    step = (axis.high - axis.low) / 40
    middle = (axis.high + axis.low) / 2
    counts = Counter(round((value - middle) / step) for value in differences)
    piles = []
    for place, count in sorted(counts.items()):
        style = "same"
        if place:
            style = "new" if place > 0 else "old"
        at = axis.across(middle + place * step)
        piles.append(Pile(at, count, style))
    return piles


def _signed(value: float) -> str:
    """A number with its sign: `+0.22`; 0 has none."""
    text = number(abs(value), 2)
    if value == 0:
        return text
    return ("+" if value > 0 else "\N{MINUS SIGN}") + text


def judge_picture(
    name: str,
    people: Sequence[float],
    judge: Sequence[float],
    *,
    of_verdicts: bool,
    beside: str = "people give",
    counts: str = "Outputs that people and the judge both scored",
) -> Figure:
    """A grid of a judge's scores against people's ratings, with the number of texts in each cell.

    Args:
        name: of the judge; people, judge: [n > 0] of the same texts.
        of_verdicts: whether both are passes and fails.
        beside: the words at the side; counts: what cells count.
    """
    of_people = _levels(people)
    of_judge = of_people if _within(judge, of_people) else _levels(judge)
    cells = Counter(
        (_nearest(of_judge, x), _nearest(of_people, y))
        for x, y in zip(judge, people, strict=True)
    )
    words = {0.0: "fail", 1.0: "pass"} if of_verdicts else {}
    same = of_people == of_judge
    caption = f"{counts}: {len(people):,}."
    if of_verdicts and {*people} - {*words}:
        caption += " What most people say of an output counts here."
    if same:
        agreeing = sum(count for (x, y), count in cells.items() if x == y)
        share = percent(agreeing / len(people))
        caption += f" Outlined: the same from both, {share} of them."
    shown = {
        "name": labels([name], NAME + 8, "…")[name],
        "columns": [words.get(level, f"{level:.3g}") for level in of_judge],
        "rows": [words.get(level, f"{level:.3g}") for level in of_people],
        "cells": cells,
        "most": max(cells.values()),
        "same": same,
        "beside": beside,
        "label": f"{name} beside what {beside}: {caption}",
    }
    return Figure(template="grid.svg", values=shown, caption=caption)


def _within(values: Sequence[float], levels: Sequence[float]) -> bool:
    """Whether values lie inside some levels and spread over half of them at least."""
    low = min(values)
    high = max(values)
    wide = levels[-1] - levels[0]
    return levels[0] <= low and high <= levels[-1] and high - low >= wide / 2


def _levels(values: Sequence[float]) -> list[float]:
    """The different values, whole ones between them too; of many the middles of five bins."""
    low = min(values)
    high = max(values)
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
    shown = {
        "axis": axis,
        "points": points,
        "dots": sorted(dots)[::stride],
        "average": average,
        "number": number,
        "upwards": upwards,
        "label": f"{across_label}, against {upwards}",
    }
    return Figure(template="calibration.svg", values=shown, caption=caption)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A share of what is counted, beside the share that is expected by chance."""

    name: str
    share: float
    chance: float


def bars_picture(bars: Sequence[Bar], title: str, caption: str) -> Figure:
    """Shares as bars below each other, each with a hollow one of what chance gives.

    Args:
        bars: from the top.
        title: above them; caption: the words below.
    """
    most = max(max(bar.share, bar.chance) for bar in bars)
    said = ", ".join(f"{bar.name} {percent(bar.share)}" for bar in bars)
    shown = {
        "bars": bars,
        "title": title,
        "most": most,
        "percent": percent,
        "label": f"{title}: {said}",
    }
    return Figure(template="bars.svg", values=shown, caption=caption)
