"""The result of `refless compare` on choices of people: the system that they preferred."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from refless.commands.compare.board import Board
from refless.commands.compare.claims import Claim, claim_of_wins
from refless.commands.compare.document import (
    FEW_RATERS,
    MOST_NAMED,
    MOST_PAIRS,
    clearest,
    part_of,
    rank_range,
)
from refless.commands.compare.wins import Wins
from refless.commands.compare.wins_card import card_of_several, card_of_two
from refless.commands.populations import Looks, holding, wider
from refless.registry.plural import counted
from refless.report.charts import Line, Mark, charted
from refless.report.document import Card, Document, Section, folded
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import p_value, percent, with_interval

NAME = 32  # columns of a terminal


@dataclass(frozen=True, kw_only=True)
class WinsRecord(Record):
    """Win rates of systems over each other, ties half.

    Attributes:
        of: the kind of ratings.
        choices: between the systems compared; groups: sources, or what shared texts connect, that
            these are of.
        board: of more than two systems, or with controls; null if votes do not connect them.
        shares: of two systems, the share of the choices on each source that the second one won.
    """

    command: Literal["compare"] = "compare"
    of: Literal["pairs"] = "pairs"
    signature: Signed
    choices: Count
    groups: Count
    board: Board | None
    wins: tuple[Wins, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WinsResult(Result):
    """Win rates of systems over each other, ties half.

    Attributes:
        wins: of every two systems that people chose between.
        choices, groups, board, shares: as in `WinsRecord`; raters: choices by rater.
        looks: at which the answer holds, one or any.
        alike: share of two people's choices on one pair that are alike, and what luck gives; None
            if nobody chose what another did.
    """

    record = WinsRecord
    wins: tuple[Wins, ...]
    choices: int
    groups: int
    board: Board | None = None
    shares: tuple[float, ...] = ()
    looks: Looks = "one"
    alike: tuple[float, float] | None = None
    raters: Mapping[str, int] = field(default_factory=dict)

    def claim(self, goal: str = "") -> Claim:
        """The claim of these choices, for the goal that ends their study."""
        return claim_of_wins(self.wins, goal, lead(self.wins), self.raters)

    def card(self) -> Card:
        """The answer with its picture."""
        rests = (
            f"Rests on {counted(self.choices, 'choice')} by people on {self._sources}."
        )
        if self.alike is not None:
            alike, luck = map(percent, self.alike)
            rests += f" Two people choose alike in {alike}; luck gives {luck}."
        rests = f"{rests} {wider(self.looks)}".rstrip()
        if len(self.wins) == 1 and self.board is None:
            return card_of_two(self.wins[0], self.shares, rests)
        return card_of_several(
            self.wins, self.board, self._sections()[0].figures, rests
        )

    @property
    def _sources(self) -> str:
        return counted(self.groups, "source")

    def _sections(self) -> tuple[Section, ...]:
        return (*board_sections(self.board), self._table())

    def _shown(self) -> Document:
        card = self.card()
        drawn = f"{self._sources} are drawn as a whole. Ties count half."
        note = f"{drawn} The answer holds {holding(self.looks)}."
        return Document(
            title=card.topic,
            cards=(card,),
            notes=(note,),
            sections=folded(self._sections()),
        )

    def _table(self) -> Section:
        ranked = clearest_first(self.wins)
        entries = []
        for wins in ranked[:MOST_PAIRS]:
            name = f"{wins.second} over {wins.first}"
            result = wins.by_item
            line = Line(name=name, value=result.rate, interval=result.interval)
            cells = (f"{result.choices:,}", f"{wins.ties:,}", p_value(wins.p_holm))
            entries.append((line, cells))
        return charted(
            "Win rates",
            ("", "win rate [95 %]", "choices", "ties", "p (Holm)"),
            entries,
            "Win rates with 95 % intervals; 0.5 is no preference.",
            axis="win rate, ties half",
            label="Win rates",
            lines=part_of(len(entries), len(ranked)),
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


def board_sections(board: Board | None) -> tuple[Section, ...]:
    """The board as a table, if there is one."""
    if board is None:
        return ()
    entries = []
    for row in board.rows:
        line = Line(name=row.name, value=row.win_rate, interval=row.interval)
        ahead = str(len(row.ahead_of))
        entries.append((line, (rank_range(row.ranks), ahead, f"{row.votes:,}")))
    clusters = " and ".join(f"{name}s" for name in board.clusters)
    meaning = (
        "By Bradley and Terry's model: how often each wins against a system of average strength. "
        f"Intervals are over whole {clusters} and hold for all systems together. Ranks and 'ahead "
        "of' are by Holm's method for all pairs."
    )
    lines = [meaning]
    lines += [
        f"If all else is equal, a text with one standard deviation more of '{control.name}' wins "
        f"{with_interval(control.win_rate, control.interval)} of its votes."
        for control in board.controls
    ]
    if board.made_up:
        lines.append(
            "A system won or lost all its votes, so each side of a pair gets half a win."
        )
    if board.voters:
        lines.append(FEW_RATERS.format(counted(board.voters, "voter")))
    section = charted(
        "Board",
        ("system", "wins [95 %]", "rank", "ahead of", "votes"),
        entries,
        "Expected win rates against a system of average strength, with 95 % intervals.",
        axis="win rate against an average system",
        label="The board",
        marks=[Mark(value=0.5, style="c3")],
        lines=tuple(lines),
        width=NAME,
    )
    return (section,)


def clearest_first(wins: Sequence[Wins]) -> list[Wins]:
    """The pairs from the smallest p-value on; of equal ones the rate that is farthest from half."""
    places = clearest((pair.p_holm, pair.by_item.rate - 0.5) for pair in wins)
    return [wins[place] for place in places]


def lead(wins: Sequence[Wins]) -> str:
    """The pairs of systems between which a preference is shown, the clearest first."""
    if len(wins) == 1:
        return verdict(wins[0])
    preferences = [pair for pair in clearest_first(wins) if pair.shown]
    if not preferences:
        return f"No preference is shown in any of {len(wins)} pairs of systems."
    named = " ".join(map(verdict, preferences[:MOST_NAMED]))
    return f"A preference is shown in {len(preferences)} of {len(wins)} pairs (Holm). {named}"


def verdict(wins: Wins) -> str:
    """The system of two that people prefer, in a sentence."""
    first = wins.first
    second = wins.second
    result = wins.by_item
    choices = counted(result.choices, "choice")
    rate = f"{with_interval(result.rate, result.interval)} of {choices}"
    if math.isnan(result.interval[0]):
        return (
            f"{second} wins {rate} between it and {first}; one source has no interval."
        )
    if not wins.shown:
        return f"No preference between {first} and {second} is shown: {second} wins {rate}."
    if result.rate > 0.5:
        return f"People prefer {second} to {first}: {second} wins {rate}."
    return f"People prefer {first} to {second}: {second} wins only {rate}."
