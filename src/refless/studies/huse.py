"""HUSE: human and statistical evaluation in one number (Hashimoto, Zhang and Liang 2019).

Can a nearest-neighbours classifier tell people's texts from a model's, by how people rate a text
and how probable the model finds it? HUSE is twice the error of the best it can do left out: 1 where
the two cannot be told apart, 0 where they always can. HUSE-Q is the same with ratings alone
(quality), and HUSE-D = 1 + HUSE - HUSE-Q what the probabilities add to that (diversity).
"""

from dataclasses import dataclass

import numpy as np

from refless.errors import InputError, UsageError
from refless.records import BoolArray, FloatArray
from refless.stats.intervals import CELLS, UNDEFINED, Interval, percentile_interval
from refless.stats.resampling import RESAMPLES, weights_of

NEIGHBORS = 15
NEAR = 1e-9
FEWEST = 2  # texts on either side


@dataclass(frozen=True, slots=True, kw_only=True)
class Huse:
    """HUSE and its parts; NaN where undefined.

    Attributes:
        huse, quality, diversity: HUSE, HUSE-Q and HUSE-D; noise can take them a little past 1.
        huse_interval, quality_interval, diversity_interval: 95 %, over texts, the classifier being
            as it is.
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
    resamples: int = RESAMPLES,
) -> Huse:
    """HUSE of texts by people and by a model; the order of rows does not matter.

    Both features are divided by their standard deviation; the log-probability is taken per token.
    Each text is judged by all others that are no farther than the (k + 1)-th nearest; where these
    are evenly split it is taken for a person's. The published numbers come out only with the
    paper's ties: distances are equal where their floating-point numbers are, which among means of
    twenty ratings is partly chance, and changes with the raters' units.

    Args:
        ratings: [n] mean human ratings, or estimates of them; NaN where there is none.
        log_probabilities: [n] of the text under the model; NaN where there is none.
        lengths: [n] number of tokens, positive.
        human: [n] whether a person wrote the text.
        neighbors: k, 15 as published.
        exact_ties: let distances within a share of 1e-9 count as equal, which no unit changes. On
            the paper's summaries HUSE-Q is then 0.60 instead of 0.58.
        seed, resamples: of the bootstrap behind the intervals.

    Raises:
        UsageError: k below 1.
        InputError: fewer than two texts by people or by the model, a length that is not positive.
    """
    if neighbors < 1:
        raise UsageError(f"HUSE needs 1 neighbour or more, got {neighbors}")
    known = ~np.isnan(ratings) & ~np.isnan(log_probabilities) & ~np.isnan(lengths)
    if (lengths[known] <= 0).any():
        raise InputError("a length is not positive", remedy="give lengths in tokens, 1 or more")
    n_human = int(human[known].sum())
    if min(n_human, int(known.sum()) - n_human) < FEWEST:
        raise InputError(
            f"HUSE compares people's texts with a model's; there are {n_human} and "
            f"{int(known.sum()) - n_human} with all that is needed",
            remedy="give two or more of each; see --human-label",
        )
    columns = np.stack([ratings[known], log_probabilities[known] / lengths[known]])
    order = np.lexsort((human[known], columns[1], columns[0]))
    # Contiguous, as the last digit of a sum depends on how it lies in memory.
    columns, label = np.ascontiguousarray(columns[:, order]), human[known][order]
    share = NEAR if exact_ties else 0.0
    both, quality = (_errors(c, label, neighbors, share) for c in (columns, columns[:1]))
    values = [2 * both, 2 * quality, 1 + 2 * (both - quality)]
    rng = np.random.default_rng(seed)
    intervals = _intervals(values, rng, resamples)
    return Huse(
        huse=float(values[0].mean()),
        huse_interval=intervals[0],
        quality=float(values[1].mean()),
        quality_interval=intervals[1],
        diversity=float(values[2].mean()),
        diversity_interval=intervals[2],
        n=len(label),
        n_human=n_human,
        n_left_out=len(ratings) - len(label),
        neighbors=neighbors,
    )


def _errors(columns: FloatArray, human: BoolArray, k: int, share: float) -> FloatArray:
    """[n] whether each text is taken for the other kind by its neighbours."""
    spread = columns.std(axis=1, keepdims=True)
    features = np.divide(columns, spread, out=np.zeros_like(columns), where=spread > 0)
    n = features.shape[1]
    errors, last = np.empty(n), min(k, n - 2)
    step = max(1, CELLS // n)
    for begin in range(0, n, step):
        rows = np.arange(begin, min(begin + step, n))
        off = np.sqrt(np.square(features[:, rows, None] - features[:, None, :]).sum(axis=0))
        off[np.arange(len(rows)), rows] = np.inf
        near = off <= np.partition(off, last, axis=1)[:, last, None] * (1 + share)
        taken_for_human = 2 * (near & human).sum(axis=1) >= near.sum(axis=1)
        errors[rows] = taken_for_human != human[rows]
    return errors


def _intervals(
    values: list[FloatArray], rng: np.random.Generator, resamples: int
) -> list[Interval]:
    n = len(values[0])
    if resamples < 1:
        return [UNDEFINED] * len(values)
    table = np.stack(values, axis=1)
    blocks = weights_of(n, resamples=resamples, rng=rng)
    drawn = [(weights[:, :, None] * table).sum(axis=1) / n for weights in blocks]
    means = np.concatenate(drawn)
    return [percentile_interval(means[:, i]) for i in range(len(values))]
