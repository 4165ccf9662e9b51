"""The answer of `validate` as a card: its state, few words, one picture, what to do now."""

import math

import numpy as np

from refless.commands.validate.leaderboard import ENOUGH, Leaderboard, MethodLine
from refless.commands.validate.verdict import NOTHING_SHOWN, YES_OR_NO, worth_using
from refless.evaluation.baselines import CONSTANT, RIDGE, RIDGE_SOURCES
from refless.evaluation.further import DECIDED, UNKNOWN, first_open
from refless.evaluation.jackknife import FEWEST
from refless.registry.arrays import FloatArray, IntArray
from refless.report.document import Card, Figure, State
from refless.report.pictures import CalibrationPoint, calibration_picture
from refless.report.units import RatingUnits
from refless.report.wording import percent, sentence, with_interval
from refless.stats.clusters import effective_size
from refless.stats.intervals import student

QUESTION = "Do estimates help?"
PARTS = 5  # of the outputs, by their estimates
FEWEST_IN_PART = 5
CAPTION = (
    "A dot an output; rings: the mean rating of each fifth of them, from the lowest estimates to "
    "the highest, with 95 % confidence. Good estimates lie along the dashed line; along the flat "
    "one they tell no more than the average."
)
SINGLE = "single outputs: each may be off by {} or more."
ADVICE: dict[State, str] = {
    "yes": "estimate new outputs, and decide by the mean of many.",
    "no": "do not use these estimates; rate outputs, or ask again with more ratings.",
    "open": "do not act on estimates of single outputs; ask again with more ratings.",
}


def card_of(
    table: Leaderboard,
    people: FloatArray,
    estimates: FloatArray,
    unit: IntArray,
    span: float,
    agree: str,
    command: str,
    *,
    of_verdicts: bool,
    named: bool,
    left: int,
    read: str,
) -> Card:
    """The card on estimates of rated outputs that were held out.

    Args:
        table: all methods side by side.
        people, estimates: [n] of the outputs that have an estimate, in the raters' units.
        unit: [n] what was drawn as a whole.
        span: raters' units in a unit of `table`.
        agree: what is known of raters; command: the line that estimates outputs.
        of_verdicts: whether ratings are passes and fails.
        named: whether the user named the estimators; left: rows that nobody rated yet.
        read: the parts of outputs that estimates are made of.
    """
    units = RatingUnits(of_verdicts)
    average = float(people.mean()) if len(people) else math.nan
    guess = f"guessing the average, {units.mean(average)}"
    state, answer = _answer(table, guess, _among_others(table) if named else "")
    off = units.size(span * math.sqrt(table.first.mse))
    on = f"Rests on {table.first.n_scored} rated outputs"
    errors = f"off by {off} (root mean square)"
    for each in _flat(table):
        flat = max(table.first.mse - each.saved, 0.0)  # of texts with an estimate
        errors += f", the average by {units.size(span * math.sqrt(flat))}"
    errors += spared_said(table)
    others = _beside(table) if named else []
    beside = " ".join([f"{errors}.", *others, agree])
    return Card(
        topic="estimates",
        question=QUESTION,
        state=state,
        label=YES_OR_NO[state],
        answer=answer,
        rests=f"{on}, each estimated from {read}, without its rating: {beside}",
        further=DECIDED if state != "open" else _further(table, left),
        unfit=SINGLE.format(off) if state == "yes" else NOTHING_SHOWN,
        advice=ADVICE[state],
        command=command if state == "yes" else "",
        figures=(_picture(people, estimates, unit, average),),
    )


def spared_said(table: Leaderboard) -> str:
    """By how much estimates make the average's squared errors smaller, with its interval."""
    share, ends = table.spared
    if ends[0] != ends[0]:
        return ""
    low, high = map(_smaller, ends)
    return f"; squared errors are {_smaller(share)} (95 % interval {low} to {high})"


def _smaller(share: float) -> str:
    """`10 % smaller`, or `5 % larger`."""
    return f"{percent(abs(share))} {'larger' if share < 0 else 'smaller'}"


def _beside(table: Leaderboard) -> list[str]:
    """The difference of each further estimator from the one to use, a sentence each."""
    lines = []
    for line in table.others:
        low, high = line.gain_interval
        if low == low:
            told = "not told apart"
            if low > 0 or high < 0:
                told = "better" if low > 0 else "worse"
            gap = with_interval(line.gain, line.gain_interval)
            pair = f"{sentence(line.name)} against {table.reference}"
            lines.append(f"{pair}: {told}, {gap} in Spearman.")
    return lines


def _among_others(table: Leaderboard) -> str:
    """The name of the estimator to use, and its place among those that were named."""
    name = table.first.name
    others = [line for line in table.others if line.coverage >= ENOUGH]
    if not others or math.isnan(table.first.spearman):
        return name
    alike = [line.name for line in others if not _is_behind(line)]
    if not alike:
        return f"{name}, the best of {len(others) + 1},"
    rest = alike[0] if len(alike) == 1 else f"{len(alike)} others"
    return f"{name}, not told apart from {rest},"


def _is_behind(line: MethodLine) -> bool:
    """Whether an estimator ranks texts less well than the one to use, or not at all."""
    return line.gain_interval[1] < 0 or math.isnan(line.spearman)


def _answer(table: Leaderboard, guess: str, name: str) -> tuple[State, str]:
    """Whether estimates are shown to help, and why, in few words, of an estimator of a name."""
    who = f"{name} is " if name else ""
    than = f" than {name}".removesuffix(",") if name else ""
    line = table.first
    rival = table.rival
    flat = _flat(table)
    if line.n_scored < FEWEST:
        return "open", f"Not known: {line.n_scored} estimates are too few to tell."
    if any(each.saved_interval[0] > 0 for each in flat):
        return "no", f"No: {guess}, errs less{than}."
    if rival.gain_interval[0] > 0:
        return "no", f"No: {_plain(rival.name)} agrees with people better{than}."
    better = all(each.saved_interval[1] < 0 for each in flat)
    if not better:
        outputs = f"{line.n_scored} rated outputs"
        shown = sentence(f"{who}not shown to be better than {guess}")
        return "open", f"{shown}, with {outputs}."
    if not worth_using(table):
        better_than = sentence(f"{who}better than {guess}")
        return "open", f"{better_than}, but {_plain(rival.name)} may do as well."
    if not rival.gain_interval[1] < 0:
        return (
            "yes",
            f"Yes: {who}better than {guess}; {_plain(rival.name)} may do as well.",
        )
    return "yes", f"Yes: {who}better than {guess}, for every output."


def _plain(name: str) -> str:
    """The name of a baseline in plain words."""
    return "a simple word-count model" if name in {RIDGE, RIDGE_SOURCES} else name


def _flat(table: Leaderboard) -> list[MethodLine]:
    """The mean rating as an estimate, if it is among the methods."""
    return [line for line in table.methods if line.name == CONSTANT]


def _further(table: Leaderboard, left: int) -> str:
    """The rated outputs that would tell whether estimates help, in a sentence."""
    line = table.first
    if math.isnan(line.spearman):  # estimates are all alike, however many are rated
        return UNKNOWN
    numbers = [(each.saved, each.saved_interval, 0.0) for each in _flat(table)]
    numbers.append((line.spearman, line.spearman_interval, 0.0))
    numbers.append((table.rival.gain, table.rival.gain_interval, 0.0))
    return first_open(numbers, line.n_scored, "rated output", left)


def _picture(
    people: FloatArray, estimates: FloatArray, unit: IntArray, average: float
) -> Figure:
    """Estimates that know nothing of an output's own rating, against these ratings."""
    n = len(people)
    order = np.argsort(estimates, kind="stable")
    parts = np.array_split(order, PARTS) if n >= PARTS * FEWEST_IN_PART else []
    points = [_point(people[rows], estimates[rows], unit[rows]) for rows in parts]
    return calibration_picture(
        points,
        "estimate, made without the output's own rating",
        "people give",
        CAPTION,
        dots=[*zip(estimates.tolist(), people.tolist(), strict=True)],
        average=average,
    )


def _point(
    people: FloatArray, estimates: FloatArray, unit: IntArray
) -> CalibrationPoint:
    """The mean rating of outputs with alike estimates, by Student's t over their units."""
    mean = float(people.mean())
    size = effective_size(people - mean, unit)
    half = student(max(size - 1, 1)) * float(people.std()) / math.sqrt(max(size - 1, 1))
    return CalibrationPoint(
        at=float(estimates.mean()), mean=mean, interval=(mean - half, mean + half)
    )
