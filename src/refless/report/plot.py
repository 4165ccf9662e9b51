"""Axes and frames of charts: numbers to places in a drawing, as SVG text."""

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 520, 330
LEFT, RIGHT, TOP, BOTTOM = 62, 24, 14, 54  # room for labels, also at the size of a small screen
STRIP = 40  # for points that have no place on the x axis
GAP = 22  # between these and the axis


# What could turn the text around it, or end it: shown as a replacement character. Marks of
# direction that writing from right to left needs (U+200E, U+200F) stay.
OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def written(text: str) -> str:
    """Any text as the content of an element or attribute; lines and tabs stay."""
    return escape("".join(map(_safe, text)))


def _safe(character: str) -> str:
    if character in "\n\t":
        return character
    bad = character in OVERRIDES or unicodedata.category(character) in {"Cc", "Cs", "Cn"}
    return "\ufffd" if bad else character


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """An element; attributes are escaped, content has to be safe already.

    A trailing underscore of a name is dropped, others become hyphens: `class_`, `text_anchor`.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{written(_shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{content}</{name}>" if content else f"<{name}{said}/>"


def _shown(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A linear axis.

    Attributes:
        label: what it measures, with its unit.
        low, high: its ends.
        ticks: where numbers stand.
        step: their distance.
    """

    label: str
    low: float
    high: float
    ticks: tuple[float, ...]
    step: float

    def name(self, tick: float) -> str:
        """A tick's number, with as many digits as the step needs."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return f"{tick + 0.0:,.{digits}f}"


def axis_over(values: Iterable[float], label: str, *, most_ticks: int = 6) -> Axis:
    """An axis that holds all finite values, between round numbers."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if high - low <= 1e-9 * max(1.0, abs(low)):
        low, high = low - 0.5, high + 0.5
    step = _round_step((high - low) / most_ticks)
    first, last = math.floor(low / step + 1e-12), math.ceil(high / step - 1e-12)
    ticks = tuple(round(k * step, 12) for k in range(first, last + 1))
    return Axis(label=label, low=ticks[0], high=ticks[-1], ticks=ticks, step=step)


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= least * (1 - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The rectangle between two axes.

    Attributes:
        x, y: the axes.
        left: room for the labels of y.
        strip: room between the y axis and the low end of x.
        height: of the whole drawing.
    """

    x: Axis
    y: Axis
    left: int = LEFT
    strip: int = 0
    height: int = HEIGHT

    @property
    def right(self) -> int:
        """Where the rectangle ends."""
        return WIDTH - RIGHT

    @property
    def bottom(self) -> int:
        """Where the x axis is."""
        return self.height - BOTTOM

    def across(self, value: float) -> float:
        """The place of an x value."""
        share = (value - self.x.low) / (self.x.high - self.x.low)
        begin = self.left + self.strip
        return begin + share * (self.right - begin)

    def down(self, value: float) -> float:
        """The place of a y value."""
        share = (value - self.y.low) / (self.y.high - self.y.low)
        return self.bottom - share * (self.bottom - TOP)


def x_axis(frame: Frame, *, grid: bool = False) -> str:
    """Numbers and label under the frame."""
    parts = [
        tag("line", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom, class_="axis")
    ]
    for tick in frame.x.ticks:
        at = frame.across(tick)
        top = TOP if grid else frame.bottom
        style = "grid" if grid else "axis"
        parts.append(tag("line", x1=at, x2=at, y1=top, y2=frame.bottom + 4, class_=style))
        parts.append(
            tag("text", frame.x.name(tick), x=at, y=frame.bottom + 19, text_anchor="middle")
        )
    middle = (frame.left + frame.strip + frame.right) / 2
    label = written(frame.x.label)
    parts.append(
        tag("text", label, x=middle, y=frame.height - 10, text_anchor="middle", class_="label")
    )
    return "".join(parts)


def y_axis(frame: Frame) -> str:
    """Numbers, lines across, and label at the left of the frame."""
    parts = []
    for tick in frame.y.ticks:
        at = frame.down(tick)
        parts.append(tag("line", x1=frame.left, x2=frame.right, y1=at, y2=at, class_="grid"))
        parts.append(tag("text", frame.y.name(tick), x=frame.left - 7, y=at + 4, text_anchor="end"))
    middle = (TOP + frame.bottom) / 2
    turned = f"rotate(-90 14 {middle:g})"
    label = written(frame.y.label)
    parts.append(
        tag("text", label, x=14, y=middle, transform=turned, text_anchor="middle", class_="label")
    )
    return "".join(parts)


def drawing(content: str, label: str, *, height: int = HEIGHT, linked: bool = False) -> str:
    """The whole SVG, with what a screen reader says of it."""
    return tag(
        "svg",
        content,
        viewBox=f"0 0 {WIDTH} {height}",
        role="application" if linked else "img",
        class_="linked" if linked else "chart",
        aria_label=label,
    )
