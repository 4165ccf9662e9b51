"""The alternative annotator test: may the estimator stand in for an annotator?

Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge". Each
annotator is left out in turn; on each of the texts, whoever is nearer to the remaining annotators'
ratings wins, the annotator or the estimator. The estimator stands in for an annotator where it
wins about as often, give or take the advantage epsilon that people keep for their trouble.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import RatedPool
from refless.evaluation.annotators import cells_of
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.corrections import benjamini_yekutieli

EPSILON = 0.1  # the paper's choice for crowd workers; 0.2 for experts, whose time costs more
LEVEL = 0.05
FEWEST_TEXTS = 30
TIE = 1e-12  # distances tie that differ by less, as a share of the largest square in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The estimator against one annotator.

    Attributes:
        name: the annotator.
        n: texts that both judged and others rated too.
        advantage: share of them on which the estimator is no farther off (rho_f of the paper).
        p: one-sided, of the annotator winning more often by epsilon; NaN with fewer than 30 texts.
        p_corrected: after Benjamini and Yekutieli, over annotators.
        won: whether that is below 0.05.
    """

    name: str
    n: int
    advantage: float
    p: float
    p_corrected: float = math.nan
    won: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """The outcome of the test.

    Attributes:
        epsilon: share of texts that people get for nothing.
        n_annotators: annotators with 30 texts or more, who are counted.
        n_left_out: annotators with fewer.
        winning_rate: share of the counted annotators whom the estimator may stand in for (omega).
        advantage: chance that it is no farther off than an annotator (rho), over the counted ones.
        passed: whether the winning rate is one half or more; None where it is undefined.
        undefined: why there is no answer, or "".
        contests: one for each annotator, in the order of names.
    """

    epsilon: float
    n_annotators: int
    n_left_out: int
    winning_rate: float
    advantage: float
    passed: bool | None
    undefined: str
    contests: tuple[Contest, ...]


def alternative_test(
    pool: RatedPool, predicted: FloatArray, *, epsilon: float = EPSILON
) -> Alternative:
    """Whether predictions may stand in for the pool's annotators.

    Distance is the root mean square to the single ratings of the others (the paper's score for
    numbers). Texts without a prediction are left out: an estimator that abstains chooses its
    questions, so read coverage beside this. The t-test is the authors' own.

    Args:
        pool: the rated texts, with named annotators; three or more to mean anything.
        predicted: [n] predictions in the units of the pool's rating, made without the text's own
            ratings; NaN where undefined.
    """
    cells, who, text = cells_of(pool.ratings, len(pool))
    names = pool.ratings.annotators
    values = human_ratings(cells, len(who), scale=pool.scale) if len(who) else np.zeros(0)
    mine, theirs, tie, known = _distances(text, values, predicted)
    contests = [
        _contest(name, mine[rows], theirs[rows], tie[rows], epsilon)
        for number, name in enumerate(names)
        if len(rows := np.flatnonzero(known & (who == number)))
    ]
    corrected = benjamini_yekutieli(np.array([one.p for one in contests]))
    done = tuple(
        replace(one, p_corrected=float(p), won=bool(p < LEVEL))
        for one, p in zip(contests, corrected, strict=True)
    )
    return _outcome(done, epsilon, len(names))


def _outcome(contests: tuple[Contest, ...], epsilon: float, named: int) -> Alternative:
    counted = [one for one in contests if one.n >= FEWEST_TEXTS]
    n = len(counted)
    rate = sum(one.won for one in counted) / n if n else math.nan
    why = "the ratings do not name their annotators" if not named else ""
    if named and n < 2:
        why = f"fewer than two annotators share {FEWEST_TEXTS} estimated texts with others"
    return Alternative(
        epsilon=epsilon,
        n_annotators=n,
        n_left_out=len(contests) - n,
        winning_rate=math.nan if why else rate,
        advantage=math.nan if why else float(np.mean([one.advantage for one in counted])),
        passed=None if why else rate >= 0.5,
        undefined=why,
        contests=contests,
    )


def _distances(
    text: IntArray, values: FloatArray, predicted: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Mean squared distance to the others' ratings, by cell: the estimator's, the annotator's.

    The third is by how much they may differ and tie, whatever the unit of the ratings; the fourth
    tells in which cells there are others and a prediction.
    """
    n = len(predicted)
    middle = float(np.median(values)) if len(values) else 0.0
    values, predicted = values - middle, predicted - middle
    largest = np.square(predicted)
    np.fmax.at(largest, text, np.square(values))
    root = np.sqrt(largest)[text]
    tie = TIE * root * (root + abs(middle) / 1000)  # numbers far from 0 have fewer digits left
    count = np.bincount(text, minlength=n)[text] - 1
    spread = _pairwise(text, values, n)
    off = np.square(values - predicted[text])
    total = np.bincount(text, weights=off, minlength=n)
    with np.errstate(invalid="ignore", divide="ignore"):
        mine, theirs = (total[text] - off) / count, spread / count
    return mine, theirs, tie, (count > 0) & ~np.isnan(predicted[text])


def _pairwise(text: IntArray, values: FloatArray, n: int) -> FloatArray:
    """[cells] sum of squared differences to the other ratings of the same text."""
    count = np.bincount(text, minlength=n)
    middle = np.bincount(text, weights=values, minlength=n)[text] / count[text]
    off = values - middle
    squares = np.bincount(text, weights=np.square(off), minlength=n)[text]
    return np.asarray(squares + count[text] * np.square(off))


def _contest(
    name: str, mine: FloatArray, theirs: FloatArray, tie: FloatArray, epsilon: float
) -> Contest:
    won, lost = mine <= theirs + tie, theirs <= mine + tie
    gap = lost.astype(np.float64) - won
    return Contest(
        name=name,
        n=len(gap),
        advantage=float(won.mean()),
        p=_p_less(gap, epsilon) if len(gap) >= FEWEST_TEXTS else math.nan,
    )


def _p_less(gap: FloatArray, epsilon: float) -> float:
    """One-sided p-value of the mean being epsilon or more, by Student's t."""
    n, sd = len(gap), float(gap.std(ddof=1))
    if sd == 0:
        return 0.0 if gap[0] < epsilon else 1.0
    from scipy.special import stdtr

    return float(stdtr(n - 1, (gap.mean() - epsilon) / (sd / math.sqrt(n))))
