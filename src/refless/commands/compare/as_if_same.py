"""Answers with the labels of two systems dealt anew: a gate's verdicts with nothing changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from refless.evaluation.entries import EntryTable, Field
from refless.registry.arrays import codes_of
from refless.stats.answers import Answer
from refless.stats.contrast import contrast

DRAWS = 200


def swapped_answers(
    fields: Mapping[str, Field], systems: Sequence[str]
) -> Iterator[dict[str, Answer]]:
    """Differences of two systems by each score, whose labels are swapped at random within units.

    Items of one unit are swapped together, the same in all scores. Were the systems the same, the
    labels would mean nothing, and each draw were as likely as what came.

    Args:
        fields: by name, outputs whose scores stand for human ratings.
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
        answers = {}
        for name, field in fields.items():
            sample = tables[name].sample(rows, sign)
            answers[name] = contrast(sample, scale=field.scale, these=field.these).alone
        yield answers
