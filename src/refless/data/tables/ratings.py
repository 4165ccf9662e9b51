"""Rating cells -> numbers: numerals, words with a meaning of their own, the user's map."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import chain
from numbers import Real

from refless.data.records import Scale
from refless.data.tables.cells import json_in_cell, shown
from refless.registry.errors import InputError, UsageError

PAIRS: tuple[tuple[str, str], ...] = (  # words for 1 and for 0, case-folded
    ("up", "down"),
    ("true", "false"),
    ("yes", "no"),
    ("\N{THUMBS UP SIGN}", "\N{THUMBS DOWN SIGN}"),
    ("good", "bad"),
    ("pass", "fail"),
    ("passed", "failed"),
    ("correct", "incorrect"),
)
PAIRED = frozenset(word for pair in PAIRS for word in pair)
Words = Mapping[float | str, float]  # folded word (or number of the user's map) -> number
BLANKS = frozenset({"n/a", "#n/a", "na", "nan", "null", "none", "-", "--", "?"})
_SKIN_TONES_AND_VARIANTS = dict.fromkeys((*range(0x1F3FB, 0x1F400), 0xFE0E, 0xFE0F))
_WORDS_SHOWN = 10
MOST_RATINGS = 100  # in one cell
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,(\d{1,2}|\d{4,})\s*")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d\d-\d\d.*|\d{{1,2}}[-. /]+{_MONTH}([-. /]+\d+)?|{_MONTH}[-. /]+\d{{1,4}}"
    r"|\d{1,2}/\d{1,2}/\d{2,4}|datetime\..*"
)  # what becomes of 4/5 in a spreadsheet
_THREE_DIGITS = re.compile(r"[+-]?\d+,\d{3}")  # 4,125: a little over 4, or four thousand?


def parse_rating_map(text: str) -> dict[str, float]:
    """The words and numbers of a map such as `up=1,down=0`; raises UsageError for another text."""
    words: dict[str, float] = {}
    for part in text.split(","):
        word, equals, number = part.rpartition("=")
        value = _number(number)
        if not equals or not word.strip() or value is None or not math.isfinite(value):
            raise UsageError(f"--read rating-map needs WORD=NUMBER,..., got '{part}'")
        if folded(word) in words:
            raise UsageError(f"--read rating-map has '{word.strip()}' twice")
        words[folded(word)] = value
    return words


def folded(word: str) -> str:
    """A rating word without case, blanks around it and skin tones."""
    return word.strip().casefold().translate(_SKIN_TONES_AND_VARIANTS)


def spelled(value: object) -> float | str | None:
    """A rating cell as a number (also infinite), else as a word; None if it is empty.

    NaN is the word "nan".
    """
    if value is None:
        return None
    if type(value) is float:
        return value if value == value else "nan"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal | Real):
        try:
            number = float(value)
        except OverflowError:
            return math.inf
        return number if number == number else "nan"
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        return shown(value)
    read = _number(value)
    return read if read is not None else (folded(value) or None)


def single_ratings(column: Sequence[object]) -> tuple[Sequence[int], Sequence[object]]:
    """The row and the cell of each rating: a list, also as JSON in text, contains several."""
    if not any(isinstance(cell, list) or _says_list(cell) for cell in column):
        return range(len(column)), column
    lists = [_ratings_in(cell) for cell in column]
    rows = [row for row, cells in enumerate(lists) for _ in cells]
    return rows, [*chain.from_iterable(lists)]


def _says_list(cell: object) -> bool:
    return isinstance(cell, str) and cell.lstrip()[:1] == "["


def _ratings_in(cell: object) -> list[object]:
    cell = json_in_cell(cell) if _says_list(cell) else cell
    return cell if isinstance(cell, list) else [cell]


def comma_note(cells: Iterable[object]) -> tuple[str, ...]:
    """What a first rating with a decimal comma was taken for; nothing where there is none."""
    for cell in cells:
        if isinstance(cell, str) and "," in cell and _DECIMAL_COMMA.fullmatch(cell):
            return (f"ratings with decimal commas: '{cell}' is {_number(cell):g}",)
    return ()


def _number(text: str) -> float | None:
    if _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        number = float(text)
    except ValueError:
        return None
    return None if "_" in text or number != number else number


def words_of(
    spellings: Collection[float | str | None], rating_map: Mapping[str, float] | None
) -> tuple[Words, tuple[str, ...]]:
    """What the words of all rating columns together mean, and a note if nobody said so.

    Without a map of the user's, a pair that speaks for itself is looked for.
    """
    if rating_map is not None:
        meanings = {spelled(word): float(value) for word, value in rating_map.items()}
        return {word: value for word, value in meanings.items() if word is not None}, ()
    words = {value for value in spellings if value is not None}
    for high, low in PAIRS:
        if words and words <= {high, low}:
            note = f"ratings: '{high}' is 1, '{low}' is 0, on a scale from 0 to 1"
            return {high: 1.0, low: 0.0}, (note,)
    return {}, ()


def words_fault(words: Sequence[str]) -> tuple[str, str]:
    """What to say of ratings that are neither numbers nor known words, and the remedy."""
    more = f" and {len(words) - _WORDS_SHOWN} more" if len(words) > _WORDS_SHOWN else ""
    listed = ", ".join(map(repr, words[:_WORDS_SHOWN]))
    mapped = ",".join(f"{word}={n}" for n, word in enumerate(words[:3], 1))
    remedy = f"say what all rating words mean, in your order, as in --read rating-map='{mapped}'"
    if any(word.startswith(("{", "[{")) for word in words):
        remedy = "the cells hold JSON: --column rating=COLUMN.NAME reads what is inside"
    if any(map(_DATE.fullmatch, words)):
        remedy = "a spreadsheet has made dates of ratings such as 4/5: type them as text again"
    if any(map(_THREE_DIGITS.fullmatch, words)):
        remedy = "write decimals with a point: a comma before three digits may mean thousands"
    if any(word.startswith("#") for word in words):
        remedy = "mend the formula, or clear the cell"
    return f"ratings that are not numbers: {listed}{more}", remedy


def rating_of(value: float | str, words: Words, scale: Scale | None) -> float:
    """A spelled rating as a finite number on the scale; raises InputError for any other."""
    value = words.get(value, value)
    if isinstance(value, str):
        remedy = "say what it means with --read rating-map=WORD=NUMBER,..."
        raise InputError(f"rating {value!r} is not a number", remedy=remedy)
    if not math.isfinite(value):
        raise InputError(f"rating {value} is not finite", remedy="correct or drop it")
    if scale is not None and not scale[0] <= value <= scale[1]:
        problem = f"rating {value:g} is outside the scale {scale[0]:g} to {scale[1]:g}"
        raise InputError(problem, remedy="correct it or change the scale")
    return value
