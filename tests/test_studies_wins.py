"""Win rates by hand, and how often their intervals hold."""

import numpy as np
import pytest

from refless.data.records import RatedPool
from refless.data.tables import read_pool
from refless.evaluation.wins import rate, wins


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
    """n wins 2.5 of 3; the variance of three clusters is 3 / 2 * (1/36 + 1/36 + 1/9) / 9."""
    found = wins(arena(), ["m", "n", "o"])
    assert [(one.first, one.second) for one in found] == [("m", "n"), ("m", "o")]
    one = found[0].by_item
    assert (one.rate, one.choices, one.clusters) == (pytest.approx(2.5 / 3), 3, 3)
    assert found[0].ties == 1
    variance = 3 / 2 * (1 / 36 + 1 / 36 + 1 / 9) / 9
    p, t = 2.5 / 3, 4.302652729911275  # of Student's t with 2 degrees of freedom
    alone = p * (1 - p) / variance
    # Wilson's ends solve (p - x)^2 = t^2 x (1 - x) / alone
    for end in one.interval:
        if 0 < end < 1:
            assert (p - end) ** 2 == pytest.approx(t**2 * end * (1 - end) / alone)
    assert found[1].by_item.interval != found[1].by_item.interval or found[1].by_item.clusters == 1


def test_a_system_that_always_wins() -> None:
    """All of ten clusters agree: Wilson's interval of ten, with Student's t."""
    found = rate(np.ones(20), np.repeat(np.arange(10).astype(str), 2))
    t = 2.262157162740992
    assert found.interval == (pytest.approx(10 / (10 + t**2)), 1.0)
    assert found.p < 0.05


@pytest.mark.parametrize("chance", [0.5, 0.8])
def test_intervals_hold(chance: float) -> None:
    """Items differ, three raters a pair: about 95 % of intervals hold the true rate."""
    rng, held, shown = np.random.default_rng(3), 0, 0
    middle = np.log(chance / (1 - chance))
    true = (1 / (1 + np.exp(-np.random.default_rng(0).normal(middle, 1.0, 100_000)))).mean()
    for _ in range(400):
        p = 1 / (1 + np.exp(-rng.normal(middle, 1.0, 30)))
        won = (rng.random((30, 3)) < p[:, None]).astype(float).ravel()
        found = rate(won, np.repeat(np.arange(30).astype(str), 3))
        held += found.interval[0] <= true <= found.interval[1]
        shown += found.p < 0.05
    assert held >= 0.92 * 400
    if chance == 0.5:
        assert shown <= 0.07 * 400
