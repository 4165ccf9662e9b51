"""Numbers and texts as people read them: digits, intervals, shares, names cut to fit."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

UNKNOWN = "Whether raters agree is not known: {}."
BELOW = 2.0  # all digits stand after the point
WIDEST = 1e5  # numbers from here on are shown with five digits in all, so that tables keep fitting
SEVERAL = "'refless judge' says whether raters agree, without a judge's scores."


def decimals(values: Iterable[float], digits: int) -> int:
    """Digits after the point with which the largest of some numbers has so many in all.

    Numbers below 2, as shares, correlations and differences of these are, have them all after the
    point: 0.882 and 1.000, but 4.34, 72.3 and 100. This is the only place that decides it.
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return digits if largest < BELOW else max(digits - len(str(int(largest))), 0)


def number(value: float | None, digits: int = 3, among: Sequence[float] = ()) -> str:
    """A number for a table; a dash where it is undefined.

    Args:
        value: the number.
        digits: how many it has in all, see `decimals`.
        among: numbers that stand in one column, or one bracket, with it, and so are cut alike.
    """
    if value is None or value != value:
        return "-"
    if abs(value) >= WIDEST:
        return f"{value:.4e}"
    text = f"{value:.{decimals([value, *among], digits)}f}"
    return text.removeprefix("-") if float(text) == 0 else text  # -0.000 is 0.000


def p_value(p: float) -> str:
    """A p-value with three digits, which never reads as 0."""
    return "<0.001" if p < 0.001 else number(p)


def percent(share: float) -> str:
    """`96 %`; what is neither none nor all is never shown as such."""
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def percent_with_interval(share: float, interval: Sequence[float]) -> str:
    """`30 % [18 %, 45 %]`, or a dash; the share alone where there is no interval."""
    low, high = interval
    if share != share:
        return "-"
    return percent(share) + (
        f" [{percent(low)}, {percent(high)}]" if low == low else ""
    )


def exact_percent(share: float) -> str:
    """A share that somebody has set: `2.5 %`."""
    return f"{100 * share:.4g} %"


def with_interval(
    value: float,
    interval: Sequence[float],
    digits: int = 3,
    among: Sequence[float] = (),
) -> str:
    """`0.316 [0.181, 0.440]`, or a dash; without the interval where there is none.

    Args:
        value, interval: the number and its ends; all have as many decimals.
        digits, among: as of `number`.
    """
    low, high = interval
    if value != value or low != low:
        return number(value, digits, among)
    together = (value, low, high, *among)
    value_text, low_text, high_text = (
        number(x, digits, together) for x in (value, low, high)
    )
    return f"{value_text} [{low_text}, {high_text}]"


def numbers(values: Sequence[float], digits: int = 3) -> tuple[str, ...]:
    """A column of numbers, all with as many decimals, so that their points stay aligned."""
    return tuple(number(value, digits, values) for value in values)


def with_intervals(
    values: Sequence[float], intervals: Sequence[Sequence[float]]
) -> tuple[str, ...]:
    """A column of numbers with their intervals, all with as many decimals."""
    column = [*values, *chain.from_iterable(intervals)]
    pairs = zip(values, intervals, strict=True)
    return tuple(with_interval(value, ends, among=column) for value, ends in pairs)


def one_rating(raters: Sequence[str]) -> str:
    """The reason why nobody knows if raters agree, if each output has one rating.

    Args:
        raters: their names, if they are known.
    """
    if raters:
        return "one person rated each output"
    return "each output has one rating, by nobody named"


def sentence(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]


def clipped(text: str, width: int = 40) -> str:
    """The text on one line, at most `width` columns of a terminal, cut between words if it can be.

    Control characters, which could command the terminal, and lone surrogates are replaced.
    """
    from rich.cells import cell_len, set_cell_size

    line = "".join(map(_visible, " ".join(text.split())))
    if cell_len(line) <= width:
        return line
    start = set_cell_size(line, width - 3)
    whole, _, part = start.rpartition(" ")
    if len(whole) > len(part) and not line.startswith(f"{start} "):
        start = whole
    return start.rstrip() + "..."


def labels(names: Sequence[str], width: int, mark: str = "...") -> dict[str, str]:
    """A label of at most `width` columns for each name, so that different names stay different.

    Names that would look alike with their ends cut off are cut in the middle instead; those that
    look alike even so are numbered.
    """
    lines = {name: clipped(name, 10**6) for name in dict.fromkeys(names)}
    short = {name: _cut(line, width, 0, mark) for name, line in lines.items()}
    alike = Counter(short.values())
    result: dict[str, str] = {}
    used: set[str] = set()
    for name, line in lines.items():
        label = short[name]
        count = 1
        if alike[label] > 1:
            label = _cut(line, width, (width - len(mark)) // 2, mark)
        while label in used:
            count += 1
            label = _cut(line, width - len(f" {count}"), 0, mark) + f" {count}"
        used.add(label)
        result[name] = label
    return result


def _cut(line: str, width: int, end: int, mark: str) -> str:
    """The line in `width` columns, with `end` columns of its end after the mark."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(line) <= width:
        return line
    tail = ""
    for character in reversed(line):
        if cell_len(character + tail) > end:
            break
        tail = character + tail
    return set_cell_size(line, width - cell_len(mark + tail)).rstrip() + mark + tail


def _visible(character: str) -> str:
    return "\ufffd" if unicodedata.category(character) in {"Cc", "Cs"} else character
