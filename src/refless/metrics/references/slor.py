"""SLOR and WP-SLOR (Kann et al. 2018): fluency by a language model, without references."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.files.untrusted import whole_lines
from refless.metrics.references.protocol import Metric, Scores, averaged
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError, UsageError
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.text.embed import LanguageModel, file_digest

Tokens = Sequence[Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class SLOR(Metric):
    """Mean over a text's tokens of ln p(token | those before) - ln p(token), in nats.

    Equation 1 of Kann et al. (2018): a language model's log-probability less that of the tokens by
    themselves, divided by the number of tokens, so that rare words and long sentences are not
    taken for bad ones. WP-SLOR is the same with word pieces as tokens, as most models have them.
    The corpus score is the mean over texts; a text without tokens has none (NaN).

    Attributes:
        model: folder or name of a causal language model; None reads the outputs' own tokens and
            log-probabilities (`Outputs.tokens`, `Outputs.logprobs`).
        corpus: a file of plain text whose tokens the model counts, one added to each count; None
            counts the outputs' own tokens.
    """

    name: ClassVar[str] = "slor"
    needs: ClassVar[tuple[str, ...]] = (
        "--column logprobs=NAME, or model=DIR and the extra neural",
    )

    model: Annotated[str | None, About("causal language model: a folder or a name")] = None
    corpus: Annotated[str | None, About("text whose tokens are counted; none: the outputs")] = None

    def __post_init__(self) -> None:
        check(self)
        if self.corpus is not None and self.model is None:
            raise UsageError("slor:corpus=FILE needs a model, which says what its tokens are")

    def score(self, outputs: Outputs) -> Scores:
        """The outputs' scores.

        Raises:
            InputError: no outputs; neither a model nor log-probabilities; no corpus there.
            MissingExtraError: torch or transformers is not installed.
            UsageError: no such model.
        """
        if not len(outputs):
            raise InputError("there are no outputs to score", remedy="give at least one")
        known = self._known(outputs)
        alone = self._alone([tokens for tokens, _ in known])
        return averaged(np.array([_slor(tokens, p, alone) for tokens, p in known]))

    def _known(self, outputs: Outputs) -> Sequence[tuple[Tokens, Sequence[float] | FloatArray]]:
        """Of each output its tokens and their log-probabilities."""
        if self.model is not None:
            logprobs = LanguageModel(model=self.model).logprobs(outputs.texts)
            return [(ids.tolist(), known) for ids, known in logprobs]
        if not outputs.logprobs:
            raise InputError(
                "slor needs log-probabilities of tokens, and the outputs have none",
                remedy="name their column with --column logprobs=NAME, or give slor:model=DIR",
            )
        return [*zip(outputs.tokens, outputs.logprobs, strict=True)]

    def _alone(self, texts: Sequence[Tokens]) -> dict[Hashable, float]:
        """Ln p of each token by itself."""
        counts: Counter[Hashable] = Counter(token for tokens in texts for token in tokens)
        if self.model is None or self.corpus is None:
            total = sum(counts.values())
            return {token: float(np.log(n / total)) for token, n in counts.items()}
        model, elsewhere = LanguageModel(model=self.model), Counter[Hashable]()
        for line in whole_lines(self.corpus, "name a file of plain text (corpus=)"):
            elsewhere.update(model.ids(line).tolist())
        total = sum(elsewhere.values()) + model.vocabulary
        return {token: float(np.log((elsewhere[token] + 1) / total)) for token in counts}

    def signature(self) -> Signature:
        """The model and what counts tokens."""
        if self.model is None:
            return Signature(self.name).plus(tokens="given", counts="outputs", v=__version__)
        counted: dict[str, object] = {"counts": "outputs"}
        if self.corpus is not None:
            counted = {"counts": Path(self.corpus).name, "counts-sha": file_digest(self.corpus)}
        settings = LanguageModel(model=self.model).settings()
        return Signature(self.name).plus(**settings, **counted, v=__version__)


def _slor(
    tokens: Tokens, known: Sequence[float] | FloatArray, alone: dict[Hashable, float]
) -> float:
    """Mean of ln p in the text less ln p alone; NaN without tokens."""
    if not len(tokens):
        return float("nan")
    return float(np.mean(np.asarray(known) - [alone[token] for token in tokens]))
