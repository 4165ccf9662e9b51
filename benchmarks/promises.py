"""Does `validate` keep its promise? Pools are drawn, and fitted estimators tried on new texts.

A text is a bag of made-up words with a known quality. Each number that `validate` prints is held
against the same number of the fitted estimator on new texts of the design, which other people rate,
and for errors also the same people: how often the 95 % interval holds it, how far off it is on
average, how often a correlation is called significant, how often one of two is called better that
is worse.

    python benchmarks/promises.py --pools 200 --seed 1000 [--design none-100 --design ties-150 ...]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from refless.data.human import pool_of
from refless.data.records import RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.evaluation.annotators import columns_of, versus_annotators
from refless.evaluation.baselines import baselines, length_only, lengths_of, tfidf
from refless.evaluation.jackknife import difference, measured, replicates, split
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.correlation import kendall, pearson, spearman
from refless.stats.measures import mae, mse
from refless.stats.posterior import exact

NEW = 1_500
WORDS = 300
ERRORS = {"mse": mse, "mae": mae}
Numbers = dict[str, float]
Found = dict[str, tuple[float, float, float]]  # value and interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How pools are drawn.

    Attributes:
        n: texts; per_source: texts of one source, which are held out together.
        words, length: what share of quality's standard deviation the words, the length explain.
        source: and what belongs to the source.
        raters: ratings of a text; noise: standard deviation of one rating.
        annotators: how many take turns; 0: they are not named.
        steps: whether ratings are whole numbers from 1 to 5; scaled: whether 1 and 5 are the ends.
        different: share of the words that make a text better or worse.
    """

    n: int
    words: float = 0.0
    length: float = 0.0
    source: float = 0.0
    per_source: int = 1
    raters: int = 5
    noise: float = 0.5
    annotators: int = 0
    steps: bool = False
    scaled: bool = True
    different: float = 0.15


DESIGNS = {
    "none-60": Design(n=60),
    "none-100": Design(n=100),
    "noise-100": Design(n=100, raters=2, noise=2.0),
    "none-300": Design(n=300),
    "weak-30": Design(n=30, words=0.8),
    "weak-60": Design(n=60, words=0.6),
    "weak-150": Design(n=150, words=0.6),
    "strong-60": Design(n=60, words=0.9, different=0.04, noise=0.2),
    "strong-100": Design(n=100, words=0.9, different=0.04, noise=0.2),
    "strong-300": Design(n=300, words=0.9, different=0.04, noise=0.2),
    "heavy-100": Design(n=100, words=0.9, different=0.04, noise=0.2, scaled=False),
    "length-100": Design(n=100, words=0.3, length=0.6),
    "two-raters-150": Design(n=150, words=0.8, raters=2, noise=1.0, annotators=6),
    "many-raters-100": Design(n=100, words=0.7, raters=5, noise=0.8, annotators=20),
    "ties-150": Design(n=150, words=0.8, raters=3, noise=0.3, annotators=3, steps=True),
    "sources-150": Design(n=150, words=0.6, source=0.6, per_source=3),
    "middle-400": Design(n=400, words=0.7, noise=0.7),
}


@dataclass(frozen=True, slots=True)
class World:
    """What words there are, how common they are, and what each adds to a text."""

    words: tuple[str, ...]
    common: FloatArray
    worth: FloatArray


def world(design: Design, rng: np.random.Generator) -> World:
    """Words of its own for each drawn pool."""
    letters = rng.integers(97, 123, size=(WORDS, 8)).astype(np.uint8)
    words = tuple(row[: rng.integers(3, 9)].tobytes().decode() for row in letters)
    common = np.arange(1, WORDS + 1) ** -0.9
    worth = np.where(
        rng.random(WORDS) < design.different, rng.standard_normal(WORDS), 0.0
    )
    return World(words, common / common.sum(), worth)


def people(design: Design, rng: np.random.Generator) -> FloatArray:
    """By how much each annotator rates higher than others; 0 of raters who are not named."""
    count = design.annotators or design.raters
    return 0.3 * rng.standard_normal(count) if design.annotators else np.zeros(count)


def drawn(
    design: Design, of: World, n: int, milder: FloatArray, rng: np.random.Generator
) -> RatedPool:
    """n texts, rated by these people."""
    source = np.arange(n) // design.per_source
    shared = [rng.choice(WORDS, 5, p=of.common) for _ in range(int(source.max()) + 1)]
    texts = []
    worth = np.zeros(n)
    for i in range(n):
        chosen = rng.choice(WORDS, rng.integers(5, 20), p=of.common)
        if design.per_source > 1:
            chosen = np.concatenate([chosen, shared[source[i]][:3]])
        texts.append(" ".join(of.words[k] for k in chosen))
        worth[i] = (of.worth[chosen] - of.worth @ of.common).sum() / math.sqrt(
            len(chosen)
        )
    spread = math.sqrt(float(of.worth**2 @ of.common)) or 1.0
    lengths = (np.log1p([len(text) for text in texts]) - 4.1) / 0.35
    own = math.sqrt(max(0.0, 1 - design.words**2 - design.length**2 - design.source**2))
    quality = design.words * worth / spread + design.length * lengths
    quality += own * rng.standard_normal(n)
    quality += design.source * rng.standard_normal(len(shared))[source]
    sources = [" ".join(of.words[k] for k in shared[s]) for s in source]
    return pool_of(
        texts,
        _ratings(design, quality, milder, rng),
        ids=[f"{i}" for i in range(n)],
        sources=sources if design.per_source > 1 else (),
        annotators=[f"{i}" for i in range(design.annotators)]
        if design.annotators
        else (),
        scale=(1, 5) if design.scaled else None,
    )


def _ratings(
    design: Design, quality: FloatArray, milder: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """[n, raters] ratings; with annotators [n, annotators], NaN where one did not rate."""
    n = len(quality)
    count = len(milder)
    ratings = (
        3 + quality[:, None] + milder + design.noise * rng.standard_normal((n, count))
    )
    if design.annotators:
        turns = np.argsort(rng.random((n, count)), axis=1) >= design.raters
        ratings[turns] = np.nan
    ratings = np.rint(ratings) if design.steps else ratings
    return np.clip(ratings, 1, 5) if design.scaled else ratings


def promised(pool: RatedPool, groups: IntArray) -> Found:
    """What `validate` says."""
    parts = split(pool, groups)
    gp = GaussianProcess(threads=1).cross_validated(pool, groups, parts.blocks)[1]
    methods = {"gp": gp} | baselines(pool, groups, parts.blocks)
    trials = {name: replicates(method, parts) for name, method in methods.items()}
    found: Found = {}
    for measure in ("spearman", "pearson", "kendall", *ERRORS):
        value, ends = measured(measure, trials["gp"])
        found[f"{measure} of gp"] = (value, *ends)
    for measure in ERRORS:
        found[f"{measure} of gp, same raters"] = found[f"{measure} of gp"]
    for other in ("length", "TF-IDF ridge"):
        gap = difference("spearman", trials["gp"], trials[other])
        found[f"spearman, gp - {other}"] = (gap.value, *gap.interval)
    for other in ("constant", "TF-IDF ridge"):
        gap = difference("mse", trials[other], trials["gp"])
        found[f"mse, {other} - gp"] = (gap.value, *gap.interval)
    beside = versus_annotators(pool, trials["gp"])
    if beside is not None:
        value = beside.estimator - beside.annotator
        found["spearman, gp - annotator"] = (value, *beside.difference_interval)
    return found


def happened(pool: RatedPool, new: RatedPool, own: RatedPool) -> Numbers:
    """The same numbers of the fitted estimators on new texts, and on those of the same raters."""
    gp = GaussianProcess(threads=1).fit(pool)
    guesses = {"gp": gp.predict(as_outputs(new))} | _plain(pool, new)
    known = ~np.isnan(guesses["gp"])
    guesses = {name: values[known].round(9) for name, values in guesses.items()}
    human = new.human[known]
    rho = {name: _ranked(human, values) for name, values in guesses.items()}
    error = {name: mse(human, values) for name, values in guesses.items()}
    found = {
        "spearman of gp": rho["gp"],
        "pearson of gp": _ranked(human, guesses["gp"], pearson),
        "kendall of gp": _ranked(human, guesses["gp"], kendall),
    }
    again = gp.predict(as_outputs(own))
    there = ~np.isnan(again)
    for measure, of in ERRORS.items():
        found[f"{measure} of gp"] = of(human, guesses["gp"])
        found[f"{measure} of gp, same raters"] = of(own.human[there], again[there])
    for other in ("length", "TF-IDF ridge"):
        found[f"spearman, gp - {other}"] = rho["gp"] - rho[other]
    for other in ("constant", "TF-IDF ridge"):
        found[f"mse, {other} - gp"] = error[other] - error["gp"]
    gaps = [
        _ranked(column.human, guesses["gp"][column.rows])
        - spearman(column.human, column.scores)
        for column in (columns_of(new, leave_out=True) if known.all() else ())
    ]
    return found | ({"spearman, gp - annotator": float(np.mean(gaps))} if gaps else {})


def _plain(pool: RatedPool, new: RatedPool) -> dict[str, FloatArray]:
    """What the baselines say of new texts: of all rated texts, as of the one group left out."""
    human = np.concatenate([pool.human, np.zeros(len(new))])
    out = np.concatenate([np.arange(len(pool)), np.full(len(new), len(pool))])
    both = np.concatenate([lengths_of(pool), lengths_of(new)])
    return {
        "length": length_only(human, both, out)[len(pool) :],
        "constant": np.full(len(new), pool.human.mean()),
        "TF-IDF ridge": _ridge(pool, new),
    }


def _ridge(pool: RatedPool, new: RatedPool) -> FloatArray:
    """The ridge of `refless.evaluation.baselines`, its TF-IDF counted over the rated texts."""
    rows = tfidf((*pool.texts, *new.texts))
    known = rows[: len(pool)]
    asked = rows[len(pool) :]
    ridge = exact((known @ known.T).toarray(), np.ones(len(pool)), pool.human)
    return ridge.predict((asked @ known.T).toarray(), np.ones(len(new)))[0]


def _ranked(
    human: FloatArray,
    values: FloatArray,
    measure: Callable[[FloatArray, FloatArray], float] = spearman,
) -> float:
    """A correlation; 0 of a constant, which ranks nothing."""
    r = measure(human, values)
    return 0.0 if math.isnan(r) else r


def rounds(design: Design, pools: int, seed: int) -> Iterator[tuple[Found, Numbers]]:
    """Pools with what was promised of each and what happened."""
    for number in range(pools):
        rng = np.random.default_rng((seed, number))
        of = world(design, rng)
        ours = people(design, rng)
        others = people(design, rng)
        pool = drawn(design, of, design.n, ours, rng)
        new, own = (drawn(design, of, NEW, milder, rng) for milder in (others, ours))
        groups = np.arange(design.n) // design.per_source
        yield promised(pool, groups), happened(pool, new, own)


def told(name: str, done: list[tuple[Found, Numbers]]) -> None:
    """One line a number: coverage, bias, width, and what was called significant or better."""
    print(f"{name}: {len(done)} pools")
    for key in done[0][0]:
        rows = np.array(
            [(*found[key], truth[key]) for found, truth in done if key in truth]
        )
        rows = rows[~np.isnan(rows).any(axis=1)]
        value, low, high, truth = rows.T
        wrong = ((low > 0) & (truth <= 0)) | ((high < 0) & (truth >= 0))
        print(
            f"  {key:26} held {np.mean((low <= truth) & (truth <= high)):5.3f}"
            f"  promised {value.mean():7.4f}  happened {truth.mean():7.4f}"
            f"  error {np.std(value - truth):6.4f}  width {np.mean(high - low):6.4f}"
            f"  above 0 {np.mean(low > 0):5.3f}  below {np.mean(high < 0):5.3f}"
            f"  wrong {wrong.mean():5.3f}  defined {len(rows)}",
            flush=True,
        )


def main() -> None:
    """Prints a table a design."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--pools", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", action="append", choices=list(DESIGNS))
    given = parser.parse_args()
    for name in given.design or DESIGNS:
        told(name, list(rounds(DESIGNS[name], given.pools, given.seed)))


if __name__ == "__main__":
    main()
