"""Cross-validated estimates, and what they would be of a part of the rated texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from refless.registry.arrays import FloatArray, IntArray

# rows -> groups -> estimates
Within = Callable[[IntArray], Callable[[IntArray], FloatArray]]


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidated:
    """Cross-validated estimates and their leave-part-out replicates.

    Attributes:
        estimates: [2, n] without each text's group, and without the block that its group is in.
        without: the same out of some rows alone, NaN for all others; None if that would take
            fitting anew.
        tuned: [folds, 2, n] of the whole pool too, each by what was tuned without one fold of it.
    """

    estimates: FloatArray
    without: Callable[[IntArray], FloatArray] | None = None
    tuned: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 0)))

    @classmethod
    def of(
        cls,
        within: Within,
        groups: IntArray,
        blocks: IntArray,
        order: IntArray | None = None,
    ) -> CrossValidated:
        """By the held-out estimates of any rows among themselves.

        Args:
            within: of the pool in some order.
            groups, blocks: [n] as of `Estimator.cross_validated`.
            order: [n] that order, so that no sum depends on the rows'; by default as it is.
        """
        n = len(groups)
        if order is None:
            order = np.arange(n)
        place = np.argsort(order)

        def without(rows: IntArray) -> FloatArray:
            inside = np.sort(place[rows])
            estimates_by = within(inside)
            back = order[inside]
            estimates = np.full((2, n), np.nan)
            for column, labels in zip(estimates, (groups, blocks), strict=True):
                column[back] = estimates_by(labels[back])
            return estimates

        return cls(without(np.arange(n)), without)
