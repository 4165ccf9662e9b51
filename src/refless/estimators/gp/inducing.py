"""Ordinary kriging, a Gaussian process with an unknown constant mean, through inducing points.

As FITC (Snelson and Ghahramani 2006) has it, the covariance of n ratings is taken as phi phi' +
diag(d): phi = K_nm L^-T with L L' = K_mm, and d what the m inducing points leave of each text's
variance, with nugget and noise. What ratings tell is a sum over texts, of which a block is in
memory at a time: memory m**2, not n m. Ratings come by adding to it, and are left out by taking
away from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from refless.estimators.gp.exact import Factor, Left, leave_out
from refless.metrics.matching import Work
from refless.registry.arrays import FloatArray, IntArray

ROWS = 2_048  # rated texts at a time
LARGE = 2_000  # rows of a group beyond which its block of all pairs is not formed
NUMBERS = 125_000_000  # of features that are kept, 1 GB; of more texts they are found again
AT_ONCE = 4  # blocks that wait to be added up, in their order


class Seen(NamedTuple):
    """Rated texts as the inducing points see them.

    Attributes:
        phi: [k, m] features; d: [k] variance that these do not explain; y: [k] ratings.
    """

    phi: FloatArray
    d: FloatArray
    y: FloatArray

    def take(self, rows: IntArray) -> Seen:
        """Some of them."""
        return Seen(self.phi[rows], self.d[rows], self.y[rows])

    def told(self) -> FloatArray:
        """[m + 2, m + 2] Z' d^-1 Z, Z the columns phi, 1 and y: all that is needed of ratings."""
        columns = np.column_stack([self.phi, np.ones(len(self.y)), self.y])
        columns /= np.sqrt(self.d)[:, None]
        return np.asarray(columns.T @ columns)


See = Callable[[IntArray], Seen]  # rows -> what the inducing points see of them


@dataclass(frozen=True, eq=False)
class Inducing:
    """A Gaussian process with an unknown constant mean, given ratings, through m points.

    Attributes:
        root: [m, m] lower Cholesky factor of the inducing points' covariance.
        told: [m + 2, m + 2] sum over the rated texts, see `Seen.told`.
        size: number of the rated texts; find: these by row.
        kept: those that were there at first, or None of many; threads: how many work at once.
        stale: rows of these that have other ratings now.
    """

    root: FloatArray
    told: FloatArray
    size: int
    find: See
    kept: Seen | None
    threads: int | None
    stale: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, root: FloatArray, find: See, size: int, threads: int | None) -> Inducing:
        """Given the ratings of so many texts, which are kept where they are not too many."""
        m = len(root)
        kept = _all_seen(find, size, m, threads) if kept_whole(size, m) else None
        told = gathered(np.arange(size), find if kept is None else kept.take, threads)
        return cls(root, told, size, find, kept, threads)

    def see(self, rows: IntArray) -> Seen:
        """Some of the rated texts."""
        if self.kept is None:
            return self.find(rows)
        new = (rows >= len(self.kept.y)) | np.isin(rows, self.stale)
        if not new.any():
            return self.kept.take(rows)
        old, fresh = self.kept.take(rows[~new]), self.find(rows[new])
        order = np.argsort(np.concatenate([np.flatnonzero(~new), np.flatnonzero(new)]))
        return Seen(*map(np.concatenate, zip(old, fresh, strict=True))).take(order)

    @cached_property
    def _inner(self) -> Factor:
        """Factor of I + phi' d^-1 phi."""
        from scipy.linalg import cho_factor

        m = len(self.root)
        return cho_factor(self.told[:m, :m] + np.eye(m), lower=True, check_finite=False)  # type: ignore[no-any-return]

    @cached_property
    def _solved(self) -> FloatArray:
        """[m, 2] phi' sigma^-1 of 1 and of y."""
        from scipy.linalg import cho_solve

        m = len(self.root)
        return np.asarray(cho_solve(self._inner, self.told[:m, m:], check_finite=False))

    @cached_property
    def _sums(self) -> FloatArray:
        """[2] 1' sigma^-1 of 1 and of y."""
        m = len(self.root)
        return np.asarray(self.told[m, m:] - self.told[m, :m] @ self._solved)

    def sound(self) -> bool:
        """Whether what ratings tell can be of any ratings."""
        from scipy.linalg import LinAlgError

        try:
            return bool(self._sums[0] > 0)
        except LinAlgError:
            return False

    @property
    def mean(self) -> float:
        """The constant mean, by generalised least squares."""
        return float(self._sums[1] / self._sums[0])

    @property
    def _known(self) -> FloatArray:
        """[m] how much of the constant each feature tells."""
        return self._solved[:, 0]

    @cached_property
    def _answers(self) -> FloatArray:
        """[m] of each feature in any mean."""
        return self._solved[:, 1] - self.mean * self._known

    @property
    def weights(self) -> FloatArray:
        """[m] of the inducing points in any mean: it is `mean` + cross @ `weights`."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.root, self._answers, lower=True, trans="T"))

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the process at new texts; `cross` is [new, m]."""
        phi = features(self.root, cross)
        values, spread = self._at(phi)
        return values, prior - np.square(phi).sum(axis=1) + spread

    def _at(self, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means, and variances of what the inducing points explain."""
        from scipy.linalg import cho_solve

        values = self.mean + phi @ self._answers
        lack = 1.0 - phi @ self._known
        inner = cho_solve(self._inner, phi.T, check_finite=False).T
        return values, (phi * inner).sum(axis=1) + lack**2 / self._sums[0]

    def together(self, cross: FloatArray, prior: FloatArray) -> FloatArray:
        """As `Exact.together`; `cross` is [new, m]."""
        from scipy.linalg import cho_solve

        phi = features(self.root, cross)
        lack = 1.0 - phi @ self._known
        prior -= phi @ (phi - cho_solve(self._inner, phi.T).T).T
        prior += np.outer(lack, lack / self._sums[0])
        return prior

    def shares(self, cross: FloatArray) -> FloatArray:
        """[new, n] weight of each rating in each mean; every row sums to 1."""
        from scipy.linalg import cho_solve

        phi, out = features(self.root, cross), np.empty((len(cross), self.size))
        inner, lack = cho_solve(self._inner, phi.T), (1.0 - phi @ self._known) / self._sums[0]

        def share(rows: IntArray) -> None:
            seen = self.see(rows)
            constant = 1.0 - seen.phi @ self._known
            out[:, rows] = ((seen.phi @ inner + np.outer(constant, lack)).T) / seen.d

        jobs = [partial(share, rows) for rows in blocks(np.arange(self.size))]
        Work(threads=self.threads).run([jobs], len(jobs))
        return out

    def held_out(self, groups: IntArray, rows: IntArray | None = None) -> Left:
        """As `Exact.held_out`, for the covariance of this class."""
        rows = np.arange(len(groups)) if rows is None else rows
        means, variances = np.full(len(groups), np.nan), np.full(len(groups), np.nan)
        _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        if len(sizes) < 2:
            return means[rows], variances[rows]
        wanted = np.zeros(len(sizes), dtype=np.bool_)
        wanted[codes[rows]] = True
        for group in np.flatnonzero(wanted & (sizes > LARGE)):
            own = np.flatnonzero(codes == group)
            told = self.told - gathered(own, self.see, self.threads)
            left = replace(self, told=told)
            for some in blocks(np.intersect1d(own, rows)):
                seen = self.see(some)
                means[some], spread = left._at(seen.phi)  # noqa: SLF001 - of its own class
                variances[some] = spread + seen.d
        for some in _parts(np.flatnonzero((wanted & (sizes <= LARGE))[codes]), codes):
            means[some], variances[some] = self._left(self.see(some), codes[some])
        return means[rows], variances[rows]

    def _left(self, seen: Seen, groups: IntArray) -> Left:
        """The same of whole groups, from the diagonal blocks of Q: see `exact.leave_out`."""
        from scipy.linalg import cho_solve

        phi, d, y = seen
        ones, scaled = (1.0 - phi @ self._known) / d, phi / d[:, None]
        inner = cho_solve(self._inner, scaled.T, check_finite=False).T
        qy = (y - self.mean - phi @ self._answers) / d
        diagonal = 1.0 / d - (scaled * inner).sum(axis=1) - ones**2 / self._sums[0]

        def block(rows: IntArray) -> FloatArray:
            part = np.diag(1.0 / d[rows]) - scaled[rows] @ inner[rows].T
            return np.asarray(part - np.outer(ones[rows], ones[rows]) / self._sums[0])

        return leave_out(y, qy, block, groups, diagonal)


def kept_whole(n: int, m: int) -> bool:
    """Whether all features of so many rated texts are kept."""
    return n * m <= NUMBERS


def features(root: FloatArray, cross: FloatArray) -> FloatArray:
    """[k, m] phi of texts, from their covariance with the inducing points."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(root, cross.T, lower=True, check_finite=False).T)


def blocks(rows: IntArray) -> Iterator[IntArray]:
    """The rows, so many at a time."""
    return (rows[begin : begin + ROWS] for begin in range(0, len(rows), ROWS))


def _parts(rows: IntArray, codes: IntArray) -> Iterator[IntArray]:
    """The rows by groups, which stay whole, about so many at a time."""
    rows = rows[np.argsort(codes[rows], kind="stable")]
    ends = np.append(np.flatnonzero(np.diff(codes[rows])) + 1, len(rows))
    begin = 0
    while begin < len(rows):
        end = int(ends[np.searchsorted(ends, min(begin + ROWS, len(rows)))])
        yield rows[begin:end]
        begin = end


def gathered(rows: IntArray, see: See, threads: int | None) -> FloatArray:
    """What the ratings of these rows tell, see `Seen.told`; no digit depends on the threads."""
    some, total = list(blocks(rows)), np.zeros(())

    def rounds() -> Iterator[Sequence[Callable[[], None]]]:
        nonlocal total
        for begin in range(0, len(some), AT_ONCE):
            found: dict[int, FloatArray] = {}
            order = range(begin, min(begin + AT_ONCE, len(some)))
            yield [partial(_tell, found, i, some[i], see) for i in order]
            for i in order:
                total = total + found[i]

    Work(threads=threads).run(rounds(), len(some))
    return total


def _tell(found: dict[int, FloatArray], place: int, rows: IntArray, see: See) -> None:
    found[place] = see(rows).told()


def seen_of(
    root: FloatArray, cross: FloatArray, prior: FloatArray, noise: FloatArray, y: FloatArray
) -> Seen:
    """What inducing points see of rated texts.

    Args:
        root: as of `Inducing`; cross: [k, m] covariance with the inducing points.
        prior: [k] prior variance; noise: [k] nugget and the ratings' own; y: [k] ratings.
    """
    phi = features(root, cross)
    return Seen(phi, np.maximum(prior - np.square(phi).sum(axis=1), 0.0) + noise, y)


def _all_seen(find: See, n: int, m: int, threads: int | None) -> Seen:
    """All n rated texts: memory n m."""
    found = Seen(np.empty((n, m)), np.empty(n), np.empty(n))

    def put(rows: IntArray) -> None:
        for column, part in zip(found, find(rows), strict=True):
            column[rows] = part

    jobs = [partial(put, rows) for rows in blocks(np.arange(n))]
    Work(threads=threads).run([jobs], len(jobs))
    return found


def positive_root(matrix: FloatArray) -> FloatArray:
    """Lower Cholesky factor of a symmetric matrix, its diagonal shifted as far as it needs."""
    from scipy.linalg import LinAlgError, cholesky, eigvalsh

    shift = max(1e-8 * float(np.trace(matrix)) / len(matrix), 1e-12)
    for extra in (0.0, None):
        if extra is None:
            extra = -float(eigvalsh(matrix, subset_by_index=[0, 0])[0]) + shift
        try:
            shifted = matrix + (shift + extra) * np.eye(len(matrix))
            return np.asarray(cholesky(shifted, lower=True))
        except LinAlgError:
            continue
    raise LinAlgError("the covariance of the inducing points is not finite")
