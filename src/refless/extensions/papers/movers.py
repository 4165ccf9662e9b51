"""Word and sentence mover's similarity (Clark et al. 2019): exp(-cost of moving a text's words)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.metrics.references.protocol import Scores, averaged, check_references
from refless.registry.arrays import FloatArray
from refless.registry.errors import MissingExtraError, UsageError
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.text.embed import Embedded, Encoder, WordVectors
from refless.text.stopwords import ENGLISH, stop_settings, stop_words

VARIANTS = ("wms", "sms", "s+wms")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"\w+", re.UNICODE)

Bag = tuple[FloatArray, FloatArray]  # vectors [things, dimensions], weights [things] that sum to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Movers:
    """Mover's similarity in (0, 1], the highest over references; the corpus score is the mean.

    The cost of a move is Euclidean. A text in which no word has a vector has no score (NaN).
    Sentences end where white space follows `.`, `!` or `?`.

    Attributes:
        variant: `wms` moves words, `sms` sentences (the mean vector of their words, as heavy as
            they have words), `s+wms` both at once.
        vectors: a file of word vectors in text form; or
        model: folder or name of a Hugging Face encoder, whose word pieces are the words.
        layer: hidden layer of the encoder; None for the usual one.
        stop_words: words that are left out with word vectors: `english`, `none` or a file with a
            word a line; None for `english`. With an encoder all stay.
    """

    name: ClassVar[str] = "movers"
    needs: ClassVar[tuple[str, ...]] = ("references", "vectors=FILE or model=DIR")

    variant: Annotated[str, About("words, sentences or both move", choices=VARIANTS)] = "wms"
    vectors: Annotated[str | None, About("a file of word vectors in text form")] = None
    model: Annotated[str | None, About("or an encoder: a folder or a name")] = None
    layer: Annotated[int | None, About("its hidden layer; none: the usual one", at_least=0)] = None
    stop_words: Annotated[
        str | None, About("words left out with vectors: english, a file, or (none)")
    ] = None

    def __post_init__(self) -> None:
        check(self)
        if self.vectors is not None and self.model is not None:
            raise UsageError("movers takes word vectors or a model, not both")
        if self.model is None and self.layer is not None:
            raise UsageError("layer goes with model; word vectors have none")
        if self.model is not None and self.stop_words is not None:
            raise UsageError("stop_words goes with vectors; an encoder's word pieces all stay")

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs.

        Raises:
            InputError: an output without references, or a file that cannot be read.
            MissingExtraError: POT, or what the encoder needs, is not installed.
            UsageError: neither word vectors nor a model.
        """
        check_references(outputs)
        bags = self._bags(sorted({*outputs.texts, *chain.from_iterable(outputs.references)}))
        scores = [
            np.fmax.reduce([np.exp(-movers_distance(bags[text], bags[x])) for x in set(references)])
            for text, references in zip(outputs.texts, outputs.references, strict=True)
        ]
        return averaged(np.array(scores, dtype=np.float64))

    def _bags(self, texts: Sequence[str]) -> dict[str, Bag]:
        sentences = [_SENTENCE.split(text) for text in texts]
        flat = list(chain.from_iterable(sentences))
        embedded = self._embedded(flat)
        bags, first = {}, 0
        for text, sentence in zip(texts, sentences, strict=True):
            bags[text] = bag(embedded, range(first, first + len(sentence)), self.variant)
            first += len(sentence)
        return bags

    def _embedded(self, sentences: Sequence[str]) -> Embedded:
        if self.vectors is not None:
            left_out = stop_words(self.stop_words or ENGLISH)
            split = partial(_words, left_out=left_out)
            return WordVectors(path=self.vectors).embed(sentences, split)
        if self.model is not None:
            return Encoder(model=self.model, layer=self.layer).embed(sentences)
        raise UsageError("movers needs a file of word vectors or a model")

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        signed = Signature(self.name).plus(variant=self.variant, split="naive")
        if self.vectors is not None:
            own = WordVectors(path=self.vectors).settings()
            return signed.plus(**own, **stop_settings(self.stop_words or ENGLISH), v=__version__)
        if self.model is None:
            raise UsageError("movers needs a file of word vectors or a model")
        own = Encoder(model=self.model, layer=self.layer).settings()
        return signed.plus(**own, v=__version__)

    @classmethod
    def missing(cls) -> str:
        """What to install; "" where POT is there."""
        return "" if find_spec("ot") else str(MissingExtraError("mover's similarity", "movers"))


def bag(embedded: Embedded, sentences: Sequence[int], variant: str) -> Bag:
    """What is moved: words, sentences or both, with weights that sum to 1 (empty without words)."""
    vectors: list[FloatArray] = []
    weights: list[float] = []
    for sentence in sentences:
        where = embedded.of(sentence)
        words = embedded.vectors[where][~embedded.special[where]].astype(np.float64)
        if not len(words):
            continue
        if variant != "sms":
            vectors.extend(words)
            weights.extend([1.0] * len(words))
        if variant != "wms":
            vectors.append(words.mean(axis=0))
            weights.append(float(len(words)))
    if not vectors:
        return np.zeros((0, 1)), np.zeros(0)
    return np.stack(vectors), np.array(weights) / sum(weights)


def movers_distance(first: Bag, second: Bag) -> float:
    """The least Euclidean cost of moving one bag onto the other; NaN where one is empty.

    Raises:
        MissingExtraError: POT is not installed.
    """
    try:
        from ot import emd2
    except ImportError as missing:
        raise MissingExtraError("mover's similarity", "movers") from missing
    (x, a), (s, b) = first, second
    if not len(a) or not len(b):
        return float("nan")
    from scipy.spatial.distance import cdist

    return float(emd2(a, b, cdist(x, s)))


def _words(sentence: str, *, left_out: frozenset[str]) -> list[str]:
    """Words of letters that are not left out; vectors are looked up in lower case."""
    words = (word.lower() for word in _WORD.findall(sentence))
    return [word for word in words if word.isalpha() and word not in left_out]
