"""Which system people preferred: `refless compare` on choices of people."""

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
MOST = 12  # raters shown


@dataclass(frozen=True, kw_only=True)
class WinsRecord(Record):
    """How often one system is preferred to another, ties half.

    Attributes:
        of: what was read.
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
        said = counted(self.choices, "choice"), counted(self.groups, "source")
        return Document(
            title="Which system people preferred",
            verdict=" ".join(map(verdict, self.wins[:3])),
            notes=(
                f"{said[0]} by people on {said[1]}, which are drawn as a whole. Ties count half.",
            ),
            sections=(self._table(), *self._raters(), caveats()),
        )

    def _table(self) -> Section:
        names = labels([f"{one.second} over {one.first}" for one in self.wins], NAME + 8)
        rows = tuple(
            (
                names[f"{one.second} over {one.first}"],
                with_interval(one.by_item.rate, one.by_item.interval),
                f"{one.by_item.choices:,}",
                f"{one.ties:,}",
                p_value(one.p_holm),
            )
            for one in self.wins
        )
        header = ("", "win rate [95 %]", "choices", "ties", "p (Holm)")
        table = Table(header=header, rows=rows)
        drawn = [
            Line(
                name=f"{one.second} over {one.first}",
                value=one.by_item.rate,
                interval=one.by_item.interval,
            )
            for one in self.wins
        ]
        chart = row_chart(drawn, "win rate, ties half", "Win rates")
        caption = "Win rates with 95 % intervals; 0.5 is no preference."
        figure = Figure(svg=chart, caption=caption, table=table)
        return Section(title="Win rates", figures=(figure,), table=table)

    def _raters(self) -> tuple[Section, ...]:
        """Rater by rater, of two systems."""
        if len(self.wins) != 1:
            several = any(len(one.raters) > 1 for one in self.wins)
            more = "Rater by rater in --format json, or here with two --system."
            return (Section(lines=(more,)),) if several else ()
        return (_raters(self.wins[0]),) if len(self.wins[0].raters) > 1 else ()

    def _rows(self) -> Rows:
        """One mapping a pair of systems."""
        return [
            {
                "first": one.first,
                "second": one.second,
                "win_rate": one.by_item.rate,
                "low": one.by_item.interval[0],
                "high": one.by_item.interval[1],
                "p_holm": one.p_holm,
                "choices": one.by_item.choices,
                "ties": one.ties,
            }
            for one in self.wins
        ]


def verdict(one: Wins) -> str:
    """Which of two systems people prefer, in a sentence."""
    rate = with_interval(one.by_item.rate, one.by_item.interval)
    if one.by_item.interval[0] != one.by_item.interval[0]:
        return (
            f"{one.second} wins {rate} of its choices over {one.first}; one source has no interval."
        )
    if not one.shown:
        both = f"{one.first} and {one.second}"
        return f"No preference between {both} is shown: {one.second} wins {rate}."
    better, worse = (one.second, one.first) if one.by_item.rate > 0.5 else (one.first, one.second)
    wins = "wins" if better == one.second else "wins only"
    return f"People prefer {better} to {worse}: {one.second} {wins} {rate}."


def _raters(one: Wins) -> Section:
    """The win rates by each rater's choices."""
    names = sorted(one.raters, key=lambda name: -one.raters[name].choices)
    shown = labels(names[:MOST], NAME)
    rows = tuple(
        (shown[name], with_interval(found.rate, found.interval), f"{found.choices:,}")
        for name in names[:MOST]
        for found in [one.raters[name]]
    )
    by = one.by_rater
    lines = [] if by is None else [_over(by)]
    if len(names) > MOST:
        lines.append(f"{counted(len(names) - MOST, 'more rater')} in --format json.")
    title = f"{one.second} over {one.first}, rater by rater"
    table = Table(header=("rater", "win rate [95 %]", "choices"), rows=rows)
    return Section(title=title, table=table, lines=tuple(lines))


def _over(by: Rate) -> str:
    ends = " to ".join(number(end) for end in by.interval)
    return (
        f"Were other raters of this kind asked, the 95 % interval is {ends} "
        f"({by.clusters} raters, drawn as a whole)."
    )


def win_gate(rate: Wins, margin: float) -> GateRecord:
    """Whether the second system is preferred less often than half the time, less the margin."""
    low, high = rate.by_item.interval
    least = 0.5 - margin
    ends = f"the interval of its win rate, {low:.3f} to {high:.3f},"
    if high < least:
        return GateRecord("failed", f"gate failed: {rate.second} is worse: {ends} ends below it")
    if not low >= least:
        return GateRecord("undecided", f"gate undecided: {ends} does not tell if it is {least:g}")
    return GateRecord("passed", f"gate passed: {rate.second} is not worse: {ends} says so")
