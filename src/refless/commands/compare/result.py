"""Systems compared: the result of `refless compare`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from refless.commands.compare.data import CompareRecord, pair_record, pair_row, standing_record
from refless.commands.compare.document import (
    ASSUMED,
    differences_section,
    facts,
    rests_on,
    stands_for_others,
    systems_section,
    verdict,
)
from refless.data.records import Scale
from refless.evaluation.comparing import Comparison
from refless.report.document import Document, caveats
from refless.report.export import Rows
from refless.report.record import Record
from refless.report.result import Result
from refless.report.tools.junit import junit
from refless.report.wording import Looks, question


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CompareResult(Result):
    """Systems compared, in the raters' units.

    Attributes:
        comparison: systems, the best first, and every pair of them.
        scale: of the ratings, or None.
        selection: how the rated outputs were chosen.
        estimator: what people call it.
        these_items: whether the question is about these items alone.
        looks: whether intervals hold for one look, or any number of them.
        gate: what became of the gate.
    """

    record = CompareRecord
    comparison: Comparison
    scale: Scale | None
    selection: str
    estimator: str
    these_items: bool = False
    looks: Looks = "one"

    def _shown(self) -> Document:
        scale, pairs = self.scale, self.comparison.pairs
        units = "in the raters' units"
        if scale is not None:
            units = f"on a scale of {scale[0]:g} to {scale[1]:g}"
        notes = rests_on(self.comparison, self.estimator)
        if self.selection == "unknown" or any(map(stands_for_others, pairs)):
            notes.append(ASSUMED[self.selection])
        notes.append(question("item", these=self.these_items, looks=self.looks))
        sections = [systems_section(self.comparison, units), differences_section(self.comparison)]
        return Document(
            title="Which system is better",
            verdict=verdict(self.comparison),
            notes=tuple(notes),
            sections=tuple(sections[::-1] if len(pairs) == 1 else sections),
        )

    def _whole(self) -> Document:
        brief, pairs = self._shown(), self.comparison.pairs
        numbers = facts(pairs[0]) if len(pairs) == 1 else ()
        return replace(brief, facts=numbers, sections=(*brief.sections, caveats()))

    def _json(self) -> Record:
        return self._record(
            systems=tuple(map(standing_record, self.comparison.standings)),
            pairs=tuple(map(pair_record, self.comparison.pairs)),
            coverage=self.comparison.coverage,
        )

    def exported(self, tool: str) -> Mapping[str, str]:  # noqa: ARG002 - there is one
        """The gate as a test case."""
        return {"": junit("compare", {"gate": self.gate})}

    def _rows(self) -> Rows:
        """One mapping a pair."""
        return [pair_row(pair) for pair in self.comparison.pairs]
