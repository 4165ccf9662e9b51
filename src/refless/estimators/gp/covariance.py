"""The weighted sum of kernels: how far the ratings of two texts go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refless.estimators.gp.components import Bound, Component, Points
from refless.estimators.gp.inputs import Inputs
from refless.registry.arrays import FloatArray, IntArray

BLOCK = 2_048  # texts compared with the anchors at a time


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """Kernels of weight above 0, bound to some texts.

    Attributes:
        components, weights, bounds: by the kernel's name.
        size: number of the texts that any others are compared with.
    """

    components: Mapping[str, Component]
    weights: Mapping[str, float]
    bounds: Mapping[str, Bound]
    size: int

    @classmethod
    def of(
        cls,
        components: Mapping[str, Component],
        weights: FloatArray,
        anchors: Mapping[str, Points],
        size: int,
    ) -> Covariance:
        """The sum of all kernels with these weights, bound to so many anchors."""
        used = {name: float(w) for name, w in zip(components, weights, strict=True) if w > 0}
        return cls(
            {name: components[name] for name in used},
            used,
            {name: components[name].bound(anchors[name]) for name in used},
            size,
        )

    def points(self, inputs: Inputs) -> dict[str, Points]:
        """Where texts lie."""
        return {name: component.points(inputs) for name, component in self.components.items()}

    def between(self, points: Mapping[str, Points], n: int) -> FloatArray:
        """[n, anchors] covariance of n texts with the anchors."""
        out = np.zeros((n, self.size))
        for begin in range(0, n, BLOCK):
            rows = slice(begin, min(begin + BLOCK, n))
            for name, weight in self.weights.items():
                out[rows] += weight * self.bounds[name](points[name][rows])
        return out

    def parts(self, points: Mapping[str, Points], counted: FloatArray) -> dict[str, FloatArray]:
        """[texts] what each kernel adds to `between` @ `counted`, by its name."""
        bounds = self.bounds.items()
        return {
            name: self.weights[name] * (bound(points[name]) @ counted) for name, bound in bounds
        }

    def diagonal(self, points: Mapping[str, Points], n: int) -> FloatArray:
        """[n] prior variances."""
        total = np.zeros(n)
        for name, weight in self.weights.items():
            total += weight * self.components[name].diagonal(points[name])
        return total


def below(points: Points, more: Points) -> Points:
    """[texts + more, ...] points of one kernel, and others of it below them."""
    if not hasattr(points, "indptr"):
        return np.concatenate([points, more])
    from scipy.sparse import csr_array

    starts = np.append(points.indptr, points.indptr[-1] + more.indptr[1:])
    parts = ((points.data, more.data), (points.indices, more.indices))
    values, columns = (np.concatenate(both) for both in parts)
    return csr_array((values, columns, starts), shape=(len(starts) - 1, points.shape[1]))


def rows_of(points: Mapping[str, Points], rows: IntArray) -> dict[str, Points]:
    """Some of the points."""
    return {name: one[rows] for name, one in points.items()}
