"""Estimates that read as many rated texts as they need: what they promise of the exact ones."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.errors import UsageError
from refless.estimators import BLEUNeighbors, shards
from refless.estimators.neighborhood import Rule
from refless.estimators.shards import Shards, read
from refless.human import exact_ratings, pool_of
from refless.index import RatedIndex
from refless.matching import Sums, Work
from refless.records import RatedPool
from refless.simulate import simulate

OUTPUTS = ("You could try the Blue Swan for Thai dishes.", "A quiet room is free", "x", "", "abab")
WORDS = st.text(st.sampled_from("ab é"), min_size=3, max_size=9)


class Marked:
    """A kernel by which texts that begin with n are neighbours of every output."""

    near: Any

    def prepare(self, texts: Sequence[str]) -> Any:
        made = Marked()
        made.near = np.array([text[:1] == "n" for text in texts])
        return made

    def lengths(self, texts: Sequence[str]) -> Any:
        return np.array([len(text) for text in texts])

    def shortest(self) -> int:
        return 1

    def neighbor_sums(self, texts: Sequence[str], values: Any, taus: Any, work: Work) -> Sums:
        counts = np.full((len(texts), len(taus)), int(self.near.sum()))
        return Sums(counts, np.tile(values[:, self.near].sum(axis=1), (len(texts), 1)))


def stopped(
    ratings: Sequence[float], near: int, seed: int, precision: float, most: float = 1.0
) -> Any:
    """Where one output stops, of whose rated texts the first `near` are neighbours."""
    texts = [f"{'n' if i < near else 'f'}{i}" for i in range(len(ratings))]
    pool = pool_of(texts, ratings, ids=texts, scale=(0, 1))
    human = exact_ratings(pool.ratings, len(pool))
    found = Shards.of(Marked(), pool, seed, None)  # type: ignore[arg-type]
    got = read(
        found, human, ["an output"], Rule(tau=0.1, least=5, most=most, power=None), precision
    )
    return got, float(human.means(got.sums, got.counts)[0])


POPULATIONS = {
    "even": lambda rng, n: rng.uniform(size=n),
    "rare": lambda rng, n: (rng.uniform(size=n) < 0.02).astype(float),
    "levels": lambda rng, n: rng.choice([0.0, 0.25, 0.5, 1.0], n, p=[0.05, 0.1, 0.15, 0.7]),
    "one": lambda rng, n: np.concatenate([[0.0], np.ones(n - 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_interval_holds_at_the_stop(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over draws of the order, at least 95 times of 100, though each output chooses its moment.

    In 1,000 draws of each population, by hand: docs/estimating.md.
    """
    monkeypatch.setattr(shards, "FIRST", 64)
    rng = np.random.default_rng(5)
    ratings = np.round(POPULATIONS[name](rng, 4000), 3)
    near, missed, early = 3000, 0, 0
    exact = float(np.mean(ratings[:near]))
    for seed in range(60):
        got, mean = stopped(ratings.tolist(), near, seed, 0.08)
        assert got.half[0] <= 0.08
        missed += abs(mean - exact) > got.half[0] + 1e-12
        early += int(got.seen[0]) < 4000
    assert missed <= 3
    assert early >= 55


def test_copies_do_not_come_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that was rated 2,000 times, without ids, is in every shard as often as in the pool."""
    monkeypatch.setattr(shards, "FIRST", 512)
    texts = ["n copy"] * 2000 + [f"f{i}" for i in range(2000)]
    pool = pool_of(texts, [1.0] * 2000 + [0.0] * 2000, scale=(0, 1))
    for seed in range(5):
        rows = Shards.of(Marked(), pool, seed, None).order  # type: ignore[arg-type]
        assert sorted(rows) == list(range(4000))
        assert 190 < np.count_nonzero(rows[:512] < 2000) < 322  # 256, and 5.8 standard deviations


def test_half_the_width_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Theorem 4.3 of Bardenet and Maillard (2015), written out for one sample."""
    monkeypatch.setattr(shards, "FIRST", 400)
    ratings = [0.0, 1.0] * 1000
    got, mean = stopped(ratings, 1000, 3, 0.4)
    k, n, looks = int(got.counts[0]), int(got.seen[0]), 4  # 400, 600, 900, 2000
    assert n < 2000
    share = math.sqrt((1 - (n - 1) / 2000) * math.log(2 * looks / 0.005) / (2 * n))
    most = min((k / n + share) * 2000, 2000 - n + k)
    left = 1 - (k - 1) / most if 2 * k <= most else (1 - k / most) * (1 + 1 / k)
    level = math.log(10 * looks / 0.045)
    variance = mean - mean**2  # of zeros and ones
    wanted = math.sqrt(2 * variance * left * level / k) + (7 / 3 + 3 / math.sqrt(2)) * level / k
    assert got.half[0] == pytest.approx(wanted, rel=2e-3)


@pytest.mark.parametrize(
    ("near", "reason"), [(200, ""), (1950, "too-many"), (1600, ""), (3, "few")]
)
def test_too_many_and_too_few_are_never_guessed(
    near: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That neighbours are more than 90 % is told early, that they are too few when all is read."""
    monkeypatch.setattr(shards, "FIRST", 100)
    for seed in range(20):
        got, _ = stopped([0.5, 0.6] * 1000, near, seed, 0.2, most=0.9)
        many = got.counts[0] > 0.9 * got.seen[0]
        assert many == (reason == "too-many")
        if reason == "few":
            assert (got.counts[0], got.seen[0], got.half[0]) == (3, 2000, 0.0)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(WORDS, st.integers(1, 5)), min_size=1, max_size=25),
    st.lists(WORDS, max_size=3),
    st.sampled_from(["bleu*", "rouge-l"]),
    st.booleans(),
)
def test_what_reads_all_is_exact(
    rows: list[tuple[str, int]], texts: list[str], kernel: str, indexed: bool
) -> None:
    """To the last digit: no interval is narrow enough, so all shards are read; held out, too."""
    pool: RatedPool | RatedIndex = pool_of(*zip(*rows, strict=True), scale=(1, 5))
    pool = RatedIndex.build(pool) if indexed and kernel == "bleu*" else pool
    exact = BLEUNeighbors(kernel=kernel, min_neighbors=2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shards, "FIRST", 4)
        read = BLEUNeighbors(kernel=kernel, min_neighbors=2, precision=1e-9)
        for found, wanted in (
            (read.fit(pool).estimate(texts), exact.fit(pool).estimate(texts)),
            (read.held_out(pool), exact.held_out(pool)),
        ):
            assert found.reasons == wanted.reasons
            known = [reason != "too-many" for reason in wanted.reasons]
            for name in ("values", "low", "high"):
                left, right = getattr(found, name), getattr(wanted, name)
                assert np.array_equal(left, right, equal_nan=True), name
            assert np.array_equal(found.support[known], wanted.support[known])


def test_it_reads_in_an_order_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of rows; another seed is another order, and all of it is in the signature."""
    monkeypatch.setattr(shards, "FIRST", 400)
    pool = simulate(1500, seed=2).pool
    mixed = pool.take(np.random.default_rng(0).permutation(len(pool)))
    model = BLEUNeighbors(precision=0.3, max_fraction=1, tau=0.02)
    one = model.fit(pool).estimate(OUTPUTS)
    assert int(model.reading(OUTPUTS[:2]).seen.max()) < 1500
    signed = str(model.signature())
    assert "precision:0.3|shards:8192|shardseed:0" in signed
    other = model.fit(mixed).estimate(OUTPUTS)
    assert np.array_equal(one.values, other.values, equal_nan=True)
    assert np.array_equal(one.support, other.support)
    again = replace(model, seed=1).fit(pool)
    assert not np.array_equal(again.estimate(OUTPUTS).support, one.support)
    assert str(again.signature()) != signed


def test_copies_are_read_in_no_order_of_their_ratings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of one text: the first shard has low and high ratings of it."""
    monkeypatch.setattr(shards, "FIRST", 100)
    pool = pool_of(["the same text"] * 1000, [*([1] * 500), *([5] * 500)], scale=(1, 5))
    model = BLEUNeighbors(precision=0.45, max_fraction=1).fit(pool)
    found = model.reading(["the same text"])
    assert found.seen[0] < 1000
    assert found.low[0] < 0.5 < found.high[0]


def test_what_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are no ratings of one range; without a precision all is read."""
    del monkeypatch
    with pytest.raises(UsageError, match="precision goes with weights=uniform"):
        BLEUNeighbors(weights="kernel", precision=0.01)
    with pytest.raises(UsageError, match="precision"):
        BLEUNeighbors(precision=0.0)
    with pytest.raises(UsageError, match=r"precision=0\.01 reads as many"):
        BLEUNeighbors().fit(simulate(30).pool).reading(["a"])
    model = BLEUNeighbors().fit(simulate(30).pool).set_params(precision=0.1)
    with pytest.raises(UsageError, match="parameters have changed since fit"):
        model.predict(["a"])
