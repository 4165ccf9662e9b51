"""Is one version better than another? A card from what `compare` says."""

from dataclasses import replace
from itertools import chain

from refless.commands.compare.result import CompareResult
from refless.commands.compare.run import compare
from refless.commands.compare.scores import ScoresResult
from refless.commands.compare.wins_result import WinsResult
from refless.commands.look.asked import OPEN, Asked, answered, refused
from refless.data.tables.columns import naming
from refless.evaluation.comparing import SURE
from refless.registry.errors import InputError
from refless.report.document import Card, Figure, State
from refless.report.result import Result

TOPIC = "versions"
ONE = "Is one version better than another?"


def which_is_better(asked: Asked) -> list[Card]:
    """The card on versions; none if the rows are of one version."""
    systems = sorted({*asked.read.texts.systems})
    if len(systems) < 2 and not asked.of_choices:
        why = "nothing says which version wrote a text"
        if systems:
            why = f"there is one version, {systems[0]}"
        remedy = f"name the column that says it with {naming('system')}."
        return [refused(TOPIC, ONE, InputError(why, remedy=remedy))]
    return [answered(TOPIC, ONE, lambda: _card(asked))]


def _card(asked: Asked) -> Card:
    result = asked.ask(compare, **_scores_alone(asked))
    if not isinstance(result, CompareResult):
        return _in_its_words(result)
    card = result.card()
    if card.state == "open":
        return card
    return replace(card, advice="see the whole comparison.", command=result.command)


def _scores_alone(asked: Asked) -> dict[str, object]:
    """The scores that stand for ratings where nobody rated."""
    if asked.read.pool is None and asked.seen.scores:
        return {"score_column": asked.seen.scores}
    return {}


def _in_its_words(result: WinsResult | ScoresResult) -> Card:
    """The card on choices of people, or on scores alone, in the first sentence of `compare`."""
    document = result.document()
    state = _shown(result)
    return Card(
        topic=TOPIC,
        question=ONE,
        state=state,
        label="Yes" if state == "yes" else OPEN,
        answer=document.verdict,
        rests=document.notes[0],
        advice="see the whole comparison.",
        command=result.command,
        figures=pictures_of(result),
    )


def _shown(result: WinsResult | ScoresResult) -> State:
    """Whether any difference is shown."""
    if isinstance(result, WinsResult):
        shown = any(wins.p_holm < SURE for wins in result.wins)
        return "yes" if shown else "open"
    states = chain.from_iterable(result.states.values())
    return "yes" if "different" in states else "open"


def pictures_of(result: Result) -> tuple[Figure, ...]:
    """The first picture of another command's report."""
    for section in result.report().sections:
        if section.figures:
            return section.figures[:1]
    return ()
