"""Scores of others as kernels: what an LLM judge, a metric or a heuristic says of a text.

Nothing here reads a rating, so held out stays held out; higher need not mean better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from refless.errors import UsageError
from refless.records import BoolArray, FloatArray, Outputs

KINDS = ("linear", "bell")
NEGLIGIBLE = 1e-12  # a mean square below this is rounding


class Scored(Protocol):
    """Texts with scores: [n, k], NaN where there is none."""

    @property
    def scores(self) -> FloatArray:
        """[n, k], NaN where there is none."""
        ...

    @property
    def score_names(self) -> tuple[str, ...]:
        """[k]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMap:
    """A monotone map for each column of scores, by its known values and what these become.

    Attributes:
        known: [k] the different known values of each column, ascending; levels: their images.
    """

    known: tuple[FloatArray, ...]
    levels: tuple[FloatArray, ...]

    def mapped(self, values: FloatArray) -> tuple[FloatArray, BoolArray]:
        """[n, k] the images of scores, 0 where one is missing, and [n, k] which are there.

        A new value lies between those of its neighbours; beyond the ends it is as the ends are.
        """
        images = np.zeros(values.shape)
        for i, (known, levels) in enumerate(zip(self.known, self.levels, strict=True)):
            if len(known):
                images[:, i] = np.interp(np.nan_to_num(values[:, i]), known, levels)
        there = ~np.isnan(values)
        return np.where(there, images, 0.0), there


def score_columns(statistics: FloatArray) -> ScoreMap:
    """Mid-ranks of the known scores as quantiles of a normal distribution, (rank - 0.5) / n.

    Args:
        statistics: [n, k] scores of the texts whose ranks count; NaN where there is none.
    """
    from scipy.special import ndtri

    known, levels = [], []
    for column in statistics.T:
        values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        ranks = np.cumsum(counts) - (counts - 1) / 2
        known.append(values)
        levels.append(np.asarray(ndtri((ranks - 0.5) / max(1, int(counts.sum())))))
    return ScoreMap(tuple(known), tuple(levels))


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """Product of two mapped scores; over the reference texts its diagonal is 1 on average."""

    column: int
    map: ScoreMap
    square: float
    anchors: FloatArray

    def _values(self, inputs: Scored) -> FloatArray:
        return self.map.mapped(inputs.scores)[0][:, self.column]

    def against(self, inputs: Scored) -> FloatArray:
        """[texts, anchors] kernel values."""
        return np.outer(self._values(inputs), self.anchors) / self.square

    def diagonal(self, inputs: Scored) -> FloatArray:
        """[texts] kernel value of each text with itself."""
        return np.square(self._values(inputs)) / self.square


@dataclass(frozen=True, slots=True, eq=False)
class Bell:
    """exp(-d**2 / 2) of the distance of mapped scores; 1 where both are missing, 0 where one is."""

    column: int
    map: ScoreMap
    anchors: FloatArray
    there: BoolArray

    def against(self, inputs: Scored) -> FloatArray:
        """[texts, anchors] kernel values."""
        values, there = (found[:, self.column] for found in self.map.mapped(inputs.scores))
        near = np.exp(-0.5 * np.square(values[:, None] - self.anchors))
        return np.where(there[:, None] == self.there, near, 0.0)  # both missing: 0 apart, so 1

    def diagonal(self, inputs: Scored) -> FloatArray:
        """[texts] 1."""
        return np.ones(len(inputs.scores))


def kernel_names(scores: Sequence[str]) -> tuple[str, ...]:
    """The kernels of columns of scores."""
    return tuple(f"score {name} {kind}" for name in scores for kind in KINDS)


def score_kernels(statistics: Scored, anchors: Scored) -> dict[str, Callable[[], Linear | Bell]]:
    """What makes each kernel, by its name."""
    if not statistics.score_names:
        return {}
    learned = score_columns(statistics.scores)
    squares = np.square(np.sort(learned.mapped(statistics.scores)[0], axis=0)).mean(axis=0)
    found: dict[str, Callable[[], Linear | Bell]] = {}
    values, there = learned.mapped(anchors.scores)
    for i, name in enumerate(statistics.score_names):
        linear, bell = kernel_names([name])
        square = float(squares[i]) if squares[i] > NEGLIGIBLE else 1.0
        found[linear] = partial(Linear, i, learned, square, values[:, i])
        found[bell] = partial(Bell, i, learned, values[:, i], there[:, i])
    return found


def scores_for(outputs: Outputs, names: Sequence[str]) -> FloatArray:
    """[n, k] the scores of outputs by the names that the rated texts' scores have.

    Raises:
        UsageError: other scores than those of the rated texts.
    """
    lacking, more = {*names} - {*outputs.score_names}, {*outputs.score_names} - {*names}
    sides = ((lacking, "rated texts", "outputs"), (more, "outputs", "rated texts"))
    for few, there, not_there in sides:
        if few:
            raise UsageError(
                f"the {there} have scores that the {not_there} lack: {', '.join(sorted(few))}; "
                "name the same --score-column for both, or leave scores unread (gp:use_scores=no)"
            )
    return outputs.scores
