"""The result of `refless list`: estimators or metrics to choose from."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from refless.registry.spec import Described
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Record, Signed
from refless.report.result import Result


@dataclass(frozen=True, kw_only=True)
class Listed:
    """An estimator, a kernel (with 'kernel ' before its name) or a metric: a line on it."""

    name: str
    about: str
    parameters: tuple[Described, ...]


@dataclass(frozen=True, kw_only=True)
class ListRecord(Record):
    """Estimators or metrics to choose from, with every parameter."""

    command: Literal["list"] = "list"
    signature: Signed
    kind: str
    listed: tuple[Listed, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ListResult(Result):
    """Things that a specification can name.

    Attributes:
        kind: `estimators` or `metrics`.
        listed: their names, a line on each, and their parameters.
        example: a specification.
    """

    record = ListRecord
    signs = False
    kind: str
    listed: tuple[Listed, ...]
    example: str

    def _shown(self) -> Document:
        """A section for each thing: what it is, and its parameters, given as in the example."""
        sections = tuple(
            Section(
                title=entry.name, lines=(entry.about,), table=_table(entry.parameters)
            )
            for entry in self.listed
        )
        example = Section(lines=(f"Parameters go with the name: {self.example}",))
        return Document(title="What there is", sections=(*sections, example))

    def _rows(self) -> Rows:
        """One mapping a parameter."""
        rows: list[dict[str, Any]] = []
        for entry in self.listed:
            for parameter in entry.parameters:
                names = {"name": entry.name, "parameter": parameter.name}
                rows.append(asdict(parameter) | names)
        return rows


def _table(parameters: Sequence[Described]) -> Table | None:
    if not parameters:
        return None
    rows = []
    for parameter in parameters:
        values = ", ".join(filter(None, (parameter.takes, parameter.range)))
        rows.append((parameter.name, parameter.default, values, parameter.help))
    header = ("parameter", "default", "takes", "what it is for")
    return Table(header=header, rows=tuple(rows), numeric=(False,) * 4)
