"""One judge beside people on the same rows: agreement, and errors in the raters' units."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats import influence
from refless.stats.clusters import freedom_of
from refless.stats.correlation import pearson, ranks, spearman
from refless.stats.intervals import UNDEFINED, Interval, around
from refless.stats.prediction_powered import Answer, Cells, powered
from refless.stats.resampling import influence_error
from refless.stats.verdicts import (
    Estimate,
    ac1,
    alpha,
    cells_of,
    kappa,
    of_table,
    proportion,
)

FEWEST_GROUPS = 10  # whose spread tells how far a mean may lie off
OTHER_UNITS = "the judge's scores are not in the units of the ratings"
ALARM = 0.05
VERDICTS = {0.0, 1.0}

Correlation = Callable[[FloatArray, FloatArray], float]
Influence = Callable[[FloatArray, FloatArray], FloatArray]
CORRELATED: dict[str, tuple[Correlation, Influence]] = {
    "spearman": (spearman, influence.spearman),
    "pearson": (pearson, influence.pearson),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """What one judge and people said of the same rows, and the judge alone of others.

    Attributes:
        name: of the judge.
        human, judge: [n] ratings and scores, in the raters' units and the judge's.
        clusters: [n] rows that belong together.
        unlabelled, later: [m] scores of rows without a rating, and what belongs together there.
        scale: lowest and highest rating, if it is known.
        passing: from where on a rating, and a score, is a pass; None where nothing passes or fails.
        slices: [n] values by column; ids: [n] names of the texts.
        within: [n] systems or sources, inside which ranks are compared too.
        people: of each annotator the rows, the others' mean rating there, and the own ratings.
        mass: [n + m] how much of the outputs in use each row stands for; None for alike.
        shifted: whether scores of rows without a rating lie beyond those of rated rows.
        selected: whether the rated rows are shown to be no random draw from all.
    """

    name: str
    human: FloatArray
    judge: FloatArray
    clusters: IntArray
    unlabelled: FloatArray
    later: IntArray
    scale: Interval | None = None
    passing: float | None = None
    slices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    within: Mapping[str, Sequence[str]] = field(default_factory=dict)
    people: Sequence[tuple[IntArray, FloatArray, FloatArray]] = ()
    mass: FloatArray | None = None
    shifted: bool = False
    selected: bool = False

    def __len__(self) -> int:
        return len(self.human)

    @property
    def ends(self) -> Interval:
        """The lowest and the highest rating, as far as is known; those of verdicts are 0 and 1."""
        return ends_of(self.human, self.scale)

    @property
    def span(self) -> float:
        """How far two ratings can lie apart, as far as is known."""
        return self.ends[1] - self.ends[0]

    @property
    def same_units(self) -> bool:
        """Whether scores could be ratings."""
        return are_ratings(self.human, np.concatenate([self.judge, self.unlabelled]), self.scale)


def ends_of(human: FloatArray, scale: Interval | None) -> Interval:
    """The lowest and the highest rating, as far as is known; those of verdicts are 0 and 1."""
    if scale is not None:
        return scale
    if {*human.tolist()} <= VERDICTS:
        return 0.0, 1.0
    return float(human.min()), float(human.max())


def are_ratings(human: FloatArray, scores: FloatArray, scale: Interval | None) -> bool:
    """Whether scores could be ratings: none lies outside the scale, or far from the ratings.

    Scores from 0 to 1 beside ratings that are mostly higher are verdicts or shares.
    """
    low, high = ends_of(human, scale)
    beyond = 0.0 if scale else (high - low) / 2
    least, most = float(scores.min()), float(scores.max())
    shares = least >= 0 and most <= 1 < float(np.median(human))
    return low - beyond <= least and most <= high + beyond and not shares


def bars_of(
    human: FloatArray,
    votes: FloatArray,
    scores: FloatArray,
    scale: Interval | None,
    passing: float | None,
) -> tuple[float, float] | None:
    """From where on a rating, and a judge's score, is a pass; None where nothing passes or fails.

    Ratings of 0 and 1 are verdicts, and so are two other values that ratings and scores share.
    What is 0 or 1 has passed or failed already, whatever `passing` says of the other column.

    Args:
        human: [n] ratings; votes: those of single annotators; scores: the judge's, without NaN.
        scale: lowest and highest rating, if known; passing: what the user calls a pass, or None.
    """
    judged, values = {*scores.tolist()}, {*votes.tolist()}
    passed = values <= VERDICTS and scale in {None, (0.0, 1.0)}
    if not judged:
        return None
    if passing is None:
        if passed:
            return (0.5, 0.5) if min(judged) >= 0 and max(judged) <= 1 else None
        low, high = min(values), max(values)
        two = len(values) == 2 and judged <= values and scale in {None, (low, high)}
        return ((low + high) / 2,) * 2 if two else None
    if not passed and not judged <= VERDICTS and not are_ratings(human, scores, scale):
        return None
    middle = passing if 0 < passing <= 1 else 0.5
    return middle if passed else passing, middle if judged <= VERDICTS else passing


def verdicts(labels: Labels) -> tuple[BoolArray, BoolArray, BoolArray]:
    """What people passed, what the judge passed among that, and among the rows without a label."""
    at = math.inf if labels.passing is None else labels.passing
    return labels.human >= at, labels.judge >= at, labels.unlabelled >= at


def measured(labels: Labels, seed: int = 0) -> dict[str, Estimate]:
    """Agreement and errors by name; verdicts only where something passes or fails."""
    result: dict[str, Estimate] = {}
    if labels.passing is not None:
        human, judge, _ = verdicts(labels)
        n, clusters, cells = len(labels), labels.clusters, cells_of(human, judge)
        result = {
            "base_rate": proportion(human, clusters),
            "judge_rate": proportion(judge, clusters),
            "accuracy": proportion(human == judge, clusters),
            "tpr": proportion(judge, clusters, human),
            "tnr": proportion(~judge, clusters, ~human),
            "precision": proportion(human, clusters, judge),
            "kappa": of_table(kappa, cells, clusters, seed),
            "ac1": of_table(ac1, cells, clusters, seed),
            "alpha": of_table(lambda shares: alpha(shares, n), cells, clusters, seed),
        }
    if labels.passing is None or len({*labels.human.tolist()}) > 2:
        result |= _on_scale(labels)
    return result


def _on_scale(labels: Labels) -> dict[str, Estimate]:
    """Errors in the raters' units, and correlations."""
    human, judge, n = labels.human, labels.judge, len(labels)
    result: dict[str, Estimate] = {}
    for name in ("bias", "mae", "rmse", "quadratic_kappa"):
        result[name] = Estimate(value=math.nan, undefined=OTHER_UNITS, n=n)
    if labels.same_units and n:
        error = judge - human
        result["bias"] = shift_of(error, labels.clusters)
        result["mae"] = mean_of(np.abs(error), labels.clusters, least=0.0)
        square = mean_of(np.square(error), labels.clusters, least=0.0)
        low, high = np.sqrt(square.interval).tolist()
        result["rmse"] = Estimate(
            value=math.sqrt(square.value), interval=(low, high), n=n, undefined=square.undefined
        )
        result["quadratic_kappa"] = correlated(
            concordance, _concordance_influence, human, judge, labels.clusters
        )
    for name, functions in CORRELATED.items():
        result[name] = correlated(*functions, human, judge, labels.clusters)
    for name, values in labels.within.items():
        if 2 * len({*values}) <= n:
            result[f"within_{name}"] = _within(labels, values)
    return result


def _within(labels: Labels, values: Sequence[str]) -> Estimate:
    """Spearman of what is left of ranks when each group's mean is taken away."""
    group = np.unique(np.array(values, dtype=object).astype(str), return_inverse=True)[1]
    size = np.bincount(group)

    def left(column: FloatArray) -> FloatArray:
        rank = ranks(column)
        return np.asarray(rank - (np.bincount(group, rank) / size)[group])

    inside = left(labels.human), left(labels.judge)
    return correlated(*CORRELATED["pearson"], *inside, labels.clusters)


def of_annotators(labels: Labels, seed: int = 0) -> dict[str, Estimate]:
    """The same numbers of one annotator: what each said beside the mean of the others."""
    if not labels.people:
        return {}
    rows, others, mine = (np.concatenate(column) for column in zip(*labels.people, strict=True))
    nothing = np.zeros(0, dtype=np.int64)
    one = replace(
        labels, human=others, judge=mine, clusters=labels.clusters[rows], within={},
        unlabelled=np.zeros(0), later=nothing,
    )  # fmt: skip
    return measured(one, seed)


def mean_of(values: FloatArray, clusters: IntArray, least: float = -math.inf) -> Estimate:
    """A mean with its interval by Student's t over clusters; fewer than ten of them have none.

    Deviations of large clusters count for more (CR2; Bell and McCaffrey 2002).
    """
    n, codes = len(values), np.unique(clusters, return_inverse=True)[1]
    answer = contrast(values, np.ones(n, dtype=np.int64), clusters)
    groups = codes.max(initial=-1) + 1
    if groups < min(n, FEWEST_GROUPS):
        why = f"fewer than {FEWEST_GROUPS} groups of rows"
        return Estimate(value=answer.value, n=n, undefined=why)
    if answer.error > 0:
        squares = np.square(np.bincount(codes, values - answer.value))
        error = math.sqrt(float((squares / (1 - np.bincount(codes) / n)).sum())) / n
        answer = replace(answer, error=error, freedom=min(answer.freedom, freedom_of(squares)))
    low, high = answer.interval
    why = "all values are the same" if math.isnan(low) else ""
    return Estimate(value=answer.value, interval=(max(low, least), high), n=n, undefined=why)


def shift_of(values: FloatArray, clusters: IntArray) -> Estimate:
    """A mean of differences, most of which may be 0, with its interval.

    Four that are alike by chance are no proof. So the interval adds two clusters, a usual
    difference above and below 0, as Agresti and Coull (1998) add successes and failures.
    """
    codes = np.unique(clusters, return_inverse=True)[1]
    plain = mean_of(values, codes)
    if plain.undefined:
        return plain
    means = np.bincount(codes, values) / np.bincount(codes)
    usual = math.sqrt(float(np.square(means[means != 0]).mean()))
    groups, rows = len(means), max(1, round(len(values) / len(means)))
    wider = mean_of(
        np.append(values, np.repeat([usual, -usual], rows)),
        np.append(codes, np.repeat([groups, groups + 1], rows)),
    )
    lows, highs = zip(plain.interval, wider.interval, strict=True)
    return replace(plain, interval=(min(lows), max(highs)))


def unless_by_chance(estimate: Estimate, p: float) -> Estimate:
    """The same, with 0 in its interval unless a test says that it is not 0."""
    low, high = estimate.interval
    return estimate if p < ALARM else replace(estimate, interval=(min(low, -low), max(high, -high)))


def contrast(values: FloatArray, arm: IntArray, clusters: IntArray) -> Answer:
    """The mean of the rows of arm 1, less that of the rows of arm -1."""
    none, unknown = np.zeros(len(values)), np.full(len(values), math.nan)
    cells = Cells(arm=arm, human=values, beside=none, estimate=none, cluster=clusters,
                  probability=unknown)  # fmt: skip
    return powered(cells).alone


def concordance(human: FloatArray, judge: FloatArray) -> float:
    """Cohen's kappa with quadratic weights (1968): 1 - E (x - y)² / E of independent ones."""
    by_chance = float(np.var(human) + np.var(judge) + (human.mean() - judge.mean()) ** 2)
    error = float(np.mean(np.square(human - judge)))
    return 1 - error / by_chance if by_chance > 0 else math.nan


def _concordance_influence(human: FloatArray, judge: FloatArray) -> FloatArray:
    """[n] its derivative by each row's weight."""
    x, y = human - human.mean(), judge - judge.mean()
    gap = float(human.mean() - judge.mean())
    error = np.square(human - judge)
    chance = x * x + y * y + 2 * gap * (x - y)
    by_chance = float(np.var(human) + np.var(judge)) + gap**2
    slope = (1 - concordance(human, judge)) * (chance - chance.mean()) - error + error.mean()
    return np.asarray(slope / by_chance / len(human))


def correlated(
    value_of: Correlation,
    influence_of: Influence,
    human: FloatArray,
    judge: FloatArray,
    clusters: IntArray | None,
) -> Estimate:
    """A correlation of two columns [n] with the jackknife's interval, normal in Fisher's z."""
    n = len(human)
    value = value_of(human, judge) if n > 1 else math.nan
    if math.isnan(value) or not np.ptp(human) * np.ptp(judge):
        return Estimate(value=value, n=n, undefined="all scores, or all ratings, are the same")
    error = influence_error(influence_of(human, judge), clusters)
    ends = around(value, error / (1 - value * value) if abs(value) < 1 else 0.0)
    return Estimate(value=value, interval=UNDEFINED if math.isnan(error) else ends, n=n)


def errors_of(labels: Labels) -> FloatArray:
    """[n] score less rating; of scores in other units, after a straight line through the ratings.

    Where something passes, both are 1 or 0.
    """
    human, judge = labels.human, labels.judge
    if labels.passing is not None:
        human, judge = (column.astype(np.float64) for column in verdicts(labels)[:2])
    elif not labels.same_units:
        spread = float(np.var(judge))
        slope = float(np.mean((judge - judge.mean()) * human)) / spread if spread > 0 else 0.0
        judge = human.mean() + slope * (judge - judge.mean())
    return np.asarray(judge - human)
