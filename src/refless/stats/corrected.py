"""A mean from few labels and many verdicts of a judge: its corrections, each with an interval.

Labels must be a random draw of all rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import LEVEL, quantile, student
from refless.stats.prediction_powered import Cells, powered
from refless.stats.verdicts import DRAWS, Estimate, share_of

FEWEST_EACH = 15  # clusters with labelled passes, and with fails, from which an error is believed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """What people and a judge said of n rows, and the judge alone of m others.

    Attributes:
        human, judge: [n] ratings and scores, or verdicts as 1 and 0; unlabelled: [m] scores.
        clusters: [n], later: [m] labels of rows that belong together.
        mass: [n + m] how much of all that is asked about each row stands for; None for alike.
    """

    human: FloatArray
    judge: FloatArray
    unlabelled: FloatArray
    clusters: IntArray
    later: IntArray
    mass: FloatArray | None = None

    @property
    def scores(self) -> FloatArray:
        """[n + m] the judge's, of all rows."""
        return np.concatenate([self.judge, self.unlabelled])

    @property
    def together(self) -> IntArray:
        """[n + m] clusters of all rows."""
        return np.concatenate([self.clusters, self.later])

    def share(self, outcome: FloatArray, where: FloatArray) -> tuple[float, float]:
        """The share of an outcome [n] among some labelled rows, and the effective size behind."""
        rows = np.flatnonzero(where)
        mass = None if self.mass is None else self.mass[rows]
        return share_of(outcome[rows], self.clusters[rows], mass)


def rogan_gladen(sample: Sample) -> Estimate:
    """The share of passes, (p + TNR - 1) / (TPR + TNR - 1), p the judge's share of passes.

    Rogan & Gladen 1978, with the interval of Lang & Reiczigel 2014, at effective sizes.
    """
    human, judge = sample.human, sample.judge
    if not human.any() or human.all():
        return Estimate(value=math.nan, undefined="the labels have one verdict only")
    parts = [
        sample.share(judge, human),
        sample.share(1 - judge, 1 - human),
        share_of(sample.scores, sample.together, sample.mass),
    ]
    (tpr, tnr, rate), sizes = zip(*parts, strict=True)
    if tpr + tnr <= 1:
        return Estimate(value=math.nan, undefined="the judge is no better than chance")
    value = float(np.clip((rate + tnr - 1) / (tpr + tnr - 1), 0, 1))
    low, high = lang_reiczigel((tpr, tnr, rate), sizes)
    return Estimate(value=value, interval=(min(low, value), max(high, value)), n=len(human))


def lang_reiczigel(
    rates: tuple[float, float, float], sizes: Sequence[float]
) -> tuple[float, float]:
    """The interval of Lang & Reiczigel (2014) for (TPR, TNR, the judge's share) of these sizes."""
    z = quantile(LEVEL)
    (tpr, n_tpr), (tnr, n_tnr) = (
        ((rate * size + 1) / (size + 2), size + 2)
        for rate, size in zip(rates[:2], sizes, strict=False)
    )
    n = sizes[2] + z * z
    rate, slope = (rates[2] * sizes[2] + z * z / 2) / n, tpr + tnr - 1
    if slope <= 0:
        return 0.0, 1.0
    share = (rate + tnr - 1) / slope
    of_tpr, of_tnr = tpr * (1 - tpr) / n_tpr, tnr * (1 - tnr) / n_tnr
    shift = 2 * z * z * (share * of_tpr - (1 - share) * of_tnr)
    variance = rate * (1 - rate) / n + share**2 * of_tpr + (1 - share) ** 2 * of_tnr
    half = z * math.sqrt(variance) / slope
    low, high = np.clip([share - half + shift, share + half + shift], 0, 1).tolist()
    return low, high


def by_verdict(sample: Sample, seed: int = 0) -> Estimate:
    """The share of passes: that of the labels under each verdict, weighted by the judge's shares.

    Double sampling (Tenenbein 1970), the likelihood's own answer; its interval is the middle of
    what Jeffreys' priors of the three shares give, at effective sizes.
    """
    human, judge = sample.human, sample.judge
    if not judge.any() or judge.all():
        return Estimate(
            value=math.nan, undefined="the judge gave the labelled rows one verdict only"
        )
    rng = np.random.default_rng(seed)
    shares, drawn = [], []
    for share, size in (
        share_of(sample.scores, sample.together, sample.mass),
        sample.share(human, judge),
        sample.share(human, 1 - judge),
    ):
        wide = size * (quantile(LEVEL) / student(max(size - 1, 1.0))) ** 2
        shares.append(share)
        drawn.append(rng.beta(share * wide + 0.5, (1 - share) * wide + 0.5, DRAWS))
    (rate, right, missed), (rates, rights, misses) = shares, drawn
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(rates * rights + (1 - rates) * misses, [tail, 1 - tail]).tolist()
    value = rate * right + (1 - rate) * missed
    return Estimate(value=value, interval=(min(low, value), max(high, value)), n=len(human))


def ppi_plus(human: FloatArray, judge: FloatArray, unlabelled: FloatArray) -> tuple[float, float]:
    """A mean and its standard error by PPI++ (Angelopoulos, Duchi & Zrnic 2023), lambda in [0, 1].

    Args:
        human, judge: [n] ratings and scores of labelled rows; unlabelled: [m] scores of the others.
    """
    n, m = len(human), len(unlabelled)
    spread = (1 + n / m) * float(np.var(np.concatenate([judge, unlabelled]), ddof=1))
    cov = float(np.mean((human - human.mean()) * (judge - judge.mean())))
    share = min(max(cov / spread, 0.0), 1.0) if spread > 0 else 0.0
    value = share * float(unlabelled.mean()) + float((human - share * judge).mean())
    error = math.sqrt(
        share**2 * float(np.var(unlabelled)) / m + float(np.var(human - share * judge)) / n
    )
    return value, error


def by_ppi_plus(sample: Sample) -> Estimate:
    """`ppi_plus` with an interval by Student's t, where rows are independent."""
    human, every = sample.human, sample.together
    if sample.mass is not None:
        return Estimate(value=math.nan, undefined="rows count unlike, which PPI++ does not know")
    if len({*every.tolist()}) < len(every):
        return Estimate(value=math.nan, undefined="rows belong together, which PPI++ does not know")
    value, error = ppi_plus(human, sample.judge, sample.unlabelled)
    if few := _too_few(human, sample.clusters):
        return Estimate(value=value, n=len(human), undefined=few)
    n = len(human)  # the slope was found on these
    half = student(n - 2) * error * math.sqrt(n / (n - 2))
    return Estimate(value=value, interval=(value - half, value + half), n=len(human))


def as_compared(sample: Sample) -> tuple[Estimate, Estimate]:
    """The mean by labels alone, and as `refless compare` corrects it by the judge's scores."""
    n, m = len(sample.human), len(sample.unlabelled)
    cells = Cells(
        arm=np.ones(n + m, dtype=np.int64),
        human=np.concatenate([sample.human, np.full(m, math.nan)]),
        beside=sample.scores,
        estimate=sample.scores,
        cluster=sample.together,
        probability=np.full(n + m, math.nan),
        mass=np.ones(n + m) if sample.mass is None else sample.mass,
    )
    answers, few = powered(cells), _too_few(sample.human, sample.clusters)
    alone, both = (
        Estimate(
            value=answer.value,
            interval=(math.nan, math.nan) if few else answer.interval,
            n=n,
            undefined=few,
        )
        for answer in (answers.alone, answers.both)
    )
    return alone, both


def _too_few(human: FloatArray, clusters: IntArray) -> str:
    """Why an interval by Student's t is not believed; "" if it is."""
    values = np.unique(human)
    if len(values) < 2:
        return "all labels are the same"
    apart = min(len(np.unique(clusters[human == value])) for value in values[:2])
    if len(values) == 2 and apart < FEWEST_EACH:
        return f"fewer than {FEWEST_EACH} independent labels of one of the two verdicts"
    return ""
