"""Comparisons of systems by ratings of few outputs, and estimates of all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from operator import mul
from typing import Literal

import numpy as np

from refless.data.records import Residuals
from refless.evaluation.entries import EntryTable, Field
from refless.evaluation.further import FEWEST
from refless.evaluation.item_wins import ItemWins, item_wins
from refless.evaluation.one_sided import by_raters_of_both, by_those_who_count
from refless.evaluation.outlook import Outlook, outlook, outlook_anew, outlook_of
from refless.evaluation.planned_look import (
    PlannedLook,
    at_planned_look,
    chance_by_end,
    planned_look,
)
from refless.registry.arrays import IntArray
from refless.stats.answers import UNKNOWN, Answer, Powered
from refless.stats.clusters import PRIOR_SPREAD, Unseen, group_effects, unseen
from refless.stats.contrast import NORMAL, contrast, taught
from refless.stats.corrections import corrected
from refless.stats.forecast import Forecast, Progress, Today, progress_of
from refless.stats.group_sequential import LookPlan, Looks, critical_value

Method = Literal["ratings and estimates", "ratings", "estimates", "none"]
PROVEN = 20  # held-out estimates that tell what estimates are worth, as for `validate`
SURE = 0.05  # a p-value below this shows a difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The difference of the mean ratings of two systems.

    Attributes:
        first, second: the systems; the difference is that of the second less that of the first.
        paired: whether both answered the same items; items: that both answered, or either one.
        left_out: items of one system alone, if paired.
        both_rated, one_rated: items with ratings for both systems, and for one of them.
        independent: independent ratings of the first system, and of the second: units with any.
        powered: what ratings say alone, and with estimates.
        difference: the answer; method: what it is made of.
        p_holm: its p-value, corrected for the number of pairs; shown: whether it is below .05.
        progress: how much of either is rated, counted in what was drawn as a whole.
        needed: items with all their ratings that should show a usual difference four times out of
            five; None if it is not known, or all of them would not.
        chance: that ratings of all items show one; NaN where it is not known.
        item_wins: items rated for both, on which the second is higher, equal, lower.
        one_sided: raters who do not count, with the system that they alone rated.
        look: which of the planned looks this is; None without a plan.
    """

    first: str
    second: str
    paired: bool
    items: int
    left_out: int
    both_rated: int
    one_rated: int
    independent: tuple[int, int]
    powered: Powered
    method: Method
    difference: Answer
    p_holm: float
    progress: Progress
    needed: int | None
    chance: float
    item_wins: ItemWins
    one_sided: dict[str, str] = field(default_factory=dict)
    look: PlannedLook | None = None
    shown: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", self.p_holm < SURE)

    @property
    def rated(self) -> int:
        """Items with a rating for one of the systems, or for both."""
        return self.both_rated + self.one_rated

    @property
    def further(self) -> int:
        """Items to rate, beside those rated, that should show a difference; 0 if unknown."""
        done = self.both_rated if self.paired else self.rated
        return max(self.needed - done, 0) if self.needed else 0

    def today(self, *, these: bool) -> Today | None:
        """The difference by ratings, for forecasts of its interval; None if they tell none."""
        alone = self.powered.alone
        both = self.powered.both
        if not both.error > 0:
            return None
        return Today.of(
            self.progress,
            alone=alone.error,
            error=both.error,
            freedom=both.freedom,
            these=these,
        )

    @property
    def decided(self) -> bool:
        """Whether ratings show a difference, and not estimates alone."""
        return self.shown and self.method != "estimates"

    @property
    def apart(self) -> bool:
        """Whether nobody rated both systems, and raters are known."""
        return self.powered.apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One system.

    Attributes:
        name: its name; outputs, rated: how many it has, and how many of them are rated.
        mean: of its ratings, as people would give them to all of its outputs; method: what that is
            made of.
        ranks: the best and the worst rank that no shown difference speaks against.
    """

    name: str
    outputs: int
    rated: int
    mean: Answer
    method: Method
    ranks: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Systems by their means, the best first, and every pair of them."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    coverage: float

    @property
    def all_rated(self) -> bool:
        """Whether every output has a rating."""
        return all(standing.rated == standing.outputs for standing in self.standings)


def compared(field: Field, errors: Residuals, order: Sequence[str]) -> Comparison:
    """Every pair of systems, and their ranks; of two the means are those of their difference.

    Args:
        errors: human rating minus held-out estimate of rated texts: what estimates alone are
            judged by.
        order: the systems; a pair's difference is that of the later less that of the earlier.
    """
    pairs = _with_holm(_pairs(EntryTable.of(field), field, errors, order))
    counting = by_those_who_count(field, order)
    return _ranked(EntryTable.of(counting), counting, errors, order, pairs)


def compared_by(
    fields: Mapping[str, Field], order: Sequence[str]
) -> dict[str, Comparison]:
    """The same by scores that stand for ratings, by name; p-values corrected over all together."""
    nothing = Residuals(values=np.zeros(0))
    tables = {name: EntryTable.of(outputs) for name, outputs in fields.items()}
    pairs: list[Pair] = []
    for name, outputs in fields.items():
        pairs += _pairs(tables[name], outputs, nothing, order)
    adjusted = iter(_with_holm(pairs))
    size = math.comb(len(order), 2)
    return {
        name: _ranked(
            tables[name], outputs, nothing, order, tuple(islice(adjusted, size))
        )
        for name, outputs in fields.items()
    }


def _with_holm(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The pairs with their p-values corrected for their number (Holm 1979)."""
    adjusted = corrected(pair.difference.p for pair in pairs)
    return tuple(
        replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)
    )


def _pairs(
    table: EntryTable, field: Field, errors: Residuals, order: Sequence[str]
) -> list[Pair]:
    return [_pair(table, field, errors, (a, b)) for a, b in combinations(order, 2)]


def _ranked(
    table: EntryTable,
    field: Field,
    errors: Residuals,
    order: Sequence[str],
    pairs: tuple[Pair, ...],
) -> Comparison:
    """The pairs with the systems, the best first."""
    standings = [_standing(table, field, errors, name, pairs) for name in order]
    estimated = int((~np.isnan(field.estimates)).sum())
    return Comparison(
        standings=tuple(sorted(standings, key=_by_mean)),
        pairs=pairs,
        coverage=estimated / max(len(field.estimates), 1),
    )


def _by_mean(standing: Standing) -> tuple[float, str]:
    """The best first, those without a mean last."""
    value = standing.mean.value
    return math.inf if math.isnan(value) else -value, standing.name


def _pair(
    table: EntryTable, field: Field, errors: Residuals, names: tuple[str, str]
) -> Pair:
    """The difference of two systems; its p-value is corrected later."""
    field, one_sided = by_raters_of_both(field, names)
    table = EntryTable.of(field) if one_sided else table
    rows, paired, left_out = _rows_of(table, names, paired=field.design.paired)
    marked = [arm[~np.isnan(table.human[arm])] for arm in rows]
    first, second = ({*table.item[arm].tolist()} for arm in rows)
    rated = [{*table.item[arm].tolist()} for arm in marked]
    both_rated = len(rated[0] & rated[1])
    fewest = min(len(first), len(second))
    fewest_rated = both_rated if paired else min(map(len, rated))
    looks = _looks(field, fewest_rated, fewest)
    to_end = _looks(field, fewest_rated, fewest, to_end=True)
    result, method, answer = _answered(table, field, errors, rows, names, looks)
    independent = [len(np.unique(table.unit[arm])) for arm in marked]
    units = [table.unit[arm] for arm in rows]
    ratings = [table.human[arm] for arm in rows]
    pair = Pair(
        first=names[0],
        second=names[1],
        paired=paired,
        items=len(first | second),
        left_out=left_out,
        both_rated=both_rated,
        one_rated=len(rated[0] ^ rated[1]),
        independent=(independent[0], independent[1]),
        powered=result,
        method=method,
        difference=answer,
        p_holm=answer.p,
        progress=progress_of(units, ratings),
        needed=None,
        chance=math.nan,
        item_wins=_item_wins(table, field, rows, looks),
        one_sided=one_sided,
    )
    if result.apart:
        return pair
    ahead = 0.0
    if field.plan is not None:
        ahead = max(field.plan.planned - fewest_rated, 0) / fewest
    prospects = _outlook(pair, errors, field, to_end, ahead)
    pair = _with_outlook(pair, prospects)
    return _with_look(pair, field.plan, looks, to_end, fewest_rated)


def _rows_of(
    table: EntryTable, names: tuple[str, str], *, paired: bool
) -> tuple[list[IntArray], bool, int]:
    """Each system's entries, whether they are compared in pairs, and the items left out for it.

    In pairs, where items are known and both answered half of those of one; no others count then.
    """
    rows = [np.flatnonzero(table.system == name) for name in names]
    first, second = ({*table.item[arm].tolist()} for arm in rows)
    common = first & second
    if not paired or 2 * len(common) < min(len(first), len(second)):
        return rows, False, 0
    rows = [arm[np.isin(table.item[arm], [*common])] for arm in rows]
    return rows, True, len(first ^ second)


def _with_look(
    pair: Pair,
    plan: LookPlan | None,
    looks: Looks | None,
    to_end: Looks | None,
    rated: int,
) -> Pair:
    """The pair with the planned look that came after so many rated items, if looks are planned."""
    if plan is None or looks is None or to_end is None:
        return pair
    chance = pair.chance
    if pair.powered.both.error > 0:  # by ratings, of which there will be more
        chance = chance_by_end(pair.difference, looks, to_end)
    look = planned_look(pair.difference, plan, looks, rated, chance)
    return replace(pair, look=look)


def _with_outlook(pair: Pair, prospects: Outlook) -> Pair:
    """The pair with the outlook for more ratings, in items."""
    progress = pair.progress
    units = progress.common if progress.paired else sum(progress.every)
    needed = prospects.needed
    if needed is not None:
        needed = math.ceil(needed * pair.items / units)
    return replace(pair, needed=needed, chance=prospects.chance)


def _looks(
    field: Field, rated: int, items: int, *, to_end: bool = False
) -> Looks | None:
    """The planned looks after so many rated items of so many; None without a plan.

    Those by now, and if `to_end` also those to come. Of these items alone there are no others, and
    the population is finite while some are not rated.
    """
    if field.plan is None:
        return None
    population = items if field.these and rated < items else math.inf
    looks = field.plan.looks_to_the_end if to_end else field.plan.looks
    return looks(max(rated, 1), population)


def _item_wins(
    table: EntryTable, field: Field, rows: Sequence[IntArray], looks: Looks | None
) -> ItemWins:
    """On how many items that both answered each of the two arms is rated higher."""
    items = [table.item[arm] for arm in rows]
    _, first, second = np.intersect1d(items[0], items[1], return_indices=True)
    before = rows[0][first]
    after = rows[1][second]
    return item_wins(
        table.human[before],
        table.human[after],
        table.unit[before],
        these=field.these,
        looks=field.reach > 0,
        planned=looks,
    )


def _answered(
    table: EntryTable,
    field: Field,
    errors: Residuals,
    rows: Sequence[IntArray],
    names: Sequence[str],
    looks: Looks | None,
) -> tuple[Powered, Method, Answer]:
    """A difference or a mean: by ratings, or by estimates alone if a system has none that count."""
    every = np.concatenate(rows)
    signs = np.array((-1, 1)[-len(rows) :])
    sign = np.repeat(signs, [len(arm) for arm in rows])
    sample = table.sample(every, sign, drawn=field.drawn)
    result = contrast(
        sample, scale=field.scale, these=field.these, severity=field.severity
    )
    if not result.fewest:
        guess = _expected(table, rows, errors, names, these=field.these)
        guess, apart = taught(guess, table.sample(every, sign), field.severity)
        result = replace(result, apart=apart)
        by: Method = "none" if math.isnan(guess.error) else "estimates"
        return result, by, _looked(guess, len(errors.values), field, looks)
    result = result.by_the_more_exact()
    alone = _looked(result.alone, result.rated, field, looks)
    both = _looked(result.both, result.rated, field, looks)
    result = replace(result, alone=alone, both=both)
    if math.isnan(both.error):
        return result, "none", both
    return result, "ratings and estimates" if result.share else "ratings", both


def _looked(answer: Answer, n: int, field: Field, looks: Looks | None) -> Answer:
    """The answer for one look, for planned ones, or for any number of them."""
    if looks is not None:
        return at_planned_look(answer, looks)
    return answer.at_any_look(n, field.reach) if field.reach else answer


def _expected(
    table: EntryTable,
    rows: Sequence[IntArray],
    errors: Residuals,
    names: Sequence[str],
    *,
    these: bool,
) -> Answer:
    """A mean, or a difference of two, by estimates alone: how far systems are misjudged is in it.

    Of a system without rated texts it is that of rated systems that are held out whole.
    """
    m = len(errors.values)
    if m < PROVEN or not all(map(len, rows)) or not table.has_proxy:
        return UNKNOWN
    signs = (-1.0, 1.0)[-len(rows) :]
    means = [float(table.proxy[arm].mean()) for arm in rows]
    outside = _outside(errors)
    effects = group_effects(errors.values, errors.systems, outside.spread)
    shift = 0.0
    variance = 0.0
    unknown = []
    for sign, name in zip(signs, names, strict=True):
        if name in effects:
            shift += sign * effects[name].shift
            variance += effects[name].error ** 2
        else:
            unknown.append(sign)
    noise = float(np.var(errors.values)) * sum(1 / len(arm) for arm in rows)
    spread = sum(float(np.var(table.proxy[arm])) / len(arm) for arm in rows)
    spread = 0.0 if these else spread
    error = math.sqrt(variance + outside.error(unknown) ** 2 + noise + spread)
    value = math.fsum(map(mul, signs, means))
    return Answer(value=value + shift, error=error, freedom=NORMAL)


def _outside(errors: Residuals) -> Unseen:
    """The error to expect of systems that no rated text is of."""
    result = unseen(errors.afar, errors.values, errors.systems)
    if result.groups:
        return result
    return Unseen(spread=PRIOR_SPREAD * float(np.std(errors.values)), groups=1)


def _outlook(
    pair: Pair, errors: Residuals, field: Field, to_end: Looks | None, ahead: float
) -> Outlook:
    """The outlook for more ratings; by ratings if they tell the difference, else by errors.

    Args:
        to_end: all planned looks; None without a plan.
        ahead: ratings that are planned on top, as a share of the items of the system with fewer.
    """
    answer = pair.difference
    these = field.these
    today = pair.today(these=these)
    if today is not None and to_end is not None:
        last = to_end.last
        progress = today.progress
        most = ahead * (progress.done + progress.missing)

        def planned_half_width(forecast: Forecast) -> float:
            return critical_value(last, forecast.freedom) * forecast.error

        return outlook(answer.value, today, planned_half_width, most)
    if today is not None:
        return outlook_of(answer, today)
    if not answer.error > 0 or len(errors.values) < FEWEST:
        return Outlook()
    units = round(pair.progress.done + pair.progress.missing)
    of_unit = 2 * float(np.var(errors.values))
    return outlook_anew(answer.value, answer.error, of_unit, units, these=these)


def _standing(
    table: EntryTable, field: Field, errors: Residuals, name: str, pairs: Sequence[Pair]
) -> Standing:
    rows = np.flatnonzero(table.system == name)
    rated_items = len(np.unique(table.item[rows[~np.isnan(table.human[rows])]]))
    looks = _looks(field, rated_items, len(np.unique(table.item[rows])))
    _, method, answer = _answered(table, field, errors, [rows], [name], looks)
    significant = [pair for pair in pairs if pair.shown]
    gaps = [pair.difference.value for pair in significant if pair.second == name]
    gaps += [-pair.difference.value for pair in significant if pair.first == name]
    below = sum(gap < 0 for gap in gaps)
    above = len(gaps) - below
    members = [system == name for system in field.outputs.systems]
    systems = len({pair.first for pair in pairs} | {pair.second for pair in pairs})
    return Standing(
        name=name,
        outputs=sum(members),
        rated=int((~np.isnan(field.human[members])).sum()),
        mean=answer,
        method=method,
        ranks=(1 + below, systems - above),
    )
