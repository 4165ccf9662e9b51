"""Judges and metrics against human ratings: the result of `refless judge`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from refless.commands.judge.audit import Audit
from refless.commands.judge.calibration_shown import calibration_sections
from refless.commands.judge.card import card_of, card_of_runs
from refless.commands.judge.document import (
    audit_sections,
    drift_section,
    runs_lines,
    uses_section,
)
from refless.commands.judge.licence_shown import (
    licence_sections,
    licences_section,
)
from refless.commands.judge.metrics_compared import Level, Meta
from refless.commands.judge.metrics_shown import (
    CAUTION,
    SEGMENTS,
    annotator_of,
    card_of_metrics,
    figure_of,
    level_sections,
    nearest_to_people,
)
from refless.commands.judge.rater_profiles import disputed_texts
from refless.commands.judge.repeated import Runs, ScoreChange
from refless.commands.judge.ties import TieRule
from refless.commands.populations import allowed
from refless.commands.side_by_side import side_by_side
from refless.commands.texts import place_columns
from refless.data.design import Design, joined
from refless.data.human import unscaled
from refless.data.records import Outputs, RatedPool, Texts, scored
from refless.evaluation.rater_agreement import agreement_said
from refless.metrics.protocol import Scores
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.report.document import (
    Card,
    Document,
    Figure,
    Section,
    SideBySide,
)
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord, Result


@dataclass(frozen=True, kw_only=True)
class JudgeRecord(Record):
    """Judges and metrics against human ratings.

    Attributes:
        n: rated texts.
        design: what belongs together, and what was drawn at random.
        metrics: each metric by name; its signature where it was computed here.
        judges: the audit of each score column; `worst` are ids.
        runs: the columns as runs of one judge; drifts: by name, what changed since before.
    """

    command: Literal["judge"] = "judge"
    signature: Signed
    n: Count
    design: str
    metrics: dict[str, str | None]
    judges: tuple[Audit, ...]
    runs: Runs | None
    drifts: dict[str, ScoreChange]
    gate: GateRecord
    segments: Level
    systems: Level


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class JudgeResult(Result):
    """Judges and metrics against human ratings.

    Attributes:
        pool: the rated texts; scores: by name, of each text.
        design: what belongs together, in a sentence.
        audits: of each score column; runs, drifts: as in `JudgeRecord`.
        columns: by name, cells of the rated texts and of the unrated ones, in files.
        commands: the line that does what is advised, by judge.
        drawing: the line that draws what to rate, or ""; uneven: as `card_of` takes it.
        ties: by judge, its answer by either rule for texts on which raters are split evenly.
        unrated: texts without a rating; places: [n + m] where all stand in the file.
        rationales: [n] why the judge said so, or ().
        listed: [n] the texts in the order of their rows.
        meta: agreement and comparisons.
        metrics: signature of each metric that was computed here; `signature`: of all the rest.
    """

    record = JudgeRecord
    pool: RatedPool
    design: str
    scores: Mapping[str, Scores]
    audits: tuple[Audit, ...]
    meta: Meta
    metrics: Mapping[str, Signature]
    listed: IntArray
    unrated: Outputs
    places: IntArray
    columns: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    drawing: str = ""
    uneven: str = ""
    ties: Mapping[str, TieRule] = field(default_factory=dict)
    rationales: tuple[str, ...] = ()
    runs: Runs | None = None
    drifts: Mapping[str, ScoreChange] = field(default_factory=dict)

    @property
    def people(self) -> FloatArray:
        """[n] ratings in the raters' units."""
        return unscaled(self.pool.human, self.pool.scale)

    def cards(self) -> tuple[Card, ...]:
        """A card for each judge, the one that agrees best with people first; of runs one."""
        cards: list[Card] = []
        agree = agreement_said(self.pool, Design.of(self.pool))
        if self.runs is not None:
            licensed = any(audit.licence for audit in self.audits)
            columns = [self.scores[audit.name].segments for audit in self.audits]
            card = card_of_runs(
                self.runs,
                () if licensed else columns,
                of_verdicts=self.pool.of_verdicts,
            )
            if not licensed:
                return (card,)
            cards.append(card)
        for audit in self._best_first():
            scores = self.scores[audit.name].segments
            both = ~np.isnan(scores)
            card = card_of(
                audit,
                self.people[both],
                scores[both],
                self.commands.get(audit.name, ""),
                self.drawing,
                self.uneven,
                of_verdicts=self.pool.of_verdicts,
            )
            card = self.ties.get(audit.name, TieRule()).on(card)
            cards.append(replace(card, rests=f"{card.rests} {agree}".rstrip()))
        if self.metrics:
            judged = [audit.name for audit in self.audits]
            cards.append(
                card_of_metrics(self.meta.segments, agree, self._of_texts(), judged)
            )
        return tuple(cards)

    def _of_texts(self) -> Figure:
        """The correlations with people over texts, beside one annotator if that is known."""
        return figure_of(self.meta.segments, "single texts", annotator_of(self.audits))

    def _shown(self) -> Document:
        """The uses of each judge, then the agreement of metrics with people."""
        rated = counted(len(self.pool), "rated text")
        metrics = counted(len(self.scores), "metric")
        names = metrics if len(self.audits) != 1 else self.audits[0].name
        return Document(
            title=f"{names} on {rated}",
            cards=self.cards(),
            notes=tuple(self._notes(rated, metrics)),
            sections=(*self._uses(), *self._folded(self._numbers())),
            signatures=(*map(str, self.metrics.values()), str(self.signature)),
        )

    def _notes(self, rated: str, metrics: str) -> list[str]:
        systems = len(set(self.pool.systems))
        by = f" of {systems} systems" if systems > 1 else ""
        notes = [f"{rated}{by}, {metrics}."]
        if not (self.metrics or self._of_verdicts):
            notes.append(nearest_to_people(self.meta.segments))
        if not self.metrics:
            notes += allowed(len(self.scores), "metric")
        notes.append(self.design)
        for audit in self.audits:
            for line in audit.refusals:
                notes.append(f"Not claimed: {line[:1].lower()}{line[1:]}")
        return [*dict.fromkeys(notes)]

    def _uses(self) -> tuple[Section, ...]:
        """The licences of several judges, and the uses of each."""
        several = licences_section(self.audits) if len(self.audits) > 1 else ()
        return (*several, *map(uses_section, self._best_first()))

    def _folded(self, numbers: list[Section]) -> tuple[Section, ...]:
        """The numbers folded away, but for the table with metrics that were computed here."""
        return tuple(
            replace(part, folded=not (self.metrics and part.title == SEGMENTS))
            for part in numbers
        )

    def _numbers(self) -> list[Section]:
        """All that a page folds away; the terminal has no room for the audits of several."""
        sections: list[Section] = []
        if len(self.audits) == 1:
            sections += _details(self.audits[0])
        if self.runs is not None:
            lines = runs_lines(self.runs)
            sections.append(Section(title="Runs of one judge", lines=lines))
        sections += drift_section(self.drifts)
        if len(self.scores) > 1 or not self._of_verdicts:
            sections += self._agreeing()
        return sections

    @property
    def _of_verdicts(self) -> bool:
        """Whether the judges gave verdicts, which have no ranks."""
        return bool(self.audits) and "spearman" not in self.audits[0].measures

    def _best_first(self) -> list[Audit]:
        """The audits, from the judge that agrees best with people on."""
        order = [metric.name for metric in self.meta.segments.metrics]
        return sorted(self.audits, key=lambda audit: order.index(audit.name))

    def _agreeing(self) -> tuple[Section, ...]:
        """Correlations with people, and comparisons of metrics."""
        segments = self.meta.segments
        return (
            Section(title="Agreement with people", figures=(self._of_texts(),)),
            *level_sections(segments, SEGMENTS),
            *level_sections(self.meta.systems, "Systems"),
            Section(lines=(CAUTION,)),
        )

    def _whole(self) -> Document:
        """The same with the outputs side by side, and the numbers folded away."""
        document = self._shown()
        if not self.audits:
            return document
        numbers = self._numbers()
        if len(self.audits) > 1:
            for audit in self._best_first()[::-1]:
                numbers[:0] = _details(audit)
        sections = (*self._uses(), *self._folded(numbers))
        return replace(document, sections=sections, outputs=self._outputs())

    def _outputs(self) -> SideBySide | None:
        """All texts, rated or not, with the scores of the judge that agrees best."""
        name = self._best_first()[0].name
        others = self.unrated.score(name) if len(self.unrated) else np.zeros(0)
        column = np.concatenate([self.scores[name].segments, others])
        texts = joined(self.pool, self.unrated)
        ids = (*self.pool.ids, *self.unrated.ids)
        unknown = np.full(len(texts), math.nan)
        people = unknown.copy()
        people[: len(self.pool)] = self.people
        return side_by_side(
            replace(texts, ids=ids, **scored({name: column})),
            people,
            unknown,
            self.places,
            percent=self.pool.of_verdicts,
            doubt=False,
            why=tuple(f"judge: {line}" if line else "" for line in self.rationales),
            disputed=disputed_texts(self.pool).tolist(),
            scale=self.pool.scale,
        )

    def _json(self) -> Record:
        signed = {name: str(signature) for name, signature in self.metrics.items()}
        return self._record(
            self.meta,
            n=len(self.pool),
            metrics={name: signed.get(name) for name in sorted(self.scores)},
            judges=self.audits,
        )

    def _rows(self) -> Rows:
        """The rated texts; also the others if a column says something of them."""
        scores = {name: metric.segments for name, metric in self.scores.items()}
        rows = _rows_of(self.pool, self.pool.human, scores)
        others = self.unrated
        if self.columns:
            unknown = np.full(len(others), math.nan)
            named = dict(zip(others.score_names, others.scores.T, strict=True))
            columns = {name: named.get(name, unknown) for name in scores}
            rows += _rows_of(others, unknown, columns)
        for name, cells in self.columns.items():
            for row, cell in zip(rows, cells, strict=True):
                row[name] = cell
        n = len(self.pool)
        return [*(rows[place] for place in self.listed.tolist()), *rows[n:]]


def _details(audit: Audit) -> tuple[Section, ...]:
    """The numbers of one judge."""
    licence = licence_sections(audit.licence)
    calibration = calibration_sections(audit.calibration)
    return (*licence, *calibration, *audit_sections(audit))


def _rows_of(
    texts: Texts, human: FloatArray, scores: Mapping[str, FloatArray]
) -> list[dict[str, Cell]]:
    """One row a text, with its rating and its scores."""
    rows = []
    for i in range(len(texts)):
        row = place_columns(texts, i)
        row["human"] = float(human[i])
        for metric, column in scores.items():
            row[metric] = float(column[i])
        row["text"] = texts.texts[i]
        rows.append(row)
    return rows
