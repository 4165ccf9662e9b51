"""What BLEU and its kin are made of, output by output: lengths, matches, totals.

All weights 1 is BLEU, so that BLEU and delta-BLEU share every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from refless.compiled import ngrams as loops
from refless.compiled import references as reference_loops
from refless.records import FloatArray, IntArray, Outputs
from refless.tokenize import SACREBLEU, IdArray, Tokenize, tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What is counted: orders 1 to `order` of the tokens.

    Attributes:
        by_code: how an n-gram that repeats is weighed (see `refless.metrics.delta`).
    """

    order: int = 4
    tokenize: str = "13a"
    lowercase: bool = False
    by_code: bool = False


def statistics(outputs: Outputs, counting: Counting) -> FloatArray:
    """[n, 2 + 2 * order] length, closest reference length, matches and totals by order.

    With the outputs' weights a match is worth its weight, and a total is the number of n-grams
    times the output's highest weight; without weights both are plain counts.
    """
    encoded = _encode(outputs, counting)
    begins = _begins(outputs.references)
    rows = chain.from_iterable(outputs.weights)
    n = len(encoded.reference)
    weights = np.fromiter(rows, dtype=np.float64) if outputs.weights else np.ones(n)
    length = np.diff(encoded.starts)
    lengths = length[encoded.output]
    highest = np.maximum.reduceat(weights, begins[:-1]) if n else np.zeros(0)
    matched = [
        reference_loops.matches(
            grams,
            encoded.starts,
            encoded.output,
            encoded.reference,
            begins,
            weights,
            size,
            counting.by_code,
        )
        for grams, size in _grams(encoded, counting.order)
    ]
    totals = [highest * np.maximum(lengths - k, 0) for k in range(counting.order)]
    closest = _closest(lengths, length[encoded.reference], begins)
    return np.stack([lengths.astype(np.float64), closest, *matched, *totals], axis=1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Encoded:
    """Distinct texts as token ids, and which of them each output and reference is."""

    ids: IdArray
    starts: IntArray
    n_tokens: int
    output: IntArray
    reference: IntArray


def _encode(outputs: Outputs, counting: Counting) -> _Encoded:
    split = _splitter(counting)
    places: dict[str, int] = {}
    known: dict[str, int] = {}
    rows: list[list[int]] = []

    def place(text: str) -> int:
        found = places.get(text)
        if found is None:
            found = places[text] = len(rows)
            rows.append([known.setdefault(token, len(known)) for token in split(text)])
        return found

    output = np.fromiter(map(place, outputs.texts), dtype=np.int64)
    reference = np.fromiter(map(place, chain.from_iterable(outputs.references)), dtype=np.int64)
    return _Encoded(
        ids=np.fromiter(chain.from_iterable(rows), dtype=np.int32),
        starts=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        n_tokens=len(known),
        output=output,
        reference=reference,
    )


def _splitter(counting: Counting) -> Tokenize:
    """The tokenizer as sacrebleu applies it: after lower-casing and cutting the end's space."""
    split = tokenizer(counting.tokenize)
    ends = counting.tokenize in SACREBLEU
    if counting.lowercase and ends:
        return lambda text: split(text.lower().rstrip())
    if counting.lowercase:
        return lambda text: split(text.lower())
    return (lambda text: split(text.rstrip())) if ends else split


def _grams(encoded: _Encoded, order: int) -> list[tuple[IdArray, int]]:
    """For each order the id of the n-gram that starts at each token, and how many ids there are."""
    level, size = encoded.ids, encoded.n_tokens
    found = [(level, size)]
    for n in range(2, order + 1):
        keys = loops.keys_of_loop(level, encoded.ids, encoded.starts, n, encoded.n_tokens)
        distinct = loops.distinct(keys)
        level, size = loops.ranks(keys, *loops.table(distinct)), len(distinct)
        found.append((level, size))
    return found


def _begins(references: tuple[tuple[str, ...], ...]) -> IntArray:
    return np.cumsum([0, *map(len, references)], dtype=np.int64)


def _closest(lengths: IntArray, others: IntArray, begins: IntArray) -> FloatArray:
    """The reference length closest to each output's, the shorter one of two equally close."""
    if not len(lengths):
        return np.zeros(0)
    mine = np.repeat(lengths, np.diff(begins))
    far = int(max(lengths.max(), others.max())) + 1
    nearest = np.minimum.reduceat(np.abs(others - mine) * far + others, begins[:-1])
    return np.asarray(nearest % far, dtype=np.float64)
