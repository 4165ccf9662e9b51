"""compare: which system is better, how sure, and how many ratings would settle it."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path, PurePath
from typing import Annotated, Literal

import numpy as np

from refless.commands.compare.result import CompareResult
from refless.commands.compare.wins import WinsResult, win_gate
from refless.commands.estimating import DEFAULT, chosen, estimated, fitted, shown
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Files,
    Flag,
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
from refless.commands.rows import (
    ScoredRows,
    check_standard_input,
    note_missing,
    note_scale,
    tell,
)
from refless.commands.warnings import note
from refless.data.choices import are_choices, choices_in
from refless.data.human import canonical_order, fingerprint, unscaled
from refless.data.records import RatedPool, Residuals
from refless.data.tables import PartlyRated
from refless.data.tables.columns import NEEDED
from refless.data.tables.partly_rated import both_systems, read_partly, with_ratings
from refless.estimators import Estimator
from refless.estimators.crossfit import crossed, folds_for
from refless.evaluation.comparing import Pair, compared
from refless.evaluation.entries import Field, Raters
from refless.evaluation.wins import wins
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.report.result import GateRecord
from refless.stats.prediction_powered import FEWEST

PLACES = (None, "item", "source", "task")
NEW, BASELINE = "new", "baseline"  # systems that nothing names


@command
def compare(
    outputs: Argument,
    *,
    rated: Files = None,
    baseline: Files = None,
    system: Annotated[Names, Flag(metavar="NAME", kind=Many)] = None,
    estimator: Chosen = DEFAULT,
    selection: Literal["random", "unknown"] | None = None,
    fail_if_worse: bool = False,
    margin: Annotated[float, About("", at_least=0)] = 0.0,
    group: str | None = None,
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
        baseline: Files of the last release's outputs, or the name of a system among the outputs:
            what the others are compared with.
        system: A system to compare, the old one first; repeatable. Without it: all. Ratings of the
            others then only teach the estimates.
        selection: How rated outputs were selected. random: a simple random sample; unknown: ratings
            teach the estimates, and do not stand for the outputs that are not rated. Without it: by
            the chances in a column probability (or inclusion_probability) if there is one, else
            random.
        fail_if_worse: Gate: exit 3 if the second system (or the one beside the baseline) is worse,
            4 if that cannot be told.
        margin: By how much it may be worse, in the raters' units.
        group: What is drawn as a whole: item (the default), source, task or a column's name.
    """
    if margin and not fail_if_worse:
        raise UsageError("--margin goes with --fail-if-worse")
    one = chosen(estimator, threads, seed)
    given, base = _read(outputs, rated, baseline, rows, group)
    note_scale(given.pool)
    order = _order(given, outputs, base, names_in(system), told=fail_if_worse)
    if fail_if_worse and len(order) != 2:
        raise UsageError(
            f"--fail-if-worse is about two systems; there are {len(order)}: name two with --system"
        )
    if are_choices(given.pool) and are_choices(given.compared.texts):
        only = {"--selection": selection, "--group": group, "--rated": rated}
        if refused := [name for name, value in only.items() if value is not None]:
            raise UsageError(f"{refused[0]} is about ratings, and these are choices of people")
        return _won(given.pool, order, margin, gated=fail_if_worse)
    how = _selection(selection, given.compared)
    drawn = how != "unknown"
    errors = _errors(given, one, drawn=drawn)
    field = _field(given, one, seed, how, group)
    reach = _reach(given.pool) if looks == "any" else 0.0
    found = compared(replace(field, these=these_items, reach=reach), errors, order)
    gate = _gate(found.pairs[0], margin) if fail_if_worse else None
    if gate is not None:
        note(gate.reason)
    signature = _signature(given, one).plus(
        rated=how,
        group=group or "item",
        crossed=folds_for(given.pool),
        seed=seed,
    )
    if system is not None:
        signature = signature.plus(systems=tuple(order))
    if these_items or looks != "one":
        signature = signature.plus(these=these_items, looks=looks)
    return CompareResult(
        comparison=found,
        scale=given.pool.scale,
        selection=how,
        estimator=one.title,
        these_items=these_items,
        looks=looks,
        gate=gate or GateRecord(),
        signature=signature.plus(margin=margin) if gate else signature,
    )


def _won(pool: RatedPool, order: Sequence[str], margin: float, *, gated: bool) -> WinsResult:
    """How often each system is preferred to another, where people chose between their texts."""
    rates = wins(pool, order)
    if not rates:
        raise UsageError(f"nobody chose between {' and '.join(order)}")
    gate = win_gate(rates[0], margin) if gated else GateRecord()
    if gate.reason:
        note(gate.reason)
    choices = choices_in(pool)
    signed = Signature("wins").plus(ties="half", systems=tuple(order), ci="wilson-clustered")
    signed = signed.plus(
        drawn="source", pool=fingerprint(pool.take(canonical_order(pool))), v=__version__
    )
    return WinsResult(
        wins=rates,
        choices=int(choices.votes.sum()),
        groups=len(np.unique(choices.groups)),
        gate=gate,
        signature=signed.plus(margin=margin) if gated else signed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The outputs, with the ratings that they have, and all rated texts.

    Attributes:
        compared: the outputs.
        pool: all rated texts, those among the outputs too.
        labels, rated_labels: what each output, and each rated text, is held out with.
    """

    compared: PartlyRated
    pool: RatedPool
    labels: tuple[str, ...]
    rated_labels: tuple[str, ...]


def _read(
    outputs: Rows, rated: Rows, baseline: Rows, rows: ScoredRows, group: str | None
) -> tuple[Given, str | None]:
    """All outputs as one, all rated texts as one pool, and the baseline's name."""
    check_standard_input(outputs, rated, baseline)
    reading = rows.reading(group=None if group in PLACES else group)
    reading = replace(reading, elsewhere=rated is not None)
    alone = rated is None and baseline is None
    found = read_partly(
        outputs, reading, "" if baseline is None else NEW, NEEDED if alone else NEEDED[:1]
    )
    tell(found)
    named = baseline[0] if isinstance(baseline, list) and len(baseline) == 1 else baseline
    if baseline is not None and not (isinstance(named, str) and named in found.texts.systems):
        if isinstance(named, str) and not Path(named).exists():
            known = ", ".join(sorted({*found.texts.systems}))
            raise UsageError(f"--baseline '{named}' is neither a file nor a system: {known}")
        other = read_partly(baseline, reading, BASELINE)
        tell(other)
        if len(names := {*other.texts.systems}) != 1:
            raise UsageError(f"--baseline must be of one system; it has {len(names)}")
        found, (named,) = both_systems(found, other), names
    note_missing(found.texts)
    return given_of(found, None if rated is None else _rated(rated, rows), group), named


def given_of(found: PartlyRated, rated: PartlyRated | None, group: str | None = None) -> Given:
    """The outputs with all that is rated; raises InputError where nothing is."""
    pool = found.pool
    if rated is not None:
        found, pool, same = with_ratings(found, rated)
        _note_same(found, pool, same)
    if pool is None:
        raise InputError(
            "no text has a rating", remedy="rate some outputs, or give rated texts with --rated"
        )
    return _labelled(found, pool, group)


def pair_of(
    given: Given, estimator: Estimator, systems: Sequence[str], seed: int, *, these: bool = False
) -> Pair:
    """Two systems as 'refless compare' has them, if rated outputs were drawn at random."""
    errors = _errors(given, estimator, drawn=True)
    field = _field(given, estimator, seed, "random", None)
    return compared(replace(field, these=these), errors, systems).pairs[0]


def _note_same(found: PartlyRated, pool: RatedPool, same: int) -> None:
    """Says which further rated texts are outputs, or only read like them."""
    if same:
        note(f"{counted(same, 'rated text')} are outputs compared here: their ratings count")
    alike = sum(map({*found.texts.texts}.__contains__, pool.texts)) - len(found.place)
    if alike and not same:
        note(
            f"{counted(alike, 'rated text')} read like outputs compared here, but neither an id "
            "nor system and item say that they are: they only teach the estimates. If they are "
            "ratings of these outputs, give both files a column id"
        )


def _rated(rated: Rows, rows: ScoredRows) -> PartlyRated:
    """Further rated texts."""
    read = read_partly(rated, rows.reading(), system=None, needed=NEEDED)
    tell(read)
    return read


def _labelled(found: PartlyRated, pool: RatedPool, group: str | None) -> Given:
    """With what is held out together: items, or the group, and equal texts.

    Raises:
        UsageError: none says it.
    """
    texts = found.texts
    labels = found.group if group not in PLACES else getattr(texts, f"{group or 'item'}s")
    if group is not None and not labels:
        raise UsageError(f"--group {group}: the outputs have no {group} column")
    labels = labels or texts.texts  # ids may be numbers of rows
    own = dict(zip(texts.ids, labels, strict=True))
    of_item = dict(zip(texts.sources, labels, strict=False))  # where one side has no items
    of_item |= dict(zip(texts.items, labels, strict=False))
    of_text = dict(zip(texts.texts, labels, strict=True))
    items, sources = pool.items or pool.texts, pool.sources or pool.texts
    columns = zip(pool.ids, items, sources, pool.texts, strict=True)
    rated = (
        own.get(a) or of_item.get(b) or of_item.get(c) or of_text.get(d, b)
        for a, b, c, d in columns
    )
    return Given(found, pool, labels, tuple(rated))


def _order(
    given: Given,
    outputs: Rows,
    baseline: str | None,
    chosen: Sequence[str],
    *,
    told: bool = False,
) -> Sequence[str]:
    """The systems: the baseline first, else as they are named, as the files are given, or by name.

    Raises:
        UsageError: one system, or one that nobody wrote; neither baseline nor names nor files,
            where the order has to be told.
    """
    systems = given.compared.texts.systems
    names = sorted({*systems})
    files = outputs if isinstance(outputs, list | tuple) else []
    stems = [PurePath(file).stem for file in files if isinstance(file, str | PathLike)]
    if told and baseline is None and not chosen and sorted(stems) != names:
        raise UsageError("--fail-if-worse: worse than which system? Name it with --baseline")
    if wrong := [name for name in chosen if name not in names]:
        raise UsageError(f"--system '{wrong[0]}' is none of the systems: {', '.join(names)}")
    names = [*dict.fromkeys(chosen)] or (stems if sorted(stems) == names else names)
    if baseline is not None:
        names = [baseline, *(name for name in names if name != baseline)]
    if len(names) < 2:
        raise UsageError(f"there is one system, '{names[0]}'; a comparison needs two")
    return names


def _selection(selection: str | None, found: PartlyRated) -> str:
    """How the rated outputs were chosen, as far as is known."""
    known = ~np.isnan(found.probability[found.place])
    if selection is None:
        if known.any() and not known.all():
            raise UsageError(
                f"{counted(int((~known).sum()), 'rated output')} of {len(known)} have no "
                "probability, the others do: were these drawn by lot? Give all their chance, or "
                "say --selection random or unknown"
            )
        return "active" if known.any() else "random"
    return selection


def _field(
    given: Given, estimator: Estimator, seed: int, selection: str, group: str | None
) -> Field:
    """The outputs with ratings and estimates, in the raters' units."""
    texts, found, scale = given.compared.texts, given.compared, given.pool.scale
    own, drawn = found.pool, selection != "unknown"
    return Field(
        outputs=texts,
        human=unscaled(found.human, scale),
        estimates=unscaled(_estimates(given, estimator, seed, drawn=drawn), scale),
        probability=found.probability if selection == "active" else np.full(len(texts), np.nan),
        together=given.labels if group is not None else (),
        drawn=drawn,
        raters=None if own is None else Raters.of(own, found.place, given.pool),
    )


def _estimates(given: Given, estimator: Estimator, seed: int, *, drawn: bool) -> FloatArray:
    """[n] estimates by ratings of other items; NaN where they would not be used."""
    found, labels = given.compared, given.labels
    nothing = np.full(len(labels), np.nan)
    rated, others = {labels[i] for i in found.place.tolist()}, len(given.pool) - len(found.place)
    if drawn and not np.isnan(found.human).any():
        return nothing  # every output is rated
    if not rated and {*found.texts.texts}.isdisjoint(given.pool.texts):
        return estimated(estimator, found.texts).values  # it was fitted for its errors
    if not others and len(rated) < (FEWEST if drawn else 2):
        told = f"{counted(len(rated), 'item')} with ratings, fewer than {FEWEST if drawn else 2}"
        note(f"{told}: estimates are not used")
        return nothing
    with shown(estimator, "estimating each output without ratings of its item"):
        pool, rated_labels = given.pool, given.rated_labels
        return crossed(estimator, pool, rated_labels, found.texts, labels, seed).values


def _errors(given: Given, estimator: Estimator, *, drawn: bool) -> Residuals:
    """What estimates alone are judged by, where some system has to be; in the raters' units."""
    found = given.compared
    systems = found.texts.systems
    rated = Counter(systems[i] for i in found.place.tolist())
    if drawn and all(rated[name] > 1 for name in {*systems}):
        return Residuals(values=np.zeros(0))
    errors = fitted(estimator, given.pool, given.rated_labels).residuals()
    return errors.on(given.pool.scale)


def _gate(pair: Pair, margin: float) -> GateRecord:
    """Whether the second system is worse than the first by more than the margin."""
    low, high = pair.answer.interval
    by = f"by more than {margin:g}" if margin else "at all"
    ends = f"the interval of the difference, {low:.3f} to {high:.3f},"
    if math.isnan(low):
        return GateRecord("undecided", "gate undecided: the difference has no interval")
    if high < -margin:
        return GateRecord("failed", f"gate failed: {pair.second} is worse: {ends} ends below it")
    if low < -margin:
        told = f"{ends} does not tell if {pair.second} is worse {by}"
        return GateRecord("undecided", f"gate undecided: {told}")
    return GateRecord("passed", f"gate passed: {pair.second} is not worse {by}: {ends} says so")


def _reach(pool: RatedPool) -> float:
    """How far two ratings can lie apart, as far as is known."""
    low, high = pool.scale or (pool.ratings.values.min(), pool.ratings.values.max())
    return float(high - low)


def _signature(given: Given, estimator: Estimator) -> Signature:
    texts = given.compared.texts
    columns = [one for one in (texts.systems, texts.items, texts.texts) if one]
    return estimator.signature(given.pool).plus(outputs=digest_of(columns))
