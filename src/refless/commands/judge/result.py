"""Judges and metrics against human ratings: the result of `refless judge`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from refless.commands.judge.audit import Audit
from refless.commands.judge.document import (
    audit_sections,
    chapter,
    drift_section,
    matrix_section,
    runs_lines,
    use_of,
    uses_section,
    worst_sections,
)
from refless.commands.judge.metrics_compared import Level, Meta
from refless.commands.judge.repeated import Runs, ScoreChange
from refless.data.records import RatedPool
from refless.evaluation.uses import FEWEST
from refless.metrics.protocol import Scores
from refless.registry.dialect import called
from refless.registry.plural import counted, these
from refless.registry.signature import Signature
from refless.report.charts import Line, row_chart
from refless.report.document import Document, Figure, Section, Table, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord, Result
from refless.report.wording import allowed, labels, number, p_value, with_interval

SHOWN = 15  # pairs of metrics shown to people; JSON has all
NAMED = 3  # metrics in the verdict
NAME, PAIR = 22, 14  # columns of a terminal for a name
ANNOTATOR = "one annotator"
OF_TEXTS = (
    "Pairs right: of texts that the metric orders, or ties, as people do; with ties: if its scores "
    "tie that differ by little; by chance: of a metric that ties as often and knows nothing."
)
OF_SYSTEMS = "A tie of two systems is half a pair."
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
        rationales: [n] why the judge said so, or ().
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
    rationales: tuple[str, ...] = ()
    runs: Runs | None = None
    drifts: Mapping[str, ScoreChange] = field(default_factory=dict)

    def _shown(self) -> Document:
        return self._described(self._details() if len(self.audits) == 1 else ())

    def _described(self, details: Sequence[Section]) -> Document:
        """What each judge may be used for, then who agrees best."""
        meta = self.meta
        systems = len(set(self.pool.systems))
        rated = counted(len(self.pool), "rated text")
        by = f" of {systems} systems" if systems > 1 else ""
        metrics = counted(len(self.scores), "metric")
        best = nearest_to_people(meta.segments)
        several = len(self.scores) > 1
        advice = [use_of(audit) for audit in self.audits]
        order = [metric.name for metric in meta.segments.metrics]
        best_first = sorted(self.audits, key=lambda audit: order.index(audit.name))
        verdicts = bool(self.audits) and "spearman" not in self.audits[0].measures
        runs = () if self.runs is None else runs_lines(self.runs)
        return Document(
            title=f"{metrics} on {rated}",
            verdict=runs[0] if runs else advice[0] if len(advice) == 1 else best,
            notes=(
                f"{rated}{by}, {metrics}.",
                *((best,) if runs or (len(advice) == 1 and not verdicts) else ()),
                *allowed(len(self.scores), "metric"),
                self.design,
            ),
            sections=(
                *((matrix_section(best_first),) if len(advice) > 1 else ()),
                *details,
                *([Section(title="Runs of one judge", lines=runs)] if runs else []),
                *drift_section(self.drifts),
                *(self._agreeing() if several or not verdicts else ()),
                caveats(),
            ),
            signatures=(*map(str, self.metrics.values()), str(self.signature)),
        )

    def _details(self) -> tuple[Section, ...]:
        """The one judge's audit; the terminal has no room for several."""
        return tuple(
            part
            for audit in self.audits
            for part in (uses_section(audit), *audit_sections(audit))
        )

    def _agreeing(self) -> tuple[Section, ...]:
        """Correlations with people, and which is better than which."""
        return (
            *_level_sections(self.meta.segments, "Segments"),
            *_level_sections(self.meta.systems, "Systems"),
            Section(lines=(CAUTION,)),
        )

    def _whole(self) -> Document:
        """The same with the texts on which judge and people are farthest apart."""
        segments = self.meta.segments
        chart = _figure(segments, "single texts", _annotator(self.audits))
        opening = (Section(figures=(chart,), opening=True),) if segments.metrics else ()
        if not self.audits:
            document = self._described(())
            return replace(document, sections=(*opening, *document.sections))
        order = [metric.name for metric in segments.metrics]
        audits = sorted(self.audits, key=lambda audit: order.index(audit.name))
        store, worst = worst_sections(audits, self.pool, self.rationales)
        details = (*self._details(), *worst)
        if len(audits) > 1:
            pairs = zip(audits, worst, strict=True)
            details = tuple(
                part for audit, last in pairs for part in chapter(audit, last)
            )
        document = self._described(details)
        return replace(document, sections=(*opening, *document.sections), store=store)

    def _json(self) -> Record:
        signed = {name: str(signature) for name, signature in self.metrics.items()}
        return self._record(
            self.meta,
            n=len(self.pool),
            metrics={name: signed.get(name) for name in sorted(self.scores)},
            judges=self.audits,
        )

    def _rows(self) -> Rows:
        pool = self.pool
        return [
            {
                "id": pool.ids[i],
                **({"system": pool.systems[i]} if pool.systems else {}),
                "human": float(pool.human[i]),
                **{
                    name: float(metric.segments[i])
                    for name, metric in self.scores.items()
                },
                "text": pool.texts[i],
            }
            for i in range(len(pool))
        ]


def nearest_to_people(level: Level) -> str:
    """One sentence on which metrics agree best with people, as far as tests can tell."""
    ranked = [metric for metric in level.metrics if not math.isnan(metric.spearman)]
    if not ranked or max(metric.n_scored for metric in ranked) < FEWEST:
        return f"On {these(level.n, 'text')} no metric can be compared with people."
    first = ranked[0]
    texts = these(level.n, "text")
    if len(ranked) == 1:
        low, high = first.spearman_interval
        shows = "shows no agreement with people that chance could not explain"
        if low > 0:
            shows = "agrees with people"
        elif high < 0:
            shows = (
                f"is low where people rate high ({called('lower_is_better')} turns it)"
            )
        return f"On {texts} {first.name} {shows}: Spearman {_with(first, 'spearman')}."
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
    more = f" and {len(rivals) - NAMED} more" if len(rivals) > NAMED else ""
    return (
        f"On {texts} {first.name} agrees with people, Spearman {value}, but it cannot be told "
        f"apart from {', '.join(rivals[:NAMED])}{more}."
    )


def _annotator(audits: Sequence[Audit]) -> tuple[Line, ...]:
    """One annotator against the mean of the others."""
    estimates = [people["spearman"] for people in (audit.annotator for audit in audits)
                 if "spearman" in people]  # fmt: skip
    return tuple(
        Line(name=ANNOTATOR, value=each.value, interval=each.interval)
        for each in estimates[:1]
    )


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
    return Figure(
        svg=row_chart([*yardstick, *metrics], label, label, zero=True), caption=caption
    )


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
    second = _pairs_of_systems(level, names)
    if heading == "Segments":
        second = _pairs_of_texts(level, names)
    charts = () if heading == "Segments" else (_figure(level, "systems"),)
    reasons = sorted({metric.undefined for metric in level.metrics if metric.undefined})
    lines = tuple(f"Undefined where {reason}." for reason in reasons)
    return (
        Section(title=heading, figures=charts, table=first, lines=lines),
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
    short = labels([metric.name for metric in level.metrics], PAIR)
    ordered = sorted(level.comparisons, key=lambda pair: not pair.better)
    rows = tuple(
        (
            f"{short[pair.first]} {'>' if pair.better else '?'} {short[pair.second]}",
            _with(pair, "difference"),
            p_value(pair.permutation_p_holm),
        )
        for pair in ordered[:SHOWN]
    )
    header = ("Spearman", "difference [95 %]", "p, Holm")
    lines = [
        "> is significantly better (permutation test, p after Holm below 0.05); ? is undecided.",
        f"No other is significantly better than: {', '.join(names[n] for n in level.best)}.",
    ]
    if hidden := len(ordered) - len(rows):
        verb = "is" if hidden == 1 else "are"
        lines.append(f"{counted(hidden, 'more pair')} {verb} in the JSON.")
    return Section(table=Table(header=header, rows=rows)), Section(lines=tuple(lines))
