"""The frozen result that every function returns: it shows, saves and hands over itself."""

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from refless.files.untrusted import is_folder
from refless.files.writing import write_atomic
from refless.registry.errors import MissingExtraError, UsageError
from refless.registry.signature import Signature
from refless.report.document import Document, State, shortened
from refless.report.export import Rows, as_csv, as_json, as_jsonl, as_parquet
from refless.report.html import as_fragment, as_html
from refless.report.record import Record, record, schema_of
from refless.report.text import as_markdown, as_text
from refless.report.tools import check_tool, tool_in
from refless.report.tools.junit import junit

Gated = Literal["passed", "failed", "undecided"]
STATES: dict[str, State] = {"passed": "yes", "failed": "no", "undecided": "open"}
EXIT = {"": 0, "passed": 0, "failed": 3, "undecided": 4}
ENDINGS = ("json", "jsonl", "csv", "parquet", "md", "html")


@dataclass(frozen=True)
class GateRecord:
    """The verdict of the gates; both are empty without one."""

    verdict: Gated | Literal[""] = ""
    reason: str = ""

    @classmethod
    def of(cls, verdict: Gated, why: str) -> "GateRecord":
        """A gate that was asked for; the reason begins with the verdict."""
        return cls(verdict, f"gate {verdict}: {why}")


def decided(interval: tuple[float, float], sign: str, bar: float) -> Gated:
    """The verdict of a gate: every gate of every command asks this of an interval.

    Args:
        interval: of a number, NaN if there is none, which decides nothing.
        sign: ">=" if the number is to reach the bar, "<=" if it is to stay below.
        bar: what is wanted.

    Returns:
        passed if the whole interval is on the right side, failed if all of it is on the other.
    """
    low, high = interval
    if sign == "<=":
        return decided((-high, -low), ">=", -bar)
    if low >= bar:
        return "passed"
    return "failed" if high < bar else "undecided"


def reaches(interval: tuple[float, float], bar: float) -> State:
    """Whether a number is to be taken to reach a bar, as a card says it."""
    return STATES[decided(interval, ">=", bar)]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Result:
    """One result.

    Attributes:
        record: the class of its JSON.
        signature: everything that can change its numbers.
        gate: what became of the gate, where there is one.
        notes: what was noticed on the way, a sentence each.
        command: the command line that does the same.
        server: the module whose `run` serves it until it is interrupted; most have none.
        signs: whether its signature is shown.
    """

    record: ClassVar[type[Record]]
    server: ClassVar[str] = ""
    signs: ClassVar[bool] = True
    signature: Signature
    gate: GateRecord = GateRecord()
    notes: tuple[str, ...] = ()
    command: str = ""

    @property
    def exit_status(self) -> int:
        """The exit status of the command line: 3 for a gate that failed, 4 for one undecided."""
        return EXIT[self.gate.verdict]

    def serve(self) -> None:
        """Serves until it is interrupted what there is to serve."""
        if self.server:
            import_module(self.server).run(self)

    def document(self) -> Document:
        """The document that the terminal shows."""
        return self._signed(self._shown())

    def report(self) -> Document:
        """The document of the HTML report: the same, and more if a result has more."""
        return self._signed(self._whole())

    def _shown(self) -> Document:
        raise NotImplementedError

    def _whole(self) -> Document:
        return self._shown()

    def _signed(self, document: Document) -> Document:
        """The document with the command line and, unless it has its own or none, the signature."""
        signatures = document.signatures
        if self.signs and not signatures:
            signatures = (str(self.signature),)
        return replace(document, signatures=signatures, command=self.command)

    def json(self) -> Record:
        """The record that `--format json` prints; undefined numbers are NaN here and null there."""
        return replace(self._json(), notes=self.notes)

    def _json(self) -> Record:
        return self._record()

    def _record(self, *sources: object, **values: object) -> Record:
        """The record with the values, and attributes of the sources and of this result."""
        return record(self.record, *sources, self, **values)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema, 2020-12, of what `--format json` prints."""
        return schema_of(cls.record)

    def rows(self) -> Rows:
        """One mapping a text, or whatever a result is of, as in CSV and JSONL."""
        return self._rows()

    def _rows(self) -> Rows:
        return []

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data, as `--format json` prints it; undefined numbers are None."""
        plain: dict[str, Any] = msgspec.json.decode(as_json(self.json()))
        return plain

    def to_frame(self) -> Any:  # noqa: ANN401 - whichever library is there
        """The rows as a data frame: pandas where it is installed, else polars.

        Raises:
            UsageError: neither is installed.
        """
        for name in ("pandas", "polars"):
            if find_spec(name) is not None:
                return import_module(name).DataFrame(self.rows())
        raise UsageError("a data frame needs a library: pip install pandas")

    def save(self, path: str | PathLike[str], *, csv_safe: bool = False) -> None:
        """Writes a file, whole or not at all: .html .json .jsonl .csv .parquet or .md.

        Args:
            path: the file; `inspect:scores.jsonl` writes one for another tool (docs/hosts.md).
            csv_safe: whether cells of CSV that a spreadsheet would take for a formula begin with '.

        Raises:
            UsageError: another ending, or no such folder; a tool that there is nothing for.
        """
        tool, place = tool_in(path)
        content: str | bytes
        if tool is not None:
            check_tool(tool, self.json().command)
            content = self.exported(tool)
        elif (ending := ending_of(place)) == "parquet":
            content = as_parquet(self.rows())
        else:
            content = self.content(ending, csv_safe=csv_safe)
        write_atomic(place, content)

    def exported(self, tool: str) -> str:  # noqa: ARG002 - those that have others say so
        """The file that another tool reads; of JUnit the gate as a test case."""
        return junit(self.json().command, self.gate.verdict, self.gate.reason)

    def content(self, kind: str, *, csv_safe: bool = False) -> str:
        """The result in one of the formats, `text` among them; `csv_safe` as for `save`."""
        match kind:
            case "text":
                return self.as_text()
            case "json":
                return as_json(self.json())
            case "jsonl":
                return as_jsonl(self.rows())
            case "csv":
                return as_csv(self.rows(), safe=csv_safe)
            case "md":
                return as_markdown(self.document())
            case "html":
                return as_html(self.report())
        raise KeyError(kind)

    def as_text(
        self, *, color: bool = False, width: int = 80, brief: bool = False
    ) -> str:
        """The text that the terminal shows, in so many columns; `brief`: without the numbers."""
        document = self.document()
        if brief:
            document = shortened(document)
        return as_text(document, color=color, width=width)

    def __str__(self) -> str:
        return self.as_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_fragment(self.document(), self.notes)


def ending_of(path: str | PathLike[str]) -> str:
    """The format that a file's name asks for.

    Raises:
        UsageError: none of the formats, or a folder that is not there.
        MissingExtraError: Parquet without pyarrow.
    """
    ending = Path(path).suffix.removeprefix(".")
    if ending not in ENDINGS:
        *endings, last = (f".{name}" for name in ENDINGS)
        raise UsageError(
            f"{fspath(path)}: the ending must be {', '.join(endings)} or {last}"
        )
    if "\0" in fspath(path):
        raise UsageError(f"{fspath(path)}: no file can have this name")
    if ending == "parquet" and find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet", "parquet")
    if not is_folder(Path(path).parent):
        raise UsageError(f"{fspath(path)}: there is no folder '{Path(path).parent}'")
    return ending
