"""Rating cells -> numbers: numerals, words with a meaning of their own, the user's map."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import chain
from numbers import Real
from statistics import correlation

import numpy as np

from refless.data.choices import SCALE
from refless.data.records import Scale
from refless.data.tables.cells import each_once, json_in_cell, opening, shown
from refless.registry.arrays import FloatArray, Names, Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import first_of

_VERDICTS = (  # words for 1 / for 0, case-folded
    "up/down,true/false,yes/no,\N{THUMBS UP SIGN}/\N{THUMBS DOWN SIGN},good/bad,pass/fail,"
    "passed/failed,correct/incorrect,thumbs up/thumbs down,acceptable/unacceptable,like/dislike,"
    "ja/nein,\N{WHITE HEAVY CHECK MARK}/\N{CROSS MARK}"
)
PAIRS = [words.partition("/")[::2] for words in _VERDICTS.split(",")]
PAIRED = frozenset(chain(*PAIRS))
WordMap = Mapping[str, float] | None  # what the user says of words
Spelled = float | str | None  # a cell as a number, as a folded word, or blank
# folded word (or number of the user's map) -> number
Words = Mapping[float | str, float]
_NO_ANSWERS = (
    "n/a,#n/a,na,n.a.,nan,null,none,-,--,?,.,\u2013,\u2014,not applicable,not rated,unrated,skip,"
    "skipped,no answer,don't know,k.a."
)
BLANKS = frozenset(_NO_ANSWERS.split(","))
_SKIN_TONES_AND_VARIANTS = dict.fromkeys((*range(0x1F3FB, 0x1F400), 0xFE0E, 0xFE0F))
_OF_ERRORS = re.compile(  # names, as words, of what there should be little of
    "errors?|mistakes?|penalty|penalties|mqm|ranks?|ranking|hallucinations?|hallucinated|toxic"
    "|toxicity|harmful|harmfulness|violations?|defects?|flaws?|wer"
)
_LOW_IS_BEST = re.compile(
    r"\b[01]\s*(?:=|is|:)\s*(?:the\s+)?(?:best|excellent|perfect|very good|sehr gut)\b"
    r"|\blow(?:er|est)? (?:is|=) (?:good|better|best)\b"
)
_GRADES = re.compile(r"(?i)(?:.*[\W_])?(?:(?:schul)?noten?|zensur|grades?)(?:[\W_].*)?")
GRADES = (1.0, 6.0)  # of which 1 is the best, as in German schools
_NEGATED = frozenset({"no", "non", "not", "free", "without", "avoidance", "absence"})
_WORDS_SHOWN = 10
_ANY_WORDS = ["WORD=NUMBER", "..."]
NOTHING = "(a word with nothing behind = is no answer)"
_LONGEST_WORD = 40  # what is longer is text
MOST_RATINGS = 100  # in one cell
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,(\d{1,2}|\d{4,})\s*")
_PERCENT = re.compile(r"\s*([+-]?\d+(?:[.,]\d+)?)\s*%\s*")
_MARKS = re.compile(r"\s*(\d+)\s*,\s*(\d{1,3})\s*")
_FEWEST_MARKS = 5  # cells that tell whether commas are those of decimals
_RARE = 0.01  # chance of decimals that all look like ratings
_SURE = 3.0  # standard deviations
_SHARES = [  # what follows the comma in means of so many ratings, with one decimal or with two
    {f"{k / raters:.{places}f}".removeprefix("0.") for k in range(1, raters)}
    for raters in range(2, 7)
    for places in (1, 2)
]
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# what becomes of 4/5 in a spreadsheet
_DATE = re.compile(
    rf"\d{{4}}-\d\d-\d\d.*|\d{{1,2}}[-. /]+{_MONTH}([-. /]+\d+)?|{_MONTH}[-. /]+\d{{1,4}}"
    r"|\d{1,2}/\d{1,2}/\d{2,4}|datetime\..*"
)
_OUT_OF = re.compile(
    r"(\d+(?:\.\d+)?) ?(?:/|of|out of) ?(\d+)(?:\.0)?(?: stars| points)?"
)
# 4 - good, 4: good, 4. good, 4 (good), 4 stars
_LABELLED = re.compile(r"(\d+(?:\.\d+)?)(?: ?[-\u2013\u2014:=.)(] ?| )([^\d]*)")
_STARS = re.compile(r"([\u2605\u2b50]+)(\u2606*)")  # black ones
# 4,125: a little over 4, or four thousand?
_THREE_DIGITS = re.compile(r"[+-]?\d+,\d{3}")


def parse_word_map(text: str, option: str = "rating-map") -> dict[str, float]:
    """The words and numbers of a map such as `up=1,down=0,99=`; what is nothing is NaN, a blank.

    Raises:
        UsageError: another text, given with this option of `reading`.
    """
    words: dict[str, float] = {}
    reading = called("reading")
    for part in text.split(","):
        word, equals, number = part.rpartition("=")
        value = _number(number) if number.strip() else math.nan
        if not equals or not word.strip() or value is None or math.isinf(value):
            raise UsageError(f"{reading} {option} needs WORD=NUMBER,..., got '{part}'")
        if folded(word) in words:
            raise UsageError(f"{reading} {option} has '{word.strip()}' twice")
        words[folded(word)] = value
    return words


def blanks_of(word_map: WordMap) -> frozenset[Spelled]:
    """Spelled cells that are blank: the usual words that a map lacks, and what it has as NaN.

    NaN is the only number that is not itself.
    """
    numbers = {spelled(word): number for word, number in (word_map or {}).items()}
    named = frozenset(word for word, number in numbers.items() if number != number)
    return (BLANKS - numbers.keys()) | named


def folded(word: str) -> str:
    """A rating word without case, blanks around it and skin tones."""
    return word.strip().casefold().translate(_SKIN_TONES_AND_VARIANTS)


def spelled(value: object) -> Spelled:
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
    if not any(each_once(_is_list, column)):
        return range(len(column)), column
    lists = [_ratings_in(cell) for cell in column]
    rows = np.repeat(np.arange(len(lists)), [*map(len, lists)]).tolist()
    return rows, [*chain.from_iterable(lists)]


def _is_list(cell: object) -> bool:
    """Whether a cell is a list, or seems to be one as JSON in text."""
    return isinstance(cell, list) or (
        isinstance(cell, str) and cell.lstrip()[:1] == "["
    )


def _ratings_in(cell: object) -> list[object]:
    cell = json_in_cell(cell) if _is_list(cell) else cell
    return cell if isinstance(cell, list) else [cell]


def comma_note(cells: Iterable[object]) -> Strings:
    """A note on the first rating with a decimal comma, if there is one."""
    for cell in cells:
        if isinstance(cell, str) and "," in cell and _DECIMAL_COMMA.fullmatch(cell):
            return (f"ratings with decimal commas: {shown(cell)} is {_number(cell):g}",)
    return ()


def marks_fault(
    cells: Sequence[object], scale: Scale | None = None
) -> tuple[int, str, str] | None:
    """The place of a cell such as '7,9' that holds two ratings, the problem, and the remedy.

    None where commas are those of decimals. The whole column decides: most cells have a comma, what
    follows it could always be a rating, and is either what decimals are not (they end in 0 or
    beyond the scale at times, or are shares of a few raters) or goes with what precedes it.
    """
    matches = {
        i: match
        for i, cell in enumerate(cells)
        if isinstance(cell, str) and "," in cell and (match := _MARKS.fullmatch(cell))
    }
    pairs = [(int(match[1]), match[2]) for match in matches.values()]
    if len(pairs) < _FEWEST_MARKS:
        return None
    filled = sum(cell is not None and str(cell).strip() != "" for cell in cells)
    if 2 * len(pairs) <= filled:
        return None
    firsts = [first for first, _ in pairs]
    low, high = scale or (min(firsts), max(firsts))
    if any(tail != str(int(tail)) or not low <= int(tail) <= high for _, tail in pairs):
        return None
    tails = {tail for _, tail in pairs}
    are_shares = any(map(tails.issubset, _SHARES))
    # spreadsheets write 4 and not 4,0
    usual = range(int(len(pairs) < filled), 10)
    digits = sum(low <= digit <= high for digit in usual) / len(usual)
    by_chance = 1.0 if are_shares else digits ** len(pairs)
    if by_chance >= _RARE and not _go_together(
        firsts, [int(tail) for _, tail in pairs]
    ):
        return None
    place = min(matches)
    cell = shown(cells[place])
    problem = (
        f"{cell} looks like two ratings in one cell, as the others of the column do"
    )
    return place, problem, "give each its own column; write decimals with a point"


def _go_together(firsts: Sequence[int], seconds: Sequence[int]) -> bool:
    """Whether what follows the commas rises with what precedes them, which decimals do not."""
    if len({*firsts}) < 2 or len({*seconds}) < 2:
        return False
    return correlation(firsts, seconds) * math.sqrt(len(firsts)) > _SURE


def _number(text: str) -> float | None:
    if _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        number = float(text)
    except ValueError:
        return None
    return None if "_" in text or number != number else number


def percents_read(
    cells: Sequence[object], *, in_percent: bool
) -> tuple[list[object], str]:
    """[n] the cells with a number for each percent, and the first with its number, "" for none.

    Args:
        cells: of a column of ratings or scores; in_percent: whether `80%` is 80, and not 0.8.
    """
    percents = {
        row: match
        for row, cell in enumerate(cells)
        if isinstance(cell, str) and "%" in cell and (match := _PERCENT.fullmatch(cell))
    }
    numbers = [*cells]
    for row, match in percents.items():
        number = float(match[1].replace(",", "."))
        numbers[row] = number if in_percent else round(number / 100, 12)
    first = next(iter(percents), None)
    example = "" if first is None else f"{shown(cells[first])} is {numbers[first]:g}"
    return numbers, example


def turned(values: FloatArray, scale: Scale | None) -> FloatArray:
    """Ratings of which lower ones are better the other way round: on the scale, else below 0."""
    verdicts = {*values[~np.isnan(values)].tolist()} <= {*SCALE}
    low, high = scale or (SCALE if verdicts else (0.0, 0.0))
    return np.asarray(low + high - values)


def means_errors(name: str) -> bool:
    """Whether the name of a column says that lower is better."""
    if _LOW_IS_BEST.search(name.casefold()):
        return True
    words = {*re.findall(r"[a-z]+", name.casefold())}
    return any(map(_OF_ERRORS.fullmatch, words)) and not words & _NEGATED


def direction_said(
    name: str, criterion: str, values: FloatArray, scale: Scale | None
) -> str:
    """The remedy if lower ratings are better, as names may say; "" if they do not.

    Args:
        name: of a column; criterion: the same with what was rated.
        values: its ratings; scale: lowest and highest rating, if known.
    """
    turn = called("lower_is_better", name)
    best, worst = GRADES
    if means_errors(criterion) and (values > 0).any():
        return f"if lower is better, as the name says, {turn}"
    are_within = len(values) > 0 and best <= values.min() <= values.max() <= worst
    if not are_within or not _GRADES.fullmatch(name):
        return ""
    ends = called("scale", scale or GRADES)
    return f"higher is taken as better; if 1 is the best grade, {turn} and {ends} turn them"


def words_of(
    spellings: Collection[Spelled], rating_map: WordMap
) -> tuple[Words, Strings]:
    """Numbers for the words of all rating columns together, and a note if nobody gave them.

    Without a map of the user's, a pair that speaks for itself is looked for, and numbers in words.
    """
    if rating_map is not None:
        meanings = {spelled(word): float(value) for word, value in rating_map.items()}
        return {word: value for word, value in meanings.items() if word is not None}, ()
    words = {value for value in spellings if value is not None}
    for high, low in PAIRS:
        if words and words <= {high, low}:
            note = f"ratings: '{high}' is 1, '{low}' is 0, on a scale from 0 to 1"
            return {high: 1.0, low: 0.0}, (note,)
    numbers = numbers_within({word for word in words if isinstance(word, str)})
    if not numbers:
        return {}, ()
    word = min(numbers)
    return numbers, (f"ratings: '{word}' is {numbers[word]:g}, and others likewise",)


def numbers_within(words: Collection[str]) -> dict[float | str, float]:
    """The numbers of words such as 4/5, `4 - good` or stars; none if any has another form.

    All are out of the same number, or each number has one label. What looks like a date is none.
    """
    if any(map(_DATE.fullmatch, words)):
        return {}
    for form in (_OUT_OF, _LABELLED, _STARS):
        matches = [*filter(None, map(form.fullmatch, words))]
        if matches and len(matches) == len(words):
            numbers = [_number_in(match[1]) for match in matches]
            if not _are_alike(matches, numbers):
                return {}
            return {word[0]: n for word, n in zip(matches, numbers, strict=True)}
    return {}


def scale_of_words(words: Words) -> Scale | None:
    """The scale that words tell: up and down, or 4/5, which is from 1 or from 0; else None."""
    if words and PAIRED.issuperset(words):
        return SCALE
    found = filter(None, map(_OUT_OF.fullmatch, map(str, words)))
    ends = [float(match[2]) for match in found]
    return (min(1.0, *words.values()), max(ends)) if ends else None


def _number_in(text: str) -> float:
    """The number of a numeral, or of stars."""
    return float(len(text)) if _STARS.fullmatch(text) else float(text)


def _are_alike(matches: Sequence[re.Match[str]], numbers: Collection[float]) -> bool:
    """Whether each number has one label; a label that is a number is that of all, and the most."""
    labels = {match[2] for match in matches}
    if matches[0].re is _OUT_OF:
        return len(labels) == 1 and max(numbers) <= float(*labels)
    return matches[0].re is _STARS or len(matches) == len({*numbers})


def words_fault(words: Names, every: Collection[str]) -> tuple[str, str]:
    """The problem of ratings that are neither numbers nor known words, and the remedy.

    Args:
        words: those that are not known; every: all words of the columns.
    """
    listed = first_of([*map(shown, words)], _WORDS_SHOWN)
    remedy = f"say what all rating words mean: {map_of(every, 'rating-map')} {NOTHING}"
    if any(word.startswith(("{", "[{")) for word in words):
        remedy = f"the cells hold JSON: {opening('rating')}"
    if any(map(_DATE.fullmatch, words)):
        remedy = "a spreadsheet has made dates of ratings such as 4/5: type them as text again"
    if any(map(_THREE_DIGITS.fullmatch, words)):
        remedy = "write decimals with a point: a comma before three digits may mean thousands"
    if any(word.startswith("#") for word in words):
        remedy = "mend the formula, or clear the cell"
    return f"ratings that are not numbers: {listed}", remedy


def map_of(words: Collection[str], option: str) -> str:
    """The option that maps these words, or any if they are none or many, to NUMBER."""
    are_short = max(map(len, words), default=0) <= _LONGEST_WORD
    are_shown = are_short and 0 < len(words) <= _WORDS_SHOWN
    numbers = [f"{word}=NUMBER" for word in sorted(words)] if are_shown else _ANY_WORDS
    return called("reading", {option: ",".join(numbers)})


def score_words(column: Collection[Spelled], score_map: WordMap) -> tuple[Words, str]:
    """Numbers for the words of a column of scores, and the remedy for words without one.

    Verdicts, such as pass and fail, are 1 and 0 in a column without numbers; a map goes before.

    Args:
        column: spelled scores, without blanks; score_map: what the user says.
    """
    meanings, _ = words_of((), score_map or {})
    free = {value for value in column if value not in meanings}
    alone = {value for value in free if value in PAIRED or isinstance(value, float)}
    verdicts, _ = words_of(alone, None)
    words = {value for value in column if isinstance(value, str)}
    verdicts = verdicts or numbers_within(words - {*meanings})
    remedy = "scores are finite numbers; leave the cell blank where there is none"
    if len(words) <= _WORDS_SHOWN and max(map(len, words), default=0) <= _LONGEST_WORD:
        means = f"say what its words mean: {map_of(words, 'score-map')}"
        remedy = f"{means} {NOTHING}; {remedy}"
    return {**verdicts, **meanings}, remedy


def rating_of(value: float | str, words: Words, scale: Scale | None) -> float:
    """A spelled rating as a finite number on the scale; raises InputError for any other."""
    value = words.get(value, value)
    if isinstance(value, str):
        remedy = f"say what it means with {map_of((), 'rating-map')}"
        raise InputError(f"rating {shown(value)} is not a number", remedy=remedy)
    if not math.isfinite(value):
        raise InputError(f"rating {value} is not finite", remedy="correct or drop it")
    if scale is not None and not scale[0] <= value <= scale[1]:
        problem = f"rating {value:g} is outside the scale {scale[0]:g} to {scale[1]:g}"
        raise InputError(problem, remedy="correct it or change the scale")
    return value
