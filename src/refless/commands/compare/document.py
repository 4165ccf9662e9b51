"""The parts of the report of `refless compare`, for the terminal and for HTML."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from refless.commands.compare.inputs import Selection
from refless.evaluation.comparing import PROVEN, Comparison, Pair, Standing
from refless.registry.dialect import called, saving
from refless.registry.plural import counted
from refless.report.charts import Line, charted
from refless.report.document import Section, Table
from refless.report.units import RatingUnits
from refless.report.wording import (
    labels,
    number,
    p_value,
    percent,
    percent_with_interval,
    with_interval,
)
from refless.stats.answers import Answer, Estimate
from refless.stats.confidence_sequence import FEWEST
from refless.stats.intervals import Interval

NAME = 24  # columns of a terminal
MOST_PAIRS = 28  # of eight systems; of more, the clearest come first
MOST_NAMED = 3  # pairs that the first sentences name
ALLOWED = "for raters who are stricter or milder."
FEW_RATERS = "This is how {} rate: fewer than four do not tell how others would."
SAME_RATERS = (
    "Have the same people rate both systems: more ratings by other people tell less."
)
OLD = frozenset(  # words in names of versions that are compared with
    {"old", "base", "baseline", "before", "control", "current", "previous", "prod"}
)
ASSUMED = "This assumes that each system's rated outputs were drawn at random from all of its own."
MISJUDGED = (
    "The interval includes the error of estimates for whole systems, as far as the rated "
    "texts show it."
)


def assumed(selection: Selection | Literal["textless"]) -> str:
    """The assumption of an answer on the choice of the rated outputs."""
    match selection:
        case "random":
            remedy = called("selection", "unknown")
            return f"{ASSUMED} If they were picked otherwise, say so: {remedy}."
        case "textless":
            return ASSUMED
        case "active":
            return "Rated outputs count by the chance with which each was drawn."
        case "unknown":
            return (
                "How the rated outputs were chosen is unknown, so their ratings do not stand for "
                "the others: they teach the estimates, and the estimates answer."
            )


def turned(pair: Pair, by: Pair | None = None) -> Pair:
    """The pair with the system second that looks better by it, or by another pair of the two."""
    if not (by or pair).difference.value < 0:
        return pair
    return swapped(pair)


def swapped(pair: Pair) -> Pair:
    """The pair with its systems in the other order."""
    powered = replace(
        pair.powered, alone=pair.powered.alone.turned(), both=pair.powered.both.turned()
    )
    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        independent=pair.independent[::-1],
        powered=powered,
        difference=pair.difference.turned(),
        item_wins=pair.item_wins.turned(),
        look=pair.look and pair.look.turned(),
    )


def names_of(pair: Pair) -> tuple[str, str]:
    """The names of both systems, cut to fit."""
    short = labels([pair.first, pair.second], NAME)
    return short[pair.first], short[pair.second]


def newer_second(pair: Pair) -> Pair:
    """The pair with the newer version second, as far as the names tell which that is."""
    return swapped(pair) if is_older(pair.second, pair.first) else pair


def is_older(first: str, second: str) -> bool:
    """Whether names tell that the first of two versions is the old one."""
    of_first, of_second = (
        {*re.split(r"[\W_]+", name.casefold())} for name in (first, second)
    )
    return bool(of_first & OLD and not of_second & OLD)


def speaks_for_unrated(pair: Pair) -> bool:
    """Whether ratings of some items speak for those that nobody rated."""
    return (
        pair.method in {"ratings", "ratings and estimates"}
        and pair.both_rated < pair.items
    )


def judges_section(
    pairs: Sequence[Pair], judges: Mapping[str, Sequence[Pair]]
) -> tuple[Section, ...]:
    """Differences by judges' scores alone, beside those by people."""
    if not judges:
        return ()
    names = labels([*judges], NAME)
    rows = []
    for k in clearest_pairs(pairs)[:MOST_PAIRS]:
        pair = pairs[k]
        better = turned(pair)
        title = f"{better.second} over {better.first}"
        rows.append((title, "people", value_of(better.difference)))
        for judge, name in names.items():
            alone = turned(judges[judge][k], pair)
            rows.append(("", name, value_of(alone.difference)))
    header = ("pair", "by", "difference [95 %]")
    numeric = (False, False, True)
    table = Table(header=header, rows=tuple(rows), numeric=numeric)
    line = (
        "A judge's own difference is in its own units, and no rating corrects it: its interval "
        "includes the draw of texts, not the judge's errors, which 'refless judge' shows."
    )
    return (Section(title="Judges alone", table=table, lines=(line,)),)


def value_of(answer: Answer | Estimate) -> str:
    """`0.316 [0.181, 0.440]`, as of `with_interval`."""
    return with_interval(answer.value, answer.interval)


def line_of(name: str, answer: Answer | Estimate, factor: int = 1) -> Line:
    """The line of an answer in a chart, times a factor."""
    low, high = answer.interval
    ends = (factor * low, factor * high)
    return Line(name=name, value=factor * answer.value, interval=ends)


def verdict(comparison: Comparison) -> str:
    """The answer in one sentence or two."""
    pairs = comparison.pairs
    if len(pairs) == 1:
        return of_pair(pairs[0])
    return " ".join([*of_apart(pairs), _of_pairs(comparison)])


def of_apart(pairs: Sequence[Pair]) -> list[str]:
    """A sentence on systems that have no rater in common, if there are any."""
    apart = sum(pair.apart and not math.isnan(pair.difference.p) for pair in pairs)
    if not apart:
        return []
    names = "" if len(pairs) == 1 else f" systems of {apart} pairs out of {len(pairs)}"
    return [f"Nobody rated both{names}, so the interval allows {ALLOWED}"]


def _of_pairs(comparison: Comparison) -> str:
    standings = comparison.standings
    pairs = comparison.pairs
    significant = [turned(pairs[k]) for k in clearest_pairs(pairs) if pairs[k].shown]
    if not significant:
        return f"No difference is shown between any of {counted(len(standings), 'system')}."
    short = labels([standing.name for standing in standings], NAME)
    titles = [f"{short[pair.second]} over {short[pair.first]}" for pair in significant]
    clear = ", ".join(titles)
    if len(titles) > MOST_NAMED:
        clear = f"the clearest is {titles[0]}"
    count = f"{len(titles)} of {counted(len(pairs), 'pair')} (Holm)"
    lead = _best_systems(standings, short)
    return f"{lead}. A difference is shown for {count}: {clear}."


def _best_systems(standings: Sequence[Standing], names: Mapping[str, str]) -> str:
    """The best system, or those of which any may be the best."""
    best = [standing for standing in standings if standing.ranks[0] == 1]
    listed = ", ".join(names[standing.name] for standing in best[:5])
    estimated = all(standing.method == "estimates" for standing in best)
    verb = "is expected to be" if estimated else "is"
    if len(best) == 1:
        return f"{listed} {verb} the best"
    if len(best) > 5:
        listed += ", ..."
    return f"The best {verb} one of {len(best)}: {listed}"


def clearest(answers: Iterable[tuple[float, float]]) -> list[int]:
    """Places of p-values with their effects, from the smallest p on; those without one are last.

    Of equal ones the largest effect comes first.
    """
    keys = [(math.isnan(p), p, -abs(effect)) for p, effect in answers]
    return sorted(range(len(keys)), key=keys.__getitem__)


def clearest_pairs(pairs: Sequence[Pair]) -> list[int]:
    """Places of the pairs, the clearest difference first."""
    return clearest((pair.p_holm, pair.difference.value) for pair in pairs)


def of_pair(pair: Pair) -> str:
    """The system of two that is rated higher, and whether that is shown."""
    name = labels([pair.first, pair.second], NAME)
    both = f"{name[pair.first]} and {name[pair.second]}"
    if math.isnan(pair.difference.p):
        return f"Nothing can be said of {both}: {why_not(pair)}."
    lead = ""
    if pair.apart:
        lead = f"Nobody rated both {both}, so the interval allows {ALLOWED} "
    better = turned(pair)
    higher = name[better.second]
    lower = name[better.first]
    by = value_of(better.difference)
    verb = "expected to be rated" if pair.method == "estimates" else "rated"
    if pair.shown:
        return f"{lead}{higher} is {verb} higher than {lower}, by {by}."
    low, high = better.difference.interval
    below = f"{number(-low, among=[high])} lower"
    above = f"{number(high, among=[low])} higher"
    return f"{lead}No difference between {both} is shown: {higher} may be {below} to {above}."


def why_not(pair: Pair) -> str:
    """The reason why there is no interval."""
    reason = pair.difference.untold
    if reason == "raters are apart":
        return (
            "nobody rated both, and these ratings do not tell how strict each rater is"
        )
    if reason == "one unit is rated":
        return _one_rating(pair)
    if reason == "all are equal":
        return (
            "all ratings are equal, and without a scale nothing tells how far others lie; "
            f"give one with {called('scale')}"
        )
    if math.isnan(pair.difference.wide):
        return f"no interval holds at any look before {FEWEST} items are rated"
    systems = zip((pair.first, pair.second), pair.independent, strict=True)
    unrated = [name for name, count in systems if not count]
    if len(unrated) == 1:
        return f"no output of {labels(unrated, NAME)[unrated[0]]} is rated"
    return f"only estimates could tell, and fewer than {PROVEN} rated texts do not prove them"


def _one_rating(pair: Pair) -> str:
    """The systems with one independent rating."""
    if pair.paired and pair.items == 1:
        return "both answered one item: rate more of their items"
    both = zip(names_of(pair), pair.independent, strict=True)
    few = [name for name, count in both if count == 1]
    rating = "one independent rating"
    if len(few) > 1:
        rating += " each"
    return f"there is {rating} of {' and '.join(few)}: rate more"


def rests_on(comparison: Comparison) -> list[str]:
    """The ratings and estimates behind the answer; of several systems the common limits."""
    pairs = comparison.pairs
    lines = _of_two(comparison) if len(pairs) == 1 else []
    few = max(pair.powered.raters for pair in pairs)
    if few:
        lines.append(FEW_RATERS.format(counted(few, "rater")))
    alone = [pair for pair in pairs if pair.method == "estimates"]
    if alone and len(pairs) > 1:
        verb = "is" if len(alone) == 1 else "are"
        lines.append(f"{counted(len(alone), 'pair')} {verb} compared {_alone(alone)}")
    missing = 1 - comparison.coverage
    if missing > 0 and any(pair.powered.share for pair in pairs):
        lines.append(
            f"{percent(missing)} of the outputs have no estimate of their own."
        )
    return lines


def _of_two(comparison: Comparison) -> list[str]:
    (pair,) = comparison.pairs
    lines = []
    if pair.apart:
        lines.append(SAME_RATERS)
    if pair.left_out:
        items = counted(pair.left_out, "item")
        verb = "is" if pair.left_out == 1 else "are"
        lines.append(f"{items} that only one of them answered {verb} left out.")
    return lines


def made_of(pair: Pair, estimator: str) -> str:
    """The ratings and estimates behind the answer on two systems."""
    rated = _rated(pair)
    if pair.method == "estimates":
        return f"This is {_alone([pair])}"
    if pair.method == "none":
        return f"It rests on {rated}."
    if pair.method == "ratings":
        if pair.both_rated == pair.items:
            return f"It rests on the ratings of {rated}."
        if not estimator:
            return f"It rests on ratings alone, of {rated}."
        why = "too few"
        if pair.powered.rated >= 10:
            _, source, _ = estimator.partition(" from texts alone")
            why = f"estimates{source} would not make it more exact"
        return f"It rests on ratings alone, of {rated} ({why})."
    worth = math.floor(pair.powered.worth)
    gain = f"without estimates it would take ratings of {worth:,} such items"
    return f"It rests on the ratings of {rated}, with estimates of all by {estimator}: {gain}."


def _alone(pairs: Sequence[Pair]) -> str:
    """The way of comparing pairs without ratings that count."""
    rated = any(pair.rated for pair in pairs)
    pronoun = "it" if len(pairs) == 1 else "them"
    behind = "" if rated else f": no rating of these outputs is behind {pronoun}"
    return f"by estimates alone{behind}. {MISJUDGED}"


def _rated(pair: Pair) -> str:
    parts = []
    if pair.both_rated:
        parts.append(f"{counted(pair.both_rated, 'item')} with ratings for both")
    if pair.one_rated:
        parts.append(f"{counted(pair.one_rated, 'item')} with ratings for one of them")
    return f"{' and '.join(parts) or 'no ratings'}, out of {pair.items:,}"


def differences_section(
    comparison: Comparison, units: RatingUnits, *, gated: bool
) -> Section:
    """Each pair; of two systems the newer less the older, by names or if `gated` as they come."""
    if len(comparison.pairs) == 1:
        (pair,) = comparison.pairs
        return _one_pair(pair if gated else newer_second(pair), units)
    ranked = [comparison.pairs[k] for k in clearest_pairs(comparison.pairs)]
    names = labels([standing.name for standing in comparison.standings], 18)
    entries = []
    for pair in map(turned, ranked[:MOST_PAIRS]):
        name = f"{names[pair.second]} over {names[pair.first]}"
        cells = (p_value(pair.p_holm), METHODS[pair.method])
        entries.append((line_of(name, pair.difference, units.factor), cells))
    return charted(
        f"Differences, in {units.name}",
        ("pair", "difference [95 %]", "p (Holm)", "made of"),
        entries,
        "Differences with their 95 % intervals, each by itself; p is corrected for all.",
        axis=f"difference, {units.name}",
        label="Differences of systems",
        zero=True,
        numeric=(False, True, True, False),
        lines=(METHOD_LEGEND, *part_of(len(entries), len(ranked))),
        width=42,
    )


def part_of(rows: int, every: int) -> tuple[str, ...]:
    """The note that a table does not have all pairs, if it does not."""
    if rows == every:
        return ()
    file = saving("pairs.csv")
    return (
        f"The {rows} clearest of {every} pairs, smallest p first; {file} writes all.",
    )


METHOD_LEGEND = (
    "Made of ratings, of estimates, or of both where these make it more exact."
)
METHODS = {
    "ratings and estimates": "both",
    "ratings": "ratings",
    "estimates": "estimates",
    "none": "-",
}
CALLED = {
    "ratings and estimates": "With estimates",
    "ratings": "Ratings alone",
    "estimates": "Estimates alone",
    "none": "Ratings alone",
}


def _one_pair(pair: Pair, units: RatingUnits) -> Section:
    first, second = names_of(pair)
    answers = {CALLED[pair.method]: pair.difference}
    if pair.method in {"ratings and estimates", "none"}:
        answers["Ratings alone"] = pair.powered.alone
    entries = []
    for name, answer in answers.items():
        entries.append((line_of(name, answer, units.factor), (p_value(answer.p),)))
    return charted(
        f"{second} minus {first}, in {units.name}",
        ("made of", "difference [95 %]", "p"),
        entries,
        f"How much higher {second} is rated than {first}, with 95 % intervals.",
        axis=f"difference, {units.name}",
        label="The difference",
        zero=True,
        lines=_item_by_item(pair, second),
    )


def _item_by_item(pair: Pair, second: str) -> tuple[str, ...]:
    """The shares of items on which the second system is rated higher, equal or lower."""
    wins = pair.item_wins
    if wins.items < 2:
        return ()
    items = counted(wins.items, "item")
    shares = {"higher": wins.higher, "equal": wins.equal, "lower": wins.lower}
    parts = [
        f"{word} on {percent_with_interval(share.value, share.interval)}"
        for word, share in shares.items()
    ]
    return (
        f"Item by item: of {items} with ratings for both, {second} is {', '.join(parts)}.",
    )


def rank_range(ranks: tuple[int, int]) -> str:
    """`1`, or `2 to 4` if the rank is not shown."""
    best, worst = ranks
    return str(best) if best == worst else f"{best} to {worst}"


STANDING = ("rank", "rated", "outputs")


def systems_section(
    comparison: Comparison, scale: Interval | None, *, of_passes: bool
) -> Section:
    """Each system's mean; the best first. No interval leaves the scale."""
    low, high = scale or (-math.inf, math.inf)
    units = "in the raters' units"
    if scale is not None:
        units = f"on a scale of {low:g} to {high:g}"
    if of_passes:
        units = "by the share that pass"
    entries = []
    for standing in comparison.standings:
        mean = standing.mean
        least, greatest = mean.interval
        ends = (max(least, low), min(greatest, high))
        line = Line(name=standing.name, value=mean.value, interval=ends)
        counts = (f"{standing.rated:,}", f"{standing.outputs:,}")
        entries.append((line, (rank_range(standing.ranks), *counts)))
    return charted(
        f"Systems, {units}",
        ("system", "passes [95 %]" if of_passes else "mean [95 %]", *STANDING),
        entries,
        "Means with their 95 % intervals, each told by itself. Whether two systems differ "
        "is shown by the difference, not by whether these intervals overlap.",
        axis="share that pass" if of_passes else "mean",
        label="Systems",
        shares=of_passes,
    )
