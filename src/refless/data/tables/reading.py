"""Settings of readers, and the rows that they return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice, repeat
from typing import Any

from refless.data.records import Scale
from refless.data.tables.roles import Columns
from refless.files.untrusted import MOST_BYTES
from refless.registry.arrays import Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

GLIMPSE = 10_000  # first rows of a column that is not wanted
Row = dict[str, object]
Numbered = tuple[int, Row | InputError]
NumberedRows = Iterator[Numbered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Settings of a reader; the same serve rated pools and outputs.

    Attributes:
        columns: the user's column flags.
        scale: lowest and highest rating, in the raters' units; None for no bounds.
        rating_map, score_map: words of the columns of ratings, or of scores, and their numbers; NaN
            is a blank.
        lower: columns of ratings that are turned, as lower ones are better.
        skip_bad: bad rows are left out of pools, and kept as place holders in outputs.
        encoding: of text files; a UTF-8 byte order mark is dropped.
        quoting: whether quotes are read in files; None is the format's habit (CSV yes, TSV no).
        format: of files, a name in FORMATS; None tells by name and content.
        dimension: which of several dimensions of quality is read, by its name in the file, or by
            the name of its column of ratings.
        label_config: of Label Studio: an XML file that says what can be rated, and on which scale.
        where: conditions that rows must meet, such as `status=approved` and `type!=control`.
        beside_rated: whether the rated texts are other rows, which alone may have the columns of
            ratings and names that flags name.
        beside_outputs: whether the outputs are other rows, which alone may have the columns of
            scores and names that flags name.
        max_bytes: most bytes that one file may hold, unpacked.
    """

    columns: Columns = field(default_factory=Columns)
    scale: Scale | None = None
    rating_map: Mapping[str, float] | None = None
    score_map: Mapping[str, float] | None = None
    lower: Strings = ()
    encoding: str = "utf-8"
    quoting: bool | None = None
    skip_bad: bool = False
    format: str | None = None
    dimension: str | None = None
    label_config: str | None = None
    where: Strings = ()
    beside_rated: bool = False
    beside_outputs: bool = False
    max_bytes: int = MOST_BYTES

    @property
    def in_percent(self) -> bool:
        """Whether the scale ends at 100, so that 80% is 80 and not 0.8."""
        return self.scale is not None and self.scale[1] == 100

    def __post_init__(self) -> None:
        if self.max_bytes < 1:
            raise UsageError(
                f"{called('reading')} max-bytes must be 1 or more, got {self.max_bytes}"
            )


PLAIN = Reading()


def scale_of(given: Any) -> Scale:  # noqa: ANN401 - what callers in Python may give
    """A scale as two numbers; raises UsageError for anything else."""
    try:
        low, high = map(float, () if isinstance(given, str) else given)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            "scale must be two numbers, the lowest and the highest rating, such as (1, 5); got "
            f"{given!r}"
        ) from None
    return low, high


@dataclass(slots=True, kw_only=True)
class ImportNotes:
    """Notes on an export of a tool; complete when all rows are read.

    Attributes:
        tool: what the file is, for messages.
        scale: lowest and highest rating, if the tool or its configuration says so.
        sentences: what is said once.
        left_out: what is no rating by a person, and how often it was met.
        dimensions: what was rated, by name, and the number of ratings.
    """

    tool: str
    scale: Scale | None = None
    sentences: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    dimensions: Counter[str] = field(default_factory=Counter)

    def lines(self, path: str) -> Iterator[str]:
        """All of it in sentences."""
        other_format = called("reading", {"format": "NAME"})
        yield f"{path}: read as {self.tool} ({other_format} names another format)"
        yield from (f"{path}: {note}" for note in (*self.sentences, *self.omissions()))

    def say(self, sentence: str) -> None:
        """Keeps a sentence, once."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def take_scale(self, dimension: str, scale: Scale, path: object) -> None:
        """Keeps the scale of what is read, and says which file has it."""
        low, high = scale
        self.scale = scale
        self.say(f"'{dimension}' goes from {low:g} to {high:g}, as {path} says")

    def omissions(self) -> Iterator[str]:
        """A sentence on rows that were left out, if any were."""
        if counts := ", ".join(
            f"{n} {reason}" for reason, n in self.left_out.items() if n
        ):
            yield f"left out: {counts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The rows of a file.

    Attributes:
        columns: names in the header, empty for JSONL, whose rows name their own.
        rows: line (counted from 1, where the row starts) and row, or what is wrong with it, whose
            place is not said.
        lines: whether rows stand on lines; else they are counted.
        roles: roles whose column the format knows; its name is that of the role.
        notes: what an export of a tool says in addition to its rows.
        sentences: on how any file was read; complete when all rows are read.
    """

    columns: Strings = ()
    rows: NumberedRows
    lines: bool = True
    roles: Strings = ()
    notes: ImportNotes | None = None
    sentences: list[str] = field(default_factory=list)

    def peeked(self) -> tuple[Row, Source]:
        """The first row, without cells if it cannot be read, and the same rows from it on."""
        first = [*islice(self.rows, 1)]
        rows = [row for _, row in first if isinstance(row, dict)]
        return next(iter(rows), {}), replace(self, rows=chain(first, self.rows))

    def reshaped(
        self, rows_of: Callable[[Row, int], list[Row]], sentence: str
    ) -> Source:
        """The rows that a function makes of each row and its line, with a sentence that says so."""
        header = rows_of(dict.fromkeys(self.columns), 0)[0] if self.columns else {}
        self.sentences.append(sentence)

        def reshaped() -> NumberedRows:
            for line, row in self.rows:
                if isinstance(row, InputError):
                    yield line, row
                else:
                    yield from zip(repeat(line), rows_of(row, line), strict=False)

        return replace(self, columns=tuple(header), rows=reshaped())
