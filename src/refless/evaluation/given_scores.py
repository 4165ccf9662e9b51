"""Scores that are given: a metric's or another tool's, for the studies that judge estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refless.data.records import Estimates, RatedPool, as_outputs
from refless.estimators import Scorer
from refless.estimators.inputs import outputs_in
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenScores(Scorer):
    """A column of scores in the shape of an estimator: it learns nothing from ratings.

    Its correlations mean what they do for an estimator; its errors mean something only where the
    scores are in the units of the ratings.

    Attributes:
        scores: by id of the text; NaN, or no entry, where there is none.
        name: of the metric or the column, for the signature.
    """

    scores: Mapping[str, float]
    name: str = "column"
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """The name of the metric or the column."""
        return self.name

    def fitted_to(self, pool: RatedPool) -> GivenScores:  # noqa: ARG002 - nothing to learn
        """Itself."""
        return self

    def estimate(self, X: Any) -> Estimates:  # noqa: ANN401, N803 - outputs, or texts without scores
        """The scores of the outputs, by id."""
        outputs = outputs_in(X)
        values = np.array([self.scores.get(name, np.nan) for name in outputs.ids], dtype=np.float64)
        nothing = np.full(len(values), np.nan)
        return Estimates(
            ids=outputs.ids,
            values=values,
            reasons=tuple("bad-row" if value != value else "" for value in values.tolist()),
            support=np.zeros(len(values), dtype=np.int64),
            low=nothing,
            high=nothing,
        )

    def held_out(  # groups change nothing
        self,
        pool: RatedPool,
        groups: IntArray | None = None,  # noqa: ARG002
    ) -> Estimates:
        """The same scores: they owe nothing to the ratings that would be held out."""
        return self.estimate(as_outputs(pool))

    def signature(self, pool: RatedPool | None = None) -> Signature:  # noqa: ARG002
        """The name and, for a metric, its settings."""
        return Signature(self.name, self.settings)


def given(ids: Sequence[str], scores: Sequence[float] | FloatArray, name: str) -> GivenScores:
    """A column of scores, by the ids of the texts.

    Raises:
        UsageError: lengths that differ, an id twice, an infinite score.
    """
    if len(ids) != len(scores) or len(set(ids)) != len(ids):
        raise UsageError(f"{name}: one score is needed for each of {len(ids)} unique ids")
    values = np.asarray(scores, dtype=np.float64)
    if np.isinf(values).any():
        raise UsageError(f"{name}: scores must be finite, or NaN where there is none")
    return GivenScores(scores=dict(zip(ids, values.tolist(), strict=True)), name=name)
