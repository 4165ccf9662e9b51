"""Held-out estimates of rated texts, in closed form, with amplitudes that have not seen them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from refless.data.records import as_outputs
from refless.estimators.gp.data import FEWEST, Data
from refless.estimators.gp.exact import Exact, Precision
from refless.estimators.gp.inducing import Inducing
from refless.estimators.gp.model import Method, conditioned, estimated, tuned
from refless.estimators.protocol import rows_in
from refless.metrics.matching import Work, cores
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.progress import Progress

KEPT = 1_500  # texts: of more, models take too much memory to be kept side by side
MOST_AT_ONCE = 2  # folds: each takes several matrices of all pairs
LONG = 5_000_000  # characters: the n-grams of more take too much memory for two folds at once

Column = tuple[FloatArray, FloatArray]  # means and variances


@dataclass(frozen=True, slots=True, eq=False)
class _Fold:
    """A model for the texts of one fold.

    Attributes:
        inside: which of the rated texts in use are in the fold; unseen: rows of the pool that are
            in the fold and not in use; judged: what the others in use say of these.
        offset, unit: of the ratings outside the fold.
        known: all ratings in use, with amplitudes from those outside the fold.
    """

    inside: IntArray
    unseen: IntArray
    judged: Column
    offset: float
    unit: float
    known: Precision | Inducing

    def held_out(self, groups: IntArray) -> Column:
        """Means and variances of the fold's texts without their groups."""
        means, spread = self.known.held_out(groups, self.inside)
        return self.offset + self.unit * means, self.unit**2 * spread


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """A model for each fold, to judge each text by the others outside its group.

    Nothing that is read off the ratings of a fold is used on it, no amplitude, no unit. Texts that
    a sub-sample leaves out are judged by its texts in the other folds.

    Attributes:
        size: of the pool; rated: rows of the rated texts in use.
        folds: those with enough rated texts outside.
    """

    size: int
    rated: IntArray
    folds: tuple[_Fold, ...]

    def held_out(self, groups: IntArray) -> Column:
        """[n] means and standard deviations without each text's group, which lies in one fold."""
        values, variances = np.full(self.size, np.nan), np.full(self.size, np.nan)
        for one in self.folds:
            inside = self.rated[one.inside]
            values[inside], variances[inside] = one.held_out(groups[self.rated])
            values[one.unseen], variances[one.unseen] = one.judged
        return values, np.sqrt(variances)

    def tuned(self, groups: IntArray) -> Iterator[FloatArray]:
        """[n] means of all texts without their groups, by the model of each fold."""
        for one in self.folds:
            values = np.full(self.size, np.nan)
            left = one.known.held_out(groups[self.rated])[0]
            values[self.rated] = one.offset + one.unit * left
            yield values

    @property
    def exact(self) -> bool:
        """Whether rows can be left out in closed form: all are in use, without inducing points."""
        known = [one.known for one in self.folds]
        complete = len(self.rated) == self.size and len(known) > 0
        return complete and all(isinstance(one, Precision) for one in known)

    def among(self, rows: IntArray) -> Nested:
        """The same out of some rows of the pool alone, in their order; amplitudes stay."""
        place = np.full(self.size, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        kept = np.flatnonzero(place[self.rated] >= 0)
        folds = (
            replace(one, inside=np.flatnonzero(np.isin(kept, one.inside)), known=known.among(kept))
            for one in self.folds
            if isinstance(known := one.known, Precision)
        )
        return Nested(len(rows), place[self.rated[kept]], tuple(folds))


def nested(
    data: Data,
    fold: IntArray,
    labels: Sequence[IntArray],
    method: Method,
    told: Progress | None = None,
) -> tuple[Nested, tuple[Column, ...]]:
    """Models whose amplitudes are those that all folds but one ask for, and what they say.

    Args:
        data: the rated texts; fold: [n] number of each from 0, groups whole.
        labels: ways to hold out, [n] groups each; the answer has a column for each.
        method: how a model is learned; told: called with the share of the work that is done.

    Of more than 1,500 texts the models are not kept.
    """
    rated, count, n = rows_in(data.pool, data.rated), int(fold.max(initial=-1)) + 1, len(fold)
    columns = [Nested(n, rated, ()).held_out(groups) for groups in labels]
    found: dict[int, _Fold] = {}

    def judge(number: int) -> None:
        outside, inside = np.flatnonzero(fold[rated] != number), fold == number
        if len(outside) < FEWEST or not inside.any():
            return
        one = _fold(data, rated, inside, outside, method)
        for column, groups in zip(columns, labels, strict=True):
            said = Nested(n, rated, (one,)).held_out(groups)
            for whole, part in zip(column, said, strict=True):
                whole[inside] = part[inside]
        if n <= KEPT:
            found[number] = one

    jobs = [partial(judge, number) for number in range(count)]
    at_once = min(data.reads.threads or cores(), MOST_AT_ONCE)
    read = sum(map(len, (*data.inputs.texts, *data.inputs.sources)))
    at_once = 1 if read > LONG else at_once
    Work(threads=at_once, progress=told).run([jobs], count)
    return Nested(n, rated, tuple(found[number] for number in sorted(found))), tuple(columns)


def _fold(data: Data, rated: IntArray, fold: BoolArray, outside: IntArray, method: Method) -> _Fold:
    others = data.in_units_of(outside)
    amplitudes = tuned(others, outside, method)
    posterior = conditioned(others, amplitudes, method).posterior
    unseen, judged = np.setdiff1d(np.flatnonzero(fold), rated), (np.zeros(0), np.zeros(0))
    if len(unseen):
        model = conditioned(others.take(outside), amplitudes, method)
        left, spread = estimated(
            others, model, others.inputs_of(as_outputs(data.pool.take(unseen)))
        )
        judged = others.offset + others.unit * left, others.unit**2 * spread
    return _Fold(
        inside=np.flatnonzero(fold[rated]),
        unseen=unseen,
        judged=judged,
        offset=others.offset,
        unit=others.unit,
        known=posterior.precision() if isinstance(posterior, Exact) else posterior,
    )
