"""Each judge's audit, its runs and its drift."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from refless.commands.judge.audit import Audit, audit
from refless.commands.judge.calibration import with_probabilities
from refless.commands.judge.columns import columns_beside
from refless.commands.judge.licence import licensed
from refless.commands.judge.metrics_compared import Level
from refless.commands.judge.question import Question, with_scores
from refless.commands.judge.repeated import Runs, ScoreChange, drift_of, runs_of
from refless.commands.judge_shift import judge_said
from refless.commands.parameters import Rows, names_in
from refless.commands.random_draw import draw_remark, to_rate
from refless.commands.rows import (
    ScoredRows,
    note_codes,
    note_equal,
    note_ratings,
    outputs_of,
)
from refless.commands.warnings import note
from refless.data.human import unscaled
from refless.data.records import Predictions, RatedPool, Texts, picked
from refless.data.tables import ScoredRead
from refless.data.tables.ratings import means_errors
from refless.evaluation.annotators import columns_of
from refless.evaluation.judge_shift import judge_shifts
from refless.evaluation.labels import OTHER_UNITS, AllRows, Labels
from refless.evaluation.random_draw import RandomDraw, random_draw
from refless.evaluation.raters import votes_of
from refless.evaluation.scales import are_verdicts
from refless.evaluation.uses import FEWEST
from refless.metrics.protocol import Scores
from refless.registry.arrays import FloatArray, IntArray, places_of
from refless.registry.dialect import SCALE, Blank, called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.report.export import Cell
from refless.stats.answers import Estimate
from refless.stats.intervals import VERDICTS

SELECTED = (
    "Agreement and errors then hold for rows like the rated ones, and corrected means of all rows "
    "do not hold: {}."
)
REVERSED = -0.99  # at most this, also if no interval is known
LENGTHS = ("short", "middling", "long")


def audits_of(
    question: Question, scores: Mapping[str, Scores], systems: Level
) -> tuple[tuple[Audit, ...], dict[str, list[Cell]], RandomDraw]:
    """Each score column's audit, what all rows gain in files, and how rated rows were drawn.

    Metrics that were computed here are compared only.
    """
    ranked = _ranked(question.human, systems)
    rated = with_scores(question.read)
    unrated = question.read.unrated
    note_equal(rated)
    note_ratings(rated)
    note_codes(rated, unrated)
    _note_unscored(question, rated)
    draw = _draw(question, rated)
    remedy = to_rate(draw)
    note(
        draw_remark(
            draw, SELECTED.format(remedy or "rate rows that are drawn at random")
        )
    )
    audits = []
    columns: dict[str, list[Cell]] = {}
    for shift in judge_shifts(unrated.scores, unrated.sources, rated):
        if shift.name not in scores:  # of no rated text
            continue
        if shift.leaks:
            note(
                f"{shift.name} orders the texts just as people do, or just the reverse: it may be "
                "the rating itself"
            )
        else:
            note(judge_said(shift, one_file=True))
        column = scores[shift.name].segments
        labels = labels_of(question, shift.name, column)
        labels = replace(labels, shifted=shift.outside, selected=draw.by_content)
        order = ranked.get(shift.name, _no_order(question.human))
        verdicts = with_verdicts(question, labels)
        judged = audit(verdicts, labels.every.judge, order, question.seed)
        passing = question.bar
        if passing is not None:
            judged = _beside_verdicts(question, labels, passing, judged)
            columns |= columns_beside(question, labels, passing, judged)
        note(_upside_down(judged, question))
        audits.append(replace(judged, to_rate=remedy))
    return tuple(audits), columns, draw


def _beside_verdicts(
    question: Question, labels: Labels, passing: float, judged: Audit
) -> Audit:
    """The audit with what the judge may decide, if that is asked for, and its calibration."""
    licence = None
    if question.promise is not None:
        inputs = question.inputs.get(labels.name)
        licence = licensed(labels, passing, question.promise, inputs)
    calibration = with_probabilities(labels, passing)
    return replace(judged, licence=licence, calibration=calibration)


def _upside_down(judged: Audit, question: Question) -> str:
    """The remedy if a judge seems to mean by high what people mean by low; "" if it does not."""
    name = judged.name
    remedy = f"{called('lower_is_better', name)} turns it"
    if question.promise is not None:
        remedy = "turn its sign in the file"
    if name in question.lower:
        remedy = f"leave out {called('lower_is_better', name)}"
    (ratings, *others) = question.read.columns.get("rating", ("", ""))
    if not (others or question.lower or means_errors(name)):
        turn = called("lower_is_better", ratings)
        remedy += f", or {turn} the ratings if their low ones are good"
    for measure, how in (
        ("kappa", "passes what people fail"),
        ("spearman", "is low where people rate high"),
    ):
        estimate = judged.measures.get(measure, Estimate())
        if estimate.interval[1] < 0 or estimate.value < REVERSED:
            return f"{name} {how}: {remedy}"
    spearman = judged.measures.get("spearman", Estimate())
    if name in question.lower or not means_errors(name) or spearman.interval[0] > 0:
        return ""
    return f"{name}: if lower is better, as the name says, {remedy}"


def _note_unscored(question: Question, rated: RatedPool) -> None:
    """Says what people think of rated texts that a judge left without a score, and of the others.

    Agreement is of texts with a score alone; means are of all.
    """
    for name in rated.score_names:
        without = np.isnan(rated.score(name))
        if FEWEST <= without.sum() <= len(rated) - FEWEST:
            mean_without = question.ratings[without].mean()
            mean_scored = question.ratings[~without].mean()
            note(
                f"{name}: people's mean rating is {mean_without:.4g} of texts without a score and "
                f"{mean_scored:.4g} of those with one; agreement is of these alone"
            )


def _draw(question: Question, rated: RatedPool) -> RandomDraw:
    """Whether the rated rows look drawn at random from all; not asked if rows count unlike."""
    read = question.read
    if question.mass is not None:
        return RandomDraw(n=len(rated), n_rated=len(rated), differing=())
    first_rows = (read.first_rows, read.unrated_rows)
    return random_draw(rated, read.unrated, first_rows, by_system=False)


def with_verdicts(question: Question, labels: Labels) -> Labels:
    """The judge's scores beside people's ratings, with verdicts if a bar makes any."""
    name = labels.name
    bars = question.bars(name)
    if bars is None:
        if question.passing is not None and question.promise is None:
            passing = called("passing", question.passing)
            note(
                f"{name}: {OTHER_UNITS}, so {passing} makes no verdicts of them: give both on one "
                "scale, or the scores as 1 and 0"
            )
        elif question.promise is None and not labels.same_units:
            note(_in_other_units(labels))
        return labels
    verdicts = {*VERDICTS, *question.read.pool.ratings.values.tolist()}
    if question.passing is None and not {*labels.judge.tolist()} <= verdicts:
        note(
            f"{name}: scores pass from {bars[1]:g} on; {called('passing', Blank('X'))} "
            "sets another bar"
        )
    return labels.as_verdicts(bars)


def _in_other_units(labels: Labels) -> str:
    """The ranges of scores and ratings whose units differ, and the remedy."""
    judge = labels.judge
    human = labels.human
    low, high = labels.ends
    low = min(low, human.min())
    high = max(high, human.max())
    scores = f"scores go from {judge.min():g} to {judge.max():g}"
    ratings = f"ratings go from {low:g} to {high:g}"
    remedy = f"if they are on one scale after all, give {called('scale', SCALE)}"
    if labels.scale is not None:
        remedy = f"for errors, add a column of the scores as they are from {low:g} to {high:g}"
    if are_verdicts(judge) or are_verdicts(human):
        passing = called("passing", Blank("X"))
        remedy = f"beside verdicts, {passing} is the least of the others that passes"
    return (
        f"{labels.name}: {scores} and {ratings}: the units differ, so ranks alone are compared; "
        f"{remedy}"
    )


def labels_of(question: Question, name: str, column: FloatArray) -> Labels:
    """Scores and ratings of the same rows."""
    pool = question.read.pool
    ratings = question.ratings
    raters = question.raters
    rows = np.flatnonzero(~np.isnan(column))
    within = {"system": pool.systems, "source": pool.sources or pool.items}
    several = {key: names for key, names in within.items() if len({*names}) > 1}
    every = _every_row(question, name, column)
    return Labels(
        name=name,
        human=ratings[rows],
        judge=column[rows],
        unit=question.rated_unit[rows],
        raters=raters and raters.among(rows, len(pool)),
        votes=votes_of(pool, rows),
        unlabelled=every.unlabelled,
        every=every,
        scale=pool.scale,
        slices=_at(rows, _slices(question)),
        ids=picked(pool.ids, rows),
        within=_at(rows, several),
        people=_people(pool, rows),
    )


def _at(
    rows: IntArray, columns: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """The columns at these rows."""
    return {name: picked(tuple(values), rows) for name, values in columns.items()}


def _every_row(question: Question, name: str, column: FloatArray) -> AllRows:
    """All rows, rated or not."""
    pool = question.read.pool
    unrated = question.read.unrated
    human = np.concatenate([question.ratings, np.full(len(unrated), math.nan)])
    judge = np.concatenate([column, question.unrated(name)])
    return AllRows(
        human=human,
        judge=judge,
        unit=question.design.unit,
        mass=None if question.mass is None else np.concatenate(question.mass),
        raters=question.raters,
        votes=votes_of(pool, np.arange(len(pool))),
    )


def _family(systems: Sequence[str], pattern: str) -> list[str]:
    """[n] "own" if a system is of the judge's family, else ""; raises UsageError if none is."""
    if not systems:
        raise UsageError(f"{called('own')}: the rated texts have no system column")
    family = ["own" if fnmatchcase(name, pattern) else "" for name in systems]
    if not any(family):
        names = ", ".join(sorted({*systems}))
        raise UsageError(
            f"{called('own', pattern)} matches none of the systems: {names}"
        )
    return family


def _slices(question: Question) -> dict[str, Sequence[str]]:
    """[n] values by column: those that the user names, else systems, tasks and lengths."""
    read = question.read
    pool = read.pool
    slices: dict[str, Sequence[str]] = {}
    if question.family is not None:
        slices["family"] = _family(pool.systems, question.family)
    if question.by:
        return slices | dict(read.slices)
    if len({*pool.systems}) > 1:
        slices["system"] = pool.systems
    if len({*pool.tasks}) > 1:
        slices["task"] = pool.tasks
    lengths = np.array([len(text.split()) for text in pool.texts])
    if read.texts and len({*lengths.tolist()}) > 1:
        ends = np.quantile(lengths, [1 / 3, 2 / 3])
        places = np.searchsorted(ends, lengths)
        slices["length"] = [LENGTHS[place] for place in places.tolist()]
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
    """An undefined share: there are too few systems to be in any order."""
    n = len({*human.system})
    verb = "is" if n == 1 else "are"
    systems = counted(n, "system") if n else "no systems"
    return Estimate(undefined=f"there {verb} {systems}")


def _people(
    pool: RatedPool, rows: IntArray
) -> list[tuple[IntArray, FloatArray, FloatArray]]:
    """Of each annotator the places among these rows, the others' mean and the own ratings."""
    row_place = places_of(rows, len(pool))
    people = []
    for column in columns_of(pool, leave_out=True):
        place = row_place[column.rows]
        inside = place >= 0
        means = unscaled(column.human[inside], pool.scale)
        ratings = unscaled(column.scores[inside], pool.scale)
        people.append((place[inside], means, ratings))
    return people


def runs_in(question: Question) -> Runs:
    """The score columns as runs of one judge."""
    read = question.read
    columns = {
        name: question.turned(name, scores)
        for name, scores in sorted(read.scores.items())
        if not np.isnan(scores).all()
    }
    if len(columns) < 2:
        raise UsageError(
            f"{called('runs')} needs a {called('score_column')} for each run, a pattern such as "
            "'judge_*', or a column run whose rows are runs of one id"
        )
    bars = question.bars(min(columns))
    scores = np.stack([*columns.values()], axis=1)
    return runs_of(question.ratings, scores, question.rated_unit, bars)


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
        rated = question.turned(name, column)
        now = np.concatenate([rated, question.unrated(name)])
        old = question.turned(name, older.score(name))
        past = np.where(at < 0, math.nan, old[at])
        bars = question.bars(name)
        passing = None if bars is None else bars[1]
        drifts[name] = drift_of(now, past, question.design.unit, passing)
    return drifts


def _places(read: ScoredRead, older: Texts) -> IntArray:
    """[n + m] the place of each text among older ones, -1 for nowhere.

    The same system answers the same item in the same words, under the same id; or, if that finds
    more, under any id, as ids that no file has are numbers of rows, but then there only once.
    """

    def keys(texts: Texts, *, ids: bool) -> list[tuple[str, ...]]:
        blank = ("",) * len(texts)
        names = texts.ids if ids else blank
        systems = texts.systems or blank
        items = texts.items or blank
        return [*zip(names, systems, items, texts.texts, strict=True)]

    places = []
    for ids in (True, False):
        past = keys(older, ids=ids)
        now = keys(read.pool, ids=ids) + keys(read.unrated, ids=ids)
        twice = _repeated(now) | _repeated(past)
        place = {key: i for i, key in enumerate(past) if key not in twice}
        places.append(np.array([place.get(key, -1) for key in now], dtype=np.int64))
    return max(places, key=lambda at: int((at >= 0).sum()))


def _repeated(keys: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The keys that occur more than once."""
    return {key for key, count in Counter(keys).items() if count > 1}
