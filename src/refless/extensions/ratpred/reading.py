"""Sources and texts -> tokens -> ids: what the network reads (section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

import numpy as np

from refless.extensions.ratpred.acts import NULL, delexicalized, looks_like_act, triples
from refless.extensions.ratpred.batches import Encoded, padded
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError
from refless.text.words import words

SLOTS = frozenset(
    {
        "addr", "address", "area", "count", "eattype", "food", "good_for_meal", "name", "near",
        "phone", "postcode", "price", "price_range", "type",
    }
)  # fmt: skip
UNKNOWN = 1  # id of a token that was not among the training data; 0 is the end
Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceAndText:
    """A source and a text as tokens; a text without tokens has no estimate."""

    source: Tokens
    text: Tokens


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of pairs.

    Attributes:
        acts: whether sources are dialogue acts, else they are words.
        slots: slots whose values are delexicalised; empty for the lexicalised variant.
    """

    acts: bool
    slots: frozenset[str]

    def pair(self, source: str, text: str) -> SourceAndText:
        """The tokens of one source and one text.

        Raises:
            InputError: a source that is no dialogue act where all rated ones are.
        """
        if not self.acts:
            return SourceAndText(tuple(words(source)) or (NULL,), tuple(words(text)))
        tokens, acts = delexicalized(text, triples(source), self.slots)
        return SourceAndText(tuple(chain.from_iterable(acts)), tuple(tokens))

    def pairs(
        self, sources: Sequence[str], texts: Sequence[str]
    ) -> list[SourceAndText]:
        """The tokens of many, each different pair read once; () stands for no sources at all."""
        by_texts: dict[tuple[str, str], SourceAndText] = {}
        pairs = []
        for row, (source, text) in enumerate(
            zip(sources or [""] * len(texts), texts, strict=True)
        ):
            if (source, text) not in by_texts:
                try:
                    by_texts[source, text] = self.pair(source, text)
                except InputError as error:
                    raise InputError(
                        f"source of text {row + 1}: {error.found}", remedy=error.remedy
                    ) from error
            pairs.append(by_texts[source, text])
        return pairs


def reader_of(sources: Sequence[str], slots: AbstractSet[str] = SLOTS) -> Reader:
    """A reader for sources like these: dialogue acts if every one of them begins as one."""
    acts = bool(sources) and all(map(looks_like_act, sources))
    return Reader(acts=acts, slots=frozenset(slots))


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The tokens of each side, sorted; a token's id is its place + 2."""

    source: Tokens
    text: Tokens

    @classmethod
    def of(cls, pairs: Sequence[SourceAndText]) -> Dictionary:
        """All tokens of the training data."""
        sources = set().union(*(pair.source for pair in pairs))
        texts = set().union(*(pair.text for pair in pairs))
        return cls(tuple(sorted(sources)), tuple(sorted(texts)))

    @property
    def sizes(self) -> dict[str, int]:
        """Ids of each side, the end and the unknown token included."""
        return {"source": len(self.source) + 2, "text": len(self.text) + 2}

    def encoded(
        self, pairs: Sequence[SourceAndText], y: FloatArray | None = None
    ) -> Encoded:
        """Pairs as ids, with their standardised ratings (0 without)."""
        sides = []
        for name in ("source", "text"):
            tokens: Tokens = getattr(self, name)
            ids = {token: number for number, token in enumerate(tokens, 2)}
            rows = []
            for pair in pairs:
                row: Tokens = getattr(pair, name)
                rows.append([ids.get(token, UNKNOWN) for token in row])
            sides.append(padded(rows))
        ratings = np.zeros(len(pairs)) if y is None else y
        return Encoded(source=sides[0], text=sides[1], y=ratings)
