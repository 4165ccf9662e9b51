"""How often does an estimator, a score or a rule pick the text that people preferred?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refless.data.preferences import Pairs, Votes, groups_in, votes_of
from refless.estimators import GaussianProcess
from refless.estimators.gp.bradley_terry import at, chance, sigmoid
from refless.estimators.gp.data import folds_of
from refless.evaluation.baselines import tfidf
from refless.loops.threads import calm
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval
from refless.stats.resampling import RESAMPLES, weights_of

COIN, LENGTH, WORDS = "a coin", "length", "TF-IDF"
LEAST_CHANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Opinion:
    """What one judge says of pairs.

    Attributes:
        sides: [k] above 0 for the first text, below for the second, 0 or NaN for neither.
        chances: [k] that people prefer the first, or empty.
    """

    sides: FloatArray
    chances: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One judge.

    Attributes:
        name: of it.
        accuracy: share of the pairs that people decided in which it picks their text, a pair
            without an opinion half; interval: 95 %, whole sources drawn.
        opinions: share of these pairs on which it has one.
        gap: accuracy of the reference minus this one's; gap_interval: 95 %.
        log_loss: mean -log of the chance given to what people chose, ties half and half; NaN for
            one without chances. A coin has 0.693.
    """

    name: str
    accuracy: float
    interval: Interval
    opinions: float
    gap: float
    gap_interval: Interval
    log_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OneVote:
    """How often one person's choice is that of most others who judged the same pair.

    Attributes:
        n: choices that others judged too, and not evenly.
        accuracy: share of agreement, a tie half; interval: 95 %, whole sources drawn.
        reference: the same of the reference on these pairs; gap: that minus `accuracy`;
            gap_interval: 95 %.
    """

    n: int
    accuracy: float
    interval: Interval
    reference: float
    gap: float
    gap_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Judges of pairs side by side.

    Attributes:
        choices, pairs, texts, groups: how many; groups are held out, and drawn, as a whole.
        even: pairs on which people are evenly split, which no judge can get right.
        lines: one a judge, the reference first.
        one_vote: a single person; None where nobody judged what another did.
    """

    choices: int
    pairs: int
    texts: int
    groups: int
    even: int
    lines: tuple[Line, ...]
    one_vote: OneVote | None

    def line(self, name: str) -> Line | None:
        """The judge of a name."""
        return next((line for line in self.lines if line.name == name), None)


def held_out(estimator: GaussianProcess, pairs: Pairs, fold: IntArray) -> Opinion:
    """What the estimator says of each pair, having learned from the other folds.

    Args:
        estimator: which; pairs: the choices; fold: [k] of each pair.
    """
    votes = votes_of(pairs)
    means, chances = np.full((2, len(fold)), np.nan)
    for number in range(int(fold.max(initial=-1)) + 1):
        asked = np.flatnonzero(fold == number)
        known = estimator.preferences(pairs.take(np.flatnonzero(fold[votes.of] != number)))
        if known is not None and len(asked):
            found = known.better(pairs.texts, votes.first[asked], votes.second[asked])
            means[asked], chances[asked] = found[0], chance(*found)
    return Opinion(means, chances)


def dealt(estimator: GaussianProcess, pairs: Pairs, votes: Votes) -> IntArray:
    """[k] fold of each pair, sources whole.

    Raises:
        UsageError: one source, or pairs that shared texts make one.
    """
    groups = groups_in(pairs, votes)
    if len(np.unique(groups)) < 2:
        raise UsageError(
            "all pairs are of one source (or connected by texts that they share), so none can be "
            "held out; add a column of sources (source, prompt, question ...)"
        )
    return folds_of(groups, estimator.folds)


def length(pairs: Pairs, votes: Votes, fold: IntArray) -> Opinion:
    """The longer text, or the shorter one where the other folds' people prefer that."""
    lengths = np.array([len(text) for text in pairs.texts.texts], dtype=np.float64)
    longer = np.sign(lengths[votes.first] - lengths[votes.second])
    sides, chances = np.zeros(len(fold)), np.full(len(fold), 0.5)
    for number in np.unique(fold):
        known = (fold != number) & (longer != 0)
        won = np.where(longer > 0, votes.wins, votes.counts - votes.wins)[known].sum()
        p = (won + 1.0) / (votes.counts[known].sum() + 2.0)  # Laplace's rule of succession
        asked = fold == number
        sides[asked] = longer[asked] * np.sign(p - 0.5)
        chances[asked] = 0.5 + longer[asked] * (p - 0.5)
    return Opinion(sides, chances)


def words(pairs: Pairs, votes: Votes, fold: IntArray) -> Opinion:
    """Logistic regression, with penalty 1, on the difference of the two texts' TF-IDF.

    As ten lines of scikit-learn have it: words and pairs of words, no intercept, fitted in the
    other folds.
    """
    rows = tfidf(pairs.texts.texts)
    apart = rows[votes.first] - rows[votes.second]
    sides = np.zeros(len(fold))
    for number in np.unique(fold):
        known, asked = fold != number, fold == number
        sides[asked] = apart[asked] @ _regression(apart[known], votes.take(known))
    return Opinion(sides, sigmoid(sides))


def _regression(rows: Any, votes: Votes) -> FloatArray:  # noqa: ANN401 - a sparse array
    """[features] weights of the highest penalized likelihood."""
    from scipy.optimize import minimize

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        point = at(rows @ weights, float(weights @ weights), votes)
        return -point.fit, weights - rows.T @ point.gradient

    with calm():
        found = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", tol=1e-9)
    return np.asarray(found.x, dtype=np.float64)


def of_scores(pairs: Pairs, votes: Votes) -> dict[str, Opinion]:
    """Each column of scores as a judge: the higher score wins."""
    texts, nothing = pairs.texts, np.zeros(0)
    return {
        name: Opinion(column[votes.first] - column[votes.second], nothing)
        for name, column in zip(texts.score_names, texts.scores.T, strict=True)
    }


def coin(votes: Votes) -> Opinion:
    """No opinion at all."""
    return Opinion(np.zeros(len(votes.wins)), np.full(len(votes.wins), 0.5))


def judged(
    pairs: Pairs, opinions: Mapping[str, Opinion], *, seed: int, resamples: int = RESAMPLES
) -> Judged:
    """Judges beside each other on the same pairs; the first of them is the reference.

    Intervals are those of a bootstrap over what is held out together, the same draws for all.

    Args:
        pairs: the choices; opinions: by name, of the pairs as `votes_of` has them.
        seed: of what is drawn.
    """
    votes = votes_of(pairs)
    groups, decided = groups_in(pairs, votes), votes.share != 0.5
    right = {name: _right(votes.share, one.sides) for name, one in opinions.items()}
    drawn = _Drawn(groups, seed, resamples)
    reference = next(iter(right.values()))
    lines = tuple(
        _line(name, opinions[name], mine, reference, votes, drawn) for name, mine in right.items()
    )
    return Judged(
        choices=len(pairs),
        pairs=len(decided),
        texts=len(np.unique([votes.first, votes.second])),
        groups=len(np.unique(groups)),
        even=int((~decided).sum()),
        lines=lines,
        one_vote=_one_vote(pairs, votes, next(iter(opinions.values())), groups, seed, resamples),
    )


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A bootstrap over groups of rows."""

    groups: IntArray
    seed: int
    resamples: int

    def mean(self, values: FloatArray, known: BoolArray) -> tuple[float, Interval]:
        """Mean of the known rows, and its 95 % interval; NaN without them."""
        if not known.any():
            return math.nan, UNDEFINED
        n, value = len(known), float(np.sort(values[known]).mean())
        if len(np.unique(self.groups[known])) < 2:
            return value, UNDEFINED
        filled, rng = np.where(known, values, 0.0), np.random.default_rng(self.seed)
        means = []
        for weights in weights_of(n, resamples=self.resamples, rng=rng, clusters=self.groups):
            total = weights @ known.astype(np.float64)
            some = total > 0
            means.append((weights[some] @ filled) / total[some])
        return value, percentile_interval(np.concatenate(means))


def _right(share: FloatArray, sides: FloatArray) -> FloatArray:
    """[k] 1 where the text that most people preferred is picked, 0.5 without an opinion."""
    picked = np.sign(np.nan_to_num(sides))
    return np.asarray(0.5 + 0.5 * picked * np.sign(share - 0.5))


def _line(
    name: str,
    opinion: Opinion,
    right: FloatArray,
    reference: FloatArray,
    votes: Votes,
    drawn: _Drawn,
) -> Line:
    decided = votes.share != 0.5
    accuracy, interval = drawn.mean(right, decided)
    gap, gap_interval = drawn.mean(reference - right, decided)
    same = right is reference
    held = np.nan_to_num(opinion.sides)[decided] != 0
    return Line(
        name=name,
        accuracy=accuracy,
        interval=interval,
        opinions=float(held.mean()) if len(held) else math.nan,
        gap=0.0 if same else gap,
        gap_interval=UNDEFINED if same else gap_interval,
        log_loss=_log_loss(opinion.chances, votes),
    )


def _log_loss(chances: FloatArray, votes: Votes) -> float:
    if len(chances) == 0 or np.isnan(chances).all():
        return math.nan
    p = np.clip(np.where(np.isnan(chances), 0.5, chances), LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    losses = -(votes.wins * np.log(p) + (votes.counts - votes.wins) * np.log(1.0 - p))
    return float(np.sort(losses).sum() / votes.counts.sum())


def _one_vote(
    pairs: Pairs,
    votes: Votes,
    opinion: Opinion,
    groups: IntArray,
    seed: int,
    resamples: int,
) -> OneVote | None:
    turned = pairs.first > pairs.second
    own = np.where(turned, 1.0 - pairs.outcomes, pairs.outcomes)
    counts, wins = votes.counts[votes.of] - 1.0, votes.wins[votes.of] - own
    known = (counts > 0) & (2.0 * wins != counts)
    if not known.any():
        return None
    others = np.where(known, wins / np.maximum(counts, 1.0), 0.5)
    mine, theirs = _right(others, own - 0.5), _right(others, opinion.sides[votes.of])
    drawn = _Drawn(groups[votes.of], seed, resamples)
    accuracy, interval = drawn.mean(mine, known)
    reference, _ = drawn.mean(theirs, known)
    gap, gap_interval = drawn.mean(theirs - mine, known)
    return OneVote(
        n=int(known.sum()),
        accuracy=accuracy,
        interval=interval,
        reference=reference,
        gap=gap,
        gap_interval=gap_interval,
    )
