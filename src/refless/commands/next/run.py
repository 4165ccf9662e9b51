"""next: which outputs to have rated, and what the ratings should bring."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from refless.commands.compare.run import Inputs, inputs_of, pair_of
from refless.commands.estimating import DEFAULT, chosen, fitted
from refless.commands.next.result import NextResult
from refless.commands.parameters import (
    Argument,
    Chosen,
    Files,
    Flag,
    Many,
    Names,
    Rows,
    Seed,
    TheseItems,
    Threads,
    command,
    names_in,
    this_call,
    words_of,
)
from refless.commands.rows import (
    ScoredRows,
    check_standard_input,
    note_missing,
    tell,
    told_pool,
)
from refless.commands.warnings import collecting, note, overheard
from refless.data.records import Outputs, RatedPool, numbered
from refless.data.tables.partly_rated import PartlyRated, read_partly
from refless.estimators import Estimator
from refless.evaluation.active_learning import GOALS, MOST, Choice, learn
from refless.evaluation.comparing import Pair
from refless.evaluation.sampling_design import (
    Units,
    beside_pair,
    beside_rated,
    draw,
    items_to_draw,
    outputs_to_draw,
    wanted,
    with_pair,
)
from refless.evaluation.scoring import scored
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.registry.version import __version__

TO_RATE = "to-rate.csv"
ROLES = ("id", "item", "system", "source", "text")  # columns of the file for raters


@command
def next(  # noqa: A001 - the command's name
    outputs: Argument,
    rated: Files = None,
    *,
    goal: Annotated[str | None, Flag(metavar="learn|mean|compare")] = None,
    n: Annotated[int, Flag(names=("-n",))] = 50,
    system: Annotated[Names, Flag(metavar="NAME", kind=Many)] = None,
    within: float | None = None,
    these_items: TheseItems = False,
    blind: bool = False,
    estimator: Chosen = DEFAULT,
    threads: Threads = None,
    seed: Seed = 0,
    rows: ScoredRows,
) -> NextResult:
    """Which outputs to have rated next, and what the ratings should bring.

    -o to-rate.csv writes the file for raters: the chosen outputs in a drawn order, an empty
    column for the rating, and no estimates. Once it is filled in, give
    it to 'refless score', 'validate' or 'compare' with --rated.

    Args:
        outputs: Files of outputs; - is standard input. Without --rated: rows with a rating are
            rated texts, rows without one can be chosen.
        rated: Files of rated texts.
        goal: What the ratings are for. learn: better estimates of all these outputs; mean: the mean
            rating of these outputs; compare: how far two systems differ.
        n: Outputs to have rated; with --goal compare items, both answers of each.
        system: With --goal compare: the two systems, where there are more. Repeatable.
        within: How exact is enough, in the raters' units: half the width of a 95 % interval.
            Without it: 5 % of the range of the ratings.
        blind: Leave the system out of the file for raters.
    """
    _check(goal, n, within, system)
    if these_items and goal == "learn":
        raise UsageError("--these-items goes with --goal mean or compare")
    one = chosen(estimator, threads, seed)
    read = _read(outputs, rated, rows, goal)
    pool, found, done = read.pool, read.outputs, read.done
    known = None if pool is None else fitted(one, pool)
    scale = None if known is None else known.rated.scale
    size = 1.0 if scale is None else scale[1] - scale[0]
    enough = wanted(known) if within is None else within / size
    if goal == "learn":
        choice = learn(known, found, n, seed)
    elif goal == "mean":
        units = beside_rated(_outputs(known, found, seed, these=these_items), done)
        choice = draw(units, n, seed, enough)
    else:
        names = _systems(found, done, system)
        units = replace(items_to_draw(known, found, names, done), these=these_items)
        pair = None
        if known is not None and read.given is not None:
            pair = _pair(read.given, known, names, seed, these=these_items)
        units = units if pair is None else beside_pair(units, pair, size)
        choice = draw(units, n, seed, enough)
        choice = choice if pair is None else with_pair(choice, pair, size)
    _note_choice(choice, found, known, n, blind=blind)
    signed = _signature(known, found, choice, seed)
    return NextResult(
        choice=choice.times(size),
        outputs=found,
        n_rated=0 if known is None else len(known.rated),
        these_items=these_items,
        then=_then(outputs, rated, found, goal, partly=rated is None and known is not None),
        columns=_columns(read.called, found, blind=blind),
        rating_columns=read.called.get("rating") or ("rating",),
        signature=signed.plus(these=True) if these_items else signed,
    )


def _check(goal: str | None, n: int, within: float | None, system: Names) -> None:
    """Raises UsageError for what cannot be honoured."""
    if goal not in GOALS:
        said = "; ".join(f"{name} for {what}" for name, what in GOALS.items())
        raise UsageError(f"--goal is needed, what the ratings are for: {said}")
    if n < (least := 1 if goal == "learn" else 2):
        raise UsageError(f"-n must be {least} or more with --goal {goal}, got {n}")
    if within is not None and not (goal != "learn" and 0 < within < math.inf):
        raise UsageError("--within is a number above 0, and goes with --goal mean or compare")
    if system is not None and (goal != "compare" or len({*names_in(system)}) != 2):
        raise UsageError("--system names the two systems of --goal compare: --system A --system B")


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """What is there.

    Attributes:
        pool: the rated texts, if any; outputs, done: outputs without and with a rating.
        called: names of columns by role, which the file for raters takes over: those of the rated
            texts, beside which it will stand, before those of the outputs.
        given: the same as `compare` has it; None for other goals, or where nothing is rated.
    """

    pool: RatedPool | None
    outputs: Outputs
    done: Outputs
    called: Mapping[str, tuple[str, ...]]
    given: Inputs | None


def _read(outputs: Rows, rated: Rows, rows: ScoredRows, goal: str | None) -> _Read:
    """The rated texts, the outputs that nobody has rated, and those that were."""
    check_standard_input(outputs, rated)
    reading = replace(rows.reading(), elsewhere=rated is not None)
    read = read_partly(outputs, reading, "" if goal == "compare" else None)
    tell(read)
    note_missing(read.texts)
    pool, called = (read.pool, read.columns) if rated is None else _rated(rated, rows)
    given = None
    if goal == "compare" and pool is not None:
        given = _compared(read, None if rated is None else pool)
    done = np.zeros(len(read.texts), dtype=np.bool_)
    done[read.place if given is None else given.outputs.place] = True
    if rated is not None and pool is not None and read.named:
        same = {*zip(pool.ids, pool.texts, strict=True)}
        pairs = zip(read.texts.ids, read.texts.texts, strict=True)
        done |= np.array([pair in same for pair in pairs], dtype=np.bool_)
    if done.all():
        remedy = "give outputs that nobody has rated"
        raise InputError("every output has a rating already", remedy=remedy)
    named = {role: names for role, names in called.items() if names}
    return _Read(
        pool,
        read.texts.take(np.flatnonzero(~done)),
        read.texts.take(np.flatnonzero(done)),
        {**read.columns, **named},
        given,
    )


def _compared(read: PartlyRated, rated: RatedPool | None) -> Inputs:
    """The outputs with their ratings, from wherever these are, as `compare` has them."""
    with collecting(), overheard(silent=True):
        if rated is None:
            return inputs_of(read, None)
        return inputs_of(read, replace(read_partly(rated, system=None), named=rated.named))


def _pair(
    given: Inputs, estimator: Estimator, systems: tuple[str, str], seed: int, *, these: bool
) -> Pair:
    """What compare says of the two systems today."""
    with collecting(), overheard(silent=True):  # what it says of the rows was said
        return pair_of(given, estimator.clone(), systems, seed, these=these)


def _outputs(estimator: Estimator | None, outputs: Outputs, seed: int, *, these: bool) -> Units:
    """Each output, with the width of the interval for their mean that score has already."""
    units = replace(outputs_to_draw(estimator, outputs), these=these)
    if estimator is None:
        return units
    errors = estimator.residuals()
    found = scored(outputs, estimator.estimate(outputs), errors, seed=seed, these=these)
    low, high = found.overall.mean_interval
    return units if math.isnan(low) else replace(units, most=(high - low) / 2)


def _rated(rated: Rows, rows: ScoredRows) -> tuple[RatedPool, Mapping[str, tuple[str, ...]]]:
    """The rated texts, and what their files call the columns."""
    read = told_pool(rated, rows)
    return read.pool, read.columns


def _systems(outputs: Outputs, done: Outputs, system: Names) -> tuple[str, str]:
    """The two systems: the only ones without all their ratings, or those that are named."""
    there = sorted({*outputs.systems} - {""})
    every = sorted({*outputs.systems, *done.systems} - {""})
    named = names_in(system) or tuple(there if len(there) == 2 else every)
    if len(named) != 2 or not {*named} <= {*every}:
        listed = ", ".join(f"'{name}'" for name in every[:10])
        raise UsageError(
            "--goal compare is about two systems: name them with --system A --system B; outputs "
            f"are of {listed}"
        )
    return named[0], named[1]


def _note_choice(
    choice: Choice, outputs: Outputs, known: Estimator | None, n: int, *, blind: bool
) -> None:
    """Says so where the choice is not what was asked for."""
    unit = "item" if choice.goal == "compare" else "different output"
    if choice.n < n:
        note(f"there are no more than {counted(choice.n, unit)} without a rating")
    if known is None:
        note("no text is rated yet, so the choice is random and nothing can be foretold")
    elif choice.goal == "learn" and choice.way == "random":
        note(f"{known.title} cannot tell which ratings teach it most here: the choice is random")
    elif choice.goal == "learn" and choice.units > max(MOST, n):
        note(f"of {choice.units:,} different outputs {max(MOST, n):,} were drawn to choose from")
    told = [name for name in {*outputs.systems} - {""} if any(name in one for one in outputs.ids)]
    if blind and told:
        note("ids hold names of systems: the file for raters is not blind by them")
    if outputs.ids == numbered(len(outputs)):
        note(
            "without a column id the ids are numbers of rows: keep the files of outputs as they are"
        )


def _columns(
    called: Mapping[str, tuple[str, ...]], outputs: Outputs, *, blind: bool
) -> dict[str, str]:
    """Names of the columns of the file for raters, by role: the user's, or the usual.

    Numbers of rows are no ids, and sources that stand for items are not written twice.
    """
    twice = "item" not in called and outputs.items == outputs.sources
    left_out = {"system": blind, "item": twice, "id": "id" not in called}
    kept = [role for role in ROLES if not left_out.get(role)]
    return {role: (*called.get(role, ()), role)[0] for role in kept}


def _then(outputs: Rows, rated: Rows, found: Outputs, goal: str | None, *, partly: bool) -> str:
    """The command line that reads the ratings."""
    compared = goal == "compare" or (goal == "mean" and len({*found.systems}) > 1)
    call, more = this_call(), [TO_RATE] if rated is None else [*words_of(rated), TO_RATE]
    dropped = dict.fromkeys(("goal", "system", "within"), None)
    changes = {"n": 50, "blind": False, "rated": more, **dropped}
    if partly and not compared:  # rows of one id are one text
        changes |= {"outputs": [*words_of(outputs), TO_RATE], "rated": None}
    return replace(call, name="compare" if compared else "score").line(**changes)


def _signature(known: Estimator | None, outputs: Outputs, choice: Choice, seed: int) -> Signature:

    signed = Signature("random").plus(v=__version__) if known is None else known.signature()
    within = None if math.isnan(choice.within) else float(f"{choice.within:.12g}")
    return signed.plus(goal=choice.goal, next=choice.n, of=len(outputs), within=within, seed=seed)
