"""Estimates for new outputs, and what they add up to: mean with interval, coverage, systems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.data.records import Estimates, Outputs, Residuals, picked, residuals_of
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.clusters import (
    Effect,
    Unseen,
    design_effect,
    group_effects,
    intraclass,
    numbered,
    unseen,
    widened,
)
from refless.stats.intervals import (
    Interval,
    Together,
    mean_interval,
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


def _held_out(errors: Residuals, alone: FloatArray | None = None) -> _HeldOut:
    """The errors of texts that were held out with their sources, or alone."""
    values = errors.values if alone is None else alone
    rows = np.flatnonzero(~np.isnan(values))
    sources, systems, n = picked(errors.sources, rows), picked(errors.systems, rows), len(rows)
    alike, groups = intraclass(values[rows], sources), len(set(numbered(sources, n).tolist()))
    return _HeldOut(
        values=values[rows],
        alike=alike,
        design=design_effect(sources, n, alike),
        systems=group_effects(values[rows], systems),
        wide=widened(groups - 1) if alone is None and groups > 1 else 1.0,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """What held-out errors say of a mean.

    Attributes:
        errors: all of them; apart, near: of texts held out with their sources, and alone.
        rated: the sources; outside: what a system that nobody rated may do.
    """

    errors: Residuals
    apart: _HeldOut
    near: _HeldOut
    rated: set[str]
    outside: Unseen

    @classmethod
    def of(cls, errors: Residuals) -> _Errors:
        """What they say."""
        outside = unseen(errors.afar, errors.values, errors.systems)
        near = _held_out(errors, errors.alone)
        return cls(errors, _held_out(errors), near, {*errors.sources}, outside)

    def held(self, *, known: bool) -> _HeldOut:
        """The errors to judge outputs by, all of whose sources are `known`, or not."""
        return self.near if known and len(self.near.values) else self.apart

    def together(
        self, held: _HeldOut, *, estimates: float, residuals: float, shares: Mapping[str, float]
    ) -> Together:
        """Design effects of shared sources and systems on the mean."""
        effects = [(held.systems[name], shares[name]) for name in shares if name in held.systems]
        other = [shares[name] for name in shares if name and name not in self.errors.systems]
        known = math.fsum((share * effect.error) ** 2 for effect, share in effects)
        return Together(
            estimates=estimates,
            residuals=residuals,
            held_out=held.design,
            shift=math.fsum(share * effect.shift for effect, share in effects),
            error=math.hypot(math.sqrt(known), self.outside.error(other)),
            wide=held.wide,
        )

    def within(self, ends: Interval) -> Interval:
        """The interval, within what a rating can be."""
        low, high = np.clip(ends, *self.errors.ends).tolist()
        return low, high


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
    """What the estimates add up to; the order of outputs does not matter.

    Intervals know that outputs for one source err together, as rated texts of one source do, that
    few rated sources tell little of others, and that an estimator judges whole systems too high or
    too low: one whose texts were rated by as much as their held-out errors say, another by as much
    as rated systems are when they are held out.

    Args:
        outputs: the texts that were judged.
        estimates: one for each.
        residuals: human rating minus held-out estimate of rated texts.
        groups: [n] what the outputs belong to, if these errors are told by other than sources.
        seed: of the bootstrap behind the intervals.
        resamples: its size.
        these: whether the question is about these outputs, and not about outputs like them.
    """
    labels = groups or outputs.sources
    means = Means.of(
        estimates.values,
        labels,
        outputs.systems,
        residuals,
        seed=seed,
        resamples=resamples,
        these=these,
    )
    return Scored(
        outputs=outputs,
        estimates=estimates,
        overall=means.overall,
        systems=means.systems,
        reasons=dict(sorted(Counter(reason for reason in estimates.reasons if reason).items())),
        these=these,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The mean of all outputs, and of each system by name."""

    overall: Mean
    systems: dict[str, Mean]

    @classmethod
    def of(
        cls,
        values: FloatArray,
        labels: Sequence[str],
        names: Sequence[str],
        residuals: Residuals | FloatArray,
        *,
        seed: int = 0,
        resamples: int = 1_000,
        these: bool = False,
    ) -> Means:
        """What estimates add up to: see `scored`.

        Args:
            values: [n] estimates, NaN where there is none.
            labels: [n] what errs together, called as in the residuals, or empty.
            names: [n] systems, or empty.
            residuals, seed, resamples, these: as of `scored`.
        """
        errors = _Errors.of(residuals_of(residuals))

        def mean_of(rows: IntArray) -> Mean:
            defined = rows[~np.isnan(values[rows])]
            found = values[defined]
            rng = np.random.default_rng(seed)
            sources = [labels[i] for i in defined] if labels else []
            held = errors.held(known=bool(sources) and errors.rated.issuperset(sources))
            counts = Counter(names[i] for i in defined) if names else Counter()
            together = errors.together(
                held,
                estimates=design_effect(sources, len(found), intraclass(found, sources)),
                residuals=design_effect(sources, len(found), held.alike),
                shares={name: n / len(defined) for name, n in counts.items()},
            )
            together = replace(together, estimates=0.0) if these else together
            ends = mean_interval(found, held.values, rng, resamples, together=together)
            mean = float(np.sort(found).mean()) + together.shift if len(found) else math.nan
            return Mean(
                mean=errors.within((mean, mean))[0],
                mean_interval=errors.within(ends),
                n=len(rows),
                n_scored=len(found),
            )

        systems = np.array(names, dtype=object)
        return cls(
            overall=mean_of(np.arange(len(values))),
            systems={name: mean_of(np.flatnonzero(systems == name)) for name in sorted({*names})},
        )
