"""Held-out errors of estimates, and the intervals made of them."""

from collections.abc import Sequence

import numpy as np

from refless.data.records import (
    Estimates,
    Outputs,
    RatedPool,
    Reason,
    Residuals,
    ends_of,
    picked,
)
from refless.registry.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    count_different,
    numbered,
)
from refless.stats.clusters import known_groups, unseen, width
from refless.stats.intervals import LEVEL, conformal_radius, quantile

FEWEST_SOURCES = 20  # rated sources that tell well how far estimates for others lie off


def held_out_ways(rated: RatedPool, labels: Sequence[str]) -> dict[str, IntArray]:
    """The groups left out together to measure errors, by the name that `Residuals` has for each.

    Outputs on new sources err as texts that are left out with their source (or what `labels` say).
    Outputs on sources that are rated already err as texts that are left out alone. Outputs of other
    systems err as whole systems do.
    """
    n = len(rated)
    together = numbered(labels if len(set(labels)) > 1 else (), n)
    ways = {"values": together}
    if count_different(together) < n:
        ways["alone"] = np.arange(n)
    if len({*rated.systems} - {""}) > 1:
        ways["afar"] = numbered(rated.systems, n)
    return ways


def half_widths(
    outputs: Outputs,
    labels: Sequence[str],
    errors: Residuals,
    standardized: Residuals | None = None,
    sd: FloatArray | float = 1.0,
) -> FloatArray:
    """[n] how far the 95 % interval of each output reaches to either side.

    Args:
        outputs: the texts that are judged.
        labels: [n] what they belong to, as the errors' `sources` name it; () if unknown.
        errors: held-out errors.
        standardized: the same in standard deviations; None if all estimates are alike.
        sd: standard deviations of the estimates.

    NaN if there are too few errors, or all ratings are equal.
    """
    if errors.all_equal:
        return np.full(len(outputs), np.nan)
    scores = standardized or errors
    radius = np.full(len(outputs), np.nan)
    if len(scores):
        wide = width(scores.values, scores.sources)
        radius[:] = conformal_radius(scores.values) * wide
    if len(scores.alone):
        rated = {*scores.sources} - {""}
        alone = scores.alone[~np.isnan(scores.alone)]
        radius[[label in rated for label in labels]] = conformal_radius(alone)
    known_systems = known_groups(errors.systems)
    new = [name not in known_systems for name in outputs.systems]
    if errors.systems and any(new):
        spread = unseen(errors.afar, errors.values, errors.systems).spread
        return np.hypot(radius * sd, np.where(new, quantile(LEVEL) * spread, 0.0))
    return radius * sd


def residuals_in(
    pool: RatedPool, labels: tuple[str, ...], values: FloatArray, **ways: FloatArray
) -> Residuals:
    """The errors of a pool's texts with their systems and groups, without those undefined."""
    rows = np.flatnonzero(~np.isnan(values))
    return Residuals(
        values=values[rows],
        sources=picked(labels, rows),
        systems=picked(pool.systems, rows),
        human=pool.human[rows],
        ends=ends_of(pool.scale),
        **{name: errors[rows] for name, errors in ways.items()},
    )


def bad_rows(outputs: Outputs) -> BoolArray:
    """[n] whether a row could not be read."""
    return np.array(outputs.bad or [False] * len(outputs), dtype=np.bool_)


def reasons_of(cases: Sequence[tuple[Reason, BoolArray]]) -> tuple[Reason, ...]:
    """[n] the first reason that holds for each output, "" if none does."""
    masks = [mask for _, mask in cases]
    first = np.select(masks, range(len(cases)), default=len(cases))
    names: tuple[Reason, ...] = (*(name for name, _ in cases), "")
    return tuple(names[i] for i in first)


def estimates_of(
    texts: Outputs | RatedPool,
    values: FloatArray,
    scale: tuple[float, float] | None,
    reasons: tuple[Reason, ...] = (),
    support: IntArray | int = 0,
    widths: FloatArray | float = np.nan,
    sd: FloatArray | None = None,
) -> Estimates:
    """Estimates with intervals that stay on the scale.

    Args:
        texts: what is judged, n texts.
        values: [n]; scale: of the ratings.
        reasons: [n] why there is no estimate; by default "too-few" for a value that is NaN.
        support: [n] rated texts behind each; widths: [n] half-widths of the intervals.
        sd: [n] standard deviations.
    """
    ends = ends_of(scale)
    reasons = reasons or reasons_of([("too-few", np.isnan(values))])
    undefined = np.array([reason != "" for reason in reasons], dtype=np.bool_)
    values = np.where(undefined, np.nan, values)
    return Estimates(
        ids=texts.ids,
        values=values,
        reasons=reasons,
        support=np.zeros(len(values), dtype=np.int64) + support,
        low=np.clip(values - widths, *ends),
        high=np.clip(values + widths, *ends),
        sd=np.zeros(0) if sd is None else np.where(undefined, np.nan, sd),
    )
