"""What texts add to scores of others, and these to texts, in words."""

import math

from refless.evaluation.differences import Difference
from refless.evaluation.leaderboard import Line, SideBySide
from refless.evaluation.versus_judges import TOGETHER, BesideScores
from refless.report.document import Section
from refless.report.wording import number, with_interval


def scores_section(found: BesideScores, table: SideBySide) -> Section:
    """The sentences under a heading."""
    return Section(title=f"Texts and {_named(found)}", lines=said(found, table))


def said(found: BesideScores, table: SideBySide) -> tuple[str, ...]:
    """What the texts add to the scores, and what the scores add to the texts.

    "Better" and "less well" are said where the interval of the difference leaves out 0, and why
    there is no difference where there is none.
    """
    scores = _named(found)
    lines = {line.name: line for line in table.methods}
    both, alone, texts = (lines[name] for name in (found.both, found.scores, found.texts))
    named = _best(found)
    together, nothing = f"Texts and {scores} together", "that can be shown"
    add = "adds" if len(found.columns) == 1 else "add"
    beside, other = _against(both, alone, found.texts_add), _against(both, texts, found.scores_add)
    return (
        _undefined(f"The texts cannot be compared with {scores}", both, alone, found.texts_add)
        or _chosen(
            found.texts_add,
            f"{together} agree with people better than {named}: {beside}.",
            f"Beside {scores} the texts add nothing {nothing}: {beside}.",
            f"{together} agree with people less well than {named}: {beside}.",
        ),
        _undefined(
            f"What {scores} {add} to the texts cannot be told", both, texts, found.scores_add
        )
        or _chosen(
            found.scores_add,
            f"{together} agree with people better than the texts alone: {other}.",
            f"Beside the texts {scores} {add} nothing {nothing}: {other}.",
            f"{together} agree with people less well than the texts alone: {other}.",
        ),
    )


def _against(both: Line, other: Line, gap: Difference) -> str:
    """Both numbers and their difference, and of which texts it is where that is not all."""
    where = "" if min(both.coverage, other.coverage) == 1 else " on the texts that both have"
    pair = f"Spearman {number(both.spearman)} against {number(other.spearman)}"
    return f"{pair}, difference{where} {with_interval(gap.value, gap.interval)}"


def _undefined(start: str, both: Line, other: Line, gap: Difference) -> str:
    """Why there is no difference or no interval of it; "" where there is."""
    if not math.isnan(gap.value + gap.interval[0]):
        return ""
    for line in (both, other):
        if math.isnan(line.spearman):
            why = "has no estimate" if line.n_scored == 0 else "ranks no text above another"
            return f"{start}: {line.name} {why}."
    return f"{start}: too few texts have an estimate of both."


def _chosen(gap: Difference, better: str, unclear: str, worse: str) -> str:
    low, high = gap.interval
    return better if low > 0 else worse if high < 0 else unclear


def _best(found: BesideScores) -> str:
    """What both are held against, of the scores alone."""
    if len(found.columns) == 1:
        return f"{_named(found)} alone"
    every = found.scores == TOGETHER
    return "the scores alone" if every else f"the best of the scores, {found.scores}"


def _named(found: BesideScores) -> str:
    return f"'{found.columns[0]}'" if len(found.columns) == 1 else "the scores"
