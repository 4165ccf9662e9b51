"""Outputs item by item, a column a version, with ratings, a judge's scores and estimates."""

import numpy as np

from refless.commands.look.asked import Asked
from refless.commands.validate.result import ValidateResult
from refless.data.human import unscaled
from refless.report.document import OutputShown, SideBySide

FAR = 2.0  # points between judge and people
HALF = 0.5  # of verdicts
MOST_SYSTEMS = 4  # columns


def side_by_side(
    asked: Asked, validated: ValidateResult | None, *, doubt: bool
) -> SideBySide | None:
    """The outputs of the first systems; None if there are no texts."""
    texts = asked.read.texts
    if asked.of_choices or not any(texts.texts):
        return None
    systems = sorted({*texts.systems})[:MOST_SYSTEMS] or [""]
    judge = next(iter(texts.score_names), "")
    rows: dict[str, dict[str, OutputShown]] = {}
    keys = asked.items
    of_rows = texts.systems or [""] * len(texts)
    people = asked.people
    scores = texts.score(judge) if judge else [None] * len(texts)
    estimates = _estimates(validated)
    for i in _in_file_order(asked):
        answers = rows.setdefault(keys[i], {})
        answers[of_rows[i]] = OutputShown(
            text=texts.texts[i],
            people=_number(people[i]),
            judge=_number(scores[i]),
            estimate=estimates.get(texts.ids[i]),
        )
    # the source of each item, or what the rows call it
    names = dict(zip(keys, texts.sources or keys, strict=True))
    return SideBySide(
        systems=tuple(systems),
        judge=judge,
        apart=HALF if asked.percent else FAR,
        percent=asked.percent,
        items=tuple(names[key] for key in rows),
        answers=tuple(tuple(map(answers.get, systems)) for answers in rows.values()),
        doubt=doubt,
        file=asked.file,
    )


def _in_file_order(asked: Asked) -> list[int]:
    """The outputs as their rows stand in the file, where one file has them all."""
    first_rows = asked.read.first_rows
    if not len(first_rows):
        return [*range(len(asked.read.texts))]
    return [int(i) for i in np.argsort(first_rows, kind="stable")]


def _estimates(validated: ValidateResult | None) -> dict[str, float]:
    """Held-out estimates in the raters' units, by id."""
    if validated is None:
        return {}
    result = validated.validation
    values = unscaled(result.estimates.values, result.pool.scale)
    pairs = zip(result.pool.ids, values.tolist(), strict=True)
    return {name: value for name, value in pairs if value == value}


def _number(value: float | None) -> float | None:
    """A number with three digits after the point; None where it is undefined."""
    if value is None or value != value:
        return None
    return round(float(value), 3)
