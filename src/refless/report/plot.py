"""Axes of charts: numbers to places in a drawing."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST_TICKS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A linear axis from left to right.

    Attributes:
        label: what it measures, with its unit.
        low, high: its ends.
        ticks: where numbers stand.
        step: their distance.
        left, right: places of its ends, in units of the drawing.
    """

    label: str
    low: float
    high: float
    ticks: tuple[float, ...]
    step: float
    left: int = 40
    right: int = 320

    def name(self, tick: float) -> str:
        """A tick's number with as many digits as the step needs."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return f"{tick + 0.0:,.{digits}f}"

    def share(self, value: float) -> float:
        """The place of a value along the axis: 0 at the low end, 1 at the high end."""
        inside = min(max(value, self.low), self.high)
        return (inside - self.low) / (self.high - self.low)

    def across(self, value: float) -> float:
        """The place of a value in the drawing; beyond the axis it is the axis's end."""
        return round(self.left + self.share(value) * (self.right - self.left), 1)


def axis_over(values: Iterable[float], label: str) -> Axis:
    """An axis that holds all finite values, between round numbers."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low = min(finite)
    high = max(finite)
    if high - low <= 1e-9 * max(1.0, abs(low)):
        low -= 0.5
        high += 0.5
    step = _round_step((high - low) / MOST_TICKS)
    first = math.floor(low / step + 1e-12)
    last = math.ceil(high / step - 1e-12)
    ticks = tuple(round(k * step, 12) for k in range(first, last + 1))
    return Axis(label=label, low=ticks[0], high=ticks[-1], ticks=ticks, step=step)


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= least * (1 - 1e-9))
