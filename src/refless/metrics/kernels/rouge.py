"""ROUGE-L as a kernel: F1 of the longest common subsequence of an output and a rated text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from refless.loops import Loops
from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.spec import check
from refless.text.terms import Tokens, tokens_of
from refless.text.tokenize import TOKENS

loops = Loops("subsequences")


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeL:
    """ROUGE-L's F1, symmetric in its texts.

    Attributes:
        tokenize: words split at white space, as the paper's numbers need it, or another tokenizer.
    """

    name: ClassVar[str] = "rouge-l"
    default_tau: ClassVar[float] = 0.06

    tokenize: Annotated[str, TOKENS] = "words"

    def __post_init__(self) -> None:
        check(self)

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts as token ids."""
        tokens = tokens_of(texts, self.tokenize)
        known, rated = np.unique(tokens.keys, return_inverse=True)
        rows = partial(
            _rows,
            rated=Tokens(rated, tokens.starts),
            tokenize=self.tokenize,
            known=np.append(known.astype(np.int64), -1),
        )
        return Dense(size=len(texts), rows=rows, tokenize=self.tokenize)

    def settings(self) -> dict[str, object]:
        """The tokens."""
        return {"tok": self.tokenize}


def _rows(
    texts: Sequence[str], *, rated: Tokens, tokenize: str, known: IntArray
) -> Rows:
    """Similarities with rated texts, whose tokens are places in `known`, which ends with -1."""
    outputs = tokens_of(texts, tokenize)
    places = np.searchsorted(known[:-1], outputs.keys)
    places[known[places] != outputs.keys] = len(known) - 1
    # at least 1: an empty output shares nothing, even with an empty text
    halves = 0.5 * np.maximum(outputs.lengths, 1)[:, None]

    def block(begin: int, end: int) -> FloatArray:
        starts = outputs.starts[begin : end + 1]
        common = loops.common_loop(places, starts, rated.keys, rated.starts, len(known))
        means = halves[begin:end] + 0.5 * rated.lengths
        shares: FloatArray = np.divide(common, means, out=means)
        return shares

    return block
