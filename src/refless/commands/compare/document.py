"""The parts of the report of `refless compare`, for the terminal and for HTML."""

import math
from collections.abc import Sequence

from refless.commands.compare.data import ranks_of
from refless.evaluation.comparing import Comparison, Pair
from refless.registry.plural import counted
from refless.report.charts import Line, row_chart
from refless.report.document import Figure, Section, Table
from refless.report.wording import (
    interval,
    labels,
    number,
    p_value,
    percent,
    with_interval,
)
from refless.stats.confidence_sequence import FEWEST
from refless.stats.intervals import Interval

MOST_PAIRS = 28  # of eight systems; of more, those whose difference is shown come first
ASSUMED = {
    "random": (
        "This takes the rated outputs as drawn by lot from all of them. If they were picked "
        "otherwise, say so: --selection unknown."
    ),
    "active": "Rated outputs count by the chance with which each was drawn.",
    "unknown": (
        "How the rated outputs were chosen is unknown, so their ratings do not stand for the "
        "others: they teach the estimates, and the estimates answer."
    ),
}
ALLOWED = "for raters who are stricter or milder."
SAME_RATERS = "Have the same people rate both systems: more ratings by other people tell less."
MISJUDGED = (
    "The interval knows how far whole systems are misjudged, as well as the rated texts can tell."
)


def facts(pair: Pair) -> tuple[tuple[str, str, str], ...]:
    """The numbers that stand out where two systems are compared."""
    name, found = labels([pair.second], 24)[pair.second], pair.answer
    return (
        ("Difference", number(found.value), interval(found.interval)),
        (f"{name} is better", percent(found.above), f"p {p_value(found.p)}"),
    )


def stands_for_others(pair: Pair) -> bool:
    """Whether ratings of some items speak for those that nobody rated."""
    return pair.method in {"ratings", "ratings and estimates"} and pair.both_rated < pair.items


def verdict(found: Comparison) -> str:
    """The answer in one sentence or two."""
    if len(found.pairs) == 1:
        return _of_pair(found.pairs[0])
    if apart := sum(pair.apart for pair in found.pairs):
        some = f"{counted(apart, 'pair')} out of {len(found.pairs)}"
        lead = f"Nobody rated both systems of {some}, so the intervals allow {ALLOWED}"
        return f"{lead} {_of_pairs(found)}"
    return _of_pairs(found)


def _of_pairs(found: Comparison) -> str:
    shown = sum(pair.shown for pair in found.pairs)
    n, best = len(found.pairs), [one for one in found.standings if one.ranks[0] == 1]
    if not shown:
        return f"No difference is shown between any of {counted(len(found.standings), 'system')}."
    few = labels([one.name for one in found.standings], 24)
    names = ", ".join(few[one.name] for one in best[:5])
    told = "is expected to be" if {one.method for one in best} == {"estimates"} else "is"
    lead = f"{names} {told} the best"
    if len(best) > 1:
        lead = f"The best {told} one of {len(best)}: {names}"
    more = ", ..." if len(best) > 5 else ""
    return f"{lead}{more}. A difference is shown for {shown} of {counted(n, 'pair')} (Holm)."


def _of_pair(pair: Pair) -> str:
    name = labels([pair.first, pair.second], 24)
    both = f"{name[pair.first]} and {name[pair.second]}"
    if math.isnan(pair.answer.p):
        return f"Nothing can be said of {both}: {_why_not(pair)}."
    lead = f"Nobody rated both {both}, so the interval allows {ALLOWED} " if pair.apart else ""
    higher, lower, ends = _turned(pair)
    by = with_interval(abs(pair.answer.value), ends)
    told = "expected to be rated" if pair.method == "estimates" else "rated"
    if pair.shown:
        return f"{lead}{name[higher]} is {told} higher than {name[lower]}, by {by}."
    return f"{lead}No difference between {both} is shown: {name[higher]} is {told} higher by {by}."


def _why_not(pair: Pair) -> str:
    if pair.untold:
        return "nobody rated both, and these ratings do not tell how strict each rater is"
    if math.isnan(pair.answer.wide):
        return f"no interval holds at any look before {FEWEST} items are rated"
    if pair.both_rated + pair.one_rated:
        return "too few outputs are rated, or all their differences are equal"
    return "no output is rated, and nothing tells how far estimates lie off"


def rests_on(found: Comparison, estimator: str) -> list[str]:
    """What the answer is made of; for several systems of which there is most."""
    pair = found.pairs[0]
    told = []
    if len(found.pairs) == 1:
        told.append(_made_of(pair, estimator))
        if pair.apart:
            told.append(SAME_RATERS)
        elif not pair.shown and not math.isnan(pair.answer.p):
            told.append(_needed(pair))
        if pair.left_out:
            told.append(
                f"{counted(pair.left_out, 'item')} that only one of them answered "
                f"{'is' if pair.left_out == 1 else 'are'} left out."
            )
        if not pair.paired:
            told.append("They answered different items, so this is no comparison in pairs.")
    elif any(one.method == "estimates" for one in found.pairs):
        alone = [one for one in found.pairs if one.method == "estimates"]
        are = "is" if len(alone) == 1 else "are"
        told.append(f"{counted(len(alone), 'pair')} {are} compared {_alone(alone)}")
    if found.coverage < 1 and any(one.powered.share for one in found.pairs):
        told.append(f"{percent(1 - found.coverage)} of the outputs have no estimate of their own.")
    return told


def _made_of(pair: Pair, estimator: str) -> str:
    rated = _rated(pair)
    if pair.method == "estimates":
        return f"This is {_alone([pair])}"
    if pair.method == "none":
        return f"It rests on {rated}."
    if pair.method == "ratings":
        why = "estimates would not make it more exact" if pair.powered.rated >= 10 else "too few"
        return f"It rests on ratings alone, of {rated} ({why})."
    worth = math.floor(pair.powered.worth)
    more = f"as exact as {worth:,} rated items without estimates"
    if worth <= pair.powered.rated:
        more = "no more exact than the ratings alone"
    return f"It rests on the ratings of {rated}, with estimates of all by {estimator}: {more}."


def _alone(pairs: Sequence[Pair]) -> str:
    """How pairs without ratings that count are compared."""
    any_rated = any(one.both_rated + one.one_rated for one in pairs)
    it = "it" if len(pairs) == 1 else "them"
    behind = "" if any_rated else f": no rating of these outputs is behind {it}"
    return f"by estimates alone{behind}. {MISJUDGED}"


def _rated(pair: Pair) -> str:
    parts = []
    if pair.both_rated:
        parts.append(f"{counted(pair.both_rated, 'item')} with ratings for both")
    if pair.one_rated:
        parts.append(f"{counted(pair.one_rated, 'item')} with ratings for one of them")
    return f"{' and '.join(parts) or 'no ratings'}, out of {pair.items:,}"


def _needed(pair: Pair) -> str:
    if pair.both_rated == pair.items:
        return "All items are rated, so only more items could show a difference."
    if pair.needed is not None:
        return (
            f"Ratings of about {counted(pair.needed, 'item')} in all should show a difference four "
            "times out of five."
        )
    return (
        f"Ratings of all {counted(pair.items, 'item')} should show a difference with a chance of "
        f"{percent(pair.chance)}; a higher one takes more items."
    )


def differences_section(found: Comparison) -> Section:
    """Each pair; of two systems also by ratings alone."""
    if len(found.pairs) == 1:
        return _one_pair(found.pairs[0])
    ranked = sorted(found.pairs, key=lambda pair: (pair.p_holm, -abs(pair.answer.value)))
    shown = ranked[:MOST_PAIRS]
    names = labels([one.name for one in found.standings], 18)
    rows = tuple(
        (
            f"{names[higher]} over {names[lower]}",
            with_interval(abs(pair.answer.value), ends),
            p_value(pair.p_holm),
            MADE_OF[pair.method],
        )
        for pair in shown
        for higher, lower, ends in [_turned(pair)]
    )
    more = len(ranked) - len(shown)
    lines = (MADE, *((f"{counted(more, 'more pair')}: add -o pairs.csv",) if more else ()))
    header = ("pair", "difference [95 %]", "p (Holm)", "made of")
    drawn = [
        Line(name=row[0], value=abs(pair.answer.value), interval=ends)
        for row, pair in zip(rows, shown, strict=True)
        for _, _, ends in [_turned(pair)]
    ]
    table = Table(header=header, rows=rows, numeric=(False, True, True, False))
    figure = Figure(
        svg=row_chart(drawn, "difference", "Differences of systems", zero=True),
        caption="Differences with their 95 % intervals, each by itself; p is corrected for all.",
        table=table,
    )
    return Section(title="Differences", lines=lines, figures=(figure,), table=table)


MADE = "Made of ratings, of estimates, or of both where these make it more exact."
MADE_OF = {
    "ratings and estimates": "both",
    "ratings": "ratings",
    "estimates": "estimates",
    "none": "-",
}


CALLED = {
    "ratings and estimates": "With estimates",
    "ratings": "Ratings alone",
    "estimates": "Estimates alone",
}


def _turned(pair: Pair) -> tuple[str, str, Interval]:
    """The system that looks better, the other, and the interval of the difference that way."""
    low, high = pair.answer.interval
    if pair.answer.value < 0:
        return pair.first, pair.second, (-high, -low)
    return pair.second, pair.first, (low, high)


def _one_pair(pair: Pair) -> Section:
    names = labels([pair.first, pair.second], 24)
    answers = [(CALLED[pair.method], pair.answer)] if pair.method != "none" else []
    if pair.method == "ratings and estimates" or not answers:
        answers.append(("Ratings alone", pair.powered.alone))
    rows = tuple(
        (
            name,
            with_interval(one.value, one.interval),
            p_value(one.p) if one.p == one.p else "-",
            percent(one.above) if one.above == one.above else "-",
        )
        for name, one in answers
    )
    second = names[pair.second]
    header = ("made of", "difference [95 %]", "p", f"{second} is better")
    table = Table(header=header, rows=rows)
    drawn = [Line(name=name, value=one.value, interval=one.interval) for name, one in answers]
    figure = Figure(
        svg=row_chart(drawn, "difference", "The difference", zero=True),
        caption=f"How much higher {second} is rated than {names[pair.first]}, with 95 % intervals.",
        table=table,
    )
    title = f"{second} less {names[pair.first]}"
    return Section(title=title, figures=(figure,), table=table)


def systems_section(found: Comparison, units: str) -> Section:
    """Each system's mean; the best first."""
    names = labels([one.name for one in found.standings], 30)
    rows = tuple(
        (
            names[one.name],
            with_interval(one.answer.value, one.answer.interval),
            ranks_of(one),
            f"{one.rated:,}",
            f"{one.outputs:,}",
        )
        for one in found.standings
    )
    lines = [
        Line(name=one.name, value=one.answer.value, interval=one.answer.interval)
        for one in found.standings
    ]
    table = Table(header=("system", "mean [95 %]", "rank", "rated", "outputs"), rows=rows)
    caption = (
        "Means with their 95 % intervals. Whether two systems differ is told by the difference, "
        "not by whether these intervals overlap."
    )
    figure = Figure(svg=row_chart(lines, "mean", "Systems"), caption=caption, table=table)
    return Section(title=f"Systems, {units}", figures=(figure,), table=table)
