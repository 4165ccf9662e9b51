"""ROUGE-L as a kernel: F1 of the longest common subsequence of an output and a rated text."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from refless.loops import Loops
from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray
from refless.registry.spec import check
from refless.text.tokenize import TOKENS, TokenIds, encode, learn_tokens

loops = Loops("rouge")


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
        tokens, rated = learn_tokens(texts, self.tokenize)
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=rated, tokenize=self.tokenize, tokens=tokens),
            tokenize=self.tokenize,
        )

    def settings(self) -> dict[str, object]:
        """The tokens."""
        return {"tok": self.tokenize}


def _rows(texts: Sequence[str], *, rated: TokenIds, tokenize: str, tokens: tuple[str, ...]) -> Rows:
    outputs = encode(texts, tokenize, tokens)
    starts = np.ascontiguousarray(rated.starts)

    def block(begin: int, end: int) -> FloatArray:
        out = np.empty((end - begin, len(starts) - 1))
        loops.f1_loop(outputs.ids, outputs.starts, begin, end, rated.ids, starts, len(tokens), out)
        return out

    return block
