"""A causal language model of Hugging Face's transformers: how probable each token of a text is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.text.embed.digests import folder_digest
from refless.text.embed.loading import UNLIMITED, folder_of, loaded, model_name, plain
from refless.text.tokenize import distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """A causal language model, by a folder or a name in Hugging Face's cache.

    Each text begins with the model's mark of a beginning (else that of an end); for a model that
    has neither, the first token of a text has no probability and is left out.
    """

    model: str

    def ids(self, text: str) -> IntArray:
        """The numbers of a text's tokens, without marks."""
        tokenizer, _ = _causal(str(folder_of(self.model)))
        read = tokenizer(plain(text), add_special_tokens=False, verbose=False)
        return np.array(read["input_ids"], dtype=np.int64)

    def logprobs(self, texts: Sequence[str]) -> list[tuple[IntArray, FloatArray]]:
        """Of each text its tokens, and the natural logarithm of each one's probability.

        A text that is longer than the model can read is read in windows that overlap by half, so
        that every token has at least half a window before it.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            UsageError: no such model here, or one that is not causal.
        """
        once, rows = distinct(texts)
        scores = [self._of(text) for text in once]
        return [scores[row] for row in rows]

    def _of(self, text: str) -> tuple[IntArray, FloatArray]:
        tokenizer, network = _causal(str(folder_of(self.model)))
        marks = [i for i in (tokenizer.bos_token_id, tokenizer.eos_token_id) if i is not None]
        read = np.concatenate([marks[:1], self.ids(text)]).astype(np.int64)
        if len(read) < 2:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        most = getattr(network.config, "max_position_embeddings", None) or UNLIMITED
        logprobs = np.zeros(len(read))
        begin, until = 0, 1
        while until < len(read):
            window = read[begin : begin + most]
            logprobs[until : begin + len(window)] = _window(network, window)[until - begin - 1 :]
            until = begin + len(window)
            begin = until - most // 2
        return read[1:], logprobs[1:]

    @property
    def vocabulary(self) -> int:
        """How many different tokens there are."""
        return len(_causal(str(folder_of(self.model)))[0])

    def settings(self) -> dict[str, object]:
        """What belongs in a signature: name and content."""
        return {"model": model_name(self.model), "sha": folder_digest(folder_of(self.model))}


@cache
def _causal(folder: str) -> tuple[Any, Any]:
    """Tokenizer and network, once it is sure that no token sees a later one."""
    tokenizer, network = loaded(folder, causal=True)
    first, second = (_logits(network, np.array([0, later]))[0] for later in (0, 1))
    if not np.allclose(first, second, atol=1e-4):
        raise UsageError(
            f"'{folder}' is no causal language model: its tokens see those that come later; "
            "choose one such as GPT-2"
        )
    return tokenizer, network


def _window(network: Any, ids: IntArray) -> FloatArray:  # noqa: ANN401 - transformers' types
    """[tokens - 1] log-probability of each token but the first, given those before it."""
    logits = _logits(network, ids)[:-1]
    top = logits.max(axis=1, keepdims=True)
    total = top[:, 0] + np.log(np.exp(logits - top).sum(axis=1))
    return np.asarray(logits[np.arange(len(logits)), ids[1:]] - total)


def _logits(network: Any, ids: IntArray) -> FloatArray:  # noqa: ANN401
    """[tokens, vocabulary] what the model expects after each token."""
    import torch

    try:
        with torch.inference_mode():
            output = network(torch.from_numpy(ids)[None]).logits[0]
    except (IndexError, TypeError, ValueError) as broken:  # a vocabulary larger than its vectors
        raise UsageError(f"the language model cannot read these texts: {broken}") from broken
    logits: FloatArray = output.numpy().astype(np.float64)
    if not np.isfinite(logits).all():
        raise UsageError("the language model gives numbers that are not finite; it is damaged")
    return logits
