"""Estimates for new outputs, and what they add up to: mean with interval, coverage, systems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from refless.records import Estimates, FloatArray, Outputs
from refless.stats.intervals import Interval, mean_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean estimate of some outputs.

    Attributes:
        mean: over the outputs with an estimate, NaN without any.
        interval: 95 %, for the mean rating people would give to these outputs.
        n, n_scored: how many outputs there are, and how many have an estimate.
    """

    mean: float
    interval: Interval
    n: int
    n_scored: int

    @property
    def coverage(self) -> float:
        """Share of outputs with an estimate; NaN without outputs."""
        return self.n_scored / self.n if self.n else float("nan")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scored:
    """Outputs with their estimates.

    Attributes:
        outputs, estimates: in the order given.
        overall: the mean of all.
        systems: the mean of each system, by name; empty without a system column.
        reasons: how often each reason of abstention occurs.
    """

    outputs: Outputs
    estimates: Estimates
    overall: Mean
    systems: dict[str, Mean]
    reasons: dict[str, int]


def scored(
    outputs: Outputs,
    estimates: Estimates,
    residuals: FloatArray,
    *,
    seed: int = 0,
    resamples: int = 1_000,
) -> Scored:
    """What the estimates add up to; the order of outputs does not matter.

    Args:
        outputs: the texts that were judged.
        estimates: one for each.
        residuals: truth minus held-out estimate of rated texts.
        seed: of the bootstrap behind the intervals.
        resamples: its size.
    """

    def mean_of(values: FloatArray) -> Mean:
        defined = np.sort(values[~np.isnan(values)])
        rng = np.random.default_rng(seed)
        return Mean(
            mean=float(defined.mean()) if len(defined) else float("nan"),
            interval=mean_interval(defined, residuals, rng, resamples),
            n=len(values),
            n_scored=len(defined),
        )

    systems = np.array(outputs.systems, dtype=object)
    return Scored(
        outputs=outputs,
        estimates=estimates,
        overall=mean_of(estimates.values),
        systems={
            name: mean_of(estimates.values[systems == name]) for name in sorted({*outputs.systems})
        },
        reasons=dict(sorted(Counter(reason for reason in estimates.reasons if reason).items())),
    )
