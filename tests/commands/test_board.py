"""Boards from votes: strengths beside slow twins, and how often intervals and ranks hold."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.optimize import minimize

from command_line import one_line
from refless import compare, compare_choices
from refless.commands.compare.board import board, votes_of
from refless.commands.compare.bradley_terry import (
    PairVotes,
    Strengths,
    strengths,
)
from refless.data.choices import choices_in
from refless.data.tables import read_pool
from refless.registry.errors import RefLessError


def drawn(
    rng: np.random.Generator,
    truth: list[float],
    votes: int,
    ties: float = 0.0,
    effects: tuple[float, ...] = (),
) -> PairVotes:
    """So many independent votes on each pair, with a share of ties, and effects of controls."""
    pairs = np.array([*combinations(range(len(truth)), 2)]).repeat(votes, axis=0)
    first, second = pairs.T
    strength = np.array(truth)
    leads = [strength[first] / 2 + rng.normal(size=len(pairs)) for _ in effects]
    gap = strength[first] - strength[second]
    for effect, lead in zip(effects, leads, strict=True):
        gap = gap + effect * lead
    chance = 1 / (1 + np.exp(-gap))
    won = (rng.random(len(pairs)) < chance).astype(float)
    won[rng.random(len(pairs)) < ties] = 0.5
    return PairVotes(
        first=first,
        second=second,
        won=won,
        clusters=[np.arange(len(pairs))],
        systems=len(truth),
        controls=leads,
    )


def test_three_systems_by_hand() -> None:
    """Three to one between each two neighbours, nine to one at the ends: log 3 apart exactly."""
    table = {(0, 1): 3, (1, 0): 1, (0, 2): 9, (2, 0): 1, (1, 2): 3, (2, 1): 1}
    first, second = np.repeat([*table], [*table.values()], axis=0).T
    votes = PairVotes(
        first=first,
        second=second,
        won=np.ones(len(first)),
        clusters=[np.arange(len(first))],
        systems=3,
    )
    result = strengths(votes)
    assert result is not None
    assert result.values == pytest.approx([math.log(3), 0, -math.log(3)])


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    systems=st.integers(2, 6),
    ties=st.sampled_from((0.0, 0.3)),
    effects=st.sampled_from(((), (0.6,), (0.6, -0.3))),
)
def test_strengths_are_those_of_the_slow_twin(
    seed: int, systems: int, ties: float, effects: tuple[float, ...]
) -> None:
    """The log-likelihood vote by vote, by a general optimizer; equal to 1e-6.

    The model is that of arena-rank's ContextualBradleyTerry without its penalty.
    """
    rng = default_rng(seed)
    votes = drawn(rng, rng.normal(0, 0.7, systems).tolist(), 30, ties, effects)
    result = strengths(votes)
    assert result is not None
    if result.made_up:
        return

    def slope(free: np.ndarray) -> tuple[float, np.ndarray]:
        values = np.append(free[: systems - 1], 0.0)
        gap = values[votes.first] - values[votes.second]
        for effect, lead in zip(free[systems - 1 :], votes.controls, strict=True):
            gap = gap + effect * lead
        chance = 1 / (1 + np.exp(-gap))
        loss = -np.sum(
            votes.won * np.log(chance) + (1 - votes.won) * np.log(1 - chance)
        )
        off = chance - votes.won
        ahead = np.bincount(votes.first, off, systems) - np.bincount(
            votes.second, off, systems
        )
        of_effects = [off @ lead for lead in votes.controls]
        return float(loss), np.append(ahead[:-1], of_effects)

    start = np.zeros(systems - 1 + len(effects))
    twin = minimize(slope, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    values = np.append(twin.x[: systems - 1], 0.0)
    assert result.values == pytest.approx(values - values.mean(), abs=1e-6)
    assert result.effects == pytest.approx(twin.x[systems - 1 :], abs=1e-6)


def test_strengths_of_arena_rank() -> None:
    """arena-rank 0.1.1: ContextualBradleyTerry(reg=0, hessian_reg=1e-12) on the same 60 votes."""
    vote = np.arange(60)
    first = vote % 3
    lost = np.where(vote % 7 == 0, 0.5, 0.0)
    votes = PairVotes(
        first=first,
        second=(first + 1 + vote // 3 % 2) % 3,
        won=np.where(vote * 13 % 10 < 5, 1.0, lost),
        clusters=[vote],
        systems=3,
        controls=[(vote * 7 % 11 - 5) / 5],
    )
    result = strengths(votes)
    assert result is not None
    wanted = [-0.1337852976, -0.0338986719, 0.1676839695]
    assert result.values == pytest.approx(wanted, abs=1e-6)
    assert result.effects == pytest.approx([-0.0100425184], abs=1e-6)


def test_the_covariance_of_independent_votes_is_the_curvature() -> None:
    """Many votes, each a cluster: the sandwich is the inverse information, (b1 - b2) by hand.

    Two systems, n votes, share p: the variance of log-odds is 1 / (n p (1 - p)).
    """
    won = np.repeat([1.0, 0.0], [130, 70])
    pair = np.zeros(200, dtype=np.int64)
    votes = PairVotes(
        first=pair, second=pair + 1, won=won, clusters=[np.arange(200)], systems=2
    )
    result = strengths(votes)
    assert result is not None
    value, error = result.difference(0, 1)
    assert value == pytest.approx(math.log(130 / 70))
    assert error == pytest.approx(math.sqrt(200 / 199 / (200 * 0.65 * 0.35)), rel=1e-6)


def test_clusters_that_repeat_a_vote_count_once() -> None:
    """Ten equal votes of each voter tell as much as one; by both ways as by the coarser way."""
    rng = default_rng(4)
    single = drawn(rng, [0.5, 0.0, -0.5], 40)
    repeated = PairVotes(
        first=single.first.repeat(10),
        second=single.second.repeat(10),
        won=single.won.repeat(10),
        clusters=[np.arange(1200), np.arange(120).repeat(10)],
        systems=3,
    )
    one = strengths(single)
    ten = strengths(repeated)
    assert one is not None
    assert ten is not None
    assert ten.values == pytest.approx(one.values)
    assert ten.difference(0, 2)[1] == pytest.approx(one.difference(0, 2)[1])


def test_order_of_votes_changes_nothing() -> None:
    """Nor which of two systems stands first."""
    rng = default_rng(5)
    votes = drawn(rng, [0.4, 0.0, -0.2, 0.1], 25, 0.2)
    order = rng.permutation(len(votes.won))
    turned = PairVotes(
        first=votes.second[order],
        second=votes.first[order],
        won=1 - votes.won[order],
        clusters=[votes.clusters[0][order]],
        systems=4,
    )
    one = strengths(votes)
    other = strengths(turned)
    assert one is not None
    assert other is not None
    assert other.values == pytest.approx(one.values, abs=1e-12)
    assert other.covariances[0] == pytest.approx(one.covariances[0], abs=1e-12)


def test_a_system_that_wins_all() -> None:
    """No strength is finite by votes alone: half a win is made up for each side of a pair."""
    votes = PairVotes(
        first=np.array([0, 0, 1, 2, 0, 0]),
        second=np.array([1, 2, 2, 1, 1, 2]),
        won=np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        clusters=[np.arange(6)],
        systems=3,
    )
    result = strengths(votes)
    assert result is not None
    assert result.made_up
    assert result.values[0] > 1 > abs(result.values[1])
    assert np.isfinite(result.values).all()


def test_systems_that_nobody_compared() -> None:
    """Two groups without a vote between them have no common board."""
    pair = np.array([0, 2, 0, 2])
    votes = PairVotes(
        first=pair,
        second=pair + 1,
        won=np.array([1.0, 0.0, 0.0, 1.0]),
        clusters=[np.arange(4)],
        systems=4,
    )
    assert strengths(votes) is None


@pytest.mark.parametrize("spread", [0.0, 0.25])
def test_simulated_boards(spread: float) -> None:
    """Six systems, 40 votes a pair, 200 boards: intervals hold together; pairs shown.

    The prototype showed 7.99 of 15 pairs if strengths lie .25 apart; of equal systems some pair is
    shown in at most .05.
    """
    truth = (spread * (2.5 - np.arange(6))).tolist()
    rng = default_rng(7)
    held = []
    counts = []
    for _ in range(200):
        result = strengths(drawn(rng, truth, 40))
        assert isinstance(result, Strengths)
        ends = result.intervals()
        held.append(
            all(
                low <= true <= high
                for true, (low, high) in zip(truth, ends, strict=True)
            )
        )
        counts.append(sum(p < 0.05 for p in result.pairs().values()))
    assert np.mean(held) >= 0.93
    if spread:
        assert 7 <= np.mean(counts) <= 9
    else:
        assert np.mean(np.array(counts) > 0) <= 0.07


def arena(votes: int = 30, voters: int = 0) -> list[dict[str, Any]]:
    """PairVotes between a strong, a middling and two weak systems, each on a source of its own."""
    rng = default_rng(8)
    truth = {"strong": 1.5, "middle": 0.0, "weak": -1.0, "poor": -1.0}
    rows = []
    for a, b in combinations(truth, 2):
        for i in range(votes):
            chance = 1 / (1 + math.exp(truth[b] - truth[a]))
            winner = "a" if rng.random() < chance else "b"
            row = {
                "prompt": f"{a} {b} {i}",
                "output_a": f"{a} says {i} to {b}",
                "output_b": f"{b} says {i} to {a}",
                "winner": winner,
                "model_a": a,
                "model_b": b,
            }
            rows.append(row | ({"rater": f"r{i % voters}"} if voters else {}))
    return rows


def test_compare_says_who_leads() -> None:
    """The first line names the leader; rows have ranks, and JSON the same board."""
    result = compare_choices(arena())
    words = one_line(result)
    assert words.startswith("strong wins most, and is preferred to every other")
    assert "Board" in words
    rows = result.to_dict()["board"]["rows"]
    assert [row["name"] for row in rows][:2] == ["strong", "middle"]
    assert rows[0]["ranks"] == [1, 1]
    assert rows[0]["ahead_of"] == ["middle", *[row["name"] for row in rows[2:]]]
    assert rows[0]["interval"][0] < rows[0]["win_rate"] < rows[0]["interval"][1]
    assert rows[2]["ranks"] == rows[3]["ranks"] == [3, 4]
    two = compare_choices(arena(), system=("strong", "weak"))
    assert two.to_dict()["board"] is None


def test_a_board_that_holds_at_any_look() -> None:
    """The strongest is where it was, with a wider interval."""
    once = compare_choices(arena()).to_dict()["board"]["rows"][0]
    always = compare_choices(arena(), looks="any").to_dict()["board"]["rows"][0]
    assert always["win_rate"] == once["win_rate"]
    assert always["interval"][0] < once["interval"][0]


def test_tied_for_first() -> None:
    """Weak and poor alone are tied; with the middling one as well, two are behind nobody else."""
    rows = [
        row for row in arena(10) if "strong" not in (row["model_a"], row["model_b"])
    ]
    words = one_line(compare_choices(rows))
    assert words.startswith("middle wins most, but poor may be as good.")


def test_voters_are_clusters_from_four_on() -> None:
    """Three voters stand for themselves, which is said; five are drawn as a whole."""
    names = ["strong", "middle", "weak", "poor"]
    pools = [read_pool(arena(30, voters=voters)).pool for voters in (3, 5)]
    few, many = (board(pool, choices_in(pool), names) for pool in pools)
    assert few is not None
    assert many is not None
    assert (few.voters, few.clusters) == (3, ("source",))
    assert (many.voters, many.clusters) == (0, ("source", "voter"))
    assert "This is how 3 voters rate" in one_line(compare_choices(arena(30, voters=3)))
    votes = votes_of(pools[1], choices_in(pools[1]), names)
    assert votes.table().sum() == 180


def test_a_lead_that_is_length_alone() -> None:
    """Voters prefer the longer text and one system writes longer ones: held equal, none leads.

    By hand: of texts that are 1 standard deviation longer 1 / (1 + exp(-1.5)) = .818 win.
    """
    rng = default_rng(6)
    rows = arena(200)
    for row in rows:
        a, b = (rng.normal() + (row[f"model_{side}"] == "strong") for side in "ab")
        row |= {"length_a": a, "length_b": b}
        gap = a - b
        row["winner"] = "a" if rng.random() < 1 / (1 + math.exp(-gap)) else "b"
    plain = compare_choices(rows)
    assert str(plain).startswith("strong wins most, and is preferred to every other")
    result = compare_choices(rows, control="length")
    assert "Held equal: length." in str(result)
    assert "control:length" in str(result.signature)
    equal = result.to_dict()["board"]
    assert all(not row["ahead_of"] for row in equal["rows"])
    (control,) = equal["controls"]
    gaps = np.array([row["length_a"] - row["length_b"] for row in rows])
    expected = 1 / (1 + math.exp(-gaps.std()))
    assert control["interval"][0] < expected < control["interval"][1]
    assert control["interval"][0] > 0.7
    two = compare_choices(rows, control=["length"], system=("weak", "poor"))
    assert len(two.to_dict()["board"]["rows"]) == 2


def arena_with(length: object, columns: str = "length") -> list[dict[str, Any]]:
    """The votes with a column of lengths on either side; the second text's is 1."""
    ends = {f"{columns}_a": length, f"{columns}_b": 1}
    return [row | ends for row in arena(10)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (arena_with(2, "size"), "there are no columns 'length_a' and 'length_b'"),
        (arena_with(None), "no value in 60 of 120 texts"),
        (arena_with(1), "the votes tell no strengths"),
        (
            [{"text": "a", "system": name, "rating": 1} for name in "mn"],
            "there is no column 'length'",
        ),
    ],
)
def test_controls_that_cannot_be(rows: list[dict[str, Any]], message: str) -> None:
    """Each says what is missing, or what to leave out."""
    with pytest.raises(RefLessError, match=message):
        compare_choices(rows, control="length")


def test_controls_are_of_votes() -> None:
    """Ratings with such a column have none."""
    rows = [
        {
            "id": i,
            "text": f"t {i}",
            "system": "mn"[i % 2],
            "rating": i % 5,
            "length": i,
        }
        for i in range(20)
    ]
    with pytest.raises(RefLessError, match="is about choices between two texts"):
        compare(rows, control="length")
