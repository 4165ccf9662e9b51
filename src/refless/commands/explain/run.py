"""explain: the evidence behind one estimate."""

import sys
from dataclasses import replace
from os import PathLike
from typing import Annotated

from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.explain.result import ExplainResult
from refless.commands.models import saved_in, with_scores_of
from refless.commands.parameters import (
    About,
    Chosen,
    Dimension,
    Files,
    LowerIsBetter,
    Model,
    Natural,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    Rows,
    ScoreColumn,
    Seed,
    SkipBad,
    Threads,
    command,
)
from refless.commands.rows import (
    ScoredRows,
    check_standard_input,
    note_unread,
    rated_of,
)
from refless.commands.rows import outputs_of as read_outputs_of
from refless.commands.warnings import note
from refless.data.records import Outputs, as_outputs, outputs_of, scored
from refless.estimators import Estimator
from refless.registry.dialect import called
from refless.registry.errors import UsageError


@command
def explain(
    text: Annotated[str | None, About(argument=True)] = None,
    *,
    rated: Files = None,
    model: Model = None,
    estimator: Chosen = DEFAULT,
    id: str | None = None,  # noqa: A002 - the flag's name
    outputs: Files = None,
    source: str | None = None,
    most: Natural = 10,
    threads: Threads = None,
    seed: Seed = 0,
    columns: RatedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
    score_column: ScoreColumn = None,
) -> ExplainResult:
    """Show which rated texts an estimate rests on: similarity, rating, shared n-grams.

    For example: refless explain 'Some output.' --rated rated.csv

    Args:
        text: The output itself, of no system that is known; - reads it from standard input.
        rated: Files of rated texts.
        id: Explain the output of this id in `outputs`; without `outputs` the rated text of this id,
            held out.
        outputs: Files of outputs, for `id`.
        source: What `text` answers, where rated texts have sources.
        most: Rated texts to show.
    """
    rows = ScoredRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
        score_column=score_column,
    )
    check_standard_input(rated, outputs, text)
    if (text is None) == (id is None):
        raise UsageError(f"give either {called('text')} or {called('id')}")
    if outputs is not None and id is None:
        raise UsageError(f"{called('outputs')} goes with {called('id')}")
    if source is not None and text is None:
        raise UsageError(
            f"{called('source')} goes with {called('text')}; an id brings its own"
        )
    if model is not None:
        saved = saved_in(
            model, rated=rated, estimator=estimator, rows=rows, threads=threads
        )
        fit = saved.estimator
        rows = with_scores_of(fit, rows)
    else:
        fit = chosen(estimator, threads, seed)
        if rated is None:
            raise UsageError(
                f"{called('rated')} or {called('model')} is needed: estimates come from rated texts"
            )
        pool = rated_of(rated, rows)[0]
        note_unread([fit], pool)
        fitted(fit, pool)
    output, hide = _output(fit, text, id, outputs, rows)
    if source is not None:
        output = replace(output, sources=(source,))
    explanation = fit.explain(output, hide=hide, most=most)
    return ExplainResult(
        text=output.texts[0],
        explanation=explanation.on(fit.rated.scale),
        estimator=fit,
        most=most,
        signature=fit.signature(),
    )


def _output(
    estimator: Estimator,
    text: str | None,
    name: str | None,
    outputs: Rows,
    rows: ScoredRows,
) -> tuple[Outputs, str | None]:
    """The output to explain, and the id of the rated text to hold out, if it is one."""
    if text is not None:
        return _written(estimator, text), None
    texts = as_outputs(estimator.rated)
    if outputs is not None:
        texts = read_outputs_of(outputs, rows)
    if name not in texts.ids:
        raise UsageError(f"no id '{name}' in {_place(outputs)}")
    output = texts.take([texts.ids.index(name)])
    return output, name if outputs is None else None


def _written(estimator: Estimator, text: str) -> Outputs:
    """The text as an output of no system, without the scores that the estimator may read."""
    if text == "-":
        text = sys.stdin.read().rstrip("\r\n")
    reads = estimator.without_scores() is not None
    names = estimator.rated.score_names if reads else ()
    missing = {name: [None] for name in names}
    if missing:
        note(
            f"{called('text')} has no scores: they count as missing; {called('id')} with "
            f"{called('outputs')} brings them"
        )
    return replace(outputs_of([text]), systems=("",), **scored(missing))


def _place(outputs: Rows) -> str:
    """The place where an id was looked for."""
    if outputs is None:
        return "the rated texts"
    places = outputs if isinstance(outputs, list | tuple) else [outputs]
    if isinstance(places[0], str | PathLike):
        return str(places[0])
    return "the outputs"
