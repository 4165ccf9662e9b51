"""One judge beside people on the same rows: agreement, and errors in the raters' units."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.evaluation.raters import Raters, Votes, extra_of, rated_coefficient
from refless.evaluation.scales import are_ratings, ends_of
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.answers import NOTHING_MORE, Answer, Estimate, Extra
from refless.stats.contrast import VERDICTS, contrast
from refless.stats.correlation import ranks
from refless.stats.intervals import Interval
from refless.stats.left_out import correlated, root_mean_square
from refless.stats.samples import NOBODY, Sample
from refless.stats.verdicts import ac1, alpha, cells_of, kappa, of_table

OTHER_UNITS = "the judge's scores are not in the units of the ratings"
ALARM = 0.05

Numbers = Callable[[FloatArray, FloatArray], FloatArray]  # human [k], judge [k] -> [k]
Measure = Callable[[FloatArray], FloatArray]  # shares [..., 4] of the table of verdicts -> [...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AllRows:
    """All rows that are asked about, with a rating or a score, or without.

    Attributes:
        human, judge: [N] ratings and scores, NaN where there is none.
        unit: [N] what was drawn as a whole.
        votes: single ratings.
        mass: [N] how much of the outputs in use each row stands for; None for alike.
        raters: who rated which of them; None if that is not known.
    """

    human: FloatArray
    judge: FloatArray
    unit: IntArray
    votes: Votes
    mass: FloatArray | None = None
    raters: Raters | None = None

    def as_verdicts(self, bars: tuple[float, float]) -> "AllRows":
        """The share of each text's single ratings that pass, and whether its score does."""
        of_people, of_judge = bars
        return replace(
            self,
            human=self.votes.passing(len(self.human), of_people),
            judge=passed(self.judge, of_judge),
            raters=passing_raters(self.raters, of_people),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """What one judge and people said of the same rows, and of all others.

    Attributes:
        name: of the judge.
        human, judge: [n] ratings and scores, in the raters' units and the judge's.
        unit: [n] what was drawn as a whole.
        votes: single ratings of these rows; raters: who gave them, None if that is not known.
        every: all rows, those with a rating or a score alone too.
        scale: lowest and highest rating, if it is known.
        passing: from where on a rating, and a score, is a pass; None where nothing passes or fails.
        passes: [n] share of each row's single ratings that pass; empty where nothing does.
        slices: [n] values by column; ids: [n] names of the texts.
        within: [n] systems or sources, inside which ranks are compared too.
        people: of each annotator the rows, the others' mean rating there, and the own ratings.
        shifted: whether scores of rows without a rating lie beyond those of rated rows.
        selected: whether the rated rows are shown to be no random draw from all.
    """

    name: str
    human: FloatArray
    judge: FloatArray
    unit: IntArray
    votes: Votes
    every: AllRows
    raters: Raters | None = None
    scale: Interval | None = None
    passing: float | None = None
    passes: FloatArray = field(default_factory=lambda: np.zeros(0))
    slices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    within: Mapping[str, Sequence[str]] = field(default_factory=dict)
    people: Sequence[tuple[IntArray, FloatArray, FloatArray]] = ()
    shifted: bool = False
    selected: bool = False

    @property
    def unlabelled(self) -> FloatArray:
        """[m] scores of rows without a rating."""
        alone = np.isnan(self.every.human) & ~np.isnan(self.every.judge)
        return self.every.judge[alone]

    def as_verdicts(self, bars: tuple[float, float]) -> "Labels":
        """The same with passes: from the first bar on a rating is one, from the second a score.

        A row passes if the mean of its ratings does; the share of passes counts single ratings.
        """
        of_people, of_judge = bars
        every = self.every.as_verdicts(bars)
        passes = self.votes.passing(len(self), of_people)
        if of_people == of_judge:
            return replace(self, every=every, passes=passes, passing=of_people)
        people = [
            (rows, passed(means, of_people), passed(ratings, of_people))
            for rows, means, ratings in self.people
        ]
        return replace(
            self,
            human=passed(self.human, of_people),
            judge=passed(self.judge, of_judge),
            raters=passing_raters(self.raters, of_people),
            every=every,
            people=people,
            passes=passes,
            scale=None,
            passing=0.5,
        )

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
    def reach(self) -> float | None:
        """The largest error that there can be; None if no scale is known and all are equal."""
        if self.scale is not None:
            return self.span
        seen = float(np.abs(self.judge - self.human).max(initial=0.0))
        return max(self.span, seen) or None

    @property
    def same_units(self) -> bool:
        """Whether scores could be ratings."""
        return are_ratings(self.human, np.concatenate([self.judge, self.unlabelled]), self.scale)


def passed(column: FloatArray, bar: float) -> FloatArray:
    """1 from the bar on, else 0; NaN stays."""
    return np.where(np.isnan(column), math.nan, (column >= bar).astype(np.float64))


def passing_raters(raters: Raters | None, bar: float) -> Raters | None:
    """The raters with their single verdicts."""
    return raters and replace(raters, rating=passed(raters.rating, bar))


def verdicts(labels: Labels) -> tuple[BoolArray, BoolArray, BoolArray]:
    """What people passed, what the judge passed among that, and among the rows without a label."""
    at = math.inf if labels.passing is None else labels.passing
    return labels.human >= at, labels.judge >= at, labels.unlabelled >= at


def measured(labels: Labels, seed: int = 0) -> dict[str, Estimate]:
    """Agreement and errors by name; verdicts only where something passes or fails."""
    result: dict[str, Estimate] = {}
    if labels.passing is not None:
        result = _of_verdicts(labels, labels.passing, seed)
    if labels.passing is None or len({*labels.human.tolist()}) > 2:
        result |= _on_scale(labels)
    return result


RATES = {  # cells of the table that count, and those among which they are counted
    "judge_rate": ((0, 1), (0, 1, 2, 3)),
    "accuracy": ((0, 3), (0, 1, 2, 3)),
    "tpr": ((0,), (0, 2)),
    "tnr": ((3,), (1, 3)),
    "precision": ((0,), (0, 1)),
}
JUDGED = ({0, 1, 2, 3}, {0, 1})  # all rows, and what the judge passes


def _of_verdicts(labels: Labels, bar: float, seed: int) -> dict[str, Estimate]:
    """Rates, and agreement beyond chance."""
    n = len(labels)
    tables: dict[str, Measure] = {
        "kappa": kappa,
        "ac1": ac1,
        "alpha": lambda shares: alpha(shares, n),
    }
    cells = cells_of(labels.human >= bar, labels.judge >= bar)
    return {
        "base_rate": Estimate.of(share_of_passes(labels), n),
        **{name: _rate(labels, cells, bar, *RATES[name]) for name in RATES},
        **{
            name: of_table(measure, cells, labels.unit, seed, _extra(labels, measure, bar))
            for name, measure in tables.items()
        },
    }


def _rate(
    labels: Labels, cells: IntArray, bar: float, hits: Sequence[int], among: Sequence[int]
) -> Estimate:
    """The share of some cells of the table among others."""
    rows = np.flatnonzero(np.isin(cells, among))
    values = np.isin(cells[rows], hits).astype(np.float64)
    unit = labels.unit[rows]
    if {*among} in JUDGED and labels.raters is not None:  # whoever rates a row, it is in or out
        raters = labels.raters.among(rows, len(labels))
        judge = labels.judge[rows][raters.text]
        single = np.isin(cells_of(raters.rating >= bar, judge >= bar), hits)
        answer = mean_answer(values, unit, VERDICTS, raters, single.astype(np.float64))
        return Estimate.of(answer, len(rows))

    def share(shares: FloatArray) -> FloatArray:
        below = shares[list(among)].sum()
        return np.asarray(shares[list(hits)].sum() / below if below > 0 else math.nan)

    answer = mean_answer(values, unit, VERDICTS).with_extra(_extra(labels, share, bar))
    return Estimate.of(answer, len(rows))


def _extra(labels: Labels, measure: Measure, bar: float) -> Extra:
    """What raters add to the variance of a measure of the table of verdicts."""

    def number(human: FloatArray, judge: FloatArray) -> float:
        counts = np.bincount(cells_of(human >= bar, judge >= bar), minlength=4)
        return float(measure(counts / len(human)))

    return extra_of(labels.raters, labels.judge, number)


def share_of_passes(labels: Labels) -> Answer:
    """The mean share of single verdicts that pass."""
    raters = labels.raters
    single = None if raters is None else passed(raters.rating, labels.passing or 0.0)
    return mean_answer(labels.passes, labels.unit, VERDICTS, raters, single)


def rate_gap(labels: Labels) -> Answer:
    """The judge's share of passes less people's, on the same rows."""
    bar = labels.passing or 0.0
    rows = np.arange(len(labels))
    raters = labels.raters
    sample = Sample.of(
        np.concatenate([labels.passes, passed(labels.judge, bar)]),
        np.tile(labels.unit, 2),
        arm=np.repeat(np.array([-1, 1]), len(labels)),
        item=np.tile(rows, 2),
        shares=NOBODY if raters is None else raters.shares,
    )
    severity = None if raters is None else raters.severity(passed(raters.rating, bar))
    return contrast(sample, scale=VERDICTS, severity=severity).alone


def _on_scale(labels: Labels) -> dict[str, Estimate]:
    """Errors in the raters' units, and correlations."""
    n = len(labels)
    result: dict[str, Estimate] = {}
    for name in ("bias", "mae", "rmse", "quadratic_kappa"):
        result[name] = Estimate(value=math.nan, undefined=OTHER_UNITS, n=n)
    if labels.same_units and n:
        reach = labels.reach
        both_ways = None if reach is None else (-reach, reach)
        one_way = None if reach is None else (0.0, reach)
        result["bias"] = mean_number(labels, lambda y, x: x - y, scale=both_ways)
        result["mae"] = mean_number(labels, lambda y, x: np.abs(x - y), scale=one_way)
        result["rmse"] = _rmse(labels)
        result["quadratic_kappa"] = _coefficient(labels, "quadratic_kappa")
    for name in ("spearman", "pearson"):
        result[name] = _coefficient(labels, name)
    for name, values in labels.within.items():
        if 2 * len({*values}) <= n:
            result[f"within_{name}"] = _within(labels, values)
    return result


def _rmse(labels: Labels) -> Estimate:
    """The root of the mean squared error, with units and raters as what was drawn."""
    error = labels.judge - labels.human
    squares = np.square(error)
    reach = labels.reach
    scale = None if reach is None else (0.0, reach**2)
    plain = mean_answer(squares, labels.unit, scale)
    if labels.raters is None:
        return root_mean_square(error, labels.unit, plain)
    raters = labels.raters
    single = np.square(labels.judge[raters.text] - raters.rating)
    mean = mean_answer(squares, labels.unit, scale, raters, single)
    added = max(mean.error**2 - plain.error**2, 0.0)
    extra = NOTHING_MORE
    if added > 0:
        extra = Extra(variance=added, freedom=max(raters.severity(single).freedom - 0.5, 1.0))
    return root_mean_square(error, labels.unit, mean, extra)


def _coefficient(labels: Labels, name: str) -> Estimate:
    """A coefficient of scores and ratings, with units and raters as what was drawn."""
    return rated_coefficient(name, labels.human, labels.judge, labels.unit, labels.raters)


def _within(labels: Labels, values: Sequence[str]) -> Estimate:
    """Spearman of what is left of ranks when each group's mean is taken away."""
    group = np.unique(np.array(values, dtype=object).astype(str), return_inverse=True)[1]
    size = np.bincount(group)

    def left(column: FloatArray) -> FloatArray:
        rank = ranks(column)
        return np.asarray(rank - (np.bincount(group, rank) / size)[group])

    return correlated("pearson", left(labels.human), left(labels.judge), labels.unit)


def of_annotators(labels: Labels, seed: int = 0) -> dict[str, Estimate]:
    """The same numbers of one annotator: what each said beside the mean of the others."""
    if not labels.people:
        return {}
    rows, others, mine = (np.concatenate(column) for column in zip(*labels.people, strict=True))
    one = replace(
        labels,
        human=others,
        judge=mine,
        unit=labels.unit[rows],
        raters=raters_of_people(labels.people, rows, others),
        passes=passed(others, labels.passing or 0.0),
        within={},
    )
    return measured(one, seed)


def raters_of_people(
    people: Sequence[tuple[IntArray, FloatArray, FloatArray]], rows: IntArray, values: FloatArray
) -> Raters:
    """Each annotator as a rater of a row of its own for each text, of which `rows` tell texts."""
    counts = [len(texts) for texts, _, _ in people]
    return Raters(
        text=np.arange(len(rows)), rater=np.repeat(np.arange(len(people)), counts), rating=values
    )


def mean_number(labels: Labels, of: Numbers, scale: Interval | None) -> Estimate:
    """The mean of a number of each row, with units and raters as what was drawn.

    Args:
        labels: the rows.
        of: the number of a rating and a score; of single ratings it tells how raters differ.
        scale: lowest and highest number that there can be, if that is known.
    """
    values = of(labels.human, labels.judge)
    raters = labels.raters
    single = None if raters is None else of(raters.rating, labels.judge[raters.text])
    return Estimate.of(mean_answer(values, labels.unit, scale, raters, single), len(labels))


def mean_answer(
    values: FloatArray,
    unit: IntArray,
    scale: Interval | None,
    raters: Raters | None = None,
    single: FloatArray | None = None,
) -> Answer:
    """The mean of values [n], by units and by raters if they are known.

    Args:
        values: [n]; unit: [n] what was drawn as a whole; scale: lowest and highest value.
        raters: who rated the rows; single: [k] the value by each of their ratings.
    """
    if not len(values):
        return Answer(value=math.nan, untold="nothing is rated")
    known = raters is not None and single is not None
    shares = raters.shares if raters is not None and known else NOBODY
    severity = raters.severity(single) if raters is not None and single is not None else None
    sample = Sample.of(values, unit, shares=shares)
    return contrast(sample, scale=scale, severity=severity).alone


def single_errors(labels: Labels, errors: FloatArray) -> FloatArray:
    """[k] the error of each row's score beside each of its single ratings.

    Args:
        labels: of raters who are known; errors: [n] as of `errors_of`.
    """
    raters = labels.raters
    if raters is None:
        return np.zeros(0)
    if labels.passing is None:
        return np.asarray((errors + labels.human)[raters.text] - raters.rating)
    judge = passed(labels.judge, labels.passing)
    return np.asarray(judge[raters.text] - passed(raters.rating, labels.passing))


def errors_of(labels: Labels) -> FloatArray:
    """[n] score less rating; of scores in other units, after a straight line through the ratings.

    Where something passes: 1 or 0 less the share of single ratings that pass.
    """
    human, judge = labels.human, labels.judge
    if labels.passing is not None:
        return passed(judge, labels.passing) - labels.passes
    if not labels.same_units:
        spread = float(np.var(judge))
        slope = float(np.mean((judge - judge.mean()) * human)) / spread if spread > 0 else 0.0
        judge = human.mean() + slope * (judge - judge.mean())
    return np.asarray(judge - human)
