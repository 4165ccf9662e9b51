"""compare: which system is better, how sure, and how many ratings would settle it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from refless.commands.asking import asking
from refless.commands.calls import check_asked, returning
from refless.commands.compare.certificate import VerifiedResult, verified
from refless.commands.compare.choices import compared_choices
from refless.commands.compare.inputs import (
    Inputs,
    read_inputs,
    selection_of,
    systems_of,
)
from refless.commands.compare.looks import looks_of
from refless.commands.compare.ratings import compared_ratings
from refless.commands.compare.result import CompareResult
from refless.commands.compare.scores import ScoresResult, compared_scores
from refless.commands.compare.wins_result import WinsResult
from refless.commands.estimating import DEFAULT, chosen
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Dimension,
    Files,
    Group,
    Looks,
    LowerIsBetter,
    Many,
    Names,
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
from refless.data.choices import CHOICES, are_choices
from refless.data.tables.runs import ScoredRuns
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.stats.group_sequential import LookPlan

NAMES = {
    CompareResult: "compare",
    WinsResult: "compare_choices",
    ScoresResult: "compare_scores",
    VerifiedResult: "compare_certificate",
}


@returning(CompareResult, NAMES)
@command
def compare(
    outputs: Argument,
    *,
    rated: Files = None,
    system: Annotated[Names, About(metavar="NAME", kind=Many)] = None,
    control: Annotated[Names, About(metavar="NAME", kind=Many)] = None,
    estimator: Chosen = DEFAULT,
    selection: Literal["random", "unknown"] | None = None,
    margin: Annotated[float, About("", at_least=0)] = 0.0,
    group: Group = None,
    these_items: TheseItems = False,
    looks: Looks = "one",
    of: Annotated[int | None, About(at_least=2, metavar="ITEMS")] = None,
    verify: bool = False,
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
) -> CompareResult | WinsResult | ScoresResult | VerifiedResult:
    """Which system is better, how sure that is, and how many ratings would settle it.

    For example: refless compare outputs.csv -o page.html

    Systems are compared on the items (or sources) that both answered. Some of their outputs are
    rated: their ratings tell the difference, and estimates of all outputs make it more exact
    (prediction-powered inference). An output's estimate knows no rating of its item. What ratings
    say alone stands beside it. Systems without ratings are compared by estimates alone, which is
    then said. Of preference pairs the win rate of one system over another is told.

    Args:
        outputs: Files of outputs with a column of systems, or one file for each system; rows with a
            rating are rated.
        rated: Files of further rated texts, for the estimates; those that are outputs compared here
            count as their ratings.
        system: A system to compare, the old one first; repeatable. Without it: all. Ratings of the
            others then only teach the estimates.
        control: Of choices between two texts: a column of both, such as length for length_a and
            length_b. Systems are compared as if their texts were alike in it; repeatable.
        selection: How rated outputs were selected. random: a simple random sample; unknown: ratings
            teach the estimates, and do not stand for the outputs that are not rated. Without it: by
            the chances in a column probability (or inclusion_probability) if there is one, else
            random, or unknown where rated outputs do not look so.
        margin: With planned looks, or scores without ratings: a difference within it on either side
            is small, and ends the study.
        of: With a number of planned looks: items that are rated at the last one.
        verify: Compute the certificate of a study again, from the ratings beside it; it takes the
            place of `outputs`. Exit 3 if it does not hold.
    """
    if verify:
        check_asked(VerifiedResult, "a certificate")
        return verified(this_call(), compare, compare_choices)
    controls = names_in(control)
    rows = ScoredRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
        score_column=(*names_in(score_column), *controls),
    )
    learner = chosen(estimator, threads, seed)
    inputs = read_inputs(outputs, rated, rows, group)
    _check_looks(looks, inputs)
    kind, plan = looks_of(looks, of, these_items=these_items)
    systems = systems_of(inputs.systems, outputs, names_in(system))
    next_command = _choosing(systems, kind, plan)
    if isinstance(inputs, ScoredRuns):
        check_asked(ScoresResult, "scores without ratings of people")
        _check_ratings(controls)
        return compared_scores(
            inputs,
            systems,
            group=group,
            margin=margin,
            these_items=these_items,
            looks=kind,
            next_command=next_command,
        )
    _check_margin(margin, used=plan is not None)
    note_scale(inputs.pool)
    if _are_choices(inputs):
        check_asked(WinsResult, CHOICES)
        of_ratings = {"selection": selection, "group": group, "rated": rated}
        of_ratings |= {"these_items": these_items or None, "of": of}
        _check_choices(of_ratings)
        return compared_choices(inputs.pool, systems, controls, kind)
    check_asked(CompareResult, "ratings of texts")
    _check_ratings(controls)
    result = compared_ratings(
        inputs,
        learner,
        systems,
        named=system is not None,
        selection=selection_of(selection, inputs, group),
        margin=margin,
        these_items=these_items,
        looks=kind,
        plan=plan,
        seed=seed,
        next_command=next_command,
    )
    better = result.better
    if not better:
        return result
    holding = asking("gate", baseline=better, looks=None, margin=None)
    return replace(result, gate_command=holding)


def _choosing(systems: Sequence[str], kind: str, plan: LookPlan | None) -> str:
    """The line that chooses from the same files what to rate next, for looks as they are."""
    if len(systems) > 2:
        return asking("next", goal="best", looks=None)
    looks = None if kind == "one" else kind
    if plan is not None:
        looks = ",".join(map(str, plan.at))
    return asking("next", goal="compare", looks=looks)


compare_choices = returning(WinsResult, NAMES)(compare)
compare_scores = returning(ScoresResult, NAMES)(compare)
compare_certificate = returning(VerifiedResult, NAMES)(compare)


def _are_choices(inputs: Inputs) -> bool:
    """Whether people chose between texts."""
    return are_choices(inputs.pool) and are_choices(inputs.outputs.texts)


def _check_looks(looks: Looks, inputs: Inputs | ScoredRuns) -> None:
    """Raises UsageError for looks that were planned at choices of people, or at scores alone."""
    if looks in ("one", "any"):
        return
    if isinstance(inputs, ScoredRuns) or _are_choices(inputs):
        raise UsageError(
            f"{called('looks')} with a plan is about ratings of people; without these "
            f"{called('looks', 'any')} holds however often you look"
        )


def _check_choices(of_ratings: Mapping[str, object]) -> None:
    """Raises UsageError for parameters of ratings that were given with choices of people."""
    for name, value in of_ratings.items():
        if value is not None:
            raise UsageError(
                f"{called(name)} is about ratings, and these are choices of people"
            )


def _check_ratings(controls: Sequence[str]) -> None:
    """Raises UsageError for controls, which are of choices, that were given with numbers."""
    if controls:
        raise UsageError(
            f"{called('control')} is about choices between two texts, and these are numbers"
        )


def _check_margin(margin: float, *, used: bool) -> None:
    """Raises UsageError for a margin that nothing uses."""
    if margin and not used:
        raise UsageError(
            f"{called('margin')} goes with planned looks; 'refless gate' has one of its own"
        )
