"""Metrics against human ratings: the result of `refless meta`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from refless.commands.annotators import AnnotatorsRecord, annotators_record
from refless.data.records import RatedPool
from refless.evaluation.annotators import Annotators, annotator_interval
from refless.evaluation.meta import Agreeing, Level, Meta
from refless.evaluation.rater_agreement import RaterAgreement
from refless.evaluation.units import InUnits
from refless.metrics.references.protocol import Scores
from refless.registry.plural import counted, these
from refless.registry.signature import Signature
from refless.report.charts import Line, row_chart
from refless.report.document import Document, Figure, Section, Table, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import labels, number, p_value, title, with_interval

SHOWN = 15  # pairs of metrics shown to people; JSON has all
NAMED = 3  # metrics in the verdict
NAME, PAIR = 22, 14  # columns of a terminal for a name
ANNOTATOR = "one annotator"
CAUTION = (
    "A high correlation is not enough: it holds for these texts and systems, and a small "
    "difference between two metrics says little."
)


@dataclass(frozen=True, kw_only=True)
class MetaRecord(Record):
    """Metrics against human ratings.

    Attributes:
        n: rated texts.
        measure: the correlation that orders metrics.
        metrics: each metric by name; its signature where it was computed here.
        annotators: each against all ratings; annotators_left_out: against the others' ratings.
    """

    command: Literal["meta"] = "meta"
    signature: Signed
    n: Count
    measure: Literal["spearman", "pearson"]
    metrics: dict[str, str | None]
    segments: Level
    systems: Level
    units: dict[str, InUnits]
    annotators: AnnotatorsRecord | None
    annotators_left_out: AnnotatorsRecord | None
    raters: RaterAgreement | None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MetaResult(Result):
    """Metrics against human ratings.

    Attributes:
        pool: the rated texts; scores: by name, of each text.
        meta: agreement and comparisons.
        units: by name, over units of M; empty where systems or items are not known.
        annotators, left_out: the human yardstick, as published and leaving each out.
        raters: agreement among annotators.
        metrics: signature of each metric that was computed here; `signature`: of all the rest.
    """

    record = MetaRecord
    pool: RatedPool
    scores: Mapping[str, Scores]
    meta: Meta
    units: Mapping[str, InUnits]
    annotators: Annotators | None
    left_out: Annotators | None
    raters: RaterAgreement | None
    metrics: Mapping[str, Signature]

    def _shown(self) -> Document:
        """What the terminal shows: who agrees with people, and whether better than the others."""
        meta, systems = self.meta, len(set(self.pool.systems))
        rated = counted(len(self.pool), "rated text")
        of = f" of {systems} systems" if systems > 1 else ""
        metrics = counted(len(self.scores), "metric")
        return Document(
            title=f"{metrics} on {rated}",
            verdict=nearest_to_people(meta.segments, meta.measure),
            notes=(f"{rated}{of}, {metrics}.", *allowed(len(self.scores), "metric")),
            sections=(
                *_level_sections(meta.segments, meta.measure, "Segments", _annotator(self)),
                *_level_sections(meta.systems, meta.measure, "Systems", ()),
                *_units_section(self.units),
                *_people_section(self),
                Section(lines=(CAUTION,)),
                caveats(),
            ),
            signatures=(*map(str, self.metrics.values()), str(self.signature)),
        )

    def _json(self) -> Record:
        signed = {name: str(one) for name, one in self.metrics.items()}
        return self._record(
            self.meta,
            n=len(self.pool),
            metrics={name: signed.get(name) for name in sorted(self.scores)},
            annotators=annotators_record(self.annotators),
            annotators_left_out=annotators_record(self.left_out),
        )

    def _rows(self) -> Rows:
        pool = self.pool
        return [
            {
                "id": pool.ids[i],
                **({"system": pool.systems[i]} if pool.systems else {}),
                "human": float(pool.human[i]),
                **{name: float(one.segments[i]) for name, one in self.scores.items()},
                "text": pool.texts[i],
            }
            for i in range(len(pool))
        ]


def nearest_to_people(level: Level, measure: str) -> str:
    """One sentence on which metrics agree best with people, as far as tests can tell."""
    known = [one for one in level.metrics if not math.isnan(getattr(one, measure))]
    if not known:
        return f"On {these(level.n, 'text')} no metric can be compared with people."
    top, name, texts = known[0], title(measure), these(level.n, "text")
    if len(known) == 1:
        value = with_interval(getattr(top, measure), top.interval_of(measure))
        shows = "agrees with people"
        if not top.interval_of(measure)[0] > 0:
            shows = "shows no agreement with people that chance could not explain"
        return f"On {texts} {top.name} {shows}: {name} {value}."
    value = with_interval(getattr(top, measure), level.best_interval)
    if not level.best_interval[0] > 0:
        return (
            f"On {texts} no metric is shown to agree with people. The best of {len(known)}, "
            f"{top.name}, has {name} {value}, as chance alone can give."
        )
    others = [one for one in level.best if one != top.name]
    if not others:
        return (
            f"On {texts} {top.name} agrees best with people, {name} {value}, significantly better "
            "than every other."
        )
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    return (
        f"On {texts} {top.name} agrees with people, {name} {value}, but it cannot be told apart "
        f"from {', '.join(others[:NAMED])}{more}."
    )


def allowed(count: int, what: str) -> tuple[str, ...]:
    """What the interval in the first sentence allows for, if there was a choice."""
    said = f"The interval above allows for the choice of the best of {counted(count, what)}; "
    return (f"{said}those below are of each alone.",) if count > 1 else ()


def _annotator(found: MetaResult) -> tuple[Line, ...]:
    """One average annotator against the mean of the others."""
    people, measure = found.left_out, found.meta.measure
    if people is None:
        return ()
    spread = annotator_interval(people, measure)
    return (Line(name=ANNOTATOR, value=people.average[measure], interval=spread),)


def _figure(level: Level, measure: str, over: str, yardstick: Sequence[Line]) -> Figure:
    lines = [
        Line(name=one.name, value=getattr(one, measure), interval=one.interval_of(measure))
        for one in level.metrics
    ]
    shown = [*yardstick, *lines]
    shown_as = f"{title(measure)} over {over}"
    names = labels([one.name for one in shown], 40)
    table = Table(
        header=("metric", f"{title(measure)} [95 %]"),
        rows=tuple((names[one.name], with_interval(one.value, one.interval)) for one in shown),
    )
    caption = f"{shown_as}, {level.n:,} of them, with 95 % intervals."
    if level.comparisons:
        caption += (
            " All metrics are compared on the same rows: the tests below tell apart what "
            "overlapping intervals do not."
        )
    svg = row_chart(shown, shown_as, shown_as, zero=True)
    return Figure(svg=svg, caption=caption, table=table)


def _level_sections(
    level: Level, measure: str, heading: str, yardstick: Sequence[Line]
) -> tuple[Section, ...]:
    if level.undefined and not level.metrics:
        return (Section(title=heading, lines=(f"Undefined: {level.undefined}.",)),)
    names = _names(level, NAME)
    first = Table(
        header=("metric", "n", "Pearson [95 %]", "Spearman [95 %]"),
        rows=tuple(
            (names[one.name], str(one.n_scored), _with(one, "pearson"), _with(one, "spearman"))
            for one in level.metrics
        ),
    )
    second = Table(
        header=("metric", "Kendall [95 %]", "pairs right", "with ties"),
        rows=tuple(
            (names[one.name], _with(one, "kendall"), number(one.accuracy), number(one.tie_accuracy))
            for one in level.metrics
        ),
    )
    over = "systems" if heading == "Systems" else "single texts"
    chart = _figure(level, measure, over, yardstick)
    why = sorted({one.undefined for one in level.metrics if one.undefined})
    lines = tuple(f"Undefined where {reason}." for reason in why)
    return (
        Section(title=heading, figures=(chart,), table=first, lines=lines),
        Section(table=second),
        *_comparisons(level, measure),
    )


def _names(level: Level, width: int) -> dict[str, str]:
    return labels([one.name for one in level.metrics], width)


def _with(one: Agreeing, name: str) -> str:
    return with_interval(getattr(one, name), one.interval_of(name))


def _comparisons(level: Level, measure: str) -> tuple[Section, ...]:
    if not level.comparisons:
        return ()
    names, pair = _names(level, NAME), _names(level, PAIR)
    ordered = sorted(level.comparisons, key=lambda one: not one.better)
    rows = tuple(
        (
            f"{pair[one.first]} {'>' if one.better else '?'} {pair[one.second]}",
            with_interval(one.difference, one.difference_interval),
            p_value(one.williams_p_holm),
            p_value(one.permutation_p_holm),
        )
        for one in ordered[:SHOWN]
    )
    header = (f"{title(measure)}", "difference [95 %]", "Williams p", "permuted p")
    rest = len(ordered) - len(rows)
    lines = [
        "> is significantly better (permutation test, p after Holm below 0.05); ? is undecided.",
        f"No other is significantly better than: {', '.join(names[n] for n in level.best)}.",
    ]
    if rest:
        verb = "is" if rest == 1 else "are"
        lines.append(f"{counted(rest, 'more pair')} {verb} in --format json.")
    return Section(table=Table(header=header, rows=rows)), Section(lines=tuple(lines))


def _units_section(units: Mapping[str, InUnits]) -> tuple[Section, ...]:
    if not units:
        return ()
    names = labels([*units], NAME)
    rows = tuple(
        (
            names[name],
            with_interval(row.spearman, row.spearman_interval),
            with_interval(row.kendall, row.kendall_interval),
        )
        for name, row in units.items()
    )
    any_row = next(iter(units.values()))
    header = ("metric", "Spearman [95 %]", "Kendall [95 %]")
    items = counted(any_row.unit, "item")
    line = f"{counted(any_row.n_units, 'unit')} of {items}, differences of two systems."
    if any_row.n_units < 2:
        line = f"Undefined: fewer than two units of {items}; --unit can lower it."
    table = Table(header=header, rows=rows)
    return (Section(title="Pairs of systems in units", table=table), Section(lines=(line,)))


def _people_section(found: MetaResult) -> tuple[Section, ...]:
    rows: list[tuple[str, ...]] = []
    kinds: Sequence[tuple[str, Annotators | None]] = (
        ("all ratings, as published", found.annotators),
        ("the others' ratings", found.left_out),
    )
    for label, people in kinds:
        if people is not None:
            average, best = people.average, people.best
            values = [average["pearson"], average["spearman"], average["kendall"], best["spearman"]]
            rows.append((label, *map(number, values)))
    if not rows:
        return ()
    header = ("one annotator against", "Pearson", "Spearman", "Kendall", "best Spearman")
    table = Table(header=header, rows=tuple(rows))
    lines: tuple[str, ...] = ()
    if found.raters is not None and not found.raters.undefined:
        alpha = with_interval(found.raters.alpha_interval, found.raters.alpha_interval_interval)
        lines = (f"Krippendorff's alpha (interval) {alpha}.",)
    return (Section(title="People", table=table), *((Section(lines=lines),) if lines else ()))
