"""Rows, from files or memory, as pools and outputs; what was noticed becomes notes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from refless.commands.parameters import Names, OutputRows, RatedRows, Rows, names_in
from refless.commands.warnings import note
from refless.data.design import column_of
from refless.data.human import FEWEST_RATINGS, LIKELY_SCALES
from refless.data.records import Outputs, RatedPool, Ratings, Texts
from refless.data.tables import (
    OutputsRead,
    PoolRead,
    Reading,
    read_both,
    read_outputs,
    read_pool,
)
from refless.data.tables.names import keys_alike
from refless.data.tables.table import Read
from refless.estimators import Estimator
from refless.registry.arrays import FloatArray
from refless.registry.dialect import SCALE, called
from refless.registry.errors import InputError, UsageError

# that may stand for no answer, as survey tools and harnesses write it
HIGH_CODES = frozenset({9.0, 77.0, 88.0, 97.0, 98.0, 99.0, 999.0, 9999.0})
LOW_CODES = frozenset({-1.0, -8.0, -9.0, -88.0, -99.0, -100.0, -999.0})
CODES = HIGH_CODES | LOW_CODES
MOST_TIMES = 4  # the highest rating of another annotator
MOST_CODES = 0.2  # of all ratings: with more no answer is given
APART = 3  # times as many zeros as ones: they are of another kind
USUAL_GAP = 3  # between the end of a usual scale and a code
FULL_ROWS = 3  # bad rows that are told in full


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRows(RatedRows):
    """The same with scores that somebody else gave to rated texts and outputs alike."""

    score_column: Names = None

    def to_reading(self, **columns: Any) -> Reading:
        """The reading options, with the columns of scores, and more by role."""
        scores = names_in(self.score_column)
        return RatedRows.to_reading(self, **{"score": scores, **columns})


def tell(*reads: Read) -> None:
    """Notes what was noticed while reading, a line a file; of bad rows the first three kinds."""
    lines: dict[str, str] = {}
    for line in dict.fromkeys(chain.from_iterable(read.notes for read in reads)):
        name, _, sentence = line.partition(": ")
        lines[name] = f"{lines[name]}; {sentence}" if name in lines else line
    for line in lines.values():
        note(line)
    faults = dict.fromkeys(chain.from_iterable(read.skipped for read in reads))
    kinds = {(fault.column, fault.found): fault for fault in reversed(faults)}
    for fault in [*reversed(kinds.values())][:FULL_ROWS]:
        note(f"bad row: {fault}")


def rated_of(
    rows: Rows, options: RatedRows, group: str | None = None
) -> tuple[RatedPool, tuple[str, ...]]:
    """Rated texts, and the values of the group's column.

    Args:
        rows: files, a data frame, ..., a pool.
        options: how to read.
        group: what is held out together; a name of the user's own is a column.
    """
    read = told_pool(rows, options, group)
    return read.pool, read.group


def told_pool(rows: Rows, options: RatedRows, group: str | None = None) -> PoolRead:
    """Rated texts, sorted by content, with what was noticed while reading told."""
    read = read_pool(rows, options.to_reading(group=column_of(group)), in_order=True)
    tell(read)
    note_pool(read.pool)
    return read


def note_pool(pool: RatedPool) -> None:
    """Says what is odd about rated texts as a whole."""
    note_missing(pool)
    note_equal(pool)
    note_scale(pool)


def note_missing(texts: Texts) -> None:
    """Says how many scores of others are missing, column by column."""
    for name, column in zip(texts.score_names, texts.scores.T, strict=True):
        missing = int((column != column).sum())
        if missing:
            note(f"{name}: {missing} of {len(texts)} texts have no score")


def note_equal(pool: Texts) -> None:
    """Says which scores of others are one number throughout."""
    for name, column in zip(pool.score_names, pool.scores.T, strict=True):
        values = {*column[column == column].tolist()}
        if len(values) == 1 < len(pool):
            note(
                f"{name}: all scores of the rated texts are {values.pop():g}, which tells nothing"
            )


def note_keys(rated: Texts, outputs: Texts) -> None:
    """Says which ids of rated texts and of outputs would match if their form did not count."""
    sides = ["rated"] * len(rated) + ["outputs"] * len(outputs)
    for line in keys_alike("id", rated.ids + outputs.ids, sides):
        note(line)


def note_codes(rated: Texts, unrated: Texts) -> None:
    """Says where scores of others, of rated texts or of those nobody rated, look like failures."""
    for name in rated.score_names:
        if name not in unrated.score_names:
            continue
        scores = np.concatenate([rated.score(name), unrated.score(name)])
        scores = scores[~np.isnan(scores)]
        for line in _of_codes(scores, codes_in(scores), "score", "a failure"):
            note(f"{name}: {line}")


def note_ratings(pool: RatedPool) -> FloatArray:
    """The single ratings that are no codes; says which ones look like codes for "not rated".

    On a scale that the user gave all of them are ratings; it is said if they look like its shares.

    Raises:
        InputError: so many of them look like codes that every answer would rest on that.
    """
    values = pool.ratings.values
    if not len(values):
        return values
    if pool.scale is not None:
        low, high = pool.scale
        if low == 0 and high >= 10 and 0 <= values.min() < values.max() <= 1:
            ends = f"from {values.min():g} to {values.max():g} on a scale from 0 to {high:g}"
            shares = called("scale", (0, 1))
            note(f"all ratings go {ends}: if they are shares of it, {shares}")
        return values
    codes = codes_in(values) | _zero_in(values)
    _refuse_many(values, codes)
    for line in _of_codes(values, codes, "rating", "not rated"):
        note(f"{line}; if it is a rating, give {called('scale')}")
    return values[~np.isin(values, [*codes])]


def _refuse_many(values: FloatArray, codes: frozenset[float]) -> None:
    """Refuses ratings if every answer would rest on what codes among them stand for.

    A 0 counts only if it is no lowest of six marks: if ones are far rarer.
    """
    if (values == 0).sum() <= APART * (values == 1).sum():
        codes -= {0.0}
    are_codes = np.isin(values, [*codes])
    if len(values) < FEWEST_RATINGS or are_codes.mean() <= MOST_CODES:
        return
    answers = values[~are_codes]
    written = [f"{code:g}" for code in sorted(codes)]
    named = " or ".join(written)
    blank = called("reading", {"rating-map": "=,".join(written) + "="})
    scale = called("scale", (float(values.min()), float(values.max())))
    raise InputError(
        f"{int(are_codes.sum())} of {len(values)} ratings are {named}, as if that stood for not "
        f"rated: the others go from {answers.min():g} to {answers.max():g}",
        remedy=f"{blank} reads them as not rated; if they are ratings, give {scale}",
    )


def _of_codes(
    values: FloatArray, codes: frozenset[float], noun: str, means: str
) -> Iterator[str]:
    """A sentence a code, lowest first: its count, the range of the other values, the remedy."""
    answers = values[~np.isin(values, [*codes])]
    for code in sorted(codes):
        n = int((values == code).sum())
        blank = called("reading", {f"{noun}-map": f"{code:g}="})
        yield (
            f"{n} of {len(values)} {noun}s {'is' if n == 1 else 'are'} {code:g}, the others go "
            f"from {answers.min():g} to {answers.max():g}: if that stands for {means}, leave "
            f"these cells blank or say {blank}"
        )


def codes_in(values: FloatArray) -> frozenset[float]:
    """Values that seem to stand for no answer: far above all others, or below 0 where none is."""
    suspects = {*values.tolist()} & CODES
    if not {*values[values < 0].tolist()} <= CODES:  # a scale that goes below 0
        suspects = {value for value in suspects if value > 0}
    answers = values[~np.isin(values, [*suspects])]
    if len(answers) <= len(values) / 2 and len(answers) < FEWEST_RATINGS:
        return frozenset()
    low = float(answers.min())
    high = float(answers.max())
    below = LOW_CODES if low >= 0 and high > 1 else frozenset()
    gap = high - low or math.inf
    if len(answers) >= FEWEST_RATINGS and (low, high) in LIKELY_SCALES:
        gap = min(gap, USUAL_GAP)
    return frozenset(code for code in suspects if code in below or code - high >= gap)


def _zero_in(values: FloatArray) -> frozenset[float]:
    """0 beside a usual scale that begins at 1, which is rarer; else nothing."""
    above = values[values > 0]
    zeros = int((values == 0).sum())
    if zeros + len(above) < len(values) or len(above) < FEWEST_RATINGS:
        return frozenset()
    low = float(above.min())
    high = float(above.max())
    has_usual_ends = (low, high) in LIKELY_SCALES and low == 1 and 3 <= high <= 10
    are_halves = bool((2 * above == (2 * above).round()).all())
    lowest = int((above == 1).sum())
    falls = lowest >= len(above) / len({*above.tolist()})  # as counts of errors do
    is_code = has_usual_ends and are_halves and zeros > lowest
    if zeros >= len(above):
        is_code = is_code and not falls
    return frozenset({0.0} if is_code else ())


def note_scale(pool: RatedPool) -> None:
    """Says which scale the ratings look like, where nobody said it; no number depends on that."""
    values = note_ratings(pool)
    _note_ranges(pool.ratings)
    if pool.scale is not None or not len(values):
        return
    low = float(values.min())
    high = float(values.max())
    ends = f"{low:g} to {high:g}"
    scale = called("scale", (low, high))
    likely = f"go from {ends}; if these are the ends of a scale, give {scale}"
    if len(values) < FEWEST_RATINGS or (low, high) not in LIKELY_SCALES:
        likely = (
            f"go from {ends}, which does not tell it; if there is one, give "
            f"{called('scale', SCALE)}"
        )
    note(
        f"no scale is known, so numbers are in the raters' units. The ratings {likely}"
    )


def _note_ranges(ratings: Ratings) -> None:
    """Says if two annotators seem to rate on different scales."""
    many = np.flatnonzero(np.bincount(ratings.annotator) >= FEWEST_RATINGS)
    highest = [ratings.values[ratings.annotator == place].max() for place in many]
    if highest and 0 < MOST_TIMES * min(highest) <= max(highest):
        note(
            "annotators seem to rate on different scales: the highest rating is "
            f"{min(highest):g} of one, {max(highest):g} of another; bring them to one scale"
        )


def note_unread(estimators: Sequence[Estimator], pool: RatedPool) -> None:
    """Says which estimators change nothing by the scores that the rated texts have."""
    for entry in estimators if pool.score_names else ():
        if entry.without_scores() is None:
            note(
                f"{entry.title} reads no scores of others: they change no estimate of it"
            )


def outputs_of(rows: Rows, options: OutputRows, **columns: Any) -> Outputs:
    """The outputs in files, a data frame, ..., with more columns by role."""
    return told_outputs(read_outputs(rows, options.to_reading(**columns))).outputs


def sorted_outputs_of(rows: Rows, reading: Reading) -> OutputsRead:
    """The outputs sorted by content, with what was noticed while reading told."""
    return told_outputs(read_outputs(rows, reading, in_order=True))


def told_outputs(read: OutputsRead) -> OutputsRead:
    """The outputs, with what was noticed while reading told."""
    tell(read)
    note_missing(read.outputs)
    return read


def both_of(
    rows: Rows, options: RatedRows, group: str | None
) -> tuple[PoolRead, OutputsRead]:
    """Rows with a rating as rated texts, rows without one as outputs."""
    note(
        f"without {called('rated')}: rows with a rating are the rated texts, rows "
        "without one the outputs"
    )
    reading = options.to_reading(group=column_of(group))
    pool, outputs = read_both(rows, reading, in_order=True)
    tell(pool, outputs)
    note_pool(pool.pool)
    note_missing(outputs.outputs)
    return pool, outputs


def check_standard_input(*rows: Rows) -> None:
    """Raises UsageError where two things are to be read from standard input."""
    paths: list[Any] = []
    for entry in rows:
        paths += entry if isinstance(entry, list | tuple) else [entry]
    if sum(isinstance(path, str) and path == "-" for path in paths) > 1:
        raise UsageError("standard input can be read only once")
