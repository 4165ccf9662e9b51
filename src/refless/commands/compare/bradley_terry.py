"""Strengths of systems from votes between two of them (Bradley & Terry 1952).

The log-odds that one system is preferred to another are the difference of their strengths; a tie is
half a win for each. Controls, such as the lengths of the two texts, add their difference times an
effect, so that strengths are those of texts that are alike in them (Li et al. 2024, "Does style
matter?"). Strengths and effects are those of maximum likelihood. Their covariance is that of the
sandwich (Huber 1967) over whole clusters of votes: of one source, of one voter, or of both at once
(Cameron, Gelbach & Miller 2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes_of
from refless.stats.confidence_sequence import always_interval
from refless.stats.corrections import corrected
from refless.stats.intervals import LEVEL, Interval, student

if TYPE_CHECKING:
    from scipy.sparse import csr_array

STEPS = 100  # of Newton's method at most
ENOUGH = 1e-12  # a step smaller than this ends it
SINGULAR = 1e-10  # of the largest singular value: smaller ones are none


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairVotes:
    """Votes between two systems each.

    Attributes:
        first, second: [n] numbers of systems, which differ.
        won: [n] 1 if the first was preferred, 0 if the second, 0.5 for a tie.
        clusters: one or two arrays [n] of what votes belong to, such as sources and voters.
        systems: how many there are.
        controls: arrays [n] of the first text's lead in something, such as its length.
    """

    first: IntArray
    second: IntArray
    won: FloatArray
    clusters: Sequence[IntArray]
    systems: int
    controls: Sequence[FloatArray] = ()

    def table(self) -> FloatArray:
        """[systems, systems] votes that each system of a row won from that of a column."""
        size = self.systems
        ahead = np.bincount(self.first * size + self.second, self.won, size**2)
        behind = np.bincount(self.second * size + self.first, 1 - self.won, size**2)
        return np.asarray((ahead + behind).reshape(size, size))

    def design(self) -> csr_array:
        """[n, systems + controls] 1 for the first system, -1 for the second, and the leads."""
        from scipy.sparse import csr_array

        n = len(self.won)
        places = [self.first, self.second]
        places += [np.full(n, self.systems + i) for i in range(len(self.controls))]
        values = np.concatenate([np.ones(n), -np.ones(n), *self.controls])
        rows = np.tile(np.arange(n), len(places))
        shape = (n, self.systems + len(self.controls))
        return csr_array((values, (rows, np.concatenate(places))), shape=shape)

    def with_ties(self, voted: BoolArray) -> PairVotes:
        """The votes with one more tie of each pair [systems, systems] that was voted on."""
        first, second = np.nonzero(np.triu(voted))
        more = len(first)
        return replace(
            self,
            first=np.append(self.first, first),
            second=np.append(self.second, second),
            won=np.append(self.won, np.full(more, 0.5)),
            clusters=(),
            controls=[np.append(lead, np.zeros(more)) for lead in self.controls],
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Strengths:
    """Strengths of systems, with sum 0.

    Attributes:
        values: [systems] in log-odds; effects: [controls] in log-odds a unit of each.
        covariances: one or more of strengths and effects, of which the largest variance counts.
        freedom: clusters of the coarser kind, less one.
        made_up: whether votes were made up, as some system won or lost all of its own.
    """

    values: FloatArray
    effects: FloatArray
    covariances: tuple[FloatArray, ...]
    freedom: float
    made_up: bool

    def at_any_look(self) -> Strengths:
        """The same as unsure as they are if one looks however often: see `always_interval`."""
        freedom = self.freedom
        half = always_interval(0.0, 1.0, round(freedom) + 1, freedom)[1]
        wide = (half / student(freedom)) ** 2
        return replace(self, covariances=tuple(wide * c for c in self.covariances))

    def error(self, contrast: FloatArray) -> float:
        """The standard error of a sum of strengths, and effects, with these weights."""
        variances = [float(contrast @ matrix @ contrast) for matrix in self.covariances]
        return math.sqrt(max(*variances, 0.0))

    def difference(self, ahead: int, behind: int) -> tuple[float, float]:
        """The strength of one system less that of another, and its standard error."""
        contrast = np.zeros(len(self.covariances[0]))
        contrast[ahead] = 1.0
        contrast[behind] = -1.0
        return float(self.values[ahead] - self.values[behind]), self.error(contrast)

    def intervals(self) -> list[Interval]:
        """95 % intervals that hold for all systems together (Bonferroni)."""
        size = len(self.values)
        quantile = student(self.freedom, 1 - (1 - LEVEL) / size)
        rows = np.eye(size, len(self.covariances[0]))
        rows[:, :size] -= 1 / size
        return self._around(self.values, rows, quantile)

    def effect_intervals(self) -> list[Interval]:
        """The 95 % interval of each effect."""
        rows = np.eye(len(self.covariances[0]))[len(self.values) :]
        return self._around(self.effects, rows, student(self.freedom))

    def _around(
        self, values: FloatArray, rows: FloatArray, quantile: float
    ) -> list[Interval]:
        """Intervals of values, each so many standard errors of its row of weights wide."""
        halves = [quantile * self.error(row) for row in rows]
        ends = zip(values.tolist(), halves, strict=True)
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
        return dict(zip(pairs, corrected(p_values), strict=True))


def strengths(votes: PairVotes) -> Strengths | None:
    """Strengths of the systems; None if votes do not tell them, and the effects of controls.

    Votes that do not connect all systems tell none, nor do controls that alone tell the systems, or
    the winners, apart. If some systems won or lost all votes against the others, no strength is
    finite: each pair that was voted on then gets half a win on either side (after Agresti & Caffo
    2000).
    """
    from scipy.sparse.csgraph import connected_components

    table = votes.table()
    voted = table + table.T > 0
    if connected_components(voted, directed=False)[0] > 1:
        return None
    made_up = bool(connected_components(table > 0, connection="strong")[0] > 1)
    fitted = votes.with_ties(voted) if made_up else votes
    design = fitted.design()
    values = maximum_likelihood(design, fitted.won)
    if values is None:
        return None
    inverse = np.linalg.pinv(_curvature(design, values), rcond=SINGULAR)
    clusters = [codes_of(column) for column in votes.clusters]
    meats = _meats(votes, values, clusters)
    fewest = min(float(column.max()) for column in clusters)
    size = votes.systems
    return Strengths(
        values=values[:size] - values[:size].mean(),
        effects=values[size:],
        covariances=tuple(inverse @ meat @ inverse for meat in meats),
        freedom=max(fewest, 1.0),
        made_up=made_up,
    )


def maximum_likelihood(design: csr_array, won: FloatArray) -> FloatArray | None:
    """[columns] of logistic regression without a constant, by Newton; None if there is no maximum.

    Args:
        design: [n, columns] of which the systems' leave a constant open; won: [n] in [0, 1].
    """
    values = np.zeros(design.shape[1])
    for _ in range(STEPS):
        slope = design.T @ (won - _chance(design @ values))
        curvature = _curvature(design, values)
        step, _, rank, _ = np.linalg.lstsq(curvature, slope, rcond=SINGULAR)
        size = float(np.abs(step).max())
        values = values + step / max(1.0, size)  # far steps overshoot
        if size < ENOUGH:
            return values if rank == len(values) - 1 else None
    return None


def _curvature(design: csr_array, values: FloatArray) -> FloatArray:
    """[columns, columns] second derivatives of the negative log-likelihood."""
    chances = _chance(design @ values)
    weighted = design.multiply((chances * (1 - chances))[:, None]).tocsr()
    return np.asarray((design.T @ weighted).toarray())


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
    """Covariance of the slope, as sums over clusters vary, times G / (G - 1)."""
    from scipy.sparse import csr_array

    design = votes.design()
    off = votes.won - _chance(design @ values)
    count = int(cluster.max()) + 1
    n = len(cluster)
    of_clusters = csr_array((off, (cluster, np.arange(n))), shape=(count, n))
    sums = of_clusters @ design
    return np.asarray((sums.T @ sums).toarray() * (count / max(count - 1, 1)))


def _chance(gaps: FloatArray) -> FloatArray:
    """[n] the chance that the first wins, from how much stronger it is."""
    from scipy.special import expit

    return np.asarray(expit(gaps))
