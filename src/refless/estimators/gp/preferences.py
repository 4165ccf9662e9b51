"""A Gaussian process that learns from pairs: which of two texts people preferred."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from refless.data.preferences import Pairs, Votes, groups_in, votes_of
from refless.data.records import Outputs
from refless.estimators.gp.bradley_terry import (
    Posterior,
    among,
    chance,
    exact,
    fitted_amplitudes,
    inducing,
    sigmoid,
)
from refless.estimators.gp.components import is_judge
from refless.estimators.gp.covariance import Covariance, rows_of
from refless.estimators.gp.data import FEWEST, Data
from refless.estimators.gp.likelihood import Amplitudes
from refless.estimators.gp.model import Method
from refless.estimators.protocol import whole
from refless.loops.threads import calm
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import LEVEL, quantile

REACH = quantile(LEVEL)
ROWS = 64  # new texts, or pairs of them, at a time, always so many
Column = tuple[FloatArray, FloatArray]  # means and variances


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """What was learned from pairs.

    Attributes:
        data: the texts that were compared, as the kernels read them.
        amplitudes: weights of the kernels, and the variance of what belongs to single texts.
        covariance: bound to the anchors: all these texts, or inducing points among them.
        usual: [anchors] mean covariance with them; level: mean of all of it.
        posterior: of differences of quality.
    """

    data: Data
    amplitudes: Amplitudes
    covariance: Covariance
    usual: FloatArray
    level: float
    posterior: Posterior

    def quality(self, outputs: Outputs) -> Column:
        """[n] means and variances of quality, less that of the average anchor, on the logit scale.

        That a text wins against such a one has the chance `chance(mean, variance)`.
        """
        known, inputs = self.covariance, self.data.inputs_of(outputs)
        means, variances = np.empty(len(inputs)), np.empty(len(inputs))
        with calm():
            for rows in _blocks(len(inputs)):
                points = known.points(inputs.take(rows))
                cross = known.between(points, ROWS)
                prior = known.diagonal(points, ROWS) - 2.0 * cross.mean(axis=1) + self.level
                means[rows], variances[rows] = self.posterior.predict(cross - self.usual, prior)
        return means, np.maximum(variances, 0.0) + self.amplitudes.nugget

    def chances(self, outputs: Outputs) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """[n] chances to be preferred to the average anchor, ends of 95 % intervals, deviations.

        The interval is that of quality, which deviates by the last column.
        """
        means, variances = self.quality(outputs)
        sd = np.sqrt(variances)
        ends = sigmoid(means - REACH * sd), sigmoid(means + REACH * sd)
        return chance(means, variances), *ends, sd

    def better(self, outputs: Outputs, first: IntArray, second: IntArray) -> Column:
        """[k] means and variances of the quality of one text less that of another.

        Args:
            outputs: texts that are none of those compared; first, second: [k] rows of them.
        """
        known, points = self.covariance, self.covariance.points(self.data.inputs_of(outputs))
        means, variances = np.empty(len(first)), np.empty(len(first))
        weights = np.array([known.weights.get(name, 0.0) for name in self.data.components])
        with calm():
            for rows in _blocks(len(first)):
                one, other = (rows_of(points, side[rows]) for side in (first, second))
                own = Covariance.of(self.data.components, weights, other, ROWS)
                prior = known.diagonal(one, ROWS) + known.diagonal(other, ROWS)
                prior -= 2.0 * np.diag(own.between(one, ROWS))
                cross = known.between(one, ROWS) - known.between(other, ROWS)
                means[rows], variances[rows] = self.posterior.predict(cross, prior)
        return means, np.maximum(variances, 0.0) + 2.0 * self.amplitudes.nugget


def _blocks(n: int) -> Iterator[IntArray]:
    """Rows, as many at a time whatever their number, the last ones filled up by copies.

    How a product is summed depends on the shapes of its factors; so none depends on others.
    """
    for begin in range(0, n, ROWS):
        rows = np.arange(begin, begin + ROWS)
        yield np.where(rows < n, rows, begin)


def preferences(data: Data, pairs: Pairs, method: Method) -> Preferences | None:
    """Chooses the amplitudes, and conditions on who won; None of fewer than five pairs.

    Args:
        data: the texts that were compared; pairs: the choices.
        method: its numbers are of texts, and a pair has two.
    """
    row = np.full(len(pairs.texts), -1, dtype=np.int64)
    place = {name: i for i, name in enumerate(pairs.texts.ids)}
    row[[place[name] for name in data.rated.ids]] = np.arange(len(data.rated))
    votes = votes_of(replace(pairs, first=row[pairs.first], second=row[pairs.second]))
    if len(votes.wins) < FEWEST:
        return None
    with calm():
        amplitudes = _tuned(data, votes, groups_in(pairs, votes), method)
        return conditioned(data, amplitudes, votes, method)


def _tuned(data: Data, votes: Votes, groups: IntArray, method: Method) -> Amplitudes:
    """Amplitudes from these pairs, or from a part of them."""
    rows = whole(groups, method.tune_on // 2, np.random.default_rng(0))
    some = votes.take(rows)
    used, place = np.unique([some.first, some.second], return_inverse=True)
    first, second = place.reshape(2, -1)
    some = replace(some, first=first, second=second)
    points = data.at(used)
    kernels = [
        among(one.bound(points[name])(points[name]), some) for name, one in data.components.items()
    ]
    kernels.append(among(np.eye(len(used)), some))
    believed = np.array([is_judge(name) for name in data.components], dtype=np.bool_)
    return fitted_amplitudes(kernels, some, believed)


def conditioned(data: Data, amplitudes: Amplitudes, votes: Votes, method: Method) -> Preferences:
    """What these amplitudes make of who won; through inducing points where pairs are many."""
    n = len(data.y)
    rows = np.arange(n)
    many = 2 * len(votes.wins) > method.exact_up_to
    if many:
        rows = np.sort(np.random.default_rng(1).choice(n, min(method.inducing, n), replace=False))
    covariance = Covariance.of(data.components, amplitudes.weights, data.at(rows), len(rows))
    points = data.at(np.arange(n), covariance.components)
    cross = covariance.between(points, n)
    inner = cross[rows]
    usual, level, nugget = inner.mean(axis=0), float(inner.mean()), amplitudes.nugget
    posterior: Posterior
    if many:
        prior = covariance.diagonal(points, n)
        posterior = inducing(inner, cross, prior, nugget, votes)
    else:
        posterior = exact(cross, nugget, votes)
    return Preferences(data, amplitudes, covariance, usual, level, posterior)
