"""Do the intervals of `compare` and `judge` cover the truth, wherever a user stands?

Drawn are ratings of known truth: on a scale of 1 to 5, near its top, as passes; of few items or
many, in sources of their own, by raters who are stricter or milder. Each number of a command is
computed from each draw. Counted is how often its 95 % interval covers the truth, how often a
difference is shown that is none or has the other sign, and how wide the interval is beside that of
the simplest valid method: Student's t over pairs or over means of sources or raters, Welch's,
Wilson's and Newcombe's intervals of shares, Fisher's z.

    python benchmarks/designs.py [--runs 1000] [--part arms ...] [--quick]
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from refless.commands.compare.wins import rate
from refless.commands.judge.audit import corrected_means, sliced
from refless.commands.judge.numbers import measured
from refless.commands.judge.repeated import drift_of
from refless.evaluation.labels import AllRows, Labels
from refless.evaluation.raters import Raters, Votes
from refless.evaluation.uses import as_annotator
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.contrast import contrast
from refless.stats.intervals import UNDEFINED, Interval
from refless.stats.samples import FEWEST_RATERS, Sample

Study = Callable[..., dict[str, "Found"]]
PASSING = {f"pass .{p}": p / 100 for p in (50, 80, 95, 98)}
KINDS = ("1-5", "ceiling", *PASSING)
CENTRES = {"1-5": 3.3, "ceiling": 4.7}
# standard deviations; the last of all three
ITEM, ANSWER, NOISE, SPREAD = (
    0.8,
    0.5,
    0.6,
    1.15,
)
COVERS = 0.93
FALSE = 0.06
WIDE = 1.25
TOLD = 0.9
LARGE = 400_000  # rows that tell a truth


@dataclass(frozen=True, slots=True)
class Found:
    """A number of one draw.

    Attributes:
        ends: its interval; truth: what it is without chance; simple: the simplest method's.
        zero: whether an interval that excludes 0 shows something.
    """

    ends: Interval
    truth: float
    simple: Interval = UNDEFINED
    zero: bool = False


@dataclass
class Counts:
    """What became of a number over all draws."""

    runs: int = 0
    told: int = 0
    covers: int = 0
    false: int = 0
    widths: list[float] = field(default_factory=list)
    simple_covers: int = 0
    simple_widths: list[float] = field(default_factory=list)

    def add(self, found: Found) -> None:
        """One more draw."""
        low, high = found.ends
        self.runs += 1
        if not math.isnan(low):
            self.told += 1
            self.covers += low - 1e-9 <= found.truth <= high + 1e-9
            self.widths.append(high - low)
            above = low > 0 and found.truth <= 0
            below = high < 0 and found.truth >= 0
            self.false += found.zero and (above or below)
        low, high = found.simple
        if not math.isnan(low):
            self.simple_covers += low - 1e-9 <= found.truth <= high + 1e-9
            self.simple_widths.append(high - low)

    @property
    def coverage(self) -> float:
        """Share of the intervals that cover the truth; NaN without any."""
        return self.covers / self.told if self.told else math.nan

    @property
    def false_share(self) -> float:
        """Share of the draws in which a difference is shown that is none."""
        return self.false / self.runs

    @property
    def ratio(self) -> float:
        """Median width over that of the simplest method; NaN if that is not valid here."""
        told = len(self.simple_widths)
        valid = told >= TOLD * self.runs and self.simple_covers >= COVERS * told
        if not valid or not self.widths:
            return math.nan
        return float(np.median(self.widths) / np.median(self.simple_widths))


# --- Draws


def rated(kind: str, latent: FloatArray) -> FloatArray:
    """Ratings of latent values around 0."""
    if kind in PASSING:
        bar = SPREAD * stats.norm.ppf(1 - PASSING[kind])
        return np.asarray(latent > bar, dtype=np.float64)
    return np.asarray(np.clip(np.rint(latent + CENTRES[kind]), 1.0, 5.0))


def scale_of(kind: str) -> Interval:
    """Lowest and highest rating."""
    return (0.0, 1.0) if kind in PASSING else (1.0, 5.0)


@dataclass(frozen=True, slots=True)
class Design:
    """How items are drawn.

    Attributes:
        gap: by how much the second system is better, latent.
        sources: that items are drawn from, or 0; crossed, within: standard deviations of what a
            source does to one system, and to both.
        equal: share of items to which both systems answer alike.
    """

    gap: float = 0.0
    sources: int = 0
    crossed: float = 0.0
    within: float = 0.0
    equal: float = 0.0


ALONE = Design()


def drawn(
    rng: np.random.Generator, kind: str, n: int, design: Design
) -> tuple[FloatArray, FloatArray, IntArray]:
    """[2, n] ratings, [2, n] latent values, [n] sources."""
    sources = design.sources or n
    source = rng.permutation(np.arange(n) % sources)
    latent = ITEM * rng.normal(size=n) + ANSWER * rng.normal(size=(2, n))
    latent[1] += design.gap
    if design.sources:
        latent += design.within * rng.normal(size=sources)[source]
        latent += (
            design.crossed / math.sqrt(2) * rng.normal(size=(2, sources))[:, source]
        )
    noisy = latent + NOISE * rng.normal(size=(2, n))
    same = rng.random(n) < design.equal
    latent[1, same] = latent[0, same]
    noisy[1, same] = noisy[0, same]
    return rated(kind, noisy), latent, source


@cache
def truth_of(kind: str, design: Design) -> tuple[float, float]:
    """The difference of the two systems, and the mean of the first, without chance."""
    rng = np.random.default_rng(0)
    many = Design(
        gap=design.gap,
        sources=LARGE if design.sources else 0,
        crossed=design.crossed,
        within=design.within,
        equal=design.equal,
    )
    ratings, _, _ = drawn(rng, kind, LARGE, many)
    mean = float(ratings[0].mean())
    return (float(ratings[1].mean()) - mean if design.gap else 0.0), mean


# --- The simplest valid methods


def student_t(values: FloatArray) -> Interval:
    """Student's interval of a mean; none if nothing varies."""
    n = len(values)
    spread = float(np.std(values, ddof=1)) if n > 1 else 0.0
    if not spread > 0:
        return UNDEFINED
    half = stats.t.ppf(0.975, n - 1) * spread / math.sqrt(n)
    return float(values.mean() - half), float(values.mean() + half)


def welch(first: FloatArray, second: FloatArray) -> Interval:
    """Welch's interval of a difference of means."""
    if min(len(first), len(second)) < 2:
        return UNDEFINED
    parts = [float(np.var(arm, ddof=1)) / len(arm) for arm in (first, second)]
    variance = sum(parts)
    if not variance > 0:
        return UNDEFINED
    spare = [
        part**2 / (len(arm) - 1)
        for part, arm in zip(parts, (first, second), strict=True)
    ]
    half = stats.t.ppf(0.975, variance**2 / sum(spare)) * math.sqrt(variance)
    value = float(second.mean() - first.mean())
    return value - half, value + half


def wilson(verdicts: FloatArray) -> Interval:
    """Wilson's interval of a share."""
    z = stats.norm.ppf(0.975)
    n = len(verdicts)
    share = float(verdicts.mean())
    middle = (share + z * z / 2 / n) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / 4 / n / n)
    return middle - half, middle + half


def newcombe(first: FloatArray, second: FloatArray) -> Interval:
    """Newcombe's interval of a difference of shares."""
    (low, high) = wilson(first)
    (least, most) = wilson(second)
    before = float(first.mean())
    after = float(second.mean())
    value = after - before
    down = math.hypot(after - least, high - before)
    up = math.hypot(before - low, most - after)
    return value - down, value + up


def means_by(values: FloatArray, groups: IntArray) -> FloatArray:
    """The mean of each group."""
    codes = np.unique(groups, return_inverse=True)[1]
    return np.asarray(np.bincount(codes, values) / np.bincount(codes))


def fisher(r: float, n: int, *, ranked: bool) -> Interval:
    """Fisher's interval of a correlation of independent rows (Bonett & Wright 2000 for ranks)."""
    if not abs(r) < 1 or n < 4:
        return UNDEFINED
    half = 1.96 * math.sqrt((1 + r * r / 2 if ranked else 1.0) / (n - 3))
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


# --- Differences and means of `compare`


def two(
    rng: np.random.Generator,
    kind: str,
    first: int,
    second: int,
    n: int = 0,
    *,
    apart: bool = False,
    shared: int | None = None,
    estimate: float | None = None,
    design: Design = ALONE,
    these: bool = False,
) -> dict[str, Found]:
    """Two systems, so many of whose items are rated at random.

    Args:
        rng: of the draw; kind: of ratings.
        first, second: rated items of each; n: items; apart: whether systems answer other items.
        shared: rated items that both have in common; None for as many as there can be.
        estimate: standard deviation of estimates around the latent value; None for no estimates.
        design: of the items; these: whether these items are the question.
    """
    n = n or max(first, second)
    ratings, latent, source = drawn(rng, kind, n, design)
    if apart:
        other, other_latent, _ = drawn(rng, kind, n, design)
        ratings[1] = other[1]
        latent[1] = other_latent[1]
    order = rng.permutation(n)
    skipped = 0 if shared is None else first - shared
    chosen = [order[:first], order[skipped : skipped + second]]
    human = np.full((2, n), math.nan)
    for arm, rows in enumerate(chosen):
        human[arm, rows] = ratings[arm, rows]
    item = np.arange(2 * n) if apart else np.tile(np.arange(n), 2)
    proxy = None
    if estimate is not None:
        proxy = (latent + estimate * rng.normal(size=(2, n))).ravel()
    sample = Sample.of(
        human.ravel(),
        np.tile(source, 2) if design.sources else item,
        arm=np.repeat(np.array([-1, 1]), n),
        item=item,
        proxy=proxy,
    )
    ends = contrast(sample, scale=scale_of(kind), these=these).both.interval
    truth = truth_of(kind, design)[0]
    if these:
        truth = float(ratings[1].mean() - ratings[0].mean())
    simple = _simplest(
        kind, ratings, chosen, source, apart=apart, nested=design.sources > 0
    )
    return {"difference": Found(ends, truth, simple, zero=True)}


def _simplest(
    kind: str,
    ratings: FloatArray,
    chosen: Sequence[IntArray],
    source: IntArray,
    *,
    apart: bool,
    nested: bool,
) -> Interval:
    """The simplest valid interval of a difference."""
    both = np.intersect1d(chosen[0], chosen[1])
    differences = ratings[1, both] - ratings[0, both]
    if nested:
        return (
            student_t(means_by(differences, source[both])) if len(both) else UNDEFINED
        )
    if not apart and len(both) == min(map(len, chosen)):
        return student_t(differences)
    arms = ratings[0, chosen[0]], ratings[1, chosen[1]]
    return newcombe(*arms) if apart and kind in PASSING else welch(*arms)


def one(
    rng: np.random.Generator,
    kind: str,
    n: int,
    total: int = 0,
    *,
    estimate: float | None = None,
    design: Design = ALONE,
) -> dict[str, Found]:
    """The mean of one system, n of whose outputs are rated."""
    total = total or n
    ratings, latent, source = drawn(rng, kind, total, design)
    human = np.where(np.arange(total) < n, ratings[0], math.nan)
    proxy = None if estimate is None else latent[0] + estimate * rng.normal(size=total)
    unit = source if design.sources else np.arange(total)
    ends = contrast(
        Sample.of(human, unit, proxy=proxy), scale=scale_of(kind)
    ).both.interval
    known = ratings[0, :n]
    simple = wilson(known) if kind in PASSING else student_t(known)
    if design.sources:
        simple = student_t(means_by(known, source[:n]))
    return {"mean": Found(ends, truth_of(kind, design)[1], simple)}


def unlike(
    rng: np.random.Generator, k: int, spread: float, *, apart: bool
) -> dict[str, Found]:
    """A new system whose ratings vary more, or less, than the old one's; no scale ends them."""
    item = rng.normal(0, 0.5, 40)
    old = item + rng.normal(0, 0.8, 40)
    new = (rng.normal(0, 0.5, 40) if apart else item) + rng.normal(0, spread, 40)
    human = np.concatenate([old, np.where(np.arange(40) < k, new, math.nan)])
    place = np.arange(80) if apart else np.tile(np.arange(40), 2)
    sample = Sample.of(human, place, arm=np.repeat(np.array([-1, 1]), 40), item=place)
    simple = welch(old, new[:k]) if apart else student_t((new - old)[:k])
    ends = contrast(sample, scale=(-4.0, 4.0)).both.interval
    return {"difference": Found(ends, 0.0, simple, zero=True)}


def by_chance(
    rng: np.random.Generator, kind: str, expected: int, *, estimate: float | None
) -> dict[str, Found]:
    """Two systems on 200 items, each drawn to be rated with a chance of its own."""
    n = 200
    ratings, latent, _ = drawn(rng, kind, n, ALONE)
    size = np.exp(0.6 * rng.normal(size=n) + 0.4 * np.abs(latent[0]))
    chance = np.minimum(expected * size / size.sum(), 1.0)
    human = np.where(rng.random(n) < chance, ratings, math.nan)
    proxy = None
    if estimate is not None:
        proxy = latent + estimate * rng.normal(size=(2, n))
    found = {}
    for name, arms, truth in (
        ("mean", 1, truth_of(kind, ALONE)[1]),
        ("difference", 2, 0.0),
    ):
        item = np.tile(np.arange(n), arms)
        sample = Sample.of(
            human[:arms].ravel(),
            item,
            arm=np.repeat(np.array([-1, 1][-arms:]), n),
            item=item,
            proxy=None if proxy is None else proxy[:arms].ravel(),
            chance=np.tile(chance, arms),
        )
        ends = contrast(sample, scale=scale_of(kind)).both.interval
        found[name] = Found(ends, truth, UNDEFINED, zero=arms > 1)
    return found


def by_raters(
    rng: np.random.Generator, raters: int, each: int, strict: float, *, nested: bool
) -> dict[str, Found]:
    """Two systems on 40 of 60 items, each answer rated by some; nested: raters of their own."""
    latent = drawn(rng, "1-5", 60, ALONE)[1]
    severity = strict * rng.normal(size=raters)
    items = rng.permutation(60)[:40]
    panels = np.array_split(np.arange(raters), 2) if nested else [np.arange(raters)] * 2
    rows = [
        (arm, item, rater)
        for arm in (0, 1)
        for item in items.tolist()
        for rater in rng.permutation(panels[arm])[:each].tolist()
    ]
    arm, item, rater = (np.array(column) for column in zip(*rows, strict=True))
    noise = NOISE * rng.normal(size=len(rows))
    value = np.clip(np.rint(3.3 + latent[arm, item] + severity[rater] + noise), 1, 5)
    names, entry = np.unique(arm * 60 + item, return_inverse=True)
    mean = np.bincount(entry, value) / np.bincount(entry)
    people = Raters(text=entry, rater=rater, rating=value)
    told = people.severity(value, arm)
    sample = Sample.of(
        mean,
        names % 60,
        arm=np.where(names < 60, -1, 1),
        item=names % 60,
        shares=people.shares,
    )
    ends = contrast(sample, scale=(1.0, 5.0), severity=told).both.interval
    first, second = (mean[names // 60 == side] for side in (0, 1))
    simple = student_t(second - first)
    if nested and raters >= FEWEST_RATERS:
        simple = welch(
            *(means_by(value[arm == side], rater[arm == side]) for side in (0, 1))
        )
    return {"difference": Found(ends, 0.0, simple, zero=True)}


# --- Numbers of `judge`

SIMPLE_RATES = ("base_rate", "judge_rate", "accuracy")


@dataclass(frozen=True, slots=True)
class Judged:
    """Rows that people and a judge rated.

    Attributes:
        rows: how many; per: of one source, 0 for unequal ones.
        raters, each, strict: how many there are, how many rate a row, how unlike they are.
    """

    rows: int
    per: int = 1
    raters: int = 0
    each: int = 1
    strict: float = 0.0


def judged(
    rng: np.random.Generator, kind: str, shape: Judged
) -> tuple[FloatArray, FloatArray, IntArray, Raters | None]:
    """[n] ratings, scores, sources, and raters."""
    n = shape.rows
    unit = (
        np.arange(n) // shape.per if shape.per else rng.geometric(0.2, n).cumsum() // 8
    )
    unit = np.unique(unit, return_inverse=True)[1]
    together = 0.0
    spread = ITEM
    if shape.per != 1:
        together = 0.5 * rng.normal(size=unit.max() + 1)[unit]
        spread = math.sqrt(ITEM**2 - 0.25)
    quality = spread * rng.normal(size=n) + together
    scores = rated(kind, quality + 0.2 + 0.7 * rng.normal(size=n))
    if not shape.raters:
        return rated(kind, quality + 0.7 * rng.normal(size=n)), scores, unit, None
    severity = shape.strict * rng.normal(size=shape.raters)
    who = np.argsort(rng.random((n, shape.raters)), axis=1)[:, : shape.each]
    single = rated(
        kind, quality[:, None] + severity[who] + 0.7 * rng.normal(size=who.shape)
    )
    text = np.repeat(np.arange(n), shape.each)
    raters = Raters(text=text, rater=who.ravel(), rating=single.ravel())
    return single.mean(axis=1), scores, unit, raters


def labels_of(
    kind: str,
    human: FloatArray,
    scores: FloatArray,
    unit: IntArray,
    raters: Raters | None,
    slices: Mapping[str, Sequence[str]] | None = None,
) -> Labels:
    """The rows as `judge` has them."""
    n = len(human)
    votes = Votes(text=np.arange(n), rating=human)
    if raters is not None:
        votes = Votes(text=raters.text, rating=raters.rating)
    every = AllRows(human=human, judge=scores, unit=unit, votes=votes, raters=raters)
    labels = Labels(
        name="judge", human=human, judge=scores, unit=unit, votes=votes, every=every,
        unlabelled=every.unlabelled, raters=raters, scale=scale_of(kind), slices=slices or {},
    )  # fmt: skip
    return labels.as_verdicts((0.5, 0.5)) if kind in PASSING else labels


@cache
def judge_truth(kind: str, each: int, strict: float) -> dict[str, float]:
    """Each number of a judge without chance: of very many rows, each rated by other people."""
    rng = np.random.default_rng(1)
    n = 200_000 if kind in PASSING else LARGE
    quality = ITEM * rng.normal(size=n)
    scores = rated(kind, quality + 0.2 + 0.7 * rng.normal(size=n))
    error = math.hypot(0.7, strict)
    single = rated(kind, quality[:, None] + error * rng.normal(size=(n, each)))
    labels = labels_of(kind, single.mean(axis=1), scores, np.arange(n) // 1000, None)
    labels = replace(labels, passes=single.mean(axis=1)) if kind in PASSING else labels
    return {name: estimate.value for name, estimate in measured(labels).items()}


def audit(rng: np.random.Generator, kind: str, shape: Judged) -> dict[str, Found]:
    """Every number of a judge that has an interval."""
    human, scores, unit, raters = judged(rng, kind, shape)
    labels = labels_of(kind, human, scores, unit, raters)
    true = judge_truth(kind, shape.each, shape.strict)
    found = {}
    for name, estimate in measured(labels).items():
        simple = UNDEFINED
        if shape.per == 1 and raters is None:
            simple = _simple_number(name, human, scores)
        found[name] = Found(estimate.interval, true[name], simple)
    return found


def _simple_number(name: str, human: FloatArray, scores: FloatArray) -> Interval:
    """The simplest valid interval of a judge's number, if there is one."""
    if name in SIMPLE_RATES:
        columns = {
            "base_rate": human,
            "judge_rate": scores,
            "accuracy": human == scores,
        }
        return wilson(np.asarray(columns[name], dtype=np.float64))
    if name == "bias":
        return student_t(scores - human)
    if name == "mae":
        return student_t(np.abs(scores - human))
    if name in ("pearson", "spearman"):
        x = human
        y = scores
        if name == "spearman":
            x = stats.rankdata(human)
            y = stats.rankdata(scores)
        r = (
            float(np.corrcoef(x, y)[0, 1])
            if np.ptp(human) * np.ptp(scores)
            else math.nan
        )
        return fisher(r, len(human), ranked=name == "spearman")
    return UNDEFINED


def bias(
    rng: np.random.Generator, rows: int, per: int, raters: int, each: int, strict: float
) -> dict[str, Found]:
    """A judge's bias of .4, by raters who are known; of fewer than four, by these raters."""
    unit = np.arange(rows) // per
    error = 0.4 + 0.9 * rng.normal(size=rows)
    if per > 1:
        error += 0.3 * rng.normal(size=unit.max() + 1)[unit]
    who = np.argsort(rng.random((rows, raters)), axis=1)[:, :each]
    severity = strict * rng.normal(size=raters)
    single = 3.0 + severity[who] + NOISE * rng.normal(size=who.shape)
    human = single.mean(axis=1)
    text = np.repeat(np.arange(rows), each)
    people = Raters(text=text, rater=who.ravel(), rating=single.ravel())
    labels = replace(
        labels_of("1-5", human, 3.0 + error, unit, people), scale=(-7.0, 13.0)
    )
    truth = 0.4
    simple = student_t(means_by((3.0 + error)[text] - single.ravel(), who.ravel()))
    if raters < FEWEST_RATERS:
        truth -= float(severity[who].mean())
        simple = student_t(means_by(3.0 + error - human, unit))
    return {"bias": Found(measured(labels)["bias"].interval, truth, simple, zero=True)}


def all_rows(
    rng: np.random.Generator, kind: str, n: int, *, blank: bool = False
) -> dict[str, Found]:
    """The mean of 300 rows, n of them rated; blank: most bad answers have no score."""
    total = 300
    ratings, latent, _ = drawn(rng, kind, total, ALONE)
    scores = rated(kind, latent[0] + 0.3 + 0.5 * rng.normal(size=total))
    if blank:
        silent = (latent[0] < -0.5) & (rng.random(total) < 0.8)
        scores = np.where(silent, math.nan, scores)
    human = np.where(np.arange(total) < n, ratings[0], math.nan)
    unit = np.arange(total)
    rows = np.flatnonzero(~np.isnan(human) & ~np.isnan(scores))
    votes = Votes(text=np.arange(n), rating=ratings[0, :n])
    every = AllRows(human=human, judge=scores, unit=unit, votes=votes)
    labels = Labels(
        name="judge", human=human[rows], judge=scores[rows], unit=unit[rows],
        votes=Votes(text=np.arange(len(rows)), rating=human[rows]), every=every,
        unlabelled=every.unlabelled, scale=scale_of(kind),
    )  # fmt: skip
    if kind in PASSING:
        labels = labels.as_verdicts((0.5, 0.5))
    known = ratings[0, :n]
    simple = wilson(known) if kind in PASSING else student_t(known)
    truth = truth_of(kind, ALONE)[1]
    means = corrected_means(labels)
    return {
        name: Found(means[name].interval, truth, simple)
        for name in ("ratings alone", "ratings and scores")
    }


def compared_rows(
    rng: np.random.Generator, kind: str, n: int, per: int
) -> dict[str, Found]:
    """A slice that is like the others, a judge that has not changed, an even win rate."""
    human, scores, unit, _ = judged(rng, kind, Judged(rows=n, per=per))
    third = ["one" if row % 3 == 0 else "other" for row in range(n)]
    labels = labels_of(kind, human, scores, unit, None, {"slice": third})
    gaps = [part.gap.interval for part in sliced(labels)[0] if part.value == "one"]
    quality = human - human.mean()
    before = rated(kind, 0.6 * quality + 0.5 * rng.normal(size=n))
    again = rated(kind, 0.6 * quality + 0.5 * rng.normal(size=n))
    bar = 0.5 if kind in PASSING else None
    change = drift_of(again, before, unit, bar).change.interval
    won = (rng.random(n) < 0.5).astype(np.float64)
    errors = scores - human
    inside = np.array([name == "one" for name in third])
    simple = welch(errors[~inside], errors[inside]) if per == 1 else UNDEFINED
    moved = student_t(again - before) if per == 1 else UNDEFINED
    low, high = rate(won, unit).interval
    return {
        "slice": Found(gaps[0] if gaps else UNDEFINED, 0.0, simple, zero=True),
        "change": Found(change, 0.0, moved, zero=True),
        "win rate": Found((low - 0.5, high - 0.5), 0.0, UNDEFINED, zero=True),
    }


def equals(
    rng: np.random.Generator, rows: int, annotators: int, strict: float
) -> dict[str, Found]:
    """A judge of usual strictness: how much nearer it is to annotators than they are.

    The truth is about people like them, or of fewer than four about these.
    """
    severity = strict * rng.normal(size=annotators)
    gain = _nearness(strict, annotators)
    if annotators < FEWEST_RATERS:
        gain = _gain_of(np.random.default_rng(2), severity[:, None], 20_000)
    quality = 3.3 + ITEM * rng.normal(size=rows)
    marks = _marks(rng, quality, severity[:, None])
    place = np.arange(rows)
    total = marks[:-1].sum(axis=0)
    beside = [(place, (total - mine) / (annotators - 1), mine) for mine in marks[:-1]]
    labels = labels_of("1-5", marks[:-1].mean(axis=0), marks[-1], place, None)
    nearer = as_annotator(replace(labels, people=beside)).interval
    return {"nearness": Found(nearer, gain, UNDEFINED, zero=True)}


def _marks(
    rng: np.random.Generator, quality: FloatArray, severity: FloatArray
) -> FloatArray:
    """[annotators + 1, rows] what annotators say, and last a judge of usual strictness."""
    strictness = np.vstack([severity, np.zeros((1, severity.shape[1]))])
    noise = 0.7 * rng.normal(size=(len(strictness), len(quality)))
    return np.clip(np.rint(quality + strictness + noise), 1, 5)


def _gain_of(rng: np.random.Generator, severity: FloatArray, rows: int) -> float:
    """By how much the judge is nearer to the others than annotators are, of very many rows."""
    marks = _marks(rng, 3.3 + ITEM * rng.normal(size=rows), severity)
    people = marks[:-1]
    others = (people.sum(axis=0) - people) / (len(people) - 1)
    return float((np.abs(people - others) - np.abs(marks[-1] - others)).mean())


@cache
def _nearness(strict: float, annotators: int) -> float:
    """The same for annotators who are drawn anew for each row."""
    rng = np.random.default_rng(3)
    return _gain_of(rng, strict * rng.normal(size=(annotators, LARGE)), LARGE)


# --- Cells


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: the row and the column of a table, and what is drawn."""

    part: str
    row: str
    column: str
    study: Study
    settings: Mapping[str, Any]


def cells() -> Iterator[Cell]:
    """Every setting."""
    for kind in KINDS:
        yield from _of_arms(kind)
        yield from _of_pairs(kind)
        yield from _of_means(kind)
        if kind != "pass .50":
            yield from _of_sources(kind)
            yield from _of_estimates(kind)
        yield from _of_chances(kind)
        yield from _of_judge(kind)
    yield from _of_raters()
    for spread, k, apart in _product((0.4, 1.6), (2, 3, 5, 10), (False, True)):
        name = f"{k} beside 40, {'apart' if apart else 'same items'}"
        wide = "new varies half as much" if spread < 1 else "new varies twice as much"
        yield Cell(
            "unlike arms",
            name,
            wide,
            unlike,
            {"k": k, "spread": spread, "apart": apart},
        )


def _product(*lists: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    from itertools import product

    return product(*lists)


def _of_arms(kind: str) -> Iterator[Cell]:
    """Few ratings of one system beside forty of the other."""
    for k, apart in _product((1, 2, 3, 5, 10, 40), (False, True)):
        where = "apart" if apart else "same items"
        for gap in (0.0, 0.5) if k in (3, 10) else (0.0,):
            settings = {
                "kind": kind, "first": 40, "second": k, "n": 40, "apart": apart,
                "design": Design(gap=gap),
            }  # fmt: skip
            yield Cell(
                "arms", f"{k} beside 40, {where}, gap {gap:g}", kind, two, settings
            )
        if k in (2, 3, 5):
            settings = {"kind": kind, "first": k, "second": k, "n": 40, "apart": apart}
            yield Cell("arms", f"{k} beside {k}, {where}", kind, two, settings)


def _of_pairs(kind: str) -> Iterator[Cell]:
    """Items that both systems answered, all or some of them rated."""
    better = Design(gap=0.3)
    alike = Design(gap=0.3, equal=0.85)
    for n in (12, 60, 300):
        for name, design in ((f"{n} pairs", better), (f"{n} pairs, 85 % equal", alike)):
            settings = {"kind": kind, "first": n, "second": n, "design": design}
            yield Cell("pairs", name, kind, two, settings)
        half = {"kind": kind, "first": n, "second": n, "n": 2 * n, "shared": n // 2}
        yield Cell("pairs", f"{2 * n} items, half rated in each", kind, two,
                   {**half, "design": better})  # fmt: skip
        third = {"kind": kind, "first": n, "second": n // 3, "n": n, "design": better}
        yield Cell("pairs", f"{n} items, all old, a third new", kind, two, third)
    for k in (20, 50):
        settings = {"kind": kind, "first": k, "second": k, "n": 60, "these": True}
        yield Cell("pairs", f"{k} of these 60 items", kind, two, settings)


def _of_means(kind: str) -> Iterator[Cell]:
    """The mean of one system, or of all rows of a judge."""
    for n in (12, 60, 300):
        yield Cell("means", f"{n} ratings", kind, one, {"kind": kind, "n": n})
    for n in (12, 30, 100):
        settings = {"kind": kind, "n": n}
        yield Cell("all rows of a judge", f"{n} of 300 rated", kind, all_rows, settings)
    if kind in CENTRES:
        for n in (20, 80):
            settings = {"kind": kind, "n": n, "blank": True}
            name = f"{n} of 300 rated, no score of bad answers"
            yield Cell("all rows of a judge", name, kind, all_rows, settings)


def _of_sources(kind: str) -> Iterator[Cell]:
    """Items that are drawn from sources."""
    for sources in (8, 20):
        crossed = Design(sources=sources, crossed=0.5, within=0.3)
        for n in (20, 40, 80):
            settings = {"kind": kind, "first": n, "second": n, "design": crossed}
            yield Cell(
                "sources", f"{n} items of {sources} sources", kind, two, settings
            )
        settings = {"kind": kind, "first": 60, "second": 12, "n": 60, "design": crossed}
        yield Cell("sources", f"60 beside 12, {sources} sources", kind, two, settings)
        nested = Design(sources=sources, within=0.5)
        settings = {"kind": kind, "n": 60, "design": nested}
        yield Cell(
            "sources", f"mean of 60 items of {sources} sources", kind, one, settings
        )


def _of_estimates(kind: str) -> Iterator[Cell]:
    """Estimates of all outputs, good ones and useless ones."""
    better = Design(gap=0.3)
    for n, estimate in _product((12, 30, 60), (0.4, 9.0)):
        word = "good" if estimate < 1 else "useless"
        settings = {
            "kind": kind,
            "first": n,
            "second": n,
            "n": 200,
            "estimate": estimate,
        }
        name = f"{n} of 200 rated, {word} estimates"
        yield Cell("estimates", name, kind, two, {**settings, "design": better})
        alone = {"kind": kind, "n": n, "total": 200, "estimate": estimate}
        yield Cell("estimates", f"mean, {name}", kind, one, alone)
    crossed = Design(sources=20, crossed=0.5, within=0.3)
    for second, design in ((60, crossed), (12, ALONE)):
        settings = {
            "kind": kind,
            "first": 60,
            "second": second,
            "n": 200,
            "estimate": 0.4,
        }
        name = "60 of 200 rated, 20 sources" if second == 60 else "60 beside 12 of 200"
        yield Cell("estimates", f"{name}, good estimates", kind, two,
                   {**settings, "design": design})  # fmt: skip


def _of_chances(kind: str) -> Iterator[Cell]:
    """Items that are drawn with unequal chances."""
    for expected, estimate in _product((20, 60), (None, 0.4)):
        words = "no estimates" if estimate is None else "good estimates"
        settings = {"kind": kind, "expected": expected, "estimate": estimate}
        name = f"about {expected} of 200 rated, {words}"
        yield Cell("unequal chances", name, kind, by_chance, settings)


def _of_judge(kind: str) -> Iterator[Cell]:
    """A judge's numbers, whose names are the rows of the table."""
    for n, per in ((12, 1), (20, 1), (60, 1), (300, 1), (100, 5), (100, 0)):
        where = {1: "", 5: " in fives", 0: " in unequal sources"}[per]
        shape = Judged(rows=n, per=per)
        column = f"{kind}, {n} rows{where}"
        yield Cell("judge", "", column, audit, {"kind": kind, "shape": shape})
        if per:
            settings = {"kind": kind, "n": n, "per": per}
            yield Cell("judge, nothing differs", "", column, compared_rows, settings)
    for each in (1, 2) if kind != "pass .98" else ():
        shape = Judged(rows=150, raters=6, each=each, strict=0.5)
        column = f"{kind}, 150 rows, 6 raters, {each} a row, sd .5"
        yield Cell("judge", "", column, audit, {"kind": kind, "shape": shape})


def _of_raters() -> Iterator[Cell]:
    """Raters who are stricter or milder."""
    for strict in (0.0, 0.3, 0.5):
        column = f"sd {strict}"
        for raters, each, per in ((1, 1, 1), (3, 1, 1), (3, 3, 1), (6, 1, 1), (6, 2, 1),
                                  (10, 2, 1), (6, 2, 5)):  # fmt: skip
            settings = {
                "rows": 150, "per": per, "raters": raters, "each": each, "strict": strict,
            }  # fmt: skip
            more = ", in fives" if per > 1 else ""
            name = f"bias of a judge, {raters} raters, {each} a row{more}"
            yield Cell("raters", name, column, bias, settings)
        for nested, raters, each in (
            (False, 1, 1), (False, 3, 1), (False, 6, 1), (False, 6, 2), (True, 6, 1), (True, 6, 2),
            (True, 12, 1),
        ):  # fmt: skip
            if raters < FEWEST_RATERS and strict:
                continue  # then the truth is what these raters say, which is not 0
            settings = {
                "raters": raters,
                "each": each,
                "strict": strict,
                "nested": nested,
            }
            name = f"two systems, {'nested' if nested else 'crossed'}, {raters} raters, {each} each"
            yield Cell("raters", name, column, by_raters, settings)
        for annotators, rows in _product((3, 6), (20, 60, 150)):
            settings = {"rows": rows, "annotators": annotators, "strict": strict}
            name = f"a judge like {annotators} annotators, {rows} rows"
            yield Cell("raters", name, column, equals, settings)


# --- Tables


def tried(work: tuple[Cell, int]) -> tuple[Cell, dict[str, Counts]]:
    """A setting, many times."""
    cell, runs = work
    name = f"{cell.part} {cell.row} {cell.column}"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    counts: dict[str, Counts] = {}
    for _ in range(runs):
        for number, found in cell.study(rng, **cell.settings).items():
            counts.setdefault(number, Counts()).add(found)
    return cell, counts


def shown(counts: Counts) -> str:
    """`.951`: coverage; what is at fault is bold, also `1.30x` the simplest method's width."""
    if not counts.told:
        return "-"
    parts = [_marked(counts.coverage, counts.coverage < COVERS)]
    if counts.false_share > FALSE:
        parts.append(f"false **{_digits(counts.false_share)}**")
    if counts.told < TOLD * counts.runs:
        parts.append(f"told {_digits(counts.told / counts.runs, 2)}")
    if counts.ratio > WIDE:
        parts.append(f"**{counts.ratio:.2f}x**")
    return " ".join(parts)


def _marked(value: float, bad: bool) -> str:
    text = _digits(value)
    return f"**{text}**" if bad else text


def _digits(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if value < 1 else text


def tables(found: Sequence[tuple[Cell, dict[str, Counts]]]) -> Iterator[str]:
    """A summary, then each part's table."""
    grid: dict[str, dict[str, dict[str, Counts]]] = {}
    for cell, counts in found:
        for number, each in counts.items():
            row, column = (cell.row, cell.column) if cell.row else (number, cell.column)
            name = column if len(counts) == 1 or not cell.row else f"{column}: {number}"
            grid.setdefault(cell.part, {}).setdefault(row, {})[name] = each
    columns = ("part", "cells", "below .93 (lowest)", "false above .06 (highest)")
    yield f"| {' | '.join(columns)} | ratio: median, highest |"
    yield "|---|---:|---:|---:|---:|"
    for part, rows in grid.items():
        yield _summary(
            part, [each for columns in rows.values() for each in columns.values()]
        )
    yield _summary(
        "**all**",
        [
            each
            for rows in grid.values()
            for columns in rows.values()
            for each in columns.values()
        ],
    )
    for part, rows in grid.items():
        yield f"\n### {part.capitalize()}\n"
        transposed = part.startswith("judge")
        yield from _table(_turned(rows) if transposed else rows)


def _turned(
    rows: Mapping[str, Mapping[str, Counts]],
) -> dict[str, dict[str, Counts]]:
    """Rows as columns."""
    turned: dict[str, dict[str, Counts]] = {}
    for row, columns in rows.items():
        for column, counts in columns.items():
            turned.setdefault(column, {})[row] = counts
    return turned


def _table(rows: Mapping[str, Mapping[str, Counts]]) -> Iterator[str]:
    names = list(dict.fromkeys(name for columns in rows.values() for name in columns))
    yield f"||{'|'.join(names)}|"
    yield f"|---|{'---:|' * len(names)}"
    for row, columns in rows.items():
        each = [shown(columns[name]) if name in columns else "" for name in names]
        yield f"|{row}|{'|'.join(each)}|"


def _summary(part: str, counts: Sequence[Counts]) -> str:
    told = [each for each in counts if each.told]
    low = [each.coverage for each in told]
    wrong = [each.false_share for each in counts]
    ratios = [each.ratio for each in counts if not math.isnan(each.ratio)]
    below = sum(share < COVERS for share in low)
    above = sum(share > FALSE for share in wrong)
    lowest = _digits(min(low)) if low else "-"
    wide = f"{np.median(ratios):.2f}, {max(ratios):.2f}" if ratios else "-"
    highest = _digits(max(wrong))
    return f"| {part} | {len(counts)} | {below} ({lowest}) | {above} ({highest}) | {wide} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000, help="draws of each setting")
    parser.add_argument("--part", action="append", help="a part alone; repeatable")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--quick", action="store_true", help="two draws of a few settings"
    )
    options = parser.parse_args(arguments)
    chosen = [cell for cell in cells() if not options.part or cell.part in options.part]
    runs = options.runs
    if options.quick:
        chosen = chosen[::40]
        runs = 2
    with ProcessPoolExecutor(options.processes) as pool:
        found = list(pool.map(tried, [(cell, runs) for cell in chosen]))
    print("\n".join(tables(found)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
