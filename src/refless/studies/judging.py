"""What studies judge, and how a pool's texts are judged without their own group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from refless.records import (
    Estimates,
    FloatArray,
    IntArray,
    Judged,
    Outputs,
    RatedPool,
    as_outputs,
    take,
)
from refless.signature import Signature
from refless.studies.validation import codes
from refless.truth import canonical_order, fingerprint


class Judge(Protocol):
    """An estimator, or given scores in the shape of one (`studies.given`)."""

    def fit(self, pool: RatedPool) -> Self:
        """Learns from rated texts."""
        ...

    def predict(self, outputs: Outputs) -> Estimates:
        """A prediction, or a reason why there is none, for each output."""
        ...

    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text judged without its own group."""
        ...

    def signature(self) -> Signature:
        """Everything that can change the predictions."""
        ...


def judged(judge: Judge, pool: RatedPool, labels: Sequence[str] = (), group: str = "id") -> Judged:
    """A pool's texts judged without their own group, beside the truth.

    Args:
        judge: an estimator or given scores.
        pool: the rated texts.
        labels: [n] groups that are held out together; each text alone without them.
        group: what they are; intervals are over whole groups unless it is `id`.
    """
    held = codes(labels or pool.ids)
    return beside(pool, judge.held_out(pool, held), () if group == "id" else tuple(labels))


def beside(pool: RatedPool, estimates: Estimates, group: tuple[str, ...] = ()) -> Judged:
    """Predictions for a pool's texts beside their truth."""
    return Judged(
        id=pool.ids,
        human=pool.truth,
        predicted=estimates.values,
        reason=estimates.reasons,
        item=pool.items,
        group=group,
        task=pool.tasks,
        system=pool.systems,
    )


def across(
    judge: Judge,
    rated: RatedPool,
    outputs: RatedPool,
    rated_labels: Sequence[str] = (),
    output_labels: Sequence[str] = (),
) -> Estimates:
    """One pool's texts judged by another pool's ratings, without those of the same group.

    Args:
        judge: an estimator or given scores.
        rated: what is learned from; outputs: what is judged.
        rated_labels, output_labels: [n] groups of each; texts of a group that stands on both sides
            are judged by the others.
    """
    shared = sorted({*rated_labels} & {*output_labels})
    own = np.array(output_labels or [""] * len(outputs), dtype=object)
    parts = [(np.flatnonzero(~np.isin(own, shared) if shared else own == own), rated)]
    for name in shared:
        others = np.flatnonzero(np.array(rated_labels, dtype=object) != name)
        parts.append((np.flatnonzero(own == name), take(rated, others)))
    values, support = np.full(len(outputs), np.nan), np.zeros(len(outputs), dtype=np.int64)
    low, high = values.copy(), values.copy()
    reasons = np.full(len(outputs), "too-few", dtype=object)
    for rows, teacher in parts:
        if not len(rows) or not len(teacher):
            continue
        found = judge.fit(teacher).predict(as_outputs(take(outputs, rows)))
        values[rows], support[rows], reasons[rows] = found.values, found.support, found.reasons
        low[rows], high[rows] = found.low, found.high
    return Estimates(
        ids=outputs.ids,
        values=values,
        reasons=tuple(reasons.tolist()),
        support=support,
        low=low,
        high=high,
    )


def signed(judge: Judge, pool: RatedPool, group: str, **settings: object) -> Signature:
    """The judge's signature with the pool, what was held out, and a study's own settings."""
    ordered = take(pool, canonical_order(pool))
    return judge.signature().plus(
        scale=pool.scale,
        aggregate=pool.aggregate,
        pool=fingerprint(ordered),
        size=len(pool),
        heldout=group,
        **settings,
    )


def canonical(pool: RatedPool, labels: Sequence[str]) -> tuple[RatedPool, IntArray, FloatArray]:
    """The pool in canonical order, its group codes, and its truth."""
    order = canonical_order(pool)
    held = codes(labels or pool.ids)[order]
    return take(pool, order), held, pool.truth[order]
