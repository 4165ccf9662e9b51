"""Does choosing pay? People's rating of the output with the highest estimate for each source.

Dusek et al. (2017, section 1) name reranking as a use of estimates at runtime. What it is worth is
seen on rated outputs: beside the chosen one stand one at random and the best, which people know.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.evaluation.jackknife import WITHOUT_GROUP, Replicates, interval_of
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval

NEAR = 1e-6  # estimates of one text differ by less, from thread to thread and batch to batch


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
        gain_interval, share_interval: 95 %, of new items, by the jackknife of
            `refless.evaluation.jackknife`; NaN for one item.
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
    labels: Sequence[str], method: Replicates, *, by: str = "source"
) -> Reranking | None:
    """What choosing by estimates among outputs of one label is worth; None where all stand alone.

    Args:
        labels: [n] what outputs have in common; blank ones stand alone. They leave together.
        method: the estimator in the whole pool and without parts of it.
        by: name of the labels.
    """
    item = _numbered(labels)
    split = method.split
    n = int(item.max(initial=-1)) + 1
    if not n:
        return None

    def means(part: int, refitted: bool) -> FloatArray:
        rows = np.flatnonzero((item >= 0) & (split.part != part))
        if not len(rows):
            return np.full(3, math.nan)
        values = method.at(part, refitted)[WITHOUT_GROUP, rows]
        return np.asarray(
            np.mean(_of_items(item[rows], split.human[rows], values), axis=1)
        )

    parts = range(split.parts + 1)
    table = np.array(
        [[means(part, refitted) for part in parts] for refitted in (False, True)]
    )
    chosen, random, best = np.moveaxis(table, 2, 0)
    gain = chosen - random
    possible = best - random
    share = np.where(possible > 0, gain / np.where(possible > 0, possible, 1.0), np.nan)
    gained, (low, high) = (
        interval_of(values) if n > 1 else UNDEFINED for values in (gain, share)
    )
    return Reranking(
        by=by,
        n=n,
        chosen=float(chosen[0, 0]),
        random=float(random[0, 0]),
        best=float(best[0, 0]),
        gain=float(gain[0, 0]),
        gain_interval=gained,
        share=float(share[0, 0]),
        share_interval=(low, min(high, 1.0)),
    )


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
    human = human[order]
    values = np.where(np.isnan(values), -np.inf, values)[order]
    begins = np.flatnonzero(np.diff(item[order], prepend=-1))
    sizes = np.diff(begins, append=len(item))
    highest = np.maximum.reduceat(values, begins)
    slack = NEAR * np.maximum(1.0, np.abs(highest))
    equal = values >= np.repeat(highest - slack, sizes)
    chosen = np.add.reduceat(human * equal, begins) / np.add.reduceat(
        equal, begins, dtype=float
    )
    return (
        chosen,
        np.add.reduceat(human, begins) / sizes,
        np.maximum.reduceat(human, begins),
    )
