"""What the Gaussian process has learned; the same with more ratings, amplitudes as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from refless.data.human import canonical_order, fingerprint
from refless.data.joining import joined
from refless.data.records import RatedPool, Residuals, as_outputs
from refless.estimators.gp.covariance import Covariance, below
from refless.estimators.gp.data import Data
from refless.estimators.gp.exact import Left, exact
from refless.estimators.gp.inducing import Inducing, See, gathered
from refless.estimators.gp.model import Model, seen
from refless.estimators.intervals import residuals_in
from refless.registry.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What `fit` learns; no model of fewer than five rated texts.

    Attributes:
        left: held-out means and variances of the rated texts, by what is left out together.
        errors: human rating minus held-out estimate of the rated texts; standardized: the same in
            standard deviations.
    """

    data: Data
    model: Model | None
    left: Mapping[str, Left]
    errors: Residuals
    standardized: Residuals

    @classmethod
    def of(
        cls, data: Data, model: Model | None, left: Mapping[str, Left], labels: tuple[str, ...]
    ) -> Learned:
        """With the errors; labels: [n] what texts of one group have in common."""
        if model is None:
            nothing = Residuals(values=np.zeros(0))
            return cls(data, None, {}, nothing, nothing)
        gaps = {way: data.y - means for way, (means, _) in left.items()}
        errors = {way: gap * data.unit for way, gap in gaps.items()}
        ratios = {way: gap / np.sqrt(left[way][1]) for way, gap in gaps.items()}
        found = (residuals_in(data.rated, labels, **some) for some in (errors, ratios))
        return cls(data, model, left, *found)

    @property
    def rated(self) -> RatedPool:
        """The rated texts in use."""
        return self.data.rated

    def plus(self, more: RatedPool) -> Learned:
        """With more ratings; errors are those that were measured before."""
        if self.model is None:
            return self
        data, changed = with_more(self.data, more)
        return replace(self, data=data, model=conditioned_too(self.model, data, changed))


def with_more(data: Data, more: RatedPool) -> tuple[Data, IntArray]:
    """The rated texts with new ones below them, and which of the old have other ratings now.

    Words' frequencies, ranks, units and the variance of one rating stay as they are.

    Raises:
        UsageError: a pool of another kind.
        InputError: a text about which the two disagree.
    """
    pool, n = joined(data.rated, more), len(data.rated)
    fresh = as_outputs(pool.take(np.arange(n, len(pool))))
    inputs, points = data.inputs, data.points
    if len(fresh):
        new = data.inputs_of(fresh)
        inputs = inputs.below(new)
        points = points and {
            name: below(points[name], component.points(new))
            for name, component in data.components.items()
        }
    before, counts = (np.bincount(one.ratings.text) for one in (data.rated, pool))
    y = (pool.human - data.offset) / data.unit
    changed = np.flatnonzero((y[:n] != data.y) | (counts[:n] != before))
    found = replace(
        data,
        pool=pool,
        rated=pool,
        inputs=inputs,
        points=points,
        y=y,
        noise=data.noise[0] * before[0] / counts,
        fingerprint=fingerprint(pool.take(canonical_order(pool))),
        origin=data.origin or data.fingerprint,
    )
    return found, changed


def conditioned_too(model: Model, data: Data, changed: IntArray) -> Model:
    """The process given more ratings, exact or through the same inducing points as before.

    Args:
        model: what it was; data: all rated texts, the new ones last.
        changed: rows of old ones that have other ratings now.
    """
    posterior, nugget = model.posterior, model.amplitudes.nugget
    if isinstance(posterior, Inducing):
        find = partial(seen, data, nugget, model.covariance, posterior.root)
        return replace(model, posterior=_through(posterior, find, len(data.y), changed))
    rows, weights = np.arange(len(data.y)), model.amplitudes.weights
    covariance = Covariance.of(data.components, weights, data.at(rows), len(rows))
    noise = data.noise + nugget
    new = rows if len(changed) else rows[len(posterior.y) :]
    points = data.at(new, covariance.components)
    every = covariance.between(points, len(new))
    # words that no text had before are in a text's own variance, and not in what is between texts
    every[np.arange(len(new)), new] = covariance.diagonal(points, len(new))
    if len(changed):
        found = exact(every, noise, data.y)
    else:
        cross, own = np.split(every, [len(posterior.y)], axis=1)
        found = posterior.plus(cross, own + np.diag(noise[new]), data.y)
    return Model(model.amplitudes, covariance, found)


def _through(known: Inducing, find: See, size: int, changed: IntArray) -> Inducing:
    """The same with rows that have changed, and with those up to a size."""
    touched = np.append(changed, np.arange(known.size, size))
    told = known.told - gathered(changed, known.see, known.threads)
    told = told + gathered(touched, find, known.threads)
    return replace(known, told=told, size=size, find=find, stale=np.union1d(known.stale, changed))
