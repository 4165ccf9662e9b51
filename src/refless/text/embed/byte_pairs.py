"""Byte-pair encoding of many texts at once, by tokenizers of Llama's kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import add
from typing import Any

import numpy as np

from refless.loops import Loops
from refless.registry.arrays import BoolArray, IntArray
from refless.text.terms import joined
from refless.text.tokenize import IdArray

loops = Loops("byte_pairs")

BLANK = "\u2581"  # stands for a blank
SPLIT = {  # the normalizer: a blank before the text, too
    "type": "Sequence",
    "normalizers": [
        {"type": "Prepend", "prepend": BLANK},
        {"type": "Replace", "pattern": {"String": " "}, "content": BLANK},
    ],
}
USUAL = {  # settings of the model, by what they may be
    "type": ("BPE",),
    "byte_fallback": (True,),
    "ignore_merges": (False, None),
    "continuing_subword_prefix": (None,),
    "end_of_word_suffix": (None,),
}
MOST_TOKENS = 1 << 20  # two of them and a rank are one number of `loops.merges_loop`
MOST_MERGES = 1 << 23
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@dataclass(frozen=True, slots=True, eq=False)
class BytePairs:
    """A tokenizer whose tokens never go beyond the blanks before a word.

    Attributes:
        characters: [code points] the token of each, -1 for none.
        of_bytes: [256] the tokens of bytes, which stand for other characters.
        merges: a table of pairs of tokens and their ranks, and the token that each becomes.
    """

    characters: IdArray
    of_bytes: IdArray
    merges: tuple[IntArray, IdArray]

    @classmethod
    def of(cls, tokenizer: Mapping[str, Any]) -> BytePairs | None:
        """The tokenizer that `tokenizer.json` describes; None for one of another kind."""
        model = tokenizer["model"]
        rules = (
            all(model.get(name) in values for name, values in USUAL.items()),
            tokenizer.get("normalizer") == SPLIT,
            tokenizer.get("pre_tokenizer") is None,
            all(entry["content"][:1] == "<" for entry in tokenizer["added_tokens"]),
        )
        return cls._read(model["vocab"], model["merges"]) if all(rules) else None

    @classmethod
    def _read(
        cls, vocabulary: Mapping[str, int], merges: Sequence[Any]
    ) -> BytePairs | None:
        is_split = not any(BLANK in token.lstrip(BLANK) for token in vocabulary)
        if not is_split or not vocabulary.keys() >= {BLANK, *BYTES}:
            return None
        if max(vocabulary.values()) >= MOST_TOKENS or len(merges) >= MOST_MERGES:
            return None
        is_text = all(isinstance(merge, str) for merge in merges)
        both = " ".join(merges).split(" ") if is_text else [*chain(*merges)]
        first = both[::2]
        second = both[1::2]
        made = _ids(map(add, first, second), vocabulary)
        table = loops.merges_loop(_ids(first, vocabulary), _ids(second, vocabulary))
        characters = np.full(0x110000, -1, dtype=np.int32)
        for token, number in vocabulary.items():
            if len(token) == 1:
                characters[ord(token)] = number
        return cls(characters, _ids(BYTES, vocabulary), (table, made))

    def tokens(self, texts: Sequence[str]) -> tuple[IdArray, IntArray, BoolArray]:
        """The tokens of texts, [texts + 1] where those of each begin, and which texts are not read.

        Those may name an added token, or have no blank for long.
        """
        is_marked = np.array(["<" in text for text in texts], dtype=np.bool_)
        points, starts = joined([text and BLANK + text for text in texts])
        tokens, begins, is_long = loops.tokens_loop(
            points, starts, self.characters, self.of_bytes, self.merges
        )
        return tokens, begins, is_long | is_marked


def _ids(tokens: Iterable[str], vocabulary: Mapping[str, int]) -> IdArray:
    return np.array([vocabulary[token] for token in tokens], dtype=np.int32)
