"""Outputs with their estimates: the result of `refless score`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.commands.estimating import estimator_name
from refless.commands.populations import about
from refless.commands.score.accepting import Accepting
from refless.commands.score.card import card_of
from refless.commands.score.data import ScoreRecord, estimate_rows, estimates_of
from refless.commands.score.document import (
    accepted_sections,
    items_sections,
    systems_sections,
)
from refless.commands.score.guards import Guards
from refless.commands.score.guards_shown import said
from refless.commands.score.inspect_scores import inspect_scores
from refless.commands.side_by_side import side_by_side
from refless.commands.texts import estimates_or_reasons, reasons_sections
from refless.estimators import Estimator
from refless.estimators.saved import Saved
from refless.evaluation.scoring import Scored
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.report.document import Document, Section, folded
from refless.report.export import Rows
from refless.report.record import Record
from refless.report.result import Result
from refless.report.wording import sentence


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ScoreResult(Result):
    """Outputs with their estimates.

    Attributes:
        scored: the outputs, an estimate each, means overall and by system.
        files: [n] the file of each output; empty of one file.
        guards: copies of rated texts, outputs unlike all rated texts.
        estimator: fitted.
        accepted: which estimates need no person, where that was asked for.
        design: what belongs together among the outputs, in a sentence; rated_design: among the
            rated texts.
        gate: what became of the gates.
        one_file: whether rated texts and outputs are rows of one file.
        validating: the line that validates estimates from the rated texts; "" of a model.
    """

    record = ScoreRecord
    scored: Scored
    files: Sequence[str] = ()
    guards: Guards
    estimator: Estimator
    accepted: Accepting | None
    design: str
    rated_design: str
    one_file: bool = False
    validating: str = ""

    @property
    def _warnings(self) -> tuple[str, ...]:
        """The sentences of the guards."""
        return said(self.guards, self.scored.overall, one_file=self.one_file)

    @property
    def percent(self) -> bool:
        """Whether ratings are passes and fails."""
        return self.estimator.given[0].of_verdicts

    def _shown(self) -> Document:
        """The answer, with warnings first, and the estimates of some outputs."""
        residuals = self.estimator.residuals()
        return self._document(items_sections(self.scored, residuals))

    def _document(self, items: Sequence[Section]) -> Document:
        scored = self.scored
        mean = scored.overall
        name = estimator_name(self.signature)
        rated_systems = {*self.estimator.rated.systems} - {""}
        systems = systems_sections(
            scored.systems, rated_systems, of_verdicts=self.percent
        )
        card = card_of(
            name,
            self.estimator.given[0],
            mean,
            self.estimator.rated.scale,
            systems[0].figures if systems else (),
            of_verdicts=self.percent,
            command=self.validating,
        )
        warnings = [Section(lines=(line,), warning=True) for line in self._warnings]
        population = f"The answer is about {about('output', these=scored.these)}."
        if self.gate.reason:
            gate = f"{sentence(self.gate.reason)}."
            card = replace(card, rests=f"{gate} {card.rests}")
        return Document(
            title=f"Estimates of {counted(mean.n, 'output')}",
            cards=(card,),
            notes=(
                population,
                f"Estimates are by {name}.",
                f"{self.design} {self.rated_design}",
            ),
            sections=(
                *warnings,
                *accepted_sections(scored, self.accepted),
                *folded([*systems, *reasons_sections(scored.reasons, mean.n), *items]),
            ),
        )

    def _whole(self) -> Document:
        """The same with all outputs in place of some."""
        scored = self.scored
        estimates = scored.estimates
        n = len(scored.outputs)
        texts = estimates_or_reasons(estimates, range(n))
        outputs = side_by_side(
            scored.outputs,
            np.full(n, np.nan),
            estimates.values,
            np.arange(n),
            percent=self.percent,
            doubt=False,
            why=tuple(f"estimate: {text}" for text in texts),
        )
        return replace(self._document(()), outputs=outputs)

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
        if self.files:
            of_files = zip(self.files, rows, strict=True)
            rows = [{"file": name, **row} for name, row in of_files]
        if self.accepted is None:
            return rows
        passes = self.accepted.takes(self.scored.estimates.values).tolist()
        return [
            {**row, "accepted": passed}
            for row, passed in zip(rows, passes, strict=True)
        ]


def signature_of(saved: Saved, ci: str, seed: int, *, these: bool) -> Signature:
    """The estimator's signature, and what else can change a number of the result."""
    signature = saved.signature.plus(ci=ci, seed=seed)
    return signature.plus(these=True) if these else signature
