"""Findings on confounders, judges, raters and time, a sentence each."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from refless.commands.validate.confounders import Confounders
from refless.commands.validate.leaderboard import Leaderboard, MethodLine
from refless.commands.validate.versus_judges import ALL_SCORES, VersusJudges
from refless.data.records import Scale
from refless.evaluation.differences import Difference
from refless.evaluation.drift import Drift, RaterDrift, Trend
from refless.registry.plural import first_of
from refless.report.document import Section
from refless.report.wording import labels, number, with_interval

CONFOUNDERS = "What the correlation is made of"
NAMES = {
    "system": "which system wrote the text",
    "source": "which source the text answers",
    "item": "which item the text answers",
    "length": "how long the text is",
}
FIXED = {
    "system": "within systems",
    "source": "within sources",
    "item": "within items",
    "length": "given length",
}
SMALL = 0.1  # share of the correlation that is not worth a sentence
OVER_TIME = (
    "Ratings {} over time: by {} from the first to the last, on the same texts and each rater by "
    "itself. Rate some early texts again."
)
ERRORS = (
    "Beside the estimates ratings {} over time, by {} from the first to the last: raters, systems "
    "or texts have changed, and estimates of new texts may be as far off."
)
LEVELS = (
    "Raters who rate higher or lower than the others on the same texts, in their units: {}, of "
    "{} raters. Where not all rate the same texts, that is in the texts' means too."
)
DRIFTS = "Raters who change over time beside the others, from first to last: {}, of {} raters."
FOLLOWING = (
    "Raters who use less of the scale than the others to tell texts apart: {}, of {} raters. In "
    "brackets: how much their ratings rise where the mean of a text rises by 1. Look at them "
    "before you rely on the means."
)
LEVEL = 0.01  # of a test, as several are made
NAMED = 3  # raters in a sentence
FEWEST = 3  # raters: of two, one follows less because the other follows more


def confounder_lines(result: Confounders) -> tuple[str, ...]:
    """The parts of the correlation that are shown, a sentence each."""
    if not result.whole_interval[0] > 0:
        return ()
    lines = []
    start = f"A part of the correlation ({number(result.whole)})"
    for name, part in result.within.items():
        if part.lost_interval[0] > 0 and part.value <= (1 - SMALL) * result.whole:
            value = with_interval(part.value, part.interval)
            lines.append(f"{start} is {NAMES[name]}: {FIXED[name]} it is {value}.")
    return tuple(lines)


def confounder_sections(result: Confounders) -> tuple[Section, ...]:
    """The correlation within confounders in a line, and the parts that are shown."""
    if not result.within:
        return ()
    within = [
        f"{with_interval(part.value, part.interval)} {FIXED[name]}"
        for name, part in result.within.items()
    ]
    first = f"Spearman is {number(result.whole)} over all texts, {', '.join(within)}."
    lines = (first, *confounder_lines(result))
    return (Section(title=CONFOUNDERS, lines=lines),)


def judge_section(result: VersusJudges, table: Leaderboard) -> Section:
    """The gains of texts and scores over each other."""
    title = f"Texts and {_scores(result)}"
    return Section(title=title, lines=judge_lines(result, table))


def judge_lines(result: VersusJudges, table: Leaderboard) -> tuple[str, ...]:
    """The gain of the texts over the scores, and of the scores over the texts.

    "Better" and "less well" are said if the interval of the difference leaves out 0, else how large
    the difference may be, or why there is none.
    """
    scores = best = _scores(result)
    if len(result.columns) == 1:
        best = f"{scores} alone"
    elif result.scores == ALL_SCORES:
        best = "the scores alone"
    else:
        best = f"the best of the scores, {result.scores}"
    lines = {line.name: line for line in table.methods}
    both = lines[result.both]
    alone = lines[result.scores]
    texts = lines[result.texts]
    add = "adds" if len(result.columns) == 1 else "add"
    together = f"Texts and {scores} together agree with people"
    return (
        _added(
            (both, alone, result.texts_add),
            f"{together} {{}} than {best}",
            f"Beside {scores} the texts add nothing that can be shown",
            f"The texts cannot be compared with {scores}",
        ),
        _added(
            (both, texts, result.scores_add),
            f"{together} {{}} than the texts alone",
            f"Beside the texts {scores} {add} nothing that can be shown",
            f"What {scores} {add} to the texts cannot be told",
        ),
    )


def _scores(result: VersusJudges) -> str:
    return f"'{result.columns[0]}'" if len(result.columns) == 1 else "the scores"


def _added(
    pair: tuple[MethodLine, MethodLine, Difference],
    shown: str,
    unclear: str,
    undefined: str,
) -> str:
    """Both numbers and their difference; or why there is no difference, or no interval of it."""
    both, alone, gap = pair
    low, high = gap.interval
    if math.isnan(gap.value + low):
        return f"{undefined}: {_why_undefined(both, alone)}."
    start = f"{unclear}, but may add up to {number(high)}"
    if low > 0 or high < 0:
        start = shown.format("better" if low > 0 else "less well")
    complete = min(both.coverage, alone.coverage) == 1
    difference = "difference" if complete else "difference on the texts that both have"
    numbers = f"Spearman {number(both.spearman)} against {number(alone.spearman)}"
    interval = with_interval(gap.value, gap.interval)
    return f"{start}: {numbers}, {difference} {interval}."


def _why_undefined(first: MethodLine, second: MethodLine) -> str:
    """The reason why two methods have no difference, or no interval of it."""
    for line in (first, second):
        if math.isnan(line.spearman) and line.n_scored == 0:
            return f"{line.name} has no estimate"
        if math.isnan(line.spearman):
            return f"{line.name} ranks no text above another"
    return "too few texts have an estimate of both"


def drift_lines(result: Drift, scale: Scale | None) -> tuple[str, ...]:
    """The findings on raters and time, a sentence each."""
    raters = result.raters
    unit = _unit(scale)
    lines = (
        _following(raters),
        apart(raters, "level", scale, LEVELS),
        apart(raters, "drift", scale, DRIFTS),
        _trend(result.over_time, unit, OVER_TIME),
        _trend(result.errors, unit, ERRORS),
    )
    return tuple(filter(None, lines))


def _unit(scale: Scale | None) -> float:
    return 1.0 if scale is None else scale[1] - scale[0]


def _following(raters: Sequence[RaterDrift]) -> str:
    """The raters who follow the others less, the surest first; of two, who gives one number."""
    several = len(raters) >= FEWEST
    low = [
        one for one in raters if one.same == 1 or (several and one.follows_p < LEVEL)
    ]
    values = {}
    for rater in sorted(low, key=lambda rater: rater.follows_p):
        is_constant = rater.same == 1
        values[rater.name] = "one number" if is_constant else number(rater.follows, 2)
    return _line(values, len(raters), FOLLOWING)


def apart(
    raters: Sequence[RaterDrift],
    measure: Literal["level", "drift"],
    scale: Scale | None,
    sentence: str,
) -> str:
    """The sentence with the raters whose level or drift is shown, the farthest first; or ""."""
    values: dict[str, float] = {}
    for rater in raters:
        if getattr(rater, f"{measure}_p") < LEVEL:
            values[rater.name] = getattr(rater, measure)
    ranked = sorted(values, key=lambda name: -abs(values[name]))
    cells = {name: _signed(_unit(scale) * values[name]) for name in ranked}
    return _line(cells, len(raters), sentence)


def _line(values: Mapping[str, str], count: int, sentence: str) -> str:
    """The sentence with `w3 (0.02), w7 (0.11) and 4 more`; "" without raters."""
    if not values:
        return ""
    names = labels([*values], 20)
    cells = [f"{names[rater]} ({value})" for rater, value in values.items()]
    return sentence.format(first_of(cells, NAMED), count)


def _trend(trend: Trend | None, unit: float, sentence: str) -> str:
    if trend is None or not trend.p < LEVEL:
        return ""
    way = "rise" if trend.change > 0 else "fall"
    return sentence.format(way, number(abs(unit * trend.change), 2))


def _signed(value: float) -> str:
    return f"+{number(value, 2)}" if value > 0 else number(value, 2)


def drift_sections(result: Drift, scale: Scale | None) -> tuple[Section, ...]:
    """The findings on raters and time; nothing if there are none."""
    lines = drift_lines(result, scale)
    if not lines:
        return ()
    return (Section(title="Raters and time", lines=lines),)
