"""Thresholds that are learned and tested, beside a slow twin."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats import learn_then_test
from refless.stats.learn_then_test import STEPS, Candidates, Risk, labels_needed

columns = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([True, False, False, False])),
    max_size=80,
)
risks = st.builds(
    Risk,
    at_most_wrong=st.sampled_from([0.05, 0.2, 0.4]),
    error=st.sampled_from([0.1, 0.3]),
    promises=st.integers(1, 3),
)


def counted(rows: IntArray) -> float:
    """Rows that are independent."""
    return float(len(rows))


def candidates(scores: FloatArray, wrong: BoolArray) -> Candidates:
    """Texts that are independent."""
    unit = np.arange(len(scores))
    return Candidates(scores=scores, wrong=wrong, unit=unit, effective=counted)


def twin(scores: FloatArray, wrong: BoolArray, risk: Risk) -> dict[float, bool]:
    """Whether each threshold is certified: every set is made anew, and its exact binomial test.

    Of n texts, k of them wrong, the p-value is P(X <= k) for X binomial with the share of the
    promise. .7 of the chance of error is there at the first threshold, .3 more at the middle one; a
    threshold has what is left of all before it.
    """
    n = len(scores)
    ranked = sorted(scores, reverse=True)
    error = risk.error / risk.promises
    least = math.ceil(math.log(0.7 * error) / math.log(1 - risk.at_most_wrong))
    counts = np.geomspace(min(least, n), n, STEPS).round().astype(int) if n else []
    thresholds = sorted({ranked[count - 1] for count in counts}, reverse=True)
    middle = round((len(thresholds) - 1) / 2)
    left = 0.7 * error
    found = {}
    for place, threshold in enumerate(thresholds):
        if place == middle:
            left += 0.3 * error
        accepted = wrong[scores >= threshold]
        p = binom.cdf(accepted.sum(), len(accepted), risk.at_most_wrong)
        found[threshold] = bool(p <= left)
        if p > left:
            left = 0.0
    return found


@given(columns, risks)
def test_thresholds_equal_the_slow_twin(
    rows: list[tuple[int, bool]], risk: Risk
) -> None:
    """The same thresholds are tried, in the same order, and the same are certified."""
    scores = np.array([score for score, _ in rows], dtype=float)
    wrong = np.array([error for _, error in rows], dtype=bool)
    steps = learn_then_test.tested(candidates(scores, wrong), risk)
    found = {step.threshold: step.certified for step in steps}
    assert found == twin(scores, wrong, risk)
    assert [*found] == sorted(found, reverse=True)


def test_labels_that_would_do_by_hand() -> None:
    """20 texts, none wrong, at most 20 %: .8^20 = .0115 is more than .1 / 25, so more are needed.

    Of 20 texts without a wrong one 3.4 % are counted with (.5^(1/20) = .966), and .3 of the chance:
    P(X <= 1.5) of 55 texts is some .1 * .3 / 25 = .0012 (between .00006 and .0019 for 1 and 2).
    """
    risk = Risk(at_most_wrong=0.2, error=0.1, promises=25)
    texts = candidates(np.arange(20.0), np.zeros(20, dtype=bool))
    steps = learn_then_test.tested(texts, risk)
    assert not any(step.certified for step in steps)
    needed = labels_needed(texts, risk)
    assert needed is not None
    assert binom.cdf(1, needed, 0.2) < 0.0012 < binom.cdf(2, needed, 0.2)


def test_nothing_is_needed_where_more_may_not_help() -> None:
    """Half of the texts are wrong, whatever their score."""
    wrong = np.arange(300) % 2 > 0
    risk = Risk(at_most_wrong=0.05, error=0.1)
    texts = candidates(np.arange(300.0), wrong)
    steps = learn_then_test.tested(texts, risk)
    assert not any(step.certified for step in steps)
    assert labels_needed(texts, risk) is None


def test_the_order_begins_where_enough_units_are() -> None:
    """.8^11 = .086 is above .7 * .1 and .8^12 is below: the twelfth pair begins at text 23.

    It begins there whichever texts are wrong.
    """
    scores = -np.arange(100.0)
    unit = np.arange(100) // 2
    risk = Risk(at_most_wrong=0.2, error=0.1)
    for wrong in (scores > 0, scores > -3, scores < -60):
        texts = Candidates(scores=scores, wrong=wrong, unit=unit, effective=counted)
        assert learn_then_test.tested(texts, risk)[0].threshold == -22
