"""New texts by what pairs taught: `refless score` with preference pairs."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.data.records import Estimates, Outputs, Reason
from refless.registry.plural import counted, these
from refless.report.document import Document, Section, Table, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import REASONS, clipped, labels, number, with_interval
from refless.stats.intervals import Interval

MEANING = (
    "0.5 is as good as the average; intervals are the model's own. 'refless validate' of the pairs "
    "tells how often it is right."
)
MOST, NAME, TEXT = 20, 12, 30  # outputs shown; columns of a terminal


@dataclass(frozen=True, kw_only=True)
class ChanceRecord:
    """One output.

    Attributes:
        chance: to be preferred to an average text of those compared; null where undefined.
        interval: 95 %, of the model.
        reason: why there is none, or "".
    """

    id: str
    system: str | None
    chance: float
    interval: Interval
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class ChancesRecord(Record):
    """Outputs with their chance to be preferred to an average text of those compared.

    Attributes:
        of: what the estimates are made of.
        choices: behind them.
        mean: of the chances; systems: by system, where they are known.
    """

    command: Literal["score"] = "score"
    of: Literal["pairs"] = "pairs"
    signature: Signed
    choices: Count
    n: Count
    n_scored: Count
    mean: float
    systems: dict[str, float]
    items: tuple[ChanceRecord, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ChancesResult(Result):
    """Outputs with their chance to be preferred to an average text of those compared.

    Attributes:
        outputs: the texts; estimates: one each, in their order.
        choices: of people, behind them.
    """

    record = ChancesRecord
    outputs: Outputs
    estimates: Estimates
    choices: int

    @property
    def mean(self) -> float:
        """Of all chances."""
        return _mean(self.estimates.values.tolist())

    @property
    def systems(self) -> dict[str, float]:
        """Mean chance by system."""
        names = self.outputs.systems
        values = self.estimates.values
        return {
            name: _mean([v for v, n in zip(values.tolist(), names, strict=True) if n == name])
            for name in sorted({*names})
        }

    def _shown(self) -> Document:
        n, known = len(self.outputs), int(self.estimates.defined.sum())
        mean = f"the mean chance of {these(n, 'output')} to be preferred is {number(self.mean)}"
        without = "" if known == n else f" {counted(n - known, 'output')} without an estimate."
        return Document(
            title=f"{counted(n, 'output')} beside the texts that were compared",
            verdict=f"Against an average text of those compared, {mean}.{without}",
            notes=(f"Learned from {counted(self.choices, 'choice')} by people. {MEANING}",),
            sections=(*self._by_system(), self._by_output(), caveats()),
        )

    def _by_system(self) -> tuple[Section, ...]:
        names = labels([*self.systems], NAME * 2)
        rows = tuple((names[name], number(mean)) for name, mean in self.systems.items())
        if not rows:
            return ()
        return (Section(title="Systems", table=Table(header=("", "mean chance"), rows=rows)),)

    def _by_output(self) -> Section:
        order = np.argsort(-np.nan_to_num(self.estimates.values, nan=-1.0), kind="stable")
        found, texts = self.estimates, self.outputs.texts
        names = labels([found.ids[i] for i in order[:MOST]], NAME)
        rows = tuple(
            (
                names[found.ids[i]],
                with_interval(found.values[i], (found.low[i], found.high[i])),
                clipped(texts[i], TEXT),
            )
            for i in order[:MOST].tolist()
        )
        why = sorted({REASONS[reason] for reason in found.reasons if reason})
        lines = tuple(f"No estimate where {reason}." for reason in why)
        if len(order) > MOST:
            lines += (f"The best {MOST}; all are in --format jsonl.",)
        table = Table(
            header=("id", "chance [95 %]", "text"), rows=rows, numeric=(False, True, False)
        )
        return Section(title="Outputs", table=table, lines=lines)

    def _json(self) -> Record:
        names = self.outputs.systems or (None,) * len(self.outputs)
        found = self.estimates
        columns = found.ids, names, found.values, found.low, found.high, found.reasons
        items = tuple(
            ChanceRecord(
                id=one, system=name, chance=float(v), interval=(float(a), float(b)), reason=why
            )
            for one, name, v, a, b, why in zip(*columns, strict=True)
        )
        return self._record(n=len(found), n_scored=int(found.defined.sum()), items=items)

    def _rows(self) -> Rows:
        """One mapping an output."""
        found, outputs = self.estimates, self.outputs
        return [
            {
                "id": found.ids[i],
                **({"system": outputs.systems[i]} if outputs.systems else {}),
                "chance": float(found.values[i]),
                "low": float(found.low[i]),
                "high": float(found.high[i]),
                "sd": float(found.sd[i]),
                "reason": found.reasons[i],
                "text": outputs.texts[i],
            }
            for i in range(len(found))
        ]


def _mean(values: list[float]) -> float:
    known = sorted(value for value in values if value == value)
    return math.fsum(known) / len(known) if known else math.nan
