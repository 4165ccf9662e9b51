"""ROUGE-L (Lin 2004): the longest common subsequence of an output and its references."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.extensions.metrics.bleu import CASE
from refless.extensions.metrics.references import check_references
from refless.metrics.protocol import Metric, Scores, averaged
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.text.tokenize import TOKENS, tokenizer

VARIANTS = ("f1", "coco")
BETA = 1.2  # weight of recall in coco-caption


@dataclass(frozen=True, slots=True, kw_only=True)
class ROUGEL(Metric):
    """ROUGE-L in [0, 1]; the corpus score is the mean over outputs.

    Attributes:
        tokenize: a name of `refless.text.tokenize`.
        lowercase: whether case is ignored.
        variant: `f1`: the highest F1 over references, as in rouge-score; `coco`: F-beta of the
            highest precision and the highest recall over references, as in coco-caption.
    """

    name: ClassVar[str] = "rouge-l"
    needs: ClassVar[tuple[str, ...]] = ("references",)

    tokenize: Annotated[str, TOKENS] = "words"
    lowercase: Annotated[bool, CASE] = False
    variant: Annotated[str, About("which ROUGE-L", choices=VARIANTS)] = "f1"

    def __post_init__(self) -> None:
        check(self)
        tokenizer(self.tokenize)

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs; 0 where nothing is shared, also where there are no tokens.

        Raises:
            InputError: an output without references, or references in another shape.
        """
        check_references(outputs)
        split = tokenizer(self.tokenize)
        fold = str.lower if self.lowercase else str
        tokens: dict[str, list[str]] = {}  # each distinct text is split once

        def tokens_of(text: str) -> list[str]:
            if text not in tokens:
                tokens[text] = split(fold(text))
            return tokens[text]

        segments = []
        for text, references in zip(outputs.texts, outputs.references, strict=True):
            rows = [tokens_of(reference) for reference in references]
            segments.append(self._segment(tokens_of(text), rows))
        return averaged(np.array(segments, dtype=np.float64))

    def _segment(self, output: list[str], references: Sequence[list[str]]) -> float:
        from rapidfuzz.distance import LCSseq

        shares = []
        for reference in references:
            length = LCSseq.similarity(output, reference)
            if length:
                shares.append((length / len(output), length / len(reference)))
        if not shares:
            return 0.0
        if self.variant == "f1":
            return max(2 * p * r / (p + r) for p, r in shares)
        precision, recall = (max(column) for column in zip(*shares, strict=True))
        square = BETA**2
        return float((1 + square) * precision * recall / (recall + square * precision))

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        signed = Signature(self.name).plus(
            tok=self.tokenize, lower=self.lowercase, variant=self.variant
        )
        if self.variant == "coco":
            signed = signed.plus(beta=BETA)
        return signed.plus(v=__version__)
