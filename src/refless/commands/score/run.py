"""score: an estimate for each output, their mean, gates."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated

from refless.commands.advice import advice_on
from refless.commands.estimating import DEFAULT, chosen, estimated, fitted, saved_in, with_scores_of
from refless.commands.pairs.chances import ChancesResult
from refless.commands.pairs.run import chances, check_plain, given_pairs, learner
from refless.commands.parameters import (
    Argument,
    Chosen,
    Files,
    Flag,
    Looks,
    Model,
    Rows,
    Seed,
    Share,
    TheseItems,
    Threads,
    command,
)
from refless.commands.rows import (
    ScoredRows,
    both_of,
    check_standard_input,
    column_of,
    grouped_outputs_of,
    note_unread,
    rated_of,
    trained_rows,
)
from refless.commands.score.guards import warnings
from refless.commands.score.result import ScoreResult
from refless.commands.warnings import note
from refless.data.records import Outputs, RatedPool, Residuals, Scale
from refless.estimators import Estimator
from refless.estimators.intervals import FEWEST_SOURCES
from refless.estimators.saved import Saved
from refless.evaluation.best_of import best_of, check, labels, signed
from refless.evaluation.guards import Guards, alike, beats_constant, guards
from refless.evaluation.scoring import Mean, Scored, scored
from refless.evaluation.validation import GROUPS, group_labels
from refless.metrics.index import RatedIndex, rated_in
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.report.result import GateRecord

UNPROVEN = (
    "held-out estimates of the rated texts are not shown to err less than a constant, the mean of "
    "the other ratings. More ratings, or another estimator, may show it."
)
ALL_ALIKE = "the estimates hardly differ, so they do not tell a good output from a bad one."
BELOW = "gate failed: the mean's interval"
FEWEST_SYSTEMS = 5  # rated, by which the error of another can be told


@command
def score(
    outputs: Argument,
    rated: Files = None,
    *,
    model: Model = None,
    estimator: Chosen = DEFAULT,
    best_of: Annotated[str | None, Flag(metavar="item|source")] = None,
    fallback_below: float | None = None,
    min_mean: float | None = None,
    min_coverage: Share[float | None] = None,
    group: str | None = None,
    trained_on: Files = None,
    these_items: TheseItems = False,
    looks: Looks = "one",
    threads: Threads = None,
    seed: Seed = 0,
    rows: ScoredRows,
) -> ScoreResult | ChancesResult:
    """Estimate the quality of each output from the rated texts: no reference is needed.

    Shows the mean with its interval, the coverage, and each output's estimate, interval, support
    (how many rated texts it rests on) or the reason why there is none, in the raters' units. From
    preference pairs it tells the chance of each output to be preferred to an average one of them.

    Args:
        outputs: Files of outputs; - is standard input. Without --rated: rows with a rating are
            rated texts, rows without one are outputs.
        rated: Files of rated texts, or a folder made by 'refless index', or files of preference
            pairs.
        best_of: Keep the output with the highest estimate of each item or source; of equal ones the
            earliest row.
        fallback_below: With --best-of: mark items whose best estimate lies below, or that have
            none. In the raters' units.
        min_mean: Gate: exit 3 if the mean lies below, 4 if that cannot be told. In the raters'
            units.
        min_coverage: Gate: exit 3 below this coverage. --min-mean needs it where outputs have no
            estimate: the mean is then over a part of them.
        group: What belongs together where errors are measured, so that intervals hold for outputs
            of other groups: source (the default), item, task, system, text, id (each text alone) or
            a column's name.
        trained_on: Files that a generator was trained on, of any size: says which rated texts and
            outputs they hold. Every text in every row counts.
    """
    _check_choice(best_of, fallback_below)
    if best_of is not None and (these_items or looks != "one"):
        raise UsageError("--these-items and --looks are about means, and not for --best-of")
    if model is None and given_pairs(rated, rows):
        more = {"best_of": best_of, "fallback_below": fallback_below, "trained_on": trained_on}
        gates = {"min_mean": min_mean, "min_coverage": min_coverage}
        plain = {**more, **gates, "group": group, "looks": looks, "these_items": these_items}
        check_plain(plain, {"looks": "one", "these_items": False})
        return chances(outputs, rated, learner(estimator, threads, seed), rows)
    if model is None:
        one = chosen(estimator, threads, seed)
        given = _read(outputs, rated, one, rows, group)
    else:
        saved = saved_in(model, rated=rated, estimator=estimator, rows=rows, threads=threads)
        one, group = saved.estimator, _group_of(saved, group)
        given = _read_for(saved, outputs, rows)
    pool, found = given.rated, given.outputs
    scale = rated_in(pool).scale
    check_on(min_mean, scale, "--min-mean")
    check_on(fallback_below, scale, "--fallback-below")
    if best_of is not None:
        labels(found, best_of)
    note_unread([one], rated_in(pool))
    fit = one if model else fitted(one, pool, given.labels)
    scored = _scored(fit, given, seed, these=these_items, any_look=looks == "any")
    note_groups({*(given.groups or found.sources)}, one, group)
    note_systems({*found.systems}, one)
    learned = None if trained_on is None else trained_rows(trained_on, rows)
    guarded = guards(
        scored,
        one.rated,
        one.residuals().on(scale),
        learned,
        groups=given.groups,
        judges=one.without_scores() is not None,
        seed=seed,
    )
    below = fallback_below
    return _result(one, scored, guarded, min_mean, min_coverage, best_of, below, seed, group)


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """The rated texts and the outputs, with what belongs together where that is not the source."""

    rated: RatedPool | RatedIndex
    outputs: Outputs
    labels: Sequence[str] = ()
    groups: Sequence[str] = ()


def _read(
    outputs: Rows, rated: Rows, estimator: Estimator, rows: ScoredRows, group: str | None
) -> _Given:
    """The rated texts and the outputs, from two places or from one."""
    check_standard_input(outputs, rated)
    by = group or "id"
    own = estimator.from_model() if rated is None else None
    if own is not None:
        if group is not None:
            raise UsageError("--group is about rated texts, and a trained model needs none")
        return _Given(own, grouped_outputs_of(outputs, rows)[0])
    if rated is not None:
        pool, labels = rated_of(rated, rows, by)
        found, groups = grouped_outputs_of(outputs, rows, group=column_of(by))
    elif isinstance(outputs, RatedPool | Outputs):
        raise UsageError("rated is needed: estimates come from rated texts")
    else:
        both, others = both_of(outputs, rows, by)
        pool, labels, found, groups = both.pool, both.group, others.outputs, others.group
    return _Given(pool, found) if group is None else _grouped(pool, labels, found, groups, group)


def _group_of(saved: Saved, group: str | None) -> str | None:
    """What belongs together, which a model knows; UsageError for another."""
    if group not in {None, saved.group}:
        own = "without --group" if saved.group is None else f"with --group {saved.group}"
        raise UsageError(f"the model was made {own}; leave --group out, or make another")
    return saved.group


def _read_for(saved: Saved, outputs: Rows, rows: ScoredRows) -> _Given:
    """The outputs, and the rated texts of a fitted estimator."""
    one, group = saved.estimator, saved.group
    reading = with_scores_of(one, rows)
    found, groups = grouped_outputs_of(outputs, reading, group=column_of(group or "id"))
    own = () if group is None else together(found, groups, group)
    return _Given(one.rated, found, (), own)


def _grouped(
    rated: RatedPool | RatedIndex,
    labels: Sequence[str],
    outputs: Outputs,
    groups: Sequence[str],
    group: str,
) -> _Given:
    """Both with what belongs together; raises UsageError where one of them does not say it."""
    known = group_labels(rated_in(rated), group, labels)
    return _Given(rated, outputs, known, together(outputs, groups, group))


def together(outputs: Outputs, groups: Sequence[str], group: str) -> Sequence[str]:
    """[n] what each output belongs to; raises UsageError where that is not said."""
    found = groups or (getattr(outputs, GROUPS[group]) if group in GROUPS else ())
    found = outputs.ids if group == "id" else found
    if len(found) != len(outputs):
        raise UsageError(f"--group {group}: the outputs have no {group} column")
    return found


def _scored(
    estimator: Estimator, given: _Given, seed: int, *, these: bool, any_look: bool
) -> Scored:
    """Estimates and their means in the raters' units, as people read and write them."""
    scale = estimator.rated.scale
    estimates, errors = estimated(estimator, given.outputs), estimator.residuals().on(scale)
    return scored(
        given.outputs,
        estimates.on(scale),
        errors,
        given.groups,
        seed=seed,
        these=these,
        any_look=any_look,
    )


def _result(
    estimator: Estimator,
    scored: Scored,
    guarded: Guards,
    min_mean: float | None,
    min_coverage: float | None,
    by: str | None,
    below: float | None,
    seed: int,
    group: str | None,
) -> ScoreResult:
    outputs, estimates = scored.outputs, scored.estimates
    errors, best = estimator.residuals().on(estimator.rated.scale), None
    if by is not None:
        best = best_of(outputs, estimates, errors, by=by, fallback_below=below, seed=seed)
    warned = warnings(guarded, scored.overall)

    def decided(mean: Mean, rows: Sequence[int], name: str | None = None) -> GateRecord:
        if min_mean is None and min_coverage is None:
            return GateRecord()
        said = [line for line, systems in warned if name is None or name in (systems or {name})]
        doubts = [*doubted(errors, estimates.values[rows]), *said]
        return gate(mean, min_mean, min_coverage, doubts)

    found = decided(scored.overall, range(len(outputs)))
    if found.reason:
        note(found.reason)
    signature = Saved(estimator, group).signature.plus(ci="boot-1000", seed=seed)
    if scored.these or scored.any_look:
        signature = signature.plus(these=scored.these, looks="any" if scored.any_look else "one")
    if guarded.trained_on is not None:
        signature = signature.plus(trainedon=guarded.trained_on.digest)
    return ScoreResult(
        scored=scored,
        guards=guarded,
        estimator=estimator,
        best=best,
        advice=advice_on(estimator, outputs, estimates, len(estimator.rated)),
        gate=found,
        gates={
            name: decided(mean, [i for i, own in enumerate(outputs.systems) if own == name], name)
            for name, mean in scored.systems.items()
        },
        seed=seed,
        signature=signature if best is None else signed(best, signature),
    )


def note_groups(judged: AbstractSet[str], estimator: Estimator, group: str | None) -> None:
    """Says so where too few rated sources tell how far estimates for others lie off."""
    errors, name = estimator.residuals(), group or "source"
    if group is not None and len(errors.values) and not errors.sources:
        note(
            f"--group {group} changes nothing here: intervals of {estimator.title} come from texts "
            "that were kept aside one by one, and may be too narrow for other groups; "
            f"'refless validate --group {group}' holds whole groups out"
        )
    rated = {*errors.sources}
    if not rated or judged <= rated:
        return
    if len(rated) == 1:
        note(
            f"all rated texts are of one {name}: no interval knows how far estimates for another "
            f"{name} lie off; rate texts of more {name}s"
        )
    elif len(rated) < FEWEST_SOURCES:
        note(
            f"the rated texts are of {len(rated)} {name}s, too few to tell well how far estimates "
            f"for other {name}s lie off: intervals are widened for that, and rest on the errors "
            f"of {len(rated)} {name}s being normal"
        )


def note_systems(systems: AbstractSet[str], estimator: Estimator) -> None:
    """Says so where few or no rated texts can tell how far whole systems are misjudged."""
    rated = {*estimator.residuals().systems} - {""}
    new = sorted(systems - rated - {""})
    if not rated and new:
        note(
            "intervals of systems do not know how far a whole system is estimated too high or "
            "too low: that takes rated texts with their systems, and another estimator than RatPred"
        )
    elif new and len(rated) < FEWEST_SYSTEMS:
        note(
            f"{counted(len(new), 'system')} without rated texts: how far such a system is "
            f"estimated too high or too low, {counted(len(rated), 'rated system')} cannot tell "
            "well; the intervals of their texts and means go by a rule of thumb. Rate some of "
            "their texts"
        )


def _check_choice(by: str | None, fallback_below: float | None) -> None:
    """Raises UsageError for a choice that cannot be made.

    A threshold alone is refused: whether outputs or items fall back would be a guess.
    """
    if by is not None:
        check(by, fallback_below)
    elif fallback_below is not None:
        raise UsageError(
            "--fallback-below marks what --best-of chose: add --best-of item (an item with one "
            "output falls back by that)"
        )


def check_on(value: float | None, scale: Scale | None, flag: str) -> None:
    """Raises UsageError for a value outside the scale."""
    low, high = scale or (-math.inf, math.inf)
    if value is not None and not low <= value <= high:
        raise UsageError(f"{flag} is in the raters' units, from {low:g} to {high:g}; got {value:g}")


def doubted(errors: Residuals, estimates: FloatArray) -> tuple[str, ...]:
    """Why estimates say nothing of what people would rate, a sentence each."""
    weak = () if beats_constant(errors) else (UNPROVEN,)
    return (*weak, ALL_ALIKE) if alike(estimates, errors) else weak


def gate(
    mean: Mean,
    min_mean: float | None,
    min_coverage: float | None,
    doubts: Sequence[str] = (),
) -> GateRecord:
    """Whether a mean passes.

    A gate that fails fails whatever is in doubt, but for an estimator that knows no more than the
    mean of the ratings: then the mean says nothing of these outputs.

    Args:
        mean: of the outputs.
        min_mean: the least that it may be; None for no gate.
        min_coverage: the least coverage; None for no gate.
        doubts: why a mean that is high enough shows nothing, a sentence each.
    """
    found = _measured(mean, min_mean, min_coverage)
    void = UNPROVEN in doubts and found.reason.startswith(BELOW)
    if not doubts or not (found.verdict == "passed" or void):
        return found
    why = doubts[0].partition(". ")[0].removesuffix(".")
    return GateRecord("undecided", f"gate undecided: {why}")


def _measured(mean: Mean, min_mean: float | None, min_coverage: float | None) -> GateRecord:
    """What the numbers say, as if nothing were in doubt."""
    if min_coverage is not None and not mean.coverage >= min_coverage:
        return GateRecord(
            "failed", f"gate failed: coverage {mean.coverage:.3f} is below {min_coverage:g}"
        )
    if min_mean is None:
        enough = f"gate passed: coverage {mean.coverage:.3f} is not below {min_coverage}"
        return GateRecord() if min_coverage is None else GateRecord("passed", enough)
    if mean.n_scored < mean.n and min_coverage is None:
        return GateRecord(
            "undecided",
            f"gate undecided: the mean is over {mean.n_scored} of {mean.n} outputs, those that "
            "have an estimate; --min-coverage says how many are enough",
        )
    low, high, least = (f"{one:.3f}" for one in (*mean.mean_interval, min_mean))
    if math.isnan(mean.mean_interval[0]):
        return GateRecord(
            "undecided",
            "gate undecided: the mean has no interval; that takes more outputs with an estimate",
        )
    if mean.mean_interval[1] < min_mean:
        return GateRecord("failed", f"{BELOW} ends at {high}, below {least}")
    if mean.mean_interval[0] < min_mean:
        held = f"gate undecided: the mean's interval [{low}, {high}] holds {least}"
        return GateRecord("undecided", f"{held}; more outputs or more rated texts narrow it")
    return GateRecord(
        "passed", f"gate passed: the mean's interval begins at {low}, not below {least}"
    )
