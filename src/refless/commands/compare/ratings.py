"""People's ratings compared: the answer by ratings and estimates, and its signature."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from refless.commands.compare.claims import counts_of
from refless.commands.compare.field import errors_of, field_of
from refless.commands.compare.inputs import Inputs, Selection, of_drawn, unlike_shares
from refless.commands.compare.result import CompareResult
from refless.commands.estimating import told_from
from refless.commands.populations import Looks
from refless.commands.warnings import note
from refless.data.design import Design
from refless.data.records import RatedPool, Residuals
from refless.estimators import Estimator
from refless.estimators.crossfit import folds_for
from refless.evaluation.comparing import Pair, compared
from refless.evaluation.entries import Field
from refless.evaluation.one_sided import by_those_who_count
from refless.evaluation.rater_agreement import agreement_said
from refless.registry.arrays import FloatArray
from refless.registry.signature import Signature, digest_of
from refless.stats.group_sequential import LookPlan

OF_RATINGS = ("scale", "pool", "size", "v")  # in an estimator's signature


def compared_ratings(
    inputs: Inputs,
    learner: Estimator,
    systems: Sequence[str],
    *,
    named: bool,
    selection: Selection,
    margin: float,
    these_items: bool,
    looks: Looks,
    plan: LookPlan | None,
    seed: int,
    next_command: str,
) -> CompareResult:
    """Every pair of systems by ratings and estimates.

    Args:
        inputs: the outputs with their ratings; learner: the estimator.
        systems: in order, the old one first; named: whether the user names them.
        selection: of the rated outputs.
        plan: of the looks, if they are planned; margin, these_items, looks, seed: as of
            `compare`.
        next_command: the line that chooses what to rate next.
    """
    if not inputs.has_texts:
        note(
            "there are no texts, so people's ratings alone are compared, without estimates"
        )
    n_rated = len(inputs.outputs.place)
    if selection == "active":
        inputs = of_drawn(inputs)
    errors = errors_of(inputs, learner, drawn=selection != "unknown")
    field = replace(
        field_of(inputs, learner, seed, selection),
        these=these_items,
        reach=_reach(inputs.pool) if looks == "any" else 0.0,
        plan=plan,
    )
    comparison = compared(field, errors, systems)
    counting = by_those_who_count(field, systems)
    rated = inputs.outputs.pool
    scores = zip(field.outputs.score_names, field.outputs.scores.T, strict=True)
    signature = _signature(inputs, learner, selection, seed)
    if named:
        signature = signature.plus(systems=tuple(systems))
    if these_items or looks != "one":
        signature = signature.plus(these=these_items, looks=looks)
    if plan is not None:
        signature = signature.plus(at=plan.at, of=plan.planned, spending=plan.spending)
    if margin:
        signature = signature.plus(margin=margin)
    told = f"{learner.title} from {told_from(signature)}" if inputs.has_texts else ""
    return CompareResult(
        fields={"rating": counting},
        comparison=comparison,
        compared=counting,
        first_rows=inputs.outputs.first_rows,
        percent=inputs.pool.of_verdicts,
        next_command=next_command,
        scale=inputs.pool.scale,
        design=inputs.design.said(inputs.pool.ratings, inputs.noun),
        selection=selection,
        estimator=told,
        these_items=these_items,
        looks=looks,
        margin=margin,
        plan=plan,
        raters=counts_of(rated.ratings) if rated else {},
        agree=agreement_said(rated, Design.of(rated)) if rated else "",
        unlike=unlike_shares(inputs) if selection == "random" else "",
        not_drawn=n_rated - len(inputs.outputs.place),
        judges={name: _judged(field, column, systems) for name, column in scores},
        signature=signature,
    )


def _judged(
    field: Field, scores: FloatArray, systems: Sequence[str]
) -> tuple[Pair, ...]:
    """The pairs by a judge's scores alone of the same outputs, in its own units."""
    unknown = np.full(len(scores), np.nan)
    alone = replace(
        field,
        human=scores,
        estimates=unknown,
        probability=unknown,
        scale=None,
        raters=None,
        drawn=True,
        reach=0.0,
        plan=None,
    )
    no_errors = Residuals(values=np.zeros(0))
    return compared(alone, no_errors, systems).pairs


def _reach(pool: RatedPool) -> float:
    """The largest distance of two ratings, as far as it is known."""
    low, high = pool.scale or (pool.ratings.values.min(), pool.ratings.values.max())
    return float(high - low)


def pair_of(
    inputs: Inputs,
    estimator: Estimator,
    systems: Sequence[str],
    seed: int,
    *,
    these: bool = False,
    looks: Looks = "one",
    plan: LookPlan | None = None,
) -> Pair:
    """Two systems as 'refless compare' has them, if rated outputs were drawn at random."""
    has_chances = not np.isnan(inputs.outputs.probability).all()
    errors = errors_of(inputs, estimator, drawn=True)
    field = field_of(inputs, estimator, seed, "active" if has_chances else "random")
    reach = _reach(inputs.pool) if looks == "any" else 0.0
    field = replace(field, these=these, reach=reach, plan=plan)
    return compared(field, errors, systems).pairs[0]


def _signature(
    inputs: Inputs, estimator: Estimator, selection: Selection, seed: int
) -> Signature:
    texts = inputs.outputs.texts
    columns = [column for column in (texts.systems, texts.items, texts.texts) if column]
    signed = estimator.signature(inputs.pool)
    if not inputs.has_texts:
        settings = [(key, value) for key, value in signed.settings if key in OF_RATINGS]
        signed = Signature("ratings", tuple(settings))
    return signed.plus(
        outputs=digest_of(columns),
        rated=selection,
        **inputs.design.signs,
        crossed=folds_for(inputs.pool),
        seed=seed,
    )
