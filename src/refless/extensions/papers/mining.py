"""References mined from a corpus by BM25, out to raters and back as weights (Galley et al. 2015).

A seed is a context, a message and a response. Its references are its own response, the responses
of those triples in a corpus whose message and response both resemble the seed's, and its message
parroted back. People rate them all in the seed's context; a rating becomes a weight in [-1, 1].
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refless.data.records import Scale
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError, UsageError
from refless.text.tokenize import tokenizer

N_MINED = 15
GOOD_SEED = 4.0  # mean rating, on 1..5, from which a triple may be a seed
ORIGINAL, MINED, PARROT = "original", "mined", "parrot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
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
        split: dev or test, "" without a split.
    """

    id: str = ""
    item: str
    context: str
    message: str
    response: str
    kind: str
    origin: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mining:
    """How references are mined.

    A triple's score is d(message) * (alpha * d(response) + (1 - alpha) * epsilon), d being BM25
    (Sordoni et al. 2015, section 5.1). They publish neither alpha nor epsilon: these are ours.

    Attributes:
        n: references mined for each seed.
        alpha: how much the response counts, in [0, 1].
        epsilon: keeps triples whose response shares no word with the seed's.
        tokenize, k1, b: of BM25.
    """

    n: int = N_MINED
    alpha: float = 0.5
    epsilon: float = 0.1
    tokenize: str = "13a"
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.n < 0 or not 0 <= self.alpha <= 1 or self.epsilon < 0:
            raise UsageError("mining needs n >= 0, alpha in [0, 1] and epsilon >= 0")
        if not (self.k1 >= 0 and 0 <= self.b <= 1):
            raise UsageError("BM25 needs k1 >= 0 and b in [0, 1]")


def weight_of(rating: float, scale: Scale = (1, 5)) -> float:
    """A rating as a weight in [-1, 1]: (r - 3) / 2 on 1..5.

    Raises:
        InputError: a rating outside the scale.
    """
    low, high = scale
    if not low <= rating <= high:
        raise InputError(
            f"rating {rating:g} is outside {low:g} to {high:g}", remedy="pass its --scale"
        )
    weight = (2 * rating - low - high) / (high - low)
    return max(-1.0, min(1.0, weight))  # rounding may pass the ends


def seeds_of(
    triples: Sequence[Triple], ratings: FloatArray, least: float = GOOD_SEED
) -> tuple[Triple, ...]:
    """The triples whose mean rating is at least so much, in the order given."""
    if len(triples) != len(ratings):
        raise UsageError(f"{len(triples)} triples but {len(ratings)} ratings")
    return tuple(t for t, rating in zip(triples, ratings.tolist(), strict=True) if rating >= least)


def split_of(seeds: Sequence[Triple], seed: int) -> dict[str, str]:
    """Dev or test for each seed's id, half each, drawn whatever the order of the seeds."""
    names = sorted(triple.id for triple in seeds)
    order = np.random.default_rng(seed).permutation(len(names))
    half = (len(names) + 1) // 2
    return {names[i]: "dev" if rank < half else "test" for rank, i in enumerate(order.tolist())}


def mine(
    seeds: Sequence[Triple], corpus: Sequence[Triple], mining: Mining | None = None
) -> tuple[Candidate, ...]:
    """The references of each seed, seed by seed: its own, the mined ones best first, the parrot.

    No response is mined twice for a seed, nor its own response or message; only triples whose
    message shares a word with the seed's can be. Equal scores go by response, then by message: the
    result does not depend on the order of the corpus.

    Raises:
        InputError: an empty corpus or no seeds.
    """
    mining = mining or Mining()
    if not seeds or not corpus:
        raise InputError(f"there are {len(seeds)} seeds and {len(corpus)} triples to mine from")
    corpus = sorted(corpus, key=lambda triple: (triple.response, triple.message, triple.id))
    messages = _Index([triple.message for triple in corpus], mining)
    responses = _Index([triple.response for triple in corpus], mining)
    found: list[Candidate] = []
    for seed in seeds:
        near = messages.scores(seed.message)
        alike = mining.alpha * responses.scores(seed.response)
        scores = near * (alike + (1 - mining.alpha) * mining.epsilon)
        found += _candidates(seed, corpus, scores, mining.n)
    return tuple(found)


def _candidates(
    seed: Triple, corpus: Sequence[Triple], scores: FloatArray, n: int
) -> list[Candidate]:
    own = Candidate(
        item=seed.id,
        context=seed.context,
        message=seed.message,
        response=seed.response,
        kind=ORIGINAL,
    )
    found, taken = [own], {seed.response, seed.message}
    for i in np.argsort(-scores, kind="stable").tolist():  # the corpus is sorted by text already
        triple = corpus[i]
        if len(found) > n or scores[i] <= 0:
            break
        if triple.response not in taken:
            taken.add(triple.response)
            found.append(replace(own, response=triple.response, kind=MINED, origin=triple.id))
    if seed.message != seed.response:
        found.append(replace(own, response=seed.message, kind=PARROT))
    return found


class _Index:
    """BM25 over texts."""

    def __init__(self, texts: Sequence[str], mining: Mining) -> None:
        self._split, self._n = tokenizer(mining.tokenize), len(texts)
        tokens = [self._tokens(text) for text in texts]
        self._empty = not any(tokens)
        if not self._empty:
            self._model = _model(mining)
            self._model.index(tokens, show_progress=False)

    def _tokens(self, text: str) -> list[str]:
        return self._split(text.lower())

    def scores(self, text: str) -> FloatArray:
        """[texts] similarity of each text to a query; 0 where no word is shared."""
        known = () if self._empty else self._model.vocab_dict
        tokens = [token for token in self._tokens(text) if token in known]
        if not tokens:
            return np.zeros(self._n)
        return np.asarray(self._model.get_scores(tokens), dtype=np.float64)


def _model(mining: Mining) -> Any:  # noqa: ANN401 - bm25s has no types
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what bm25s's own imports deprecate is not our users' care
        import bm25s
    return bm25s.BM25(k1=mining.k1, b=mining.b, method="lucene")


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
    split: str
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
            f"'{unknown[0]}' was rated but is not in the key", remedy="use the key of this mining"
        )
    by_item: dict[str, list[tuple[bool, float, str, Candidate]]] = {}
    for c in candidates:
        if c.id in ratings:
            weight = weight_of(ratings[c.id], scale)
            by_item.setdefault(c.item, []).append((c.kind != ORIGINAL, -weight, c.response, c))
    return tuple(
        _weighted(sorted(by_item[item], key=lambda row: row[:3])) for item in sorted(by_item)
    )


def _weighted(rows: Sequence[tuple[bool, float, str, Candidate]]) -> Weighted:
    first = rows[0][3]
    return Weighted(
        item=first.item,
        context=first.context,
        message=first.message,
        split=first.split,
        references=tuple(text for _, _, text, _ in rows),
        weights=tuple(0.0 - minus for _, minus, _, _ in rows),
    )
