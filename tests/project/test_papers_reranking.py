"""The worth of choosing by estimates, against hand calculations and a plain loop."""

import math
import sys
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from places import PAPERS
from records import fixed, split_of
from refless.evaluation.jackknife import Replicates
from refless.stats.intervals import student

sys.path.insert(0, str(PAPERS))
from reranking import Reranking, reranking

sys.path.remove(str(PAPERS))


def choose(
    ratings: list[float], labels: list[str], values: list[float], **how: str
) -> Reranking | None:
    groups = np.unique(labels, return_inverse=True)[1]
    one = fixed(np.array(ratings, float), np.array(values, float), groups)
    return reranking(labels, one, **how)


def test_by_hand() -> None:
    """Source a: chosen 4, random 3, best 5; b: a tie of 1 and 3; c has one output and is left out.

    Chosen (4 + 2) / 2, random (3 + 2) / 2, best (5 + 3) / 2.
    """
    labels = ["a", "a", "a", "b", "b", "c"]
    values = [0.9, 0.1, math.nan, 0.5, 0.5, 1.0]
    found = choose([4, 5, 0, 1, 3, 9], labels, values)
    assert found is not None
    assert (found.by, found.n) == ("source", 2)
    assert (found.chosen, found.random, found.best) == (3.0, 2.5, 4.0)
    assert (found.gain, found.share) == (0.5, pytest.approx(1 / 3))


def test_the_interval_knows_what_taught_the_estimates() -> None:
    """By hand: choosing gains 1 in a and -1 in b; learned without a, it would gain 1 in b too.

    As a test the parts say -1 and 1: a variance of (1 + 1) / 2, with one degree of freedom. Learned
    anew both say 1, which adds nothing to it, or as the test does, which adds nothing either.
    """
    human = np.array([1.0, 3.0, 2.0, 4.0])
    values = np.array([0.0, 1.0, 1.0, 0.0])
    deal = split_of(human, np.array([0, 0, 1, 1]), parts=2)
    right = np.stack([human, human])
    same = np.stack([values, values])
    for others in ((), (right, right), (same, same)):
        method = Replicates(deal, np.stack([same, *others]), np.zeros((0, 2, 4)))
        found = reranking(list("aabb"), method)
        assert found is not None
        assert (found.gain, found.share) == (0.0, 0.0)
        half = student(1)
        assert found.gain_interval == pytest.approx((-half, half))
        assert found.share_interval == pytest.approx(
            (-half, 1.0)
        )  # no more can be gained


def test_blank_labels_and_single_outputs() -> None:
    """One item tells nothing of others; without two outputs of a label there is nothing."""
    found = choose([1, 2], ["i", "i"], [0.2, 0.1], by="item")
    assert found is not None
    assert (found.by, found.n, found.gain) == ("item", 1, -0.5)
    assert math.isnan(found.gain_interval[0])
    assert choose([1, 2], ["x", "y"], [0.2, 0.1]) is None
    assert choose([1, 2], ["", ""], [0.2, 0.1]) is None


def test_all_rated_alike() -> None:
    """Nothing can be gained, so a share of it is undefined."""
    found = choose([2, 2, 3, 3], list("aabb"), [1, 2, 3, 4])
    assert found is not None
    assert found.gain == 0.0
    assert math.isnan(found.share)
    assert math.isnan(found.share_interval[0])


row = st.tuples(
    st.sampled_from("abcd"),
    st.integers(0, 5),
    st.sampled_from([math.nan, 0.0, 0.25, 0.25 + 1e-9, 0.5]),
)


@settings(max_examples=100)
@given(st.lists(row, min_size=2, max_size=12), st.randoms())
def test_against_a_loop_in_any_order(rows: list[tuple[str, int, float]], order) -> None:
    """Equal estimates share; items without any are drawn from; the order of rows is nothing."""
    of: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for source, rating, value in rows:
        of[source].append((rating, value))
    many = [outputs for outputs in of.values() if len(outputs) > 1]
    columns = list(zip(*rows, strict=True))
    found = choose(list(columns[1]), list(columns[0]), list(columns[2]))
    if not many:
        assert found is None
        return
    chosen = []
    for outputs in many:
        known = [value for _, value in outputs if not math.isnan(value)]
        best = [r for r, value in outputs if not known or value > max(known) - 1e-7]
        chosen.append(sum(best) / len(best))
    assert found is not None
    assert found.n == len(many)
    assert found.chosen == pytest.approx(np.mean(chosen))
    ratings = [next(zip(*outputs, strict=True)) for outputs in many]
    assert found.random == pytest.approx(np.mean([*map(np.mean, ratings)]))
    assert found.best == pytest.approx(np.mean([*map(max, ratings)]))
    assert found.gain == pytest.approx(found.chosen - found.random)
    shuffled = list(rows)
    order.shuffle(shuffled)
    columns = list(zip(*shuffled, strict=True))
    again = choose(list(columns[1]), list(columns[0]), list(columns[2]))
    assert again is not None
    np.testing.assert_allclose(again.gain_interval, found.gain_interval, atol=1e-12)
    np.testing.assert_allclose(again.share_interval, found.share_interval, atol=1e-12)
