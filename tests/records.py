"""Records that tests build: outputs with references, pools of several raters, fixed estimates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import (
    Estimates,
    Outputs,
    Predictions,
    RatedPool,
    Ratings,
    numbered,
)
from refless.evaluation.jackknife import Replicates, Split
from refless.registry.arrays import FloatArray, IntArray


def outputs(
    texts: Sequence[str],
    references: Iterable[Iterable[str]],
    weights: Iterable[Iterable[float]] = (),
) -> Outputs:
    """Of each text its references, and their weights if there are any."""
    return Outputs(
        ids=numbered(len(texts)),
        texts=tuple(texts),
        references=tuple(map(tuple, references)),
        weights=tuple(map(tuple, weights)),
    )


def outputs_of_items(items: Sequence[tuple[str, Sequence[str]]]) -> Outputs:
    """Of pairs of a text and its references."""
    return outputs([text for text, _ in items], [many for _, many in items])


def pool_from(rows, scale=None) -> RatedPool:
    """A pool from (text, annotator, rating)."""
    texts = sorted({row[0] for row in rows})
    names = sorted({row[1] for row in rows})
    ratings = Ratings(
        text=np.array([texts.index(row[0]) for row in rows]),
        annotator=np.array([names.index(row[1]) for row in rows]),
        values=np.array([float(row[2]) for row in rows]),
        annotators=tuple(names),
    )
    return RatedPool(
        ids=numbered(len(texts)),
        texts=tuple(texts),
        human=human_ratings(ratings, len(texts), scale=scale),
        ratings=ratings,
        scale=scale,
    )


def shuffled(pool: RatedPool) -> RatedPool:
    """The same texts and ratings in another order."""
    rng = np.random.default_rng(7)
    moved = pool.take(rng.permutation(len(pool)))
    rows = rng.permutation(len(moved.ratings.text))
    ratings = replace(
        moved.ratings,
        text=moved.ratings.text[rows],
        annotator=moved.ratings.annotator[rows],
        values=moved.ratings.values[rows],
    )
    return replace(moved, ratings=ratings)


def split_of(
    human: FloatArray, groups: IntArray | None = None, parts: int = 20
) -> Split:
    """Five blocks and so many parts, of groups in the order of their numbers."""
    numbers = np.arange(len(human)) if groups is None else groups
    return Split(
        human=human,
        groups=numbers,
        blocks=numbers % 5,
        part=1 + numbers % parts,
        parts=parts,
    )


def estimated(split: Split, values: FloatArray, *tuned: FloatArray) -> Replicates:
    """A method that learns nothing."""
    tunings = np.array([[column, column] for column in tuned]).reshape(
        -1, 2, len(values)
    )
    return Replicates(split, np.array([[values, values]]), tunings)


def fixed(
    human: FloatArray, values: FloatArray, groups: IntArray | None = None
) -> Replicates:
    """The same on that split."""
    return estimated(split_of(human, groups), values)


def estimates_of(
    values: Sequence[float] | FloatArray, ids: Sequence[str] = ()
) -> Estimates:
    """Estimates of no width; NaN for what has too few neighbours."""
    array = np.array(values, dtype=np.float64)
    return Estimates(
        ids=tuple(ids) or numbered(len(array)),
        values=array,
        reasons=tuple("too-few" if np.isnan(value) else "" for value in array),
        support=np.zeros(len(array), dtype=np.int64),
        low=array,
        high=array,
    )


def predictions(
    human: FloatArray, predicted: FloatArray | None = None, **columns: Any
) -> Predictions:
    """Ratings beside predictions, of which there are none unless they are given."""
    values = np.full(len(human), np.nan) if predicted is None else predicted
    names = columns.pop("id", tuple(map(str, range(len(human)))))
    reasons = columns.pop("reason", ("",) * len(human))
    return Predictions(
        id=names, human=human, predicted=values, reason=reasons, **columns
    )
