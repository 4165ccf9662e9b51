"""May a judge decide alone? A card a judge from what `judge` says."""

from functools import partial

from refless.commands.judge.card import QUESTION
from refless.commands.judge.result import JudgeResult
from refless.commands.judge.run import judge
from refless.commands.look.asked import Asked, answered
from refless.report.document import Card


def may_judges_decide(asked: Asked) -> list[Card]:
    """A card for each column of scores; none without ratings to hold them against."""
    if asked.read.pool is None or asked.of_choices:
        return []
    return [
        answered(name, QUESTION.format(name), partial(_card, asked, name))
        for name in asked.seen.scores
    ]


def _card(asked: Asked, name: str) -> Card:
    result: JudgeResult = asked.ask(judge, score_column=name)
    (card,) = result.cards()
    if card.command:
        return card
    return asked.leading_on(card, judge, JudgeResult, score_column=name)
