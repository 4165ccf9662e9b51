"""Where an estimator stands among single annotators."""

import math
from collections.abc import Sequence

import numpy as np

from refless.evaluation.annotators import ERRORS, Annotators, annotator_interval
from refless.evaluation.validation import Validation
from refless.evaluation.versus_annotators import BesideAnnotators
from refless.registry.arrays import FloatArray
from refless.registry.plural import counted
from refless.report.charts import Mark, histogram
from refless.report.document import Figure, Key, Section, Table
from refless.report.wording import MEASURES, labels, number, percent, title

SHOWN = ("spearman", "mse")
NO_OTHERS = (
    "No comparison with single annotators: no two annotators rated the same text, so nobody can be "
    "compared with the others."
)
MOST_ROWS = 500  # annotators in the table
NO_NAMES = (
    "No comparison with single annotators: the ratings do not say who gave them. With a column of "
    "annotators this part shows how well single people agree with the others."
)


def annotators_section(result: Validation, others: Annotators | None, seed: int) -> Section:
    """The annotators' distribution and our place in it.

    Args:
        result: with annotators against the human rating that holds their own ratings, as published.
        others: the same with their own ratings left out, None where nobody rated the same text.
        seed: of the bootstrap over annotators.
    """
    heading, people = "Among single annotators", result.annotators
    if people is None:
        return Section(title=heading, lines=(NO_NAMES,))
    if others is None:
        return Section(title=heading, lines=(NO_OTHERS,))
    line = (
        f"Each of {others.n:,} annotators against the mean of the others who rated the same "
        "texts; each on the texts that this one rated. Values of those with few texts vary widely."
    )
    figures = tuple(_figure(others, result.beside, name, seed) for name in SHOWN)
    return Section(title=heading, lines=(line,), figures=figures)


def _figure(people: Annotators, beside: BesideAnnotators | None, name: str, seed: int) -> Figure:
    values = np.array([getattr(one, name) for one in people.per_annotator], dtype=np.float64)
    pairs, digits = _pairs(beside, name), MEASURES[name]
    ours = float(pairs[:, 1].mean()) if len(pairs) else math.nan
    average, spread = people.average[name], annotator_interval(people, name, seed)
    shown = title(name)
    marks = [Mark(value=average, style="c2", interval=spread)]
    if not math.isnan(ours):
        marks.append(Mark(value=ours, style="c1"))
    place = _place(pairs, name)
    svg, rows = histogram(
        values, f"Annotators by {shown}. {place}", x=shown, y="annotators", marks=marks
    )
    keys = (
        Key(name=f"estimator {number(ours, digits)}, mean over annotators", style="mark c1"),
        Key(name=f"average annotator {number(average, digits)}", style="mark c2"),
    )
    return Figure(svg=svg, caption=place, table=_table(people, rows, shown, name), keys=keys)


def _pairs(beside: BesideAnnotators | None, name: str) -> FloatArray:
    """[annotators, 2] the annotator's and the estimator's measure, where both are defined."""
    pairs = np.zeros((0, 2)) if beside is None else getattr(beside, name)
    return np.asarray(pairs[np.isfinite(pairs).all(axis=1)], dtype=np.float64)


def _place(pairs: FloatArray, name: str) -> str:
    """How many annotators the estimator does better than, on the texts of each."""
    if not len(pairs):
        return f"{title(name)}: no place among annotators, as it is undefined."
    below = name in ERRORS
    gaps = pairs[:, 1] - pairs[:, 0]
    better = int((gaps < 0).sum() if below else (gaps > 0).sum())
    word = "lower" if below else "higher"
    share = percent(better / len(pairs))
    return (
        f"{title(name)} on each one's texts, with the mean of the others: {word} (better) than "
        f"that of {better:,} of {counted(len(pairs), 'annotator')} ({share})."
    )


def _table(people: Annotators, rows: Sequence[tuple[str, str]], shown: str, name: str) -> Table:
    """Single annotators, or the bars where they are too many."""
    if people.n > MOST_ROWS:
        return Table(header=(shown, "annotators"), rows=tuple(rows))
    names = labels([one.name for one in people.per_annotator], 40)
    return Table(
        header=("annotator", "texts", shown),
        rows=tuple(
            (names[one.name], f"{one.n:,}", number(getattr(one, name), MEASURES[name]))
            for one in people.per_annotator
        ),
    )
