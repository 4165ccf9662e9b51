"""Held-out estimates of rated texts, in closed form, with amplitudes that have not seen them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from refless.estimators.folds import FEWEST, rows_in
from refless.estimators.gp.data import Data
from refless.estimators.gp.likelihood import Amplitudes
from refless.estimators.gp.model import conditioned, estimated, precision_of, tuned
from refless.metrics.matching import Work, cores
from refless.registry.arrays import FloatArray, IntArray, places_of
from refless.registry.progress import Progress
from refless.stats.posterior import HeldOut, Precision

MEMORY = 1_500  # texts: of more, models and kernels take too much memory to be kept
AT_ONCE = 2  # folds: each takes several matrices of all pairs


@dataclass(frozen=True, slots=True, eq=False)
class _Fold:
    """A model for the texts of one fold."""

    inside: IntArray  # which of the rated texts are in the fold
    offset: float  # of the ratings outside the fold
    unit: float
    # of all ratings, with amplitudes from those outside the fold
    precision: Precision


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """A model for each fold, to judge each text by the others outside its group.

    Nothing that is read off the ratings of a fold is used on it, no amplitude, no unit.
    """

    size: int  # of the pool
    rated: IntArray  # rows of the rated texts in the pool, or in a larger one
    folds: tuple[_Fold, ...]  # those with enough rated texts outside

    def held_out(self, groups: IntArray) -> HeldOut:
        """[n] means and standard deviations without each text's group, which lies in one fold."""
        values = np.full(self.size, np.nan)
        variances = np.full(self.size, np.nan)
        for fold in self.folds:
            inside = self.rated[fold.inside]
            means, spread = fold.precision.held_out(groups[self.rated], fold.inside)
            values[inside] = fold.offset + fold.unit * means
            variances[inside] = fold.unit**2 * spread
        return values, np.sqrt(variances)

    def tuned(self, groups: IntArray) -> Iterator[FloatArray]:
        """[n] means of all texts without their groups, by the model of each fold."""
        for fold in self.folds:
            values = np.full(self.size, np.nan)
            means, _ = fold.precision.held_out(groups[self.rated])
            values[self.rated] = fold.offset + fold.unit * means
            yield values

    @property
    def exact(self) -> bool:
        """Whether rows can be left out in closed form."""
        return len(self.folds) > 0

    def among(self, rows: IntArray) -> Nested:
        """The same out of some rows of the pool alone, in their order; amplitudes stay."""
        place = places_of(rows, self.size)
        used = np.flatnonzero(place[self.rated] >= 0)
        folds = (
            replace(
                fold,
                inside=np.flatnonzero(np.isin(used, fold.inside)),
                precision=fold.precision.among(used),
            )
            for fold in self.folds
        )
        return Nested(len(rows), place[self.rated[used]], tuple(folds))


def nested(
    data: Data,
    fold: IntArray,
    labels: Sequence[IntArray],
    progress: Progress | None = None,
) -> tuple[Nested, tuple[HeldOut, ...]]:
    """Models whose amplitudes are those that all folds but one ask for, and their estimates.

    Amplitudes come from leaving out what is held out: single texts tell how outputs of rated
    sources are estimated, whole sources how those of new ones are.

    Args:
        data: the rated texts; fold: [n] number of each text from 0, groups whole.
        labels: ways to hold out, [n] groups each; amplitudes go by the first.
        progress: called with the share that is done.

    Of more than 1,500 texts the models are not returned. Of more than 5,000 each is judged by those
    of the other folds, whatever its group.
    """
    rated = rows_in(data.pool, data.rated)
    if len(rated) <= MEMORY:
        data = data.with_compared()
    count = int(fold.max(initial=-1)) + 1
    n = len(fold)
    columns = [Nested(n, rated, ()).held_out(groups) for groups in labels]
    folds: dict[int, _Fold] = {}
    is_large = len(data.drawn()) < n

    def judge(number: int) -> None:
        outside = np.flatnonzero(fold[rated] != number)
        inside = np.flatnonzero(fold[rated] == number)
        if len(outside) < FEWEST or not len(inside):
            return
        own = data.in_units_of(outside)
        amplitudes = tuned(own, outside, [labels[0][rated]])[0]
        if is_large:
            answer = _apart(own, amplitudes, outside, inside)
            for values, deviations in columns:
                values[rated[inside]], deviations[rated[inside]] = answer
            return
        precision = precision_of(own, amplitudes)
        model = _Fold(inside, own.offset, own.unit, precision)
        for column, groups in zip(columns, labels, strict=True):
            answers = Nested(n, rated, (model,)).held_out(groups)
            for total, part in zip(column, answers, strict=True):
                total[rated[inside]] = part[rated[inside]]
        if n <= MEMORY:
            folds[number] = model

    jobs = [partial(judge, number) for number in range(count)]
    threads = min(data.parameters.threads or cores(), AT_ONCE)
    Work(threads=threads, progress=progress).run([jobs], count)
    models = tuple(folds[number] for number in sorted(folds))
    return Nested(n, rated, models), tuple(columns)


def _apart(
    data: Data, amplitudes: Amplitudes, outside: IntArray, inside: IntArray
) -> HeldOut:
    """Means and standard deviations of the ratings inside a fold, given those outside it."""
    model = conditioned(data.take(outside), amplitudes)
    means, variances = estimated(data, model, data.inputs.take(inside))
    return data.offset + data.unit * means, data.unit * np.sqrt(variances)
