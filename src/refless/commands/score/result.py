"""Outputs with their estimates: the result of `refless score`."""

from dataclasses import dataclass, replace

from refless.commands.score.accepting import Accepting
from refless.commands.score.data import ScoreRecord, estimate_rows, estimates_of
from refless.commands.score.document import (
    NARROW,
    ROOM,
    WHETHER,
    accepted_sections,
    every_output,
    facts,
    items_sections,
    systems_sections,
    verdict,
)
from refless.commands.score.guards import Guards
from refless.commands.score.guards_shown import said
from refless.commands.score.inspect_scores import inspect_scores
from refless.commands.texts import reasons_sections
from refless.estimators import Estimator
from refless.evaluation.scoring import Scored
from refless.registry.plural import counted
from refless.report.document import Document, Section, caveats
from refless.report.export import Rows
from refless.report.record import Record
from refless.report.result import Result
from refless.report.wording import about, estimator_name, sentence


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ScoreResult(Result):
    """Outputs with their estimates.

    Attributes:
        scored: the outputs, an estimate each, means overall and by system.
        guards: copies of rated texts, outputs unlike all rated texts.
        estimator: fitted.
        accepted: which estimates need no person, where that was asked for.
        design: what belongs together among the outputs, in a sentence; rated_design: among the
            rated texts.
        gate: what became of the gates.
        one_file: whether rated texts and outputs are rows of one file.
    """

    record = ScoreRecord
    scored: Scored
    guards: Guards
    estimator: Estimator
    accepted: Accepting | None
    design: str
    rated_design: str
    one_file: bool = False

    @property
    def _warnings(self) -> tuple[str, ...]:
        """The sentences of the guards."""
        return said(self.guards, self.scored.overall, one_file=self.one_file)

    def _shown(self) -> Document:
        return self._document(NARROW)

    def _whole(self) -> Document:
        brief = self._document(ROOM)
        basis = (
            "Rated texts",
            f"{len(self.estimator.rated):,}",
            "that estimates rest on",
        )
        gate = f"{sentence(self.gate.reason)}. " if self.gate.reason else ""
        return replace(
            brief,
            verdict=gate + brief.verdict,
            facts=(*brief.facts, basis),
            sections=(*brief.sections, *every_output(self.scored), caveats()),
        )

    def _document(self, room: int) -> Document:
        """The document of terminal and page, with room for so many characters of each text."""
        scored = self.scored
        scale = self.estimator.rated.scale
        name = estimator_name(self.signature)
        mean = scored.overall
        rated_systems = {*self.estimator.rated.systems} - {""}
        population = about("output", these=scored.these)
        design = f"{self.design} {self.rated_design}"
        sections = [
            *accepted_sections(scored, self.accepted),
            *systems_sections(scored.systems, rated_systems),
        ]
        sections += [Section(lines=(line,), warning=True) for line in self._warnings]
        sections += reasons_sections(scored.reasons, mean.n)
        sections += items_sections(scored, self.estimator.residuals(), room)
        return Document(
            title=f"{sentence(name)} on {counted(mean.n, 'output')}",
            verdict=verdict(name, mean, scale),
            notes=(f"The answer is about {population}.", design, WHETHER),
            facts=facts(mean),
            sections=tuple(sections),
        )

    def _json(self) -> Record:
        scored = self.scored
        return self._record(
            scored,
            scored.overall,
            scale=self.estimator.rated.scale,
            items=estimates_of(scored.estimates),
            these_items=scored.these,
            warnings=self._warnings,
        )

    def exported(self, tool: str) -> str:
        """Scores for Inspect, or the gate."""
        if tool == "inspect":
            return inspect_scores(self.scored, self.signature)
        return super().exported(tool)

    def _rows(self) -> Rows:
        """One mapping an output."""
        rows = estimate_rows(self.scored.outputs, self.scored.estimates)
        if self.accepted is None:
            return rows
        passes = self.accepted.takes(self.scored.estimates.values).tolist()
        return [
            {**row, "accepted": passed}
            for row, passed in zip(rows, passes, strict=True)
        ]
