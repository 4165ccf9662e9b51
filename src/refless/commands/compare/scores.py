"""Are these runs different? `refless compare` on scores of a judge or a metric, without people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refless.commands.asking import asking
from refless.commands.compare.document import (
    MOST_PAIRS,
    NAME,
    clearest_pairs,
    line_of,
    part_of,
    turned,
    value_of,
)
from refless.commands.compare.scores_card import ASK, State, card_of, state_of
from refless.commands.parameters import this_call
from refless.commands.populations import Looks, question
from refless.commands.warnings import note
from refless.data.design import Design
from refless.data.records import Outputs
from refless.data.tables.runs import ScoredRuns
from refless.evaluation.comparing import Comparison, compared_by
from refless.evaluation.entries import Field
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.report.charts import charted
from refless.report.document import Card, Document, Section, Table, folded
from refless.report.export import Rows
from refless.report.record import Record, Signed
from refless.report.result import Result
from refless.report.wording import p_value

AS_RATINGS = "If people gave these numbers, {} reads them as ratings."


@dataclass(frozen=True, kw_only=True)
class ScoresRecord(Record):
    """Runs compared by scores of a judge or a metric, in the units of the scores.

    Attributes:
        of: the kind of numbers.
        design: what belongs together, and what was drawn at random.
        these_items: whether the question is about these items alone, and not about items like them.
        looks: whether intervals hold for one look, or any number of them.
        margin: a difference up to which runs count as alike.
        metrics: by name, the systems, the best first, and every pair of them; p-values are
            corrected over all pairs of all metrics.
        states: by name, of each pair: whether a difference is shown, or ruled out beyond the
            margin, or neither.
    """

    command: Literal["compare"] = "compare"
    of: Literal["scores"] = "scores"
    signature: Signed
    design: str
    these_items: bool
    looks: Looks
    margin: float
    metrics: dict[str, Comparison]
    states: dict[str, tuple[State, ...]]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ScoresResult(Result):
    """Runs compared by scores of a judge or a metric.

    Attributes:
        metrics, design, margin, these_items, looks: as in `ScoresRecord`.
        fields: what was compared, by metric.
        next_command: the line that chooses what to have rated.
        judging: the line that asks whether people agree, if their ratings may lie unread.
        gated: as of `CompareResult`.
    """

    record = ScoresRecord
    fields: Mapping[str, Field]
    metrics: Mapping[str, Comparison]
    design: str
    margin: float
    these_items: bool
    looks: Looks
    next_command: str
    judging: str
    gated: bool = False

    @property
    def states(self) -> dict[str, tuple[State, ...]]:
        """By metric, the state of each pair."""
        states = {}
        for name, comparison in self.metrics.items():
            pairs = comparison.pairs
            states[name] = tuple(state_of(pair, self.margin) for pair in pairs)
        return states

    def cards(self) -> tuple[Card, ...]:
        """A card for each metric."""
        cards = []
        for name, comparison in self.metrics.items():
            figures = self._differences(name).figures
            field = self.fields[name]
            card = card_of(
                name, comparison, field, self.margin, figures, self.next_command
            )
            if self.judging:
                card = replace(card, advice=f"{ASK}.", command=self.judging)
            cards.append(card)
        if len(cards) == 1:
            return (*cards,)
        named = zip(cards, self.metrics, strict=True)
        return tuple(replace(card, topic=name) for card, name in named)

    def _shown(self) -> Document:
        holds = question(
            "item", these=self.these_items, looks=self.looks, how="as scored"
        )
        return Document(
            title="Are these runs different",
            cards=self.cards(),
            notes=(
                AS_RATINGS.format(called("columns", {"rating": "NAME"})),
                self.design,
                holds,
            ),
            sections=folded((*map(self._differences, self.metrics), self._systems())),
        )

    def _differences(self, name: str) -> Section:
        """Every pair of systems by one metric."""
        pairs = self.metrics[name].pairs
        entries = []
        for place in clearest_pairs(pairs)[:MOST_PAIRS]:
            pair = pairs[place]
            better = pair if self.gated else turned(pair)
            title = f"{better.second} over {better.first}"
            line = line_of(title, better.difference)
            cells = (p_value(pair.p_holm), state_of(pair, self.margin))
            entries.append((line, cells))
        return charted(
            f"Differences by {name}",
            ("pair", "difference [95 %]", "p (Holm)", "state"),
            entries,
            "Differences of scores with their 95 % intervals, each by itself.",
            axis="difference",
            label=f"Differences by {name}",
            zero=True,
            numeric=(False, True, True, False),
            lines=(*_margin_line(self.margin), *part_of(len(entries), len(pairs))),
            width=NAME + 8,
        )

    def _systems(self) -> Section:
        rows = []
        for name, comparison in self.metrics.items():
            for place, standing in enumerate(comparison.standings):
                mean = value_of(standing.mean)
                first = name if place == 0 else ""
                rows.append((first, standing.name, mean, f"{standing.rated:,}"))
        header = ("metric", "system", "mean [95 %]", "scores")
        numeric = (False, False, True, True)
        table = Table(header=header, rows=tuple(rows), numeric=numeric)
        return Section(title="Systems", table=table)

    def _rows(self) -> Rows:
        """One mapping a metric and pair of systems."""
        rows = []
        for name, comparison in self.metrics.items():
            for pair in comparison.pairs:
                row = {
                    "metric": name,
                    "first": pair.first,
                    "second": pair.second,
                    "difference": pair.difference.value,
                    "low": pair.difference.interval[0],
                    "high": pair.difference.interval[1],
                    "p": pair.difference.p,
                    "p_holm": pair.p_holm,
                    "state": state_of(pair, self.margin),
                    "items": pair.items,
                    "both_scored": pair.both_rated,
                }
                rows.append(row)
        return rows


def compared_scores(
    runs: ScoredRuns,
    systems: Sequence[str],
    *,
    group: str | None,
    margin: float,
    these_items: bool,
    looks: Looks,
    next_command: str = "",
) -> ScoresResult:
    """Every pair of systems by each column of scores.

    Args:
        runs: outputs with their scores.
        systems: in order, the old one first.
        group: as of `compare`.
        margin, these_items, looks: as in `ScoresRecord`.
        next_command: the line that chooses what to have rated.
    """
    outputs = runs.outputs
    design = Design.of(outputs, group, runs.group)
    fields = _fields(runs, design, these_items=these_items, looks=looks)
    metrics = compared_by(fields, systems)
    columns: list[Sequence[object]] = [outputs.systems, outputs.items, outputs.texts]
    columns += [column.tolist() for column in outputs.scores.T]
    signature = Signature("scores").plus(
        metrics=outputs.score_names,
        outputs=digest_of([column for column in columns if column]),
        scale=runs.scale,
        **design.signs,
        systems=tuple(systems),
        holm="pairs",
        these=these_items,
        looks=looks,
        margin=margin,
        v=__version__,
    )
    return ScoresResult(
        metrics=metrics,
        design=design.said(noun="output"),
        margin=margin,
        these_items=these_items,
        looks=looks,
        next_command=next_command,
        judging=_judging(runs),
        fields=fields,
        signature=signature,
    )


def _judging(runs: ScoredRuns) -> str:
    """The line that holds the scores against what may be people's ratings; "" without any."""
    if not runs.ratings:
        return ""
    given = this_call().values
    columns = {**(given["columns"] or {}), "rating": runs.ratings[0]}
    return asking(
        "judge",
        rated=given["outputs"],
        columns=columns,
        estimator=None,
        score_column=[*runs.outputs.score_names],
    )


def _fields(
    runs: ScoredRuns, design: Design, *, these_items: bool, looks: Looks
) -> dict[str, Field]:
    """By name, the outputs with scores in the place of human ratings."""
    outputs = runs.outputs
    unknown = np.full(len(outputs), math.nan)
    fields = {}
    for name in outputs.score_names:
        scores = outputs.score(name)
        _note_missing(outputs, name, scores)
        ends = runs.scale or scores[~np.isnan(scores)]
        fields[name] = Field(
            outputs=outputs,
            design=design,
            human=scores,
            estimates=unknown,
            probability=unknown,
            scale=runs.scale,
            these=these_items,
            reach=float(np.ptp(ends)) if looks == "any" else 0.0,
        )
    return fields


def _note_missing(outputs: Outputs, name: str, scores: FloatArray) -> None:
    """Says how many answers of a system to an item have no score in any of their rows."""
    keys = [*zip(outputs.systems, outputs.items or outputs.ids, strict=True)]
    scored = {keys[row] for row in np.flatnonzero(~np.isnan(scores)).tolist()}
    missing = len({*keys} - scored)
    if missing:
        note(f"{name}: {missing} of {counted(len({*keys}), 'output')} have no score")


def _margin_line(margin: float) -> tuple[str, ...]:
    if not margin:
        return ()
    return (f"Alike: the whole interval is within {margin:g} of no difference.",)
