"""Means of outputs whose estimates were written as they were made: the result of `stream`."""

from dataclasses import dataclass
from typing import Literal

from refless.commands.advised import reasons_sections
from refless.commands.score.document import WHETHER, mean_sentence, systems_sections, verdict
from refless.commands.score.guards import judge_said
from refless.data.records import Scale
from refless.evaluation.judge_shift import JudgeShift
from refless.evaluation.scoring import Mean, Means
from refless.registry.plural import counted
from refless.report.document import Document, Section
from refless.report.record import Record, Signed
from refless.report.result import GateRecord, Result
from refless.report.wording import estimator_name, sentence


@dataclass(frozen=True, kw_only=True)
class StreamRecord(Mean, Record):
    """Means of outputs, and the file of their estimates.

    Attributes:
        path: the file; reasons: how often each reason of having no estimate occurs.
        systems: the mean of each system; empty without a system column.
        scale: of the raters, in whose units all estimates are; null without one.
        judges: the scores that estimates read beside those of rated texts.
        said: what is shown of these, in sentences.
    """

    command: Literal["stream"] = "stream"
    signature: Signed
    path: str
    reasons: dict[str, int]
    systems: dict[str, Mean]
    scale: Scale | None
    gate: GateRecord
    judges: tuple[JudgeShift, ...]
    said: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StreamResult(Result):
    """Means of outputs whose estimates are in a file."""

    record = StreamRecord
    means: Means
    judges: tuple[JudgeShift, ...]
    reasons: dict[str, int]
    path: str
    scale: Scale | None

    def _shown(self) -> Document:
        name, mean = estimator_name(self.signature), self.means.overall
        return Document(
            title=f"{sentence(name)} on {counted(mean.n, 'output')}",
            verdict=verdict(name, mean, self.scale),
            notes=(mean_sentence(mean), WHETHER),
            sections=(
                *(Section(lines=(line,), warning=True) for line in self._said()),
                *systems_sections(self.means.systems),
                *reasons_sections(self.reasons, mean.n),
                Section(lines=(f"Estimates of all outputs: {self.path}",)),
            ),
        )

    def _said(self) -> tuple[str, ...]:
        """What is shown of the scores that estimates read."""
        return tuple(filter(None, map(judge_said, self.judges)))

    def _json(self) -> Record:
        return self._record(self.means.overall, systems=self.means.systems, said=self._said())
