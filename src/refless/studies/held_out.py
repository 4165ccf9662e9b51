"""How far predictions agree with people: errors and correlations with intervals, and coverage."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from refless.records import FloatArray, IntArray, Judged
from refless.stats.correlation import correlation_p, is_constant, kendall_p
from refless.stats.intervals import Interval
from refless.stats.jackknife import jackknife
from refless.stats.measures import MEASURES, WEIGHTED
from refless.stats.resampling import RESAMPLES, bootstrap

RESAMPLED_ROWS = 20_000  # beyond this, intervals come from the jackknife instead of the bootstrap


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Agreement:
    """How far predictions agree with people; a measure that is undefined is NaN.

    Attributes:
        n, n_scored: number of texts, and of those with a prediction: all measures are over them.
        coverage: n_scored / n.
        mse, mae: in the squared units and the units of the truth.
        auc: NaN unless the truth has exactly two values.
        intervals: 95 % interval of each measure, by its name.
        p_values: two-sided, of the correlations, taking texts for independent.
        reasons: how often each reason of abstention occurs.
        undefined: why a measure is NaN, by its name.
        interval_method: what made the intervals: `boot-1000` or `jackknife`; for the signature.
    """

    n: int
    n_scored: int
    coverage: float
    mse: float
    mae: float
    pearson: float
    spearman: float
    kendall: float
    auc: float
    intervals: dict[str, Interval]
    p_values: dict[str, float]
    reasons: dict[str, int]
    undefined: dict[str, str]
    interval_method: str


def agreement(judged: Judged, *, seed: int = 0, resamples: int = RESAMPLES) -> Agreement:
    """The agreement of predictions with the truth; the order of rows does not matter.

    Intervals come from a bootstrap over texts, or over whole groups where `judged.group` is
    given; beyond 20,000 predicted texts from the infinitesimal jackknife, which is its limit.
    """
    human, predicted, clusters = _canonical(judged)
    values = {name: measure.value(human, predicted) for name, measure in MEASURES.items()}
    n, n_scored = len(judged), len(human)
    if resampled := n_scored <= RESAMPLED_ROWS:
        rng = np.random.default_rng(seed)
        intervals = bootstrap(
            WEIGHTED, human, predicted, resamples=resamples, rng=rng, clusters=clusters
        )
    else:
        intervals = jackknife(MEASURES, human, predicted, clusters=clusters)
    return Agreement(
        n=n,
        n_scored=n_scored,
        coverage=n_scored / n if n else float("nan"),
        **values,
        intervals=intervals,
        p_values={
            "pearson": correlation_p(values["pearson"], n_scored),
            "spearman": correlation_p(values["spearman"], n_scored),
            "kendall": kendall_p(human, predicted),
        },
        reasons=_reasons(judged),
        undefined=_undefined(values, human, predicted, binary=len(np.unique(judged.human)) == 2),
        interval_method=f"boot-{resamples}" if resampled else "jackknife",
    )


def as_dict(a: Agreement) -> dict[str, object]:
    """The agreement under the names of the JSON output; NaN becomes None."""
    result: dict[str, object] = {"n": a.n, "n_scored": a.n_scored, "coverage": _plain(a.coverage)}
    for name in MEASURES:
        value: float = getattr(a, name)
        if name == "auc" and math.isnan(value):
            continue
        result[name] = _plain(value)
        low, high = a.intervals[name]
        result[f"{name}_interval"] = [_plain(low), _plain(high)]
        if name in a.p_values:
            result[f"{name}_p"] = _plain(a.p_values[name])
    return {**result, "reasons": dict(a.reasons), "undefined": dict(a.undefined)}


def _canonical(judged: Judged) -> tuple[FloatArray, FloatArray, IntArray | None]:
    """Truth, prediction and group code of the predicted texts, in an order of their own.

    Sorted by all three, so rows that tie are interchangeable and resampling cannot tell them apart.
    """
    scored = ~np.isnan(judged.predicted)
    human, predicted = judged.human[scored], judged.predicted[scored]
    if not judged.group:
        order = np.lexsort((predicted, human))
        return human[order], predicted[order], None
    code = {name: i for i, name in enumerate(sorted(set(judged.group)))}
    clusters = np.array([code[name] for name in judged.group], dtype=np.int64)[scored]
    order = np.lexsort((clusters, predicted, human))
    return human[order], predicted[order], clusters[order]


def _reasons(judged: Judged) -> dict[str, int]:
    missing = np.flatnonzero(np.isnan(judged.predicted))
    counts = Counter(judged.reason[i] or "undefined" for i in missing)
    return dict(sorted(counts.items()))


def _undefined(
    values: dict[str, float], human: FloatArray, predicted: FloatArray, *, binary: bool
) -> dict[str, str]:
    """Why each NaN is one; an AUC is not missed where the ratings are not of two values."""
    missing = [name for name, value in values.items() if math.isnan(value)]
    if len(human) == 0:
        why = "no text has a prediction"
    elif len(human) == 1:
        why = "only one text has a prediction"
    elif is_constant(human):
        why = "all ratings are equal"
    elif is_constant(predicted):
        why = "all predictions are equal"
    else:
        why = "it is beyond floating-point numbers"
    return {name: why for name in missing if name != "auc" or binary}


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value
