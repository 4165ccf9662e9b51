"""Agreement of estimates for outputs on sources that are rated already, and on new ones.

A new version of a system mostly answers prompts that have rated texts, and then the other texts of
a source tell more than those of other sources do. So both are measured: single texts that leave
with their source still rated, and whole sources that leave. Items count if there are no sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.commands.validate.leaderboard import share_spared
from refless.data.design import unit_name, units_of
from refless.data.records import RatedPool
from refless.estimators.cross_validated import CrossValidated
from refless.evaluation.groups import mean_of_others
from refless.evaluation.jackknife import (
    FEWEST,
    MOST_REFITTED,
    Replicates,
    difference,
    measured,
    replicates,
    split,
)
from refless.registry.arrays import IntArray, numbered
from refless.stats.intervals import Interval

# groups, blocks -> estimates
CrossValidate = Callable[[IntArray, IntArray], CrossValidated]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutFit:
    """Agreement of held-out estimates with people.

    Attributes:
        n: texts.
        spearman, spearman_interval: within folds, each estimated by one model; 95 %.
        r2, r2_interval: the share of the squared errors of the other texts' mean rating that
            estimates spare; the errors of both are compared text by text.
    """

    n: int
    spearman: float
    spearman_interval: Interval
    r2: float
    r2_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStudy:
    """One estimator on rated sources and on new ones.

    Attributes:
        unit: `source` or `item`; n_units: how many have rated texts.
        rated: each text of a unit with other rated texts, left out alone.
        new: each text, left out with its unit.
    """

    unit: str
    n_units: int
    rated: HeldOutFit
    new: HeldOutFit


def source_study(
    pool: RatedPool, cross_validate: CrossValidate, seed: int = 0
) -> SourceStudy | None:
    """Both numbers; None if too few texts share a source, or if learning anew takes long.

    Args:
        pool: the rated texts; cross_validate: the estimator's `cross_validated` on them.
        seed: of the parts that intervals come from.
    """
    n = len(pool)
    units = numbered(units_of(pool), n)
    sizes = np.bincount(units, minlength=1)
    several = sizes[units] > 1 if n else np.zeros(0, dtype=np.bool_)
    if n > MOST_REFITTED or len(sizes) < FEWEST or int(several.sum()) < FEWEST:
        return None
    fits = []
    ways = ((np.arange(n), several), (units, np.ones(n, dtype=np.bool_)))
    for groups, rows in ways:
        parts = split(pool, groups, seed)
        method = cross_validate(groups, parts.blocks)
        if method.without is None:
            return None
        flat = CrossValidated.of(
            lambda rows: partial(mean_of_others, pool.human[rows]), groups, parts.blocks
        )
        both = (replicates(each, parts).on(rows) for each in (method, flat))
        fits.append(_fit(*both))
    return SourceStudy(
        unit=unit_name(pool), n_units=len(sizes), rated=fits[0], new=fits[1]
    )


def _fit(method: Replicates, flat: Replicates) -> HeldOutFit:
    """The numbers of the texts that have an estimate, whose mean rating errs as `flat` does."""
    scored = ~np.isnan(method.at()).any(axis=0)
    rho, rho_ends = measured("spearman", method)
    mse, _ = measured("mse", method)
    saved = difference("mse", flat, method)
    r2, r2_interval = share_spared(mse, saved.value, saved.interval)
    return HeldOutFit(
        n=int(scored.sum()),
        spearman=rho,
        spearman_interval=rho_ends,
        r2=r2,
        r2_interval=r2_interval,
    )
