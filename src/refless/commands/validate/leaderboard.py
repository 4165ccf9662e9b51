"""Several estimators and baselines on the same texts: which to use, and whether it is worth it."""

import math
from typing import Literal

from refless.evaluation.jackknife import FEWEST
from refless.evaluation.leaderboard import Line, SideBySide
from refless.report.document import Section, Table
from refless.report.wording import percent, sentence, with_interval

FEWEST_DRAWN, ENOUGH_DRAWN = 20, 60  # texts or groups; see benchmarks/promises.py
FEW = "which is few: they are wide, and rough"
NEARLY_ALL = 0.995  # of the texts: below this share the coverage is told
SCORES = (
    " Of scores alone ratings are predicted as the other folds ask for: from one by isotonic "
    "regression, rising or falling, from several by a ridge."
)
TITLE = "Side by side on the same texts"


def side_by_side_section(found: SideBySide, group: str) -> Section:
    """Every method on the same texts; `group`: what was held out together."""
    return Section(title=TITLE, table=_table(found), lines=(_legend(found, group),))


def worth_using(found: SideBySide) -> bool:
    """Whether the chosen estimator is shown to agree with people, and nothing simple is ahead."""
    return standing_of(found) in {"better", "alike"}


Standing = Literal["few", "score", "none", "baseline", "behind", "better", "alike"]


def standing_of(found: SideBySide) -> Standing:
    """How the chosen estimator stands to people and to the best baseline, in a word.

    `few` estimates; a `score` that others gave is better; `none` agrees with people; a `baseline`
    is shown to be better; it is `behind` one, or errs more than a constant, as far as numbers go;
    it is `better` than the best baseline; or they are `alike`, as far as is shown.
    """
    line, rival = found.first, found.rival
    if line.n_scored < FEWEST:
        return "few"
    if rival.name in found.scores and rival.gain_interval[0] > 0:
        return "score"
    if not line.spearman_interval[0] > 0:
        return "none"
    if rival.gain_interval[0] > 0:
        return "baseline"
    if rival.gain > 0 or found.constant is not None:
        return "behind"
    return "better" if rival.gain_interval[1] < 0 else "alike"


def recommendation(found: SideBySide) -> str:
    """Which estimator to use, and whether it is worth using at all, in a sentence or two."""
    few = "too few to rely on" if found.n_drawn < FEWEST_DRAWN else FEW
    if found.n_drawn < ENOUGH_DRAWN:
        return f"{_recommended(found)} Intervals rest on {found.n_drawn} groups only, {few}."
    return _recommended(found)


def _recommended(found: SideBySide) -> str:
    line, rival, standing = found.first, found.rival, standing_of(found)
    agreed = f"Spearman {with_interval(line.spearman, line.spearman_interval)}"
    if line.coverage < NEARLY_ALL:
        agreed += f" on the {percent(line.coverage)} of the texts with an estimate"
    lost = with_interval(rival.gain, rival.gain_interval)
    gap = with_interval(-rival.gain, [-end for end in rival.gain_interval[::-1]])
    ranked, errs = _ahead(found), _constant(found)
    both = ", and ".join(filter(None, (ranked, errs)))
    name = sentence(line.name)
    behind = f"{name} ranks texts as people do, {agreed}, but {errs}."
    if ranked:
        behind = f"No reason to use {line.name} is shown: {both}. {name} has {agreed}."
    return {
        "few": f"{line.n_scored} estimates are too few to tell which estimator to use.",
        "score": f"Use {rival.name}: it agrees with people better than {line.name}, by {lost}.",
        "none": f"Use none: no agreement with people is shown ({line.name}: {agreed})"
        f"{f', and {both}' if both else ''}.",
        "baseline": f"Use none: a baseline, {rival.name}, agrees with people better than "
        f"{line.name}, by {lost}{f', and {errs}' if errs else ''}.",
        "behind": behind,
        "better": f"Use {line.name}: it agrees with people, {agreed}, better than the best "
        f"baseline, {rival.name}, by {gap}.",
        "alike": f"{name} agrees with people, {agreed}, but it is not shown to do "
        f"better than the best baseline, {rival.name}: the difference is {gap}.",
    }[standing]


def _ahead(found: SideBySide) -> str:
    """Which baselines have a higher correlation with people; "" if none has."""
    names = [line.name for line in found.rivals if line.gain > 0]
    if not names:
        return ""
    lost = with_interval(found.rival.gain, found.rival.gain_interval)
    also = f" (so {'is' if len(names) == 2 else 'are'} {' and '.join(names[1:])})"
    return f"{names[0]} is ahead of it in Spearman by {lost}{also if names[1:] else ''}"


def _constant(found: SideBySide) -> str:
    """That a constant has the smaller mean squared error; "" if it has not."""
    line = found.constant
    if line is None:
        return ""
    saved = with_interval(line.saved, line.saved_interval, 4)
    return f"a constant errs less, by {saved} in mean squared error"


def _table(found: SideBySide) -> Table:
    """One row a method."""
    rows = tuple(_row(line, found) for line in found.methods)
    header = ("", "Spearman [95 %]", "difference [95 %]", "covered")
    return Table(header=header, rows=rows, numeric=(False, True, True, True))


def _row(line: Line, found: SideBySide) -> tuple[str, ...]:
    ranks = not math.isnan(line.spearman)
    against = ranks and line.name != found.reference
    return (
        line.name.removeprefix("the "),
        with_interval(line.spearman, line.spearman_interval) if ranks else "-",
        with_interval(line.gain, line.gain_interval) if against else "-",
        percent(line.coverage),
    )


def _legend(found: SideBySide, group: str) -> str:
    """What the rows are."""
    without = "its own rating" if group == "id" else f"the ratings of its {group}"
    return (
        f"Each text is estimated without {without}. Difference: Spearman minus that of "
        f"{found.reference}, on the texts that both have an estimate for. Correlations are within "
        f"folds that one model has judged. Baselines: {', '.join(found.baselines)}."
        f"{SCORES if found.scores else ''}"
    )
