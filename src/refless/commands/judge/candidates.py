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
from refless.evaluation.decisions import VOTES, JudgeInputs, vote_shares
from refless.metrics.protocol import Scores, averaged
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.signature import Signature


def as_votes(question: Question) -> Question:
    """The question asked of the runs of one judge as one: the share of its runs that pass.

    Runs without a score do not vote; where nothing tells a pass, it is the mean score.
    """
    read = question.read
    runs = {name: question.every(name) for name in sorted(read.scores)}
    passing: dict[str, float | None] = {}
    for name in runs:
        bars = question.bars(name)
        passing[name] = None if bars is None else bars[1]
    shares = vote_shares(np.stack([*runs.values()]), passing.values())
    inputs = JudgeInputs(columns=read.columns["score"], passing=passing)
    question = replace(question, inputs={VOTES: inputs})
    return _judged_by(question, {VOTES: shares})


def estimates_beside(
    question: Question, estimator: Any
) -> tuple[str, Scores, Signature]:
    """What an estimator makes of the rated texts alone, beside metrics: a name, and estimates.

    Each text is estimated without what was drawn with it.
    """
    pool = question.read.pool
    reader = chosen(estimator)
    values = held_out_of(reader, pool, question.rated_unit).values
    estimates = averaged(unscaled(values, pool.scale))
    return reader.title, estimates, reader.signature(pool)


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
    of_columns = JudgeInputs(columns=tuple(read.scores))
    inputs = replace(
        question.inputs.get(VOTES, of_columns),
        estimator=specification,
        signature=str(reader.signature(pool)),
        scale=pool.scale,
    )
    question = replace(question, inputs={**question.inputs, title: inputs})
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
