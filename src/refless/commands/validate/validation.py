"""Held-out estimates of a pool against its ratings: splits, estimates, measures, result."""

from collections.abc import Mapping
from dataclasses import dataclass

from refless.commands.validate.confounders import Confounders, confounders
from refless.commands.validate.leaderboard import Leaderboard, leaderboard
from refless.commands.validate.versus_judges import VersusJudges, judges, versus_judges
from refless.data.records import Estimates, RatedPool, Scale
from refless.estimators.cross_validated import CrossValidated
from refless.evaluation.annotators import VersusAnnotators, versus_annotators
from refless.evaluation.baselines import baselines
from refless.evaluation.drift import Drift, drift
from refless.evaluation.held_out import Agreement
from refless.evaluation.jackknife import Replicates, Split, agreement_of, replicates
from refless.stats.intervals import Interval


@dataclass(frozen=True, kw_only=True)
class ErrorsInScale:
    """The estimator's errors in the raters' units; correlations have none."""

    scale: Scale
    mse: float
    mse_interval: Interval
    mae: float
    mae_interval: Interval


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Validation:
    """Agreement of estimators with people on this pool, and the one to use in detail.

    Attributes:
        pool: the rated texts; group: what was held out together.
        side_by_side: all methods on the same texts, and the estimator to use.
        beside_scores: what texts add to judges' scores, or None without such scores.
        estimates: of each text without its group, by the estimator to use.
        estimator: agreement of these with the human rating.
        beside: the estimator beside single annotators on equal terms, or None.
        made_of: what is left of the correlation within systems and sources, given length.
        drift: raters who differ from the others, and what changes over time.
    """

    pool: RatedPool
    group: str
    side_by_side: Leaderboard
    beside_scores: VersusJudges | None
    estimates: Estimates
    estimator: Agreement
    beside: VersusAnnotators | None
    made_of: Confounders
    drift: Drift


def validation(
    pool: RatedPool,
    split: Split,
    estimators: Mapping[str, tuple[Estimates, CrossValidated]],
    *,
    group: str = "id",
    twins: Mapping[str, str],
    seed: int = 0,
) -> Validation:
    """The agreement of held-out estimates with people.

    Args:
        pool: the rated texts; split: its parts.
        estimators: held-out estimates by the estimator's name.
        group: what was held out together.
        twins: estimators that read judges' scores, and each one's name if it does not.
        seed: of what is drawn.
    """
    validated = {name: method for name, (_, method) in estimators.items()}
    methods = _replicates(validated, split)
    judged = _replicates(judges(pool, split.blocks), split)
    plain = _replicates(baselines(pool, split.groups, split.blocks), split)
    table = leaderboard(methods, judged, plain, twins)
    estimates = estimators[table.reference][0]
    method = methods[table.reference]
    everything = methods | judged
    return Validation(
        pool=pool,
        group=group,
        side_by_side=table,
        beside_scores=versus_judges(table, everything, twins, pool.score_names),
        estimates=estimates,
        estimator=agreement_of(method, estimates.reasons),
        beside=versus_annotators(pool, method, seed),
        made_of=confounders(pool, method),
        drift=drift(pool, estimates.values, split.groups),
    )


def _replicates(
    methods: Mapping[str, CrossValidated], split: Split
) -> dict[str, Replicates]:
    """Replicates of each method, by name."""
    return {name: replicates(method, split) for name, method in methods.items()}


def in_scale(agreement: Agreement, scale: Scale | None) -> ErrorsInScale | None:
    """The errors in the raters' units, or None without a scale."""
    if scale is None:
        return None
    span = scale[1] - scale[0]
    square = span**2
    mse_low, mse_high = agreement.mse_interval
    low, high = agreement.mae_interval
    return ErrorsInScale(
        scale=scale,
        mse=agreement.mse * square,
        mse_interval=(mse_low * square, mse_high * square),
        mae=agreement.mae * span,
        mae_interval=(low * span, high * span),
    )
