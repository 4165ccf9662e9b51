"""One estimate and its evidence: the result of `refless explain`."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from refless.data.records import Neighbor, Reason, Scale
from refless.estimators import Estimator, Explanation
from refless.estimators.explanation import Part
from refless.estimators.folds import FEWEST
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import (
    REASONS,
    clipped,
    estimator_name,
    number,
    numbers,
    with_interval,
)
from refless.stats.intervals import Interval

LITTLE = 0.005  # of the scale: what adds less is shown together
ROOM = 200  # characters of a rated text on a page


def _count(found: Explanation, *, signed: bool) -> tuple[str, ...]:
    """The number of rated texts it rests on, or that all have a share if there are any shares."""
    texts = counted(found.size, "rated text")
    if signed:
        return (
            (f"Each of {texts} has a share; all shares sum to 1.",)
            if found.neighbors
            else ()
        )
    return (
        f"{found.support} of {texts} {'is' if found.support == 1 else 'are'} similar enough.",
    )


def _why(found: Explanation, *, signed: bool) -> str:
    """The reason why there is no estimate."""
    if signed and found.reason == "too-few":
        return f"a model needs {FEWEST} rated texts, and here are {found.size}"
    return REASONS.get(found.reason, "")


def _evidence(
    found: Explanation, most: int, room: int | None, *, signed: bool
) -> tuple[Section, ...]:
    """The rated texts behind the estimate; with shares where these have a sign."""
    room = room or (34 if signed else 42)
    ratings = numbers([n.rating for n in found.neighbors[:most]])
    rows = tuple(
        (
            *((f"{n.share:+.3f}",) if signed else ()),
            number(n.similarity),
            rating,
            clipped(n.id, 10),
            f"{clipped(n.text, room)}\n{clipped('shares ' + ', '.join(map(repr, n.shared)), room)}",
        )
        for n, rating in zip(found.neighbors, ratings, strict=False)
    )
    if not rows:
        return ()
    table = Table(
        header=(
            *(("share",) if signed else ()),
            *("similarity", "rating", "id", "rated text, and what both hold"),
        ),
        rows=rows,
        numeric=(*((True,) if signed else ()), True, True, False, False),
    )
    order = "largest share first" if signed else "most similar first"
    more = found.support - len(rows)
    remainder = (
        (Section(lines=(f"{more} more: raise {called('most')}.",)),) if more > 0 else ()
    )
    return (Section(title=f"Evidence, {order}", table=table), *remainder)


def _added(
    found: Explanation, scale: Scale | None, ratings: FloatArray
) -> tuple[Section, ...]:
    """The parts that add up to the estimate, in the raters' units; small ones together."""
    if not found.parts:
        return ()
    low, high = scale or (-math.inf, math.inf)
    little = LITTLE * (high - low if scale else float(np.ptp(ratings)))
    shown = [part for part in found.parts if abs(part.addition) >= little]
    remainder = math.fsum(
        part.addition for part in found.parts if abs(part.addition) < little
    )
    shown += [Part("other", remainder)] if len(shown) < len(found.parts) else []
    total = math.fsum([found.mean, *(part.addition for part in shown)])
    average = f"Rated texts have {number(found.mean, among=[total])} on average"
    if not any(part.addition and abs(part.addition) >= little for part in shown):
        line = f"{average}, and nothing sets this one apart."
        return (Section(title="What adds up to it", lines=(line,)),)
    words = [
        f"{clipped(part.name, 40)} {_signed(part.addition, [found.mean, total])}"
        for part in shown
    ]
    line = f"{average}. Here: {', '.join(words)}; together {number(total, among=[found.mean])}"
    cut = "" if low <= total <= high else ", cut to the scale"
    return (Section(title="What adds up to it", lines=(f"{line}{cut}.",)),)


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

    def _shown(self, room: int | None = None) -> Document:
        """With room for so many characters of each rated text."""
        found = self.explanation
        signed = self.signature.name == "gp"
        ends = found.low, found.high
        on = (
            ""
            if self.scale is None
            else " on a scale of {:g} to {:g}".format(*self.scale)
        )
        value = f"Estimate {with_interval(found.estimate, ends)}{on}."
        if found.reason:
            value = f"No estimate ({found.reason}): {_why(found, signed=signed)}."
        return Document(
            title=f"One text explained by {estimator_name(self.signature)}",
            verdict=value,
            notes=(f'"{clipped(self.text, 200)}"', *_count(found, signed=signed)),
            sections=(
                *_added(found, self.scale, self.estimator.rated.human),
                *_evidence(found, self.most, room, signed=signed),
            ),
        )

    def _whole(self) -> Document:
        return self._shown(ROOM)

    def _json(self) -> Record:
        found = self.explanation
        return self._record(found, interval=(found.low, found.high))

    def _rows(self) -> Rows:
        return [
            {
                **asdict(neighbor),
                "shared": " | ".join(neighbor.shared),
                "text": neighbor.text,
            }
            for neighbor in self.explanation.neighbors
        ]
