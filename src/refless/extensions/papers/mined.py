"""The result of `refless mine`."""

from dataclasses import asdict, dataclass
from typing import Literal

from refless.extensions.papers.mining import Candidate, Weighted
from refless.report.document import Document
from refless.report.export import Rows
from refless.report.record import Record, Signed
from refless.report.result import Result


@dataclass(frozen=True, kw_only=True)
class MineRecord(Record):
    """Responses to rate (the first step), or items with weighted references (the second)."""

    command: Literal["mine"] = "mine"
    signature: Signed
    candidates: tuple[Candidate, ...]
    weighted: tuple[Weighted, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MineResult(Result):
    """Mined candidates, or their ratings by people.

    Attributes:
        candidates: responses to rate, in the order in which raters see them; empty in the second
            step.
        weighted: items with their references and weights; empty in the first step.
        summary: what there is, as a sentence.
    """

    record = MineRecord
    candidates: tuple[Candidate, ...] = ()
    weighted: tuple[Weighted, ...] = ()
    summary: str

    def _shown(self) -> Document:
        return Document(title="refless mine", verdict=self.summary)

    def _rows(self) -> Rows:
        """One mapping a response to rate, or an item."""
        rows = []
        for row in self.candidates or self.weighted:
            cells = asdict(row).items()
            plain = {name: cell for name, cell in cells if not isinstance(cell, tuple)}
            rows.append(plain)
        return rows
