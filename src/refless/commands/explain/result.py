"""One estimate and its evidence: the result of `refless explain`."""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from refless.commands.estimating import estimator_name
from refless.commands.texts import REASONS
from refless.data.human import unscaled
from refless.data.records import Neighbor, Reason, Scale
from refless.estimators import Estimator, Explanation
from refless.estimators.explanation import Part
from refless.estimators.folds import FEWEST
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.charts import Line, Mark, row_chart
from refless.report.document import Card, Document, Figure, Section, State, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import clipped, number, numbers
from refless.stats.intervals import UNDEFINED, Interval

LITTLE = 0.005  # of the scale: what adds less is shown together
MOST_DRAWN = 8  # rated texts
NAME = 24  # characters of an id on a page
LABELS: dict[State, str] = {"yes": "Yes", "no": "No", "open": "Cannot be told"}
ROOM = 200  # characters of a rated text on a page


def _count(explanation: Explanation, *, signed: bool) -> tuple[str, ...]:
    """The number of rated texts it rests on, or that all have a share if there are any shares."""
    texts = counted(explanation.size, "rated text")
    if not signed:
        verb = "is" if explanation.support == 1 else "are"
        return (f"{explanation.support} of {texts} {verb} similar enough.",)
    if not explanation.neighbors:
        return ()
    return (f"Each of {texts} has a share; all shares sum to 1.",)


def _why(explanation: Explanation, *, signed: bool) -> str:
    """The reason why there is no estimate."""
    if signed and explanation.reason == "too-few":
        return f"a model needs {FEWEST} rated texts, and there are {explanation.size}"
    return REASONS.get(explanation.reason, "")


def _evidence(
    explanation: Explanation, most: int, room: int | None, *, signed: bool
) -> tuple[Section, ...]:
    """The rated texts behind the estimate; with shares where these have a sign."""
    neighbors = explanation.neighbors[:most]
    if not neighbors:
        return ()
    wide = 10 if room is None else NAME
    room = room or (34 if signed else 42)
    ratings = numbers([neighbor.rating for neighbor in neighbors])
    rows = []
    for neighbor, rating in zip(neighbors, ratings, strict=True):
        texts = f"{clipped(neighbor.text, room)}\n{_shares(neighbor, room)}".rstrip()
        row = (number(neighbor.similarity), rating, clipped(neighbor.id, wide), texts)
        rows.append((f"{neighbor.share:+.3f}", *row) if signed else row)
    header = ("share", "similarity", "rating", "id", "rated text, and what both hold")
    numeric = (True, True, True, False, False)
    unsigned = 0 if signed else 1  # columns left out
    table = Table(
        header=header[unsigned:], rows=tuple(rows), numeric=numeric[unsigned:]
    )
    order = "largest share first" if signed else "most similar first"
    section = Section(title=f"Evidence, {order}", table=table)
    more = explanation.support - len(rows)
    if more <= 0:
        return (section,)
    return (section, Section(lines=(f"{more} more: raise {called('most')}.",)))


def _shares(neighbor: Neighbor, room: int) -> str:
    """The whole words that both texts hold, as many as there is room for."""
    line = ""
    for gram in neighbor.shared:
        words = gram.strip()
        whole = rf"(?<!\w){re.escape(words)}(?!\w)"
        longer = f"{line}, '{words}'" if line else f"shares '{words}'"
        is_whole = re.search(r"^\w.*\w$", words) and re.search(whole, neighbor.text)
        if is_whole and len(longer) <= room:
            line = longer
    return line


def _added(
    explanation: Explanation, scale: Scale | None, ratings: FloatArray
) -> tuple[Section, ...]:
    """The parts that add up to the estimate, in the raters' units; small ones together."""
    if not explanation.parts:
        return ()
    mean = explanation.mean
    low, high = scale or (-math.inf, math.inf)
    span = high - low if scale else float(np.ptp(ratings))
    parts = _large(explanation.parts, LITTLE * span)
    total = math.fsum([mean, *(part.addition for part in parts)])
    average = f"Rated texts have {number(mean, among=[total])} on average"
    if not any(part.addition and abs(part.addition) >= LITTLE * span for part in parts):
        line = f"{average}, and nothing sets this one apart."
        return (Section(title="What adds up to it", lines=(line,)),)
    words = [
        f"{clipped(part.name, 40)} {_signed(part.addition, [mean, total])}"
        for part in parts
    ]
    line = (
        f"{average}. Here: {', '.join(words)}; together {number(total, among=[mean])}"
    )
    cut = "" if low <= total <= high else ", cut to the scale"
    return (Section(title="What adds up to it", lines=(f"{line}{cut}.",)),)


def _large(parts: Sequence[Part], little: float) -> list[Part]:
    """The parts that add so much, and the sum of the others as one more."""
    large = [part for part in parts if abs(part.addition) >= little]
    small = [part.addition for part in parts if abs(part.addition) < little]
    return [*large, Part("other", math.fsum(small))] if small else large


def _signed(value: float, among: Sequence[float]) -> str:
    """The number with its sign, cut as those that it is added to."""
    shown = number(value, among=among)
    return shown if shown.startswith("-") else f"+{shown}"


@dataclass(frozen=True, kw_only=True)
class ExplainRecord(Record):
    """The rated texts behind one estimate.

    Attributes:
        interval: 95 %, for the mean rating that people would give.
        reason: empty where there is an estimate.
        support: rated texts that the estimate rests on; size: those they were drawn from.
        scale: of the raters, in whose units all of these are; null without one.
        neighbors: most similar first, or those with the largest share.
        mean: mean estimate of the rated texts, null where nothing is added to it.
        parts: what is added to it, the largest first; the sum is then cut to the scale.
    """

    command: Literal["explain"] = "explain"
    signature: Signed
    text: str
    estimate: float
    interval: Interval
    reason: Reason
    support: Count
    size: Count
    scale: Scale | None
    neighbors: tuple[Neighbor, ...]
    mean: float
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExplainResult(Result):
    """One estimate and the rated texts that it rests on.

    Attributes:
        text: the output; explanation: its estimate and evidence.
        estimator: fitted.
        most: rated texts to show.
    """

    record = ExplainRecord
    text: str
    explanation: Explanation
    estimator: Estimator
    most: int

    @property
    def scale(self) -> Scale | None:
        """That of the ratings."""
        return self.estimator.rated.scale

    @property
    def average(self) -> float:
        """Mean rating of the rated texts, in the raters' units."""
        rated = self.estimator.rated
        return float(unscaled(rated.human, rated.scale).mean())

    def card(self) -> Card:
        """The answer with its picture."""
        explanation = self.explanation
        signed = self.signature.name == "gp"
        mean = self.average
        state: State = "open"
        if explanation.low > mean:
            state = "yes"
        elif explanation.high < mean:
            state = "no"
        found = (explanation.estimate, explanation.low, explanation.high)
        value, low, high = numbers(found, 2)
        answer = f"People would give about {value}"
        if explanation.low == explanation.low:
            answer += f", but anything between {low} and {high} is possible"
        if explanation.reason:
            answer = f"No estimate ({explanation.reason}): {_why(explanation, signed=signed)}"
        count = " ".join(_count(explanation, signed=signed))
        return Card(
            topic="one text",
            question="Is this text better than the average rated one?",
            state=state,
            label=LABELS[state],
            answer=f"{answer}.",
            rests=f"Rated texts have {number(mean, 2)} on average. {count}".strip(),
            further="those of other texts hardly settle it: have this one rated.",
            unfit="a decision about this text: one estimate says little.",
            advice="read the rated texts that it rests on; decide by the mean of many outputs.",
            figures=self._pictures(mean),
        )

    def _pictures(self, mean: float) -> tuple[Figure, ...]:
        """The estimate, and the ratings of the texts that it rests on; none without any."""
        explanation = self.explanation
        if explanation.reason:
            return ()
        ends = (explanation.low, explanation.high)
        lines = [Line(name="this text", value=explanation.estimate, interval=ends)]
        for neighbor in explanation.neighbors[:MOST_DRAWN]:
            name = clipped(neighbor.id, NAME)
            rating = neighbor.rating
            lines.append(Line(name=name, value=rating, interval=UNDEFINED, style="c1"))
        caption = (
            "Line: where people's mean rating lies, with 95 % confidence. Below: rated texts that "
            "it rests on most. Dashed: the average rated text."
        )
        marks = [Mark(value=mean, style="c3")]
        return (row_chart(lines, "rating", "This text", caption, marks=marks),)

    def _shown(self, room: int | None = None) -> Document:
        """With room for so many characters of each rated text."""
        explanation = self.explanation
        signed = self.signature.name == "gp"
        return Document(
            title=f"One text explained by {estimator_name(self.signature)}",
            cards=(self.card(),),
            sections=(
                Section(title="The text", lines=(clipped(self.text, 200),)),
                *_added(explanation, self.scale, self.estimator.rated.human),
                *_evidence(explanation, self.most, room, signed=signed),
            ),
        )

    def _whole(self) -> Document:
        return self._shown(ROOM)

    def _json(self) -> Record:
        explanation = self.explanation
        interval = (explanation.low, explanation.high)
        return self._record(explanation, interval=interval)

    def _rows(self) -> Rows:
        return [
            {
                **asdict(neighbor),
                "shared": " | ".join(neighbor.shared),
                "text": neighbor.text,
            }
            for neighbor in self.explanation.neighbors
        ]
