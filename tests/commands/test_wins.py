"""Win rates by hand, and how often their intervals hold."""

import numpy as np
import pytest

from refless.commands.compare.claims import always_of_rate
from refless.commands.compare.wins import rate, wins
from refless.data.choices import choices_in
from refless.data.records import RatedPool
from refless.data.tables import read_pool


def arena() -> RatedPool:
    """Of three sources: n beats m twice, ties once; sides change; one choice is between others."""
    votes = [("0", "mn", "b", "p"), ("1", "nm", "a", "p"), ("2", "mn", "tie", "q")]
    return read_pool(
        [
            {
                "prompt": source,
                "output_a": f"{systems[0]} says",
                "output_b": f"{systems[1]} says",
                "winner": winner,
                "model_a": systems[0],
                "model_b": systems[1],
                "rater": rater,
            }
            for source, systems, winner, rater in [*votes, ("2", "mo", "a", "q")]
        ]
    ).pool


def test_rates_by_hand() -> None:
    """n wins 2.5 of 3, each of another source; one choice has no interval."""
    found = wins(arena(), choices_in(arena()), ["m", "n", "o"])
    assert [(one.first, one.second) for one in found] == [("m", "n"), ("m", "o")]
    one = found[0].by_item
    assert (one.rate, one.choices, one.clusters) == (pytest.approx(2.5 / 3), 3, 3)
    assert found[0].ties == 1
    assert one.interval[0] < 0.5 < 2.5 / 3 < one.interval[1] == 1
    assert found[1].by_item.clusters == 1
    assert np.isnan([*found[1].by_item.interval, found[1].by_item.p]).all()


def test_rates_that_hold_at_any_look() -> None:
    """The interval is that of the owner's page, and p agrees."""
    won = np.repeat([1.0, 0.0], [30, 14])
    once = rate(won, np.arange(44))
    always = rate(won, np.arange(44), "any")
    assert always.interval == always_of_rate(once, 1)
    assert once.interval[0] > 0.5 > always.interval[0]
    assert once.p < 0.05 < always.p


def test_ties_alone_leave_room_for_a_few_that_are_none() -> None:
    """Of choices 9.5 % may be none: .905 ** 30 is .05; each moves the rate by half. Looks widen."""
    ties = np.full(30, 0.5)
    once = rate(ties, np.arange(30)).interval
    assert once == pytest.approx((0.452, 0.548), abs=0.001)
    assert rate(ties, np.arange(30), "any").interval < once


def test_a_system_that_always_wins() -> None:
    """Ten clusters of two agree: 1.92 made-up successes, and failures, count for 1.2 rows each.

    By hand: share (20 + 2.3) / (20 + 4.6), and Student's t with 9 degrees of freedom.
    """
    found = rate(np.ones(20), np.repeat(np.arange(10).astype(str), 2))
    wide = 1.2
    made = wide * 1.959963984540054**2 / 2
    n = 20 + 2 * made
    share = (20 + made) / n
    squares = 10 * (2 * (1 - share)) ** 2 + wide * made * ((1 - share) ** 2 + share**2)
    half = 2.262157162740992 * np.sqrt(squares) / n
    assert found.interval == (pytest.approx(share - half), 1.0)
    assert found.p < 0.05


@pytest.mark.parametrize("chance", [0.5, 0.8])
def test_intervals_hold(chance: float) -> None:
    """Items differ, three raters a pair: about 95 % of intervals hold the true rate."""
    rng = np.random.default_rng(3)
    held = 0
    shown = 0
    middle = np.log(chance / (1 - chance))
    true = (
        1 / (1 + np.exp(-np.random.default_rng(0).normal(middle, 1.0, 100_000)))
    ).mean()
    for _ in range(400):
        p = 1 / (1 + np.exp(-rng.normal(middle, 1.0, 30)))
        won = (rng.random((30, 3)) < p[:, None]).astype(float).ravel()
        found = rate(won, np.repeat(np.arange(30).astype(str), 3))
        held += found.interval[0] <= true <= found.interval[1]
        shown += found.p < 0.05
    assert held >= 0.92 * 400
    if chance == 0.5:
        assert shown <= 0.07 * 400
