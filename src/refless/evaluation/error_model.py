"""How far ratings lie from estimates, output by output, as held-out errors tell."""

import math
from dataclasses import dataclass

import numpy as np

from refless.data.human import copies_of
from refless.data.records import Estimates
from refless.estimators import Estimator
from refless.estimators.folds import whole
from refless.registry.arrays import FloatArray
from refless.stats.clusters import intraclass, numbered
from refless.stats.intervals import student

HELD_OUT = 1_000  # rated texts, at most, that are held out
FEWEST = 20  # of them, and of their sources, that tell anything
LEAST_SHARE = 0.05  # of the mean squared error, of any output


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Rated texts and what is estimated of them without their sources; undefined ones left out."""

    human: FloatArray
    values: FloatArray
    sd: FloatArray
    sources: tuple[str, ...]
    ends: tuple[float, float]

    @property
    def squares(self) -> FloatArray:
        """Squared errors."""
        return np.square(self.human - self.values)

    @property
    def knows(self) -> bool:
        """Whether estimates are surely nearer to the ratings than their mean is.

        By Student's t over sources, 2.5 % to be wrong.
        """
        n = len(self.human)
        group = numbered(self.sources, n)
        count = int(group.max(initial=-1)) + 1
        if count < FEWEST:
            return False
        sizes = np.bincount(group)[group]
        total = np.bincount(group, self.human)[group]
        others = (self.human.sum() - total) / (n - sizes)
        gain = np.bincount(group, np.square(self.human - others) - self.squares)
        error = float(gain.std(ddof=1)) / math.sqrt(count)
        return float(gain.mean()) > student(count - 1) * error


def held_out_by(estimator: Estimator) -> HeldOut | None:
    """What is estimated of its rated texts without their sources; None for few texts."""
    pool = estimator.rated
    if len(pool) < FEWEST:
        return None
    pool = pool.take(whole(copies_of(pool), HELD_OUT, np.random.default_rng(0)))
    several = len({*pool.sources}) > 1
    groups = numbered(pool.sources if several else (), len(pool))
    found = estimator.clone().set_params(subsample=1.0).held_out(pool, groups)
    rows = np.flatnonzero(found.defined)
    return HeldOut(
        human=pool.human[rows],
        values=found.values[rows],
        sd=_sd(found)[rows],
        sources=tuple(pool.sources[i] for i in rows) if several else (),
        ends=(float(pool.human.min()), float(pool.human.max())),
    )


def _sd(found: Estimates) -> FloatArray:
    return found.sd if len(found.sd) else np.zeros(len(found))


def spreads(held: HeldOut, found: Estimates) -> FloatArray:
    """[n] how far ratings should lie from estimates (standard deviation), from held-out errors.

    Squared errors are a sum, with weights of at least 0, of a constant, the estimator's own
    variance, and the room between an estimate and the ends of the ratings: near an end there is
    little. Where there is no estimate, the spread of the ratings.
    """
    from scipy.optimize import nnls

    known = _reasons(held.values, held.sd, held.ends)
    typical = np.maximum(known.mean(axis=0), 1e-12)
    weights = nnls(known / typical, held.squares)[0] / typical
    squares = _reasons(found.values, _sd(found), held.ends) @ weights
    least = LEAST_SHARE * float(held.squares.mean())
    squares = np.where(found.defined, np.maximum(squares, least), held.human.var())
    return np.asarray(np.sqrt(squares))


def _reasons(values: FloatArray, sd: FloatArray, ends: tuple[float, float]) -> FloatArray:
    """[n, 3] what squared errors may be made of."""
    room = np.maximum(values - ends[0], 0.0) * np.maximum(ends[1] - values, 0.0)
    return np.column_stack([np.ones(len(values)), np.square(sd), room])


def errors_of(
    estimator: Estimator, found: Estimates, *, of_differences: bool = False
) -> tuple[FloatArray, float]:
    """[n] spread of rating minus estimate of each output, and how alike errors of one source are.

    Of a trained model, or few rated texts, one spread for all as `residuals` say, NaN if nothing.
    A difference of two systems varies less: that one of them is estimated too high or too low as a
    whole is the same for all items, and left out.
    """
    errors, held = estimator.residuals(), held_out_by(estimator)
    values, share = errors.values, 1.0
    if of_differences and values.any():
        values = _within(values, errors.systems)
        share = math.sqrt(float(np.square(values).sum() / np.square(errors.values).sum()))
    alike = intraclass(values, errors.sources)
    if held is not None and len(held.human) >= FEWEST:
        return share * spreads(held, found), alike
    size = float(np.square(values).mean()) if len(values) else math.nan
    return np.full(len(found), math.sqrt(size)), alike


def _within(values: FloatArray, systems: tuple[str, ...]) -> FloatArray:
    """Errors less the mean of their system, as large as those of texts that make no mean."""
    number = np.unique(systems or ("",) * len(values), return_inverse=True)[1]
    sizes = np.bincount(number).astype(np.float64)
    means = np.bincount(number, values) / sizes
    freedom = max(len(values) - len(sizes), 1)
    return np.asarray((values - means[number]) * math.sqrt(len(values) / freedom))
