"""HUSE: human and statistical evaluation in one number (Hashimoto, Zhang and Liang 2019).

Can a nearest-neighbours classifier tell people's texts from a model's, by how people rate a text
and how probable the model finds it? HUSE is twice the error of the best it can do left out: 1 where
the two cannot be told apart, 0 where they always can. HUSE-Q is the same with ratings alone
(quality), and HUSE-D = 1 + HUSE - HUSE-Q what the probabilities add to that (diversity).

People's texts and the model's weigh the same, however many there are of each: in votes, and in the
error. Where there are as many of both, as in the paper, that changes nothing.
"""

from dataclasses import dataclass

import numpy as np

from refless.evaluation.jackknife import interval_of
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.stats.intervals import CELLS, Interval

NEIGHBORS = 15
NEAR = 1e-9
FEWEST = 2  # texts on either side
PARTS = 20  # of the texts, without each of which all is computed again


@dataclass(frozen=True, slots=True, kw_only=True)
class Huse:
    """HUSE and its parts; NaN where undefined.

    Attributes:
        huse, quality, diversity: HUSE, HUSE-Q and HUSE-D; noise can take them a little past 1.
        huse_interval, quality_interval, diversity_interval: 95 %, over texts, which are judged and
            which judge others.
        n: texts with a rating (or an estimate) and a probability; n_human of them by people.
        n_left_out: texts without one of these.
        neighbors: k.
    """

    huse: float
    huse_interval: Interval
    quality: float
    quality_interval: Interval
    diversity: float
    diversity_interval: Interval
    n: int
    n_human: int
    n_left_out: int
    neighbors: int


def huse(
    ratings: FloatArray,
    log_probabilities: FloatArray,
    lengths: FloatArray,
    human: BoolArray,
    *,
    neighbors: int = NEIGHBORS,
    exact_ties: bool = False,
    seed: int = 0,
) -> Huse:
    """HUSE of texts by people and by a model; the order of rows does not matter.

    Both features are divided by their standard deviation; the log-probability is taken per token.
    Each text is judged by all others that are no farther than the (k + 1)-th nearest; where these
    are evenly split, each kind by its share, it is taken for a person's. The published numbers come
    out only with the paper's ties: distances are equal where their floating-point numbers are,
    which among means of twenty ratings is partly chance, and changes with the raters' units.

    Args:
        ratings: [n] mean human ratings, or estimates of them; NaN where there is none.
        log_probabilities: [n] of the text under the model; NaN where there is none.
        lengths: [n] number of tokens, positive.
        human: [n] whether a person wrote the text.
        neighbors: k, 15 as published.
        exact_ties: let distances within a share of 1e-9 count as equal, which no unit changes. On
            the paper's summaries HUSE-Q is then 0.60 instead of 0.58.
        seed: of the parts behind the intervals.

    Raises:
        UsageError: k below 1.
        InputError: fewer than two texts by people or by the model, a length that is not positive.
    """
    if neighbors < 1:
        raise UsageError(f"HUSE needs 1 neighbour or more, got {neighbors}")
    missing = np.isnan([ratings, log_probabilities, lengths]).any(axis=0)
    complete = ~missing
    n = int(complete.sum())
    if (lengths[complete] <= 0).any():
        raise InputError(
            "a length is not positive", remedy="give lengths in tokens, 1 or more"
        )
    n_human = int(human[complete].sum())
    if min(n_human, n - n_human) < FEWEST:
        raise InputError(
            f"HUSE compares people's texts with a model's; there are {n_human} and "
            f"{n - n_human} with all that is needed",
            remedy=f"give two or more of each; see {called('human_label')}",
        )
    per_token = log_probabilities[complete] / lengths[complete]
    columns = np.stack([ratings[complete], per_token])
    order = np.lexsort((human[complete], per_token, columns[0]))
    # Contiguous, as the last digit of a sum depends on how it lies in memory.
    columns = np.ascontiguousarray(columns[:, order])
    label = human[complete][order]
    share = NEAR if exact_ties else 0.0
    values = _over_parts(columns, label, _parts(label, seed), neighbors, share)
    (huse, of_huse), (quality, of_quality), (diversity, of_diversity) = map(
        _measured, *values
    )
    return Huse(
        huse=huse,
        huse_interval=_not_negative(of_huse),
        quality=quality,
        quality_interval=_not_negative(of_quality),
        diversity=diversity,
        diversity_interval=of_diversity,
        n=n,
        n_human=n_human,
        n_left_out=len(ratings) - n,
        neighbors=neighbors,
    )


def _not_negative(interval: Interval) -> Interval:
    low, high = interval
    return max(0.0, low), high


def _errors(columns: FloatArray, human: BoolArray, k: int, share: float) -> FloatArray:
    """[n] whether each text is taken for the other kind by its neighbours."""
    spread = columns.std(axis=1, keepdims=True)
    features = np.divide(columns, spread, out=np.zeros_like(columns), where=spread > 0)
    n = features.shape[1]
    n_human = int(human.sum())
    errors = np.empty(n)
    last = min(k, n - 2)
    step = max(1, CELLS // n)
    for begin in range(0, n, step):
        rows = np.arange(begin, min(begin + step, n))
        off = np.sqrt(
            np.square(features[:, rows, None] - features[:, None, :]).sum(axis=0)
        )
        off[np.arange(len(rows)), rows] = np.inf
        near = off <= np.partition(off, last, axis=1)[:, last, None] * (1 + share)
        people = (near & human).sum(axis=1)
        models = near.sum(axis=1) - people
        errors[rows] = (people * (n - n_human) >= models * n_human) != human[rows]
    return errors


def _parts(human: BoolArray, seed: int) -> IntArray:
    """[n] the part of each text; each part has as many of people's as any other, or one fewer."""
    rng = np.random.default_rng(seed)
    part = np.empty(len(human), dtype=np.int64)
    sides = [np.flatnonzero(human), np.flatnonzero(~human)]
    for rows in sides:
        part[rng.permutation(rows)] = np.arange(len(rows)) % min(
            PARTS, *map(len, sides)
        )
    return part


def _over_parts(
    columns: FloatArray, human: BoolArray, part: IntArray, k: int, share: float
) -> tuple[FloatArray, FloatArray]:
    """[3, 2, 1 + parts] HUSE and its parts of all texts and without each part, and their errors.

    Without a part as judged, and as they judge: as of `Replicates.table`.
    """

    def wrong(rows: BoolArray) -> FloatArray:
        chosen = np.ascontiguousarray(columns[:, rows])
        label = human[rows]
        both, quality = (_errors(one, label, k, share) for one in (chosen, chosen[:1]))
        return np.stack([both, quality, both - quality])

    errors = wrong(np.ones(len(human), dtype=np.bool_))
    values = [[_balanced(errors, human)] * 2]
    for one in range(int(part.max()) + 1):
        inside = part != one
        judged = _balanced(errors[:, inside], human[inside])
        judging = _balanced(wrong(inside), human[inside])
        values.append([judged, judging])
    counts = [(errors[:, side] != 0).sum(axis=1) for side in (human, ~human)]
    sizes = [int(side.sum()) for side in (human, ~human)]
    shares = [
        (count + 2) / (size + 4) for count, size in zip(counts, sizes, strict=True)
    ]
    least = sum(one * (1 - one) / size for one, size in zip(shares, sizes, strict=True))
    return np.moveaxis(np.array(values), (0, 1, 2), (2, 1, 0)), np.sqrt(least)


def _balanced(wrong: FloatArray, human: BoolArray) -> FloatArray:
    """[3] HUSE, HUSE-Q and HUSE-D of what is wrong, each kind of text weighing the same."""
    both, quality, apart = wrong[:, human].mean(axis=1) + wrong[:, ~human].mean(axis=1)
    return np.array([both, quality, 1 + apart])


def _measured(values: FloatArray, least: float) -> tuple[float, Interval]:
    """A number with its interval; the error is at least that of a share, which 0 has too."""
    return float(values[0, 0]), interval_of(values, least=least)
