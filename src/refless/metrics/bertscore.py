"""BERTScore (Zhang et al. 2020), and as a kernel: greedy matching of token vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Annotated, Any, ClassVar

import numpy as np

from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.spec import About, check
from refless.text.embed import Embedded, Encoder, VectorArray
from refless.text.embed.devices import AUTO, CPU, DEVICE, FLOAT32, PRECISION, device_of

RANDOM = "random"
RANDOM_PAIRS = 1_000
# vectors, their weights, and where texts start
TokensOfTexts = tuple[VectorArray, FloatArray, IntArray]
COSINES = 1 << 28  # most that are on a graphics card at once: 1 GB
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
        device: where texts are encoded and matched: `auto`, `cpu` or `cuda`.
        precision: of the encoder: `float32` or `bfloat16`.
        baseline: `random`: random pairs of rated texts.
    """

    name: ClassVar[str] = "bertscore"
    default_tau: ClassVar[float] = 0.10

    model: Annotated[str | None, MODEL] = None
    layer: Annotated[int | None, LAYER] = None
    device: Annotated[str, DEVICE] = AUTO
    precision: Annotated[str, PRECISION] = FLOAT32
    baseline: Annotated[str, BASELINE] = RANDOM

    def __post_init__(self) -> None:
        check(self)
        if self.model is None:
            raise UsageError(
                "kernel bertscore needs a model (a folder or a name): bertscore:model=DIR"
            )

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts, embedded."""
        encoder = self._encoder
        rated = Matched(encoder.embed(texts))
        base = random_baseline(rated, rated.embedded.rows.tolist())
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=rated, encoder=encoder, base=base),
            parallel=False,  # BLAS and torch have threads of their own
        )

    def settings(self) -> dict[str, object]:
        """Encoder, layer and baseline."""
        return settings_of(self._encoder, self.baseline)

    @property
    def _encoder(self) -> Encoder:
        return encoder_of(self.model, self.layer, self.device, self.precision)


def encoder_of(
    model: str | None, layer: int | None, device: str, precision: str
) -> Encoder:
    """The encoder of a folder or name; raises UsageError for None."""
    if model is None:
        raise UsageError(
            "bertscore needs a model: the folder or the name of an encoder"
        )
    return Encoder(model=model, layer=layer, device=device, precision=precision)


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
    device = device_of(encoder.device)
    scores_of: Callable[[IntArray], FloatArray] = partial(
        _scores, outputs, rated.every()
    )
    if device != CPU:
        scores_of = DeviceScores(outputs, rated, device).between

    def block(begin: int, end: int) -> FloatArray:
        once, rows = np.unique(outputs.embedded.rows[begin:end], return_inverse=True)
        scores = (scores_of(once) - base) / (1 - base)
        return np.clip(scores, 0.0, 1.0)[rows][:, rated.embedded.rows]

    return block


def _scores(outputs: Matched, rated: TokensOfTexts, rows: IntArray) -> FloatArray:
    """[rows, rated texts] F of some distinct outputs, one after the other."""
    scores = np.empty((len(rows), len(rated[2]) - 1))
    for place, row in enumerate(rows):
        vectors, weights, _ = outputs.texts(np.array([row]))
        scores[place] = f_scores(vectors, weights, *rated)
    return scores


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

    def every(self) -> TokensOfTexts:
        """`texts` of all distinct texts."""
        return self.texts(np.arange(len(self.embedded.starts) - 1))

    def texts(self, rows: IntArray) -> TokensOfTexts:
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


class DeviceScores:
    """`f_scores` of many texts with many others at once, on one of torch's devices.

    Maxima and sums over the tokens of a text go from its first to its last token: runs are equal.
    """

    def __init__(self, outputs: Matched, rated: Matched, device: str) -> None:
        self.outputs = outputs
        self.device = device
        self.rated = self._tensors(rated.every())

    def between(self, rows: IntArray) -> FloatArray:
        """[rows, distinct rated texts] F of some distinct outputs, as many at a time as fit."""
        vectors, _, lengths = self.rated
        found = np.empty((len(rows), len(lengths)))
        tokens = np.cumsum(np.diff(self.outputs.embedded.starts)[rows])
        parts = tokens * len(vectors) // COSINES
        for part in np.unique(parts):
            places = np.flatnonzero(parts == part)
            found[places] = self._some(rows[places]).cpu().numpy()
        return found

    def _some(self, rows: IntArray) -> Any:  # noqa: ANN401 - a tensor
        mine, weights, lengths = self._tensors(self.outputs.texts(rows))
        theirs, other_weights, other_lengths = self.rated
        cosines = mine @ theirs.T
        best = _reduced(cosines.T, "max", other_lengths)
        sums = _reduced((best * weights).T, "sum", lengths)
        precision = sums / _reduced(weights, "sum", lengths)[:, None]
        best = _reduced(cosines, "max", lengths)
        sums = _reduced((best * other_weights).T, "sum", other_lengths).T
        recall = sums / _reduced(other_weights, "sum", other_lengths)
        score = 2 * precision * recall / (precision + recall)
        return score.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)

    def _tensors(self, texts: TokensOfTexts) -> tuple[Any, Any, Any]:
        """Vectors, weights and lengths of texts."""
        import torch

        vectors, weights, starts = texts
        arrays = (vectors, weights.astype(np.float32), np.diff(starts))
        tensors = [torch.from_numpy(array).to(self.device) for array in arrays]
        return tensors[0], tensors[1], tensors[2]


def _reduced(rows: Any, way: str, lengths: Any) -> Any:  # noqa: ANN401 - tensors
    """[texts, ...] the maximum or the sum of the rows of each text."""
    import torch

    return torch.segment_reduce(rows.contiguous(), way, lengths=lengths)


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
