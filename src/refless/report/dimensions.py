"""The results of one command for several dimensions, as one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refless.errors import UsageError
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Record
from refless.report.result import Result
from refless.report.wording import labels

IN_DETAIL = "One of them with everything there is to say:"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ByDimension(Result):
    """Results of one command, each the same as of that dimension alone.

    Attributes:
        results: by the name of the dimension, in the order of the file or as they were asked for.
    """

    results: Mapping[str, Any]

    def json(self) -> Record:
        """What `--format json` prints."""
        return self._record(dimensions={name: one.json() for name, one in self.results.items()})

    def rows(self) -> Rows:
        """The rows of all results, each with its dimension."""
        return [
            {"dimension": name, **row} for name, one in self.results.items() for row in one.rows()
        ]

    def exported(self, tool: str) -> Mapping[str, str]:
        """Nothing: what other tools read is of one dimension.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{tool}: is for one dimension; choose one with --dimension NAME")

    def _names(self) -> dict[str, str]:
        """What to call each dimension in a table."""
        return labels([*self.results], 24)

    def _page(
        self,
        title: str,
        verdict: str,
        table: Table,
        lines: tuple[str, ...],
        before: tuple[Section, ...] = (),
    ) -> Document:
        """What the terminal and the page show: a table, and the command line of the first one."""
        results = [*self.results.values()]
        return Document(
            title=title,
            verdict=verdict,
            sections=(
                *before,
                Section(title="Each dimension by itself", table=table),
                Section(lines=lines),
                Section(lines=(IN_DETAIL, f"  {results[0].command}")),
            ),
            signatures=tuple(str(one.signature) for one in results),
        )
