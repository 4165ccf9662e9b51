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
from refless.commands.judge.metrics_compared import Agreeing, Level, Meta
from refless.commands.judge.repeated import Runs, ScoreChange
from refless.commands.side_by_side import side_by_side
from refless.commands.texts import place_columns
from refless.data.design import Design
from refless.data.human import unscaled
from refless.data.records import Outputs, RatedPool, Texts, scored
from refless.evaluation.rater_agreement import agreement_said
from refless.evaluation.uses import FEWEST
from refless.metrics.protocol import Scores
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.dialect import called
from refless.registry.plural import counted, first_of, these
from refless.registry.signature import Signature
from refless.report.charts import Line, row_chart
from refless.report.document import (
    Card,
    Document,
    Figure,
    Section,
    SideBySide,
    Table,
    folded,
)
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord, Result
from refless.report.wording import allowed, labels, number, p_value, with_interval

MOST_PAIRS = 15  # of metrics, for people; JSON has all
NAMED = 3  # metrics in the verdict
NAME = 22  # columns of a terminal
NAME_IN_PAIR = 14
ANNOTATOR = "one annotator"
OF_TEXTS = (
    "Pairs right: of texts that the metric orders, or ties, as people do; with ties: if its scores "
    "tie that differ by little; by chance: of a metric that guesses, with as many ties."
)
OF_SYSTEMS = (
    "A tie of two systems is half a pair. Noise in people's means hides their order, so each "
    "interval reaches up to all pairs but those that are shown to be in opposite orders."
)
CAUTION = (
    "A high correlation is not enough: it holds for these texts and systems, and a small "
    "difference between two metrics says little."
)


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
        unrated: texts without a rating.
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
    columns: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    unrated: Outputs | None = None
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
                of_verdicts=self.pool.of_verdicts,
            )
            cards.append(replace(card, rests=f"{card.rests} {agree}"))
        return tuple(cards)

    def _shown(self) -> Document:
        """The uses of each judge, then the agreement of metrics with people."""
        rated = counted(len(self.pool), "rated text")
        metrics = counted(len(self.scores), "metric")
        names = metrics if len(self.audits) != 1 else self.audits[0].name
        cards = self.cards()
        return Document(
            title=f"{names} on {rated}",
            verdict="" if cards else nearest_to_people(self.meta.segments),
            cards=cards,
            notes=tuple(self._notes(rated, metrics)),
            sections=(*self._uses(), *folded(self._numbers())),
            signatures=(*map(str, self.metrics.values()), str(self.signature)),
        )

    def _notes(self, rated: str, metrics: str) -> list[str]:
        systems = len(set(self.pool.systems))
        by = f" of {systems} systems" if systems > 1 else ""
        notes = [f"{rated}{by}, {metrics}."]
        if self.audits and not self._of_verdicts:
            notes.append(nearest_to_people(self.meta.segments))
        notes += allowed(len(self.scores), "metric")
        notes.append(self.design)
        for audit in self.audits:
            notes += [f"Not claimed: {_lowered(line)}" for line in audit.refusals]
        return [*dict.fromkeys(notes)]

    def _uses(self) -> tuple[Section, ...]:
        """The licences of several judges, and the uses of each."""
        several = licences_section(self.audits) if len(self.audits) > 1 else ()
        return (*several, *map(uses_section, self._best_first()))

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
        chart = _figure(segments, "single texts", _annotator(self.audits))
        return (
            Section(title="Agreement with people", figures=(chart,)),
            *_level_sections(segments, "Segments"),
            *_level_sections(self.meta.systems, "Systems"),
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
        sections = (*self._uses(), *folded(numbers))
        return replace(document, sections=sections, outputs=self._outputs())

    def _outputs(self) -> SideBySide | None:
        """The rated texts with the scores of the judge that agrees best."""
        audit = self._best_first()[0]
        column = scored({audit.name: self.scores[audit.name].segments})
        return side_by_side(
            replace(self.pool, **column),
            self.people,
            np.full(len(self.pool), math.nan),
            np.argsort(self.listed),
            percent=self.pool.of_verdicts,
            doubt=False,
            why=tuple(f"judge: {line}" if line else "" for line in self.rationales),
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
        if self.columns and others is not None:
            unknown = np.full(len(others), math.nan)
            named = dict(zip(others.score_names, others.scores.T, strict=True))
            columns = {name: named.get(name, unknown) for name in scores}
            rows += _rows_of(others, unknown, columns)
        for name, cells in self.columns.items():
            for row, cell in zip(rows, cells, strict=True):
                row[name] = cell
        n = len(self.pool)
        return [*(rows[place] for place in self.listed.tolist()), *rows[n:]]


def _lowered(line: str) -> str:
    """The line with a small letter first."""
    return line[:1].lower() + line[1:]


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


def nearest_to_people(level: Level) -> str:
    """The metrics that agree best with people as far as tests can tell, in one sentence."""
    ranked = [metric for metric in level.metrics if not math.isnan(metric.spearman)]
    texts = these(level.n, "text")
    if not ranked or max(metric.n_scored for metric in ranked) < FEWEST:
        return f"On {texts} no metric can be compared with people."
    first = ranked[0]
    if first.n_scored < level.n:
        texts = f"the {first.n_scored:,} of {texts} that it scored"
    if len(ranked) == 1:
        spearman = _with(first, "spearman")
        return f"On {texts} {first.name} {_agrees(first)}: Spearman {spearman}."
    value = with_interval(first.spearman, level.best_interval)
    if not level.best_interval[0] > 0:
        return (
            f"On {texts} no metric is shown to agree with people. The best of {len(ranked)}, "
            f"{first.name}, has Spearman {value}, as chance alone can give."
        )
    rivals = [rival for rival in level.best if rival != first.name]
    if not rivals:
        return (
            f"On {texts} {first.name} agrees best with people, Spearman {value}, significantly "
            "better than every other."
        )
    return (
        f"On {texts} {first.name} agrees with people, Spearman {value}, but it cannot be told "
        f"apart from {first_of(rivals, NAMED)}."
    )


def _agrees(metric: Agreeing) -> str:
    """The agreement of one metric with people, as a predicate."""
    low, high = metric.spearman_interval
    if low > 0:
        return "agrees with people"
    if high < 0:
        return f"is low where people rate high ({called('lower_is_better')} turns it)"
    return "shows no agreement with people that chance could not explain"


def _annotator(audits: Sequence[Audit]) -> tuple[Line, ...]:
    """One annotator against the mean of the others, if ranks of any are known."""
    for audit in audits:
        spearman = audit.annotator.get("spearman")
        if spearman is not None:
            line = Line(
                name=ANNOTATOR, value=spearman.value, interval=spearman.interval
            )
            return (line,)
    return ()


def _figure(level: Level, over: str, yardstick: Sequence[Line] = ()) -> Figure:
    metrics = [
        Line(name=m.name, value=m.spearman, interval=m.spearman_interval)
        for m in level.metrics
    ]
    label = f"Spearman over {over}"
    caption = f"{label}, {level.n:,} of them, with 95 % intervals."
    if level.comparisons:
        caption += (
            " All metrics are compared on the same rows: the tests below tell apart what "
            "overlapping intervals do not."
        )
    svg = row_chart([*yardstick, *metrics], label, label, zero=True)
    return Figure(svg=svg, caption=caption)


def _level_sections(level: Level, heading: str) -> tuple[Section, ...]:
    if level.undefined and not level.metrics:
        return (Section(title=heading, lines=(f"Undefined: {level.undefined}.",)),)
    names = labels([metric.name for metric in level.metrics], NAME)
    first = Table(
        header=("metric", "n", "Pearson [95 %]", "Spearman [95 %]"),
        rows=tuple(
            (names[m.name], str(m.n_scored), _with(m, "pearson"), _with(m, "spearman"))
            for m in level.metrics
        ),
    )
    if heading == "Segments":
        figures: tuple[Figure, ...] = ()
        second = _pairs_of_texts(level, names)
    else:
        figures = (_figure(level, "systems"),)
        second = _pairs_of_systems(level, names)
    reasons = sorted({metric.undefined for metric in level.metrics if metric.undefined})
    lines = tuple(f"Undefined where {reason}." for reason in reasons)
    return (
        Section(title=heading, figures=figures, table=first, lines=lines),
        second,
        *_comparisons(level, names),
    )


def _pairs_of_texts(level: Level, names: Mapping[str, str]) -> Section:
    """Shares of pairs of texts, as they are and with ties where people tie."""
    table = Table(
        header=("metric", "pairs right [95 %]", "with ties", "by chance"),
        rows=tuple(
            (
                names[m.name],
                _with(m, "accuracy"),
                number(m.tie_accuracy),
                number(m.chance),
            )
            for m in level.metrics
        ),
    )
    return Section(table=table, lines=(OF_TEXTS,))


def _pairs_of_systems(level: Level, names: Mapping[str, str]) -> Section:
    """Shares of pairs of systems: the numbers by which it is told whether a judge may rank them."""
    table = Table(
        header=("metric", "pairs in people's order [95 %]"),
        rows=tuple((names[m.name], _with(m, "accuracy")) for m in level.metrics),
    )
    return Section(table=table, lines=(OF_SYSTEMS,))


def _with(result: object, measure: str) -> str:
    return with_interval(
        getattr(result, measure), getattr(result, f"{measure}_interval")
    )


def _comparisons(level: Level, names: Mapping[str, str]) -> tuple[Section, ...]:
    if not level.comparisons:
        return ()
    short = labels([metric.name for metric in level.metrics], NAME_IN_PAIR)
    ordered = sorted(level.comparisons, key=lambda pair: not pair.better)
    rows = []
    for pair in ordered[:MOST_PAIRS]:
        sign = ">" if pair.better else "?"
        title = f"{short[pair.first]} {sign} {short[pair.second]}"
        p = p_value(pair.permutation_p_holm)
        rows.append((title, _with(pair, "difference"), p))
    table = Table(header=("Spearman", "difference [95 %]", "p, Holm"), rows=tuple(rows))
    best = ", ".join(names[name] for name in level.best)
    lines = [
        "> is significantly better (permutation test, p after Holm below 0.05); ? is undecided.",
        f"No other is significantly better than: {best}.",
    ]
    hidden = len(ordered) - len(rows)
    if hidden:
        verb = "is" if hidden == 1 else "are"
        lines.append(f"{counted(hidden, 'more pair')} {verb} in the JSON.")
    return Section(table=table), Section(lines=tuple(lines))
