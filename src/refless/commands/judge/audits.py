"""Each judge's audit, its runs and its drift."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from refless.commands.judge.audit import Audit, audit
from refless.commands.judge.metrics_compared import Level
from refless.commands.judge.repeated import Runs, ScoreChange, drift_of, runs_of
from refless.commands.judge_shift import judge_said
from refless.commands.parameters import Rows, names_in
from refless.commands.random_draw import draw_remark
from refless.commands.rows import (
    ScoredRows,
    note_codes,
    note_equal,
    note_ratings,
    outputs_of,
)
from refless.commands.warnings import note
from refless.data.design import Design, joined
from refless.data.human import unscaled
from refless.data.records import Predictions, RatedPool, Texts
from refless.data.records import scored as by_name
from refless.data.tables import Reading, ScoredRead, read_scored
from refless.data.tables.ratings import means_errors
from refless.data.tables.roles import Kind
from refless.evaluation.annotators import columns_of
from refless.evaluation.groups import codes
from refless.evaluation.judge_shift import judge_shifts
from refless.evaluation.labels import OTHER_UNITS, AllRows, Labels
from refless.evaluation.random_draw import RandomDraw, random_draw
from refless.evaluation.raters import Raters, votes_of
from refless.evaluation.scales import bars_of
from refless.evaluation.uses import FEWEST
from refless.metrics.protocol import Scores
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.dialect import SCALE, Blank, called
from refless.registry.errors import UsageError
from refless.stats.answers import Estimate
from refless.stats.contrast import VERDICTS

SELECTED = (
    "Agreement and errors then hold for rows like the rated ones, and corrected means of all rows "
    "do not hold: rate rows that are drawn at random."
)
LENGTHS = ("short", "middling", "long")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every judge.

    Attributes:
        read: the rows; human: the rated ones; design: what belongs together among the rated rows
            and the others, one after the other.
        passing: from where on is passed, as the user says; by: columns of slices; own: pattern of
            the systems of the judge's own family; lower: score columns that are turned.
        mass: how many outputs in use each rated row, and each other, stands for; None for alike.
    """

    read: ScoredRead
    human: Predictions
    design: Design
    passing: float | None
    by: tuple[str, ...]
    own: str | None
    seed: int
    lower: tuple[str, ...] = ()
    mass: tuple[FloatArray, FloatArray] | None = None

    def unrated(self, name: str) -> FloatArray:
        """[m] a judge's scores of the rows without a rating."""
        return self.turned(name, _unrated(self.read, name))

    def turned(self, name: str, scores: FloatArray) -> FloatArray:
        """A judge's scores, higher ones being better."""
        return turned(self.read, name, scores) if name in self.lower else scores

    @property
    def raters(self) -> Raters | None:
        """Who rated which row; None if that is not known."""
        return Raters.of(self.read.pool)

    @property
    def ratings(self) -> FloatArray:
        """[n] ratings in the raters' units."""
        return unscaled(self.human.human, self.read.pool.scale)

    def bars(self, name: str) -> tuple[float, float] | None:
        """From where on a rating, and a judge's score, is a pass: see `bars_of`."""
        pool = self.read.pool
        scores = self.read.scores[name]
        column = np.concatenate([self.turned(name, scores), self.unrated(name)])
        column = column[~np.isnan(column)]
        return bars_of(
            self.ratings, pool.ratings.values, column, pool.scale, self.passing
        )

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
    low, high = (
        (0.0, 1.0) if values <= {*VERDICTS} else read.pool.scale or (math.inf, math.inf)
    )
    return np.asarray(
        (low + high if low <= min(values) <= max(values) <= high else 0.0) - scores
    )


def with_mix(
    rated: Rows, reading: Reading, kind: Kind
) -> tuple[ScoredRead, tuple[FloatArray, FloatArray] | None]:
    """The rows, and what each rated one and each other counts if a column says so.

    Raises:
        UsageError: a row counts less than nothing, or nobody knows how much.
    """
    columns = reading.columns
    mix = reading.columns.mix
    if mix is None:
        return read_scored(rated, reading, kind), None
    both = replace(columns, score=tuple(sorted({*columns.score, mix})))
    read = read_scored(rated, replace(reading, columns=both), kind)
    mass = read.scores[mix], np.asarray(read.unrated.score(mix))
    for ids, column in zip((read.pool.ids, read.unrated.ids), mass, strict=True):
        for row in np.flatnonzero(~(column >= 0))[:1].tolist():
            raise UsageError(
                f"{called('columns', {'mix': mix})}: {column[row]:g} of id '{ids[row]}' is no "
                "number from 0"
            )
    if not mass[0].any():
        raise UsageError(
            f"{called('columns', {'mix': mix})}: no rated row counts more than 0"
        )
    scores = {name: column for name, column in read.scores.items() if name != mix}
    return replace(
        read, scores=scores, unrated=read.unrated.with_scores(tuple(scores))
    ), mass


def with_scores(read: ScoredRead) -> RatedPool:
    """The rated texts with their scores."""
    return replace(read.pool, **by_name(read.scores))


def audits_of(
    question: Question, scores: Mapping[str, Scores], systems: Level
) -> tuple[Audit, ...]:
    """Each score column's audit; those of metrics that were computed here are compared only."""
    ranked = _ranked(question.human, systems)
    rated = with_scores(question.read)
    unrated = question.read.unrated
    note_equal(rated)
    note_ratings(rated)
    note_codes(rated, unrated)
    _note_unscored(question, rated)
    split = int((question.ratings == 0.5).sum())
    if (
        split
        and question.passing is None
        and {*rated.ratings.values.tolist()} <= {*VERDICTS}
    ):
        note(
            f"{split} texts, on which annotators are split evenly, pass; "
            f"{called('passing', 0.51)} fails them"
        )
    draw = _draw(question, rated)
    note(draw_remark(draw, SELECTED))
    audits = []
    for shift in judge_shifts(unrated.scores, unrated.sources, rated):
        if shift.name not in scores:  # of no rated text
            continue
        if shift.leaks:
            note(
                f"{shift.name} orders the texts just as people do: it may be the rating itself"
            )
        else:
            note(judge_said(shift, one_file=True))
        column = scores[shift.name].segments
        labels = labels_of(question, shift.name, column)
        labels = replace(labels, shifted=shift.outside, selected=draw.by_content)
        order = ranked.get(shift.name, _no_order(question.human))
        audits.append(audit(labels, order, question.seed))
        note(_upside_down(audits[-1], question.lower))
    return tuple(audits)


def _upside_down(judged: Audit, lower: Sequence[str]) -> str:
    """That a judge seems to mean by high what people mean by low; nothing where it does not."""
    name = judged.name
    remedy = f"{called('lower_is_better', name)} turns it"
    if name in lower:
        remedy = f"leave out {called('lower_is_better', name)}"
    for measure, how in (
        ("kappa", "passes what people fail"),
        ("spearman", "is low where people rate high"),
    ):
        if measure in judged.measures and judged.measures[measure].interval[1] < 0:
            return f"{name} {how}: {remedy}"
    spearman = judged.measures.get("spearman")
    if (
        name in lower
        or not means_errors(name)
        or (spearman and spearman.interval[0] > 0)
    ):
        return ""
    return f"{name}: if lower is better, as the name says, {remedy}"


def _note_unscored(question: Question, rated: RatedPool) -> None:
    """Says what people think of rated texts that a judge left without a score, and of the others.

    Agreement is of texts with a score alone; means are of all.
    """
    for name in rated.score_names:
        without = np.isnan(rated.score(name))
        if FEWEST <= without.sum() <= len(rated) - FEWEST:
            theirs = question.ratings[without].mean()
            others = question.ratings[~without].mean()
            note(
                f"{name}: people's mean rating is {theirs:.4g} of texts without a score and "
                f"{others:.4g} of those with one; agreement is of these alone"
            )


def _draw(question: Question, rated: RatedPool) -> RandomDraw:
    """Whether the rated rows look drawn at random from all; not asked if rows count unlike."""
    read = question.read
    if question.mass is not None:
        return RandomDraw(n=len(rated), n_rated=len(rated), differing=())
    first_rows = (read.first_rows, read.unrated_rows)
    return random_draw(rated, read.unrated, first_rows, by_system=False)


def labels_of(question: Question, name: str, column: FloatArray) -> Labels:
    """What the judge and people said of the same rows, and what is a pass where something is."""
    labels = _rows_of(question, name, column)
    bars = question.bars(name)
    if bars is None:
        if question.passing is not None:
            note(f"{name}: {OTHER_UNITS}, so {called('passing', question.passing)} makes no "
                "verdicts of "
                 "them: give both on one scale, or the scores as 1 and 0")  # fmt: skip
        elif not labels.same_units:
            note(_in_other_units(labels))
        return labels
    verdicts = {*VERDICTS, *question.read.pool.ratings.values.tolist()}
    if question.passing is None and not {*labels.judge.tolist()} <= verdicts:
        note(
            f"{name}: scores pass from {bars[1]:g} on; {called('passing', Blank('X'))} "
            "says otherwise"
        )
    return labels.as_verdicts(bars)


def _in_other_units(labels: Labels) -> str:
    """What is compared where scores are in other units than the ratings, and what may be done."""
    columns = {"scores": labels.judge, "ratings": labels.human}
    low, high = labels.ends
    ends = {name: (column.min(), column.max()) for name, column in columns.items()}
    ends["ratings"] = (min(low, ends["ratings"][0]), max(high, ends["ratings"][1]))
    said = " and ".join(
        f"{name} go from {a:g} to {b:g}" for name, (a, b) in ends.items()
    )
    remedy = f"if they are on one scale after all, {called('scale', SCALE)} says so"
    if labels.scale is not None:
        remedy = "give both on one scale to compare more"
    if any({*column.tolist()} <= {*VERDICTS} for column in columns.values()):
        passing = called("passing", Blank("X"))
        remedy = f"beside verdicts {passing} says from where on the others pass"
    return f"{labels.name}: {said}, so in other units, and ranks alone are compared; {remedy}"


def _rows_of(question: Question, name: str, column: FloatArray) -> Labels:
    """What the judge and people said of the same rows, in an order of their own."""
    read = question.read
    rows = np.flatnonzero(~np.isnan(column))
    names = (read.pool.texts, read.pool.items, read.pool.systems)
    keys = [codes(column)[rows] for column in names if column]
    rows = rows[np.lexsort((*keys, column[rows], question.ratings[rows]))]
    about = {
        "system": read.pool.systems,
        "source": read.pool.sources or read.pool.items,
    }
    within = {name: values for name, values in about.items() if len({*values}) > 1}
    return Labels(
        name=name,
        human=question.ratings[rows],
        judge=column[rows],
        unit=question.rated_unit[rows],
        raters=question.raters and question.raters.among(rows, len(read.pool)),
        votes=votes_of(read.pool, rows),
        every=_every_row(question, name, column),
        scale=read.pool.scale,
        slices={
            name: _picked(values, rows) for name, values in _slices(question).items()
        },
        ids=_picked(read.pool.ids, rows),
        within={name: _picked(values, rows) for name, values in within.items()},
        people=_people(read.pool, rows),
    )


def _every_row(question: Question, name: str, column: FloatArray) -> AllRows:
    """All rows, rated or not, in an order of their own."""
    pool = question.read.pool
    n = len(pool)
    m = len(question.read.unrated)
    human = np.concatenate([question.ratings, np.full(m, math.nan)])
    judge = np.concatenate([column, question.unrated(name)])
    mass = None if question.mass is None else np.concatenate(question.mass)
    texts = joined(pool, question.read.unrated)
    keys = [
        codes(labels) for labels in (texts.texts, texts.items, texts.systems) if labels
    ]
    weights = np.zeros(n + m) if mass is None else mass
    order = np.lexsort((*keys, weights, judge, human))
    rated = order[order < n]
    place = np.flatnonzero(order < n)
    raters = question.raters and question.raters.among(rated, n)
    return AllRows(
        human=human[order],
        judge=judge[order],
        unit=question.design.unit[order],
        mass=None if mass is None else mass[order],
        raters=None if raters is None else raters.placed(place),
        votes=votes_of(pool, rated).placed(place),
    )


def _picked(values: Sequence[str], rows: IntArray) -> tuple[str, ...]:
    return tuple(values[i] for i in rows.tolist())


def _slices(question: Question) -> dict[str, Sequence[str]]:
    """[n] values by column: those that the user names, else systems, tasks and lengths."""
    read = question.read
    pool = question.read.pool
    slices: dict[str, Sequence[str]] = {}
    if question.own is not None:
        if not pool.systems:
            raise UsageError(f"{called('own')}: the rated texts have no system column")
        own = [fnmatchcase(system, question.own) for system in pool.systems]
        if not any(own):
            systems = ", ".join(sorted({*pool.systems}))
            raise UsageError(
                f"{called('own', question.own)} matches none of the systems: {systems}"
            )
        slices["family"] = ["own" if mine else "" for mine in own]
    if question.by:
        return slices | dict(read.slices)
    if len({*pool.systems}) > 1:
        slices["system"] = pool.systems
    if len({*pool.tasks}) > 1:
        slices["task"] = pool.tasks
    lengths = np.array([len(text.split()) for text in pool.texts])
    if read.texts and len({*lengths.tolist()}) > 1:
        ends = np.quantile(lengths, [1 / 3, 2 / 3])
        slices["length"] = [LENGTHS[i] for i in np.searchsorted(ends, lengths).tolist()]
    return slices


def _ranked(human: Predictions, systems: Level) -> dict[str, Estimate]:
    """By name, the share of pairs of systems that a judge has in people's order, if it has any."""
    return {
        metric.name: Estimate(
            value=metric.accuracy,
            interval=metric.accuracy_interval,
            n=len(human),
            undefined="a system has no score" if math.isnan(metric.accuracy) else "",
        )
        for metric in systems.metrics
    }


def _no_order(human: Predictions) -> Estimate:
    """That there are too few systems to be in any order."""
    n = len({*human.system})
    why = f"there {'is' if n == 1 else 'are'} {n or 'no'} system{'' if n == 1 else 's'}"
    return Estimate(value=math.nan, undefined=why)


def _people(
    pool: RatedPool, rows: IntArray
) -> list[tuple[IntArray, FloatArray, FloatArray]]:
    """Of each annotator the places among these rows, the others' mean and the own ratings."""
    place = np.full(len(pool), -1)
    place[rows] = np.arange(len(rows))
    people = []
    for _, texts, others, mine in columns_of(pool, leave_out=True):
        order = np.argsort(place[texts], kind="stable")
        order = order[place[texts][order] >= 0]
        theirs, own = (unscaled(column[order], pool.scale) for column in (others, mine))
        people.append((place[texts][order], theirs, own))
    return people


def runs_in(question: Question, scores: Mapping[str, Scores]) -> Runs:
    """The score columns as runs of one judge."""
    names = sorted(question.read.scores.keys() & scores.keys())
    if len(names) < 2:
        raise UsageError(
            f"{called('runs')} needs a {called('score_column')} for each run, a pattern "
            f"such as 'judge_*', or a column "
            "run whose rows are runs of one id"
        )
    columns = np.stack([scores[name].segments for name in names], axis=1)
    return runs_of(
        question.ratings, columns, question.rated_unit, question.bars(names[0])
    )


def drifts_in(
    question: Question, before: Rows, rows: ScoredRows
) -> dict[str, ScoreChange]:
    """By name, how far a judge's scores moved on the texts that both files hold."""
    older = outputs_of(before, rows, score=names_in(rows.score_column))
    at = _places(question.read, older)
    if (at < 0).all():
        raise UsageError(
            f"{called('before')} has none of these texts: no id and text are in both files"
        )
    drifts = {}
    for name, column in question.read.scores.items():
        old = question.turned(name, older.score(name))
        bars = question.bars(name)
        drifts[name] = drift_of(
            np.concatenate([question.turned(name, column), question.unrated(name)]),
            np.where(at < 0, math.nan, old[at]),
            question.design.unit,
            None if bars is None else bars[1],
        )
    return drifts


def _places(read: ScoredRead, older: Texts) -> IntArray:
    """[n + m] where each text is among older ones, -1 for nowhere.

    The same system answers the same item in the same words, under the same id; or, if that finds
    more, under any id, as ids that no file has are numbers of rows, but then there only once.
    """

    def keys(texts: Texts, *, ids: bool) -> list[tuple[str, ...]]:
        blank = ("",) * len(texts)
        named = (
            texts.ids if ids else blank,
            texts.systems or blank,
            texts.items or blank,
        )
        return [*zip(*named, texts.texts, strict=True)]

    places = []
    for ids in (True, False):
        past = keys(older, ids=ids)
        now = keys(read.pool, ids=ids) + keys(read.unrated, ids=ids)
        twice = {
            key for column in (now, past) for key, n in Counter(column).items() if n > 1
        }
        place = {key: i for i, key in enumerate(past) if key not in twice}
        places.append(np.array([place.get(key, -1) for key in now], dtype=np.int64))
    return max(places, key=lambda at: int((at >= 0).sum()))
