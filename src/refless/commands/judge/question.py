"""The question asked of every judge: its rows, and how they are read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.commands.judge.licence import Promise
from refless.commands.parameters import Rows
from refless.commands.rows import note_missing
from refless.commands.warnings import note
from refless.data.design import Design
from refless.data.human import unscaled
from refless.data.records import Outputs, Predictions, RatedPool
from refless.data.records import scored as by_name
from refless.data.tables import Reading, ScoredRead, read_scored
from refless.data.tables.roles import Kind
from refless.evaluation.decisions import JudgeInputs
from refless.evaluation.raters import Raters
from refless.evaluation.scales import bar_of, bars_of
from refless.metrics.protocol import Metric, Scores, averaged
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.stats.intervals import VERDICTS


@dataclass(frozen=True, slots=True)
class Question:
    """The question asked of every judge.

    Attributes:
        read: the rows; human: the rated ones; design: what belongs together among the rated rows
            and the others, one after the other.
        passing: from where on is passed, as the user says; by: columns of slices; family: pattern
            of the systems of the judge's own family; lower: score columns that are turned.
        promise: what a licence is to promise, or None; inputs: of judges that are no column.
        mass: how many outputs in use each rated row, and each other, stands for; None for alike.
    """

    read: ScoredRead
    human: Predictions
    design: Design
    passing: float | None
    by: tuple[str, ...]
    family: str | None
    seed: int
    lower: tuple[str, ...] = ()
    promise: Promise | None = None
    inputs: Mapping[str, JudgeInputs] = field(default_factory=dict)
    mass: tuple[FloatArray, FloatArray] | None = None

    def unrated(self, name: str) -> FloatArray:
        """[m] a judge's scores of the rows without a rating."""
        return self.turned(name, _unrated(self.read, name))

    def turned(self, name: str, scores: FloatArray) -> FloatArray:
        """A judge's scores, higher ones being better."""
        return turned(self.read, name, scores) if name in self.lower else scores

    def every(self, name: str) -> FloatArray:
        """[n + m] a judge's scores of the rated rows and of the others."""
        rated = self.turned(name, self.read.scores[name])
        return np.concatenate([rated, self.unrated(name)])

    @property
    def unrated_outputs(self) -> Outputs:
        """The rows without a rating, higher scores being better."""
        unrated = self.read.unrated
        if not len(unrated):
            return unrated
        columns = {name: self.unrated(name) for name in self.read.scores}
        return replace(unrated, **by_name(columns))

    @property
    def places(self) -> IntArray:
        """[n + m] where each rated row, and each other, stands in the file; empty of several."""
        places = np.concatenate([self.read.first_rows, self.read.unrated_rows])
        return places if len(places) == len(self.design.unit) else places[:0]

    @property
    def raters(self) -> Raters | None:
        """The raters of the rows; None if they are not known."""
        return Raters.of(self.read.pool)

    @property
    def ratings(self) -> FloatArray:
        """[n] ratings in the raters' units."""
        return unscaled(self.human.human, self.read.pool.scale)

    def bars(self, name: str) -> tuple[float, float] | None:
        """From where on a rating, and a judge's score, is a pass: see `bars_of`."""
        pool = self.read.pool
        column = self.every(name)
        column = column[~np.isnan(column)]
        return bars_of(
            self.ratings, pool.ratings.values, column, pool.scale, self.passing
        )

    @property
    def bar(self) -> float | None:
        """From where on people's rating is a pass; None if nothing tells it."""
        pool = self.read.pool
        return bar_of(pool.ratings.values, pool.scale, self.passing)

    @property
    def rated_unit(self) -> IntArray:
        """[n] what each rated row was drawn with."""
        return self.design.unit[: len(self.human)]


def _unrated(read: ScoredRead, name: str) -> FloatArray:
    return read.unrated.score(name) if len(read.unrated) else np.zeros(0)


def turned(read: ScoredRead, name: str, scores: FloatArray) -> FloatArray:
    """Scores of which lower ones are better the other way round, on the scale that they have."""
    column = np.concatenate([read.scores[name], _unrated(read, name)])
    values = {*column[~np.isnan(column)].tolist()}
    low, high = read.pool.scale or (math.inf, math.inf)
    if values <= {*VERDICTS}:
        low, high = VERDICTS
    on_scale = low <= min(values) <= max(values) <= high
    ends = low + high if on_scale else 0.0
    return np.asarray(ends - scores)


def with_mix(
    rated: Rows, reading: Reading, kind: Kind
) -> tuple[ScoredRead, tuple[FloatArray, FloatArray] | None]:
    """The rows, and what each rated one and each other counts if a column says so.

    Raises:
        UsageError: a row counts less than nothing, or nobody knows how much.
    """
    columns = reading.columns
    mix = columns.mix
    if mix is None:
        return read_scored(rated, reading, kind), None
    both = replace(columns, score=tuple(sorted({*columns.score, mix})))
    read = read_scored(rated, replace(reading, columns=both), kind)
    mass = (read.scores[mix], np.asarray(read.unrated.score(mix)))
    parameter = called("columns", {"mix": mix})
    for ids, column in zip((read.pool.ids, read.unrated.ids), mass, strict=True):
        negative = np.flatnonzero(~(column >= 0))
        if len(negative):
            row = negative[0]
            raise UsageError(
                f"{parameter}: {column[row]:g} of id '{ids[row]}' is no number from 0"
            )
    if not mass[0].any():
        raise UsageError(f"{parameter}: no rated row counts more than 0")
    scores = {name: column for name, column in read.scores.items() if name != mix}
    unrated = read.unrated.with_scores(tuple(scores))
    return replace(read, scores=scores, unrated=unrated), mass


def with_scores(read: ScoredRead) -> RatedPool:
    """The rated texts with their scores."""
    return replace(read.pool, **by_name(read.scores))


def scores_of(
    read: ScoredRead, chosen: Mapping[str, Metric], lower: Sequence[str]
) -> dict[str, Scores]:
    """Every metric's scores by name: the columns', and those computed here."""
    if chosen and not read.texts:
        raise UsageError(f"{called('metrics')} needs a text column")
    for name in read.scores.keys() & chosen.keys():
        raise UsageError(
            f"'{name}' is in {called('score_column')} and in {called('metrics')}: name it in one"
        )
    note_missing(with_scores(read))
    scores = {}
    for name, values in read.scores.items():
        if np.isnan(values).all():
            note(f"{name}: no rated text has a score of it, so it is not judged")
        elif name in lower:
            scores[name] = averaged(turned(read, name, values))
        else:
            scores[name] = averaged(values)
    if read.scores and not scores:
        names = ", ".join(sorted(read.scores))
        raise UsageError(
            f"no row has both a rating and a score of {names}: nothing to compare"
        )
    empty = sum(not text.strip() for text in read.outputs.texts) if chosen else 0
    if empty:
        names = ", ".join(chosen)
        verb = "is" if empty == 1 else "are"
        note(f"{counted(empty, 'output')} {verb} empty, and {names} scored so")
    computed = {name: metric.score(read.outputs) for name, metric in chosen.items()}
    return scores | computed


def unjudged(read: ScoredRead, design: Design) -> Predictions:
    """The texts with their human ratings, and without predictions."""
    pool = read.pool
    return Predictions(
        id=pool.ids,
        human=pool.human,
        predicted=np.full(len(pool), np.nan),
        reason=("",) * len(pool),
        item=pool.items,
        group=design.take(np.arange(len(pool))).apart(pool),
        task=pool.tasks,
        system=pool.systems,
    )
