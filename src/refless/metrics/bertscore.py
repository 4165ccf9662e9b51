"""BERTScore (Zhang et al. 2020), and as a kernel: greedy matching of token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np

from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.spec import About, check
from refless.text.embed import Embedded, Encoder, VectorArray

RANDOM = "random"
RANDOM_PAIRS = 1_000
MODEL = About("encoder: a folder or a name; needed")
LAYER = About("its hidden layer; none: the usual one", at_least=0)
BASELINE = About("to rescale by", choices=(RANDOM,))


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScore:
    """BERTScore's F without idf, rescaled with a baseline, negative values clipped to 0.

    The published tau presumes rescaled scores: raw ones sit far above it.

    Attributes:
        model: folder or name of a Hugging Face encoder.
        layer: its hidden layer; None for the usual one.
        baseline: `random`: random pairs of rated texts.
    """

    name: ClassVar[str] = "bertscore"
    default_tau: ClassVar[float] = 0.10

    model: Annotated[str | None, MODEL] = None
    layer: Annotated[int | None, LAYER] = None
    baseline: Annotated[str, BASELINE] = RANDOM

    def __post_init__(self) -> None:
        check(self)
        if self.model is None:
            raise UsageError(
                "kernel bertscore needs a model (a folder or a name): bertscore:model=DIR"
            )

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts, embedded."""
        encoder = encoder_of(self.model, self.layer)
        rated = Matched(encoder.embed(texts))
        base = random_baseline(rated, rated.embedded.rows.tolist())
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=rated, encoder=encoder, base=base),
            parallel=False,  # BLAS and torch have threads of their own
        )

    def settings(self) -> dict[str, object]:
        """Encoder, layer and baseline."""
        return settings_of(encoder_of(self.model, self.layer), self.baseline)


def encoder_of(model: str | None, layer: int | None) -> Encoder:
    """The encoder of a folder or name; raises UsageError for None."""
    if model is None:
        raise UsageError(
            "bertscore needs a model: the folder or the name of an encoder"
        )
    return Encoder(model=model, layer=layer)


def settings_of(encoder: Encoder, baseline: str | None) -> dict[str, object]:
    """The part of a signature that names encoder, layer and baseline (None for raw scores)."""
    rescaled: dict[str, object] = {"baseline": None}
    if baseline is not None:
        rescaled = {"baseline": f"{RANDOM}-{RANDOM_PAIRS}", "baseline-seed": 0}
    return {**encoder.settings(), **rescaled}


def _rows(
    texts: Sequence[str], *, rated: Matched, encoder: Encoder, base: float
) -> Rows:
    outputs = Matched(encoder.embed(texts))
    rated_texts = rated.texts(np.arange(len(rated.embedded.starts) - 1))

    def block(begin: int, end: int) -> FloatArray:
        out = np.empty((end - begin, len(rated.embedded.rows)))
        for i in range(begin, end):
            vectors, weights, _ = outputs.texts(outputs.embedded.rows[i : i + 1])
            scores = (f_scores(vectors, weights, *rated_texts) - base) / (1 - base)
            out[i - begin] = np.clip(scores, 0.0, 1.0)[rated.embedded.rows]
        return out

    return block


@dataclass(frozen=True, eq=False)
class Matched:
    """The tokens of texts, ready for matching."""

    embedded: Embedded

    @cached_property
    def weights(self) -> FloatArray:
        """[tokens] weight of each: 0 for the model's own marks, else 1."""
        return np.where(self.embedded.special, 0.0, 1.0)

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
    mine = weights.sum()
    theirs = np.add.reduceat(other_weights, starts[:-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = (weights @ best) / mine
        recall = (
            np.add.reduceat(cosines.max(axis=0) * other_weights, starts[:-1]) / theirs
        )
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
        raise UsageError(
            "a baseline from random pairs needs at least two different texts"
        )
    if n * (n - 1) // 2 <= RANDOM_PAIRS:
        pairs = np.array(list(combinations(range(n), 2)))
    else:
        rng = np.random.default_rng(0)
        first = rng.integers(n, size=RANDOM_PAIRS)
        pairs = np.stack(
            [first, (first + rng.integers(1, n, size=RANDOM_PAIRS)) % n], axis=1
        )
    scores = []
    for a, b in distinct[pairs]:
        vectors, weights, _ = texts.texts(np.array([a]))
        scores.append(f_scores(vectors, weights, *texts.texts(np.array([b])))[0])
    return float(np.mean(scores))
