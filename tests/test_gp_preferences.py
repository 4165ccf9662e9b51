"""The Gaussian process of pairs against a slow twin: dense Newton over all qualities."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.data.preferences import Pairs, Votes, groups_in, pairs_of, pool_in, votes_of
from refless.data.records import Outputs
from refless.data.simulate import simulate
from refless.estimators import GaussianProcess
from refless.estimators.gp import bradley_terry as bt
from refless.estimators.gp.likelihood import Amplitudes
from refless.estimators.gp.model import Method
from refless.estimators.gp.preferences import conditioned
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError


def twin(kernel: FloatArray, votes: Votes) -> tuple[FloatArray, FloatArray, float]:
    """[n] mode of all qualities, [n, n] their covariance, and Laplace's log evidence."""
    n, k = len(kernel), len(votes.wins)
    b = np.zeros((k, n))
    b[np.arange(k), votes.first] += 1
    b[np.arange(k), votes.second] -= 1
    f, inverse = np.zeros(n), np.linalg.inv(kernel)
    for _ in range(200):
        p = 1 / (1 + np.exp(-b @ f))
        bend = votes.counts * p * (1 - p)
        precision = b.T @ (bend[:, None] * b) + inverse
        move = np.linalg.solve(precision, b.T @ (votes.wins - votes.counts * p) - inverse @ f)
        f = f + move / max(1.0, float(np.abs(move).max()))  # short steps: slow, and safe
    p = 1 / (1 + np.exp(-b @ f))
    value = votes.wins @ np.log(p) + (votes.counts - votes.wins) @ np.log(1 - p)
    bend = votes.counts * p * (1 - p)
    volume = np.linalg.slogdet(np.eye(n) + kernel @ b.T @ (bend[:, None] * b))[1]
    covariance = np.linalg.inv(b.T @ (bend[:, None] * b) + inverse)
    return f, covariance, float(value - 0.5 * f @ inverse @ f - 0.5 * volume)


@st.composite
def games(draw: st.DrawFn) -> tuple[list[FloatArray], Votes, np.random.Generator]:
    """Some kernels, the last the identity, and who won among up to a dozen texts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 12)), draw(st.integers(1, 25))
    first = rng.integers(0, n, k)
    second = (first + rng.integers(1, n, k)) % n
    counts = rng.integers(1, 5, k).astype(float)
    wins = np.array([rng.integers(0, 2 * int(c) + 1) / 2 for c in counts])
    features = [rng.normal(size=(n, rng.integers(1, 5))) for _ in range(draw(st.integers(1, 3)))]
    kernels = [one @ one.T for one in features]
    return [*kernels, np.eye(n)], Votes(first, second, wins, counts, np.zeros(0, np.int64)), rng


@settings(deadline=None)
@given(games())
def test_equals_dense_newton(game: tuple[list[FloatArray], Votes, np.random.Generator]) -> None:
    """Means and variances at new texts, and the evidence, to 1e-6."""
    kernels, votes, rng = game
    n, weights = len(kernels[0]), rng.uniform(0.1, 5.0, len(kernels))
    kernel = np.asarray(sum(w * one for w, one in zip(weights, kernels, strict=True)))
    f, covariance, evidence = twin(kernel, votes)
    cross = rng.normal(size=(5, n))
    inverse = np.linalg.inv(kernel)
    means = cross @ inverse @ f
    prior = np.einsum("ij,jk,ik->i", cross, inverse, cross) + 1.0
    spread = np.einsum("ij,jk,ik->i", cross, inverse - inverse @ covariance @ inverse, cross)
    found = bt.exact(kernel - weights[-1] * np.eye(n), float(weights[-1]), votes)
    got = found.predict(cross, prior)
    np.testing.assert_allclose(got[0], means, atol=1e-6)
    np.testing.assert_allclose(got[1], prior - spread, atol=1e-6)
    covariances = [bt.among(one, votes) for one in kernels]
    assert bt.evidence(weights, covariances, votes, None)[0] == pytest.approx(evidence, abs=1e-6)


@settings(deadline=None)
@given(games())
def test_slope_of_the_evidence(game: tuple[list[FloatArray], Votes, np.random.Generator]) -> None:
    """By finite differences."""
    kernels, votes, rng = game
    weights = rng.uniform(0.2, 3.0, len(kernels))
    among = [bt.among(one, votes) for one in kernels]

    def at(change: FloatArray) -> float:
        return bt.evidence(weights + change, among, votes, None)[0]

    slopes = bt.evidence(weights, among, votes, None)[1]
    steps = 1e-5 * np.eye(len(weights))
    expected = [(at(step) - at(-step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(slopes, expected, atol=1e-4, rtol=1e-4)


@settings(deadline=None)
@given(games())
def test_inducing_at_all_texts(game: tuple[list[FloatArray], Votes, np.random.Generator]) -> None:
    """With every text an inducing point and no nugget nothing is lost."""
    kernels, votes, rng = game
    n = len(kernels[0])
    kernel = kernels[0] + kernels[-1]
    cross, prior = kernel[rng.permutation(n)], np.diag(kernel)
    whole = bt.exact(kernel.copy(), 0.0, votes).predict(cross, prior)
    got = bt.inducing(kernel, kernel, prior, 0.0, votes).predict(cross, prior)
    np.testing.assert_allclose(got[0], whole[0], atol=1e-5)
    np.testing.assert_allclose(got[1], whole[1], atol=1e-5)


def test_one_choice_by_hand() -> None:
    """Of two texts of variance 1 the first won: d = 2 (1 - sigmoid(d)), so d = 0.6748."""
    votes = Votes(np.array([0]), np.array([1]), np.ones(1), np.ones(1), np.zeros(1, np.int64))
    found = bt.exact(np.eye(2), 0.0, votes)
    mean, variance = found.predict(np.array([[1.0, -1.0]]), np.array([2.0]))
    d = float(mean[0])
    assert d == pytest.approx(2 / (1 + np.exp(d)))
    assert d == pytest.approx(0.6748, abs=1e-4)
    p = 1 / (1 + np.exp(-d))
    assert variance[0] == pytest.approx(1 / (1 / 2 + p * (1 - p)))


def test_chances() -> None:
    """MacKay's formula is within 0.02 of the integral, and half where nothing is known."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    for mean in (-3.0, -0.5, 0.0, 1.0, 4.0):
        for variance in (0.1, 1.0, 4.0, 16.0):
            drawn = bt.sigmoid(mean + np.sqrt(variance) * nodes)
            expected = float(weights @ drawn / weights.sum())
            got = float(bt.chance(np.array([mean]), np.array([variance]))[0])
            assert got == pytest.approx(expected, abs=0.02)
    assert bt.chance(np.zeros(1), np.ones(1))[0] == 0.5


def test_a_tie_is_half_a_win_and_half_a_loss() -> None:
    """Two choices, one each way, teach what two ties do."""
    first, second = np.array([0]), np.array([1])
    found = [
        bt.exact(np.array([[2.0, 0.5], [0.5, 1.0]]), 0.3, votes_of(one)).predict(
            np.eye(2), np.ones(2)
        )
        for one in (choices(first, second, [1.0, 0.0]), choices(first, second, [0.5, 0.5]))
    ]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def choices(first: IntArray, second: IntArray, outcomes: list[float]) -> Pairs:
    times = len(outcomes)
    texts = Outputs(ids=("1", "2"), texts=("a", "b"))
    ids = tuple(map(str, range(times)))
    both = np.repeat(first, times), np.repeat(second, times)
    return Pairs(texts=texts, first=both[0], second=both[1], outcomes=np.array(outcomes), ids=ids)


def simulated(n: int, seed: int = 0) -> Pairs:
    """Choices by the true quality of simulated texts, all pairs of a source."""
    found, rng = simulate(n, seed=seed), np.random.default_rng(seed)
    sides, outcomes = [], []
    for a in range(n):
        for b in range(a + 1, n):
            if found.pool.sources[a] == found.pool.sources[b]:
                one, other = ((found.pool.sources[i], found.pool.texts[i]) for i in (a, b))
                sides.append((one, other))
                ahead = 8 * (found.quality[a] - found.quality[b])
                outcomes.append(float(rng.random() < 1 / (1 + np.exp(-ahead))))
    return pairs_of(sides, outcomes)


def test_end_to_end_equals_the_twin() -> None:
    """What the estimator says of new texts, by dense algebra on its own covariance."""
    pairs = simulated(60)
    new = simulate(30, seed=5).pool
    outputs = Outputs(ids=new.ids, texts=new.texts, sources=new.sources)
    gp = GaussianProcess(threads=1)
    first = gp.preferences(pairs)
    assert first is not None
    data, nugget = first.data, 0.7
    place = {name: i for i, name in enumerate(data.rated.ids)}
    row = np.array([place[name] for name in pairs.texts.ids])
    votes = votes_of(replace(pairs, first=row[pairs.first], second=row[pairs.second]))
    method = Method(tune_on=10, exact_up_to=1000, inducing=10)
    found = conditioned(data, Amplitudes(first.amplitudes.weights, nugget), votes, method)
    known = found.covariance
    n = len(data.rated)
    prior = known.between(data.points, n)
    kernel = prior + nugget * np.eye(n)
    f, covariance, _ = twin(kernel, votes)
    points = known.points(data.inputs_of(outputs))
    cross = known.between(points, len(outputs)) - prior.mean(axis=0)
    own = known.diagonal(points, len(outputs)) - 2 * known.between(points, len(outputs)).mean(
        axis=1
    )
    inverse = np.linalg.inv(kernel)
    spread = np.einsum("ij,jk,ik->i", cross, inverse - inverse @ covariance @ inverse, cross)
    means, variances = found.quality(outputs)
    np.testing.assert_allclose(means, cross @ inverse @ f, atol=1e-6)
    np.testing.assert_allclose(variances, own + prior.mean() - spread + nugget, atol=1e-6)


def test_better_is_the_difference_of_qualities() -> None:
    """Means subtract; no text is better than itself, and its variance is the nugget's alone."""
    found = GaussianProcess(threads=1).preferences(simulated(45))
    new = simulate(6, seed=3).pool
    outputs = Outputs(ids=new.ids, texts=new.texts, sources=new.sources)
    assert found is not None
    means, _ = found.quality(outputs)
    first, second = np.array([0, 1, 2]), np.array([3, 4, 2])
    apart, variances = found.better(outputs, first, second)
    np.testing.assert_allclose(apart, means[first] - means[second], atol=1e-9)
    assert variances[2] == pytest.approx(2 * found.amplitudes.nugget)


@pytest.mark.parametrize("settings", [{}, {"exact_up_to": 20, "inducing": 30}])
def test_order_and_sides_change_nothing(settings: dict[str, Any]) -> None:
    """Rows in another order, and sides exchanged, give the same digits."""
    pairs = simulated(45)
    sides = [
        tuple((pairs.texts.sources[i], pairs.texts.texts[i]) for i in both)
        for both in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    ]
    order = np.random.default_rng(1).permutation(len(sides)).tolist()
    other = pairs_of(
        [(sides[i][1], sides[i][0]) for i in order], [1 - pairs.outcomes[i] for i in order]
    )
    new = simulate(9, seed=3).pool
    outputs = Outputs(ids=new.ids, texts=new.texts, sources=new.sources)
    gp = GaussianProcess(threads=1, **settings)
    one, same = gp.preferences(pairs), gp.preferences(other)
    assert one is not None
    assert same is not None
    np.testing.assert_array_equal(one.quality(outputs), same.quality(outputs))
    assert str(gp.signed(pairs)) == str(gp.signed(other))


def test_company_changes_nothing() -> None:
    """A text has the same digits alone and beside 80 others."""
    new = simulate(81, seed=3).pool
    outputs = Outputs(ids=new.ids, texts=new.texts, sources=new.sources)
    found = GaussianProcess(threads=1).preferences(simulated(45))
    assert found is not None
    whole, some = found.quality(outputs), np.array([7, 70, 80])
    for rows in (some, some[::-1], some[2:]):
        alone = found.quality(outputs.take(rows))
        np.testing.assert_array_equal(alone, [column[rows] for column in whole])


def test_inducing_is_near_exact() -> None:
    """With inducing points at all texts, chances stay within 0.05."""
    pairs = simulated(60)
    new = simulate(20, seed=4).pool
    outputs = Outputs(ids=new.ids, texts=new.texts, sources=new.sources)
    both = (GaussianProcess(threads=1), GaussianProcess(threads=1, exact_up_to=10))
    chances = [gp.preferred(gp.preferences(pairs), outputs).values for gp in both]
    assert np.abs(chances[0] - chances[1]).max() < 0.05


def test_too_few_pairs() -> None:
    """Fewer than five teach nothing: an estimate that is none, with its reason."""
    pairs = simulated(45).take(np.arange(4))
    gp = GaussianProcess()
    assert gp.preferences(pairs) is None
    outputs = Outputs(ids=("1", "2"), texts=("a text", " "))
    found = gp.preferred(None, outputs)
    assert found.reasons == ("too-few", "empty")
    assert np.isnan(found.values).all()
    with pytest.raises(UsageError, match="subsample"):
        GaussianProcess(subsample=0.5).preferences(pairs)


def test_uncertain_ones_are_left_out() -> None:
    """`max_sd` and `target_coverage` hold for chances too."""
    gp = GaussianProcess(threads=1, target_coverage=0.5)
    new = simulate(10, seed=4).pool
    outputs = Outputs(ids=new.ids, texts=new.texts, sources=new.sources)
    found = gp.preferred(gp.preferences(simulated(45)), outputs)
    assert found.reasons.count("too-uncertain") == 5
    assert (found.low[found.defined] < found.values[found.defined]).all()
    assert (found.high[found.defined] > found.values[found.defined]).all()


def test_pools_and_groups_of_pairs() -> None:
    """A text is rated by its wins; without sources what shared texts connect is one group."""
    pairs = pairs_of(
        [(("", "a"), ("", "b")), (("", "b"), ("", "c")), (("", "d"), ("", "e"))], [1, 0.5, 0]
    )
    pool = pool_in(pairs)
    rated = dict(zip(pool.texts, pool.human.tolist(), strict=True))
    assert rated == {"a": 1, "b": 0.25, "c": 0.5, "d": 0, "e": 1}
    groups = groups_in(pairs, votes_of(pairs))
    assert groups.tolist() == [0, 0, 1]
