"""Ratings with their texts: the result of `refless join`."""

from dataclasses import dataclass
from typing import Literal

from refless.nouns import counted
from refless.report.document import Document, Section
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.tables import Joined


@dataclass(frozen=True, kw_only=True)
class JoinRecord(Record):
    """What was joined.

    Attributes:
        on: the columns whose values were equal.
        n_texts, n_ratings: rows on each side.
        n_rated: texts that have a rating; n_matched: ratings that have a text.
    """

    command: Literal["join"] = "join"
    signature: Signed
    on: str
    n_texts: Count
    n_rated: Count
    n_ratings: Count
    n_matched: Count


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class JoinResult(Result):
    """Texts with their ratings."""

    record = JoinRecord
    joined: Joined

    def _shown(self) -> Document:
        found = self.joined
        matched = (
            f"{found.n_matched:,} of {counted(found.n_ratings, 'rating')} joined with "
            f"{found.n_rated:,} of {counted(found.n_texts, 'text')} on {found.on}."
        )
        return Document(
            title="refless join",
            verdict=matched,
            sections=(
                Section(
                    title="To write and use it",
                    lines=(f"  {self.command} -o joined.jsonl", "  refless validate joined.jsonl"),
                ),
            ),
        )

    def _json(self) -> Record:
        return self._record(self.joined)

    def _rows(self) -> Rows:
        """One mapping a rating, and one a text that has none."""
        return self.joined.rows
