"""BERTScore (Zhang et al. 2020) against references."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.metrics.references.protocol import Scores, averaged, check_references
from refless.metrics.similarities.bertscore import (
    Matched,
    baseline_of,
    baseline_settings,
    f_scores,
    matched,
)
from refless.registry.errors import MissingExtraError, UsageError
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.text.embed import Encoder


@dataclass(frozen=True, slots=True, kw_only=True)
class BERTScore:
    """BERTScore's F, the highest over references; the corpus score is the mean.

    Raw scores lie in [-1, 1], mostly high up; with a baseline, unrelated texts score about 0.

    Attributes:
        model: folder or name of a Hugging Face encoder; needed.
        layer: its hidden layer; None for the one of BERTScore's release, else the last.
        baseline: None for raw scores; a baseline file of BERTScore's release; or `random`: the
            mean of up to 1,000 random pairs of the references.
    """

    name: ClassVar[str] = "bertscore"
    needs: ClassVar[tuple[str, ...]] = ("references", "model=DIR")

    model: Annotated[str | None, About("encoder: a folder or a name; needed")] = None
    layer: Annotated[int | None, About("its hidden layer; none: the usual one", at_least=0)] = None
    baseline: Annotated[str | None, About("to rescale by: random, or a file")] = None

    def __post_init__(self) -> None:
        check(self)

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs; 0 (before rescaling) for one without tokens.

        Raises:
            InputError: an output without references, or references in another shape.
            MissingExtraError: torch or transformers is not installed.
            UsageError: no model, no such layer.
        """
        check_references(outputs)
        encoder = self._encoder()
        references = list(chain.from_iterable(outputs.references))
        texts = sorted({*outputs.texts, *references})  # one order, however the rows come
        place = {text: i for i, text in enumerate(texts)}
        embedded = encoder.embed(texts)
        rows = [place[text] for text in references]
        known = matched(embedded)
        pairs = zip(outputs.texts, outputs.references, strict=True)
        raw = [_best(known, place[x], sorted({place[s] for s in many})) for x, many in pairs]
        base = baseline_of(self.baseline, known, rows, encoder)
        return averaged((np.array(raw, dtype=np.float64) - base) / (1 - base))

    def _encoder(self) -> Encoder:
        if self.model is None:
            raise UsageError("bertscore needs a model: the folder or the name of an encoder")
        return Encoder(model=self.model, layer=self.layer)

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        base = baseline_settings(self.baseline)
        settings = {**self._encoder().settings(), **base}
        return Signature(self.name).plus(**settings, v=__version__)

    @classmethod
    def missing(cls) -> str:
        """What to install; "" where the libraries are there."""
        if all(find_spec(name) for name in ("torch", "transformers")):
            return ""
        return str(MissingExtraError("BERTScore", "neural"))


def _best(known: Matched, output: int, references: Sequence[int]) -> float:
    vectors, weights, _ = known.texts(np.array([output]))
    return float(f_scores(vectors, weights, *known.texts(np.array(references))).max())
