"""The numbers of one judge beside people: NUMBERS declares each once."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refless.evaluation.labels import (
    OTHER_UNITS,
    Labels,
    Measure,
    Numbers,
    mean_answer,
    mean_number,
    passed,
    raters_of_people,
    share_of_passes,
)
from refless.evaluation.raters import extra_of, rated_coefficient
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.stats.answers import NOTHING_MORE, Estimate, Extra
from refless.stats.correlation import ranks
from refless.stats.intervals import VERDICTS
from refless.stats.left_out import correlated, root_mean_square
from refless.stats.verdicts import ac1, alpha, cells_of, kappa, of_table

Computed = Callable[[Labels, int], Estimate | None]  # of a seed; None if undefined


@dataclass(frozen=True, slots=True)
class Number:
    """A number about a judge, declared once: reports, JSON and gates know it by its name.

    Attributes:
        title: what people call it.
        asks: about verdicts, about errors in the raters' units, or about ranks alone.
        computed: the function that gives it.
        signed: whether 0 is best, so that gates ask for its size.
    """

    title: str
    asks: Literal["verdicts", "units", "ranks"]
    computed: Computed
    signed: bool = False

    def estimate(self, labels: Labels, seed: int) -> Estimate | None:
        """Its value; undefined if it asks for the raters' units and scores have others."""
        if self.asks == "units" and not (labels.same_units and len(labels)):
            return Estimate(undefined=OTHER_UNITS, n=len(labels))
        return self.computed(labels, seed)


def measured(labels: Labels, seed: int = 0) -> dict[str, Estimate]:
    """Agreement and errors by name; verdicts only where something passes or fails."""
    has_verdicts = labels.passing is not None
    on_scale = not has_verdicts or len({*labels.human.tolist()}) > 2
    estimates = {}
    for name, number in NUMBERS.items():
        has_all = has_verdicts if number.asks == "verdicts" else on_scale
        if has_all:
            estimate = number.estimate(labels, seed)
            if estimate is not None:
                estimates[name] = estimate
    return estimates


def _cells(labels: Labels) -> IntArray:
    """[n] the cell of the table of verdicts of each row: 0 if both pass it, 3 if neither does."""
    bar = labels.passing or 0.0
    return cells_of(labels.human >= bar, labels.judge >= bar)


JUDGED = ({0, 1, 2, 3}, {0, 1})  # all rows, and what the judge passes


def _rate(hits: Sequence[int], among: Sequence[int]) -> Computed:
    """The share of some cells of the table of verdicts among others."""

    def share(shares: FloatArray) -> FloatArray:
        below = shares[list(among)].sum()
        above = shares[list(hits)].sum()
        return np.asarray(above / below if below > 0 else math.nan)

    def computed(labels: Labels, seed: int) -> Estimate:  # noqa: ARG001 - nothing is drawn
        bar = labels.passing or 0.0
        cells = _cells(labels)
        rows = np.flatnonzero(np.isin(cells, among))
        values = np.isin(cells[rows], hits).astype(np.float64)
        unit = labels.unit[rows]
        if {*among} not in JUDGED or labels.raters is None:
            answer = mean_answer(values, unit, VERDICTS)
            answer = answer.with_extra(_extra(labels, share))
            return Estimate.of(answer, len(rows))
        # whoever rates a row, it is in or out
        raters = labels.raters.among(rows, len(labels))
        judge = labels.judge[rows][raters.text]
        single = np.isin(cells_of(raters.rating >= bar, judge >= bar), hits)
        answer = mean_answer(values, unit, VERDICTS, raters, single.astype(np.float64))
        return Estimate.of(answer, len(rows))

    return computed


def _beyond_chance(measure: Callable[[FloatArray, int], FloatArray]) -> Computed:
    """A measure of the table of verdicts: of the shares [..., 4] of its cells, and of n rows."""

    def computed(labels: Labels, seed: int) -> Estimate:
        def of_shares(shares: FloatArray) -> FloatArray:
            return measure(shares, len(labels))

        extra = _extra(labels, of_shares)
        return of_table(of_shares, _cells(labels), labels.unit, seed, extra)

    return computed


def _extra(labels: Labels, measure: Measure) -> Extra:
    """The variance that raters add to a measure of the table of verdicts."""
    bar = labels.passing or 0.0

    def number(human: FloatArray, judge: FloatArray) -> float:
        counts = np.bincount(cells_of(human >= bar, judge >= bar), minlength=4)
        return float(measure(counts / len(human)))

    return extra_of(labels.raters, labels.judge, number)


def _error(error: Numbers, *, signed: bool) -> Computed:
    """The mean of an error of each row, of a rating and a score."""

    def computed(labels: Labels, seed: int) -> Estimate:  # noqa: ARG001 - nothing is drawn
        reach = labels.reach
        if reach is None:
            return mean_number(labels, error, scale=None)
        return mean_number(labels, error, scale=(-reach if signed else 0.0, reach))

    return computed


def _rmse(labels: Labels, seed: int) -> Estimate:  # noqa: ARG001 - nothing is drawn
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
    added = mean.error**2 - plain.error**2
    extra = NOTHING_MORE
    if added > 0:
        freedom = max(raters.severity(single).freedom - 0.5, 1.0)
        extra = Extra(variance=added, freedom=freedom)
    return root_mean_square(error, labels.unit, mean, extra)


def _coefficient(name: str) -> Computed:
    """A coefficient of scores and ratings, with units and raters as what was drawn."""

    def computed(labels: Labels, seed: int) -> Estimate:  # noqa: ARG001 - nothing is drawn
        return rated_coefficient(
            name, labels.human, labels.judge, labels.unit, labels.raters
        )

    return computed


def _within(column: str) -> Computed:
    """Spearman of what is left of ranks when each group's mean is taken away; of few rows none."""

    def computed(labels: Labels, seed: int) -> Estimate | None:  # noqa: ARG001 - nothing is drawn
        values = labels.within.get(column, ())
        if not values or 2 * len({*values}) > len(labels):
            return None
        group = codes(values)
        human = _centred(ranks(labels.human), group)
        judge = _centred(ranks(labels.judge), group)
        return correlated("pearson", human, judge, labels.unit)

    return computed


def _centred(numbers: FloatArray, group: IntArray) -> FloatArray:
    """[n] numbers less the mean of their group."""
    means = np.bincount(group, numbers) / np.bincount(group)
    return np.asarray(numbers - means[group])


def _base_rate(labels: Labels, seed: int) -> Estimate:  # noqa: ARG001 - nothing is drawn
    """The share of single verdicts of people that pass."""
    return Estimate.of(share_of_passes(labels), len(labels))


def of_annotators(labels: Labels, seed: int) -> dict[str, Estimate]:
    """The same numbers of one annotator: each one's ratings beside the mean of the others."""
    if not labels.people:
        return {}
    columns = zip(*labels.people, strict=True)
    rows, means, ratings = (np.concatenate(column) for column in columns)
    annotator = replace(
        labels,
        human=means,
        judge=ratings,
        unit=labels.unit[rows],
        raters=raters_of_people(labels.people, rows, means),
        passes=passed(means, labels.passing or 0.0),
        within={},
    )
    return measured(annotator, seed)


EVERY_CELL = (0, 1, 2, 3)
NUMBERS: dict[str, Number] = {  # in the order of the report
    "base_rate": Number("passed by people", "verdicts", _base_rate),
    "judge_rate": Number("passed by the judge", "verdicts", _rate((0, 1), EVERY_CELL)),
    "accuracy": Number("same verdict", "verdicts", _rate((0, 3), EVERY_CELL)),
    "tpr": Number("TPR (people's passes)", "verdicts", _rate((0,), (0, 2))),
    "tnr": Number("TNR (people's fails)", "verdicts", _rate((3,), (1, 3))),
    "precision": Number("precision", "verdicts", _rate((0,), (0, 1))),
    "kappa": Number(
        "Cohen's kappa", "verdicts", _beyond_chance(lambda shares, _: kappa(shares))
    ),
    "ac1": Number(
        "Gwet's AC1", "verdicts", _beyond_chance(lambda shares, _: ac1(shares))
    ),
    "alpha": Number("Krippendorff's alpha", "verdicts", _beyond_chance(alpha)),
    "bias": Number(
        "bias (minus people)",
        "units",
        _error(lambda y, x: x - y, signed=True),
        signed=True,
    ),
    "mae": Number(
        "mean absolute error", "units", _error(lambda y, x: np.abs(x - y), signed=False)
    ),
    "rmse": Number("root mean squared error", "units", _rmse),
    "quadratic_kappa": Number(
        "quadratic kappa", "units", _coefficient("quadratic_kappa")
    ),
    "spearman": Number("Spearman", "ranks", _coefficient("spearman")),
    "pearson": Number("Pearson", "ranks", _coefficient("pearson")),
    "within_system": Number("Spearman within systems", "ranks", _within("system")),
    "within_source": Number("Spearman within sources", "ranks", _within("source")),
}
