"""compare: which system is better, how sure, and how many ratings would settle it."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import PurePath
from typing import Annotated, Literal

import numpy as np

from refless.commands.compare.document import why_not
from refless.commands.compare.result import CompareResult
from refless.commands.compare.wins import WinsResult
from refless.commands.estimating import DEFAULT, chosen, estimated, fitted, shown
from refless.commands.judge_shift import judge_said
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Files,
    Group,
    Looks,
    Many,
    Names,
    Rows,
    Seed,
    TheseItems,
    Threads,
    command,
    names_in,
)
from refless.commands.random_draw import draw_remark
from refless.commands.rows import (
    ScoredRows,
    check_standard_input,
    note_codes,
    note_missing,
    note_scale,
    tell,
)
from refless.commands.warnings import note
from refless.data.choices import are_choices, choices_in
from refless.data.design import Design, column_of
from refless.data.human import canonical_order, fingerprint, unscaled
from refless.data.records import RatedPool, Residuals, picked
from refless.data.tables import PartlyRated
from refless.data.tables.columns import NEEDED, OF_RATINGS
from refless.data.tables.partly_rated import read_partly, with_ratings
from refless.estimators import Estimator
from refless.estimators.crossfit import crossed, folds_for
from refless.evaluation.comparing import Pair, compared
from refless.evaluation.entries import Field
from refless.evaluation.judge_shift import judge_shifts
from refless.evaluation.random_draw import random_draw
from refless.evaluation.raters import Raters, severity_in
from refless.evaluation.wins import wins
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.report.result import GateRecord
from refless.report.wording import numbers
from refless.stats.intervals import Interval
from refless.stats.proxies import FEWEST

Selection = Literal["random", "active", "unknown"]

SELECTED = (
    "Ratings then do not stand for the outputs without one: --selection unknown lets them teach "
    "estimates, and no more."
)


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
    threads: Threads = None,
    seed: Seed = 0,
    rows: ScoredRows,
) -> CompareResult | WinsResult:
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
        margin: By how much it may be worse, in the raters' units.
    """
    if margin and not fail_if_worse:
        raise UsageError("--margin goes with --fail-if-worse")
    learner = chosen(estimator, threads, seed)
    inputs = _read(outputs, rated, rows, group)
    note_scale(inputs.pool)
    systems = _systems(inputs.outputs.texts.systems, outputs, names_in(system))
    if fail_if_worse:
        _check_gate(systems, outputs, system)
    if are_choices(inputs.pool) and are_choices(inputs.outputs.texts):
        only = {"--selection": selection, "--group": group, "--rated": rated}
        if refused := [name for name, value in only.items() if value is not None]:
            raise UsageError(f"{refused[0]} is about ratings, and these are choices of people")
        return _won(inputs.pool, systems, margin, gated=fail_if_worse)
    how = _selection(selection, inputs.outputs)
    if how == "random":
        note_draw(inputs, group, SELECTED)
    errors = _errors(inputs, learner, drawn=how != "unknown")
    field = replace(
        _field(inputs, learner, seed, how),
        these=these_items,
        reach=_reach(inputs.pool) if looks == "any" else 0.0,
    )
    comparison = compared(field, errors, systems)
    judges = {
        name: _judged(field, column, systems)
        for name, column in zip(field.outputs.score_names, field.outputs.scores.T, strict=True)
    }
    gate = GateRecord()
    if fail_if_worse:
        pair, worse = comparison.pairs[0], f"is worse by more than {margin:g}"
        worse = worse if margin else "is worse at all"
        ends = pair.difference.interval
        gate = _gate(pair.second, "difference", ends, 0.0 - margin, worse, why_not(pair))
    signature = _signature(inputs, learner).plus(
        rated=how,
        **inputs.design.signs,
        crossed=folds_for(inputs.pool),
        seed=seed,
    )
    if system is not None:
        signature = signature.plus(systems=tuple(systems))
    if these_items or looks != "one":
        signature = signature.plus(these=these_items, looks=looks)
    return CompareResult(
        comparison=comparison,
        scale=inputs.pool.scale,
        design=inputs.design.said(inputs.pool.ratings),
        selection=how,
        estimator=learner.title,
        these_items=these_items,
        looks=looks,
        judges=judges,
        gate=gate,
        signature=signature.plus(margin=margin) if fail_if_worse else signature,
    )


def _judged(field: Field, scores: FloatArray, systems: Sequence[str]) -> tuple[Pair, ...]:
    """What a judge's scores alone say of the same outputs, in its own units."""
    unknown = np.full(len(scores), np.nan)
    alone = replace(
        field, human=scores, estimates=unknown, probability=unknown, scale=None, raters=None
    )
    nothing = Residuals(values=np.zeros(0))
    return compared(replace(alone, drawn=True, reach=0.0), nothing, systems).pairs


def _won(pool: RatedPool, order: Sequence[str], margin: float, *, gated: bool) -> WinsResult:
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
    signed = signed.plus(pool=fingerprint(pool.take(canonical_order(pool))), v=__version__)
    return WinsResult(
        wins=rates,
        choices=int(choices.votes[rows].sum()),
        groups=groups,
        gate=gate,
        signature=signed.plus(margin=margin) if gated else signed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The outputs, with the ratings that they have, and all rated texts.

    Attributes:
        outputs: what is compared; design: what belongs together among it.
        pool: all rated texts, those among the outputs too.
        labels, rated_labels: what each output, and each rated text, is held out with.
    """

    outputs: PartlyRated
    design: Design
    pool: RatedPool
    labels: tuple[str, ...]
    rated_labels: tuple[str, ...]


def _read(outputs: Rows, rated: Rows, rows: ScoredRows, group: str | None) -> Inputs:
    """All outputs as one, and all rated texts as one pool."""
    check_standard_input(outputs, rated)
    reading = rows.to_reading(group=column_of(group))
    reading = replace(reading, lacking=() if rated is None else OF_RATINGS)
    read = read_partly(outputs, reading, needed=NEEDED if rated is None else NEEDED[:1])
    tell(read)
    note_missing(read.texts)
    ratings = None
    if rated is not None:
        ratings = read_partly(rated, rows.to_reading(), system=None, needed=NEEDED)
        tell(ratings)
    return inputs_of(read, ratings, group)


def inputs_of(outputs: PartlyRated, rated: PartlyRated | None, group: str | None = None) -> Inputs:
    """The outputs with all that is rated; raises InputError if nothing is."""
    pool = outputs.pool
    if rated is not None:
        outputs, pool, same = with_ratings(outputs, rated)
        _note_same(outputs, pool, same)
    if pool is None:
        remedy = "rate some outputs, or give rated texts with --rated"
        raise InputError("no text has a rating", remedy=remedy)
    others = outputs.texts.take(np.setdiff1d(np.arange(len(outputs.texts)), outputs.place))
    note_codes(pool, others)
    if pool.score_names == others.score_names:
        for shift in judge_shifts(others.scores, others.sources, pool):
            if shift.outside:
                note(judge_said(shift, one_file=rated is None))
    return _labelled(outputs, pool, group)


def note_draw(inputs: Inputs, group: str | None, then: str) -> None:
    """Says if rated outputs do not look drawn at random within their systems.

    With chances of being drawn they were drawn as these say, and nothing is asked.
    """
    outputs = inputs.outputs
    if not np.isnan(outputs.probability).all():
        return
    rated = np.sort(outputs.place)
    others = np.setdiff1d(np.arange(len(outputs.texts)), rated)
    labels = inputs.labels if group is not None else ()
    first_rows = outputs.first_rows
    draw = random_draw(
        outputs.texts.take(rated),
        outputs.texts.take(others),
        (first_rows[rated], first_rows[others]) if len(first_rows) else None,
        by_system=True,
        labels=(picked(labels, rated), picked(labels, others)),
    )
    if line := draw_remark(draw, then):
        note(line)


def pair_of(
    inputs: Inputs, estimator: Estimator, systems: Sequence[str], seed: int, *, these: bool = False
) -> Pair:
    """Two systems as 'refless compare' has them, if rated outputs were drawn at random."""
    errors = _errors(inputs, estimator, drawn=True)
    field = _field(inputs, estimator, seed, "random")
    return compared(replace(field, these=these), errors, systems).pairs[0]


def _note_same(outputs: PartlyRated, pool: RatedPool, same: int) -> None:
    """Says which further rated texts are outputs, or only read like them."""
    if same:
        note(f"{counted(same, 'rated text')} are outputs compared here: their ratings count")
    alike = sum(map({*outputs.texts.texts}.__contains__, pool.texts)) - len(outputs.place)
    if alike and not same:
        note(
            f"{counted(alike, 'rated text')} read like outputs compared here, but neither an id "
            "nor system and item say that they are: they only teach the estimates. If they are "
            "ratings of these outputs, give both files a column id"
        )


def _labelled(outputs: PartlyRated, pool: RatedPool, group: str | None) -> Inputs:
    """With what is held out together; UsageError for a group that no column is about."""
    texts = outputs.texts
    design = Design.of(texts, group, outputs.group)
    labels = design.labels or texts.texts  # ids may be numbers of rows
    of_id = dict(zip(texts.ids, labels, strict=True))
    of_item = dict(zip(texts.sources, labels, strict=False))  # if one side has no items
    of_item |= dict(zip(texts.items, labels, strict=False))
    of_text = dict(zip(texts.texts, labels, strict=True))
    items, sources = pool.items or pool.texts, pool.sources or pool.texts
    columns = zip(pool.ids, items, sources, pool.texts, strict=True)
    rated = (
        of_id.get(a) or of_item.get(b) or of_item.get(c) or of_text.get(d, b)
        for a, b, c, d in columns
    )
    return Inputs(
        outputs=outputs, design=design, pool=pool, labels=labels, rated_labels=tuple(rated)
    )


def _stems(outputs: Rows) -> list[str]:
    """What the files are called, without their endings if that tells them apart."""
    files = outputs if isinstance(outputs, list | tuple) else []
    paths = [fspath(file) for file in files if isinstance(file, str | PathLike)]
    stems = [PurePath(path).stem for path in paths]
    return stems if len({*stems}) == len(stems) else paths


def _systems(systems: Sequence[str], outputs: Rows, named: Sequence[str]) -> list[str]:
    """The systems as named, else in the files' order, or by name; UsageError for one, or a typo."""
    names, stems = sorted({*systems}), _stems(outputs)
    if wrong := [name for name in named if name not in names]:
        raise UsageError(f"--system '{wrong[0]}' is none of the systems: {', '.join(names)}")
    names = [*dict.fromkeys(named)] or (stems if sorted(stems) == names else names)
    if len(names) < 2:
        raise UsageError(f"there is one system, '{names[0]}'; a comparison needs two")
    return names


def _check_gate(systems: Sequence[str], outputs: Rows, named: Names) -> None:
    """Raises UsageError unless there are two systems, and it is clear which one is the old one."""
    if not named and sorted(_stems(outputs)) != sorted(systems):
        remedy = "Name the old one first: --system OLD --system NEW"
        raise UsageError(f"--fail-if-worse: worse than which system? {remedy}")
    if len(systems) != 2:
        raise UsageError(
            f"--fail-if-worse is about two systems; there are {len(systems)}: name two with "
            "--system"
        )


def _selection(selection: Literal["random", "unknown"] | None, outputs: PartlyRated) -> Selection:
    """How the rated outputs were chosen, as far as is known."""
    known = ~np.isnan(outputs.probability[outputs.place])
    if selection is not None or not known.any():
        return selection or "random"
    if not known.all():
        raise UsageError(
            f"{counted(int((~known).sum()), 'rated output')} of {len(known)} have no "
            "probability, the others do: were these drawn at random? Give all their chance, or "
            "say --selection random or unknown"
        )
    return "active"


def _field(inputs: Inputs, estimator: Estimator, seed: int, selection: Selection) -> Field:
    """The outputs with ratings and estimates, in the raters' units."""
    outputs, scale, drawn = inputs.outputs, inputs.pool.scale, selection != "unknown"
    texts, pool = outputs.texts, outputs.pool
    raters = None if pool is None else Raters.of(pool)
    severity = None
    if pool is not None and raters is not None:
        told = [severity_in(pool), severity_in(inputs.pool)]
        severity = max(told, key=lambda each: each.freedom)
    return Field(
        outputs=texts,
        design=inputs.design,
        human=unscaled(outputs.human, scale),
        estimates=unscaled(_estimates(inputs, estimator, seed, drawn=drawn), scale),
        probability=outputs.probability if selection == "active" else np.full(len(texts), np.nan),
        scale=scale,
        drawn=drawn,
        raters=None if raters is None else raters.placed(outputs.place),
        severity=severity,
    )


def _estimates(inputs: Inputs, estimator: Estimator, seed: int, *, drawn: bool) -> FloatArray:
    """[n] estimates by ratings of other items; NaN if they would not be used."""
    outputs, labels, pool = inputs.outputs, inputs.labels, inputs.pool
    rated = {labels[i] for i in outputs.place.tolist()}
    if drawn and not np.isnan(outputs.human).any():
        return np.full(len(labels), np.nan)  # every output is rated
    if not rated and {*outputs.texts.texts}.isdisjoint(pool.texts):
        return estimated(estimator, outputs.texts).values  # it was fitted for its errors
    fewest = FEWEST if drawn else 2
    if len(pool) == len(outputs.place) and len(rated) < fewest:
        items = counted(len(rated), "item")
        note(f"{items} with ratings, fewer than {fewest}: estimates are not used")
        return np.full(len(labels), np.nan)
    with shown(estimator, "estimating each output without ratings of its item"):
        return crossed(estimator, pool, inputs.rated_labels, outputs.texts, labels, seed).values


def _errors(inputs: Inputs, estimator: Estimator, *, drawn: bool) -> Residuals:
    """What estimates alone are judged by, if some system has to be; in the raters' units."""
    systems = inputs.outputs.texts.systems
    rated = Counter(systems[i] for i in inputs.outputs.place.tolist())
    if drawn and all(rated[name] > 1 for name in {*systems}):
        return Residuals(values=np.zeros(0))
    errors = fitted(estimator, inputs.pool, inputs.rated_labels).residuals()
    return errors.on(inputs.pool.scale)


def _gate(
    system: str, measure: str, interval: Interval, least: float, worse: str, none: str
) -> GateRecord:
    """Whether the measure of the second system is below the least that is allowed; noted, too.

    Args:
        system: the second one; measure: what is measured, with its interval.
        least: that is allowed; worse: what is said of a system below it.
        none: why there is no interval, if there is none.
    """
    low, high = interval
    ends = f"the interval of the {measure}, {' to '.join(numbers(interval))},"
    if math.isnan(low):
        gate = GateRecord.of("undecided", f"the {measure} has no interval: {none}")
    elif high < least:
        gate = GateRecord.of("failed", f"{system} is worse: {ends} ends below {least:g}")
    elif low < least:
        gate = GateRecord.of("undecided", f"{ends} does not tell if {system} {worse}")
    else:
        gate = GateRecord.of("passed", f"{ends} rules out that {system} {worse}")
    note(gate.reason)
    return gate


def _reach(pool: RatedPool) -> float:
    """How far two ratings can lie apart, as far as is known."""
    low, high = pool.scale or (pool.ratings.values.min(), pool.ratings.values.max())
    return float(high - low)


def _signature(inputs: Inputs, estimator: Estimator) -> Signature:
    texts = inputs.outputs.texts
    columns = [column for column in (texts.systems, texts.items, texts.texts) if column]
    return estimator.signature(inputs.pool).plus(outputs=digest_of(columns))
