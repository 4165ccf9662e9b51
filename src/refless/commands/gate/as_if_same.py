"""A gate's verdicts with nothing changed: the labels of two systems dealt anew (an A/A test)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from refless.commands.compare.result import CompareResult
from refless.commands.compare.scores import ScoresResult
from refless.commands.compare.wins_result import WinsResult
from refless.commands.gate.verdict import is_worse
from refless.evaluation.entries import EntryTable, Field
from refless.registry.arrays import codes_of
from refless.stats.answers import Answer
from refless.stats.contrast import contrast

DRAWS = 200
NOT_TOLD = (math.nan, math.nan)


def verdicts_if_same(
    compared: CompareResult | WinsResult | ScoresResult,
    systems: Sequence[str],
    margin: float,
) -> tuple[float, float]:
    """The shares of draws in which the gate would fail, and pass, if both systems were the same.

    NaN where labels cannot be dealt anew: of choices, of estimates alone, of items that are not
    known, and of an answer that holds at any look.
    """
    if isinstance(compared, WinsResult):
        return NOT_TOLD
    fields = compared.fields
    for field in fields.values():
        if field.reach or not field.design.paired or not field.drawn:
            return NOT_TOLD
    bars = [-margin] * len(fields)
    draws = [*swapped_answers(fields, systems)]
    failing = sum(any(is_worse(draw, bars)) for draw in draws)
    passing = sum(
        all(answer.interval[0] >= -margin for answer in draw) for draw in draws
    )
    return failing / DRAWS, passing / DRAWS


def swapped_answers(
    fields: Mapping[str, Field], systems: Sequence[str]
) -> Iterator[list[Answer]]:
    """Differences of two systems in each field, whose labels are swapped at random within units.

    Items of one unit are swapped together, the same in all fields. Were the systems the same, the
    labels would mean nothing, and each draw were as likely as what came.

    Args:
        fields: by name, outputs with ratings, or with scores in their place.
        systems: two, the old one first.
    """
    rng = np.random.default_rng(0)
    tables = {name: EntryTable.of(field) for name, field in fields.items()}
    first = next(iter(tables.values()))
    rows = np.flatnonzero(np.isin(first.system, np.array(systems, dtype=object)))
    arm = np.where(first.system[rows] == systems[1], 1, -1)
    unit = codes_of(first.unit[rows])
    for _ in range(DRAWS):
        swapped = rng.integers(2, size=int(unit.max()) + 1) * 2 - 1
        sign = arm * swapped[unit]
        answers = []
        for name, field in fields.items():
            sample = tables[name].sample(rows, sign)
            result = contrast(
                sample, scale=field.scale, these=field.these, severity=field.severity
            )
            answers.append(result.both)
        yield answers
