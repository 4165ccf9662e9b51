"""What there is to choose from, with every parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from refless.report.document import Document, Section, Table
from refless.report.record import Record, Signed
from refless.spec import Described


@dataclass(frozen=True, kw_only=True)
class Listed:
    """An estimator, a kernel (with 'kernel ' before its name) or a metric: a line on it."""

    name: str
    about: str
    parameters: tuple[Described, ...]


@dataclass(frozen=True, kw_only=True)
class ListRecord(Record):
    """What there is to choose from, with every parameter."""

    command: Literal["estimators", "metrics"]
    signature: Signed
    listed: tuple[Listed, ...]


def list_document(listed: Sequence[Listed], example: str) -> Document:
    """A section for each thing: what it is, and its parameters, given as in the example."""
    sections = tuple(
        Section(title=one.name, lines=(one.about,), table=_table(one.parameters)) for one in listed
    )
    how = Section(lines=(f"Parameters go with the name: {example}",))
    return Document(title="What there is", sections=(*sections, how))


def _table(parameters: Sequence[Described]) -> Table | None:
    if not parameters:
        return None
    rows = tuple(
        (one.name, one.default, ", ".join(filter(None, (one.takes, one.range))), one.help)
        for one in parameters
    )
    header = ("parameter", "default", "takes", "what it is for")
    return Table(header=header, rows=rows, numeric=(False,) * 4)
