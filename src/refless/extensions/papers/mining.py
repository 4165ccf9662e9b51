"""References mined from a corpus by BM25, out to raters and back as weights (Galley et al. 2015).

A seed is a context, a message and a response. Its references are its own response, the responses
of those triples in a corpus whose message and response both resemble the seed's, and its message
parroted back. People rate them all in the seed's context; a rating becomes a weight in [-1, 1].
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.data.records import Scale
from refless.extensions.papers.bm25 import bm25s
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.text.tokenize import tokenizer

N_MINED = 15
ALPHA = 0.5  # Sordoni et al. publish neither this
EPSILON = 0.1  # nor this: both are ours
K1 = 1.5  # of BM25
B = 0.75
ORIGINAL = "original"
MINED = "mined"
PARROT = "parrot"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTriple:
    """A message in its context, and the response to it."""

    id: str
    context: str
    message: str
    response: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A reference to be rated.

    Attributes:
        id: its number in the raters' file, which says nothing about where it comes from.
        item: id of the seed whose context and message it is rated in.
        kind: original, mined or parrot; origin: id of the triple that a mined one comes from.
    """

    id: str = ""
    item: str
    context: str
    message: str
    response: str
    kind: str
    origin: str = ""


def weight_of(rating: float, scale: Scale = (1, 5)) -> float:
    """A rating as a weight in [-1, 1]: (r - 3) / 2 on 1..5.

    Raises:
        InputError: a rating outside the scale.
    """
    low, high = scale
    if not low <= rating <= high:
        raise InputError(
            f"rating {rating:g} is outside {low:g} to {high:g}",
            remedy=f"pass its {called('scale')}",
        )
    weight = (2 * rating - low - high) / (high - low)
    return max(-1.0, min(1.0, weight))  # rounding may pass the ends


def mine(
    seeds: Sequence[MessageTriple],
    corpus: Sequence[MessageTriple],
    n: int = N_MINED,
    tokenize: str = "13a",
) -> tuple[Candidate, ...]:
    """The references of each seed, seed by seed: its own, the mined ones best first, the parrot.

    A triple's score is d(message) * (alpha * d(response) + (1 - alpha) * epsilon), d being BM25
    (Sordoni et al. 2015, section 5.1); epsilon keeps triples whose response shares no word with the
    seed's. No response is mined twice for a seed, nor its own response or message; only triples
    whose message shares a word with the seed's can be. Equal scores go by response, then by
    message: the result does not depend on the order of the corpus.

    Args:
        seeds: what gets references.
        corpus: what they are mined from.
        n: references mined for each seed.
        tokenize: tokens that BM25 counts, in lower case.

    Raises:
        UsageError: n below 0.
        InputError: an empty corpus or no seeds.
    """
    if n < 0:
        raise UsageError(f"{called('n')} must be 0 or more, got {n}")
    if not seeds or not corpus:
        raise InputError(
            f"there are {len(seeds)} seeds and {len(corpus)} triples to mine from"
        )
    corpus = sorted(
        corpus, key=lambda triple: (triple.response, triple.message, triple.id)
    )
    messages = _Index([triple.message for triple in corpus], tokenize)
    responses = _Index([triple.response for triple in corpus], tokenize)
    candidates: list[Candidate] = []
    for seed in seeds:
        alike = ALPHA * responses.scores(seed.response)
        scores = messages.scores(seed.message) * (alike + (1 - ALPHA) * EPSILON)
        candidates += _candidates(seed, corpus, scores, n)
    return tuple(candidates)


def _candidates(
    seed: MessageTriple, corpus: Sequence[MessageTriple], scores: FloatArray, n: int
) -> list[Candidate]:
    original = Candidate(
        item=seed.id,
        context=seed.context,
        message=seed.message,
        response=seed.response,
        kind=ORIGINAL,
    )
    candidates = [original]
    texts = {seed.response, seed.message}
    # the corpus is sorted by text already
    for i in np.argsort(-scores, kind="stable").tolist():
        triple = corpus[i]
        if len(candidates) > n or scores[i] <= 0:
            break
        if triple.response not in texts:
            texts.add(triple.response)
            mined = replace(
                original, response=triple.response, kind=MINED, origin=triple.id
            )
            candidates.append(mined)
    if seed.message != seed.response:
        candidates.append(replace(original, response=seed.message, kind=PARROT))
    return candidates


class _Index:
    """BM25 over texts."""

    def __init__(self, texts: Sequence[str], tokenize: str) -> None:
        self._split = tokenizer(tokenize)
        self._n = len(texts)
        tokens = [self._tokens(text) for text in texts]
        self._empty = not any(tokens)
        if not self._empty:
            self._model = bm25s("Mining").BM25(k1=K1, b=B, method="lucene")
            self._model.index(tokens, show_progress=False)

    def _tokens(self, text: str) -> list[str]:
        return self._split(text.lower())

    def scores(self, text: str) -> FloatArray:
        """[texts] similarity of each text to a query; 0 where no word is shared."""
        vocabulary = () if self._empty else self._model.vocab_dict
        tokens = [token for token in self._tokens(text) if token in vocabulary]
        if not tokens:
            return np.zeros(self._n)
        return np.asarray(self._model.get_scores(tokens), dtype=np.float64)


def for_raters(candidates: Sequence[Candidate], seed: int) -> tuple[Candidate, ...]:
    """The candidates in random order, numbered in that order, so that ids give nothing away."""
    keys = [(c.item, c.response, c.kind) for c in candidates]
    canonical = sorted(range(len(candidates)), key=keys.__getitem__)
    order = np.random.default_rng(seed).permutation(len(candidates)).tolist()
    shuffled = [candidates[canonical[i]] for i in order]
    return tuple(replace(c, id=str(number)) for number, c in enumerate(shuffled, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A seed with its weighted references, the original first, then by weight."""

    item: str
    context: str
    message: str
    references: tuple[str, ...]
    weights: tuple[float, ...]


def weighted(
    candidates: Sequence[Candidate], ratings: dict[str, float], scale: Scale = (1, 5)
) -> tuple[Weighted, ...]:
    """The seeds' rated candidates as weighted references, seed by seed in order of their ids.

    Args:
        candidates: as they went out to raters.
        ratings: mean rating by candidate id; candidates without one are left out.
        scale: lowest and highest rating.

    Raises:
        InputError: a rating of something that never went out, or outside the scale.
    """
    unknown = sorted(ratings.keys() - {c.id for c in candidates})
    if unknown:
        raise InputError(
            f"'{unknown[0]}' was rated but is not in the key",
            remedy="use the key of this mining",
        )
    by_item: dict[str, list[tuple[bool, float, str, Candidate]]] = {}
    for c in candidates:
        if c.id in ratings:
            weight = weight_of(ratings[c.id], scale)
            by_item.setdefault(c.item, []).append(
                (c.kind != ORIGINAL, -weight, c.response, c)
            )
    ordered = [by_item[item] for item in sorted(by_item)]
    return tuple(_weighted(sorted(rows, key=lambda row: row[:3])) for rows in ordered)


def _weighted(rows: Sequence[tuple[bool, float, str, Candidate]]) -> Weighted:
    first = rows[0][3]
    return Weighted(
        item=first.item,
        context=first.context,
        message=first.message,
        references=tuple(text for _, _, text, _ in rows),
        weights=tuple(0.0 - minus for _, minus, _, _ in rows),
    )
