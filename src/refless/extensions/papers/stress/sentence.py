"""One sentence as the output for every item: which one scores highest (Table 5)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.data.records import Outputs, numbered
from refless.extensions.papers.stress.constant import (
    Constant,
    ConstantBLEU,
    ConstantCIDEr,
    References,
)
from refless.metrics.references import Metric
from refless.metrics.references.bleu import BLEU
from refless.metrics.references.cider import CIDErD
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError
from refless.registry.signature import Signature

BLOCK = 50_000  # candidates at a time: memory does not grow with their number
SHORTLIST, TOP, LARGEST_SET = 25, 5, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A sentence, or a set of which every item has its best one.

    Attributes:
        texts: the sentence, or those of the set in the order in which they joined.
        score: corpus score where this is the output for every item.
        in_references: how many items have the (last) sentence among their references.
    """

    texts: tuple[str, ...]
    score: float
    in_references: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search found.

    Attributes:
        best: the highest-scoring sentences, best first.
        sets: greedy sets of two, three ...; empty where only a shortlist was scored.
        n_candidates, n_scored: distinct sentences, and how many the metric itself scored; fewer
            where a shortlist was made by BLEU.
        n: number of items.
    """

    best: tuple[Found, ...]
    sets: tuple[Found, ...]
    n_candidates: int
    n_scored: int
    n: int

    @property
    def exact(self) -> bool:
        """Whether every candidate was scored by the metric itself."""
        return self.n_scored == self.n_candidates


def constant_of(metric: Metric, references: References) -> Constant | None:
    """The metric's scores of constant outputs from corpus statistics, where there is a way."""
    if type(metric) is BLEU:
        return ConstantBLEU(metric, references)
    if isinstance(metric, CIDErD):
        return ConstantCIDEr(metric, references)
    return None


def search(
    metric: Metric,
    references: References,
    candidates: Sequence[str],
    *,
    top: int = TOP,
    largest_set: int = LARGEST_SET,
    shortlist: int = SHORTLIST,
    weights: Sequence[Sequence[float]] = (),
) -> Search:
    """The sentences that score highest as the output for every item.

    BLEU and CIDEr score every candidate, exactly, from corpus statistics; of two that score the
    same the first in alphabetical order comes first. For other metrics the candidates are ranked
    by BLEU and the metric scores a shortlist.

    Args:
        metric: any metric; its own settings say how texts are read.
        references: [items] the references of each item.
        candidates: sentences, such as a training set's; repeated ones count once.
        top: how many to return.
        largest_set: greedy sets up to this size; 1 for none.
        shortlist: how many candidates a metric without a fast way scores.
        weights: [items] a weight for each reference, for metrics that need them.

    Raises:
        InputError: no candidates, or no references.
    """
    distinct = sorted({*candidates})
    if not distinct:
        raise InputError("there is no sentence to try", remedy="give a training set with texts")
    if not references or not all(references):
        raise InputError("an item has no references", remedy="give each item at least one")
    constant = constant_of(metric, references)
    scored = distinct
    if constant is None:
        quick = ConstantBLEU(_quick(metric), references)
        ranked = _in_blocks(quick, quick.read(distinct), ())
        scored = [distinct[i] for i in _highest(ranked, shortlist)]
        scores = np.array([score_of(metric, text, references, weights) for text in scored])
    else:
        tokens = constant.read(distinct)
        scores = _in_blocks(constant, tokens, ())
    holds = _holders(references)
    order = _highest(scores, top)
    best = tuple(_found((scored[i],), scores[i], holds) for i in order)
    sets: tuple[Found, ...] = ()
    if constant is not None and best:
        sets = _sets(constant, distinct, tokens, order[0], largest_set, holds)
    return Search(
        best=best, sets=sets, n_candidates=len(distinct), n_scored=len(scored), n=len(references)
    )


def score_of(
    metric: Metric, text: str, references: References, weights: Sequence[Sequence[float]] = ()
) -> float:
    """The metric's corpus score of one text as the output for every item, by scoring it."""
    return metric.score(repeated(text, references, weights)).corpus


def repeated(text: str, references: References, weights: Sequence[Sequence[float]] = ()) -> Outputs:
    """One text as the output for every item."""
    n = len(references)
    return Outputs(
        ids=numbered(n),
        texts=(text,) * n,
        references=tuple(map(tuple, references)),
        weights=tuple(map(tuple, weights)),
    )


def signed(metric: Metric, found: Search, *, shortlist: int = SHORTLIST) -> Signature:
    """The metric's signature, and what can change the search."""
    more = {} if found.exact else {"shortlist": shortlist}
    return metric.signature().plus(candidates=found.n_candidates, **more)


def _sets(
    constant: Constant,
    texts: Sequence[str],
    tokens: Sequence[str],
    first: int,
    largest: int,
    holds: Counter[str],
) -> tuple[Found, ...]:
    """Greedy sets: to each joins the sentence that adds most."""
    chosen, found = [first], []
    while len(chosen) < min(largest, len(texts)):
        scores = _in_blocks(constant, tokens, [tokens[i] for i in chosen])
        place = _highest(scores, 1)[0]
        chosen.append(place)
        found.append(_found(tuple(texts[i] for i in chosen), scores[place], holds))
    return tuple(found)


def _in_blocks(constant: Constant, texts: Sequence[str], chosen: Sequence[str]) -> FloatArray:
    found = []
    for begin in range(0, len(texts), BLOCK):
        block = texts[begin : begin + BLOCK]
        found.append(constant.joined(block, chosen) if chosen else constant.scores(block))
    return np.concatenate(found)


def _highest(scores: FloatArray, most: int) -> list[int]:
    """Places of the highest scores, best first, the earlier of two equal ones first."""
    rounded = np.round(scores, 10)  # rounding errors must not break ties
    order = np.argsort(-rounded, kind="stable")
    return [int(i) for i in order[:most] if not np.isnan(scores[i])]


def _quick(metric: Metric) -> BLEU:
    """BLEU on the tokens of another metric, for its shortlist."""
    plain = BLEU()
    return replace(
        plain,
        tokenize=getattr(metric, "tokenize", plain.tokenize),
        lowercase=getattr(metric, "lowercase", plain.lowercase),
    )


def _holders(references: References) -> Counter[str]:
    return Counter(text for row in references for text in {_plain(known) for known in row})


def _found(texts: tuple[str, ...], score: float, holds: Counter[str]) -> Found:
    return Found(texts=texts, score=float(score), in_references=holds[_plain(texts[-1])])


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
