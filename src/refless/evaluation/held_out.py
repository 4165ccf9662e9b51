"""Agreement of predictions with people: errors and correlations with intervals, coverage."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refless.data.records import Predictions
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.report.wording import with_interval
from refless.stats.correlation import is_constant
from refless.stats.intervals import Interval
from refless.stats.measures import ERRORS, MEASURES, WEIGHTED
from refless.stats.resampling import RESAMPLES, bootstrap

FEW = 15  # texts, of which five folds hold three each


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Agreement:
    """Agreement of predictions with people; a measure that is undefined is NaN.

    Attributes:
        n, n_scored: number of texts, and of those with a prediction: all measures are over them.
        coverage: n_scored / n.
        mse, mae: in the squared units and the units of the human rating.
        auc: NaN unless the human rating has exactly two values.
        mse_interval and the like: 95 % interval of each measure.
        reasons: how often each reason of abstention occurs.
        undefined: why a measure is NaN, by its name.
        interval_method: what made the intervals, `jack-20` or `boot-1000`; for the signature.
    """

    n: int
    n_scored: int
    coverage: float
    mse: float
    mse_interval: Interval
    mae: float
    mae_interval: Interval
    pearson: float
    pearson_interval: Interval
    spearman: float
    spearman_interval: Interval
    kendall: float
    kendall_interval: Interval
    auc: float
    auc_interval: Interval
    reasons: dict[str, int]
    undefined: dict[str, str]
    interval_method: str

    def interval_of(self, measure: str) -> Interval:
        """The 95 % interval of a measure, by its name."""
        ends: Interval = getattr(self, f"{measure}_interval")
        return ends


def measured(agreement: Any, measure: str) -> str:  # noqa: ANN401 - or its errors in a scale
    """A measure of an agreement with its interval, as people read it."""
    value = getattr(agreement, measure)
    interval = getattr(agreement, f"{measure}_interval")
    return with_interval(value, interval, 4 if measure in ERRORS else 3)


def agreement(
    judged: Predictions, *, seed: int = 0, resamples: int = RESAMPLES
) -> Agreement:
    """The agreement of predictions with the human rating; the order of rows does not matter.

    Intervals come from a bootstrap over texts, or over whole groups if `judged.group` is given.
    """
    human, predicted, clusters = _canonical(judged)
    values = {
        name: measure.value(human, predicted) for name, measure in MEASURES.items()
    }
    n = len(judged)
    n_scored = len(human)
    rng = np.random.default_rng(seed)
    intervals = bootstrap(
        WEIGHTED, human, predicted, resamples=resamples, rng=rng, clusters=clusters
    )
    measured: dict[str, Any] = {
        f"{name}_interval": ends for name, ends in intervals.items()
    }
    measured |= values
    return Agreement(
        n=n,
        n_scored=n_scored,
        coverage=n_scored / n if n else float("nan"),
        **measured,
        reasons=counted_reasons(judged.predicted, judged.reason),
        undefined=why_undefined(values, human, predicted, judged.human),
        interval_method=f"boot-{resamples}",
    )


def _canonical(judged: Predictions) -> tuple[FloatArray, FloatArray, IntArray | None]:
    """Human rating, prediction and group code of the predicted texts, sorted by all three."""
    scored = ~np.isnan(judged.predicted)
    human = judged.human[scored]
    predicted = judged.predicted[scored]
    if not judged.group:
        order = np.lexsort((predicted, human))
        return human[order], predicted[order], None
    clusters = codes(judged.group)[scored]
    order = np.lexsort((clusters, predicted, human))
    return human[order], predicted[order], clusters[order]


def counted_reasons(predicted: FloatArray, reasons: Sequence[str]) -> dict[str, int]:
    """The number of missing predictions for each reason."""
    missing = np.flatnonzero(np.isnan(predicted)).tolist()
    counts = Counter(reasons[i] or "undefined" for i in missing)
    return dict(sorted(counts.items()))


def why_undefined(
    values: dict[str, float],
    human: FloatArray,
    predicted: FloatArray,
    everyone: FloatArray,
) -> dict[str, str]:
    """The reason of each NaN; an AUC is not missed where the ratings are not of two values.

    Args:
        values: of the measures, by name; human, predicted: of the texts with a prediction.
        everyone: the ratings of all texts.
    """
    missing = [name for name, value in values.items() if math.isnan(value)]
    if len(human) == 0:
        why = "no text has a prediction"
    elif len(human) == 1:
        why = "only one text has a prediction"
    elif is_constant(human):
        why = "all ratings are equal"
    elif is_constant(predicted):
        why = "all predictions are equal"
    elif len(human) < FEW:
        why = "there are too few texts for folds"
    else:
        why = "it is beyond floating-point numbers, or predictions are equal within every fold"
    binary = len(np.unique(everyone)) == 2
    return {name: why for name in missing if name != "auc" or binary}
