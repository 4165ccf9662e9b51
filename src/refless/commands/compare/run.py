"""compare: which system is better, how sure, and how many ratings would settle it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from refless.commands.compare.board import board
from refless.commands.compare.document import why_not
from refless.commands.compare.field import errors_of, field_of
from refless.commands.compare.inputs import (
    Inputs,
    Selection,
    check_gate,
    note_draw,
    read_inputs,
    selection_of,
    systems_of,
)
from refless.commands.compare.looks import looks_of
from refless.commands.compare.result import CompareResult
from refless.commands.compare.scores import ScoresResult, compared_scores
from refless.commands.compare.wins import wins
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
)
from refless.commands.rows import (
    ScoredRows,
    note_scale,
)
from refless.commands.warnings import note
from refless.data.choices import are_choices, choices_in
from refless.data.human import canonical_order, fingerprint
from refless.data.records import RatedPool, Residuals
from refless.data.tables.runs import ScoredRuns
from refless.estimators import Estimator
from refless.estimators.crossfit import folds_for
from refless.evaluation.comparing import Pair, compared
from refless.evaluation.entries import Field
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.report.result import GateRecord, decided
from refless.report.wording import numbers
from refless.stats.group_sequential import LookPlan
from refless.stats.intervals import Interval

OF_RATINGS = ("scale", "pool", "size", "v")  # in an estimator's signature


@command
def compare(
    outputs: Argument,
    *,
    rated: Files = None,
    system: Annotated[Names, About(metavar="NAME", kind=Many)] = None,
    estimator: Chosen = DEFAULT,
    selection: Literal["random", "unknown"] | None = None,
    fail_if_worse: bool = False,
    margin: Annotated[float, About("", at_least=0)] = 0.0,
    group: Group = None,
    these_items: TheseItems = False,
    looks: Looks = "one",
    of: Annotated[int | None, About(at_least=2, metavar="ITEMS")] = None,
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
) -> CompareResult | WinsResult | ScoresResult:
    """Which system is better, how sure that is, and how many ratings would settle it.

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
        selection: How rated outputs were selected. random: a simple random sample; unknown: ratings
            teach the estimates, and do not stand for the outputs that are not rated. Without it: by
            the chances in a column probability (or inclusion_probability) if there is one, else
            random.
        fail_if_worse: Gate: exit 3 if the second system is worse than the first, 4 if that cannot
            be told.
        margin: By how much it may be worse, in the raters' units. With planned looks: a difference
            within it on either side is small enough to end the study.
        of: With a number of planned looks: items that are rated at the last one.
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
    kind, plan = looks_of(looks, of, these=these_items)
    learner = chosen(estimator, threads, seed)
    inputs = read_inputs(outputs, rated, rows, group)
    systems = systems_of(inputs.systems, outputs, names_in(system))
    if fail_if_worse:
        check_gate(systems, outputs, system)
    if isinstance(inputs, ScoredRuns):
        if plan:
            raise UsageError(
                f"{called('looks')} with a plan is about ratings of people"
            )
        return compared_scores(
            inputs,
            systems,
            group=group,
            margin=margin,
            gated=fail_if_worse,
            these_items=these_items,
            looks=kind,
        )
    _check_margin(margin, used=fail_if_worse or plan is not None)
    note_scale(inputs.pool)
    if are_choices(inputs.pool) and are_choices(inputs.outputs.texts):
        of_ratings = {"selection": selection, "group": group, "rated": rated, "of": of}
        _check_choices(of_ratings)
        return _won(inputs.pool, systems, margin, gated=fail_if_worse)
    how = selection_of(selection, inputs.outputs)
    _note_selection(how, inputs, group)
    errors = errors_of(inputs, learner, drawn=how != "unknown")
    field = replace(
        field_of(inputs, learner, seed, how),
        these=these_items,
        reach=_reach(inputs.pool) if kind == "any" else 0.0,
        plan=plan,
    )
    comparison = compared(field, errors, systems)
    judges = {
        name: _judged(field, column, systems)
        for name, column in zip(
            field.outputs.score_names, field.outputs.scores.T, strict=True
        )
    }
    gate = _gate_of(comparison.pairs[0], margin) if fail_if_worse else GateRecord()
    signature = _signature(inputs, learner).plus(
        rated=how,
        **inputs.design.signs,
        crossed=folds_for(inputs.pool),
        seed=seed,
        **_asked(None if system is None else systems, plan, kind, these=these_items),
    )
    return CompareResult(
        comparison=comparison,
        scale=inputs.pool.scale,
        design=inputs.design.said(inputs.pool.ratings, inputs.noun),
        selection=how,
        estimator=learner.title if inputs.has_texts else "",
        these_items=these_items,
        looks=kind,
        margin=margin,
        judges=judges,
        gate=gate,
        signature=signature.plus(margin=margin)
        if fail_if_worse or margin
        else signature,
    )


def _check_choices(of_ratings: Mapping[str, object]) -> None:
    """Raises UsageError for parameters of ratings that were given with choices of people."""
    if given := [
        called(name) for name, value in of_ratings.items() if value is not None
    ]:
        raise UsageError(
            f"{given[0]} is about ratings, and these are choices of people"
        )


def _check_margin(margin: float, *, used: bool) -> None:
    """Raises UsageError for a margin that nothing uses."""
    if margin and not used:
        raise UsageError(
            f"{called('margin')} goes with {called('fail_if_worse')}, or with planned looks"
        )


def _note_selection(how: Selection, inputs: Inputs, group: str | None) -> None:
    """Says what follows from how the rated outputs were chosen."""
    if not inputs.has_texts:
        _note_textless(how)
    if how == "random":
        note_draw(inputs, group, _if_selected())


def _asked(
    systems: Sequence[str] | None, plan: LookPlan | None, looks: str, *, these: bool
) -> dict[str, Any]:
    """The parts of the signature that only some questions have."""
    parts: dict[str, Any] = {}
    if systems is not None:
        parts["systems"] = tuple(systems)
    if these or looks != "one":
        parts |= {"these": these, "looks": looks}
    if plan is not None:
        parts |= {"at": plan.at, "of": plan.planned, "spending": plan.spending}
    return parts


def _if_selected() -> str:
    """What follows for ratings that were not drawn at random."""
    unknown = called("selection", "unknown")
    return (
        f"Ratings then do not stand for the outputs without one: {unknown} lets them teach "
        "estimates, and no more."
    )


def _note_textless(how: Selection) -> None:
    """Says that nothing is estimated; UsageError if nothing but estimates would answer."""
    if how == "unknown":
        raise UsageError(
            f"{called('selection', 'unknown')} needs texts: without them ratings teach no "
            "estimates of the rest"
        )
    note(
        "there are no texts, so people's ratings alone are compared, without estimates"
    )


def _gate_of(pair: Pair, margin: float) -> GateRecord:
    """Whether the second system is worse than the first by more than the margin."""
    worse = f"is worse by more than {margin:g}" if margin else "is worse at all"
    ends = pair.difference.interval
    return _gate(pair.second, "difference", ends, 0.0 - margin, worse, why_not(pair))


def _judged(
    field: Field, scores: FloatArray, systems: Sequence[str]
) -> tuple[Pair, ...]:
    """What a judge's scores alone say of the same outputs, in its own units."""
    unknown = np.full(len(scores), np.nan)
    alone = replace(
        field,
        human=scores,
        estimates=unknown,
        probability=unknown,
        scale=None,
        raters=None,
    )
    nothing = Residuals(values=np.zeros(0))
    return compared(
        replace(alone, drawn=True, reach=0.0, plan=None), nothing, systems
    ).pairs


def _won(
    pool: RatedPool, order: Sequence[str], margin: float, *, gated: bool
) -> WinsResult:
    """How often each system is preferred to another, where people chose between their texts."""
    rates = wins(pool, order)
    if not rates:
        raise UsageError(f"nobody chose between {' and '.join(order)}")
    gate = GateRecord()
    if gated:
        worse = f"wins less than {0.5 - margin:g}"
        ends = rates[0].by_item.interval
        few = "the choices are of one source"
        gate = _gate(rates[0].second, "win rate", ends, 0.5 - margin, worse, few)
    choices = choices_in(pool)
    among = np.isin(np.array(pool.systems, dtype=object), order)
    rows = among[choices.first] & among[choices.second]
    groups = len(np.unique(choices.groups[rows]))
    signed = Signature("wins").plus(ties="half", systems=tuple(order), ci="contrast")
    signed = signed.plus(drawn="source", units=groups)
    signed = signed.plus(
        pool=fingerprint(pool.take(canonical_order(pool))), v=__version__
    )
    return WinsResult(
        board=board(pool, order) if len(order) > 2 else None,
        wins=rates,
        choices=int(choices.votes[rows].sum()),
        groups=groups,
        gate=gate,
        signature=signed.plus(margin=margin) if gated else signed,
    )


def pair_of(
    inputs: Inputs,
    estimator: Estimator,
    systems: Sequence[str],
    seed: int,
    *,
    these: bool = False,
) -> Pair:
    """Two systems as 'refless compare' has them, if rated outputs were drawn at random."""
    errors = errors_of(inputs, estimator, drawn=True)
    field = field_of(inputs, estimator, seed, "random")
    return compared(replace(field, these=these), errors, systems).pairs[0]


def _gate(
    system: str, measure: str, interval: Interval, least: float, worse: str, none: str
) -> GateRecord:
    """Whether the measure of the second system is below the least that is allowed; noted, too.

    Args:
        system: the second one; measure: what is measured, with its interval.
        least: that is allowed; worse: what is said of a system below it.
        none: why there is no interval, if there is none.
    """
    ends = f"the interval of the {measure}, {' to '.join(numbers(interval))},"
    verdict = decided(interval, ">=", least)
    reasons = {
        "failed": f"{system} is worse: {ends} ends below {least:g}",
        "undecided": f"{ends} does not tell if {system} {worse}",
        "passed": f"{ends} rules out that {system} {worse}",
    }
    reason = reasons[verdict]
    if math.isnan(interval[0]):
        reason = f"the {measure} has no interval: {none}"
    gate = GateRecord.of(verdict, reason)
    note(gate.reason)
    return gate


def _reach(pool: RatedPool) -> float:
    """How far two ratings can lie apart, as far as is known."""
    low, high = pool.scale or (pool.ratings.values.min(), pool.ratings.values.max())
    return float(high - low)


def _signature(inputs: Inputs, estimator: Estimator) -> Signature:
    texts = inputs.outputs.texts
    columns = [column for column in (texts.systems, texts.items, texts.texts) if column]
    signed = estimator.signature(inputs.pool)
    if not inputs.has_texts:
        kept = [(key, value) for key, value in signed.settings if key in OF_RATINGS]
        signed = Signature("ratings", tuple(kept))
    return signed.plus(outputs=digest_of(columns))
