"""Outputs item by item, a column a version, with ratings, a judge's scores and estimates."""

from collections.abc import Sequence

import numpy as np

from refless.data.records import Scale, Texts
from refless.evaluation.scales import are_ratings
from refless.registry.arrays import FloatArray, IntArray, Strings
from refless.report.document import OutputShown, SideBySide

FAR = 0.25  # of the scale, between judge and people
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
    scale: Scale | None = None,
    why: Strings = (),
) -> SideBySide | None:
    """The outputs, an item a row and a system a column; of many systems an output a row.

    None if there are no texts.

    Args:
        texts: the outputs.
        people, estimates: [n] in the raters' units, NaN where there is none.
        first_rows: [n] where each stands in its file; empty if several files have them.
        percent, doubt: as in `SideBySide`.
        scale: of the ratings, or None.
        why: [n] what the judge said of each, or ().
    """
    if not any(texts.texts):
        return None
    systems = sorted({*texts.systems}) or [""]
    columns = texts.systems or ("",) * len(texts)
    keys = texts.items or texts.sources or texts.ids
    # the source of each item, or what the rows call it
    names = dict(zip(keys, texts.sources or keys, strict=True))
    one_each = len({*zip(keys, columns, strict=True)}) == len(texts)
    if len(systems) > MOST_SYSTEMS or not one_each:
        names = _names_of_outputs(texts.ids, columns, [names[key] for key in keys])
        systems = [""]
        columns = ("",) * len(texts)
        keys = texts.ids
    judge = next(iter(texts.score_names), "")
    scores = texts.score(judge) if judge else np.full(len(texts), np.nan)
    order = np.argsort(first_rows, kind="stable").tolist()
    rows: dict[str, dict[str, OutputShown]] = {}
    for i in order or range(len(texts)):
        rows.setdefault(keys[i], {})[columns[i]] = OutputShown(
            text=texts.texts[i],
            people=_number(people[i]),
            judge=_number(scores[i]),
            estimate=_number(estimates[i]),
            why=why[i] if why else "",
        )
    judged = scores[~np.isnan(scores)]
    rated = people[~np.isnan(people)]
    return SideBySide(
        systems=tuple(systems),
        judge=judge,
        apart=_least_apart(rated, judged, scale, percent=percent),
        percent=percent,
        items=tuple(names[key] for key in rows),
        answers=tuple(tuple(map(answers.get, systems)) for answers in rows.values()),
        doubt=doubt,
    )


def _least_apart(
    rated: FloatArray, judged: FloatArray, scale: Scale | None, *, percent: bool
) -> float:
    """The least difference that is far apart; 0 of scores in other units than the ratings."""
    if len(rated) == 0 or len(judged) == 0:
        return 0.0
    if percent:
        shares = judged.min() >= 0 and judged.max() <= 1
        return HALF if shares else 0.0
    low, high = scale or (rated.min(), rated.max())
    return FAR * float(high - low) if are_ratings(rated, judged, scale) else 0.0


def _names_of_outputs(
    ids: Strings, systems: Strings, items: Sequence[str]
) -> dict[str, str]:
    """By id, the system of each output and what it answers."""
    names = {}
    for name, system, item in zip(ids, systems, items, strict=True):
        names[name] = f"{system}: {item}" if system else item
    return names


def _number(value: float) -> float | None:
    """A number with three digits after the point; None where it is undefined."""
    return None if np.isnan(value) else round(float(value), 3)
