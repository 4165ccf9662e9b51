"""Which system people preferred: `refless compare` on choices of people."""

import math
from dataclasses import dataclass
from typing import Literal

from refless.evaluation.wins import Wins
from refless.registry.plural import counted
from refless.report.charts import Line, charted
from refless.report.document import Document, Section, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord, Result
from refless.report.wording import p_value, with_interval

NAME = 32  # columns of a terminal


@dataclass(frozen=True, kw_only=True)
class WinsRecord(Record):
    """How often one system is preferred to another, ties half.

    Attributes:
        of: the kind of ratings.
        choices, groups: how many; groups are sources, or what shared texts connect.
    """

    command: Literal["compare"] = "compare"
    of: Literal["pairs"] = "pairs"
    signature: Signed
    choices: Count
    groups: Count
    wins: tuple[Wins, ...]
    gate: GateRecord


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WinsResult(Result):
    """How often one system is preferred to another, ties half.

    Attributes:
        wins: of every two systems that people chose between.
        choices, groups: how many.
        gate: what became of the gate.
    """

    record = WinsRecord
    wins: tuple[Wins, ...]
    choices: int
    groups: int

    def _shown(self) -> Document:
        choices, sources = counted(self.choices, "choice"), counted(self.groups, "source")
        return Document(
            title="Which system people preferred",
            verdict=" ".join(map(verdict, self.wins[:3])),
            notes=(
                f"{choices} by people on {sources}, which are drawn as a whole. Ties count half.",
            ),
            sections=(self._table(), caveats()),
        )

    def _table(self) -> Section:
        entries = []
        for wins in self.wins:
            name, result = f"{wins.second} over {wins.first}", wins.by_item
            cells = f"{result.choices:,}", f"{wins.ties:,}", p_value(wins.p_holm)
            entries.append((Line(name=name, value=result.rate, interval=result.interval), cells))
        return charted(
            "Win rates",
            ("", "win rate [95 %]", "choices", "ties", "p (Holm)"),
            entries,
            "Win rates with 95 % intervals; 0.5 is no preference.",
            axis="win rate, ties half",
            label="Win rates",
            width=NAME,
        )

    def _rows(self) -> Rows:
        """One mapping a pair of systems."""
        return [
            {
                "first": win.first,
                "second": win.second,
                "win_rate": win.by_item.rate,
                "low": win.by_item.interval[0],
                "high": win.by_item.interval[1],
                "p_holm": win.p_holm,
                "choices": win.by_item.choices,
                "ties": win.ties,
            }
            for win in self.wins
        ]


def verdict(wins: Wins) -> str:
    """Which of two systems people prefer, in a sentence."""
    first, second, result = wins.first, wins.second, wins.by_item
    rate = with_interval(result.rate, result.interval)
    if math.isnan(result.interval[0]):
        return f"{second} wins {rate} of its choices over {first}; one source has no interval."
    if not wins.shown:
        return f"No preference between {first} and {second} is shown: {second} wins {rate}."
    if result.rate > 0.5:
        return f"People prefer {second} to {first}: {second} wins {rate}."
    return f"People prefer {first} to {second}: {second} wins only {rate}."
