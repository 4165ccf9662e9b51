"""Further judges that are made of the given ones: of texts and scores, and of several runs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from refless.commands.estimating import (
    chosen,
    estimated,
    fitted,
    held_out_of,
    named,
)
from refless.commands.judge.question import Question, with_scores
from refless.data.human import unscaled
from refless.data.records import scored
from refless.evaluation.labels import passed
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError

VOTES = "votes"


def as_votes(question: Question) -> Question:
    """The question asked of the runs of one judge as one: the share of its runs that pass.

    Runs without a score do not vote; where nothing tells a pass, it is the mean score.
    """
    votes = []
    for name in sorted(question.read.scores):
        bars = question.bars(name)
        scores = question.every(name)
        votes.append(scores if bars is None else passed(scores, bars[1]))
    columns = np.stack(votes)
    given = (~np.isnan(columns)).sum(axis=0)
    sums = np.nansum(columns, axis=0)
    share = np.divide(sums, given, out=np.full(len(sums), np.nan), where=given > 0)
    return _judged_by(question, {VOTES: share})


def with_estimates(question: Question, estimator: Any) -> tuple[Question, str]:
    """The question asked of an estimator's reading of texts and scores too; and its specification.

    Each rated text is estimated without what was drawn with it, the others by all rated texts.

    Raises:
        UsageError: no texts, or a column of its name.
    """
    read = question.read
    if not read.texts:
        raise UsageError(f"{called('estimator')} needs a text column")
    reader = chosen(estimator)
    specification = named(reader)
    title = specification.partition(":")[0]
    if reader.without_scores() is not None:
        title = f"{title} + scores"
    if title in read.scores:
        raise UsageError(f"'{title}' is a column too: rename it in the file")
    pool = with_scores(read)
    unit = question.rated_unit
    values = held_out_of(reader, pool, unit).values
    if len(read.unrated):
        groups = tuple(map(str, unit.tolist()))
        others = estimated(fitted(reader, pool, groups), read.unrated).values
        values = np.concatenate([values, others])
    columns = {name: question.every(name) for name in read.scores}
    columns[title] = unscaled(values, pool.scale)
    return _judged_by(question, columns), specification


def _judged_by(question: Question, columns: Mapping[str, FloatArray]) -> Question:
    """The question asked of these columns of scores [n + m], which share the promise."""
    read = question.read
    n = len(read.pool)
    rated = {name: scores[:n] for name, scores in columns.items()}
    others = {name: scores[n:] for name, scores in columns.items()}
    unrated = replace(read.unrated, **scored(others))
    promise = question.promise
    if promise is not None:
        promise = replace(promise, judges=len(columns))
    read = replace(read, scores=rated, unrated=unrated)
    return replace(question, read=read, promise=promise)
