"""Which estimator on which ratings: the table of docs/estimators.md, made from real pools.

Every method judges each text without that text's group; whatever it chooses (amplitudes, ridge
penalty) it chooses in folds that do not hold the group. An estimator that abstains is shown twice:
on the texts that all methods judge, and on all texts, with the constant where it abstains.

    python benchmarks/estimators.py --data ../shared/data [--pool NAME] [--details]
    python benchmarks/estimators.py --data ../shared/data --encoder DIR  # what that brings
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.records import Predictions, RatedPool, scored
from refless.data.tables import Columns, Reading, read_pool
from refless.estimators.folds import folds_of
from refless.estimators.gp import GaussianProcess
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.baselines import length_only
from refless.evaluation.groups import mean_of_others
from refless.evaluation.held_out import Agreement, agreement
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.registry.errors import InputError
from refless.stats.correlation import spearman
from refless.stats.intervals import percentile_interval
from refless.stats.resampling import weights_of
from refless.stats.weighted import spearman as weighted_spearman

ANSWERS = 500  # of each essay topic
PENALTIES = np.logspace(-2, 2, 9)
Method = Callable[[RatedPool, IntArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One method on one pool, held out one way."""

    pool: str
    held_out: str
    method: str
    everywhere: Agreement
    common: Agreement
    coverage: float
    r2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Spearman of one method less that of another, on all texts."""

    pool: str
    held_out: str
    gain: float
    low: float
    high: float
    p: float


def bleu_neighbors(pool: RatedPool, groups: IntArray) -> FloatArray:
    """As published."""
    return BLEUNeighbors().held_out(pool, groups).values


def gp(pool: RatedPool, groups: IntArray) -> FloatArray:
    """With its defaults."""
    return GaussianProcess().held_out(pool, groups).values


def constant_mean(pool: RatedPool, groups: IntArray) -> FloatArray:
    """The mean of the others."""
    return mean_of_others(pool.human, groups)


def length_line(pool: RatedPool, groups: IntArray) -> FloatArray:
    """A line on log length."""
    lengths = np.array([len(text) for text in pool.texts], dtype=np.float64)
    return length_only(pool.human, lengths, groups)


def tfidf_ridge(pool: RatedPool, groups: IntArray) -> FloatArray:
    """Ridge regression on TF-IDF of words and pairs; ten folds, penalty by five inner folds."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    values = np.full(len(pool), np.nan)
    outer = folds_of(groups, 10)
    for fold in range(10):
        train = np.flatnonzero(outer != fold)
        test = np.flatnonzero(outer == fold)
        if len(test) == 0:
            continue
        vectors = TfidfVectorizer(
            ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+"
        )
        x = vectors.fit_transform([pool.texts[i] for i in train])
        penalty = _penalty(x, pool.human[train], folds_of(groups[train], 5))
        model = _ridge(x, pool.human[train], penalty)
        values[test] = model.predict(vectors.transform([pool.texts[i] for i in test]))
    return values


def _ridge(x: Any, y: FloatArray, penalty: float) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(alpha=penalty).fit(x, y)


def _penalty(x: Any, y: FloatArray, inner: IntArray) -> float:
    errors = np.zeros(len(PENALTIES))
    for fold in range(5):
        train = inner != fold
        test = inner == fold
        if test.any() and train.any():
            for i, penalty in enumerate(PENALTIES):
                guess = _ridge(x[train], y[train], penalty).predict(x[test])
                errors[i] += float(((guess - y[test]) ** 2).sum())
    return float(PENALTIES[errors.argmin()])


METHODS: dict[str, Method] = {
    "BLEU Neighbors": bleu_neighbors,
    "gp": gp,
    "TF-IDF ridge": tfidf_ridge,
    "length": length_line,
    "constant": constant_mean,
}


def pools(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """Every rated pool of the data folder."""
    yield (
        "HUSE summarization",
        _read(data / "huse-summarization/judgements.tsv", (1, 6)),
    )
    yield from _by_task("GRADE", _read(data / "grade/judgements.tsv", (1, 5)))
    essays = Columns(
        text="EssayText", id="Id", rating=("Score1", "Score2"), task="EssaySet"
    )
    for name, pool in _by_task(
        "ASAP-SAS", _read(data / "asap-sas/train.tsv", (0, 3), essays)
    ):
        rows = np.random.default_rng(0).permutation(len(pool))[:ANSWERS]
        yield name, pool.take(np.sort(rows))
    outputs = Columns(text="sys_ref", source="mr", rating=("quality",), task="dataset")
    yield from _by_task(
        "NLG", _read(data / "nlg-ratings/emnlp_data_medians.csv", (1, 6), outputs)
    )
    dialogue = Columns(rating=("human_average_rating",))
    file = data / "dailydialog-multiref/mturk_rating_processed_output.csv"
    yield "DailyDialog", _read(file, (1, 5), dialogue)


def newer(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """Edits, and texts in other languages than English; each is read by its own scale."""
    for folder in ("edits", "languages"):
        for file in sorted((data / folder).glob("*.jsonl")):
            yield file.stem, read_pool([str(file)], Reading()).pool
    for name in ("simpeval", "simpda"):
        with (data / "edits" / f"{name}.csv").open(
            encoding="utf-8", newline=""
        ) as lines:
            rows = list(csv.DictReader(lines))
        for rated in sorted(
            {"score", "fluency", "meaning", "simplicity"} & rows[0].keys()
        ):
            columns = {
                "text": "simple",
                "source": "original",
                "system": "system",
                "rating": rated,
            }
            named = [
                {role: row[name] for role, name in columns.items()} for row in rows
            ]
            yield f"{name} {rated}", read_pool(named, Reading()).pool


def summeval(
    data: Path, *, articles: bool, judges: Sequence[str] = ()
) -> Iterator[tuple[str, RatedPool]]:
    """SummEval's four dimensions; the source is the article, or its name alone.

    With judges also the scores that these LLM judges gave.
    """
    folder = data / "summeval-judges"
    found, known = (
        [
            json.loads(line)
            for line in (folder / f"{name}.jsonl").read_text().strip().split("\n")
        ]
        for name in ("summaries", "articles")
    )
    source = {one["article"]: one["text"] for one in known if articles}
    for name in ("coherence", "consistency", "fluency", "relevance"):
        rows = [
            {**{key: row[key] for key in ("id", "text", "system")}, "rating": rating}
            | {"source": source.get(row["article"], row["article"])}
            for row in found
            for rating in row["experts"][name]
        ]
        pool = read_pool(rows, Reading(scale=(1, 5))).pool
        said = {row["id"]: row["judges"] for row in found} if judges else {}
        columns = {
            one: [said[id_][one].get(name) for id_ in pool.ids] for one in judges
        }
        yield f"SummEval {name}", replace(pool, **scored(columns))


def _read(
    file: Path, scale: tuple[float, float], columns: Columns | None = None
) -> RatedPool:
    return read_pool(
        [str(file)], Reading(scale=scale, columns=columns or Columns())
    ).pool


def _by_task(name: str, pool: RatedPool) -> Iterator[tuple[str, RatedPool]]:
    for task in sorted(set(pool.tasks), key=lambda task: (len(task), task)):
        rows = np.array([i for i, other in enumerate(pool.tasks) if other == task])
        yield f"{name} {task}", pool.take(rows)


def rows_of(
    name: str, pool: RatedPool, held_out: str, groups: IntArray
) -> tuple[list[Row], Gain]:
    """All methods on one pool."""
    labels = pool.ids if held_out == "text" else pool.sources
    found = {method: judge(pool, groups) for method, judge in METHODS.items()}
    fallback = found["constant"]
    common = ~np.isnan(np.column_stack(list(found.values()))).any(axis=1)
    rows = []
    for method, values in found.items():
        filled = _filled(values, pool)
        error = float(np.sum((filled - pool.human) ** 2))
        spread = float(np.sum((fallback - pool.human) ** 2))
        rows.append(
            Row(
                pool=name,
                held_out=held_out,
                method=method,
                everywhere=_agreement(pool, filled, labels),
                common=_agreement(pool, np.where(common, values, np.nan), labels),
                coverage=float(np.mean(~np.isnan(values))),
                r2=1.0 - error / spread,
            )
        )
    ours = _filled(found["gp"], pool)
    theirs = _filled(found["BLEU Neighbors"], pool)
    return rows, gain_of(name, held_out, pool.human, ours, theirs, groups)


def _filled(values: FloatArray, pool: RatedPool) -> FloatArray:
    """Values with one constant where there is none.

    It is the mean of all: means that each leave a text's own rating out would rank those texts
    backwards.
    """
    return np.where(np.isnan(values), np.sort(pool.human).mean(), values)


def _agreement(pool: RatedPool, values: FloatArray, labels: Sequence[str]) -> Agreement:
    group = () if labels is pool.ids else tuple(labels)
    reason = tuple("" if value == value else "other" for value in values.tolist())
    return agreement(
        Predictions(
            id=pool.ids, human=pool.human, predicted=values, reason=reason, group=group
        )
    )


def gain_of(
    name: str,
    held_out: str,
    human: FloatArray,
    ours: FloatArray,
    theirs: FloatArray,
    groups: IntArray,
    resamples: int = 1_000,
) -> Gain:
    """Difference of Spearman with its paired bootstrap interval and p-value, over whole groups."""
    mine = weighted_spearman(human, ours)
    other = weighted_spearman(human, theirs)
    rng = np.random.default_rng(0)
    draws = weights_of(len(human), resamples=resamples, rng=rng, clusters=groups)
    differences = np.concatenate([mine(weights) - other(weights) for weights in draws])
    once = np.ones((1, len(human)))
    low, high = percentile_interval(differences)
    gain = float(mine(once)[0] - other(once)[0])
    least = min(np.sum(differences <= 0.0), np.sum(differences >= 0.0))
    p = min(1.0, 2.0 * (1.0 + float(least)) / (1.0 + resamples))
    return Gain(pool=name, held_out=held_out, gain=gain, low=low, high=high, p=p)


def summary(rows: Sequence[Row], gains: Sequence[Gain]) -> str:
    """Spearman on all texts of every method, a line a pool; and what follows from it."""
    names = [name for name in METHODS if name != "constant"]
    lines = [
        f"| pool | held out | {' | '.join(names)} | R² of the Gaussian process | gain [95 %] |"
    ]
    lines.append("|---|---|" + "---:|" * (len(names) + 2))
    for gain in gains:
        mine = [r for r in rows if (r.pool, r.held_out) == (gain.pool, gain.held_out)]
        found = {row.method: row for row in mine}
        cells = [f"{found[name].everywhere.spearman:.2f}" for name in names]
        cells.append(f"{found['gp'].r2:.2f}")
        cells.append(f"{gain.gain:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]")
        lines.append(f"| {gain.pool} | {gain.held_out} | {' | '.join(cells)} |")
    median = float(np.median([gain.gain for gain in gains])) if gains else float("nan")
    worse = [f"{gain.pool} ({gain.held_out})" for gain in gains if gain.high < 0]
    lowest = min((row.r2 for row in rows if row.method == "gp"), default=float("nan"))
    lines += [
        "",
        f"Median gain {median:+.3f}; significantly worse on: {', '.join(worse) or 'none'};",
    ]
    lines.append(f"lowest R² of the Gaussian process {lowest:.3f}.")
    return "\n".join(lines)


def details(rows: Sequence[Row]) -> str:
    """Every number with its interval."""
    lines = [
        "| pool | out | method | Spearman, all | MSE, all | R² | coverage | Spearman, common |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = (
            row.pool,
            row.held_out,
            row.method,
            "-"
            if row.method == "constant"
            else _interval(row.everywhere, "spearman", 3),
            _interval(row.everywhere, "mse", 4),
            f"{row.r2:.3f}",
            f"{row.coverage:.2f}",
            "-" if row.method == "constant" else _interval(row.common, "spearman", 3),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _interval(found: Agreement, name: str, digits: int) -> str:
    value = getattr(found, name)
    (low, high) = found.interval_of(name)
    if np.isnan(value):
        return "-"
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def with_encoder(data: Path, wanted: str, model: str) -> str:
    """The GP without and with an encoder's vectors: Spearman, R², and the gain of the vectors."""
    lines = [
        "| pool | held out | the GP | with encoder | gain [95 %] | R² | with encoder |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, pool, way, groups in _ways(data, wanted):
        plain = GaussianProcess(encoder=None).held_out(pool, groups).values
        seen = GaussianProcess(encoder=model).held_out(pool, groups).values
        gain = gain_of(name, way, pool.human, seen, plain, groups)
        spread = np.sum((constant_mean(pool, groups) - pool.human) ** 2)
        r2 = [
            1.0 - np.sum((values - pool.human) ** 2) / spread
            for values in (plain, seen)
        ]
        ranks = [spearman(pool.human, values) for values in (plain, seen)]
        between = f"{gain.gain:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]"
        lines.append(
            f"| {name} | {way} | {ranks[0]:.2f} | {ranks[1]:.2f} | {between} "
            f"| {r2[0]:.2f} | {r2[1]:.2f} |"
        )
        print(lines[-1], file=sys.stderr)
    signed = GaussianProcess(encoder=model).signature()
    return "\n".join(
        [*lines, "", f"encoder: {signed.get('model')}, sha {signed.get('sha')}"]
    )


def _ways(data: Path, wanted: str) -> Iterator[tuple[str, RatedPool, str, IntArray]]:
    """Each pool with what is held out, by name and by group."""
    for name, pool in pools(data):
        if wanted not in name:
            continue
        yield name, pool, "text", codes(pool.ids)
        if len(set(pool.sources)) > 1:
            yield name, pool, "source", codes(pool.sources)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; progress goes to standard error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pool", default="", help="only pools whose name holds this")
    parser.add_argument(
        "--details", action="store_true", help="every number with its interval"
    )
    parser.add_argument(
        "--encoder",
        help="folder of an encoder: only what it adds to the Gaussian process",
    )
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    gains: list[Gain] = []
    try:
        if options.encoder:
            print(with_encoder(options.data, options.pool, options.encoder))
            return 0
        for name, pool, way, groups in _ways(options.data, options.pool):
            found, gain = rows_of(name, pool, way, groups)
            rows += found
            gains.append(gain)
            print(f"{name}, by {way}: {gain.gain:+.3f}", file=sys.stderr)
    except InputError as missing:
        print(missing, file=sys.stderr)
        return 2
    print(summary(rows, gains))
    if options.details:
        print("\n" + details(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
