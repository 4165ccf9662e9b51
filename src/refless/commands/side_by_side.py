"""Outputs item by item, a column a version, with ratings, a judge's scores and estimates."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from refless.data.records import Scale, Texts
from refless.evaluation.scales import are_ratings
from refless.registry.arrays import FloatArray, IntArray, Strings
from refless.report.document import OutputShown, SideBySide

FAR = 0.5  # of the scale, between judge and people
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
    first: str = "",
    why: Strings = (),
    disputed: Sequence[bool] = (),
) -> SideBySide | None:
    """The outputs, an item a row and a system a column; of many systems an output a row.

    None if there are no texts.

    Args:
        texts: the outputs.
        people, estimates: [n] in the raters' units, NaN where there is none.
        first_rows: [n] where each stands in its file; empty if several files have them.
        percent, doubt, first: as in `SideBySide`.
        scale: of the ratings, or None.
        why: what the judge said of each of the first texts; disputed: whether its raters are far
            apart.
    """
    if not any(texts.texts):
        return None
    systems = sorted({*texts.systems}) or [""]
    columns = texts.systems or ("",) * len(texts)
    order = np.argsort(first_rows, kind="stable").tolist() or range(len(texts))
    keys: Sequence[str] = texts.items or texts.sources or texts.ids
    # the source of each item, or what the rows call it
    titles = texts.sources or keys
    if len(systems) > MOST_SYSTEMS:
        titles = _titles_of_outputs(columns, titles)
        systems = [""]
        columns = ("",) * len(texts)
        keys = texts.ids
    places = _places(keys, columns, order)
    judge = next(iter(texts.score_names), "")
    scores = texts.score(judge) if judge else np.full(len(texts), np.nan)
    rows: dict[tuple[str, int], dict[str, OutputShown]] = {}
    names = {}
    for i in order:
        _, times = place = places[i]
        names[place] = f"{titles[i]} ({times})" if times > 1 else titles[i]
        rows.setdefault(place, {})[columns[i]] = OutputShown(
            text=texts.texts[i],
            people=_number(people[i]),
            judge=_number(scores[i]),
            estimate=_number(estimates[i]),
            why=why[i] if i < len(why) else "",
            disputed=i < len(disputed) and disputed[i],
        )
    judged = scores[~np.isnan(scores)]
    rated = people[~np.isnan(people)]
    return SideBySide(
        systems=tuple(systems),
        judge=judge,
        apart=_least_apart(rated, judged, scale, percent=percent),
        percent=percent,
        items=tuple(map(names.__getitem__, rows)),
        answers=tuple(tuple(map(answers.get, systems)) for answers in rows.values()),
        doubt=doubt,
        first=first,
    )


def _least_apart(
    rated: FloatArray, judged: FloatArray, scale: Scale | None, *, percent: bool
) -> float:
    """The least difference that is far apart; 0 of scores in other units than the ratings."""
    if len(rated) == 0 or len(judged) == 0:
        return 0.0
    if percent:
        shares = judged.min() >= 0 and judged.max() <= 1
        return FAR if shares else 0.0
    low, high = scale or (rated.min(), rated.max())
    return FAR * float(high - low) if are_ratings(rated, judged, scale) else 0.0


def _places(
    keys: Sequence[str], systems: Strings, order: Sequence[int]
) -> dict[int, tuple[str, int]]:
    """By number of an output, its item, and the how many-th of its system for it that it is."""
    times: Counter[tuple[str, str]] = Counter()
    places = {}
    for i in order:
        pair = (keys[i], systems[i])
        times[pair] += 1
        places[i] = (keys[i], times[pair])
    return places


def _titles_of_outputs(systems: Strings, items: Sequence[str]) -> Sequence[str]:
    """[n] the system of each output and what it answers."""
    pairs = zip(systems, items, strict=True)
    return [f"{system}: {item}" if system else item for system, item in pairs]


def _number(value: float) -> float | None:
    """A number with three digits after the point; None where it is undefined."""
    return None if np.isnan(value) else round(float(value), 3)
