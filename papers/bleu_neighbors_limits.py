"""BLEU Neighbors, section 6: what its authors propose for later, shown on the data at hand.

    python papers/bleu_neighbors_limits.py --data ../shared/data [--format json] [--only hacks]

Hacks: outputs stuffed with n-grams of one or two highly rated texts, as three evaluators judge
them. Kernels: BLEU* without stop words, and with more weight on rarer n-grams. HUSE: estimates in
place of ratings. Dialogue is a STAND-IN (GRADE). Exit status 2 where the data is absent.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import huse as huse_paper
import numpy as np
from bleu_neighbors import DATA, GRADE, HUSE, SEED, read
from bleu_neighbors_movers import STOP
from bleu_neighbors_studies import predictions_of

from refless.data.human import canonical_order
from refless.data.records import RatedPool, as_outputs, ends_of
from refless.estimators import Estimator
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.differences import difference
from refless.evaluation.held_out import agreement
from refless.extensions.papers.stress.stuffing import stuffed
from refless.metrics.bleu import gram_counts
from refless.metrics.kernels.bleu import BleuStar
from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import RefLessError
from refless.report.document import Document, Section, Table
from refless.report.export import as_json
from refless.report.text import as_text
from refless.report.wording import number, with_interval
from refless.stats.intervals import Interval, student
from refless.text.words import words

PARTS = ("hacks", "kernels", "huse")
ATTACKS = 20  # stuffed outputs, each made of other highly rated texts
DRAWS = 10  # fresh halves of the rated texts, and partitions of them into two
LOW, HIGH = 2, 4  # orders of BLEU*
PLAIN = "BLEU*"
Row = dict[str, Any]


def pools_of(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """The paper's own task that is public still, and three in place of its dialogue."""
    yield "summaries (HUSE)", read(data / HUSE, (1, 6))
    dialogue = read(data / GRADE, (1, 5))
    tasks = np.array(dialogue.tasks)
    for task in sorted(set(dialogue.tasks)):
        yield f"STAND-IN, {task}", dialogue.take(np.flatnonzero(tasks == task))


# Hacks


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Estimates of one evaluator.

    Attributes:
        honest: [texts] of outputs that nobody stuffed, held out; NaN where it abstains.
        stuffed: [attacks] of stuffed outputs, each the mean over what was drawn.
        coverage: share of stuffed outputs with an estimate.
        spread: standard deviation over draws of the estimate of a stuffed output, their mean.
    """

    honest: FloatArray
    stuffed: FloatArray
    coverage: float
    spread: float

    @classmethod
    def of(cls, honest: FloatArray, stuffed: FloatArray) -> Judged:
        """From [texts] and [draws, attacks] estimates."""
        defined = ~np.isnan(stuffed)
        counts = defined.sum(axis=0)
        sums = np.where(defined, stuffed, 0.0).sum(axis=0)
        means = np.divide(
            sums, counts, out=np.full(len(sums), np.nan), where=counts > 0
        )
        squares = np.where(defined, np.square(stuffed - means), 0.0).sum(axis=0)
        several = counts > 1
        deviations = np.sqrt(squares[several] / (counts[several] - 1))
        spread = float(deviations.mean()) if several.any() else math.nan
        return cls(honest, means, float(defined.mean()), spread)


def attack(known: Estimator, pool: RatedPool, several: int) -> list[str]:
    """The outputs of a generator that knows all ratings of a pool, and the evaluator's rule.

    Each is strung together from pieces of one highly rated text, or of so many, greedily, so that
    the estimate is highest.
    """
    order = sorted(range(len(pool)), key=lambda i: (-pool.human[i], pool.texts[i]))
    outputs = []
    for number_ in range(ATTACKS):
        chosen = order[number_ * several : (number_ + 1) * several]
        # pieces come from the highest tenth of what is given
        others = order[-9 * several :]
        rows = np.array([*chosen, *others], dtype=np.int64)
        outputs.append(stuffed(known, pool.take(rows), SEED))
    return outputs


def by_all(pool: RatedPool, several: int) -> Judged:
    """The evaluator keeps all rated texts, and the generator knows them."""
    estimator = BLEUNeighbors()
    fitted = estimator.fitted_to(pool)
    outputs = attack(fitted, pool, several)
    honest = estimator.held_out(pool).values
    return Judged.of(honest, fitted.predict(outputs)[None])


def by_half(pool: RatedPool, several: int) -> Judged:
    """The generator knows all rated texts; at each evaluation a fresh half of them judges."""
    estimator = BLEUNeighbors()
    outputs = attack(estimator.fitted_to(pool), pool, several)
    estimates = []
    honest = []
    for first, _ in halves(len(pool)):
        part = pool.take(first)
        estimates.append(estimator.fitted_to(part).predict(outputs))
        honest.append(estimator.held_out(part).values)
    return Judged.of(np.concatenate(honest), np.stack(estimates))


def by_others(pool: RatedPool, several: int) -> Judged:
    """The generator knows one half of the rated texts, and the other half judges."""
    estimator = BLEUNeighbors()
    estimates = []
    honest = []
    for first, second in halves(len(pool)):
        known = pool.take(first)
        outputs = attack(estimator.fitted_to(known), known, several)
        judge = estimator.fitted_to(pool.take(second))
        estimates.append(judge.predict(outputs))
        honest.append(judge.predict(as_outputs(known)))
    return Judged.of(np.concatenate(honest), np.stack(estimates))


EVALUATORS: dict[str, Callable[[RatedPool, int], Judged]] = {
    "all texts": by_all,
    "a fresh half": by_half,
    "another half": by_others,
}


def halves(n: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Random partitions of n rows into two halves."""
    rng = np.random.default_rng(SEED)
    for _ in range(DRAWS):
        order = rng.permutation(n)
        yield np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def hacks(data: Path) -> list[Row]:
    """Estimates of stuffed outputs beside honest ones, in the raters' units."""
    rows = []
    for task, pool in pools_of(data):
        ordered = pool.take(canonical_order(pool))
        for several in (1, 2):
            for name, evaluator in EVALUATORS.items():
                rows.append(
                    _hack(task, name, several, evaluator(ordered, several), ordered)
                )
    return rows


def _hack(task: str, name: str, several: int, judged: Judged, pool: RatedPool) -> Row:
    """One evaluator against outputs of pieces of so many texts."""
    low, high = pool.scale or (0.0, 1.0)
    unit = (high - low) / (ends_of(pool.scale)[1] - ends_of(pool.scale)[0])
    honest = judged.honest[~np.isnan(judged.honest)]
    fooled = judged.stuffed[~np.isnan(judged.stuffed)]
    gains = fooled - honest.mean()
    beaten = np.array([(honest < value).mean() for value in fooled])
    return {
        "task": task,
        "evaluator": name,
        "texts": several,
        "honest": low + unit * float(honest.mean()),
        "stuffed": low + unit * float(fooled.mean()) if len(fooled) else math.nan,
        "gain": unit * float(gains.mean()) if len(gains) else math.nan,
        "gain_interval": [unit * end for end in t_interval(gains)],
        "beaten": float(beaten.mean()) if len(beaten) else math.nan,
        "coverage": judged.coverage,
        "spread": unit * judged.spread,
    }


def t_interval(values: FloatArray) -> Interval:
    """Student's 95 % interval of a mean; undefined for fewer than two values."""
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    half = student(n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    mean = float(values.mean())
    return mean - half, mean + half


# Kernels


def without_stop_words(text: str) -> str:
    """The words of a text that are no stop words, as they stand, with blanks between them."""
    kept = [word for word in text.split() if not {*words(word)} <= STOP]
    return " ".join(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedBleu:
    """BLEU* of characters in which an n-gram counts log((1 + N) / (1 + df)), of N rated texts.

    df is how many of them contain it. Precision of an order n is the weight of what is matched,
    clipped, over the weight of all n-grams of the output; without weights it is BLEU*.
    """

    name: ClassVar[str] = "weighted-bleu*"
    default_tau: ClassVar[float] = BleuStar.default_tau
    weighted: bool = True

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The kernel against these rated texts, whose n-grams give the weights."""
        counts = [grams_of(text) for text in texts]
        frequency = Counter(gram for tally in counts for gram in tally)
        n = len(texts)

        def weight(gram: str) -> float:
            return math.log((1 + n) / (1 + frequency[gram])) if self.weighted else 1.0

        def rows(outputs: Sequence[str]) -> Rows:
            table = np.array(
                [_similarities(text, texts, counts, weight) for text in outputs]
            ).reshape(len(outputs), n)
            return lambda begin, end: table[begin:end].copy()

        return Dense(size=n, rows=rows, tokenize="char", least=HIGH, stretch=LOW)

    def settings(self) -> dict[str, object]:
        """What belongs in a signature."""
        return {"tok": "char", "n": f"{LOW}-{HIGH}", "idf": self.weighted}


def grams_of(text: str) -> Counter[str]:
    """Counts of the text's n-grams of characters, of all orders."""
    tally: Counter[str] = Counter()
    for n in range(LOW, HIGH + 1):
        tally.update(
            {"".join(gram): count for gram, count in gram_counts([*text], n).items()}
        )
    return tally


def _similarities(
    text: str,
    rated: Sequence[str],
    counts: Sequence[Counter[str]],
    weight: Callable[[str], float],
) -> list[float]:
    """Similarity of an output to each rated text."""
    own = grams_of(text)
    weights = {gram: weight(gram) for gram in own}
    total = [0.0] * (HIGH + 1)
    for gram, count in own.items():
        total[len(gram)] += weights[gram] * count
    return [
        _similarity(text, other, own, tally, weights, total)
        for other, tally in zip(rated, counts, strict=True)
    ]


def _similarity(
    text: str,
    other: str,
    own: Counter[str],
    theirs: Counter[str],
    weights: dict[str, float],
    total: Sequence[float],
) -> float:
    """The brevity penalty times the geometric mean of weighted, clipped precisions."""
    matched = [0.0] * (HIGH + 1)
    for gram in own.keys() & theirs.keys():
        matched[len(gram)] += weights[gram] * min(own[gram], theirs[gram])
    product = 1.0
    for n in range(LOW, HIGH + 1):
        product *= matched[n] / total[n] if total[n] > 0 else 0.0
    brevity = math.exp(min(0.0, 1.0 - len(other) / max(1, len(text))))
    return float(brevity * product ** (1.0 / (HIGH - LOW + 1)))


def kernels(data: Path) -> list[Row]:
    """Held-out agreement with each kernel, and its difference from BLEU* on the same texts."""
    return [row for task, pool in pools_of(data) for row in _kernels(task, pool)]


def _kernels(task: str, pool: RatedPool) -> list[Row]:
    """Each text judged by all others, on one task."""
    content = replace(pool, texts=tuple(map(without_stop_words, pool.texts)))
    plain = BleuStar()
    weighted = WeightedBleu()
    share = _share_near(plain, pool.texts, plain.default_tau)
    methods = {
        PLAIN: (pool, BLEUNeighbors()),
        "no stop words": (content, _as_near(plain, content, share)),
        "rare weighted": (pool, _as_near(weighted, pool, share)),
        "both": (content, _as_near(weighted, content, share)),
    }
    base = BLEUNeighbors().held_out(pool).values
    rows = []
    for name, (texts, estimator) in methods.items():
        estimates = estimator.held_out(texts)
        judged = agreement(predictions_of(pool, estimates), seed=SEED)
        gap = difference("spearman", pool.human, estimates.values, base, seed=SEED)
        rows.append(
            {
                "task": task,
                "kernel": name,
                "tau": estimator.threshold,
                "n": len(pool),
                "coverage": judged.coverage,
                "mse": judged.mse,
                "spearman": judged.spearman,
                "spearman_interval": list(judged.spearman_interval),
                "difference": gap.value,
                "difference_interval": list(gap.interval),
            }
        )
    return rows


def _share_near(kernel: Any, texts: Sequence[str], tau: float) -> float:  # noqa: ANN401 - a kernel
    """Share of pairs of different texts whose similarity is at least tau."""
    return float((_pairs(kernel, texts) >= tau).mean())


def _as_near(kernel: Any, pool: RatedPool, share: float) -> BLEUNeighbors:  # noqa: ANN401 - a kernel
    """BLEU Neighbors with the tau at which this share of pairs is similar; no rating is read."""
    tau = float(np.quantile(_pairs(kernel, pool.texts), 1.0 - share))
    return BLEUNeighbors(kernel=kernel, tau=min(1.0, max(tau, 1e-9)))


def _pairs(kernel: Any, texts: Sequence[str]) -> FloatArray:  # noqa: ANN401 - a kernel
    """[n (n - 1)] similarities of each text to the others."""
    table: FloatArray = kernel.prepare(texts).similarities(texts)
    return table[~np.eye(len(texts), dtype=np.bool_)]


# What people read


def hacks_shown(rows: Sequence[Row]) -> tuple[Section, ...]:
    """A table of evaluators for each task, and how to read it."""
    header = (
        "judged by",
        "of",
        "honest",
        "stuffed",
        "gain [95 %]",
        "beaten",
        "coverage",
        "sd",
    )
    lines = (
        f"{ATTACKS} outputs, each strung together from pieces of one highly rated text,",
        "or of two. Gain: estimate less the mean of honest outputs, in the raters' units;",
        "beaten: share of honest outputs with a lower estimate; sd: of the estimate of",
        "one output over the draws. Intervals are over outputs. Nobody rated them.",
    )
    tables = by_task("Preventing hacks", header, rows, _hack_cells)
    return *tables, Section(lines=lines)


def _hack_cells(row: Row) -> tuple[str, ...]:
    return (
        row["evaluator"],
        str(row["texts"]),
        number(row["honest"], 2),
        number(row["stuffed"], 2),
        with_interval(row["gain"], row["gain_interval"], 2),
        number(row["beaten"], 2),
        number(row["coverage"], 2),
        number(row["spread"], 2),
    )


def kernels_shown(rows: Sequence[Row]) -> tuple[Section, ...]:
    """A table of kernels for each task, and how tau was chosen."""
    header = (
        "kernel",
        "tau",
        "coverage",
        "MSE",
        "Spearman [95 %]",
        "less BLEU* [95 %]",
    )
    lines = (
        "Leave-one-out. Tau: where as many pairs are similar as by BLEU* at 0.08, so that",
        "no rating chooses it; 0.000 is any match of all orders, if fewer pairs have one.",
        "The difference is on texts that both estimate.",
    )
    return *by_task("Other kernels", header, rows, _kernel_cells), Section(lines=lines)


def _kernel_cells(row: Row) -> tuple[str, ...]:
    gap = with_interval(row["difference"], row["difference_interval"])
    return (
        row["kernel"],
        number(row["tau"]),
        number(row["coverage"], 2),
        number(row["mse"], 4),
        with_interval(row["spearman"], row["spearman_interval"]),
        "" if row["kernel"] == PLAIN else gap,
    )


def by_task(
    title: str,
    header: tuple[str, ...],
    rows: Sequence[Row],
    cells_of: Callable[[Row], tuple[str, ...]],
) -> list[Section]:
    """A table for each task, of its rows."""
    sections = []
    for task in dict.fromkeys(row["task"] for row in rows):
        cells = tuple(cells_of(row) for row in rows if row["task"] == task)
        numeric = (False, *[True] * (len(header) - 1))
        table = Table(header=header, rows=cells, numeric=numeric)
        sections.append(Section(title=f"{title}: {task}", table=table))
    return sections


def huse_shown(rows: Sequence[Row]) -> tuple[Section, ...]:
    """HUSE's own table: quality by people, and by estimates."""
    return huse_paper.document_of(rows).sections


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="BLEU Neighbors, section 6, shown.", allow_abbrev=False
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="a part; repeatable"
    )
    options = parser.parse_args(arguments)
    makers = {
        "hacks": (hacks, hacks_shown),
        "kernels": (kernels, kernels_shown),
        "huse": (huse_paper.results, huse_shown),
    }
    result: dict[str, Any] = {"format": 1, "paper": "bleu-neighbors, section 6"}
    sections: list[Section] = []
    try:
        for part in options.only or PARTS:
            make, show = makers[part]
            result[part] = make(options.data)
            sections += show(result[part])
    except RefLessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    document = Document(sections=tuple(sections))
    print(as_json(result) if options.format == "json" else as_text(document), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
