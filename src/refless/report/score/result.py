"""Outputs with their estimates: the result of `refless score`."""

from collections.abc import Mapping
from dataclasses import dataclass

from refless.estimators import Estimator
from refless.report.advice import Advice
from refless.report.document import Document
from refless.report.export import Rows
from refless.report.record import Record
from refless.report.result import Result
from refless.report.score.data import GateRecord, ScoreRecord, score_record, score_rows
from refless.report.score.document import Evidence, score_document
from refless.report.tools.every_eval_ever import every_eval_ever
from refless.report.tools.inspect_scores import inspect_scores
from refless.report.tools.junit import junit
from refless.studies.best_of import BestOf
from refless.studies.guards import Guards
from refless.studies.scoring import Scored

EXIT = {"": 0, "passed": 0, "failed": 3, "undecided": 4}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ScoreResult(Result):
    """Outputs with their estimates.

    Attributes:
        scored: the outputs, an estimate each, means overall and by system.
        guards: copies of rated texts, what a training file holds, outputs unlike all rated texts.
        estimator: fitted.
        best: what was chosen among outputs of one item, where that was asked for.
        advice: what to do where too many outputs have no estimate.
        gate: what became of the gates; gates: of the same for each system, by name.
        seed: of the bootstrap.
    """

    record = ScoreRecord
    scored: Scored
    guards: Guards
    estimator: Estimator
    best: BestOf | None
    advice: Advice | None
    gate: GateRecord
    gates: Mapping[str, GateRecord]
    seed: int

    @property
    def exit_status(self) -> int:
        """0 without a gate or where it passed, 3 where it failed, 4 where it is undecided."""
        return EXIT[self.gate.verdict]

    def document(self) -> Document:
        """What the terminal shows."""
        return self._document(None)

    def report(self) -> Document:
        """The HTML report."""
        return self._document(
            Evidence(estimator=self.estimator, command=self.command, seed=self.seed)
        )

    def _document(self, evidence: Evidence | None) -> Document:
        scale = self.estimator.rated.scale
        return score_document(
            self.scored, self.guards, self.signature, scale, self.advice, evidence, self.best
        )

    def json(self) -> Record:
        """What `--format json` prints."""
        scale = self.estimator.rated.scale
        return score_record(
            self.scored, self.guards, self.signature, scale, self.advice, self.best, self.gate
        )

    def exported(self, tool: str) -> Mapping[str, str]:
        """Scores for Inspect, a record for Every Eval Ever, gates as test cases."""
        rated = self.estimator.rated
        if tool == "junit":
            return {"": junit("score", {"gate": self.gate, **self.gates})}
        if tool == "inspect":
            return {"": inspect_scores(self.scored, rated.scale, self.signature)}
        return every_eval_ever(self.scored, rated, self.signature)

    def rows(self) -> Rows:
        """One mapping an output; with --best-of an item, as in CSV and JSONL."""
        return score_rows(self.scored, self.best)
