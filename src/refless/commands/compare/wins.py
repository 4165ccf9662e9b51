"""Which system people preferred: `refless compare` on choices of people."""

import math
from dataclasses import dataclass
from typing import Literal

from refless.evaluation.wins import Rate, Wins
from refless.registry.plural import counted
from refless.report.charts import Line, row_chart
from refless.report.document import Document, Figure, Section, Table, caveats
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord, Result
from refless.report.wording import labels, number, p_value, with_interval

NAME = 24  # columns of a terminal


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
        rows, lines = [], []
        names = [f"{wins.second} over {wins.first}" for wins in self.wins]
        label = labels(names, NAME + 8)
        for name, wins in zip(names, self.wins, strict=True):
            value, ends = wins.by_item.rate, wins.by_item.interval
            counts = f"{wins.by_item.choices:,}", f"{wins.ties:,}"
            rows.append((label[name], with_interval(value, ends), *counts, p_value(wins.p_holm)))
            lines.append(Line(name=name, value=value, interval=ends))
        header = ("", "win rate [95 %]", "choices", "ties", "p (Holm)")
        table = Table(header=header, rows=tuple(rows))
        chart = row_chart(lines, "win rate, ties half", "Win rates")
        caption = "Win rates with 95 % intervals; 0.5 is no preference."
        figure = Figure(svg=chart, caption=caption, table=table)
        by = self.wins[0].by_rater if len(self.wins) == 1 else None
        over = () if by is None else (_over(by),)
        return Section(title="Win rates", figures=(figure,), table=table, lines=over)

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


def _over(by: Rate) -> str:
    ends = " to ".join(number(end) for end in by.interval)
    return (
        f"Were other raters of this kind asked, the 95 % interval is {ends} "
        f"({by.clusters} raters, drawn as a whole)."
    )
