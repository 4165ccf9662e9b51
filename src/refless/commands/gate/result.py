"""The result of `refless gate`: passed, failed or undecided."""

from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from refless.commands.compare.card import picture_of
from refless.commands.compare.result import CompareResult
from refless.commands.compare.scores import ScoresResult
from refless.commands.compare.scores_card import ASK
from refless.commands.compare.wins_result import WinsResult
from refless.commands.gate.as_if_same import DRAWS
from refless.commands.gate.card import card_of
from refless.commands.gate.measures import GateMeasure
from refless.evaluation.further import NOTHING_MORE, Further, most_of
from refless.report.document import Card, Document, folded
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import STATES, GateRecord, Result
from refless.report.units import RatingUnits
from refless.report.wording import percent, sentence
from refless.stats.intervals import Interval

KINDS: dict[type[Result], Literal["ratings", "choices", "scores"]] = {
    CompareResult: "ratings",
    WinsResult: "choices",
    ScoresResult: "scores",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRecord:
    """A difference of the new system from the old one, or its win rate.

    Attributes:
        name: of the numbers; bar: the least that passes.
        value, interval: the number, with its 95 % interval.
    """

    name: str
    value: float
    interval: Interval
    bar: float


@dataclass(frozen=True, kw_only=True)
class GatedRecord(Record):
    """Whether the new system may take the place of the old one.

    Attributes:
        rests_on: ratings or choices of people, or scores of a judge or a metric.
        margin: by how much the new system may be worse.
        measures: one of ratings or choices, one of each column of scores.
        needed: more items that would decide with a chance of four in five; 0 if it is decided, null
            if that is out of reach or cannot be told.
        needed_of: whether these are to be rated, or are new ones.
        false_alarms: share of draws in which the gate would fail with nothing changed; null if
            that cannot be told.
    """

    command: Literal["gate"] = "gate"
    rests_on: Literal["ratings", "choices", "scores"]
    signature: Signed
    baseline: str
    candidate: str
    margin: float
    measures: tuple[MeasureRecord, ...]
    needed: Count | None
    needed_of: Literal["", "ratings", "items"]
    false_alarms: float
    gate: GateRecord


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GateResult(Result):
    """Whether the new system may take the place of the old one.

    Attributes:
        compared: the comparison behind it.
        baseline, candidate, margin, false_alarms: as in `GatedRecord`.
        passes: share of draws in which it would pass with nothing changed; NaN likewise.
        measures: one of ratings or choices, one of each column of scores.
        gate: its verdict (passed, failed, undecided) and its reason.
    """

    record = GatedRecord
    compared: CompareResult | WinsResult | ScoresResult
    baseline: str
    candidate: str
    margin: float
    measures: tuple[GateMeasure, ...]
    false_alarms: float
    passes: float

    @property
    def further(self) -> Further:
        """More data that would decide; of several measures the one that takes most."""
        if self.gate.verdict != "undecided":
            return NOTHING_MORE
        return most_of(measure.further for measure in self.measures)

    @property
    def interval(self) -> Interval:
        """The interval of the measure that lies lowest above its bar, or farthest below it."""
        lowest = min(self.measures, key=lambda one: one.answer.interval[0] - one.bar)
        return lowest.answer.interval

    @property
    def sentence(self) -> str:
        """The verdict, and what would decide it if it is undecided."""
        said = f"{sentence(self.gate.reason)}. Ranges are 95 % intervals."
        if self.gate.verdict != "undecided":
            return said
        return f"{said} More ratings: {self.further.said}"

    def card(self) -> Card:
        """The answer with its picture."""
        return self._card(self.compared.document().cards)

    def _card(self, behind: tuple[Card, ...]) -> Card:
        """The answer; of choices and scores with the picture of the comparison's own cards."""
        compared = self.compared
        systems = (self.baseline, self.candidate)
        rests = "".join(card.rests for card in behind)
        figures = tuple(chain.from_iterable(card.figures for card in behind))
        if isinstance(compared, CompareResult):
            state = STATES[self.gate.verdict]
            (pair,) = compared.comparison.pairs
            units = RatingUnits(compared.percent)
            picture = picture_of(pair, compared.compared, units, state, self.margin)
            figures = (picture,)
        better = all(
            measure.answer.interval[0] > measure.bar + self.margin
            for measure in self.measures
        )
        ask = "have more rated"
        if self.further.takes_new:
            ask = f"collect {self.further.new}"
        first = ""
        if isinstance(compared, ScoresResult):
            ask = "score answers to more items"
            first = compared.judging
        card = card_of(
            self.gate, systems, self.further, rests, figures, better=better, ask=ask
        )
        if first:
            return replace(card, advice=f"{ASK}. Then {card.advice}", command=first)
        return card

    def _shown(self) -> Document:
        return self._behind(self.compared.document())

    def _whole(self) -> Document:
        """The same with all outputs side by side."""
        return self._behind(self.compared.report())

    def _behind(self, comparison: Document) -> Document:
        """The answer, and the numbers of the comparison behind it."""
        card = self._card(comparison.cards)
        return Document(
            title=card.topic,
            cards=(card,),
            notes=(*self._alarms(), *comparison.notes),
            sections=folded(comparison.sections),
            outputs=comparison.outputs,
        )

    def _alarms(self) -> tuple[str, ...]:
        if self.false_alarms != self.false_alarms:
            return ()
        shares = (
            f"fail in {percent(self.false_alarms)}, pass in {percent(self.passes)} and else be "
            "undecided"
        )
        draws = f"{DRAWS} draws that swap both systems' answers at random (an A/A test)"
        return (f"With nothing changed this gate would {shares}, of {draws}.",)

    def _json(self) -> Record:
        measures = tuple(
            MeasureRecord(
                name=measure.name,
                value=measure.answer.value,
                interval=measure.answer.interval,
                bar=measure.bar,
            )
            for measure in self.measures
        )
        further = self.further
        return self._record(
            rests_on=KINDS[type(self.compared)],
            measures=measures,
            needed=further.count,
            needed_of=further.of,
        )

    def _rows(self) -> Rows:
        """One mapping a measure."""
        return [
            {
                "measure": measure.name,
                "value": measure.answer.value,
                "low": measure.answer.interval[0],
                "high": measure.answer.interval[1],
                "bar": measure.bar,
                "verdict": self.gate.verdict,
            }
            for measure in self.measures
        ]
