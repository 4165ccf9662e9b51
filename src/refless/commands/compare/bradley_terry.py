"""Strengths of systems from votes between two of them (Bradley & Terry 1952).

The log-odds that one system is preferred to another are the difference of their strengths; a tie is
half a win for each. Strengths are those of maximum likelihood. Their covariance is that of the
sandwich (Huber 1967) over whole clusters of votes: of one source, of one voter, or of both at once
(Cameron, Gelbach & Miller 2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from refless.registry.arrays import FloatArray, IntArray, codes_of
from refless.stats.corrections import holm
from refless.stats.intervals import LEVEL, Interval, student

MADE_UP = 0.5  # wins of either side in each pair if some system wins or loses all
STEPS = 100  # of Newton's method at most
ENOUGH = 1e-12  # a step smaller than this ends it


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairVotes:
    """Votes between two systems each.

    Attributes:
        first, second: [n] numbers of systems, which differ.
        won: [n] 1 if the first was preferred, 0 if the second, 0.5 for a tie.
        clusters: one or two arrays [n] of what votes belong to, such as sources and voters.
        systems: how many there are.
    """

    first: IntArray
    second: IntArray
    won: FloatArray
    clusters: Sequence[IntArray]
    systems: int

    def table(self) -> FloatArray:
        """[systems, systems] votes that each system of a row won from that of a column."""
        size = self.systems
        ahead = np.bincount(self.first * size + self.second, self.won, size**2)
        behind = np.bincount(self.second * size + self.first, 1 - self.won, size**2)
        return np.asarray((ahead + behind).reshape(size, size))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Strengths:
    """Strengths of systems, with sum 0.

    Attributes:
        values: [systems] in log-odds; covariances: one or more [systems, systems], of which the
            largest variance counts.
        freedom: clusters of the coarser kind, less one.
        made_up: whether votes were made up, as some system won or lost all of its own.
    """

    values: FloatArray
    covariances: tuple[FloatArray, ...]
    freedom: float
    made_up: bool

    def error(self, contrast: FloatArray) -> float:
        """The standard error of a sum of strengths with these weights [systems]."""
        variances = [float(contrast @ matrix @ contrast) for matrix in self.covariances]
        return math.sqrt(max(*variances, 0.0))

    def difference(self, ahead: int, behind: int) -> tuple[float, float]:
        """The strength of one system less that of another, and its standard error."""
        contrast = np.zeros(len(self.values))
        contrast[ahead] = 1.0
        contrast[behind] = -1.0
        return float(self.values[ahead] - self.values[behind]), self.error(contrast)

    def intervals(self) -> list[Interval]:
        """95 % intervals that hold for all systems together (Bonferroni)."""
        size = len(self.values)
        quantile = student(self.freedom, 1 - (1 - LEVEL) / size)
        halves = [quantile * self.error(row - 1 / size) for row in np.eye(size)]
        ends = zip(self.values.tolist(), halves, strict=True)
        return [(value - half, value + half) for value, half in ends]

    def pairs(self) -> dict[tuple[int, int], float]:
        """The p-value of each pair of systems, corrected by Holm's method for all pairs."""
        from scipy.special import stdtr

        pairs = [*combinations(range(len(self.values)), 2)]
        p_values = []
        for ahead, behind in pairs:
            value, error = self.difference(ahead, behind)
            p = 1.0
            if error:
                p = 2 * float(stdtr(self.freedom, -abs(value) / error))
            p_values.append(p)
        corrected = holm(np.array(p_values)).tolist()
        return dict(zip(pairs, corrected, strict=True))


def strengths(votes: PairVotes) -> Strengths | None:
    """Strengths of the systems; None if votes do not connect all of them.

    If some systems won or lost all votes against the others, no strength is finite: each pair that
    was voted on then gets half a win on either side (after Agresti & Caffo 2000).
    """
    from scipy.sparse.csgraph import connected_components

    table = votes.table()
    voted = table + table.T > 0
    if connected_components(voted, directed=False)[0] > 1:
        return None
    made_up = bool(connected_components(table > 0, connection="strong")[0] > 1)
    if made_up:
        table = table + MADE_UP * voted
    values = maximum_likelihood(table)
    inverse = np.linalg.pinv(_curvature(table, values))
    clusters = [codes_of(column) for column in votes.clusters]
    meats = _meats(votes, values, clusters)
    fewest = min(float(column.max()) for column in clusters)
    return Strengths(
        values=values,
        covariances=tuple(inverse @ meat @ inverse for meat in meats),
        freedom=max(fewest, 1.0),
        made_up=made_up,
    )


def maximum_likelihood(table: FloatArray) -> FloatArray:
    """[systems] strengths with sum 0 under which these votes are the most probable, by Newton.

    Args:
        table: [systems, systems] votes that each won from each other; all systems are connected in
            either direction.
    """
    values = np.zeros(len(table))
    counts = table + table.T
    for _ in range(STEPS):
        slope = table.sum(axis=1) - (counts * _chances(values)).sum(axis=1)
        step = np.linalg.lstsq(_curvature(table, values), slope, rcond=None)[0]
        size = float(np.abs(step).max())
        values = values + step / max(1.0, size)  # far steps overshoot
        if size < ENOUGH:
            break
    return np.asarray(values - values.mean())


def _chances(values: FloatArray) -> FloatArray:
    """[systems, systems] chance that the system of the row is preferred to that of the column."""
    from scipy.special import expit

    return np.asarray(expit(values[:, None] - values))


def _curvature(table: FloatArray, values: FloatArray) -> FloatArray:
    """[systems, systems] second derivatives of the negative log-likelihood."""
    chances = _chances(values)
    weight = (table + table.T) * chances * chances.T
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _meats(
    votes: PairVotes, values: FloatArray, clusters: Sequence[IntArray]
) -> list[FloatArray]:
    """Covariances of the slope: by each kind of cluster, and by two kinds at once."""
    meats = [_meat(votes, values, column) for column in clusters]
    if len(clusters) < 2:
        return meats
    first, second = clusters
    both = codes_of(first * (int(second.max()) + 1) + second)
    return [*meats, meats[0] + meats[1] - _meat(votes, values, both)]


def _meat(votes: PairVotes, values: FloatArray, cluster: IntArray) -> FloatArray:
    """[systems, systems] covariance of the slope, as sums over clusters vary, times G / (G - 1)."""
    from scipy.sparse import csr_array

    chances = _chances(values)[votes.first, votes.second]
    off = votes.won - chances
    rows = np.concatenate([cluster, cluster])
    columns = np.concatenate([votes.first, votes.second])
    slopes = np.concatenate([off, -off])
    count = int(cluster.max()) + 1
    sums = csr_array((slopes, (rows, columns)), shape=(count, votes.systems))
    return np.asarray((sums.T @ sums).toarray() * (count / max(count - 1, 1)))
