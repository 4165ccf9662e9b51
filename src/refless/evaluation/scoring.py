"""Estimates for new outputs, and what they add up to: mean with interval, coverage, systems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.data.design import units_of
from refless.data.records import Estimates, Outputs, Residuals, picked, residuals_of
from refless.registry.arrays import (
    FloatArray,
    IntArray,
    count_different,
    numbered,
    rows_by_name,
)
from refless.stats.clusters import (
    Effect,
    GroupSums,
    Unseen,
    group_effects,
    known_groups,
    unseen,
    widened,
)
from refless.stats.intervals import (
    UNDEFINED,
    Clustering,
    Interval,
    equal_interval,
    mean_interval,
    normal_mean_interval,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean estimate of some outputs.

    Attributes:
        mean: over the outputs with an estimate, moved by how far the estimator judges their rated
            systems too high or too low; NaN without any.
        mean_interval: 95 %, for the mean rating that the same raters would give to these outputs.
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
        these: as of `scored`.
    """

    outputs: Outputs
    estimates: Estimates
    overall: Mean
    systems: dict[str, Mean]
    reasons: dict[str, int]
    these: bool = False

    def listed(self, rows: IntArray) -> Scored:
        """The same with the outputs in this order."""
        outputs = self.outputs.take(rows)
        return replace(self, outputs=outputs, estimates=self.estimates.take(rows))


@dataclass(frozen=True, slots=True, eq=False)
class _HeldOut:
    """Held-out errors and how those of one source and of one system go together.

    Attributes:
        alike: intraclass correlation of sources; design: its design effect on the mean error.
        systems: effect of each; wide: by what intervals widen, as there are few sources.
    """

    values: FloatArray
    alike: float
    design: float
    systems: dict[str, Effect]
    wide: float

    @classmethod
    def of(cls, errors: Residuals, alone: FloatArray | None = None) -> _HeldOut:
        """The errors of texts that were held out with their sources, or alone."""
        values = errors.values if alone is None else alone
        rows = np.flatnonzero(~np.isnan(values))
        sources = picked(errors.sources, rows)
        systems = picked(errors.systems, rows)
        sums = GroupSums.of(values[rows], sources)
        groups = sums.groups
        return cls(
            values=values[rows],
            alike=sums.intraclass,
            design=sums.design_effect(sums.intraclass),
            systems=group_effects(values[rows], systems),
            wide=widened(groups - 1) if alone is None and groups > 1 else 1.0,
        )

    def together(
        self, estimates: GroupSums, shares: Mapping[str, float], new: float
    ) -> Clustering:
        """Design effects of shared sources and systems on a mean.

        Args:
            estimates: of the outputs, by their sources.
            shares: of systems; new: error of those with few rated texts, or none.
        """
        rated = [name for name in shares if name in self.systems]
        shifts = [shares[name] * self.systems[name].shift for name in rated]
        errors = [shares[name] * self.systems[name].error for name in rated]
        square = math.fsum(error**2 for error in errors)
        return Clustering(
            estimates=estimates.design_effect(estimates.intraclass),
            residuals=estimates.design_effect(self.alike),
            held_out=self.design,
            shift=math.fsum(shifts),
            error=math.hypot(math.sqrt(square), new),
            wide=self.wide,
        )


@dataclass(frozen=True, slots=True, eq=False)
class MeanErrors:
    """By how far a mean of estimates may lie off, from held-out errors.

    Intervals know that outputs for one source err together, as rated texts of one source do, that
    few rated sources tell little of others, and that an estimator judges whole systems too high or
    too low: one whose texts were rated by as much as their held-out errors say, another by as much
    as rated systems are when they are held out.

    Attributes:
        errors: the held-out errors; apart: without their sources; near: each alone.
        outside: of systems with few rated texts, or none.
    """

    errors: Residuals
    apart: _HeldOut
    near: _HeldOut
    outside: Unseen

    @classmethod
    def of(cls, residuals: Residuals | FloatArray) -> MeanErrors:
        """The errors: human rating minus held-out estimate of rated texts."""
        errors = residuals_of(residuals)
        return cls(
            errors=errors,
            apart=_HeldOut.of(errors),
            near=_HeldOut.of(errors, errors.alone),
            outside=unseen(errors.afar, errors.values, errors.systems),
        )

    def mean(
        self,
        n: int,
        estimates: GroupSums,
        systems: Mapping[str, int],
        interval: Callable[[FloatArray, Clustering], Interval],
        *,
        known: bool,
        these: bool,
    ) -> Mean:
        """The mean of the estimates that some of n outputs have.

        Args:
            n: outputs; estimates: of those that have one, by their sources.
            systems: how many of these each system has.
            interval: from held-out errors, and what belongs together.
            known: whether all sources are rated; these: as of `scored`.
        """
        shares = {name: count / estimates.n for name, count in systems.items()}
        known_systems = known_groups(self.errors.systems)
        new = [shares[name] for name in shares if name not in known_systems]
        held_out = self.near if known and len(self.near.values) else self.apart
        together = held_out.together(estimates, shares, self.outside.error(new))
        together = replace(together, estimates=0.0) if these else together
        ends = interval(held_out.values, together)
        errors = self.errors
        if estimates.n and errors.all_equal:
            units = count_different(numbered(errors.sources, len(errors)))
            ends = equal_interval(estimates.mean, estimates.n, units, errors.ends)
            ends = UNDEFINED if new else ends
        mean = estimates.mean + together.shift
        mean, low, high = np.clip((mean, *ends), *errors.ends).tolist()
        return Mean(mean=mean, mean_interval=(low, high), n=n, n_scored=estimates.n)

    def mean_of_sums(
        self,
        n: int,
        estimates: GroupSums,
        systems: Mapping[str, int],
        *,
        known: bool,
        these: bool,
    ) -> Mean:
        """The same where the sums are all that is kept; the interval is a normal one."""

        def interval(errors: FloatArray, together: Clustering) -> Interval:
            return normal_mean_interval(
                estimates.n, estimates.mean, estimates.variance, errors, together
            )

        return self.mean(n, estimates, systems, interval, known=known, these=these)


def scored(
    outputs: Outputs,
    estimates: Estimates,
    residuals: Residuals | FloatArray,
    groups: Sequence[str] = (),
    *,
    seed: int = 0,
    resamples: int = 1_000,
    these: bool = False,
) -> Scored:
    """The sums of the estimates; the order of outputs does not matter.

    Args:
        outputs: the texts that were judged.
        estimates: one for each.
        residuals: human rating minus held-out estimate of rated texts.
        groups: [n] what the outputs belong to; by default their source or item.
        seed: of the bootstrap behind the intervals.
        resamples: its size.
        these: whether the question is about these outputs, and not about outputs like them.
    """
    means = MeanErrors.of(residuals)
    labels = units_of(outputs, groups)
    names = outputs.systems
    rated = {*means.errors.sources}

    def mean_of(rows: IntArray) -> Mean:
        defined = rows[~np.isnan(estimates.values[rows])]
        values = estimates.values[defined]
        sources = picked(labels, defined)
        rng = np.random.default_rng(seed)

        def interval(errors: FloatArray, together: Clustering) -> Interval:
            return mean_interval(values, errors, rng, resamples, together=together)

        return means.mean(
            len(rows),
            GroupSums.of(values, sources),
            Counter(picked(names, defined)),
            interval,
            known=bool(sources) and rated.issuperset(sources),
            these=these,
        )

    rows_of = rows_by_name(names).items()
    reasons = Counter(filter(None, estimates.reasons))
    return Scored(
        outputs=outputs,
        estimates=estimates,
        overall=mean_of(np.arange(len(outputs))),
        systems={name: mean_of(rows) for name, rows in rows_of},
        reasons=dict(sorted(reasons.items())),
        these=these,
    )
