"""Scores of a judge that is formed of columns: votes of runs, estimates from texts and scores."""

from dataclasses import replace
from os import fspath
from typing import TypeVar

import numpy as np

from refless.commands.estimating import estimated, fitted
from refless.commands.parameters import Folder, Rows
from refless.commands.route.licence_file import LicensedJudge
from refless.commands.rows import tell
from refless.data.records import Outputs, Texts, scored
from refless.data.tables import Reading
from refless.data.tables.partly_rated import read_partly
from refless.data.tables.roles import Kind
from refless.estimators import Estimator, estimator_of
from refless.estimators.saved import opened
from refless.evaluation.decisions import VOTES, JudgeInputs, vote_shares
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.from_file import OWN

T = TypeVar("T", bound=Texts)


def estimator_behind(
    judge: LicensedJudge, rated: Rows, model: Folder | None, reading: Reading
) -> Estimator | None:
    """The fitted estimator that makes the judge's scores; None if it needs none.

    Args:
        judge: with its licence; rated: the rated texts that license it, or None.
        model: a file of the estimator, fitted to them, or None; reading: of the rated texts.

    Raises:
        UsageError: not just one of them where one is needed; others than those of the licence.
    """
    n_given = (rated is not None) + (model is not None)
    specification = judge.inputs.estimator
    if not specification:
        if n_given:
            surplus = called("model" if rated is None else "rated")
            raise UsageError(f"{judge.name} needs no estimator: leave {surplus} out")
        return None
    if OWN.fullmatch(specification):
        raise UsageError(
            f"{judge.name} is of a file of your own, and a licence may run none: offer it by an "
            "entry point of refless.estimators, and judge again"
        )
    if n_given != 1:
        raise UsageError(
            f"{judge.name} estimates outputs by the rated texts that license it: give either "
            f"these with {called('rated')}, or what 'refless fit' made of them with "
            f"{called('model')}"
        )
    if model is not None:
        learned = opened(model).estimator
        given = called("model", fspath(model))
        _check_same(judge, str(learned.signature()), given)
        return learned
    read = read_partly(rated, reading, None, ("text", "rating"), kind_of(judge.inputs))
    tell(read)
    if read.pool is None:
        raise UsageError(f"{called('rated')}: no text has a rating")
    fit = estimator_of(specification)
    pool = with_votes(judge, read.pool)
    _check_same(judge, str(fit.signature(pool)), called("rated"))
    return fitted(fit, pool)


def kind_of(inputs: JudgeInputs) -> Kind:
    """The kind of files: those whose rows are runs, or others."""
    return "compared" if inputs.passing.keys() <= {*inputs.columns} else "runs"


def _check_same(judge: LicensedJudge, signature: str, given: str) -> None:
    """Raises UsageError unless this is the signature of the estimator that has the licence."""
    licensed = judge.inputs.signature
    if signature != licensed:
        raise UsageError(
            f"{given} is not what licensed {judge.name}: texts, ratings, scores or how they are "
            f"read are others ({signature}, and the licence has {licensed}). Give the "
            "files and the options of 'refless judge', or judge again"
        )


def with_votes(judge: LicensedJudge, texts: T) -> T:
    """The texts with the share of runs that pass as their only score, if runs vote."""
    passing = judge.inputs.passing
    if not passing:
        return texts
    lacking = sorted({*passing} - {*texts.score_names})
    if lacking:
        raise UsageError(
            f"{judge.name} has {len(passing)} runs; of {', '.join(lacking)} there is no "
            "score here: run the judge as often as for the licence, or judge again"
        )
    runs = np.stack([texts.score(name) for name in passing])
    shares = vote_shares(runs, passing.values())
    return replace(texts, **scored({VOTES: shares}))


def scores_of(
    judge: LicensedJudge, outputs: Outputs, estimator: Estimator | None
) -> FloatArray:
    """[n] the judge's scores of the outputs, NaN where there is none."""
    texts = with_votes(judge, outputs)
    if estimator is None:
        return texts.score(judge.name)
    estimates = estimated(estimator, texts)
    return estimates.on(estimator.rated.scale).values
