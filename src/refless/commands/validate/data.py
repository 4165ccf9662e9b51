"""A validation as JSON and as rows."""

from dataclasses import dataclass
from typing import Literal

from refless.commands.advised import Advice
from refless.commands.annotators import AnnotatorsRecord
from refless.data.records import Scale
from refless.evaluation.confounders import MadeOf
from refless.evaluation.differences import Difference
from refless.evaluation.drift import Drift
from refless.evaluation.held_out import Agreement
from refless.evaluation.leaderboard import SideBySide
from refless.evaluation.reranking import Reranking
from refless.evaluation.versus_judges import BesideScores
from refless.report.record import Count, Record, Signed
from refless.stats.intervals import Interval


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Spearman of the average annotator and of the estimates, against the other annotators' mean.

    Attributes:
        difference_interval: 95 %, of estimator less annotator.
    """

    annotator: float
    estimator: float
    difference_interval: Interval


@dataclass(frozen=True, kw_only=True)
class Errors:
    """The mean squared and the mean absolute error."""

    mse: float
    mse_interval: Interval
    mae: float
    mae_interval: Interval


@dataclass(frozen=True, kw_only=True)
class ErrorsInScale:
    """The estimator's errors in the raters' units; correlations have none."""

    scale: Scale
    estimator: Errors


@dataclass(frozen=True, kw_only=True)
class MadeOfRecord(MadeOf):
    """What a correlation is made of; `shown`: what is shown to be a part of it, in sentences."""

    shown: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DriftRecord(Drift):
    """Raters and time; `shown`: who is shown to differ and what to change, in sentences."""

    shown: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ValidateRecord(Record):
    """Held-out estimates of rated texts against their ratings.

    Attributes:
        baselines: agreement of predictions that read no words.
        differences: what sets the estimator apart from each baseline: its Spearman less that of
            `length_only`, and the MSE of `constant` less its own; above 0 it does better.
        annotators: single annotators against the human rating, which holds their own; null, with a
            reason, where the ratings do not say who gave them.
        beside: null where no two annotators rated the same texts.
        reranking: what choosing among outputs for one source, or item, is worth; null where these
            were not held out together (--group), or none has several. by_system: the same of always
            taking the best system; null where systems are not known too.
        made_of: what is left of Spearman within systems and sources, given length, and without
            near copies; shown: what is shown to be a part of it, in sentences.
        drift: raters who differ from the others, what changes over time, and what is shown of it.
        in_scale: null without a scale.
        advice: what to do where more than a third has no estimate.
        recommendation: which estimator to use, and whether it is worth it, in a sentence.
        beside_scores: what texts add to scores of others; null without --score-column, and where no
            estimator reads them. texts_and_scores: the same in sentences.
    """

    command: Literal["validate"] = "validate"
    signature: Signed
    verdict: str
    n: Count
    estimator: Agreement
    baselines: dict[str, Agreement]
    differences: dict[str, Difference]
    annotators: AnnotatorsRecord | None
    annotators_reason: str
    beside: Beside | None
    reranking: Reranking | None
    by_system: Reranking | None
    made_of: MadeOfRecord
    drift: DriftRecord
    in_scale: ErrorsInScale | None
    advice: Advice | None
    recommendation: str
    side_by_side: SideBySide
    beside_scores: BesideScores | None
    texts_and_scores: tuple[str, ...]


def in_scale(agreement: Agreement, scale: Scale | None) -> ErrorsInScale | None:
    if scale is None:
        return None
    span = scale[1] - scale[0]
    (mse_low, mse_high), (low, high) = agreement.mse_interval, agreement.mae_interval
    errors = Errors(
        mse=agreement.mse * span**2,
        mse_interval=(mse_low * span**2, mse_high * span**2),
        mae=agreement.mae * span,
        mae_interval=(low * span, high * span),
    )
    return ErrorsInScale(scale=scale, estimator=errors)
