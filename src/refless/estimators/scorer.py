"""What gives texts scores, and what studies may ask of it: an estimator, or given scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from refless.data.records import Estimates, Outputs, RatedPool
from refless.estimators.inputs import Given
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.progress import Progress
from refless.registry.signature import Signature

Within = Callable[[IntArray], Callable[[IntArray], FloatArray]]  # rows -> groups -> estimates


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
        cls, within: Within, groups: IntArray, blocks: IntArray, order: IntArray | None = None
    ) -> CrossValidated:
        """By the held-out estimates of any rows among themselves.

        Args:
            within: of the pool in some order.
            groups, blocks: [n] as of `Scorer.cross_validated`.
            order: [n] that order, so that no sum depends on the rows'; by default as it is.
        """
        n = len(groups)
        taken = np.arange(n) if order is None else order
        place = np.argsort(taken)

        def without(rows: IntArray) -> FloatArray:
            inside = np.sort(place[rows])
            estimates_by, back = within(inside), taken[inside]
            estimates = np.full((2, n), np.nan)
            for column, labels in zip(estimates, (groups, blocks), strict=True):
                column[back] = estimates_by(labels[back])
            return estimates

        return cls(without(np.arange(n)), without)


class Together(NamedTuple):
    """How far the errors of estimates go together, in squared units of the human rating.

    Attributes:
        covariance: [n, n] of what the outputs' ratings have in common with others'.
        noise: variance of a rating beyond that, which no other rating tells of.
    """

    covariance: FloatArray
    noise: float


class Scorer(ABC):
    """What gives texts scores: an estimator, or scores that are given.

    Attributes:
        progress: called with the share of the work that is done, or None.
    """

    progress: Progress | None = None

    @property
    @abstractmethod
    def title(self) -> str:
        """What people call it."""

    @abstractmethod
    def estimate(self, X: Outputs | Given) -> Estimates:  # noqa: N803 - scikit-learn's name
        """An estimate, or a reason why there is none, for each output."""

    @abstractmethod
    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text of the pool judged by the others outside its group; nothing is fitted."""

    @abstractmethod
    def signature(self, pool: RatedPool | None = None) -> Signature:
        """Everything that can change the estimates.

        Args:
            pool: rated texts, as whose estimator it signs without being fitted to them.
        """

    @abstractmethod
    def fitted_to(self, pool: RatedPool) -> Scorer:
        """A scorer that has learned from these rated texts; this one stays as it is."""

    def predict(self, X: Outputs | Given) -> FloatArray:  # noqa: N803
        """[n] the estimates as numbers, NaN where undefined."""
        return self.estimate(X).values

    def without_scores(self) -> Self | None:
        """The same of texts alone; None for one that reads no scores that others gave."""
        return None

    def together(
        self,
        outputs: Outputs,  # noqa: ARG002 - of those that know
        doubt: int = 0,  # noqa: ARG002
    ) -> Together | None:
        """How far the errors of estimates for these outputs go together; None where unknown.

        Args:
            outputs: the texts.
            doubt: rated texts that the model counts as beside those that it has, as if they had
                told nothing of which likeness matters.
        """
        return None

    def cross_validated(
        self,
        pool: RatedPool,
        groups: IntArray,  # noqa: ARG002 - whose blocks hold them whole
        blocks: IntArray,
    ) -> tuple[Estimates, CrossValidated]:
        """Held-out estimates, and what they would be of a part of the pool.

        Args:
            pool: the rated texts; groups: [n] what is held out together.
            blocks: [n] folds of whole groups, by number from 0.
        """
        estimates = self.held_out(pool, blocks)  # by refitting: those of a block from one model
        return estimates, CrossValidated(np.stack([estimates.values] * 2))
