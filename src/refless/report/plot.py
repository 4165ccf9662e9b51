"""Axes and frames of charts: numbers to places in a drawing."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 520
HEIGHT = 330
MOST_TICKS = 6
# room for labels, also at the size of a small screen
START = 62
END = 24
TOP = 14
BOTTOM = 54


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A linear axis.

    Attributes:
        label: what it measures, with its unit.
        low, high: its ends.
        ticks: where numbers stand.
        step: their distance.
        names: what stands at the ticks in place of numbers, which then have no line across.
    """

    label: str
    low: float
    high: float
    ticks: tuple[float, ...]
    step: float
    names: tuple[str, ...] = ()

    def name(self, tick: float) -> str:
        """A tick's name, or its number with as many digits as the step needs."""
        if self.names:
            return self.names[self.ticks.index(tick)]
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return f"{tick + 0.0:,.{digits}f}"

    def share(self, value: float) -> float:
        """The place of a value along the axis: 0 at the low end, 1 at the high end."""
        inside = min(max(value, self.low), self.high)
        return (inside - self.low) / (self.high - self.low)


def axis_over(values: Iterable[float], label: str) -> Axis:
    """An axis that holds all finite values, between round numbers."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if high - low <= 1e-9 * max(1.0, abs(low)):
        low = low - 0.5
        high = high + 0.5
    step = _round_step((high - low) / MOST_TICKS)
    first = math.floor(low / step + 1e-12)
    last = math.ceil(high / step - 1e-12)
    ticks = tuple(round(k * step, 12) for k in range(first, last + 1))
    return Axis(label=label, low=ticks[0], high=ticks[-1], ticks=ticks, step=step)


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= least * (1 - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotFrame:
    """The rectangle between two axes, in units of the drawing.

    Attributes:
        x, y: the axes.
        start: room for the labels of y.
        height: of the whole drawing.
    """

    x: Axis
    y: Axis
    start: int = START
    height: int = HEIGHT

    @property
    def end(self) -> int:
        """The right side of the rectangle."""
        return WIDTH - END

    @property
    def bottom(self) -> int:
        """The height of the x axis."""
        return self.height - BOTTOM

    def across(self, value: float) -> float:
        """The place of an x value; beyond the axis it is the axis's end."""
        return round(self.start + self.x.share(value) * (self.end - self.start), 1)

    def down(self, value: float) -> float:
        """The place of a y value; beyond the axis it is the axis's end."""
        return round(self.bottom - self.y.share(value) * (self.bottom - TOP), 1)
