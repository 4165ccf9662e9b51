"""What studies judge, and how a pool's texts are judged without their own group."""

from collections.abc import Sequence

import numpy as np

from refless.data.human import canonical_order, fingerprint
from refless.data.records import Estimates, Predictions, RatedPool, as_outputs
from refless.estimators import Scorer
from refless.evaluation.validation import codes
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.signature import Signature


def judged(
    scorer: Scorer, pool: RatedPool, labels: Sequence[str] = (), group: str = "id"
) -> Predictions:
    """A pool's texts judged without their own group, beside the human rating.

    Args:
        scorer: an estimator or given scores.
        pool: the rated texts.
        labels: [n] groups that are held out together; each text alone without them.
        group: what they are; intervals are over whole groups unless it is `id`.
    """
    held = codes(labels or pool.ids)
    return beside(pool, scorer.held_out(pool, held), () if group == "id" else tuple(labels))


def beside(pool: RatedPool, estimates: Estimates, group: tuple[str, ...] = ()) -> Predictions:
    """Predictions for a pool's texts beside their human rating."""
    return Predictions(
        id=pool.ids,
        human=pool.human,
        predicted=estimates.values,
        reason=estimates.reasons,
        item=pool.items,
        group=group,
        task=pool.tasks,
        system=pool.systems,
    )


def across(
    scorer: Scorer,
    rated: RatedPool,
    outputs: RatedPool,
    rated_labels: Sequence[str] = (),
    output_labels: Sequence[str] = (),
) -> Estimates:
    """One pool's texts judged by another pool's ratings, without those of the same group.

    Args:
        scorer: an estimator or given scores.
        rated: what is learned from; outputs: what is judged.
        rated_labels, output_labels: [n] groups of each; texts of a group that stands on both sides
            are judged by the others.
    """
    shared = sorted({*rated_labels} & {*output_labels})
    own = np.array(output_labels or [""] * len(outputs), dtype=object)
    parts = [(np.flatnonzero(~np.isin(own, shared) if shared else own == own), rated)]
    for name in shared:
        others = np.flatnonzero(np.array(rated_labels, dtype=object) != name)
        parts.append((np.flatnonzero(own == name), rated.take(others)))
    found = (
        (rows, scorer.fitted_to(teacher).estimate(as_outputs(outputs.take(rows))))
        for rows, teacher in parts
        if len(rows) and len(teacher)
    )
    return Estimates.joined(outputs.ids, found)


def signed(scorer: Scorer, pool: RatedPool, group: str, **settings: object) -> Signature:
    """The scorer's signature with the pool, what was held out, and a study's own settings."""
    ordered = pool.take(canonical_order(pool))
    return scorer.signature(pool).plus(
        scale=pool.scale,
        aggregate=pool.aggregate,
        pool=fingerprint(ordered),
        size=len(pool),
        heldout=group,
        **settings,
    )


def canonical(pool: RatedPool, labels: Sequence[str]) -> tuple[RatedPool, IntArray, FloatArray]:
    """The pool in canonical order, its group codes, and its human rating."""
    order = canonical_order(pool)
    held = codes(labels or pool.ids)[order]
    return pool.take(order), held, pool.human[order]
