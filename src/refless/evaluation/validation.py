"""Held-out estimates of a rated pool against its human rating, beside baselines and annotators."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.records import Estimates, RatedPool
from refless.evaluation.annotators import Annotators, annotators
from refless.evaluation.baselines import tried_labels, tried_plain
from refless.evaluation.confounders import MadeOf, made_of
from refless.evaluation.differences import Difference
from refless.evaluation.drift import Drift, drift
from refless.evaluation.held_out import Agreement
from refless.evaluation.jackknife import Trial, agreement_of, difference, trial
from refless.evaluation.reranking import BY, Reranking, reranking
from refless.evaluation.versus_annotators import BesideAnnotators, beside_annotators
from refless.registry.arrays import IntArray
from refless.registry.errors import UsageError
from refless.registry.signature import Signature

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
        differences: what sets the estimator apart from each baseline, by its name: Spearman above
            that of `length_only`, MSE below that of `constant`; above 0 the estimator does better.
        annotators: single annotators against the human rating, or None.
        beside: the estimator beside single annotators on equal terms, or None.
        reranking: what choosing among outputs for one source, or item, is worth; None where these
            were not held out together, or each has one output. by_system: the same of always taking
            the system that people rate highest elsewhere; None where systems are not known.
        made_of: what is left of the correlation within systems and sources, given length.
        drift: raters who differ from the others, and what changes over time.
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
    by_system: Reranking | None
    made_of: MadeOf
    drift: Drift
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
    one: Trial,
    labels: Sequence[str],
    signature: Signature,
    *,
    group: str = "id",
    seed: int = 0,
) -> Validation:
    """What held-out estimates are worth on new texts.

    Args:
        pool: the rated texts.
        estimates: one a text, made without its group.
        one: the same estimator in the whole pool and without parts of it.
        labels: [n] the groups, as strings.
        signature: the estimator's.
        group: what the groups are, for the signature.
        seed: of what is drawn.
    """
    deal = one.deal
    tried = tried_plain(pool, deal.groups, deal.blocks)
    scored = estimates.defined if estimates.defined.any() else np.ones(len(pool), dtype=np.bool_)
    left_out = np.where(scored, "", "without-estimate").tolist()
    length, constant = (trial(tried[name], deal).on(scored) for name in ("length", "constant"))
    by_name = group in BY and len({*pool.systems}) > 1
    systems = tried_labels(pool.systems, pool.human, deal.groups, deal.blocks) if by_name else None
    chosen = reranking(labels, one, by=group) if group in BY else None
    return Validation(
        pool=pool,
        estimates=estimates,
        estimator=agreement_of(one, estimates.reasons),
        baselines={
            "constant": agreement_of(constant, left_out),
            "length_only": agreement_of(length, left_out),
        },
        differences={
            "length_only": difference("spearman", one, length),
            "constant": difference("mse", constant, one),
        },
        annotators=annotators(pool),
        beside=beside_annotators(pool, one),
        reranking=chosen,
        by_system=None if systems is None else reranking(labels, trial(systems, deal), by=group),
        made_of=made_of(pool, one),
        drift=drift(pool, estimates.values, deal.groups),
        signature=signature.plus(heldout=group, ci=one.method, seed=seed),
    )


def repeated(pool: RatedPool) -> int:
    """How many rated texts occur more than once: each is judged by its own copies."""
    counts = Counter(pool.texts)
    return sum(count for count in counts.values() if count > 1)
