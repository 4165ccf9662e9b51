"""The answer of `compare` on people's choices as a card."""

import math
from collections.abc import Sequence
from dataclasses import replace

from refless.commands.compare.board import Board
from refless.commands.compare.card import EQUAL, MOST_NAMED, NAME, OTHERS
from refless.commands.compare.document import is_older
from refless.commands.compare.wins import EVEN, Wins
from refless.evaluation.further import DECIDED, NOTHING_MORE, UNKNOWN
from refless.evaluation.further_items import further_choices
from refless.registry.plural import counted, first_of
from refless.report.document import OPEN, Card, Figure, State
from refless.report.pictures import preference_picture
from refless.report.wording import labels, percent

MORE = "have more choices made, on other sources."


def card_of_two(wins: Wins, shares: Sequence[float], rests: str) -> Card:
    """The card on two versions that people chose between.

    Args:
        wins: of the second over the first.
        shares: of the choices on each source that the second won.
        rests: what the answer rests on.
    """
    if is_older(wins.second, wins.first):
        wins = swapped(wins)
        shares = [1 - share for share in shares]
    names = labels([wins.first, wins.second], NAME)
    second = names[wins.second]
    rate = wins.by_item.rate
    state: State = "open"
    label = OPEN
    better = None
    unfit = EQUAL
    further = NOTHING_MORE
    if not wins.shown:
        by_item = wins.by_item
        further = further_choices(by_item.answer, by_item.clusters, EVEN, EVEN)
    elif rate > EVEN:
        state = "yes"
        label = "Yes"
        better = second
    else:
        state = "no"
        better = names[wins.first]
        label = f"No, {better} is"
    if wins.shown:
        lost = min(rate, 1 - rate) - wins.ties / wins.by_item.choices / 2
        unfit = f"single choices: {percent(lost)} go the other way."
    picture = preference_picture(
        (wins.first, wins.second),
        rate,
        wins.by_item.interval,
        shares,
        state=state,
        unit="source",
    )
    return Card(
        topic=f"{second} against {names[wins.first]}",
        question=f"Is {second} preferred to {names[wins.first]}?",
        state=state,
        label=label,
        answer=_answer(wins, second),
        rests=rests,
        further=further.said,
        unfit=unfit,
        advice=MORE if better is None else f"take {better}.",
        figures=(picture,),
    )


def swapped(wins: Wins) -> Wins:
    """The same with the other system first."""
    rate = wins.by_item
    low, high = rate.interval
    turned = replace(
        rate, rate=1 - rate.rate, interval=(1 - high, 1 - low), centre=1 - rate.centre
    )
    return replace(wins, first=wins.second, second=wins.first, by_item=turned)


def _answer(wins: Wins, second: str) -> str:
    """The share of choices that the second system wins."""
    low, high = wins.by_item.interval
    rate = wins.by_item.rate
    won = f"{second} wins {percent(rate)} of the choices"
    if wins.ties:
        ties = wins.ties / wins.by_item.choices
        lost = f"ties {percent(ties)}, loses {percent(1 - rate - ties / 2)}"
        outcomes = f"{second} wins {percent(rate - ties / 2)}, {lost}"
        won = f"{outcomes}: {percent(rate)} with ties as half"
    if math.isnan(low):
        return f"Not known: {won}, but one source has no interval."
    if wins.shown:
        return f"{won} ({percent(low)} to {percent(high)})."
    between = f"between {percent(low)} and {percent(high)}"
    return f"{won}, but anything {between} is possible."


def card_of_several(
    wins: Sequence[Wins], board: Board | None, figures: Sequence[Figure], rests: str
) -> Card:
    """The card on the most preferred of several versions.

    Args:
        wins: of every two; board: of all, None if votes do not connect them.
        figures: that show them; rests: what the answer rests on.
    """
    systems = {wins.first for wins in wins} | {wins.second for wins in wins}
    shown = sum(pair.shown for pair in wins)
    pairs = counted(len(wins), "pair")
    state: State = "open"
    label = OPEN
    advice = MORE
    answer = f"Not known: votes do not connect all of them; {shown} of {pairs} differ."
    if board is not None:
        answer = _leader(board)
    if board is not None and board.rows[1].ranks[0] > 1:
        state = "yes"
        label = f"Yes, {board.rows[0].name}"
        advice = f"take {board.rows[0].name}."
    held = ""
    if board is not None and board.controls:
        names = " and ".join(control.name for control in board.controls)
        held = f" Held equal: {names}."
    return Card(
        topic=counted(len(systems), "version"),
        question="Is one version preferred to all others?",
        state=state,
        label=label,
        answer=answer,
        rests=f"{rests} A preference is shown in {shown} of {pairs} (Holm).{held}",
        further=DECIDED if state == "yes" else UNKNOWN,
        unfit=OTHERS if state == "yes" else EQUAL,
        advice=advice,
        figures=(*figures,),
    )


def _leader(board: Board) -> str:
    """The version with the highest win rate, and those that may be as good."""
    rows = board.rows
    names = labels([row.name for row in rows], NAME)
    first = f"{names[rows[0].name]} wins most"
    level = [names[row.name] for row in rows[1:] if row.ranks[0] == 1]
    if not level:
        return f"{first}, and is preferred to every other version."
    return f"{first}, but {first_of(level, MOST_NAMED)} may be as good."
