"""Rows of a file or of memory, read as they are asked for."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from refless.data.records import Scale
from refless.registry.errors import InputError

Row = dict[str, object]
Numbered = tuple[int, Row | InputError]


@dataclass(slots=True, kw_only=True)
class ImportNotes:
    """What an export of a tool says in addition to its rows; complete when all rows are read.

    Attributes:
        tool: what the file is, for messages; "" if no tool wrote it.
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
        if self.tool:
            yield f"{path}: read as {self.tool} (--read format=NAME names another format)"
        yield from (f"{path}: {note}" for note in (*self.sentences, *self.omissions()))

    def omissions(self) -> Iterator[str]:
        """What was left out, if anything was."""
        if counts := ", ".join(f"{n} {reason}" for reason, n in self.left_out.items() if n):
            yield f"left out: {counts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The rows of a file.

    Attributes:
        columns: names in the header, empty for JSONL, whose rows name their own.
        rows: line (counted from 1, where the row starts) and row, or what is wrong with it.
        lines: whether rows stand on lines; else they are counted.
        roles: roles whose column the format knows; its name is that of the role.
        notes: what an export of a tool says in addition to its rows.
    """

    columns: tuple[str, ...] = ()
    rows: Iterator[Numbered]
    lines: bool = True
    roles: tuple[str, ...] = ()
    notes: ImportNotes | None = None
