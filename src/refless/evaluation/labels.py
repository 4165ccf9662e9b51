"""One judge beside people on the same rows: agreement, and errors in the raters' units."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.evaluation.raters import Raters, Votes
from refless.evaluation.scales import are_ratings, ends_of
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.answers import UNKNOWN, Answer, Estimate
from refless.stats.contrast import contrast
from refless.stats.intervals import VERDICTS, Interval
from refless.stats.samples import NOBODY, Sample

OTHER_UNITS = "the judge's scores are not in the units of the ratings"
ALARM = 0.05
LEAST_ALIKE = 0.05  # correlation by which a line is drawn; of a smaller one this

Numbers = Callable[[FloatArray, FloatArray], FloatArray]  # human [k], judge [k] -> [k]
# shares [..., 4] of the table of verdicts -> [...]
Measure = Callable[[FloatArray], FloatArray]


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

    @property
    def unlabelled(self) -> FloatArray:
        """[m] scores of rows without a rating."""
        return self.judge[np.isnan(self.human) & ~np.isnan(self.judge)]

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
    """The scores of one judge and the ratings of people, of the same rows and of all others.

    Attributes:
        name: of the judge.
        human, judge: [n] ratings and scores, in the raters' units and the judge's.
        unit: [n] what was drawn as a whole.
        votes: single ratings of these rows; raters: who gave them, None if that is not known.
        unlabelled: [m] scores of rows without a rating, in the units of `judge`.
        every: all rows, those with a rating or a score alone too; verdicts where something passes.
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
    unlabelled: FloatArray
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
            unlabelled=passed(self.unlabelled, of_judge),
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
        """The largest difference of two ratings, as far as is known."""
        return self.ends[1] - self.ends[0]

    @property
    def reach(self) -> float | None:
        """The largest error that there can be; None if no scale is known and all are equal."""
        if self.scale is not None:
            return self.span
        largest = float(np.abs(self.judge - self.human).max(initial=0.0))
        return max(self.span, largest) or None

    @property
    def same_units(self) -> bool:
        """Whether scores could be ratings."""
        scores = np.concatenate([self.judge, self.unlabelled])
        return are_ratings(self.human, scores, self.scale)


def passed(column: FloatArray, bar: float) -> FloatArray:
    """1 from the bar on, else 0; NaN stays."""
    return np.where(np.isnan(column), math.nan, (column >= bar).astype(np.float64))


def passing_raters(raters: Raters | None, bar: float) -> Raters | None:
    """The raters with their single verdicts."""
    return raters and replace(raters, rating=passed(raters.rating, bar))


def verdicts(labels: Labels) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Passes by people, by the judge among the same rows, and among the rows without a label."""
    at = math.inf if labels.passing is None else labels.passing
    return labels.human >= at, labels.judge >= at, labels.unlabelled >= at


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


def raters_of_people(
    people: Sequence[tuple[IntArray, FloatArray, FloatArray]],
    rows: IntArray,
    values: FloatArray,
) -> Raters:
    """Each annotator as a rater of a row of its own for each text, of which `rows` tell texts."""
    counts = [len(texts) for texts, _, _ in people]
    return Raters(
        text=np.arange(len(rows)),
        rater=np.repeat(np.arange(len(people)), counts),
        rating=values,
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
    answer = mean_answer(values, labels.unit, scale, raters, single)
    return Estimate.of(answer, len(labels))


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
        return UNKNOWN
    shares = NOBODY
    severity = None
    if raters is not None and single is not None:
        shares = raters.shares
        severity = raters.severity(single)
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
        return (errors + labels.human)[raters.text] - raters.rating
    judge = passed(labels.judge, labels.passing)
    return judge[raters.text] - passed(raters.rating, labels.passing)


def errors_of(labels: Labels) -> FloatArray:
    """[n] score less rating; of scores in other units, after a straight line through the ratings.

    Where something passes: 1 or 0 less the share of single ratings that pass.
    """
    if labels.passing is not None:
        return passed(labels.judge, labels.passing) - labels.passes
    if labels.same_units:
        return labels.judge - labels.human
    return _after_line(labels, _correlation(labels))


def extreme_errors(labels: Labels) -> tuple[FloatArray, ...]:
    """The errors of which an error of some rows must hold: of other units, by two straight lines.

    The line that predicts ratings from scores puts all noise on the scores' side, the one that
    predicts scores from ratings on the ratings' side: what both show is there wherever it lies.
    """
    errors = errors_of(labels)
    if labels.passing is not None or labels.same_units:
        return (errors,)
    alike = max(_correlation(labels), LEAST_ALIKE)
    return (errors, _after_line(labels, 1 / alike))


def _correlation(labels: Labels) -> float:
    """Pearson's correlation of scores and ratings; 0 if either are all equal."""
    spread = float(np.std(labels.judge) * np.std(labels.human))
    centred = labels.judge - labels.judge.mean()
    return float(np.mean(centred * labels.human)) / spread if spread > 0 else 0.0


def _after_line(labels: Labels, steeper: float) -> FloatArray:
    """The errors by a line that is so many times as steep as the ratio of the spreads."""
    centred = labels.judge - labels.judge.mean()
    spread = float(np.std(labels.judge))
    slope = steeper * float(np.std(labels.human)) / spread if spread > 0 else 0.0
    return np.asarray(labels.human.mean() + slope * centred - labels.human)
