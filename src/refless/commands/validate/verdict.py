"""Whether an estimator is worth using: sentences that numbers and their intervals alone decide."""

import math

from refless.commands.validate.leaderboard import Leaderboard
from refless.commands.validate.validation import Validation
from refless.evaluation.jackknife import FEWEST
from refless.report.document import OPEN, State
from refless.report.wording import number, percent, sentence, with_interval

# texts or groups; see benchmarks/promises.py
FEWEST_DRAWN = 20
ENOUGH_DRAWN = 60
YES_OR_NO: dict[State, str] = {"yes": "Yes", "no": "No", "open": OPEN}
NOTHING_SHOWN = (
    "decisions by these estimates: they are not shown to beat simple rivals."
)
NEARLY_ALL = 0.995  # of the texts: below this share the coverage is told


def annotator_lines(result: Validation) -> tuple[str, ...]:
    """The estimator beside one average annotator, on equal terms; nothing without one.

    A difference counts if its 95 % interval leaves out 0, and if the estimator is shown to agree
    with people at all.
    """
    agreement = result.estimator
    versus = result.beside
    if versus is None or math.isnan(versus.annotator) or agreement.n_scored < FEWEST:
        return ()
    low, high = versus.difference_interval
    gap = with_interval(versus.estimator - versus.annotator, versus.difference_interval)
    average = with_interval(versus.annotator, versus.annotator_interval)
    equal_terms = (
        "On equal terms, both against the mean of the other annotators, Spearman is "
        f"{number(versus.estimator)} for the estimates and {average} for the average annotator: a "
        f"difference of {gap}."
    )
    lines = [equal_terms]
    if agreement.spearman_interval[0] > 0 and not math.isnan(low):
        finding = f"No difference is shown; it may agree with people up to {number(-low)} less well"
        if low > 0:
            finding = "It agrees with people better than one average annotator does"
        elif high < 0:
            finding = "It agrees with people less well than one average annotator does"
        lines.append(f"{finding}.")
    return tuple(lines)


def worth_using(table: Leaderboard) -> bool:
    """Whether the chosen estimator is shown to agree with people, and nothing simple is ahead."""
    line = table.first
    agrees = line.n_scored >= FEWEST and line.spearman_interval[0] > 0
    return agrees and not table.rival.gain > 0 and table.constant is None


def verdict(table: Leaderboard, span: float = 1.0) -> str:
    """The estimator to use, and whether it is worth using at all, in a sentence or two.

    Args:
        table: all methods side by side; span: raters' units in 1 of its errors.
    """
    return _verdict(table, span) + resting_on(table.n_drawn, "groups")


def resting_on(n: int, unit: str) -> str:
    """That intervals rest on few of what is drawn; "" if there are enough."""
    if n >= ENOUGH_DRAWN:
        return ""
    few = "which is few: they are wide, and rough"
    if n < FEWEST_DRAWN:
        few = "too few to rely on"
    return f" Intervals rest on {n} {unit} only, {few}."


def _verdict(table: Leaderboard, span: float) -> str:
    line = table.first
    rival = table.rival
    name = sentence(table.first.name)
    agreed = f"Spearman {with_interval(line.spearman, line.spearman_interval)}"
    if line.coverage < NEARLY_ALL:
        agreed += f" on the {percent(line.coverage)} of the texts with an estimate"
    lost = with_interval(rival.gain, rival.gain_interval)
    gap = with_interval(-rival.gain, [-end for end in rival.gain_interval[::-1]])
    ranked = _ahead(table)
    errs = _constant(table, span)
    both = ", and ".join(filter(None, (ranked, errs)))
    if line.n_scored < FEWEST:
        return f"{line.n_scored} estimates are too few to tell which estimator to use."
    if rival.name in table.scores and rival.gain_interval[0] > 0:
        return f"Use {rival.name}: it agrees with people better than {line.name}, by {lost}."
    if not line.spearman_interval[0] > 0:
        why = f"{line.name}: {agreed}"
        more = f", and {both}" if both else ""
        return f"Use none: no agreement with people is shown ({why}){more}."
    if rival.gain_interval[0] > 0:
        better = f"{rival.name}, agrees with people better than {line.name}, by {lost}"
        more = f", and {errs}" if errs else ""
        return f"Use none: a baseline, {better}{more}."
    if ranked:
        return f"No reason to use {line.name} is shown: {both}. {name} has {agreed}."
    if errs:
        return f"{name} ranks texts as people do, {agreed}, but {errs}."
    if rival.gain_interval[1] < 0:
        best = f"better than the best baseline, {rival.name}, by {gap}"
        return f"Use {line.name}: it agrees with people, {agreed}, {best}."
    best = f"better than the best baseline, {rival.name}: the difference is {gap}"
    return f"{name} agrees with people, {agreed}, but it is not shown to do {best}."


def _ahead(table: Leaderboard) -> str:
    """The baselines that have a higher correlation with people; "" if none has."""
    names = [line.name for line in table.rivals if line.gain > 0]
    if not names:
        return ""
    lost = with_interval(table.rival.gain, table.rival.gain_interval)
    ahead = f"{names[0]} is ahead of it in Spearman by {lost}"
    if len(names) == 1:
        return ahead
    verb = "is" if len(names) == 2 else "are"
    return f"{ahead} (so {verb} {' and '.join(names[1:])})"


def _constant(table: Leaderboard, span: float) -> str:
    """That a constant has the smaller mean squared error, or may have; "" if it has not."""
    line = table.constant
    if line is None:
        return ""
    square = span**2
    low, high = line.saved_interval
    saved = with_interval(square * line.saved, (square * low, square * high), 4)
    if line.saved_interval[0] > 0:
        return f"a constant errs less, by {saved} in mean squared error"
    return f"it is not shown to err less than a constant ({saved} more in mean squared error)"
