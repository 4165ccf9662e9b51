"""The answer of `compare` on scores alone as a card."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from refless.commands.compare.card import card_of_several, card_of_two
from refless.evaluation.comparing import Comparison, Pair
from refless.evaluation.entries import Field
from refless.evaluation.further import DECIDED
from refless.evaluation.scales import are_verdicts
from refless.registry.plural import counted
from refless.report.document import Card, Figure
from refless.report.units import RatingUnits

State = Literal["different", "alike", "undecided"]
ADVICE = "have some of these outputs rated: 'refless judge' then tells if people agree."
ASK = "ask first whether ratings that lie unread agree with these scores, if people gave them"

UNFIT = "a claim about quality: these scores are no ratings by people."


def card_of(
    name: str,
    comparison: Comparison,
    field: Field,
    margin: float,
    figures: Sequence[Figure],
    command: str,
) -> Card:
    """The card on versions by the scores in one column, which are not people's.

    Args:
        name: of the column; comparison: of the versions by it; field: their outputs.
        margin: a difference up to which they count as alike.
        figures: that show several versions.
        command: the line that chooses what to have rated.
    """
    scores = field.human[field.human == field.human]
    units = RatingUnits(are_verdicts(scores))
    (pair, *others) = comparison.pairs
    rests = (
        f"Rests on {counted(len(scores), 'score')} in '{name}', not people's ratings"
    )
    if pair.paired and not others:
        items = counted(pair.both_rated, "item")
        rests = f"Rests on scores in '{name}', not people's ratings, of {items} that both answered"
    if others:
        card = card_of_several(comparison, field, units, figures, command)
        question = f"Does one version have the highest {name}?"
        card = replace(card, question=question, rests=f"{rests}.")
    else:
        by = f" by {name}"
        card = card_of_two(comparison, field, units, f"{rests}.", command, by=by)
    card = replace(card, unfit=UNFIT, advice=ADVICE, command=command)
    if others or state_of(pair, margin) != "alike":
        return card
    ends = units.ends(pair.difference.interval, "to")
    return replace(
        card,
        question=f"Are they alike within {margin:g} by {name}?",
        state="yes",
        label=f"Yes, within {margin:g}",
        further=DECIDED,
        answer=f"They differ by less than {margin:g}: {ends} {units.name}.",
    )


def state_of(pair: Pair, margin: float) -> State:
    """Whether a difference is ruled out beyond the margin, or shown, or neither."""
    low, high = pair.difference.interval
    if margin > 0 and -margin <= low and high <= margin:
        return "alike"
    return "different" if pair.shown else "undecided"
