"""Estimators beside RatPred on the same rows: BLEU Neighbors, the GP, a ridge on words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from ratpred_data import Rated, Split
from ratpred_ridge import features, ridge_made
from ratpred_runs import Result, Run, split_of

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool
from refless.extensions.ratpred.reading import SLOTS, Reader
from refless.registry.arrays import FloatArray, IntArray

REVISION = 3  # of what rivals compute: what is kept of another one is not read
PENALTIES = 10.0 ** np.arange(-2, 4, 0.5)
# data, rated rows, rows to estimate
Rival = Callable[[Rated, IntArray, IntArray], FloatArray]


def _pool(
    texts: Sequence[str], sources: Sequence[str], ratings: FloatArray
) -> RatedPool:
    return pool_of(texts, ratings, sources=sources)


def _outputs(texts: Sequence[str], sources: Sequence[str]) -> Outputs:
    ids = tuple(map(str, range(len(texts))))
    return Outputs(ids=ids, texts=tuple(texts), sources=tuple(sources))


def _picked(column: Sequence[str], rows: IntArray) -> list[str]:
    return [column[i] for i in rows]


def neighbors(rated: Rated, known: IntArray, asked: IntArray) -> FloatArray:
    """BLEU Neighbors as published, the mean rating where it abstains."""
    from refless.estimators.neighbors import BLEUNeighbors

    pool = _pool(
        _picked(rated.text, known), _picked(rated.mr, known), rated.rating[known]
    )
    found = BLEUNeighbors().fit(pool).estimate(_picked(rated.text, asked)).values
    return np.where(np.isnan(found), pool.human.mean(), found)


def gp(rated: Rated, known: IntArray, asked: IntArray) -> FloatArray:
    """The GP as it comes: text, source, and the text with placeholders for the source's values."""
    from refless.estimators.gp import GaussianProcess

    pool = _pool(
        _picked(rated.text, known), _picked(rated.mr, known), rated.rating[known]
    )
    outputs = _outputs(_picked(rated.text, asked), _picked(rated.mr, asked))
    return GaussianProcess().fit(pool).estimate(outputs).values


def ridge(rated: Rated, known: IntArray, asked: IntArray) -> FloatArray:
    """Ridge regression on TF-IDF of lexicalised words, the penalty by leave-one-out."""
    tokens = Reader(acts=False, slots=frozenset()).pairs(rated.mr, rated.text)
    return _ridge([list(pair.text) for pair in tokens], rated.rating, known, asked)


def ridge_pairs(rated: Rated, known: IntArray, asked: IntArray) -> FloatArray:
    """The same on words, pairs of words and triples after delexicalisation, and their products."""
    pairs = Reader(acts=True, slots=SLOTS).pairs(rated.mr, rated.text)
    return _ridge([features(pair) for pair in pairs], rated.rating, known, asked)


def _ridge(
    tokens: list[list[str]], ratings: FloatArray, known: IntArray, asked: IntArray
) -> FloatArray:
    names = {
        name: i for i, name in enumerate(sorted({t for i in known for t in tokens[i]}))
    }
    x, other = (_counted([tokens[i] for i in rows], names) for rows in (known, asked))
    idf = 1.0 + np.log((1.0 + len(x)) / (1.0 + (x > 0).sum(axis=0)))
    x, other = (_unit(np.log1p(part) * idf) for part in (x, other))
    y = ratings[known]
    gram = x @ x.T
    values, vectors = np.linalg.eigh(gram)
    turned = vectors.T @ (y - y.mean())
    errors = []
    for penalty in PENALTIES:
        inverse = (vectors**2 / (values + penalty)).sum(axis=1)
        errors.append(
            np.square(vectors @ (turned / (values + penalty)) / inverse).mean()
        )
    best = PENALTIES[int(np.argmin(errors))]
    weights = vectors @ (turned / (values + best))
    return np.asarray(y.mean() + other @ (x.T @ weights))


def _counted(rows: list[list[str]], names: dict[str, int]) -> FloatArray:
    counts = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        for name in row:
            if name in names:
                counts[i, names[name]] += 1
    return counts


def _unit(x: FloatArray) -> FloatArray:
    norms = np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    return np.asarray(x / np.where(norms > 0, norms, 1.0))


RIVALS: dict[str, Rival] = {
    "BLEU Neighbors": neighbors,
    "gp": gp,
    "TF-IDF ridge": ridge,
    "ridge, delexicalised": ridge_pairs,
    "ridge, delexicalised, setup 4": ridge_made,
}


def rival_results(
    name: str, rated: Rated, data: Path, parts: Sequence[Run], folder: Path
) -> dict[Run, Result]:
    """A rival's predictions for the test and the validation rows of each split, kept on disk.

    Test rows are estimated from training and validation rows together: a rival needs no
    validation rows of its own. Validation rows are estimated from the training rows alone.
    """
    path = (
        folder / "rivals" / f"{name.replace(', ', '-').replace(' ', '-').lower()}.jsonl"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {row["split"]: row for row in map(json.loads, lines)}
    found = {}
    for run in parts:
        key = f"{run.part}-{run.fold}-{REVISION}"
        if key not in known:
            print(f"{name}: {run.part}, fold {run.fold}", file=sys.stderr)
            known[key] = {
                "split": key,
                **_judged(RIVALS[name], rated, split_of(data, run)),
            }
            with path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(known[key], separators=(",", ":")) + "\n")
        row = known[key]
        found[run] = Result(np.array(row["test"]), np.array(row["validation"]), 0, 0, 0)
    return found


def _judged(rival: Rival, rated: Rated, split: Split) -> dict[str, list[float]]:
    both = np.sort(np.concatenate([split.train, split.validation]))
    return {
        "test": np.round(rival(rated, both, split.test), 4).tolist(),
        "validation": np.round(rival(rated, split.train, split.validation), 4).tolist(),
    }
