"""Kernels with their amplitudes, conditioned on the ratings; estimates and shares out of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.data.human import copies_of
from refless.data.records import Neighbor, sortable
from refless.estimators.explanation import Part, evidence
from refless.estimators.gp.components import SYSTEM, is_judge, is_said, kind_of
from refless.estimators.gp.covariance import Covariance
from refless.estimators.gp.data import Data
from refless.estimators.gp.exact import Exact, Left, exact
from refless.estimators.gp.inducing import Inducing, Seen, positive_root, seen_of
from refless.estimators.gp.inputs import Inputs
from refless.estimators.gp.likelihood import Amplitudes, hedged_amplitudes
from refless.estimators.protocol import whole
from refless.loops.threads import calm
from refless.metrics.kernels.bleu import PreparedBleu
from refless.metrics.matching import Work
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.progress import Progress
from refless.text.ngrams import Shape

ROWS = 64  # outputs estimated at a time, always so many
USUAL = 1_000  # rated texts that say what is usual
HELD_OUT = 20_000  # rated texts that errors are measured on
AT_LEAST = 100  # of a group, where there are so many


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Kernels with their amplitudes, conditioned on the ratings."""

    amplitudes: Amplitudes
    covariance: Covariance
    posterior: Exact | Inducing


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How a model is learned: see `GaussianProcess`."""

    tune_on: int
    exact_up_to: int
    inducing: int

    def many(self, n: int) -> bool:
        """Whether so many rated texts take inducing points."""
        return n > self.exact_up_to


def tuned(data: Data, rows: IntArray, method: Method) -> Amplitudes:
    """Amplitudes from these rated texts, or from a part of them."""
    rows = rows[whole(copies_of(data.rated)[rows], method.tune_on, np.random.default_rng(0))]
    points = data.at(rows)
    kernels = [one.bound(points[name])(points[name]) for name, one in data.components.items()]
    judges, said = (np.array([*map(test, data.components)]) for test in (is_judge, is_said))
    if said.any():
        said |= np.array([name in SYSTEM for name in data.components])
    with calm():
        return hedged_amplitudes(kernels, data.y[rows], data.noise[rows], judges, said)


def conditioned(data: Data, amplitudes: Amplitudes, method: Method) -> Model:
    """The process given all ratings, through inducing points where there are too many."""
    rows, covariance = anchored(data, amplitudes, method)
    n, m, points = len(data.y), len(rows), data.at(rows, covariance.components)
    among = covariance.between(points, m)
    if not method.many(n):
        return Model(amplitudes, covariance, exact(among, data.noise + amplitudes.nugget, data.y))
    root = np.asfortranarray(positive_root(among))  # as a saved one is read again
    find = partial(seen, data, amplitudes.nugget, covariance, root)
    return Model(amplitudes, covariance, Inducing.of(root, find, n, data.reads.threads))


def seen(
    data: Data, nugget: float, covariance: Covariance, root: FloatArray, rows: IntArray
) -> Seen:
    """What inducing points see of some rated texts."""
    points, n = data.at(rows, covariance.components), len(rows)
    cross, prior = covariance.between(points, n), covariance.diagonal(points, n)
    return seen_of(root, cross, prior, data.noise[rows] + nugget, data.y[rows])


def left_out(posterior: Exact | Inducing, ways: Mapping[str, IntArray]) -> dict[str, Left]:
    """[n] held-out means and variances by what is left out together; of many texts, of some.

    Args:
        ways: [n] groups each, by name; the first says which texts are drawn. NaN is for others.
    """
    known = posterior.precision() if isinstance(posterior, Exact) else posterior
    rows, found = drawn(next(iter(ways.values())), HELD_OUT, np.random.default_rng(6)), {}
    for way, groups in ways.items():
        found[way] = np.full(len(groups), np.nan), np.full(len(groups), np.nan)
        found[way][0][rows], found[way][1][rows] = known.held_out(groups, rows)
    return found


def drawn(groups: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """At most so many drawn rows: whole groups, or an equal part of each where these are large."""
    n = len(groups)
    if n <= most:
        return np.arange(n)
    mixed = rng.permutation(n)
    order = mixed[np.argsort(groups[mixed], kind="stable")]
    _, begins, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    place = np.arange(n) - np.repeat(begins, sizes)
    some = np.sort(order[place < max(AT_LEAST, most // len(sizes))])
    return some[whole(groups[some], most, rng)]


def anchored(data: Data, amplitudes: Amplitudes, method: Method) -> tuple[IntArray, Covariance]:
    """Rows of the rated texts that others are compared with, and the kernels bound to them."""
    n, rows = len(data.y), np.arange(len(data.y))
    if method.many(n):
        rows = np.sort(np.random.default_rng(1).choice(n, min(method.inducing, n), replace=False))
    return rows, Covariance.of(data.components, amplitudes.weights, data.at(rows), len(rows))


def estimated(
    data: Data, model: Model, inputs: Inputs, told: Progress | None = None
) -> tuple[FloatArray, FloatArray]:
    """[n] means and variances of ratings, in units of y.

    Each different text once, and as many at a time whatever there are (the last few are filled up
    by copies of the first of them): how a product is summed depends on the shapes of its factors.
    So a text's estimate does not depend on the others, but for rounding by its place among them.
    """
    scores = sortable(inputs.scores, len(inputs))
    columns = (inputs.sources or inputs.texts, inputs.systems or inputs.texts, scores)
    keys = list(zip(inputs.texts, *columns, strict=True))
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    of = np.array([place[key] for key in keys], dtype=np.int64)
    with calm():
        values, variances = _estimated(
            data, model, inputs.take(np.unique(of, return_index=True)[1]), told
        )
    return values[of], variances[of]


def _estimated(
    data: Data, model: Model, inputs: Inputs, told: Progress | None
) -> tuple[FloatArray, FloatArray]:
    values, variances = np.empty(len(inputs)), np.empty(len(inputs))
    own = model.amplitudes.nugget + float(np.median(data.noise))

    def block(begin: int) -> None:
        end = min(begin + ROWS, len(inputs))
        part = inputs.take([*range(begin, end), *[begin] * (begin + ROWS - end)])
        points = model.covariance.points(part)
        cross = model.covariance.between(points, len(part))
        prior = model.covariance.diagonal(points, len(part))
        found, spread = model.posterior.predict(cross, prior)
        values[begin:end] = found[: end - begin]
        variances[begin:end] = np.maximum(spread, 0.0)[: end - begin] + own

    jobs = [partial(block, begin) for begin in range(0, len(inputs), ROWS)]
    Work(threads=data.reads.threads, progress=told).run([jobs], len(jobs))
    return values, variances


def doubted(data: Data, model: Model, doubt: int, method: Method) -> Model:
    """The model if so many more rated texts had all kernels and the nugget be worth the same."""
    trust = len(data.y) / (len(data.y) + doubt)
    alike = (1.0 - trust) / (len(data.components) + 1)
    found = model.amplitudes
    amplitudes = Amplitudes(trust * found.weights + alike, trust * found.nugget + alike)
    return conditioned(data, amplitudes, method)


def together(data: Data, model: Model, inputs: Inputs) -> tuple[FloatArray, FloatArray, float]:
    """[n, n] posterior covariance, [n] variance beyond it, and that of a rating beyond both.

    The second is that of words which no rated text has. All are in units of y squared.
    """
    n, known = len(inputs), model.covariance
    points = known.points(inputs)
    weights = np.array([known.weights.get(name, 0.0) for name in data.components])
    own = Covariance.of(data.components, weights, points, n)
    with calm():
        prior = own.between(points, n)
        apart = np.maximum(known.diagonal(points, n) - np.diag(prior), 0.0)
        found = model.posterior.together(known.between(points, n), prior)
    return found, apart, model.amplitudes.nugget + float(np.median(data.noise))


def shares(
    data: Data, model: Model, inputs: Inputs, shape: Shape, most: int | None
) -> tuple[Neighbor, ...]:
    """The rated texts with the largest shares in the estimate of one output, with their signs."""
    points = model.covariance.points(inputs)
    share = model.posterior.shares(model.covariance.between(points, 1))[0]
    best = np.lexsort((np.array(data.rated.ids), -np.abs(share)))[:most]
    chosen, n = data.at(best), len(best)
    near = Covariance.of(data.components, model.amplitudes.weights, chosen, n)
    prior = near.diagonal(points, 1)[0] * near.diagonal(chosen, n)
    alike = near.between(points, 1)[0] / np.sqrt(np.maximum(prior, 1e-300))
    texts = [data.inputs.texts[i] for i in best]
    shared = partial(PreparedBleu.build(texts, shape).shared, inputs.texts[0])
    return evidence(data.rated, best, alike, share[best], shared)


def parts(data: Data, model: Model, inputs: Inputs) -> tuple[float, tuple[Part, ...]]:
    """Mean estimate of the rated texts, and what each kind of kernel adds for one output.

    Both in units of the ratings. What a kernel adds for rated texts, the mean over at most `USUAL`
    of them, is a part of the former.
    """
    n, covariance, posterior = len(data.y), model.covariance, model.posterior
    some = data.at(np.random.default_rng(4).permutation(n)[:USUAL], covariance.components)
    usual = covariance.parts(some, posterior.weights)
    found: dict[str, float] = {}
    for name, added in covariance.parts(covariance.points(inputs), posterior.weights).items():
        more = data.unit * float(added[0] - usual[name].mean())
        found[kind_of(name)] = found.get(kind_of(name), 0.0) + more
    mean = posterior.mean + sum(float(added.mean()) for added in usual.values())
    by_size = sorted(found.items(), key=lambda part: (-abs(part[1]), part[0]))
    return data.offset + data.unit * mean, tuple(Part(*part) for part in by_size)
