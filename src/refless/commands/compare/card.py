"""The answer of `compare` as a card: its state, few words, one picture, what to do now."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from refless.commands.compare.document import (
    names_of,
    newer_second,
    of_apart,
    turned,
    why_not,
)
from refless.evaluation.comparing import Comparison, Pair
from refless.evaluation.entries import Field
from refless.evaluation.further import Further, most_of
from refless.evaluation.further_items import further_of
from refless.evaluation.planned_look import PlannedLook
from refless.registry.dialect import called
from refless.registry.plural import counted, first_of
from refless.report.document import OPEN, Card, Figure, State
from refless.report.pictures import difference_picture
from refless.report.units import RatingUnits
from refless.report.wording import labels, percent

NAME = 24  # letters of a version
MOST_NAMED = 3  # versions that may be as good
EQUAL = "a claim that they are equally good: that is not shown either."
NO_PAIRS = (
    "This is no comparison in pairs: too few items have outputs of both. A column item says which "
    "outputs belong together."
)
OTHERS = "items or raters of another kind than these."


def card_of_two(
    comparison: Comparison,
    field: Field,
    units: RatingUnits,
    rests: str,
    command: str,
    *,
    by: str = "",
) -> Card:
    """The card on two versions.

    Args:
        comparison: of the versions; field: their outputs; units: of the ratings.
        rests: what the answer rests on.
        command: the line that chooses what to rate next.
        by: the end of the question if people did not rate.
    """
    (pair,) = map(newer_second, comparison.pairs)
    means = {one.name: one.mean.value for one in comparison.standings}
    further = further_of(pair, these=field.these)
    first, second = names_of(pair)
    value = pair.difference.value
    state: State = "open"
    label = OPEN
    if pair.decided:
        state = "yes" if value > 0 else "no"
        verdict = "Yes, {} is better" if value > 0 else "No, {} is worse"
        label = verdict.format(second)
    elif pair.shown:
        state = "with"
        label = "By estimates alone"
    return Card(
        topic=f"{second} against {first}",
        question=f"Is {second} better than {first}{by}?",
        state=state,
        label=label,
        answer=_answer(turned(pair), units, means),
        rests=rests if pair.paired else f"{rests} {NO_PAIRS}",
        further=_further(pair, further),
        unfit=_unfit(pair),
        advice=_advice(pair, further),
        command=command if _takes_ratings(pair, further) else "",
        figures=(picture_of(pair, field, units, state),),
    )


def _answer(pair: Pair, units: RatingUnits, means: Mapping[str, float]) -> str:
    """The version that is ahead and by how much, as sure as that is; of passes their rates too."""
    low, high = pair.difference.interval
    if low != low:
        return f"Not known: {why_not(pair)}."
    _, name = names_of(pair)
    verb = "is expected to lead" if pair.method == "estimates" else "leads"
    size = units.size(pair.difference.value)
    if pair.shown:
        answer = f"{name} {verb} by {size} ({units.ends((low, high), 'to')})"
        if not units.percent:
            return f"{answer}."
        rate, other = _pass_rates(means[pair.second], means[pair.first])
        return f"{answer}: {rate} pass, against {other}."
    if low == high:
        return f"Both are rated alike on average: {size} apart."
    ends = units.ends((low, high), "and")
    return f"{name} {verb} by {size}, but anything between {ends} is possible."


def _pass_rates(first: float, second: float) -> list[str]:
    """Two rates; with a decimal where whole percents do not give their difference."""
    apart = round(100 * first) - round(100 * second)
    is_whole = apart == round(100 * (first - second))
    return [f"{100 * rate:.{0 if is_whole else 1}f} %" for rate in (first, second)]


def _advice(pair: Pair, further: Further) -> str:
    better = turned(pair).second
    if pair.decided:
        return f"take {better}; 'refless gate' holds the next version to it."
    if pair.shown:
        return f"before you take {better}, rate some outputs that are drawn at random."
    if pair.look is not None:
        return _go_on(pair.look)
    if pair.difference.untold == "raters are apart":
        return "have the same people rate both."
    if not _is_all_rated(pair):
        if further.takes_new:
            beyond = f"; to decide it, collect {further.new}" if further.count else ""
            return f"call it undecided{beyond}."
        return "rate more of the items, drawn at random."
    return "all items in the file are rated: it takes answers to more items."


def _go_on(look: PlannedLook) -> str:
    """The next planned look, or the end of the study."""
    if look.upcoming is None:
        return "end the study: this was its last look, and no difference is shown."
    return f"go on to the next look, at {counted(look.upcoming, 'item')}."


def _takes_ratings(pair: Pair, further: Further) -> bool:
    """Whether ratings of the items that are left come next."""
    ended = further.of == "plan" and further.count is None
    return not (pair.decided or ended or further.takes_new or _is_all_rated(pair))


def _is_all_rated(pair: Pair) -> bool:
    """Whether each item has its rating, or both where they are compared in pairs."""
    return pair.items == (pair.both_rated if pair.paired else pair.rated)


def _further(pair: Pair, further: Further) -> str:
    """The items that would show the difference, in a sentence."""
    if pair.decided or not pair.shown:
        return further.said
    if pair.rated:
        return "some, drawn at random: by those here only the estimates learn."
    return "some; no rating is behind this answer yet."


def _unfit(pair: Pair) -> str:
    """Claims that the answer does not carry: of no difference, or of each single item."""
    better = turned(pair)
    wins = better.item_wins
    if not pair.shown:
        return EQUAL
    if wins.lower.value > 0:
        worse = f"{better.second} is lower on {percent(wins.lower.value)} of those rated for both"
        return f"single items: {worse}."
    return OTHERS


def picture_of(
    pair: Pair, field: Field, units: RatingUnits, state: State, margin: float = 0.0
) -> Figure:
    """The difference with its interval, and item by item; beside a loss that is allowed."""
    factor = units.factor
    low, high = pair.difference.interval
    values = item_differences(field, pair.first, pair.second)
    return difference_picture(
        (pair.first, pair.second),
        factor * pair.difference.value,
        (factor * low, factor * high),
        [factor * value for value in values],
        state=state,
        unit=units.name,
        bar=-factor * margin,
        more=pair.one_rated,
    )


def item_differences(field: Field, first: str, second: str) -> list[float]:
    """Rating of the second version less that of the first, of each item rated for both."""
    ratings: dict[str, dict[str, list[float]]] = {first: {}, second: {}}
    outputs = field.outputs
    keys = outputs.items or outputs.sources or outputs.ids
    people = field.human.tolist()
    for item, system, value in zip(keys, outputs.systems, people, strict=True):
        if system in ratings and value == value:
            ratings[system].setdefault(item, []).append(value)
    both = sorted(ratings[first].keys() & ratings[second].keys())
    return [fmean(ratings[second][key]) - fmean(ratings[first][key]) for key in both]


def card_of_several(
    comparison: Comparison,
    field: Field,
    units: RatingUnits,
    figures: Sequence[Figure],
    command: str,
) -> Card:
    """The card on the best of several versions.

    Args:
        comparison, field, units, command: as of `card_of_two`; figures: that show the versions.
    """
    standings = comparison.standings
    best = standings[0].name
    open_ones = [standing.name for standing in standings[1:] if standing.ranks[0] == 1]
    rated = counted(sum(standing.rated for standing in standings), "rated output")
    wanted = [
        further_of(pair, these=field.these)
        for pair in comparison.pairs
        if best in {pair.first, pair.second}
    ]
    pairs = counted(len(comparison.pairs), "pair")
    shown = sum(pair.shown for pair in comparison.pairs)
    raters = [*of_one_sided(comparison.pairs), *of_apart(comparison.pairs)]
    apart = "".join(f"{line} " for line in raters)
    state: State = "yes"
    label = f"Yes, {best} is best"
    advice = f"take {best}."
    if open_ones:
        state = "open"
        label = OPEN
        advice = "rate those that may be best; this leaves out the others:"
    return Card(
        topic=counted(len(standings), "version"),
        question="Is one version the best?",
        state=state,
        label=label,
        answer=_leader(comparison, open_ones, units),
        rests=f"{apart}Rests on {rated}; a difference is shown for {shown} of {pairs} (Holm).",
        further=most_of(wanted).said,
        unfit=EQUAL if open_ones else OTHERS,
        advice=advice,
        command=command if open_ones else "",
        figures=(*figures,),
    )


def _leader(comparison: Comparison, open_ones: list[str], units: RatingUnits) -> str:
    first = comparison.standings[0]
    if first.mean.value != first.mean.value:
        return "Not known: too little is rated."
    names = labels([standing.name for standing in comparison.standings], NAME)
    mean = f"{names[first.name]} has the highest mean, {units.mean(first.mean.value)}"
    if not open_ones:
        return f"{mean}, and every other version is shown to be worse."
    listed = first_of([names[name] for name in open_ones], MOST_NAMED)
    return f"{mean}, but {listed} may be as good."


def of_one_sided(
    pairs: Sequence[Pair], ratings: Mapping[str, int] | None = None
) -> list[str]:
    """A sentence on raters who rated one of two systems, if there are any; `ratings` of each."""
    sides: dict[str, str] = {}
    for pair in pairs:
        for rater, system in pair.one_sided.items():
            sides.setdefault(f"'{rater}' rated only {system}", rater)
    if not sides:
        return []
    listed = first_of([*sides], MOST_NAMED)
    if not ratings or len(pairs) > 1:
        return [f"{listed}: such ratings do not count in a difference."]
    out = sum(ratings.get(rater, 0) for rater in sides.values())
    left = sum(ratings.values()) - out
    people = counted(len(ratings) - len(sides), "person", "people")
    uncounted = f"{counted(out, 'rating')} that do not count"
    return [f"{listed}: {uncounted}; {left:,} by {people} do."]


def of_not_drawn(count: int) -> str:
    """A sentence on ratings that do not count beside those of drawn outputs."""
    ratings = f"Ratings of {counted(count, 'further output')}"
    remedy = called("selection", "random")
    return f"{ratings} without a probability do not count: {remedy} counts them."
