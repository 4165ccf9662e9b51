"""Kernels with their amplitudes, conditioned on the ratings; estimates and shares out of them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from refless.data.human import copies_of
from refless.data.records import Neighbor
from refless.estimators.explanation import Part, evidence
from refless.estimators.folds import whole
from refless.estimators.gp.all_ratings import AllRatings, PosteriorMean, of_kind
from refless.estimators.gp.compiled import Compiled, Solved
from refless.estimators.gp.data import Data, Lazy
from refless.estimators.gp.features import GramsKernel, KernelInputs
from refless.estimators.gp.kernels import (
    DETAILS,
    JUDGES,
    LABELS,
    Covariance,
    Points,
    is_score,
)
from refless.estimators.gp.likelihood import (
    TRUST,
    Amplitudes,
    fitted_amplitudes,
    left_out,
    shrunk_amplitudes,
)
from refless.loops.threads import single_threaded_blas
from refless.metrics.kernels.dense import stretches
from refless.metrics.matching import Work
from refless.registry.arrays import FloatArray, IntArray, codes, numbered
from refless.registry.progress import Progress
from refless.stats.posterior import Exact, Precision, exact
from refless.text.terms import ORDERS, KnownGrams

TEXTS = 2_048  # outputs that are read at a time
FEWEST_WHOLE = 20  # units that weights come from, if they are drawn whole
USUAL = 1_000  # rated texts whose mean parts are what is usual


@dataclass(frozen=True, eq=False)
class Posterior:
    """Kernels with their amplitudes, conditioned on the ratings."""

    amplitudes: Amplitudes
    data: Data
    drawn: IntArray  # rows of the rated texts that variances come from, all if they are few
    groups: IntArray  # of these, of which the outputs are in none
    saved: Solved | None = None  # what a file has of it

    @cached_property
    def covariance(self) -> Covariance:
        """The kernels with these amplitudes, beside the texts that are drawn."""
        points = self.data.at(self.drawn)
        weights = self.amplitudes.weights
        return Covariance.of(self.data.kernels, weights, points, len(self.drawn))

    @cached_property
    def posterior(self) -> Exact:
        """The process given the ratings of the texts that are drawn."""
        rows = self.drawn
        kernel = self.covariance.between(self.data.at(rows), len(rows))
        noise = self.data.noise[rows] + self.amplitudes.nugget
        return exact(kernel, noise, self.data.y[rows])

    @cached_property
    def solved(self) -> Solved:
        """The numbers that tables take from it; out of a file, where there is one."""
        if self.saved is not None:
            return self.saved
        solved = Solved.of(
            self.covariance,
            self.data.points,
            self.posterior,
            self.groups,
            self.average,
        )
        if not self.data.parameters.compact:
            return solved
        landmarks = self.data.at(self.average.landmarks)
        return solved.compacted(self.kinds[1], landmarks)

    @cached_property
    def average(self) -> PosteriorMean:
        """The mean given all ratings."""
        if self.saved is not None:
            return self.saved.average
        if len(self.drawn) == len(self.data.y):
            return PosteriorMean.of(self.posterior)
        return self.all_ratings().posterior_mean(self.data.y)

    def all_ratings(self) -> AllRatings:
        """The covariance of more ratings than are drawn; it is large."""
        data = self.data
        noise = data.noise + self.amplitudes.nugget
        weights = self.amplitudes.weights
        return AllRatings.of(data.kernels, weights, data.points, noise, self.drawn)

    def shares(self, points: Mapping[str, Points]) -> FloatArray:
        """[rated] weight of each rating in the mean of one output."""
        if len(self.drawn) == len(self.data.y):
            cross = self.covariance.between(points, 1)
            return np.asarray(self.posterior.shares(cross)[0])
        crosses = (covariance.between(points, 1)[0] for covariance in self.kinds)
        return self.all_ratings().shares(*crosses)

    def parts(self, points: Mapping[str, Points]) -> dict[str, FloatArray]:
        """[texts] what each kernel adds to the mean, by its name."""
        linear, others = self.kinds
        added = linear.parts(points, self.average.alpha)
        return added | others.parts(points, self.average.beta)

    @cached_property
    def kinds(self) -> tuple[Covariance, Covariance]:
        """Products of features beside all rated texts, and other kernels beside landmarks."""
        data = self.data
        weights = self.amplitudes.weights
        linear = of_kind(data.kernels, weights, linear=True)
        others = of_kind(data.kernels, weights, linear=False)
        rows = self.average.landmarks
        return (
            Covariance.of(data.kernels, linear, data.points, len(data.y)),
            Covariance.of(data.kernels, others, data.at(rows), len(rows)),
        )

    @cached_property
    def compiled(self) -> Compiled:
        """The same in tables, for many texts."""
        solved = self.solved
        drawn = self.data.at(self.drawn)
        landmarks = drawn
        beside = solved.beside
        if not np.array_equal(beside, self.drawn):
            landmarks = self.data.at(beside)
        return Compiled.of(self.covariance, solved, landmarks, drawn)


def tuned(data: Data, rows: IntArray, ways: Sequence[IntArray]) -> list[Amplitudes]:
    """Amplitudes from these rated texts, or from a part of them, for each way to leave texts out.

    Args:
        data: the rated texts; rows: which of them are used.
        ways: [rated] number of what is left out together, each.
    """
    rows = rows[_drawn(data, rows)]
    kernels = np.empty((len(data.kernels), len(rows), len(rows)))
    for kernel, name in zip(kernels, data.kernels, strict=True):
        kernel[:] = data.among(name, rows)
    details = np.array([name in DETAILS for name in data.kernels])
    judges = np.array([name in JUDGES for name in data.kernels])
    texts = ~np.array([is_score(name) for name in data.kernels])
    beliefs = ((texts, 1.0 - TRUST), (judges, TRUST))
    y = data.y[rows]
    noise = data.noise[rows]
    with single_threaded_blas():
        likely = fitted_amplitudes(kernels, y, noise)
        return [
            shrunk_amplitudes(
                kernels, y, noise, details, beliefs, left_out(way[rows]), likely
            )
            for way in ways
        ]


def _drawn(data: Data, rows: IntArray) -> IntArray:
    """Places of at most `tune_on` of these rows: whole units if 20 fit, else texts with copies.

    Neither ratings nor the labels of users' groups decide.
    """
    limit = data.parameters.tune_on
    units = codes(data.inputs.units)[rows]
    drawn = whole(units, limit, np.random.default_rng(0))
    if len(np.unique(units[drawn])) >= FEWEST_WHOLE:
        return drawn
    return whole(copies_of(data.rated)[rows], limit, np.random.default_rng(0))


def conditioned(
    data: Data, amplitudes: Amplitudes, *, is_near: bool = False
) -> Posterior:
    """The process given the ratings; is_near: for outputs of units that are rated.

    Variances come from at most 5,000 of them, means from all. What it takes is computed when it is
    asked for.
    """
    rows = data.drawn()
    groups = np.arange(len(rows)) if is_near else codes(data.inputs.units)[rows]
    return Posterior(amplitudes, data, rows, groups)


def precision_of(data: Data, amplitudes: Amplitudes) -> Precision:
    """The precision of all ratings, which leaves some out; see `Data.with_compared`."""
    every = np.arange(len(data.y))
    kernel = np.zeros((len(every), len(every)))
    for name, weight in zip(data.kernels, amplitudes.weights.tolist(), strict=True):
        if weight > 0:
            kernel += weight * data.among(name, every)
    noise = data.noise + amplitudes.nugget
    return exact(kernel, noise, data.y).precision()


def _bytes_of_rows(column: FloatArray | IntArray) -> list[bytes]:
    return [row.tobytes() for row in column]


def estimated(
    data: Data, model: Posterior, inputs: KernelInputs, progress: Progress | None = None
) -> tuple[FloatArray, FloatArray]:
    """[n] means and variances of ratings, in units of y.

    Each different text is read once, those of a source together. A text's estimate does not depend
    on the others, but for rounding by its place among them.
    """
    names = [name for name in ("system", "scores") if name in inputs.columns]
    columns = [inputs.columns[name] for name in names]
    rows = [_bytes_of_rows(column) for column in columns]
    index = _different(inputs.texts, inputs.units, inputs.sources, *rows)
    unique = inputs.take(np.unique(index, return_index=True)[1])
    n = len(unique)
    nugget = model.amplitudes.nugget + float(np.median(data.noise))
    values = np.empty(n)
    variances = np.empty(n)

    def block(begin: int) -> None:
        rows = slice(begin, min(begin + TEXTS, n))
        part = unique.take(np.arange(n)[rows])
        points = model.covariance.points(part)
        prior = model.covariance.diagonal(points, len(part))
        values[rows], variances[rows] = model.compiled.predict(points, prior)

    jobs = [partial(block, begin) for begin in range(0, n, TEXTS)]
    with single_threaded_blas():
        model.compiled  # noqa: B018 - made once, before threads ask for it
        Work(threads=data.parameters.threads, progress=progress).run([jobs], len(jobs))
    return values[index], variances[index] + nugget


def _different(texts: Sequence[str], *others: Sequence[Hashable]) -> IntArray:
    """[n] numbers of the rows of these columns, by their order; equal ones have the same."""
    columns = [texts, *(other for other in others if other and other is not texts)]
    rows = texts if len(columns) == 1 else [*zip(*columns, strict=True)]
    return numbered(rows, len(texts))


def doubted(data: Data, model: Posterior, doubt: int) -> Posterior:
    """The model if so many more rated texts had all kernels and the nugget be worth the same."""
    size = len(data.kernels)
    alike = Amplitudes(np.full(size, 1.0 / (size + 1)), 1.0 / (size + 1))
    trust = len(data.y) / (len(data.y) + doubt)
    return conditioned(data, model.amplitudes.mixed(alike, trust))


def together(
    data: Data, model: Posterior, inputs: KernelInputs
) -> tuple[FloatArray, float]:
    """[n, n] posterior covariance and the variance of a rating beyond it, in units of y squared."""
    n = len(inputs)
    covariance = model.covariance
    points = covariance.points(inputs)
    # outputs share n-grams that no rated text has, too
    kernels = {**data.kernels, "grams": GramsKernel(KnownGrams.of(inputs.texts))}
    own = Lazy(kernels, lambda name: kernels[name].points(inputs))
    among = Covariance.of(kernels, model.amplitudes.weights, own, n)
    with single_threaded_blas():
        prior = among.between(own, n)
        posterior = model.posterior.together(covariance.between(points, n), prior)
    return posterior, model.amplitudes.nugget + float(np.median(data.noise))


def shares(
    data: Data, model: Posterior, inputs: KernelInputs, limit: int | None
) -> tuple[Neighbor, ...]:
    """The rated texts with the largest shares in the estimate of one output, with their signs."""
    points = model.covariance.points(inputs)
    with single_threaded_blas():
        share = model.shares(points)
    best = np.lexsort((np.array(data.rated.ids), -np.abs(share)))[:limit]
    chosen = data.at(best)
    n = len(best)
    nearest = Covariance.of(data.kernels, model.amplitudes.weights, chosen, n)
    prior = nearest.diagonal(points, 1)[0] * nearest.diagonal(chosen, n)
    similarities = nearest.between(points, 1)[0] / np.sqrt(np.maximum(prior, 1e-300))
    shared = partial(stretches, inputs.texts[0], tokenize="char", least=ORDERS[0])
    return evidence(data.rated, best, similarities, share[best], shared)


def parts(
    data: Data, model: Posterior, inputs: KernelInputs
) -> tuple[float, tuple[Part, ...]]:
    """Mean estimate of the rated texts, and what each kind of kernel adds for one output.

    What a kernel adds for rated texts, the mean over at most `USUAL` of them, is in the former.
    """
    n = len(data.y)
    rows = np.random.default_rng(4).permutation(n)[:USUAL]
    usual = model.parts(data.at(rows))
    sums: dict[str, float] = {}
    for name, values in model.parts(model.covariance.points(inputs)).items():
        addition = data.unit * float(values[0] - usual[name].mean())
        label = LABELS.get(name, name)
        sums[label] = sums.get(label, 0.0) + addition
    mean = model.average.mean + sum(float(values.mean()) for values in usual.values())
    by_size = sorted(sums.items(), key=lambda part: (-abs(part[1]), part[0]))
    return data.offset + data.unit * mean, tuple(Part(*part) for part in by_size)
