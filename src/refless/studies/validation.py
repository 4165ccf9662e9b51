"""Held-out estimates of a rated pool against its human rating, beside baselines and annotators."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refless.errors import UsageError
from refless.records import Estimates, FloatArray, IntArray, Predictions, RatedPool
from refless.signature import Signature
from refless.stats.intervals import UNDEFINED
from refless.stats.resampling import RESAMPLES
from refless.studies.annotators import Annotators, annotators
from refless.studies.baselines import BASELINES
from refless.studies.beside_annotators import BesideAnnotators, beside_annotators
from refless.studies.differences import Difference, difference
from refless.studies.held_out import Agreement, agreement
from refless.studies.reranking import BY, Reranking, reranking

CORRELATIONS = ("pearson", "spearman", "kendall", "auc")
RANKS_NOTHING = "a constant ranks nothing"
GROUPS = {
    "text": "texts",
    "source": "sources",
    "system": "systems",
    "item": "items",
    "task": "tasks",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Validation:
    """How far an estimator agrees with people on this pool.

    Attributes:
        pool: the rated texts; estimates: what the estimator says of each without its group.
        estimator: agreement of these with the human rating.
        baselines: agreement of predictions that read no words, by name, on the texts that have
            an estimate (on all where none has).
        differences: what sets the estimator apart from each baseline, by its name, both drawn
            together: Spearman above that of `length_only`, MSE below that of `constant`; above 0
            the estimator does better.
        annotators: single annotators against the human rating, or None.
        beside: the estimator beside single annotators on equal terms, or None.
        reranking: what choosing among outputs for one source, or item, is worth; None where these
            were not held out together, or each has one output.
        signature: everything that can change these numbers.
    """

    pool: RatedPool
    estimates: Estimates
    estimator: Agreement
    baselines: dict[str, Agreement]
    differences: dict[str, Difference]
    annotators: Annotators | None
    beside: BesideAnnotators | None
    reranking: Reranking | None
    signature: Signature


def group_labels(pool: RatedPool, group: str, column: Sequence[str] = ()) -> tuple[str, ...]:
    """The label by which each text is held out.

    Args:
        pool: the rated texts.
        group: `id`, `text` (equal texts together), `source`, `system`, `item`, `task`, or a column
            whose values are given.
        column: values of that column.

    Raises:
        UsageError: a pool without that column, or with one group only.
    """
    if group == "id":
        return pool.ids
    labels = tuple(column) or (getattr(pool, GROUPS[group]) if group in GROUPS else ())
    if not labels:
        raise UsageError(f"--group {group}: the rated texts have no {group} column")
    if len(set(labels)) < 2:
        raise UsageError(f"--group {group}: all texts are of one {group}; nothing would be left")
    return labels


def codes(labels: Sequence[str]) -> IntArray:
    """[n] labels as numbers from 0, in the order of the sorted labels."""
    number = {name: i for i, name in enumerate(sorted(set(labels)))}
    return np.array([number[name] for name in labels], dtype=np.int64)


def validation(
    pool: RatedPool,
    estimates: Estimates,
    labels: Sequence[str],
    signature: Signature,
    *,
    group: str = "id",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Validation:
    """What held-out estimates are worth.

    Args:
        pool: the rated texts.
        estimates: one a text, made without its group.
        labels: [n] the groups, as strings.
        signature: the estimator's.
        group: what the groups are, for the signature.
        seed: of the bootstrap.
        resamples: its size.
    """
    clusters = () if group == "id" else tuple(labels)
    held = codes(labels)

    def judge(values: FloatArray, reasons: Sequence[str]) -> Agreement:
        judged = Predictions(
            id=pool.ids, human=pool.human, predicted=values, reason=tuple(reasons), group=clusters
        )
        return agreement(judged, seed=seed, resamples=resamples)

    def apart(measure: str, first: FloatArray, second: FloatArray) -> Difference:
        return difference(
            measure,
            pool.human,
            first,
            second,
            clusters=held if clusters else None,
            seed=seed,
            resamples=resamples,
        )

    lengths = np.array([len(text) for text in pool.texts], dtype=np.float64)
    scored = estimates.defined if estimates.defined.any() else np.ones(len(pool), dtype=np.bool_)
    left_out = np.where(scored, "", "without-estimate").tolist()
    predicted = {
        name: np.where(scored, predict(pool.human, lengths, held), np.nan)
        for name, predict in BASELINES.items()
    }
    baselines = {name: judge(values, left_out) for name, values in predicted.items()}
    found = judge(estimates.values, estimates.reasons)
    chosen = None
    if group in BY:
        chosen = reranking(
            labels, pool.human, estimates.values, by=group, seed=seed, resamples=resamples
        )
    return Validation(
        pool=pool,
        estimates=estimates,
        estimator=found,
        baselines={**baselines, "constant": _without_ranks(baselines["constant"])},
        differences={
            "length_only": apart("spearman", estimates.values, predicted["length_only"]),
            "constant": apart("mse", predicted["constant"], estimates.values),
        },
        annotators=annotators(pool),
        beside=beside_annotators(
            pool, estimates, clusters=held if clusters else None, seed=seed, resamples=resamples
        ),
        reranking=chosen,
        signature=signature.plus(heldout=group, ci=found.interval_method, seed=seed),
    )


def _without_ranks(constant: Agreement) -> Agreement:
    """The constant without correlations: held out, it is a mirror of each text's own rating."""
    nothing: dict[str, Any] = dict.fromkeys(CORRELATIONS, math.nan)
    nothing |= {f"{name}_interval": UNDEFINED for name in CORRELATIONS}
    nothing |= {f"{name}_p": math.nan for name in CORRELATIONS[:3]}
    why = {**constant.undefined, **dict.fromkeys(CORRELATIONS[:3], RANKS_NOTHING)}
    return replace(constant, **nothing, undefined=why)


def repeated(pool: RatedPool) -> int:
    """How many rated texts occur more than once: each is judged by its own copies."""
    counts = Counter(pool.texts)
    return sum(count for count in counts.values() if count > 1)
