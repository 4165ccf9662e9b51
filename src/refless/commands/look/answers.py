"""The questions that a file answers, a card each, from what other commands say."""

from dataclasses import replace
from functools import partial

from refless.commands.calls import words_of
from refless.commands.compare.result import CompareResult
from refless.commands.compare.run import compare
from refless.commands.compare.scores import ScoresResult
from refless.commands.compare.wins_result import WinsResult
from refless.commands.judge.card import QUESTION
from refless.commands.judge.raters import RatersResult
from refless.commands.judge.raters_card import QUESTION as DO_RATERS_AGREE
from refless.commands.judge.raters_card import TOPIC as RATERS
from refless.commands.judge.result import JudgeResult
from refless.commands.judge.run import judge
from refless.commands.look.asked import Asked, answered, refused
from refless.commands.validate.card import QUESTION as DO_ESTIMATES_HELP
from refless.commands.validate.result import ValidateResult
from refless.commands.validate.run import validate
from refless.data.tables.columns import naming
from refless.data.tables.spellings import folded
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.report.document import Card
from refless.report.wording import one_rating

VERSIONS = "versions"
ONE = "Is one version better than another?"
EITHER = ("score", "scores", "quality")  # names of a judge's or people's
NO_RATING = "no column is known to be people's rating"


def which_is_better(asked: Asked) -> list[Card]:
    """The card on versions; none where it waits for columns that a guess names."""
    unclear = {"system", "rating"} & {*asked.seen.proposed} or asked.seen.ratings
    if unclear or len(asked.seen.beside) > 1:
        return []
    if asked.read.pool is None and not asked.seen.scores:
        remedy = f"name it with {naming('rating')}; if nobody has rated yet, "
        remedy += f"'refless rate {asked.file}' asks people."
        return [refused(VERSIONS, ONE, InputError(NO_RATING, remedy=remedy))]
    systems = sorted({*asked.read.texts.systems})
    if len(systems) < 2 and not asked.of_choices:
        why = "nothing says which version wrote a text"
        if systems:
            why = f"there is one version, {systems[0]}"
        remedy = f"name the column that says it with {naming('system')}."
        line = ""
        if not systems and len(words_of(asked.rows)) > 1:
            remedy = f"{remedy} If each file holds one version:"
            line = asked.line(compare, CompareResult, **_scores(asked))
        fault = InputError(why, remedy=remedy)
        return [replace(refused(VERSIONS, ONE, fault), command=line)]
    return [answered(VERSIONS, ONE, lambda: _card_of_versions(asked))]


def _card_of_versions(asked: Asked) -> Card:
    scores = _scores(asked)
    result: CompareResult | WinsResult | ScoresResult = asked.ask(compare, **scores)
    if isinstance(result, ScoresResult):
        cards = result.cards()
        first = next((card for card in cards if card.state != "open"), cards[0])
        named = [name for name in asked.seen.scores if folded(name) in EITHER]
        if not named:
            return first
        people = called("columns", {"rating": named[0]})
        return replace(
            first, advice=f"if people rated, say {people}; else {first.advice}"
        )
    card: Card = result.card()
    if isinstance(result, CompareResult) and (card.state == "open" or card.command):
        return card
    return asked.leading_on(card, compare, type(result), **scores)


def _scores(asked: Asked) -> dict[str, object]:
    """The scores, which stand for ratings if nobody rated, and else stand beside them.

    So the answer is that of the line on the judge's card, and picked ratings are found out.
    """
    if asked.seen.scores and not asked.of_choices:
        return {"score_column": asked.seen.scores}
    return {}


def may_judges_decide(asked: Asked) -> list[Card]:
    """A card for each column of scores; none without ratings to hold them against."""
    if asked.read.pool is None or asked.of_choices:
        return []
    return [
        answered(name, QUESTION.format(name), partial(_card_of_judge, asked, name))
        for name in asked.seen.scores
    ]


def _card_of_judge(asked: Asked, name: str) -> Card:
    result: JudgeResult = asked.ask(judge, score_column=name)
    (card,) = result.cards()
    if card.command:
        return card
    return asked.leading_on(card, judge, JudgeResult, score_column=name)


def do_estimates_help(asked: Asked) -> tuple[list[Card], ValidateResult | None]:
    """The card on estimates, and the held-out estimates; none without rated texts."""
    pool = asked.read.pool
    if pool is None or asked.of_choices or not any(pool.texts):
        return [], None
    try:
        result = asked.ask(validate)
    except (InputError, UsageError) as fault:
        return [refused("estimates", DO_ESTIMATES_HELP, fault)], None
    return [asked.leading_on(result.card(), validate, ValidateResult)], result


def do_raters_agree(asked: Asked) -> list[Card]:
    """The card on raters; none without ratings."""
    pool = asked.read.pool
    if pool is None or asked.of_choices:
        return []
    if not pool.has_several_ratings:
        alone = f"nobody knows: {one_rating(pool.ratings.annotators)}"
        remedy = "have a second person rate some of them; 'refless rate' asks both."
        return [refused(RATERS, DO_RATERS_AGREE, InputError(alone, remedy=remedy))]
    return [answered(RATERS, DO_RATERS_AGREE, partial(_card_of_raters, asked))]


def _card_of_raters(asked: Asked) -> Card:
    result: RatersResult = asked.ask(judge)
    return asked.leading_on(result.card(), judge, RatersResult)
