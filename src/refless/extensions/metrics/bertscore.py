"""BERTScore (Zhang et al. 2020) against references."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.extensions.metrics.references import check_references
from refless.metrics.bertscore import (
    BASELINE,
    LAYER,
    MODEL,
    Matched,
    encoder_of,
    f_scores,
    random_baseline,
    settings_of,
)
from refless.metrics.protocol import Metric, Scores, averaged
from refless.registry.errors import MissingExtraError
from refless.registry.signature import Signature
from refless.registry.spec import check
from refless.registry.version import __version__
from refless.text.embed import Encoder
from refless.text.embed.devices import AUTO, DEVICE, FLOAT32, PRECISION


@dataclass(frozen=True, slots=True, kw_only=True)
class BERTScore(Metric):
    """BERTScore's F, the highest over references; the corpus score is the mean.

    Raw scores lie in [-1, 1], mostly high up; with a baseline, unrelated texts score about 0.

    Attributes:
        model: folder or name of a Hugging Face encoder; needed.
        layer: its hidden layer; None for the one of BERTScore's release, else the last.
        device: where texts are encoded: `auto`, `cpu` or `cuda`.
        precision: of the encoder: `float32` or `bfloat16`.
        baseline: None for raw scores; `random` for the mean of up to 1,000 random pairs of the
            references.
    """

    name: ClassVar[str] = "bertscore"
    needs: ClassVar[tuple[str, ...]] = ("references", "model=DIR")

    model: Annotated[str | None, MODEL] = None
    layer: Annotated[int | None, LAYER] = None
    device: Annotated[str, DEVICE] = AUTO
    precision: Annotated[str, PRECISION] = FLOAT32
    baseline: Annotated[str | None, BASELINE] = None

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
        encoder = self._encoder
        references = list(chain.from_iterable(outputs.references))
        texts = sorted({*outputs.texts, *references})  # one order, however rows come
        place = {text: i for i, text in enumerate(texts)}
        embedded = encoder.embed(texts)
        rows = [place[text] for text in references]
        matched = Matched(embedded)
        raw = []
        for text, several in zip(outputs.texts, outputs.references, strict=True):
            places = sorted({place[reference] for reference in several})
            raw.append(_best(matched, place[text], places))
        base = 0.0 if self.baseline is None else random_baseline(matched, rows)
        return averaged((np.array(raw, dtype=np.float64) - base) / (1 - base))

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        settings = settings_of(self._encoder, self.baseline)
        return Signature(self.name).plus(**settings, v=__version__)

    @property
    def _encoder(self) -> Encoder:
        return encoder_of(self.model, self.layer, self.device, self.precision)

    @classmethod
    def missing(cls) -> str:
        """The extra to install; "" where the libraries are there."""
        if all(find_spec(name) for name in ("torch", "transformers")):
            return ""
        return str(MissingExtraError("BERTScore", "neural"))


def _best(texts: Matched, output: int, references: Sequence[int]) -> float:
    """The highest F of a text with its references, which are numbers of distinct texts."""
    vectors, weights, _ = texts.texts(np.array([output]))
    return float(f_scores(vectors, weights, *texts.texts(np.array(references))).max())
