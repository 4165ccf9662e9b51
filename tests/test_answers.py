"""Sixty files as people have them: thirty honest, thirty that mislead.

On each of them refless is right, or says that it cannot tell. Texts and ratings are simulated, so
the truth is known. A case asks one question of one file and says which answer came back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
import pytest
from benchmarks.simulate import simulate

import refless
from refless.data.tables import Reading, read_pool
from refless.data.tables.columns import Columns
from refless.registry.errors import RefLessError

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
    columns = (pool.ids, pool.items, pool.sources, pool.systems, pool.texts)
    rows = [
        dict(zip(("id", "item", "source", "system", "text"), row, strict=True))
        for row in zip(*columns, strict=True)
    ]
    rated = [
        {**row, "rating": float(rating)}
        for row, rating in zip(rows, ratings[:n_rated], strict=False)
    ]
    return File(rated, rows[n_rated:], ratings[n_rated:])


# May this ship?


def gate(file: File, outputs: Rows, least: float, truth: float) -> Answer:
    """A gate is wrong if it passes outputs that are below it, or fails outputs above it."""
    verdict = refless.score(outputs, file.rated, scale=SCALE, min_mean=least).gate.verdict
    if verdict == "undecided":
        return "cannot be told"
    return "right" if (verdict == "passed") == (truth >= least) else "wrong"


def honest_gate(seed: int, above: float) -> Answer:
    """Outputs of the same systems on other items."""
    file = file_of(seed)
    return gate(file, file.outputs, file.mean - above, file.mean)


def broken_gate(seed: int, change: Callable[[int, str], str], n_rated: int = 150) -> Answer:
    """Outputs that nobody would rate above 2, in place of honest ones."""
    file = file_of(seed, n_rated)
    outputs = [{**row, "text": change(i, row["text"])} for i, row in enumerate(file.outputs)]
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
    return " ".join(np.random.default_rng(i).permutation(text.split()))


# Is B better than A?


def compared(rows: Rows, truth: float, **more: Any) -> Answer:
    """A difference that is shown is right if it is there and has this sign."""
    (pair,) = refless.compare(rows, scale=SCALE, **more).comparison.pairs
    if not pair.shown:
        return "cannot be told"
    sign = 1 if pair.second == "B" else -1
    return "right" if sign * pair.difference.value * truth > 0 else "wrong"


def pairs(seed: int, n: int) -> Rows:
    """Outputs of A and B on n items; their texts do not say which is better."""
    texts = simulate(2 * n, seed=seed).pool.texts
    return [
        {"id": f"{system}{i}", "item": f"i{i}", "system": system, "text": texts[2 * i + k]}
        for i in range(n)
        for k, system in enumerate("AB")
    ]


def two_systems(seed: int, difference: float, n_rated: int, **more: Any) -> Answer:
    """A and B on 90 items, the first of which are rated; B is better by this much."""
    rng = np.random.default_rng(seed)
    rows = pairs(seed, 90)
    for row in rows[: 2 * n_rated]:
        rating = 3 + difference * (row["system"] == "B") + rng.normal(0, 0.7)
        row["rating"] = float(np.clip(rating, *SCALE))
    return compared(rows, difference, **more)


def rated_by(seed: int, raters: int, *, shared: bool, difference: float = 0.0) -> Answer:
    """Each output is rated by all raters of its system; some are stricter than others."""
    rng = np.random.default_rng(seed)
    severity = rng.normal(0, 0.4, (2, raters))
    rows = []
    for row in pairs(seed, 60):
        is_b = row["system"] == "B"
        quality = 3 + difference * is_b + rng.normal(0, 0.5)
        for rater in range(raters):
            group = 0 if shared else int(is_b)
            rating = quality + severity[group, rater] + rng.normal(0, 0.4)
            named = {"annotator": f"p{group}{rater}", "rating": float(np.clip(rating, *SCALE))}
            rows.append({**row, **named})
    return compared(rows, difference)


def all_there_is(seed: int, *, n_rated: int) -> Answer:
    """These 96 items are the whole question; B is better on them by what all ratings say."""
    rng = np.random.default_rng(seed)
    rows = pairs(seed, 96)
    ratings = np.clip(3 + rng.normal(0, 0.8, 192), *SCALE)
    truth = float((ratings[1::2] - ratings[::2]).mean())
    for row, rating in zip(rows[: 2 * n_rated], ratings, strict=False):
        row["rating"] = float(rating)
    return compared(rows, truth, these_items=True)


# In which column do people's ratings stand?

HOLDS = {  # what a column of a file may hold, of a rated row
    "people": lambda rng, rating: rating,
    "judge": lambda rng, rating: float(rng.integers(1, 6)),
    "word": lambda rng, rating: "good" if rating > 3 else "bad",
}


def columns(seed: int, held: Mapping[str, str], named: str | None = None) -> Answer:
    """People's ratings are read, or an error asks where they are."""
    rng = np.random.default_rng(seed)
    rated = file_of(seed, 60, 0).rated
    rows = [
        {
            **{key: value for key, value in row.items() if key != "rating"},
            **{name: HOLDS[what](rng, row["rating"]) for name, what in held.items()},
        }
        for row in rated
    ]
    try:
        read = Reading(scale=SCALE, columns=Columns(rating=(named,) if named else ()))
        pool = read_pool(rows, read).pool
    except RefLessError as error:
        return "cannot be told" if any(name in str(error) for name in held) else "wrong"
    known = (np.array([row["rating"] for row in rated]) - SCALE[0]) / (SCALE[1] - SCALE[0])
    return "right" if np.allclose(pool.human, known) else "wrong"


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
    rng = np.random.default_rng(seed)
    known = np.array([row["rating"] for row in file.rated])
    scores = [
        np.clip(np.rint(values + rng.normal(0, 0.8, len(values))), *SCALE)
        for values in (known, file.truth)
    ]
    if leaks:
        scores[0] = known
    rated, outputs = (
        [
            {**row, "gpt4": None if missing and i % missing == 0 else float(score)}
            for i, (row, score) in enumerate(zip(rows, values, strict=True))
        ]
        for rows, values in ((file.rated, scores[0]), (file.outputs, change(scores[1])))
    )
    least = file.mean - 0.5
    result = refless.score(outputs, rated, scale=SCALE, score_column="gpt4", min_mean=least)
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
    rng = np.random.default_rng(seed)
    for row in rated:
        row |= {f"m{i}": float(rng.normal()) for i in range(5)}
        row["m3"] += good * row["rating"]
    names = [f"m{i}" for i in range(5)]
    result = refless.judge(rated, scale=SCALE, score_column=names, resamples=300)
    verdict = result.document().verdict
    if "no metric is shown to agree" in verdict:
        return "cannot be told"
    return "right" if good and "m3 agrees" in verdict else "wrong"


def validated(
    seed: int, worth: Callable[[Row, np.random.Generator], float], rival: str | None = None
) -> Answer:
    """The first sentence recommends the estimator only if nothing simpler is ahead of it.

    `rival` is what is ahead, and is named; "" for whatever it is.
    """
    rng = np.random.default_rng(seed)
    rated = [{**row, "rating": worth(row, rng)} for row in file_of(seed, 180, 0).rated]
    verdict = refless.validate(rated, scale=SCALE).document().verdict
    first = verdict.split(". ")[0]
    if rival is None:
        return "right" if first.startswith("Use the Gaussian process") else "cannot be told"
    return "right" if rival in first and not first.startswith("Use the Gaussian") else "wrong"


def by_words(row: Row, _: np.random.Generator) -> float:
    """What people said."""
    return float(row["rating"])


def by_length(row: Row, rng: np.random.Generator) -> float:
    """Longer is better, and nothing else counts."""
    return float(np.clip(len(row["text"]) / 12 + rng.normal(0, 0.3) - 1, *SCALE))


def by_system(row: Row, rng: np.random.Generator) -> float:
    """Who wrote it, and nothing else, counts."""
    known = {"broken": 2.0, "hasty": 3.0, "careful": 4.0}
    return float(np.clip(known[row["system"]] + rng.normal(0, 0.2), *SCALE))


def by_lot(_: Row, rng: np.random.Generator) -> float:
    """Nothing counts."""
    return float(rng.integers(1, 6))


Case = Callable[[int], Answer]
PEOPLE, JUDGE = "people", "judge"

HONEST: dict[str, Case] = {
    **{f"a gate {above:+} below outputs": partial(honest_gate, above=above) for above in (1, 1.5)},
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
    "B is better by the same four people": partial(rated_by, raters=4, shared=True, difference=0.8),
    "B is worse by the same two people": partial(rated_by, raters=2, shared=True, difference=-0.8),
    "nothing differs by the same four": partial(rated_by, raters=4, shared=True),
    "B is far better by four others": partial(rated_by, raters=4, shared=False, difference=1.9),
    "one column, rating": partial(columns, held={"rating": PEOPLE}),
    "one column, human_rating": partial(columns, held={"human_rating": PEOPLE}),
    "one column, stars": partial(columns, held={"stars": PEOPLE}),
    "human beside score": partial(columns, held={"score": JUDGE, "human": PEOPLE}),
    "rating beside gpt4": partial(columns, held={"gpt4": JUDGE, "rating": PEOPLE}),
    "score, which is named": partial(columns, held={"score": PEOPLE, "q": JUDGE}, named="score"),
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
        broken_gate, change=lambda i, text: "I have reserved a double room for two nights."
    ),
    "half of each text": partial(broken_gate, change=lambda i, text: text[: len(text) // 2]),
    "web pages": partial(broken_gate, change=lambda i, text: PAGE.format(text)),
    "dots": partial(broken_gate, change=lambda i, text: "..."),
    "lorem ipsum beside 40 ratings": partial(
        broken_gate, change=lambda i, text: LOREM[i % 5], n_rated=42
    ),
    "refusals beside 40 ratings": partial(broken_gate, change=lambda i, text: REFUSAL, n_rated=42),
    "each text twice over": partial(broken_gate, change=lambda i, text: f"{text} {text}"),
    "copies of the best": copied_gate,
    "a judge alone, score": partial(columns, held={"score": JUDGE}),
    "a judge alone, quality": partial(columns, held={"quality": JUDGE}),
    "a judge alone, gpt4": partial(columns, held={"gpt4": JUDGE}),
    "a judge alone, overall_score": partial(columns, held={"overall_score": JUDGE}),
    "a judge before people": partial(columns, held={"score": JUDGE, "human_rating": PEOPLE}),
    "two that may be people's": partial(columns, held={"human": PEOPLE, "annotation": JUDGE}),
    "a judge times 20": partial(judged, change=lambda scores: scores * 20),
    "a judge that says one thing": partial(judged, change=lambda scores: np.full_like(scores, 4)),
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


def test_there_are_sixty() -> None:
    """Thirty of each kind."""
    assert len(HONEST) == len(MISLEADING) == 30


@pytest.mark.parametrize("name", HONEST)
def test_honest_files_are_answered(name: str) -> None:
    """Rightly; only those that are too small or too near may be left open."""
    assert HONEST[name](5) in {"right", *(["cannot be told"] if name in UNSURE else [])}


@pytest.mark.parametrize("name", MISLEADING)
def test_misleading_files_mislead_nobody(name: str) -> None:
    """The answer is right, or is none."""
    assert MISLEADING[name](5) != "wrong"
