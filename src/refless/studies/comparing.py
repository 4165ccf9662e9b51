"""Which system is better: ratings of few outputs, and estimates of all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from refless.records import FloatArray, IntArray, Outputs, Residuals
from refless.stats.assurance import SURE as SHOWING
from refless.stats.assurance import USUAL, chance_shown
from refless.stats.clusters import PRIOR_SPREAD, Unseen, group_effects, unseen
from refless.stats.corrections import holm
from refless.stats.prediction_powered import UNKNOWN, Answer, Cells, Powered, powered
from refless.studies.validation import codes

Method = Literal["ratings and estimates", "ratings", "estimates", "none"]
SURE = 0.05  # a p-value below this shows a difference
MANY = 1e9  # degrees of freedom of a normal distribution


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field:
    """The outputs that are compared.

    Attributes:
        outputs: with systems; items say what belongs together in pairs.
        human: [n] human rating, NaN where there is none.
        estimates: [n] estimates that know no rating of the output's item; NaN where there is none.
        probability: [n] chance of having been drawn to be rated, NaN where it is not known.
        together: [n] what is drawn as a whole, or empty: the items.
        strata: [n] parts of the outputs that ratings were drawn from apart, or empty.
        drawn: whether rated outputs were drawn at random, so that ratings stand for all outputs.
    """

    outputs: Outputs
    human: FloatArray
    estimates: FloatArray
    probability: FloatArray
    together: Sequence[str] = ()
    strata: Sequence[str] = ()
    drawn: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """How much higher one system is rated than another.

    Attributes:
        first, second: the systems; the difference is that of the second less that of the first.
        paired: whether both answered the same items; items: that both answered, or either one.
        left_out: items of one system alone, which a paired comparison leaves out.
        both_rated, one_rated: items with ratings for both systems, and for one of them.
        powered: what ratings say alone, and with estimates.
        method: what the answer is made of.
        answer: the difference.
        p_holm: its p-value, corrected for the number of pairs.
        needed: rated items that should show a difference four times out of five, as differences
            usually are; None where all of them would not, or it is not known.
        chance: that ratings of all items show one; NaN where it is not known.
    """

    first: str
    second: str
    paired: bool
    items: int
    left_out: int
    both_rated: int
    one_rated: int
    powered: Powered
    method: Method
    answer: Answer
    p_holm: float
    needed: int | None
    chance: float

    @property
    def shown(self) -> bool:
        """Whether a difference is shown."""
        return self.p_holm < SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One system.

    Attributes:
        name: its name; outputs, rated: how many it has, and how many of them are rated.
        answer: its mean; method: what that is made of.
        ranks: the best and the worst rank that no shown difference speaks against.
    """

    name: str
    outputs: int
    rated: int
    answer: Answer
    method: Method
    ranks: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Systems by their means, the best first, and every pair of them."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    coverage: float


def compared(field: Field, errors: Residuals, order: Sequence[str]) -> Comparison:
    """Every pair of systems, and their ranks.

    Args:
        field: the outputs.
        errors: human rating minus held-out estimate of rated texts: what estimates alone are
            judged by.
        order: the systems; a pair's difference is that of the later less that of the earlier.
    """
    table = _Table.of(field)
    found = [_pair(table, field, errors, (a, b)) for a, b in combinations(order, 2)]
    adjusted = holm(np.array([pair.answer.p for pair in found])).tolist()
    pairs = tuple(replace(pair, p_holm=p) for pair, p in zip(found, adjusted, strict=True))
    standings = [_standing(table, field, errors, name, pairs) for name in order]
    known = field.estimates[~np.isnan(field.estimates)]
    return Comparison(
        standings=tuple(sorted(standings, key=lambda one: (-_last(one.answer.value), one.name))),
        pairs=pairs,
        coverage=len(known) / max(len(field.estimates), 1),
    )


def _last(value: float) -> float:
    return -math.inf if math.isnan(value) else value


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """One entry for each item that a system answered.

    Attributes:
        system: [m] name; item, cluster, stratum: [m] numbers.
        human, beside, estimate, probability: [m] as `Cells` have them.
    """

    system: np.ndarray[tuple[int], np.dtype[np.object_]]
    item: IntArray
    cluster: IntArray
    stratum: IntArray
    human: FloatArray
    beside: FloatArray
    estimate: FloatArray
    probability: FloatArray

    @classmethod
    def of(cls, field: Field) -> _Table:
        """The outputs of one system for one item as one entry, in an order of their own."""
        outputs = field.outputs
        items = outputs.items or _apart(field)
        known = field.estimates[~np.isnan(field.estimates)]
        middle = float(np.sort(known).mean()) if len(known) else 0.0
        estimates = np.where(np.isnan(field.estimates), middle, field.estimates)
        strata = field.strata or ("",) * len(outputs)
        together = field.together or items
        names = sorted({*zip(outputs.systems, items, strict=True)})
        place = {name: i for i, name in enumerate(names)}
        at = np.array(
            [place[pair] for pair in zip(outputs.systems, items, strict=True)], dtype=np.int64
        )
        first = np.unique(at, return_index=True)[1]
        rated = np.flatnonzero(~np.isnan(field.human))
        return cls(
            system=np.array([name for name, _ in names], dtype=object),
            item=codes([item for _, item in names]),
            cluster=codes(together)[first],
            stratum=codes(strata)[first],
            human=_averaged(field.human, at, rated, len(names)),
            beside=_averaged(estimates, at, rated, len(names)),
            estimate=_averaged(estimates, at, np.arange(len(outputs)), len(names)),
            probability=_averaged(field.probability, at, rated, len(names)),
        )

    def cells(self, rows: IntArray, sign: IntArray, *, drawn: bool = True) -> Cells:
        """Some entries, as the arms of a contrast."""
        human = self.human[rows]
        return Cells(
            arm=sign,
            human=human if drawn else np.full(len(rows), np.nan),
            beside=np.nan_to_num(self.beside[rows]),
            estimate=self.estimate[rows],
            cluster=self.cluster[rows],
            stratum=self.stratum[rows],
            probability=self.probability[rows],
        )


def _apart(field: Field) -> tuple[str, ...]:
    """[n] a number for each output, the same in whatever order they are given."""
    outputs = field.outputs
    numbers = np.nan_to_num(np.stack([field.human, field.estimates], axis=1), nan=-np.inf)
    keys = [*zip(outputs.systems, outputs.texts, numbers.tolist(), strict=True)]
    found = np.empty(len(keys), dtype=object)
    found[sorted(range(len(keys)), key=keys.__getitem__)] = [
        *map("{:09d}".format, range(len(keys)))
    ]
    return tuple(found.tolist())


def _averaged(values: FloatArray, at: IntArray, rows: IntArray, n: int) -> FloatArray:
    """[n] mean of the values at each place, of these rows, in no order; NaN without any."""
    rows = rows[np.lexsort((values[rows], at[rows]))]
    counts = np.bincount(at[rows], minlength=n)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(at[rows], values[rows], minlength=n) / counts)


def _pair(table: _Table, field: Field, errors: Residuals, names: tuple[str, str]) -> Pair:
    """The difference of two systems; its p-value is corrected later."""
    rows = [np.flatnonzero(table.system == name) for name in names]
    first, second = ({*table.item[one].tolist()} for one in rows)
    common, every = first & second, first | second
    paired = bool(field.outputs.items) and 2 * len(common) >= min(len(first), len(second))
    if paired:
        rows = [one[np.isin(table.item[one], [*common])] for one in rows]
    sign = np.repeat([-1, 1], [len(one) for one in rows])
    found = powered(table.cells(np.concatenate(rows), sign, drawn=field.drawn))
    known = [{*table.item[one[~np.isnan(table.human[one])]].tolist()} for one in rows]
    method, answer = _answer(found, table, rows, errors, names)
    items = len(common) if paired else len(every)
    drawn_whole = len({*table.cluster[np.concatenate(rows)].tolist()})
    needed, chance = _outlook(found, answer, errors, items, drawn_whole)
    return Pair(
        first=names[0],
        second=names[1],
        paired=paired,
        items=items,
        left_out=len(every) - len(common) if paired else 0,
        both_rated=len(known[0] & known[1]),
        one_rated=len(known[0] ^ known[1]),
        powered=found,
        method=method,
        answer=answer,
        p_holm=answer.p,
        needed=needed,
        chance=chance,
    )


def _answer(
    found: Powered,
    table: _Table,
    rows: Sequence[IntArray],
    errors: Residuals,
    names: Sequence[str],
) -> tuple[Method, Answer]:
    """By ratings if they have an interval, else by estimates alone if these have one."""
    if math.isnan(found.both.error):
        guess = _expected(table, rows, errors, names)
        if not math.isnan(guess.error):
            return "estimates", guess
    return _method(found), found.both


def _method(found: Powered) -> Method:
    if math.isnan(found.both.error):
        return "none"
    return "ratings and estimates" if found.share else "ratings"


def _expected(
    table: _Table, rows: Sequence[IntArray], errors: Residuals, names: Sequence[str]
) -> Answer:
    """A mean, or a difference of two, by estimates alone: how far systems are misjudged is in it.

    A system with rated texts is misjudged by as much as their held-out errors say, another by as
    much as rated systems are that are held out whole.
    """
    m = len(errors.values)
    if m < 2 or not all(map(len, rows)):
        return UNKNOWN
    signs = (-1.0, 1.0)[-len(rows) :]
    means = [float(np.sort(table.estimate[one]).mean()) for one in rows]
    effects, outside = group_effects(errors.values, errors.systems), _outside(errors)
    shift, known, unknown = 0.0, 0.0, []
    for sign, name in zip(signs, names, strict=True):
        if name in effects:
            shift, known = shift + sign * effects[name].shift, known + effects[name].error ** 2
        elif name not in errors.systems:
            unknown.append(sign)
    noise = float(np.var(errors.values)) * sum(1 / len(one) for one in rows)
    spread = sum(float(np.var(table.estimate[one])) / len(one) for one in rows)
    error = math.sqrt(known + outside.error(unknown) ** 2 + noise + spread)
    value = math.fsum(sign * mean for sign, mean in zip(signs, means, strict=True)) + shift
    return Answer(value=value, error=error, freedom=MANY)


def _outside(errors: Residuals) -> Unseen:
    """How far systems are misjudged that no rated text is of."""
    found = unseen(errors.afar, errors.values, errors.systems)
    if found.groups:
        return found
    return Unseen(spread=PRIOR_SPREAD * float(np.std(errors.values)), groups=1)


def _outlook(
    found: Powered, answer: Answer, errors: Residuals, items: int, clusters: int
) -> tuple[int | None, float]:
    """Rated items that should show a difference, and the chance that all items do.

    The variance of n rated clusters of N is (1 - n / N) left / n + whole / N; a cluster has as many
    items as it has on average.
    """
    rated = found.rated if not math.isnan(found.both.error) else 0
    if rated:
        share = min(rated / clusters, 1.0)
        whole = found.alone.error**2 * rated
        left = found.both.error**2 * rated
        left = (left - share * whole) / (1 - share) if share < 1 else whole
    elif len(errors.values) > 1:
        left = whole = 2 * float(np.var(errors.values))
    else:
        return None, math.nan
    n = np.arange(max(rated, 2), clusters + 1).astype(np.float64)
    then = (1 - n / clusters) * left / n + whole / clusters
    prior, more = USUAL**2 * whole, rated > 0
    chances = chance_shown(answer.value, answer.error**2, then, prior, n - 1, more=more)
    enough = np.flatnonzero(chances >= SHOWING)
    needed = math.ceil(n[enough[0]] * items / clusters) if len(enough) else None
    return needed, float(chances[-1]) if len(chances) else math.nan


def _standing(
    table: _Table, field: Field, errors: Residuals, name: str, pairs: Sequence[Pair]
) -> Standing:
    rows = np.flatnonzero(table.system == name)
    found = powered(table.cells(rows, np.ones(len(rows), dtype=np.int64), drawn=field.drawn))
    method, answer = _answer(found, table, [rows], errors, [name])
    mine = [(pair, 1 if pair.second == name else -1) for pair in pairs if pair.shown]
    mine = [(pair, sign) for pair, sign in mine if name in (pair.first, pair.second)]
    below = sum(sign * pair.answer.value < 0 for pair, sign in mine)
    above = len(mine) - below
    own = [system == name for system in field.outputs.systems]
    systems = len({one for pair in pairs for one in (pair.first, pair.second)})
    return Standing(
        name=name,
        outputs=sum(own),
        rated=int((~np.isnan(field.human[own])).sum()),
        answer=answer,
        method=method,
        ranks=(1 + below, systems - above),
    )
