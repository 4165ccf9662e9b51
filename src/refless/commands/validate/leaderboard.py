"""Several predictions of the same human ratings, side by side, with intervals of differences."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refless.evaluation.baselines import CONSTANT
from refless.evaluation.differences import Difference
from refless.evaluation.jackknife import WITHOUT_GROUP, Replicates, difference, measured
from refless.stats.intervals import UNDEFINED, Interval

# of the texts: an estimator that covers fewer is not preferred to one that does
ENOUGH = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodLine:
    """One method on the texts for which it has a prediction.

    Attributes:
        name: of the method.
        n_scored: texts with a prediction; coverage: their share.
        spearman, mse: against the human ratings, with 95 % intervals.
        gain: Spearman of this method minus the reference's, on the texts that both predict; 0 for
            the reference itself; gain_interval: 95 %.
        saved: mean squared error of the reference minus this one's, likewise.
    """

    name: str
    n_scored: int
    coverage: float
    spearman: float
    spearman_interval: Interval
    mse: float
    mse_interval: Interval
    gain: float
    gain_interval: Interval
    saved: float
    saved_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """Methods on the same texts.

    Attributes:
        methods: one a method, in the order given; reference: the name that others are held against.
        baselines: names of those that are no estimators; scores: of those among them that are made
            of judges' scores, and of nothing else.
        n_drawn: groups that are held out together, or texts where each is held out alone.
    """

    methods: tuple[MethodLine, ...]
    reference: str
    baselines: tuple[str, ...]
    scores: tuple[str, ...]
    n_drawn: int

    @property
    def first(self) -> MethodLine:
        """The line that others are held against."""
        return next(line for line in self.methods if line.name == self.reference)

    @property
    def others(self) -> list[MethodLine]:
        """The other estimators."""
        used = {*self.baselines, self.reference}
        return [line for line in self.methods if line.name not in used]

    @property
    def rivals(self) -> list[MethodLine]:
        """The baselines, from the one that gains most over the reference on the same texts."""
        plain = [line for line in self.methods if line.name in self.baselines]
        return sorted(
            plain, key=lambda line: math.inf if math.isnan(line.gain) else -line.gain
        )

    @property
    def rival(self) -> MethodLine:
        """The first of them."""
        return self.rivals[0]

    @property
    def spared(self) -> tuple[float, Interval]:
        """The share of the mean rating's squared errors that the reference spares; 95 %."""
        for flat in self.methods:
            if flat.name == CONSTANT:
                low, high = flat.saved_interval
                return share_spared(self.first.mse, -flat.saved, (-high, -low))
        return math.nan, UNDEFINED

    @property
    def constant(self) -> MethodLine | None:
        """The mean rating, if its mean squared error is smaller than the reference's."""
        for line in self.rivals:
            if line.name == CONSTANT and line.saved > 0:
                return line
        return None


def share_spared(
    mse: float, saved: float, interval: Interval
) -> tuple[float, Interval]:
    """The share of a rival's squared errors that estimates spare, at most all, with its interval.

    Args:
        mse: of the estimates; saved, interval: the rival's less theirs, on the same texts.
    """
    whole = mse + saved
    if not whole > 0:
        return math.nan, UNDEFINED
    low, high = interval
    return saved / whole, (low / whole, min(high / whole, 1.0))


def leaderboard(
    estimators: Mapping[str, Replicates],
    judges: Mapping[str, Replicates],
    baselines: Mapping[str, Replicates],
    twins: Mapping[str, str],
) -> Leaderboard:
    """All methods, each held against the estimator to use: see `to_use`.

    Args:
        estimators, judges, baselines: by name, of one split.
        twins: estimators that read judges' scores, and each one's name if it does not.
    """
    table = against(estimators, judges, baselines, next(iter(estimators)))
    for _ in estimators:  # each one that takes the place has more to show for it
        best = to_use(table, twins)
        if best == table.reference:
            break
        table = against(estimators, judges, baselines, best)
    return table


def against(
    estimators: Mapping[str, Replicates],
    judges: Mapping[str, Replicates],
    baselines: Mapping[str, Replicates],
    reference: str,
) -> Leaderboard:
    """Agreement of each method, and what it gains over the estimator of that name."""
    methods = {**estimators, **judges, **baselines}
    base = methods[reference]
    lines = [_line(name, method, base) for name, method in methods.items()]
    return Leaderboard(
        methods=tuple(lines),
        reference=reference,
        baselines=(*judges, *baselines),
        scores=tuple(judges),
        n_drawn=len(np.unique(base.split.groups)),
    )


def _line(name: str, method: Replicates, base: Replicates) -> MethodLine:
    scored = ~np.isnan(method.at()[WITHOUT_GROUP])
    rho, rho_ends = measured("spearman", method)
    mse, mse_ends = measured("mse", method)
    gain = saved = Difference(measure="", value=0.0, interval=UNDEFINED)
    if method is not base:
        gain = difference("spearman", method, base)
        saved = difference("mse", base, method)
    return MethodLine(
        name=name,
        n_scored=int(scored.sum()),
        coverage=float(scored.mean()) if len(scored) else math.nan,
        spearman=rho,
        spearman_interval=rho_ends,
        mse=mse,
        mse_interval=mse_ends,
        gain=gain.value,
        gain_interval=gain.interval,
        saved=saved.value,
        saved_interval=saved.interval,
    )


def to_use(table: Leaderboard, twins: Mapping[str, str]) -> str:
    """The reference, unless another estimator with enough coverage is shown to rank texts better.

    If the reference has too few estimates itself, the one with most of them; if it ranks no texts,
    the one that does it best.

    Args:
        table: the comparison; twins: estimators that read judges' scores, and each one's name if
            it does not: the one to use if the scores change no rank.
    """
    estimators = [line for line in table.methods if line.name not in table.baselines]
    enough = [line for line in estimators if line.coverage >= ENOUGH]
    if table.first not in enough:
        return max(enough or estimators, key=lambda line: line.coverage).name
    agreeing = [line for line in enough if line.spearman_interval[0] > 0]
    if agreeing and math.isnan(table.first.spearman):
        return max(agreeing, key=lambda line: line.spearman).name
    better = [line for line in enough if line.gain_interval[0] > 0]
    if better:
        return max(better, key=lambda line: line.gain).name
    twin = twins.get(table.reference)
    for line in enough:
        if line.name == twin and line.gain_interval == (0.0, 0.0):
            return line.name
    return table.reference
