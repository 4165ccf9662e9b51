"""The answer of `next` as a card: what to have rated, what it brings, one picture."""

import math
from collections.abc import Sequence
from dataclasses import replace

from refless.commands.compare.document import turned
from refless.commands.next.active_learning import Choice, Step
from refless.evaluation.further import needed_if_steady
from refless.evaluation.further_items import further_of
from refless.evaluation.racing import Race, standing_said
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.charts import Line, Mark, row_chart
from refless.report.document import OPEN, Card, Figure, State
from refless.report.wording import clipped, number

QUESTIONS = {
    "learn": "Is it known which outputs teach the estimates most?",
    "mean": "Will these ratings settle the mean?",
    "compare": "Will these ratings settle the difference?",
    "best": "Is the best version known?",
}
UNITS = {"learn": "output", "mean": "output", "compare": "item", "best": "item"}
TAUGHT = "a mean of these outputs as if it were of all: they are no random draw."
NO_VERDICT = "a verdict: it says what to rate, not what is better."
OF_COMPARE = "the verdict: 'refless compare' gives it, with all that it rests on."
NEAR = 1.05  # times the width that is wanted
NOTHING_RATED = "nothing is rated yet"


def card_of(
    choice: Choice, advice: str, command: str, systems: Sequence[str], *, rated: bool
) -> Card:
    """The card on what is chosen, in the raters' units.

    Args:
        choice: what to have rated, and what it should bring.
        advice: what to do with it; command: the lines that do it.
        systems: those that a mean is of.
        rated: whether anything is rated already.
    """
    told = tuple(step for step in choice.curve if not math.isnan(step.width))
    choice = replace(choice, curve=told)
    state, label = _state(choice)
    return Card(
        topic="what to rate",
        question=QUESTIONS[choice.goal],
        state=state,
        label=label,
        answer=_answer(choice, systems, rated=rated),
        rests=_rests(choice),
        further=_further(choice),
        unfit=_unfit(choice),
        advice=advice,
        command=command,
        figures=_pictures(choice),
    )


def _unfit(choice: Choice) -> str:
    """Claims that the choice does not carry."""
    if choice.way == "telling":
        return TAUGHT
    return NO_VERDICT if choice.decided is None else OF_COMPARE


def _state(choice: Choice) -> tuple[State, str]:
    """Whether the chosen ratings settle the question."""
    if choice.race is not None:
        left = choice.race.left
        return ("yes", f"Yes, {left[0]}") if len(left) == 1 else ("open", OPEN)
    if choice.way == "telling":
        return "yes", "Yes"
    if choice.decided is not None:
        return "yes", "It is shown already"
    if not choice.curve:
        return "open", OPEN
    step = _step(choice, choice.n)
    if step is not None and step.width <= choice.within:
        return "yes", "Yes"
    if choice.needed:
        return "with", f"With {counted(choice.needed, UNITS[choice.goal])}"
    if _is_near(choice):
        return "open", "Not quite"
    return "open", f"To {_wide(choice.curve[-1].width, choice.within)} with all"


def _is_near(choice: Choice) -> bool:
    """Whether ratings of all miss by little what is wanted."""
    return choice.curve[-1].width < NEAR * choice.within


def _wide(width: float, within: float) -> str:
    """A width, with digits that tell it from what is wanted."""
    short = number(width, 2)
    return f"±{number(width) if short == number(within, 2) else short}"


def _step(choice: Choice, n: int) -> Step | None:
    """The width that so many ratings should bring; None if it is not known."""
    return next((step for step in choice.curve if step.n == n), None)


def _answer(choice: Choice, systems: Sequence[str], *, rated: bool) -> str:
    if choice.race is not None:
        return _of_race(choice, choice.race)
    rate = f"Rate these {counted(choice.n, UNITS[choice.goal])}"
    if choice.way == "telling":
        return f"{rate}: they should teach the estimates most."
    if choice.look is not None:
        done = (
            f"{choice.already + choice.n:,} of {counted(choice.look.planned, 'item')}"
        )
        return f"{rate}: then {done} that are planned have their ratings."
    step = _step(choice, choice.n)
    if step is None:
        why = "their errors are unknown" if rated else NOTHING_RATED
        return f"{rate}, drawn at random. What they bring cannot be told: {why}."
    aim = "mean" if choice.goal == "mean" else "difference"
    if len(systems) > 1:
        aim = f"mean of all {len(systems)} systems together"
    if len(systems) == 2:
        aim = f"mean of {clipped(systems[0])} and {clipped(systems[1])} together"
    now = _step(choice, 0)
    today = "" if now is None else f"; today it is {_wide(now.width, choice.within)}"
    told = f"tell the {aim} to {_wide(step.width, choice.within)}{today}"
    if choice.decided is not None:
        leader = clipped(turned(choice.decided).second)
        return f"{leader} leads already. {rate} to {told}."
    return f"{rate}: that should {told}."


def _of_race(choice: Choice, race: Race) -> str:
    """The versions that are left, and what to rate of them."""
    standing = standing_said(race)
    if len(race.left) > 3:
        standing = f"{len(race.left)} of {len(race.systems)} systems are left."
    if not len(choice.rows):
        return standing
    more = "more " if race.items else ""
    return f"{standing} Rate {counted(choice.n, f'{more}item')} of each."


def _rests(choice: Choice) -> str:
    """The choice, and the ratings that settle the question."""
    if choice.race is not None:
        race = choice.race
        return f"Rests on {race.items:,} of {counted(race.planned, 'item')}."
    unit = UNITS[choice.goal]
    noun = f"different {unit}" if choice.goal == "learn" else unit
    chosen = f"{choice.n:,} of {counted(choice.units, noun)}"
    how = "by what they teach" if choice.way == "telling" else "at random"
    rests = f"Chosen {how}: {chosen}"
    if choice.every > choice.units:
        rests = f"{rests} that lack a rating, of {choice.every:,} in all"
    return f"{rests}."


def _further(choice: Choice) -> str:
    """The ratings that settle the question, in a sentence; "" if none are forecast."""
    if choice.pair is not None and choice.look is not None:
        return further_of(choice.pair, these=False).said
    if not choice.curve:
        return ""
    if choice.decided is not None:
        return f"not needed to tell which is better; {_to_width(choice)}"
    return _to_width(choice)


def _to_width(choice: Choice) -> str:
    """The ratings with which the interval is as narrow as is asked."""
    unit = UNITS[choice.goal]
    aim = f"({called('within')}, by default 5 % of the scale)"
    within = f"±{number(choice.within, 2)} {aim}"
    first = choice.curve[0]
    if first.n == 0 and first.width <= choice.within:
        return f"not needed: it is known to {within} already."
    if choice.needed:
        more = "more " if choice.already else ""
        return f"about {counted(choice.needed, f'{more}{unit}')} settle it to {within}."
    every = choice.every
    width = choice.curve[-1].width
    needed = needed_if_steady(every, width, choice.within) or every
    more = (
        f"about {counted(needed - every, unit)}" if needed > every else f"more {unit}s"
    )
    if _is_near(choice):
        brings = _wide(width, choice.within)
        short = f"all {choice.units:,} bring about {brings}, just short of {within}"
        return f"{short}: {more} beyond them reach it."
    best = _wide(width, choice.within)
    return f"all of them bring {best}, not {within}: that takes {more} beyond them."


def _pictures(choice: Choice) -> tuple[Figure, ...]:
    """The width of the interval after so many ratings, or the versions in a race."""
    if choice.race is not None:
        return _race_picture(choice.race)
    if not choice.curve:
        return ()
    unit = UNITS[choice.goal]
    marks = [Mark(value=choice.within, style="c1")]
    caption = (
        "Half the width of the 95 % interval after so many ratings: the point is expected, and in "
        "nine of ten cases it will lie on the line. Dashed: narrow enough."
    )
    if choice.pair is not None and not math.isnan(choice.pair.difference.value):
        marks.append(Mark(value=abs(choice.pair.difference.value), style="c3"))
        caption += " Dots and dashes: today's difference."
    lines = [
        Line(
            name=_after(step.n, unit), value=step.width, interval=(step.low, step.high)
        )
        for step in choice.curve
    ]
    return (row_chart(lines, "± around it", "Width", caption, zero=True, marks=marks),)


def _after(n: int, unit: str) -> str:
    return f"{n:,} {unit}s" if n else "today"


def _race_picture(race: Race) -> tuple[Figure, ...]:
    """The means of the versions, those in grey that are dropped; none before the first rating."""
    racers: Sequence[Line] = [
        Line(
            name=racer.name,
            value=racer.mean,
            interval=racer.interval,
            style="c0" if racer.behind is None else "c3",
        )
        for racer in race.systems
    ]
    if not race.items:
        return ()
    caption = (
        "Mean ratings with 95 % intervals. Grey: shown to be worse than another version, so it "
        "is dropped."
    )
    return (row_chart(racers, "mean rating", "The race", caption),)
