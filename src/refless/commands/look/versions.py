"""Is one version better than another? A card from what `compare` says."""

import re
from itertools import chain

from refless.commands.compare.document import swapped, turned, why_not
from refless.commands.compare.result import CompareResult
from refless.commands.compare.run import compare
from refless.commands.compare.scores import ScoresResult
from refless.commands.compare.wins_result import WinsResult
from refless.commands.look.asked import OPEN, Asked, answered, refused
from refless.commands.look.wording import RatingUnits
from refless.commands.next.run import next as rate_next
from refless.data.tables.columns import naming
from refless.evaluation.comparing import SURE, Comparison, Pair
from refless.registry.errors import InputError
from refless.registry.plural import counted
from refless.report.document import Card, Figure, State
from refless.report.pictures import difference_picture
from refless.report.result import Result

TOPIC = "versions"
OLD = frozenset(  # words in names of versions that are compared with
    {"old", "base", "baseline", "before", "control", "current", "previous", "prod"}
)
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
    pairs = result.comparison.pairs
    if len(pairs) == 1:
        return _of_two(asked, result, _newer_second(pairs[0]))
    return _of_several(asked, result)


def _newer_second(pair: Pair) -> Pair:
    """The pair with the newer version second, as far as the names tell which that is."""
    of_first, of_second = (
        {*re.split(r"[\W_]+", name.casefold())} for name in (pair.first, pair.second)
    )
    if of_second & OLD and not of_first & OLD:
        return swapped(pair)
    return pair


def _scores_alone(asked: Asked) -> dict[str, object]:
    """The scores that stand for ratings where nobody rated."""
    if asked.read.pool is None and asked.seen.scores:
        return {"score_column": asked.seen.scores}
    return {}


def _of_two(asked: Asked, result: CompareResult, pair: Pair) -> Card:
    units = RatingUnits(asked.percent)
    leading = turned(pair)
    answer = pair.difference
    state: State = "open"
    label = OPEN
    command = asked.line(rate_next, goal="compare")
    if pair.shown:
        command = result.command
        state = "yes" if answer.value > 0 else "no"
        better = "Yes, {} is better" if answer.value > 0 else "No, {} is worse"
        label = better.format(pair.second)
    return Card(
        topic=f"{pair.second} against {pair.first}",
        question=f"Is {pair.second} better than {pair.first}?",
        state=state,
        label=label,
        answer=_answer(leading, units),
        rests=_rests(pair),
        advice=_advice(pair),
        command=command,
        figures=(_picture(asked, pair, state),),
    )


def _picture(asked: Asked, pair: Pair, state: State) -> Figure:
    """The difference with its interval, and item by item."""
    factor = 100 if asked.percent else 1
    low, high = pair.difference.interval
    values = asked.differences(pair.first, pair.second)
    return difference_picture(
        (pair.first, pair.second),
        factor * pair.difference.value,
        (factor * low, factor * high),
        [factor * value for value in values],
        state=state,
        unit="percentage points" if asked.percent else "points",
    )


def _answer(leading: Pair, units: RatingUnits) -> str:
    """The version that is ahead and by how much, as sure as that is."""
    difference = leading.difference
    low, high = difference.interval
    if low != low:
        return f"Not known: {why_not(leading)}."
    size = units.size(difference.value)
    if leading.shown:
        return f"{leading.second} leads by {size} ({units.ends((low, high), 'to')})."
    ends = units.ends((low, high), "and")
    return f"{leading.second} leads by {size}, but anything between {ends} is possible."


def _rests(pair: Pair) -> str:
    both = f"{pair.both_rated} of {counted(pair.items, 'item')} with both rated"
    return f"Rests on {both}, {pair.one_rated} with one."


def _advice(pair: Pair) -> str:
    if pair.shown:
        return "see the whole comparison."
    if pair.further:
        more = counted(pair.further, "more item")
        return f"rate {more}: that would tell with 4 of 5 chances."
    if pair.both_rated < pair.items:
        return "rate more of the items; even all of them may not tell."
    return "all items are rated: it takes answers to more items."


def _of_several(asked: Asked, result: CompareResult) -> Card:
    """The card on the best of several versions."""
    comparison = result.comparison
    best = comparison.standings[0].name
    open_ones = [
        standing.name for standing in comparison.standings[1:] if standing.ranks[0] == 1
    ]
    n_rated = sum(standing.rated for standing in comparison.standings)
    state: State = "yes"
    label = f"Yes, {best} is best"
    advice = "see every pair."
    command = result.command
    if open_ones:
        state = "open"
        label = OPEN
        advice = "rate where it is open: those shown to be worse are dropped."
        command = asked.line(rate_next, goal="best")
    return Card(
        topic=counted(len(comparison.standings), "version"),
        question="Is one version the best?",
        state=state,
        label=label,
        answer=_leader(comparison, open_ones, RatingUnits(asked.percent)),
        rests=f"Rests on {counted(n_rated, 'rated output')}; all pairs are corrected together.",
        advice=advice,
        command=command,
        figures=pictures_of(result),
    )


def _leader(comparison: Comparison, open_ones: list[str], units: RatingUnits) -> str:
    first = comparison.standings[0]
    if first.mean.value != first.mean.value:
        return "Not known: too little is rated."
    mean = f"{first.name} has the highest mean, {units.mean(first.mean.value)}"
    if not open_ones:
        return f"{mean}, and every other version is shown to be worse."
    names = ", ".join(open_ones[:3])
    more = f" and {len(open_ones) - 3} more" if len(open_ones) > 3 else ""
    return f"{mean}, but {names}{more} may be as good."


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
