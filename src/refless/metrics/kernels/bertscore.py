"""BERTScore as a kernel, rescaled with a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from refless.metrics.kernels.dense import Dense, Rows
from refless.metrics.similarities.bertscore import (
    RANDOM,
    Matched,
    baseline_of,
    baseline_settings,
    f_scores,
    matched,
)
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError
from refless.registry.spec import About, check
from refless.text.embed import Encoder


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScore:
    """BERTScore's F without idf, rescaled with a baseline, negative values clipped to 0.

    The published tau presumes rescaled scores: raw ones sit far above it.

    Attributes:
        model: folder or name of a Hugging Face encoder.
        layer: its hidden layer; None for the usual one.
        baseline: a baseline file of BERTScore's release, or `random`: random pairs of rated texts.
    """

    name: ClassVar[str] = "bertscore"
    default_tau: ClassVar[float] = 0.10

    model: Annotated[str | None, About("encoder: a folder or a name; needed")] = None
    layer: Annotated[int | None, About("its hidden layer; none: the usual one", at_least=0)] = None
    baseline: Annotated[str, About("to rescale by: random, or a file")] = RANDOM

    def __post_init__(self) -> None:
        check(self)
        if self.model is None:
            raise UsageError(
                "kernel bertscore needs a model (a folder or a name): bertscore:model=DIR"
            )

    def _encoder(self) -> Encoder:
        return Encoder(model=self.model or "", layer=self.layer)

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts, embedded."""
        encoder = self._encoder()
        rated = matched(encoder.embed(texts))
        base = baseline_of(self.baseline, rated, rated.embedded.rows.tolist(), encoder)
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=rated, encoder=encoder, base=base),
            parallel=False,  # BLAS and torch have threads of their own
        )

    def settings(self) -> dict[str, object]:
        """Encoder, layer and baseline."""
        return {**self._encoder().settings(), **baseline_settings(self.baseline)}


def _rows(texts: Sequence[str], *, rated: Matched, encoder: Encoder, base: float) -> Rows:
    outputs = matched(encoder.embed(texts))
    others = rated.texts(np.arange(len(rated.embedded.starts) - 1))

    def block(begin: int, end: int) -> FloatArray:
        out = np.empty((end - begin, len(rated.embedded.rows)))
        for i in range(begin, end):
            vectors, weights, _ = outputs.texts(outputs.embedded.rows[i : i + 1])
            scores = (f_scores(vectors, weights, *others) - base) / (1 - base)
            out[i - begin] = np.clip(scores, 0.0, 1.0)[rated.embedded.rows]
        return out

    return block
