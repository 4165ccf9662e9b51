"""next: which outputs to have rated, and what the ratings should bring."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from refless.commands import function_of
from refless.commands.asking import asking
from refless.commands.calls import TO_RATE, check_asked, returning, writing
from refless.commands.compare.ratings import pair_of
from refless.commands.declared import parameters_of
from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.next.active_learning import GOALS, MOST, Choice, learn
from refless.commands.next.best import check_race, chosen_in_race
from refless.commands.next.inputs import PAIRED, ChoiceInputs, read_choice
from refless.commands.next.looks import number_of_looks, planned_ahead
from refless.commands.next.plan import (
    OF_PLANS,
    PlanResult,
    Study,
    check_plan,
    planned,
)
from refless.commands.next.planning import pilot_read
from refless.commands.next.raters_file import (
    columns_of_list,
    ids_tell,
    told_without_ids,
)
from refless.commands.next.result import NextResult
from refless.commands.next.sampling_design import (
    Units,
    beside_pair,
    chance_of,
    draw,
    items_to_draw,
    outputs_to_draw,
    systems_named,
    wanted,
)
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Dimension,
    Files,
    LowerIsBetter,
    Many,
    Names,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    Rows,
    ScoreColumn,
    Seed,
    SkipBad,
    TheseItems,
    Threads,
    command,
    names_in,
    this_call,
    words_of,
)
from refless.commands.populations import Looks
from refless.commands.rows import (
    ScoredRows,
    rated_of,
)
from refless.commands.warnings import note, silenced
from refless.data.records import Outputs, numbered
from refless.estimators import Estimator
from refless.evaluation.comparing import Pair
from refless.evaluation.scoring import scored
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.stats.group_sequential import LookPlan

USUAL = 50  # outputs, or items


NAMES = {NextResult: "next", PlanResult: "plan"}


@returning(NextResult, NAMES)
@command
def next(  # noqa: A001 - the command's name
    outputs: Argument = None,
    rated: Files = None,
    *,
    plan: bool = False,
    goal: Annotated[str | None, About(metavar="learn|mean|compare|best")] = None,
    n: Annotated[int | None, About(names=("-n",))] = None,
    system: Annotated[Names, About(metavar="NAME", kind=Many)] = None,
    within: float | None = None,
    difference: Annotated[float | None, About(above=0)] = None,
    sd: Annotated[float | None, About(above=0)] = None,
    looks: Annotated[
        Literal["any"] | int | Sequence[int] | None,
        About(metavar="NUMBER|any", kind=str),
    ] = None,
    base_rate: Annotated[float, About(above=0, below=1)] = 0.8,
    minutes_per_rating: Annotated[float, About(above=0)] = 0.5,
    these_items: TheseItems = False,
    blind: bool = False,
    estimator: Chosen = DEFAULT,
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
) -> NextResult | PlanResult:
    """Which outputs to have rated next, and what the ratings should bring.

    For example: refless next outputs.csv --goal compare -o to-rate.csv

    -o to-rate.csv writes the file for raters: the chosen outputs in a drawn order, an empty
    column for the rating, and no estimates. Once it is filled in, name
    it after the outputs: 'refless outputs.csv to-rate.csv'. Before the first rating, `plan`
    says how many are needed, or with `n` what so many show.

    Args:
        outputs: Files of outputs; - is standard input. Without `rated`: rows with a rating are
            rated texts, rows without one can be chosen. With `plan`: rated rows, which tell how
            far ratings differ.
        rated: Files of rated texts.
        plan: How many ratings a study needs, or with `n` what so many show: of a pass rate (with
            `scale` a mean rating), a judge's kappa, TPR and TNR, and a difference of two systems.
        goal: What the ratings are for. learn: better estimates of all these outputs; mean: the mean
            rating of these outputs; compare: how far two systems differ; best: which of several
            systems is the best, where those shown to be worse are dropped.
        n: Outputs to have rated; with `goal='compare'` or `goal='best'` items, all answers of each.
            Without it: 50, or up to the next look.
        system: With `goal='compare'`: the two systems, if there are more. With `goal='mean'`:
            those whose outputs are drawn. Repeatable.
        within: How exact is enough, in the raters' units: half the width of a 95 % interval.
            Without it: 5 % of the range of the ratings.
        difference: With `plan`: the difference of two systems to show. Without it: 10 % of the
            range, or half of what the base rate leaves.
        sd: With `plan` and `scale`: expected standard deviation of ratings, in the raters' units.
            Without it, and without rated rows: 33 % of the scale.
        looks: Looks that are planned while ratings arrive: with `plan` at a difference, with
            `goal='best'` at all systems. Without it: none, or 10 with best. With
            `goal='compare'` items at each, the last one too (20,40,60): `n` is up to the next one.
        base_rate: With `plan`: expected share of passes.
        minutes_per_rating: With `plan`: how long a rating takes.
        blind: Leave the system out of the file for raters.
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
    check_plan(this_call(), plan=plan)
    if plan:
        check_asked(PlanResult, "the plan of a study")
        study = Study(
            n=n,
            within=within,
            difference=difference,
            passing=base_rate,
            minutes=minutes_per_rating,
            spread=sd,
            scale=rows.to_reading().scale,
            looks=number_of_looks(looks),
        )
        return _plan(study, outputs, rows, seed)
    check_asked(NextResult, "which outputs to have rated")
    count = USUAL if n is None else n
    _check(goal, count, within, system)
    looked = planned_ahead(
        looks if goal == "compare" else None, these_items=these_items
    )
    _, look_plan = looked
    number = None if goal == "compare" else number_of_looks(looks)
    check_race(goal, number)
    if these_items and goal == "learn":
        raise UsageError(
            f"{called('these_items')} goes with {called('goal', 'mean')} or compare"
        )
    learner = chosen(estimator, threads, seed)
    drawn_of = names_in(system) if goal == "mean" else ()
    read = read_choice(outputs, rated, rows, goal, drawn_of)
    fit = None if read.pool is None else fitted(learner, read.pool)
    scale = None if fit is None else fit.rated.scale
    size = 1.0 if scale is None else scale[1] - scale[0]
    enough = wanted(fit) if within is None else within / size
    signs: dict[str, int | str] = {}
    if goal == "learn":
        choice = learn(fit, read.outputs, count, seed)
    elif goal == "mean":
        units = _outputs(fit, read, seed, these=these_items)
        choice = draw(units, count, seed, enough)
    elif goal == "best":
        choice, race_looks = chosen_in_race(
            (read.outputs, read.done),
            read.compared,
            learner,
            number,
            n,
            seed,
            these=these_items,
        )
        signs = {"looks": len(race_looks.at), "spending": race_looks.spending}
    else:
        systems = systems_named(read.outputs, read.done, system)
        units, pair = _items(fit, read, systems, size, seed, looked, these=these_items)
        if n is None and look_plan is not None:
            ahead = [at - units.already for at in look_plan.at if at > units.already]
            count = min(ahead, default=count)
        choice = replace(draw(units, count, seed, enough), pair=pair)
        if look_plan is not None:  # widths are those of one look
            choice = replace(choice, curve=())
    _note_choice(choice, read.outputs, fit, count)
    is_one_file = rated is None and len(words_of(outputs)) == 1
    has_ids = not (blind and _hides_ids(read.outputs, is_one_file=is_one_file))
    signature = _signature(fit, read.outputs, choice, seed)
    signature = signature.plus(**signs, **read.design.signs)
    if these_items:
        signature = signature.plus(these=True)
    if drawn_of:
        signature = signature.plus(system=drawn_of)
    partly = rated is None and fit is not None
    return NextResult(
        choice=choice.times(size),
        outputs=read.outputs,
        n_rated=0 if fit is None else len(fit.rated),
        design=read.design.said(noun="output"),
        these_items=these_items,
        writes=writing(replace(this_call(), name="next").said()),
        then=_then(outputs, rated, read, goal, look_plan, partly=partly),
        columns=columns_of_list(
            read.called, read.outputs, blind=blind, has_ids=has_ids
        ),
        rating_columns=read.called.get("rating") or ("rating",),
        chance=chance_of(read.chances, choice),
        signature=signature,
    )


def _plan(study: Study, rated: Rows, rows: ScoredRows, seed: int) -> PlanResult:
    """The plan of a study; rated rows, if there are any, tell the scale and the spread."""
    pilot = None
    if rated is not None:
        pool = rated_of(rated, rows)[0]
        study = replace(study, scale=pool.scale)
        pilot = pilot_read(pool)
    result = planned(study, pilot, seed)
    line = replace(this_call(), name="next").said(
        **dict.fromkeys((*OF_PLANS, "within", "looks")),
        outputs="FILE" if rated is None else rated,
        plan=False,
        goal="compare" if result.of_difference else "mean",
        n=result.headline.ratings // (1 + result.of_difference),
    )
    return replace(result, draws=writing(line))


def _check(goal: str | None, n: int, within: float | None, system: Names) -> None:
    """Raises UsageError for what cannot be honoured."""
    if goal not in GOALS:
        listed = "; ".join(f"{name} for {aim}" for name, aim in GOALS.items())
        raise UsageError(
            f"{called('goal')} is needed, what the ratings are for: {listed}"
        )
    least = 1 if goal == "learn" else 2
    if n < least:
        raise UsageError(
            f"{called('n')} must be {least} or more with {called('goal', goal)}, got {n}"
        )
    takes_width = goal in {"mean", "compare"}
    if within is not None and not (takes_width and 0 < within < math.inf):
        raise UsageError(
            f"{called('within')} is a number above 0, and goes with "
            f"{called('goal', 'mean')} or compare"
        )
    are_two = len({*names_in(system)}) == 2
    named = goal == "mean" or (goal == "compare" and are_two)
    if system is not None and not named:
        raise UsageError(
            f"{called('system')} names the two systems of {called('goal', 'compare')}: "
            f"{called('system', ['A', 'B'])}"
        )


def _outputs(
    estimator: Estimator | None, read: ChoiceInputs, seed: int, *, these: bool
) -> Units:
    """Each output, with the width of the interval for their mean that score has already."""
    outputs = read.outputs
    units = outputs_to_draw(estimator, outputs)
    units = replace(units, these=these, already=len(read.done))
    if estimator is None:
        return units
    errors = estimator.residuals()
    estimates = estimator.estimate(outputs)
    mean = scored(outputs, estimates, errors, seed=seed, these=these).overall
    low, high = mean.mean_interval
    return units if math.isnan(low) else replace(units, most=(high - low) / 2)


def _items(
    estimator: Estimator | None,
    read: ChoiceInputs,
    systems: tuple[str, str],
    size: float,
    seed: int,
    study: tuple[Looks, LookPlan | None],
    *,
    these: bool,
) -> tuple[Units, Pair | None]:
    """Items that both systems answered, and the two by today's ratings, if there are any."""
    looks, plan = study
    units = items_to_draw(estimator, read.outputs, systems, read.done)
    units = replace(units, these=these)
    if estimator is None or read.compared is None:
        return units, None
    with silenced():  # what it says of the rows was said
        pair = pair_of(
            read.compared,
            estimator.clone(),
            systems,
            seed,
            these=these,
            looks=looks,
            plan=plan,
        )
    return beside_pair(units, pair, size), pair


def _note_choice(
    choice: Choice,
    outputs: Outputs,
    estimator: Estimator | None,
    n: int,
) -> None:
    """Says so if the choice is not what was asked for."""
    if choice.n < n and choice.goal != "best":
        unit = "item" if choice.goal in PAIRED else "different output"
        note(f"there are no more than {counted(choice.n, unit)} without a rating")
    if estimator is None:
        note(
            "no text is rated yet, so the choice is random and nothing can be foretold"
        )
    elif choice.goal == "learn" and choice.way == "random":
        title = estimator.title
        note(
            f"{title} cannot tell which ratings teach it most here: the choice is random"
        )
    elif choice.goal == "learn" and choice.units > max(MOST, n):
        note(
            f"of {choice.units:,} different outputs {max(MOST, n):,} were drawn to choose from"
        )
    if outputs.ids and outputs.ids == numbered(len(outputs)):
        note(
            "without a column id the ids are numbers of rows: keep the files of outputs as they are"
        )


def _hides_ids(outputs: Outputs, *, is_one_file: bool) -> bool:
    """Whether ids would tell raters the system, and the list can do without; says so.

    Beside one file of outputs, texts tell which of them were rated.
    """
    if not ids_tell(outputs):
        return False
    if is_one_file and told_without_ids(outputs):
        note("ids hold names of systems, so the file for raters has none")
        return True
    note("ids hold names of systems: the file for raters is not blind by them")
    return False


def _then(
    outputs: Rows,
    rated: Rows,
    read: ChoiceInputs,
    goal: str | None,
    looks: LookPlan | None,
    *,
    partly: bool,
) -> str:
    """The lines that read the ratings: if a judge is named, one asks about it too."""
    several = len({*read.outputs.systems}) > 1
    compares = goal == "compare" or (goal == "mean" and several)
    files = [TO_RATE] if rated is None else [*words_of(rated), TO_RATE]
    if goal == "best":
        return replace(this_call(), name="next").said(n=None, rated=files)
    dropped = dict.fromkeys(("goal", "system", "within"), None)
    changes = {"n": None, "blind": False, "rated": files, **dropped}
    given = this_call().values
    is_of_one_file = given["blind"] and len(words_of(outputs)) == 1
    lacks_scores = not compares and (partly or given["score_column"])
    earlier = [] if rated is None else words_of(rated)
    # the list's rows take the scores of the outputs, in files beside each other
    together = [*earlier, *words_of(outputs), TO_RATE]
    if is_of_one_file or lacks_scores:
        changes |= {"outputs": together, "rated": None}
    if goal == "compare" and len(read.done):  # today's ratings may have been looked at
        changes["looks"] = "any"
    call = replace(this_call(), name="compare" if compares else "score")
    if looks is not None:  # which have an end there
        call = replace(call, parameters=parameters_of(function_of("compare")))
        changes |= {"looks": given["looks"], "of": looks.planned}
    lines = [call.said(**changes)]
    if given["score_column"]:
        lines.append(asking("judge", rated=together))
    return "\n".join(lines)


def _signature(
    estimator: Estimator | None, outputs: Outputs, choice: Choice, seed: int
) -> Signature:
    signed = Signature("random").plus(v=__version__)
    signed = signed if estimator is None else estimator.signature()
    within = None if math.isnan(choice.within) else float(f"{choice.within:.12g}")
    return signed.plus(
        goal=choice.goal, next=choice.n, of=len(outputs), within=within, seed=seed
    )
