"""Is one version better than another? A card from what `compare` says."""

from dataclasses import replace

from refless.commands.calls import words_of
from refless.commands.compare.result import CompareResult
from refless.commands.compare.run import compare
from refless.commands.compare.scores import ScoresResult
from refless.commands.compare.wins_result import WinsResult
from refless.commands.look.asked import Asked, answered, refused
from refless.data.tables.columns import naming
from refless.data.tables.spellings import folded
from refless.registry.dialect import called
from refless.registry.errors import InputError
from refless.report.document import Card

TOPIC = "versions"
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
        return [refused(TOPIC, ONE, InputError(NO_RATING, remedy=remedy))]
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
        return [replace(refused(TOPIC, ONE, fault), command=line)]
    return [answered(TOPIC, ONE, lambda: _card(asked))]


def _card(asked: Asked) -> Card:
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
