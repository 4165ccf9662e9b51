"""refless validate: does the estimator deserve trust on these ratings?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from refless.cli.console import progress
from refless.cli.options import EstimatorOptions, InputOptions, ResultOptions
from refless.errors import UsageError

if TYPE_CHECKING:
    from refless.estimators import Estimator
    from refless.index import RatedIndex
    from refless.records import RatedPool
    from refless.report.parts import Advice
    from refless.studies.validation import Validation

FEWEST_RESAMPLES = 40  # the outermost 2.5 % of them are then one
NAMED_GROUPS = ("id", "source", "system", "item", "task")


def validate(
    pool: Annotated[list[str], typer.Argument(help="Files of rated texts, or one index folder.")],
    reading: InputOptions,
    estimation: EstimatorOptions,
    result: ResultOptions,
    group: Annotated[
        str,
        typer.Option(
            help="What is held out together: id (each text alone), source, system, item, task "
            "or a column's name."
        ),
    ] = "id",
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples behind intervals.")] = 1000,
) -> None:
    """Judge every rated text by the others and compare with its own ratings.

    Prints errors and correlations with 95 % intervals and coverage, beside a constant, a line on
    length, and single annotators where the ratings name them.
    """
    from refless.cli.output import check, emit
    from refless.cli.reading import estimator_of, rated_of
    from refless.report.agreement import validation_view

    check(result)
    if resamples < FEWEST_RESAMPLES:
        raise UsageError(
            f"--resamples must be {FEWEST_RESAMPLES} or more: a 95 % interval needs as many"
        )
    estimator = estimator_of(estimation, result.seed)
    rated, column = rated_of(pool, reading, None if group in NAMED_GROUPS else group)
    how = _How(group, column, result.seed, resamples)
    found = _validation(estimator, rated, how)
    emit(validation_view(found, _advice(estimator, found, how)), result)


@dataclass(frozen=True, slots=True)
class _How:
    """What is held out together, by name and by the values of the user's column; the bootstrap."""

    group: str
    column: tuple[str, ...]
    seed: int
    resamples: int


def _validation(estimator: Estimator, rated: RatedPool | RatedIndex, how: _How) -> Validation:
    from refless.index import RatedIndex
    from refless.studies.validation import codes, group_labels, validation

    pool = rated.pool if isinstance(rated, RatedIndex) else rated
    labels = group_labels(pool, how.group, how.column)
    with progress("judging each text by the others") as show:
        estimator.progress = show
        estimates = estimator.held_out(rated, codes(labels))
    return validation(
        pool,
        estimates,
        labels,
        estimator.signature(),
        group=how.group,
        seed=how.seed,
        resamples=how.resamples,
    )


def _advice(estimator: Estimator, found: Validation, how: _How) -> Advice | None:
    from refless.cli import advice
    from refless.records import as_outputs
    from refless.report.parts import Advice
    from refless.studies.abstention import abstention

    others = len(estimator.rated) - (how.group == "id")
    missing = abstention(as_outputs(found.pool), found.estimates, others)
    if not missing.serious:
        return None
    sentence = missing.sentence(advice.threshold(estimator))
    best = advice.best_command(estimator, missing)
    weighted = advice.weighted_mean(estimator)
    if weighted is None:
        return Advice(sentence=sentence, best=best)
    other = _validation(weighted, found.pool, how)
    return Advice(
        sentence=sentence,
        name=advice.NAME,
        command=advice.command() if other.estimator.spearman > 0 else None,
        best=best,
        signature=other.signature,
        agreement=other.estimator,
    )
