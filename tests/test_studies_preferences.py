"""Who picks what people preferred: shares by hand, rivals by scikit-learn, sentences on nulls."""

import re

import numpy as np
import pytest

from refless.commands.pairs.judged import recommendation, worth_using
from refless.data.preferences import Pairs, pairs_of, votes_of
from refless.estimators import GaussianProcess
from refless.evaluation.baselines import tfidf
from refless.evaluation.preferences import Opinion, coin, dealt, judged, length, of_scores, words
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError

NOTHING = np.zeros(0)


def side(source: int, text: str) -> tuple[str, str]:
    return f"s{source}", text


def by_hand() -> Pairs:
    """Four pairs of four sources; of the third people are split, the last has three votes."""
    sides = [(side(i, "a"), side(i, "b")) for i in (0, 1, 2, 2, 3, 3, 3)]
    return pairs_of(sides, [1, 0, 1, 0, 1, 1, 0])


def test_shares_by_hand() -> None:
    """Right of pairs 1, 2 and 4: yes, no opinion, yes; log loss over all seven votes."""
    opinions = {
        "mine": Opinion(np.array([1.0, 0.0, -1.0, 2.0]), np.array([0.8, 0.5, 0.4, 0.6])),
        "other": Opinion(np.array([-1.0, -1.0, 1.0, np.nan]), NOTHING),
    }
    found = judged(by_hand(), opinions, seed=0, resamples=40)
    assert (found.choices, found.pairs, found.groups, found.even) == (7, 4, 4, 1)
    mine, other = found.lines
    assert mine.accuracy == pytest.approx((1 + 0.5 + 1) / 3)
    assert mine.opinions == pytest.approx(2 / 3)
    assert other.accuracy == pytest.approx((0 + 1 + 0.5) / 3)
    assert other.gap == pytest.approx(1 / 3)
    votes = [0.8, 0.5, 0.4, 0.6, 0.6, 0.6, 0.4]
    assert mine.log_loss == pytest.approx(-np.mean(np.log(votes)))
    assert other.log_loss != other.log_loss


def test_one_vote_by_hand() -> None:
    """Votes 1, 1, 0 on one pair: the others of each are split, split, and agree against it."""
    found = judged(by_hand(), {"a": coin(votes_of(by_hand()))}, seed=0, resamples=40).one_vote
    assert found is not None
    assert found.n == 3  # of the even pair each vote has one other, which is against it
    assert found.accuracy == 0
    assert found.reference == 0.5


def test_length_learns_which_way() -> None:
    """Where people prefer the shorter text, it picks that; on its own fold it has not looked."""
    sides = [(side(i, "short"), side(i, f"much longer {i}")) for i in range(10)]
    pairs = pairs_of(sides, [1.0] * 9 + [0.0])
    votes = votes_of(pairs)
    fold = np.arange(10) % 5
    found = length(pairs, votes, fold)
    judge = judged(pairs, {"length": found}, seed=0, resamples=40).lines[0]
    assert judge.accuracy == pytest.approx(0.9)
    assert set(np.round(found.chances, 9)) <= {
        *(round(p, 9) for won in (7, 8) for p in ((won + 1) / 10, 1 - (won + 1) / 10))
    }


def test_words_are_those_of_scikit_learn() -> None:
    """LogisticRegression(fit_intercept=False) on the differences, fold by fold."""
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    known = ["fine", "poor", "good", "meal", "room", "view", "bad"]
    texts = [" ".join(rng.choice(known, 5)) + f" {i}x" for i in range(60)]
    sides = [(side(i, texts[2 * i]), side(i, texts[2 * i + 1])) for i in range(30)]
    pairs = pairs_of(sides, rng.integers(0, 2, 30).astype(float).tolist())
    votes, fold = votes_of(pairs), np.arange(30) % 3
    rows = tfidf(pairs.texts.texts)
    apart = rows[votes.first] - rows[votes.second]
    expected = np.zeros(30)
    for number in range(3):
        model = linear.LogisticRegression(fit_intercept=False, tol=1e-10, max_iter=10_000)
        model.fit(apart[fold != number], votes.wins[fold != number])
        expected[fold == number] = model.decision_function(apart[fold == number])
    np.testing.assert_allclose(words(pairs, votes, fold).sides, expected, atol=1e-4)


def test_scores_judge_by_the_higher_one() -> None:
    """A missing score is no opinion."""
    nan = float("nan")
    sides = [(side(i, "a"), side(i, "b")) for i in range(3)]
    scores = [((2.0,), (1.0,)), ((1.0,), (2.0,)), ((nan,), (2.0,))]
    pairs = pairs_of(sides, [1, 1, 1], scores=scores, score_names=("judge",))
    found = judged(pairs, of_scores(pairs, votes_of(pairs)), seed=0, resamples=40)
    assert found.lines[0].accuracy == pytest.approx((1 + 0 + 0.5) / 3)


def test_one_source_cannot_be_held_out() -> None:
    """The remedy is a column of sources."""
    pairs = pairs_of([(side(0, "a"), side(0, "b")), (side(0, "b"), side(0, "c"))], [1, 1])
    with pytest.raises(UsageError, match="add a column of sources"):
        dealt(GaussianProcess(), pairs, votes_of(pairs))


def null(rng: np.random.Generator, n: int, rule: float, mine: float) -> bool:
    """Whether use is advised of an opinion that is right with one chance, beside a rule's.

    Args:
        n: pairs, two a source; rule, mine: chances of being right, independent of each other.
    """
    sides = [(side(i // 2, f"a{i}"), side(i // 2, f"b{i}")) for i in range(n)]
    pairs = pairs_of(sides, [1.0] * n)

    def opinion(chance: float) -> Opinion:
        right = np.where(rng.random(n) < chance, 1.0, -1.0)
        return Opinion(right, NOTHING)

    opinions = {"mine": opinion(mine), "length": opinion(rule), "a coin": coin(votes_of(pairs))}
    found = judged(pairs, opinions, seed=0, resamples=200)
    return worth_using(found, ("length", "a coin"))


@pytest.mark.parametrize(("rule", "mine"), [(0.5, 0.5), (0.65, 0.65)])
def test_an_honest_null_is_not_advised(rule: float, mine: float) -> None:
    """No better than a coin, or no better than a rule: use is advised at most 5 % of the time."""
    rng = np.random.default_rng(7)
    advised = sum(null(rng, 60, rule, mine) for _ in range(200))
    assert advised <= 0.05 * 200


def test_what_is_better_is_advised() -> None:
    """Right 85 times in 100 beside 55: seen in 60 pairs nearly always."""
    rng = np.random.default_rng(7)
    assert sum(null(rng, 60, 0.55, 0.85) for _ in range(40)) >= 36


def lines(accuracy: FloatArray, n: int = 200) -> dict[str, Opinion]:
    names = ("the Gaussian process", "length", "TF-IDF", "judge")
    return {
        name: Opinion(np.where(np.arange(n) < share * n, 1.0, -1.0), NOTHING)
        for name, share in zip(names, accuracy.tolist(), strict=True)
    }


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        ((0.8, 0.5, 0.6, 0.55), "Use the Gaussian process: it picks .* best baseline, TF-IDF, by"),
        ((0.5, 0.5, 0.5, 0.5), "Use none: on these pairs no agreement"),
        ((0.6, 0.8, 0.6, 0.6), "Use none: length picks .* more often than the Gauss.* by 0.200"),
        ((0.6, 0.5, 0.605, 0.55), "No reason to use the Gauss.* is shown: TF-IDF picks .* 0.005"),
        ((0.6, 0.5, 0.55, 0.61), "No reason to use the Gauss.* is shown: judge picks .* 0.010"),
        ((0.5, 0.5, 0.5, 0.505), "Use none: on these pairs no agreement .*, and judge picks"),
        ((0.6, 0.5, 0.605, 0.61), r"shown: judge picks .* 0.010 .*\(so does TF-IDF\)\. The Gauss"),
        ((0.5, 0.5, 0.5, 0.8), "Use judge: it picks .* more often than the Gaussian process"),
        ((0.6, 0.5, 0.6, 0.9), "Use judge: it picks .* more often than the Gaussian process"),
        ((0.6, 0.5, 0.6, 0.6), "it is not shown to do better than TF-IDF"),
    ],
)
def test_what_is_said(accuracy: tuple[float, ...], said: str) -> None:
    """One sentence for each way that it can go."""
    sides = [(side(i, "a"), side(i, "b")) for i in range(200)]
    pairs = pairs_of(sides, [1.0] * 200)
    found = judged(pairs, lines(np.array(accuracy)), seed=0)
    sentence = recommendation(found, ("length", "TF-IDF", "judge"), ("judge",))
    assert re.search(said, sentence), sentence


def test_few_pairs_say_nothing() -> None:
    """Fewer than twenty decided pairs."""
    found = judged(by_hand(), {"mine": coin(votes_of(by_hand()))}, seed=0, resamples=40)
    assert recommendation(found, (), ()) == (
        "3 decided pairs are too few to tell if an estimator is of use."
    )
