"""gate: may the new system take the place of the old one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from refless.commands.compare.choices import compared_choices
from refless.commands.compare.inputs import Inputs, read_inputs, selection_of
from refless.commands.compare.ratings import compared_ratings
from refless.commands.compare.result import CompareResult
from refless.commands.compare.scores import ScoresResult, compared_scores
from refless.commands.compare.wins_result import WinsResult
from refless.commands.estimating import DEFAULT, chosen
from refless.commands.gate.as_if_same import verdicts_if_same
from refless.commands.gate.measures import measures_of
from refless.commands.gate.result import GateResult
from refless.commands.gate.verdict import decided_by
from refless.commands.gate.workflow import write_workflow
from refless.commands.parameters import (
    RESULT,
    About,
    Argument,
    Chosen,
    Dimension,
    Files,
    Group,
    LowerIsBetter,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    ScoreColumn,
    Seed,
    SkipBad,
    TheseItems,
    Threads,
    command,
    names_in,
    this_call,
)
from refless.commands.rows import ScoredRows, note_scale
from refless.commands.warnings import note
from refless.data.choices import are_choices
from refless.data.tables.runs import ScoredRuns
from refless.registry.dialect import called
from refless.registry.errors import UsageError

Looks = Annotated[
    Literal["one", "any"],
    About(
        "one: right for one look. any: however often the gate is asked while ratings arrive.",
        panel=RESULT,
    ),
]


@command
def gate(
    outputs: Argument,
    *,
    baseline: str,
    candidate: str | None = None,
    margin: Annotated[float, About("", at_least=0)] = 0.0,
    rated: Files = None,
    estimator: Chosen = DEFAULT,
    selection: Literal["random", "unknown"] | None = None,
    group: Group = None,
    these_items: TheseItems = False,
    looks: Looks = "one",
    workflow: bool = False,
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
) -> GateResult:
    """Gate: may the new system take the place of the old one? Passed, failed or undecided.

    For example: refless gate evals.csv --baseline v1 --margin 0.2 -o gate.html

    It fails if the new system is surely worse by more than the margin, and passes if that is ruled
    out; else it is undecided, and says what would decide it. Numbers are those of 'refless
    compare', by ratings of people, their choices, or scores without ratings: those of a metric,
    too, as 'refless metric -o scored.csv' writes them. Exit status: 0 passed, 3 failed, 4
    undecided.

    Args:
        outputs: Files of outputs with a column of systems, or one file for each system, with
            ratings or scores.
        baseline: The old system.
        candidate: The new system; needed where there are more than two.
        margin: By how much the new system may be worse: in units of the ratings or scores, or of
            the win rate.
        rated: Files of further rated texts, for the estimates; those that are outputs compared here
            count as their ratings.
        selection: How rated outputs were selected, as of 'refless compare'.
        workflow: Write .github/workflows/refless-gate.yml too, which asks this gate on every pull
            request.
    """
    rows = ScoredRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
        score_column=names_in(score_column),
    )
    learner = chosen(estimator, threads, seed)
    inputs = read_inputs(outputs, rated, rows, group)
    systems = _both(inputs.systems, baseline, candidate)
    compared: CompareResult | WinsResult | ScoresResult
    if isinstance(inputs, ScoredRuns):
        compared = compared_scores(
            inputs,
            systems,
            group=group,
            margin=margin,
            these_items=these_items,
            looks=looks,
        )
    elif _are_choices(inputs):
        compared = compared_choices(inputs.pool, systems, looks=looks)
    else:
        note_scale(inputs.pool)
        compared = compared_ratings(
            inputs,
            learner,
            systems,
            named=True,
            selection=selection_of(selection, inputs, group),
            margin=margin,
            these_items=these_items,
            looks=looks,
            plan=None,
            seed=seed,
            next_command="",
        )
    if not isinstance(compared, WinsResult):
        compared = replace(compared, gated=True)
    measures = measures_of(compared, margin)
    false_alarms, passes = verdicts_if_same(compared, systems, margin)
    record = decided_by(measures, systems, margin)
    note(record.reason)
    if workflow:
        note(write_workflow(this_call().line(workflow=False)))
    return GateResult(
        compared=compared,
        baseline=systems[0],
        candidate=systems[1],
        margin=margin,
        measures=measures,
        false_alarms=false_alarms,
        passes=passes,
        gate=record,
        signature=compared.signature.plus(margin=margin),
    )


def _are_choices(inputs: Inputs) -> bool:
    """Whether people chose between two texts."""
    return are_choices(inputs.pool) and are_choices(inputs.outputs.texts)


def _both(systems: Sequence[str], baseline: str, candidate: str | None) -> list[str]:
    """The old system and the new one.

    Raises:
        UsageError: a name that is no system, or nothing says which of several is the new one.
    """
    names = sorted({*systems})
    if baseline not in names:
        raise UsageError(
            f"{called('baseline', baseline)} is none of the systems: {', '.join(names)}"
        )
    others = [name for name in names if name != baseline]
    if candidate is None and len(others) == 1:
        return [baseline, *others]
    if candidate in others:
        return [baseline, candidate]
    if not others:
        raise UsageError(
            f"there is one system, '{baseline}'; a gate needs a new one beside it"
        )
    found = "nothing says which system is the new one"
    if candidate is not None:
        found = f"{called('candidate', candidate)} is no other system"
    raise UsageError(
        f"{found}: name one of {', '.join(others)} with {called('candidate')}"
    )
