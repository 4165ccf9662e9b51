"""BERTScore (Zhang et al. 2020): greedy matching of token vectors, and its baselines."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

from refless.files.untrusted import is_file, reading
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import InputError, UsageError
from refless.text.embed import Embedded, Encoder, VectorArray, file_digest

RANDOM = "random"
RANDOM_PAIRS = 1_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Matched:
    """Texts ready for matching.

    Attributes:
        embedded: their tokens.
        weights: [tokens] weight of each: 0 for the model's own marks, else 1.
    """

    embedded: Embedded
    weights: FloatArray

    @cached_property
    def unit(self) -> VectorArray:
        """[tokens, dimensions] the vectors, of length 1."""
        vectors = self.embedded.vectors
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)

    def texts(self, rows: IntArray) -> tuple[VectorArray, FloatArray, IntArray]:
        """Vectors and weights of some distinct texts, one after the other, and where they start."""
        starts = self.embedded.starts
        parts = [np.arange(starts[row], starts[row + 1]) for row in rows]
        places = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        return self.unit[places], self.weights[places], np.cumsum([0, *map(len, parts)])


def matched(embedded: Embedded) -> Matched:
    """The texts, ready for matching."""
    return Matched(embedded=embedded, weights=np.where(embedded.special, 0.0, 1.0))


def f_scores(
    output: VectorArray,
    weights: FloatArray,
    references: VectorArray,
    other_weights: FloatArray,
    starts: IntArray,
) -> FloatArray:
    """[texts] BERTScore's F of one text with several others.

    Precision: the mean over the output's tokens of the highest cosine with a token of the other
    text; recall likewise the other way. The model's own marks may be matched but weigh nothing, as
    in the release of the paper's authors. A text in which nothing has weight scores 0.

    Args:
        output: [tokens, dimensions] vectors of length 1; weights: [tokens].
        references: [other tokens, dimensions], text after text; other_weights: the same.
        starts: [texts + 1] where each of the others begins; none is empty.
    """
    if len(starts) == 1 or not len(output):
        return np.zeros(len(starts) - 1)
    cosines = (output @ references.T).astype(np.float64)
    best = np.maximum.reduceat(cosines, starts[:-1], axis=1)
    mine, theirs = weights.sum(), np.add.reduceat(other_weights, starts[:-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = (weights @ best) / mine
        recall = np.add.reduceat(cosines.max(axis=0) * other_weights, starts[:-1]) / theirs
        score = 2 * precision * recall / (precision + recall)
    scores: FloatArray = np.nan_to_num(score, nan=0.0, posinf=0.0, neginf=0.0)
    return scores


def random_baseline(texts: Matched, rows: Sequence[int]) -> float:
    """Mean F of up to 1,000 random pairs of different texts: what unrelated texts score.

    Args:
        texts: embedded texts.
        rows: which of their distinct texts to draw from.

    Raises:
        UsageError: fewer than two distinct texts.
    """
    distinct = np.array(sorted(set(rows)), dtype=np.int64)
    n = len(distinct)
    if n < 2:
        raise UsageError("a baseline from random pairs needs at least two different texts")
    if n * (n - 1) // 2 <= RANDOM_PAIRS:
        pairs = np.array(list(combinations(range(n), 2)))
    else:
        rng = np.random.default_rng(0)
        first = rng.integers(n, size=RANDOM_PAIRS)
        pairs = np.stack([first, (first + rng.integers(1, n, size=RANDOM_PAIRS)) % n], axis=1)
    scores = []
    for a, b in distinct[pairs]:
        vectors, weights, _ = texts.texts(np.array([a]))
        scores.append(f_scores(vectors, weights, *texts.texts(np.array([b])))[0])
    return float(np.mean(scores))


def published_baseline(path: str, layer: int) -> float:
    """F of random pairs at a layer, out of a file as BERTScore's release has them.

    Raises:
        InputError: no such file, no columns LAYER and F, or no such layer.
    """
    if not is_file(path):
        raise InputError("no such file", path=path, remedy="name a baseline file, or 'random'")
    with reading(path), Path(path).open(encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), 2):
            try:
                if int(row["LAYER"]) == layer:
                    return float(row["F"])
            except (KeyError, TypeError, ValueError) as wrong:
                raise InputError(
                    "found no LAYER and F", path=path, line=line, remedy="see bert_score's files"
                ) from wrong
    raise InputError(f"there is no layer {layer}", path=path, remedy="choose another layer")


def baseline_of(
    baseline: str | None, texts: Matched, rows: Sequence[int], encoder: Encoder
) -> float:
    """The F that counts as 0: none, a file's, or that of random pairs of some distinct texts."""
    if baseline is None:
        return 0.0
    if baseline == RANDOM:
        return random_baseline(texts, rows)
    return published_baseline(baseline, encoder.resolved_layer())


def baseline_settings(baseline: str | None) -> dict[str, object]:
    """What a signature says of a baseline; a file's name and content."""
    if baseline is None:
        return {"baseline": None}
    if baseline == RANDOM:
        return {"baseline": f"{RANDOM}-{RANDOM_PAIRS}", "baseline-seed": 0}
    return {"baseline": Path(baseline).name, "baseline-sha": file_digest(baseline)}
