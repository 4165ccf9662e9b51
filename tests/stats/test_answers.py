"""Files as people have them: honest ones, some that mislead, and odd samples.

On each of them refless is right, or says that it cannot tell. Texts and ratings are simulated, so
the truth is known. A case asks one question of one file and says which answer came back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations_with_replacement, product
from typing import Any, Literal

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.random import default_rng

import refless
from command_line import one_line
from refless.data.rows import rows_of
from rows import column, only, without

Answer = Literal["right", "cannot be told", "wrong"]
Row = dict[str, Any]
Rows = list[Row]
SCALE = (1.0, 5.0)

REFUSAL = "I'm sorry, but I can't help with that."
PAGE = "<div class='answer'><p>{}</p><br/><a href='/more'>more</a></div>"
LOREM = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    "Sed do eiusmod tempor incididunt ut labore et dolore magna aliqua.",
    "Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris.",
    "Duis aute irure dolor in reprehenderit in voluptate velit esse cillum.",
    "Excepteur sint occaecat cupidatat non proident, sunt in culpa.",
)


@dataclass(frozen=True)
class File:
    """Rated texts, outputs of the same systems on other items, and the truth about these."""

    rated: Rows
    outputs: Rows
    truth: np.ndarray

    @property
    def mean(self) -> float:
        """The mean that people would give to the outputs."""
        return float(self.truth.mean())


@lru_cache(maxsize=4)
def file_of(seed: int, n_rated: int = 150, n_outputs: int = 60) -> File:
    """A simulated study: three systems answer each item; the first items are rated."""
    pool = simulate(n_rated + n_outputs, seed=seed).pool
    ratings = np.asarray(pool.human) * (SCALE[1] - SCALE[0]) + SCALE[0]
    rows = rows_of(pool)
    rated = [
        {**row, "rating": float(rating)}
        for row, rating in zip(rows, ratings[:n_rated], strict=False)
    ]
    return File(rated, rows[n_rated:], ratings[n_rated:])


# May this ship?


def gate(file: File, outputs: Rows, least: float, truth: float) -> Answer:
    """A gate is wrong if it passes outputs that are below it, or fails outputs above it."""
    verdict = refless.score(
        outputs, file.rated, scale=SCALE, min_mean=least
    ).gate.verdict
    if verdict == "undecided":
        return "cannot be told"
    return "right" if (verdict == "passed") == (truth >= least) else "wrong"


def honest_gate(seed: int, above: float) -> Answer:
    """Outputs of the same systems on other items."""
    file = file_of(seed)
    return gate(file, file.outputs, file.mean - above, file.mean)


def broken_gate(
    seed: int, change: Callable[[int, str], str], n_rated: int = 150
) -> Answer:
    """Outputs that nobody would rate above 2, in place of honest ones."""
    file = file_of(seed, n_rated)
    outputs = [
        {**row, "text": change(i, row["text"])} for i, row in enumerate(file.outputs)
    ]
    return gate(file, outputs, 2.0, 1.0)


def copied_gate(seed: int) -> Answer:
    """Three outputs in ten are well-rated texts of other items, which answer nothing here."""
    file = file_of(seed)
    best = sorted(file.rated, key=lambda row: -float(row["rating"]))
    outputs = [
        {**row, "text": best[i // 3]["text"]} if i % 10 in (0, 3, 6) else row
        for i, row in enumerate(file.outputs)
    ]
    truth = file.mean - 0.3 * (float(file.truth.mean()) - 1)
    return gate(file, outputs, (truth + file.mean) / 2, truth)


def shuffled(i: int, text: str) -> str:
    """The words in random order."""
    return " ".join(default_rng(i).permutation(text.split()))


# Is B better than A?


def compared(rows: Rows, truth: float, **more: Any) -> Answer:
    """A difference that is shown is right if it is there and has this sign."""
    (pair,) = refless.compare(rows, **{"scale": SCALE, **more}).comparison.pairs
    if not pair.shown:
        return "cannot be told"
    sign = 1 if pair.second == "B" else -1
    return "right" if sign * pair.difference.value * truth > 0 else "wrong"


def pairs(seed: int, n: int) -> Rows:
    """Outputs of A and B on n items; their texts do not say which is better."""
    texts = simulate(2 * n, seed=seed).pool.texts
    return [
        {
            "id": f"{system}{i}",
            "item": f"i{i}",
            "system": system,
            "text": texts[2 * i + k],
        }
        for i, (k, system) in product(range(n), enumerate("AB"))
    ]


def two_systems(seed: int, difference: float, n_rated: int, **more: Any) -> Answer:
    """A and B on 90 items, the first of which are rated; B is better by this much."""
    rng = default_rng(seed)
    rows = pairs(seed, 90)
    for row in rows[: 2 * n_rated]:
        rating = 3 + difference * (row["system"] == "B") + rng.normal(0, 0.7)
        row["rating"] = float(np.clip(rating, *SCALE))
    return compared(rows, difference, **more)


def rated_by(
    seed: int, raters: int, *, shared: bool, difference: float = 0.0
) -> Answer:
    """Each output is rated by all raters of its system; some are stricter than others."""
    rng = default_rng(seed)
    severity = rng.normal(0, 0.4, (2, raters))
    rows = []
    for row in pairs(seed, 60):
        is_b = row["system"] == "B"
        quality = 3 + difference * is_b + rng.normal(0, 0.5)
        for rater in range(raters):
            group = 0 if shared else int(is_b)
            rating = quality + severity[group, rater] + rng.normal(0, 0.4)
            named = {
                "annotator": f"p{group}{rater}",
                "rating": float(np.clip(rating, *SCALE)),
            }
            rows.append({**row, **named})
    return compared(rows, difference)


def all_there_is(seed: int, *, n_rated: int) -> Answer:
    """These 96 items are the whole question; B is better on them by what all ratings say."""
    rng = default_rng(seed)
    rows = pairs(seed, 96)
    ratings = np.clip(3 + rng.normal(0, 0.8, 192), *SCALE)
    truth = float((ratings[1::2] - ratings[::2]).mean())
    for row, rating in zip(rows[: 2 * n_rated], ratings, strict=False):
        row["rating"] = float(rating)
    return compared(rows, truth, these_items=True)


# Does the judge mean the same in rated texts and in outputs?


def judged(
    seed: int,
    change: Callable[[np.ndarray], np.ndarray] = lambda scores: scores,
    *,
    missing: int = 0,
    leaks: bool = False,
    honest: bool = False,
) -> Answer:
    """A judge that changed between rated texts and outputs is named, and an honest one is not."""
    file = file_of(seed)
    rng = default_rng(seed)
    known = np.array([row["rating"] for row in file.rated])
    scores = [
        np.clip(np.rint(values + rng.normal(0, 0.8, len(values))), *SCALE)
        for values in (known, file.truth)
    ]
    if leaks:
        scores[0] = known

    def with_scores(rows: Rows, values: np.ndarray) -> Rows:
        scored = [
            {**row, "gpt4": float(v)} for row, v in zip(rows, values, strict=True)
        ]
        for row in scored[::missing] if missing else []:
            row["gpt4"] = None
        return scored

    rated = with_scores(file.rated, scores[0])
    outputs = with_scores(file.outputs, change(scores[1]))
    least = file.mean - 0.5
    result = refless.score(
        outputs, rated, scale=SCALE, score_column="gpt4", min_mean=least
    )
    named = any("gpt4" in sentence for sentence in result.json().warnings)
    if honest:
        return "wrong" if named else "right"
    return "right" if named and result.gate.verdict != "passed" else "wrong"


def failed_calls(scores: np.ndarray) -> np.ndarray:
    """Every fifth call failed and is written as -1."""
    return np.where(np.arange(len(scores)) % 5 == 0, -1, scores)


# Which metric, and does the estimator, agree with people?


def metrics(seed: int, good: float) -> Answer:
    """Five metrics, one of which knows something if `good` is above 0: it is named, or none is."""
    rated = file_of(seed, 120, 0).rated
    rng = default_rng(seed)
    for row in rated:
        row |= {f"m{i}": float(rng.normal()) for i in range(5)}
        row["m3"] += good * row["rating"]
    names = [f"m{i}" for i in range(5)]
    result = refless.judge(rated, scale=SCALE, score_column=names, resamples=300)
    document = result.document()
    said = " ".join(document.notes)
    if "no metric is shown to agree" in said:
        trusted = any(card.state == "yes" for card in document.cards)
        return "wrong" if trusted else "cannot be told"
    return "right" if good and "m3 agrees" in said else "wrong"


def validated(
    seed: int,
    worth: Callable[[Row, np.random.Generator], float],
    rival: str | None = None,
) -> Answer:
    """Sentence and card recommend the estimator only if nothing simpler is ahead of it.

    `rival` is what is ahead, and is named; "" for whatever it is.
    """
    rng = default_rng(seed)
    rated = [{**row, "rating": worth(row, rng)} for row in file_of(seed, 180, 0).rated]
    document = refless.validate(rated, scale=SCALE).document()
    first = document.notes[0].split(". ")[0]
    recommended = first.startswith("Use the Gaussian process")
    if recommended != (document.cards[0].state == "yes"):
        return "wrong"
    if rival is None:
        return "right" if recommended else "cannot be told"
    return "right" if rival in first and not recommended else "wrong"


def by_words(row: Row, _: np.random.Generator) -> float:
    """The ratings of people."""
    return float(row["rating"])


def by_length(row: Row, rng: np.random.Generator) -> float:
    """Longer is better, and nothing else counts."""
    return float(np.clip(len(row["text"]) / 12 + rng.normal(0, 0.3) - 1, *SCALE))


def by_system(row: Row, rng: np.random.Generator) -> float:
    """The system, and nothing else, counts."""
    known = {"broken": 2.0, "hasty": 3.0, "careful": 4.0}
    return float(np.clip(known[row["system"]] + rng.normal(0, 0.2), *SCALE))


def by_lot(_: Row, rng: np.random.Generator) -> float:
    """Nothing counts."""
    return float(rng.integers(1, 6))


# Who was drawn, how many of them, and by whom were they rated?

Ratings = Sequence[float]
QUICK = {"estimator": "bleu-neighbors"}
VERDICTS = (0.0, 1.0)


def worst(answers: Iterable[Answer]) -> Answer:
    """The worst of several answers."""
    given = {*answers}
    if "wrong" in given:
        return "wrong"
    return "cannot be told" if "cannot be told" in given else "right"


def silent(answers: Iterable[Answer]) -> Answer:
    """If nothing can be known, whatever is said is wrong."""
    return "cannot be told" if {*answers} == {"cannot be told"} else "wrong"


def holds(interval: tuple[float, float], truth: float) -> Answer:
    """An interval is right if the truth lies in it."""
    low, high = interval
    if math.isnan(low):
        return "cannot be told"
    return "right" if low - 1e-9 <= truth <= high + 1e-9 else "wrong"


STARS = {
    1.0: 0.05,
    2.0: 0.1,
    3.0: 0.2,
    4.0: 0.35,
    5.0: 0.3,
}  # ratings, and how common each is
PASSES = {0.0: 0.2, 1.0: 0.8}


def drawn(
    rng: np.random.Generator, n: int, shares: Mapping[float, float]
) -> np.ndarray:
    """Ratings by lot."""
    return rng.choice([*shares], n, p=[*shares.values()])


def versions(seed: int, old: Ratings, new: Ratings, n: int = 0) -> Rows:
    """The old version A and the new one B on n items, the first ones of which are rated."""
    rows = pairs(seed, n or max(len(old), len(new)))
    for row, rating in zip(rows[::2], old, strict=False):
        row["rating"] = float(rating)
    for row, rating in zip(rows[1::2], new, strict=False):
        row["rating"] = float(rating)
    return rows


def not_worse(rows: Rows, truth: float, margin: float = 0.0, **more: Any) -> Answer:
    """Whether the new version may ship: a gate on how much worse it is than the old one."""
    asked = {"scale": SCALE, **QUICK, **more}
    result = refless.gate(rows, baseline="A", margin=margin, **asked)
    verdict = result.gate.verdict
    if verdict == "undecided":
        return "cannot be told"
    return "right" if (verdict == "passed") == (truth >= -margin) else "wrong"


def one_of_new(seed: int) -> Answer:
    """Forty ratings of old and one of new tell nothing: whatever is shown is wrong."""
    rng = default_rng(seed)
    answers = []
    for shares in (STARS, PASSES):
        rows = versions(seed, drawn(rng, 40, shares), drawn(rng, 1, shares))
        answers.append(compared(rows, 0.0, scale=(min(shares), max(shares)), **QUICK))
    return silent(answers)


def gate_on_one(seed: int) -> Answer:
    """One rating of new, the best or the worst that there is, passes no gate and fails none."""
    old = drawn(default_rng(seed), 40, STARS)
    files = [versions(seed, old, [rating]) for rating in SCALE]
    return silent(not_worse(rows, 0.0) for rows in files)


def few_of_new(
    seed: int, shares: Mapping[float, float], counts: Sequence[int]
) -> Answer:
    """Few ratings of an equal new version: at most 5 % of all that there can be show a difference.

    Every draw is compared with 40 ratings of old in which each rating is as common as it should be,
    and counts by its chance. What is tested is an exact rate, so no seed matters.
    """
    counts_of_old = [round(40 * share) for share in shares.values()]
    old = np.repeat([*shares], counts_of_old).tolist()
    scale = (min(shares), max(shares))
    for count in counts:
        false = 0.0
        for new in combinations_with_replacement(shares, count):
            ways = math.factorial(count)
            for rating in shares:
                ways //= math.factorial(new.count(rating))
            shown = compared(versions(seed, old, new), 0.0, scale=scale, **QUICK)
            if shown != "cannot be told":
                false += ways * math.prod(shares[rating] for rating in new)
        if false > 0.05:
            return "wrong"
    return "cannot be told"


def all_fail(seed: int) -> Answer:
    """Old passes 60 of 60, and new fails 60 of 60: also if these items are all there are."""
    rows = versions(seed, [1.0] * 60, [0.0] * 60)
    answers = [
        not_worse(rows, -1.0, scale=VERDICTS, these_items=these)
        for these in (False, True)
    ]
    return worst(answers)


def one_point_worse(seed: int) -> Answer:
    """Each item is exactly one point worse, which no spread of differences goes with."""
    old = np.maximum(drawn(default_rng(seed), 30, STARS), 2)
    rows = versions(seed, old, old - 1)
    return worst(not_worse(rows, -1.0, these_items=these) for these in (False, True))


def nearly_all_pass(seed: int) -> Answer:
    """98 % pass of both, so that in many files all do: there is an interval, and 0 is in it."""
    rng = default_rng(seed)
    answers = []
    for n in (15, 30, 60):
        old, new = (drawn(rng, n, {0.0: 0.02, 1.0: 0.98}) for _ in "AB")
        rows = versions(seed, old, new)
        (pair,) = refless.compare(rows, scale=VERDICTS, **QUICK).comparison.pairs
        answers.append(holds(pair.difference.interval, 0.0))
    return worst(answers)


def nearly_all_identical(seed: int) -> Answer:
    """85 % of the items have equal ratings, the others are as often better as worse."""
    rng = default_rng(seed)
    answers = []
    for n in (10, 15, 30):
        old = rng.choice([2.0, 3.0, 4.0], n)
        new = old + drawn(rng, n, {-1.0: 0.075, 0.0: 0.85, 1.0: 0.075})
        (pair,) = refless.compare(
            versions(seed, old, new), scale=SCALE
        ).comparison.pairs
        answers.append(holds(pair.difference.interval, 0.0))
    return worst(answers)


def one_output(seed: int) -> Answer:
    """All outputs are rated, and the third system has only one: its mean has no interval."""
    ratings = drawn(default_rng(seed), 30, STARS)
    rows = versions(seed, ratings[:15], ratings[15:])
    rows.append(
        {
            "id": "C0",
            "item": "i0",
            "system": "C",
            "text": "See you at six.",
            "rating": 4.0,
        }
    )
    comparison = refless.compare(rows, scale=SCALE, **QUICK).comparison
    (lone,) = [standing for standing in comparison.standings if standing.name == "C"]
    told = [
        pair
        for pair in comparison.pairs
        if pair.second == "C" and pair.method != "none"
    ]
    known = lone.mean.value == 4.0 and math.isnan(lone.mean.interval[0])
    return "cannot be told" if known and not told else "wrong"


def half_rated(seed: int, difference: float, margin: float) -> Answer:
    """Of 80 items 20 are rated for both, 30 for A alone and 30 for B alone."""
    rng = default_rng(seed)
    quality = rng.normal(3, 0.5, 80)
    rows = pairs(seed, 80)
    for i, row in enumerate(rows):
        is_b = row["system"] == "B"
        rating = quality[i // 2] + difference * is_b + rng.normal(0, 0.5)
        if i // 2 < 20 or is_b == (i % 4 > 1):
            row["rating"] = float(np.clip(rating, *SCALE))
    return not_worse(rows, difference, margin)


def good_at_some_sources(seed: int) -> Answer:
    """B is a point better on five sources and a point worse on three, twelve items of each.

    Such effects are what chance brings if there is no difference (signs of eight sources: p .73).
    Items that count as independent show one.
    """
    rng = default_rng(seed)
    effects = [1] * 5 + [-1] * 3
    rows = pairs(seed, 12 * len(effects))
    for i, row in enumerate(rows):
        source = i // 24
        rating = 3 + effects[source] * (row["system"] == "B") + rng.normal(0, 0.4)
        row |= {"source": f"s{source}", "rating": float(np.clip(rating, *SCALE))}
    return compared(rows, 0.0, **QUICK)


def exactly_these(seed: int) -> Answer:
    """Everything that is asked about is rated: the answer is that number, without an interval."""
    rng = default_rng(seed)
    old = drawn(rng, 40, STARS)
    new = drawn(rng, 40, STARS)
    rows = versions(seed, old, new)
    (pair,) = refless.compare(rows, scale=SCALE, these_items=True).comparison.pairs
    low, high = pair.difference.interval
    sign = 1 if pair.second == "B" else -1
    exact = math.isclose(
        sign * pair.difference.value, float(np.mean(new - old)), abs_tol=1e-12
    )
    return "right" if exact and low == high else "wrong"


def unequal_chances(seed: int) -> Answer:
    """B is better on many items, few of which are rated, and worse on the others.

    Without the chances, rated items say the opposite of the truth.
    """
    rng = default_rng(seed)
    rows = pairs(seed, 200)
    easy = rng.random(200) < 0.7
    chance = np.where(easy, 0.2, 0.8)
    taken = rng.random(200) < chance
    effect = np.where(easy, 1.0, -1.0)
    for i, row in enumerate(rows):
        item = i // 2
        rating = 3 + effect[item] * (row["system"] == "B") + rng.normal(0, 0.4)
        if taken[item]:
            row |= {
                "rating": float(np.clip(rating, *SCALE)),
                "probability": chance[item],
            }
    return compared(rows, 0.4, **QUICK)


def others_each(seed: int, severity: Sequence[Ratings]) -> Answer:
    """Nobody rated both systems, which are equal; raters are so much milder than the mean.

    Such raters are what chance brings: t of their means is 1.1.
    """
    rng = default_rng(seed)
    rows = pairs(seed, 60)
    for i, row in enumerate(rows):
        arm = int(row["system"] == "B")
        rater = i // 2 % len(severity[arm])
        rating = 3 + severity[arm][rater] + rng.normal(0, 0.4)
        row |= {"annotator": f"{arm}{rater}", "rating": float(np.clip(rating, *SCALE))}
    return compared(rows, 0.0, **QUICK)


def looks(seed: int, difference: float) -> Answer:
    """Twelve items are rated one after the other, with a look after each from the fourth on."""
    rng = default_rng(seed)
    old = rng.normal(3 - difference / 2, 0.5, 12).clip(*SCALE)
    new = rng.normal(3 + difference / 2, 0.5, 12).clip(*SCALE)
    files = [versions(seed, old[:n], new[:n], 12) for n in range(4, 13)]
    answers = [compared(rows, difference, looks="any", **QUICK) for rows in files]
    return "wrong" if "wrong" in answers else answers[-1]


def any_look(seed: int) -> Answer:
    """Nothing differs, and no look shows it; B is 1.4 better, and the last look shows it."""
    return "wrong" if looks(seed, 0.0) == "wrong" else looks(seed, 1.4)


def all_wins(seed: int) -> Answer:
    """People chose B in 20 pairs of 20, where they choose it 19 times in 20."""
    texts = simulate(40, seed=seed).pool.texts
    rows = [
        {
            "source": f"q{i}",
            "response_a": texts[2 * i],
            "response_b": texts[2 * i + 1],
            "model_a": "A",
            "model_b": "B",
            "winner": "model_b",
        }
        for i in range(20)
    ]
    result = refless.gate(rows, baseline="A")
    if result.gate.verdict != "passed":
        return "wrong"
    return holds(result.interval, 0.95)


def verdicts_of_three(seed: int) -> Answer:
    """Three people say pass or fail of each text: judge and compare tell the same share."""
    rng = default_rng(seed)
    rows = []
    for row in pairs(seed, 30):
        good = rng.random()
        for rater in range(3):
            verdict = float(rng.random() < good)
            named = {
                "annotator": f"p{rater}",
                "rating": verdict,
                "gpt4": float(good > 0.5),
            }
            rows.append({**row, **named})
    audit = refless.judge(rows, score_column="gpt4", resamples=40).audits[0]
    standings = refless.compare(rows, **QUICK).comparison.standings
    share = float(np.mean([row["rating"] for row in rows]))
    by_judge = audit.measures["base_rate"].value
    by_compare = float(np.mean([standing.mean.value for standing in standings]))
    same = math.isclose(by_judge, share) and math.isclose(by_compare, share)
    return "right" if same else "wrong"


def a_row_each(seed: int) -> Answer:
    """Outputs with a row for each of one to three raters count once: the mean is that of texts."""
    file = file_of(seed)
    single = without(file.outputs[:30], "id")
    several = [
        {**row, "annotator": f"p{rater}", "rating": 4.0}
        for (i, row), rater in product(enumerate(single), range(3))
        if rater <= i % 3
    ]
    once, again = (
        refless.score(rows, file.rated, scale=SCALE, **QUICK).scored.overall
        for rows in (single, several)
    )
    same = (
        math.isclose(once.mean, again.mean)
        and once.mean_interval == again.mean_interval
    )
    return "right" if same and again.n == len(single) else "wrong"


WELL = ("clear", "bright", "detailed", "careful", "precise", "vivid")
BADLY = ("blurry", "wrong", "vague", "dull", "broken", "odd")


def captions(seed: int, images: Iterable[int]) -> Rows:
    """Six rated captions of each image, which no text is the source of.

    Captions of one image share words, and some images are easier than others.
    """
    pool = simulate(60, seed=seed).pool
    vocabulary = sorted({*" ".join(pool.texts).lower().split()})
    rows = []
    for image in images:
        rng = default_rng([seed, image])
        shown = rng.choice(vocabulary, 8, replace=False)
        ease = rng.normal(0, 0.4)
        for system in range(6):
            good = rng.random()
            marks = rng.choice(WELL if good > 0.5 else BADLY, 2)
            text = " ".join([*rng.permutation(shown)[:7], *marks])
            rating = np.clip(2 + ease + 2 * good + rng.normal(0, 0.1), *SCALE)
            named = {
                "id": f"{image}.{system}",
                "item": f"image {image}",
                "system": f"m{system}",
            }
            rows.append({**named, "text": text, "rating": float(rating)})
    return rows


def without_sources(seed: int) -> Answer:
    """Captions of other images are as unlike as those of rated ones are to each other.

    So no gate is left open for that, and the mean lies in its interval.
    """
    rated = captions(seed, range(25))
    outputs = captions(seed, range(100, 120))
    truth = float(np.mean([row.pop("rating") for row in outputs]))
    result = refless.score(outputs, rated, scale=SCALE, min_mean=truth - 0.8)
    if any("unlike" in warning for warning in result.json().warnings):
        return "wrong"
    if result.gate.verdict != "passed":
        return "wrong" if result.gate.verdict == "failed" else "cannot be told"
    return holds(result.scored.overall.mean_interval, truth)


def copies_of_bad(seed: int) -> Answer:
    """A new version repeats the worst text on each rated source, and nothing else.

    Estimates then have to lie near the ratings of these texts, and not near the mean rating of
    their sources: their errors are at most half of what these means would have.
    """
    rated = [
        {**row, "source": f"Describe {row['item']}."}
        for row in captions(seed, range(20))
    ]
    groups = [rated[start : start + 6] for start in range(0, len(rated), 6)]
    worst_rows = [min(group, key=lambda row: float(row["rating"])) for group in groups]
    copies = [
        {**row, "id": f"copy{i}", "system": "new"} for i, row in enumerate(worst_rows)
    ]
    known = np.array([row.pop("rating") for row in copies])
    means = np.array([np.mean(column(group, "rating")) for group in groups])
    estimates = refless.score(copies, rated, scale=SCALE).scored.estimates.values
    errors, of_means = (
        np.sqrt(np.mean((values - known) ** 2)) for values in (estimates, means)
    )
    return "right" if errors <= of_means / 2 else "wrong"


def nobody_accepted(seed: int) -> Answer:
    """Ratings by lot: no output can do without a person, and no number of ratings is promised."""
    rng = default_rng(seed)
    file = file_of(seed)
    rated = [{**row, "rating": float(rng.integers(1, 6))} for row in file.rated]
    result = refless.score(file.outputs, rated, scale=SCALE, accept_above=3, **QUICK)
    accepted = result.accepted
    said = "more ratings may not help" in one_line(str(result).lower())
    none = accepted.chosen is None and accepted.needed is None
    return "cannot be told" if none and said else "wrong"


# Whom does the judge disagree with, and on which rows?


def beside_raters(seed: int, severity: Ratings) -> Any:
    """The result of `judge` for a judge that errs by nothing on average, beside such raters."""
    rng = default_rng(seed)
    quality = rng.normal(3, 0.6, 150)
    texts = simulate(150, seed=seed).pool.texts
    rows = []
    for i, text in enumerate(texts):
        rater = i % len(severity)
        rating = np.clip(quality[i] + severity[rater] + rng.normal(0, 0.3), *SCALE)
        score = np.clip(quality[i] + rng.normal(0, 0.3), *SCALE)
        row = {"id": f"t{i}", "text": text, "annotator": f"p{rater}"}
        rows.append(row | {"rating": float(rating), "gpt4": float(score)})
    return refless.judge(rows, scale=SCALE, score_column="gpt4", resamples=40)


def six_raters(seed: int, severity: Ratings) -> Answer:
    """Six raters who are stricter and milder, as chance brings (t of their mean is .9).

    The judge is neither too kind nor too strict by raters like them.
    """
    audit = beside_raters(seed, severity).audits[0]
    (mean,) = [use for use in audit.uses if use.purpose == "estimate a mean"]
    if mean.answer == "correct":
        return "wrong"
    return holds(audit.measures["bias"].interval, 0.0)


def few_raters(seed: int) -> Answer:
    """One to three raters: the bias is that beside these, and the page says so."""
    answers = []
    for severity in ([0.5], [0.6, 0.3], [0.5, 0.3, 0.4]):
        audit = beside_raters(seed, severity).audits[0]
        said = any(
            sentence.startswith("That other people") for sentence in audit.refusals
        )
        bias = audit.measures["bias"].interval
        nearest = holds(bias, -float(np.mean(severity)))
        answers.append(nearest if said else "wrong")
    return worst(answers)


def scored_rows(seed: int, n: int) -> Rows:
    """Rows with a rating by lot, and a judge that is off by a point as often up as down."""
    rng = default_rng(seed)
    rows = []
    for i, text in enumerate(simulate(n, seed=seed).pool.texts):
        rating = int(rng.integers(1, 6))
        score = np.clip(rating + rng.integers(-1, 2), *SCALE)
        rows.append(
            {"id": f"t{i}", "text": text, "rating": float(rating), "gpt4": float(score)}
        )
    return rows


def blank_on_bad(seed: int) -> Answer:
    """The judge says nothing of most bad answers: the mean of all rows is still theirs, too.

    Every second row is rated, and the truth is the mean of all ratings of these very rows. So 95 %
    intervals for rows like them miss it in one file of 200.
    """
    rng = default_rng(seed)
    rows = scored_rows(seed, 300)
    truth = float(np.mean([row["rating"] for row in rows]))
    for i, row in enumerate(rows):
        if row["rating"] <= 2 and rng.random() < 0.7:
            row["gpt4"] = None
        if i % 2:
            row["rating"] = None
    audit = refless.judge(rows, scale=SCALE, score_column="gpt4", resamples=40).audits[
        0
    ]
    return holds(audit.means[audit.first].interval, truth)


def chosen_labels(
    seed: int, choose: Callable[[np.random.Generator, Rows], Rows]
) -> Answer:
    """Rows were not rated at random: that is said, and the judge is not blamed.

    It is as often too kind as too strict, and by all rows it may filter single outputs.
    """
    rows = choose(default_rng(seed), scored_rows(seed, 400))
    result = refless.judge(rows, scale=SCALE, score_column="gpt4", resamples=40)
    audit = result.audits[0]
    said = " ".join(result.notes)
    answers = {use.purpose: use.answer for use in audit.uses}
    blamed = "unless the same judge" in said or answers["filter single outputs"] == "no"
    claimed = audit.first or answers["estimate a mean"] != "unknown"
    named = "do not look drawn at random" in said
    return "wrong" if blamed or claimed or not named else "cannot be told"


def first_by_score(_: np.random.Generator, rows: Rows) -> Rows:
    """The first 300 of the rows, sorted by score, are rated."""
    ordered = sorted(rows, key=lambda row: float(row["gpt4"]))
    return [*ordered[:300], *({**row, "rating": None} for row in ordered[300:])]


def mostly_disliked(rng: np.random.Generator, rows: Rows) -> Rows:
    """Six in ten are rated of what the judge disliked, and few of the others."""
    chance = [0.6 if row["gpt4"] <= 2 else 0.15 for row in rows]
    taken = rng.random(len(rows)) < chance
    return [
        row if yes else {**row, "rating": None}
        for row, yes in zip(rows, taken, strict=True)
    ]


def as_before(seed: int) -> Answer:
    """The judge is asked again: it says the same, or errs anew by as much up as down."""
    rng = default_rng(seed)
    rows = scored_rows(seed, 100)
    same = only(rows, "id", "text", "gpt4")
    noise = rng.permutation([-1.0] * 20 + [0.0] * 60 + [1.0] * 20)
    noisy = [
        {**row, "gpt4": row["gpt4"] + step}
        for row, step in zip(same, noise, strict=True)
    ]
    answers = []
    for before in (same, noisy):
        asked = {"scale": SCALE, "score_column": "gpt4", "resamples": 40}
        result = refless.judge(rows, before=before, max_drift=0.2, **asked)
        passed = result.gate.verdict == "passed"
        drift = result.drifts["gpt4"].change.interval
        answers.append(holds(drift, 0.0) if passed else "wrong")
    return worst(answers)


def short_copies(_: int) -> Answer:
    """An output of one word that is its reference has 100, as sacrebleu's sentence_bleu says."""
    rows = [
        {"text": text, "reference": text}
        for text in ("yes", "no thanks", "at six then")
    ]
    scores = [row["bleu"] for row in refless.metric(rows, ["bleu"]).rows()]
    return "right" if np.allclose(scores, 100) else "wrong"


Case = Callable[[int], Answer]

HONEST: dict[str, Case] = {
    **{
        f"a gate {above:+} below outputs": partial(honest_gate, above=above)
        for above in (1, 1.5)
    },
    "a gate far above outputs": partial(honest_gate, above=-1.2),
    "a gate above outputs": partial(honest_gate, above=-0.9),
    "a gate just above outputs": partial(honest_gate, above=-0.1),
    "a gate just below outputs": partial(honest_gate, above=0.1),
    "B is better, all rated": partial(two_systems, difference=0.8, n_rated=90),
    "B is better, 40 rated": partial(two_systems, difference=0.8, n_rated=40),
    "B is worse, 40 rated": partial(two_systems, difference=-0.8, n_rated=40),
    "B is a little better, 20 rated": partial(two_systems, difference=0.2, n_rated=20),
    "nothing differs, all rated": partial(two_systems, difference=0.0, n_rated=90),
    "nothing differs, 40 rated": partial(two_systems, difference=0.0, n_rated=40),
    "B is better by the same four people": partial(
        rated_by, raters=4, shared=True, difference=0.8
    ),
    "B is worse by the same two people": partial(
        rated_by, raters=2, shared=True, difference=-0.8
    ),
    "nothing differs by the same four": partial(rated_by, raters=4, shared=True),
    "B is far better by four others": partial(
        rated_by, raters=4, shared=False, difference=1.9
    ),
    "a judge as it was": partial(judged, honest=True),
    "a judge with scores missing": partial(judged, honest=True, missing=9),
    "a metric that knows much": partial(metrics, good=1.5),
    "a metric that knows something": partial(metrics, good=0.7),
    "texts that people rated": partial(validated, worth=by_words),
    "an even smaller study": partial(two_systems, difference=1.2, n_rated=15),
    "these 96 items, all rated": partial(all_there_is, n_rated=96),
    "these 96 items, 90 rated": partial(all_there_is, n_rated=90),
}
UNSURE = {  # honest files that are too small, or too near, for an answer
    "a gate just above outputs",
    "a gate just below outputs",
    "B is a little better, 20 rated",
    "nothing differs, all rated",
    "nothing differs, 40 rated",
    "nothing differs by the same four",
    "texts that people rated",
    "these 96 items, 90 rated",
}
MISLEADING: dict[str, Case] = {
    "refusals": partial(broken_gate, change=lambda i, text: REFUSAL),
    "shuffled words": partial(broken_gate, change=shuffled),
    "one text throughout": partial(
        broken_gate,
        change=lambda i, text: "I have reserved a double room for two nights.",
    ),
    "half of each text": partial(
        broken_gate, change=lambda i, text: text[: len(text) // 2]
    ),
    "web pages": partial(broken_gate, change=lambda i, text: PAGE.format(text)),
    "dots": partial(broken_gate, change=lambda i, text: "..."),
    "lorem ipsum beside 40 ratings": partial(
        broken_gate, change=lambda i, text: LOREM[i % 5], n_rated=42
    ),
    "refusals beside 40 ratings": partial(
        broken_gate, change=lambda i, text: REFUSAL, n_rated=42
    ),
    "each text twice over": partial(
        broken_gate, change=lambda i, text: f"{text} {text}"
    ),
    "copies of the best": copied_gate,
    "a judge times 20": partial(judged, change=lambda scores: scores * 20),
    "a judge that says one thing": partial(
        judged, change=lambda scores: np.full_like(scores, 4)
    ),
    "a judge whose calls failed": partial(judged, change=failed_calls),
    "another judge of that name": partial(
        judged, change=lambda scores: np.clip(scores + 1.5, *SCALE)
    ),
    "a judge that is the rating": partial(judged, leaks=True),
    "four other people": partial(rated_by, raters=4, shared=False),
    "two other people": partial(rated_by, raters=2, shared=False),
    "one person each": partial(rated_by, raters=1, shared=False),
    "five random metrics": partial(metrics, good=0.0),
    "length alone counts": partial(validated, worth=by_length, rival="length"),
    "who wrote it alone counts": partial(validated, worth=by_system, rival="system"),
    "nothing counts": partial(validated, worth=by_lot, rival=""),
    "these 96 items, 60 rated": partial(all_there_is, n_rated=60),
    "these 96 items, 20 rated": partial(all_there_is, n_rated=20),
}

SAMPLED: dict[str, Case] = {
    "one rating of new": one_of_new,
    "a gate on one rating of new": gate_on_one,
    "two or three of new, on 1 to 5": partial(few_of_new, shares=STARS, counts=(2, 3)),
    "few of new, pass or fail": partial(few_of_new, shares=PASSES, counts=(2, 3, 5)),
    "all passed and all fail": all_fail,
    "each item is a point worse": one_point_worse,
    "98 % pass of both": nearly_all_pass,
    "85 % are equal": nearly_all_identical,
    "one output of one system": one_output,
    "B is better, half-rated items": partial(half_rated, difference=0.8, margin=0.0),
    "nothing differs, half-rated items": partial(
        half_rated, difference=0.0, margin=0.4
    ),
    "B is better at some sources": good_at_some_sources,
    "these items, all rated": exactly_these,
    "unequal chances": unequal_chances,
    "three others each": partial(
        others_each, severity=([0.4, -0.5, -0.2], [0.6, -0.1, 0.3])
    ),
    "a look after each item": any_look,
    "20 wins of 20": all_wins,
    "verdicts of three": verdicts_of_three,
    "a row for each rater": a_row_each,
    "items without sources": without_sources,
    "copies of the worst": copies_of_bad,
    "nobody knows what is good": nobody_accepted,
    "six raters, some strict": partial(
        six_raters, severity=[0.6, 0.5, 0.4, -0.2, -0.3, -0.1]
    ),
    "one to three raters": few_raters,
    "a judge that is blank on bad answers": blank_on_bad,
    "the first rows by score are rated": partial(chosen_labels, choose=first_by_score),
    "what the judge disliked is rated": partial(chosen_labels, choose=mostly_disliked),
    "a judge asked again": as_before,
    "yes beside yes": short_copies,
}
CERTAIN = {  # odd samples that tell the answer all the same
    "all passed and all fail",
    "each item is a point worse",
    "98 % pass of both",
    "85 % are equal",
    "B is better, half-rated items",
    "these items, all rated",
    "a look after each item",
    "20 wins of 20",
    "verdicts of three",
    "a row for each rater",
    "items without sources",
    "copies of the worst",
    "six raters, some strict",
    "one to three raters",
    "a judge that is blank on bad answers",
    "a judge asked again",
    "yes beside yes",
}
ONE_SEED = {  # what takes long, or has no chance in it
    "two or three of new, on 1 to 5",
    "few of new, pass or fail",
    "yes beside yes",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_files_are_answered(name: str) -> None:
    """Rightly; only those that are too small or too near may be left open."""
    answer = HONEST[name](5)
    assert answer == "right" or (answer == "cannot be told" and name in UNSURE)


@pytest.mark.parametrize("name", MISLEADING)
def test_misleading_files_mislead_nobody(name: str) -> None:
    """The answer is right, or is none."""
    assert MISLEADING[name](5) != "wrong"


@pytest.mark.parametrize("name", SAMPLED)
def test_odd_samples_are_no_certainty(name: str) -> None:
    """The answer is right, or is none, for all of three seeds.

    Where a case asks whether a 95 % interval holds the truth, one in twenty may miss it. The seeds
    were chosen before any was run, and of some 40 such intervals none does.
    """
    seeds = range(5, 6) if name in ONE_SEED else range(5, 8)
    answer = worst(SAMPLED[name](seed) for seed in seeds)
    assert answer == "right" if name in CERTAIN else answer != "wrong"
