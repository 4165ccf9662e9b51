"""Saved estimators: opened, and checked before they are written."""

from dataclasses import replace
from os import fspath
from typing import Any

from refless.commands.estimating import DEFAULT
from refless.commands.parameters import Folder, RatedRows, Rows
from refless.commands.rows import ScoredRows
from refless.data.tables import check_made_with
from refless.estimators import Estimator
from refless.estimators.saved import Saved, opened
from refless.files.arrays import check_ending
from refless.files.writing import check_writable
from refless.registry.dialect import called
from refless.registry.errors import UsageError


def saved_in(
    model: Folder, *, rated: Rows, estimator: Any, rows: RatedRows, threads: int | None
) -> Saved:
    """The fitted estimator in a file.

    Raises:
        UsageError: what it has already is given as well, or other settings than it was made with.
        InputError: none there, or a damaged one.
    """
    surplus = "" if rated is None else "rated"
    if not surplus and estimator != DEFAULT:
        surplus = "estimator"
    if surplus:
        saved_model = called("model", fspath(model))
        raise UsageError(
            f"{saved_model} has its own {called(surplus)}; leave one of them out"
        )
    saved = opened(model, threads)
    check_made_with(saved.estimator.rated, rows.to_reading(), "model")
    return saved


def check_saving(path: Folder) -> None:
    """Raises UsageError or InputError for a file that a fitted estimator cannot be saved in."""
    check_ending(path)
    check_writable(fspath(path))


def with_scores_of(estimator: Estimator, rows: ScoredRows) -> ScoredRows:
    """Row options with the estimator's score columns."""
    names = estimator.rated.score_names
    if rows.score_column or not names or estimator.without_scores() is None:
        return rows
    return replace(rows, score_column=names)
