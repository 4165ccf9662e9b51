"""Systems compared: the result of `refless compare`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from refless.records import Scale
from refless.report.compare.data import CompareRecord, compare_rows, pairs_of, systems_of
from refless.report.compare.document import compare_document
from refless.report.document import Document
from refless.report.export import Rows
from refless.report.record import Record
from refless.report.result import Result
from refless.report.score.data import GateRecord
from refless.report.score.result import EXIT
from refless.report.tools.junit import junit
from refless.studies.comparing import Comparison


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CompareResult(Result):
    """Systems compared, in the raters' units.

    Attributes:
        comparison: systems, the best first, and every pair of them.
        scale: of the ratings, or None.
        selection: how the rated outputs were chosen.
        estimator: what people call it.
        gate: what became of the gate.
    """

    record = CompareRecord
    comparison: Comparison
    scale: Scale | None
    selection: str
    estimator: str
    gate: GateRecord

    @property
    def exit_status(self) -> int:
        """0 without a gate or where it passed, 3 where it failed, 4 where it is undecided."""
        return EXIT[self.gate.verdict]

    def document(self) -> Document:
        """What the terminal shows."""
        return self._document(page=False)

    def report(self) -> Document:
        """The HTML report."""
        return self._document(page=True)

    def _document(self, *, page: bool) -> Document:
        made = compare_document(
            self.comparison, self.scale, self.selection, self.estimator, page=page
        )
        return replace(made, signatures=(str(self.signature),), command=self.command)

    def json(self) -> Record:
        """What `--format json` prints."""
        found = self.comparison
        return self._record(
            systems=systems_of(found), pairs=pairs_of(found), coverage=found.coverage
        )

    def exported(self, tool: str) -> Mapping[str, str]:  # noqa: ARG002 - there is one
        """The gate as a test case."""
        return {"": junit("compare", {"gate": self.gate})}

    def rows(self) -> Rows:
        """One mapping a pair, as in CSV and JSONL."""
        return compare_rows(self.comparison)
