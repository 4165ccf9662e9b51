"""Word vectors out of a file in text form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from refless.files.untrusted import lines_of
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError
from refless.text.embed.digests import file_digest
from refless.text.embed.embedded import Embedded
from refless.text.tokenize import distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class WordVectors:
    """A file of word vectors in text form: a word and its numbers a line, maybe gzipped.

    A first line of two numbers (word2vec's) is skipped. A word that the file lacks is looked for
    in lower case, and left out if that is not there either.
    """

    path: str  # the file

    def embed(self, texts: Sequence[str], split: Callable[[str], list[str]]) -> Embedded:
        """Vectors of the texts' words; only the words that occur are kept in memory.

        Raises:
            InputError: the file cannot be read, or a line of it is no word vector.
        """
        once, rows = distinct(texts)
        words = [split(text) for text in once]
        wanted = {form for row in words for word in row for form in (word, word.lower())}
        known = self._read(wanted)
        place = {word: i for i, word in enumerate(sorted(known))}
        ids = [[place[form] for word in row if (form := _form(word, place))] for row in words]
        flat = np.array([i for row in ids for i in row], dtype=np.int64)
        table = np.array([known[word] for word in place], dtype=np.float32)
        return Embedded(
            rows=rows,
            starts=np.cumsum([0, *map(len, ids)]),
            vectors=table[flat] if place else np.zeros((0, 1), dtype=np.float32),
            ids=flat,
            special=np.zeros(len(flat), dtype=np.bool_),
        )

    def settings(self) -> dict[str, object]:
        """What belongs in a signature: name and content."""
        return {"vectors": Path(self.path).name, "sha": file_digest(self.path)}

    def _read(self, words: set[str]) -> dict[str, FloatArray]:
        vectors: dict[str, FloatArray] = {}
        size = 0
        for number, line in enumerate(lines_of(self.path), 1):
            parts = line.rstrip("\r\n ").split(" ")
            if _counts(parts, number):
                continue
            size = size or len(parts) - 1
            word = " ".join(parts[:-size]) if size else ""
            if size == 0 or len(parts) <= size:
                raise self._bad(number, f"{len(parts) - 1} numbers after the word")
            if word in words and word not in vectors:
                vectors[word] = self._numbers(parts[-size:], number)
        if size == 0:
            raise self._bad(1, "no vector")
        return vectors

    def _numbers(self, parts: list[str], line: int) -> FloatArray:
        try:
            vector = np.array(parts, dtype=np.float64)
        except ValueError as wrong:
            raise self._bad(line, "something that is no number") from wrong
        if not np.isfinite(vector).all():
            raise self._bad(line, "a number that is not finite")
        return vector

    def _bad(self, line: int, fault: str) -> InputError:
        remedy = "give a file of word vectors in text form: a word and its numbers, by spaces"
        return InputError(f"found {fault}", remedy=remedy, path=self.path, line=line)


def _counts(parts: Sequence[str], line: int) -> bool:
    """Whether this is word2vec's first line: how many words and how many numbers a word."""
    return line == 1 and len(parts) == 2 and all(part.isdecimal() for part in parts)


def _form(word: str, place: dict[str, int]) -> str:
    return word if word in place else word.lower() if word.lower() in place else ""
