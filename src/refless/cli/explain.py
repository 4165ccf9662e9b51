"""refless explain: the evidence behind one estimate."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from refless.cli.options import EstimatorOptions, InputOptions, ResultOptions
from refless.errors import UsageError

if TYPE_CHECKING:
    from refless.estimators import BLEUNeighbors


def explain(
    rated: Annotated[list[str], typer.Option(help="Files of rated texts, or one index folder.")],
    reading: InputOptions,
    estimation: EstimatorOptions,
    result: ResultOptions,
    text: Annotated[
        str | None,
        typer.Argument(help="The output itself; - reads it from standard input."),
    ] = None,
    id: Annotated[  # noqa: A002 - the flag's name
        str | None,
        typer.Option(
            help="Explain the output of this id in --outputs; without --outputs the rated text of "
            "this id, held out.",
            show_default=False,
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option(help="Files of outputs, for --id.", show_default=False)
    ] = None,
    most: Annotated[int, typer.Option(help="Neighbours to show.")] = 10,
) -> None:
    """Show which rated texts an estimate rests on: similarity, rating, shared n-grams."""
    from refless.cli.output import check_files, emit
    from refless.cli.reading import estimator_of, rated_of
    from refless.report.build import explanation_view

    check_files(result)
    if (text is None) == (id is None):
        raise UsageError("give either TEXT or --id")
    if outputs and id is None:
        raise UsageError("--outputs goes with --id")
    estimator = estimator_of(estimation, result.seed)
    pool, _ = rated_of(rated, reading)
    estimator.fit(pool)
    judged, hide = _output(estimator, text, id, outputs, reading)
    found = estimator.explain(judged, hide=hide, most=most)
    emit(explanation_view(judged, found, estimator.signature(), most), result)


def _output(
    estimator: BLEUNeighbors,
    text: str | None,
    name: str | None,
    outputs: list[str] | None,
    reading: InputOptions,
) -> tuple[str, str | None]:
    """The text to explain, and the id of the rated text to hold out, if it is one."""
    from refless.cli.reading import outputs_of_files

    if text is not None:
        return (sys.stdin.read().rstrip("\r\n") if text == "-" else text), None
    where = outputs_of_files(outputs, reading).outputs if outputs else estimator.rated
    if name not in where.ids:
        place = " ".join(outputs) if outputs else "the rated texts"
        raise UsageError(f"no id '{name}' in {place}")
    found = where.texts[where.ids.index(name)]
    return found, None if outputs else name
