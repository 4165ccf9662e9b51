"""Outputs item by item, a column a version, with ratings, a judge's scores and estimates."""

import numpy as np

from refless.data.records import Texts
from refless.registry.arrays import FloatArray, IntArray
from refless.report.document import OutputShown, SideBySide

FAR = 2.0  # points between judge and people
HALF = 0.5  # of verdicts
MOST_SYSTEMS = 4  # columns


def side_by_side(
    texts: Texts,
    people: FloatArray,
    estimates: FloatArray,
    first_rows: IntArray,
    *,
    percent: bool,
    doubt: bool,
) -> SideBySide | None:
    """The outputs of the first systems; None if there are no texts.

    Args:
        texts: the outputs.
        people, estimates: [n] in the raters' units, NaN where there is none.
        first_rows: [n] where each stands in its file; empty if several files have them.
        percent, doubt: as in `SideBySide`.
    """
    if not any(texts.texts):
        return None
    systems = sorted({*texts.systems})[:MOST_SYSTEMS] or [""]
    judge = next(iter(texts.score_names), "")
    rows: dict[str, dict[str, OutputShown]] = {}
    keys = texts.items or texts.sources or texts.ids
    of_rows = texts.systems or [""] * len(texts)
    scores = texts.score(judge) if judge else np.full(len(texts), np.nan)
    for i in (
        np.argsort(first_rows, kind="stable") if len(first_rows) else range(len(texts))
    ):
        answers = rows.setdefault(keys[i], {})
        answers[of_rows[i]] = OutputShown(
            text=texts.texts[i],
            people=_number(people[i]),
            judge=_number(scores[i]),
            estimate=_number(estimates[i]),
        )
    # the source of each item, or what the rows call it
    names = dict(zip(keys, texts.sources or keys, strict=True))
    return SideBySide(
        systems=tuple(systems),
        judge=judge,
        apart=HALF if percent else FAR,
        percent=percent,
        items=tuple(names[key] for key in rows),
        answers=tuple(tuple(map(answers.get, systems)) for answers in rows.values()),
        doubt=doubt,
    )


def _number(value: float) -> float | None:
    """A number with three digits after the point; None where it is undefined."""
    return None if np.isnan(value) else round(float(value), 3)
