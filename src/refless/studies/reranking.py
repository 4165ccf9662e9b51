"""Does choosing pay? People's rating of the output with the highest estimate for each source.

Dusek et al. (2017, section 1) name reranking as a use of estimates at runtime. What it is worth is
seen on rated outputs: beside the chosen one stand one at random and the best, which people know.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.records import FloatArray, IntArray
from refless.stats.intervals import Interval, percentile_interval
from refless.stats.resampling import RESAMPLES, weights_of
from refless.studies.best_of import slack

BY = ("source", "item")  # what outputs to choose from have in common


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """People's ratings, means over the items that have several outputs.

    Attributes:
        by: `source` or `item`: what outputs to choose from have in common.
        n: how many of these have several outputs.
        chosen: of the output with the highest estimate. Among equal ones (up to a millionth), and
            where none has an estimate, one at random.
        random: of one at random.
        best: of the one that people rate highest.
        gain: chosen less random.
        share: gain / (best - random); NaN where all outputs of each item are rated alike.
        gain_interval, share_interval: 95 %, percentiles of resamples of items; NaN for one item.
    """

    by: str
    n: int
    chosen: float
    random: float
    best: float
    gain: float
    gain_interval: Interval
    share: float
    share_interval: Interval


def reranking(
    labels: Sequence[str],
    human: FloatArray,
    values: FloatArray,
    *,
    by: str = "source",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Reranking | None:
    """What choosing by `values` among outputs of one label is worth; None where all stand alone.

    Args:
        labels: [n] what outputs have in common; blank ones stand alone.
        human: [n] people's ratings, finite; values: [n] estimates, NaN where there is none.
        by: name of the labels; seed, resamples: of the bootstrap behind the intervals.
    """
    item = _numbered(labels)
    rows = np.flatnonzero(item >= 0)
    if not len(rows):
        return None
    return _reranking(by, *_of_items(item[rows], human[rows], values[rows]), seed, resamples)


def several(labels: Sequence[str]) -> int:
    """How many of the labels several outputs have; blank ones stand alone."""
    return sum(count > 1 for name, count in Counter(labels).items() if name)


def _numbered(labels: Sequence[str]) -> IntArray:
    """[n] number of each label in their order; -1 where it is blank or stands once."""
    counts = Counter(labels)
    names = sorted(name for name, count in counts.items() if name and count > 1)
    number = {name: i for i, name in enumerate(names)}
    return np.array([number.get(label, -1) for label in labels], dtype=np.int64)


def _of_items(
    item: IntArray, human: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each item the mean rating of what is chosen, of all its outputs, and the highest."""
    order = np.lexsort((values, human, item))  # sums do not depend on the order of rows
    human, values = human[order], np.where(np.isnan(values), -np.inf, values)[order]
    begins = np.flatnonzero(np.diff(item[order], prepend=-1))
    sizes = np.diff(begins, append=len(item))
    highest = np.maximum.reduceat(values, begins)
    equal = values >= np.repeat(highest - slack(highest), sizes)
    chosen = np.add.reduceat(human * equal, begins) / np.add.reduceat(equal, begins, dtype=float)
    return chosen, np.add.reduceat(human, begins) / sizes, np.maximum.reduceat(human, begins)


def _reranking(
    by: str, chosen: FloatArray, random: FloatArray, best: FloatArray, seed: int, resamples: int
) -> Reranking:
    gains, possible = chosen - random, best - random
    rng, n = np.random.default_rng(seed), len(chosen)
    blocks = weights_of(n, resamples=resamples if n > 1 else 0, rng=rng)
    columns = np.stack([gains, possible], axis=1) / n
    drawn = np.concatenate(
        [np.empty((0, 2)), *(np.einsum("bn,nk", weights, columns) for weights in blocks)]
    )
    return Reranking(
        by=by,
        n=n,
        chosen=float(chosen.mean()),
        random=float(random.mean()),
        best=float(best.mean()),
        gain=float(gains.mean()),
        gain_interval=percentile_interval(drawn[:, 0]),
        share=float(_share(gains.mean(), possible.mean())),
        share_interval=percentile_interval(_share(drawn[:, 0], drawn[:, 1])),
    )


def _share(gain: FloatArray, possible: FloatArray) -> FloatArray:
    """Gain as a share of what can be gained; NaN where that is nothing."""
    some = np.asarray(possible) > 0
    return np.where(some, gain / np.where(some, possible, 1.0), np.nan)
