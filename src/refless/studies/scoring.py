"""Estimates for new outputs, and what they add up to: mean with interval, coverage, systems."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from refless.records import Estimates, FloatArray, IntArray, Outputs, Residuals, residuals_of
from refless.stats.clusters import design_effect, group_effects, intraclass
from refless.stats.intervals import Interval, Together, mean_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean estimate of some outputs.

    Attributes:
        mean: over the outputs with an estimate, NaN without any.
        mean_interval: 95 %, for the mean rating people would give to these outputs.
        coverage: share of outputs with an estimate; NaN without outputs.
        n, n_scored: how many outputs there are, and how many have an estimate.
    """

    mean: float
    mean_interval: Interval
    coverage: float = field(init=False)
    n: int
    n_scored: int

    def __post_init__(self) -> None:
        coverage = self.n_scored / self.n if self.n else math.nan
        object.__setattr__(self, "coverage", coverage)


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
    residuals: Residuals | FloatArray,
    *,
    seed: int = 0,
    resamples: int = 1_000,
) -> Scored:
    """What the estimates add up to; the order of outputs does not matter.

    Intervals know that outputs for one source err together, as rated texts of one source do, and
    that an estimator judges whole systems too high or too low: one whose texts were rated by as
    much as their held-out errors say, another by as much as these systems vary.

    Args:
        outputs: the texts that were judged.
        estimates: one for each.
        residuals: human rating minus held-out estimate of rated texts.
        seed: of the bootstrap behind the intervals.
        resamples: its size.
    """
    errors = residuals_of(residuals)
    alike = intraclass(errors.values, errors.sources)
    held_out = design_effect(errors.sources, len(errors), alike)
    known, unknown = group_effects(errors.values, errors.systems)

    def mean_of(rows: IntArray) -> Mean:
        defined = rows[~np.isnan(estimates.values[rows])]
        values = estimates.values[defined]
        rng = np.random.default_rng(seed)
        sources = [outputs.sources[i] for i in defined] if outputs.sources else []
        counts = Counter(outputs.systems[i] for i in defined) if outputs.systems else Counter()
        effects = [(known.get(name, unknown), n / len(defined)) for name, n in counts.items()]
        together = Together(
            estimates=design_effect(sources, len(values), intraclass(values, sources)),
            residuals=design_effect(sources, len(values), alike),
            held_out=held_out,
            shift=math.fsum(share * effect.shift for effect, share in effects),
            error=math.sqrt(math.fsum((share * effect.error) ** 2 for effect, share in effects)),
        )
        found = mean_interval(values, errors.values, rng, resamples, together=together)
        low, high = np.clip(found, *errors.ends).tolist()
        return Mean(
            mean=float(np.sort(values).mean()) if len(values) else float("nan"),
            mean_interval=(low, high),
            n=len(rows),
            n_scored=len(values),
        )

    systems = np.array(outputs.systems, dtype=object)
    return Scored(
        outputs=outputs,
        estimates=estimates,
        overall=mean_of(np.arange(len(outputs))),
        systems={name: mean_of(np.flatnonzero(systems == name)) for name in sorted({*systems})},
        reasons=dict(sorted(Counter(reason for reason in estimates.reasons if reason).items())),
    )
