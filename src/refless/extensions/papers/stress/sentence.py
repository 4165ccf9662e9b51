"""One sentence as the output for every item: which one scores highest (Table 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.records import Outputs, numbered
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.papers.stress.constant import ConstantBLEU, References
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.material import StressItems, with_texts
from refless.extensions.papers.stress.pairing import rounds, rows_of
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.rows import Probe, Row, percent_of
from refless.metrics.protocol import Metric
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

BLOCK = 50_000  # candidates at a time: memory does not grow with their number
SHORTLIST = 25  # sentences that a metric other than BLEU scores
GOOD_ENOUGH = 0.5  # of the outputs' score: more for one sentence is a surprise


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The sentence that scores highest as the output for every item.

    Attributes:
        text: the sentence.
        score: its corpus score.
        in_references: how many items have it among their references.
        n_candidates, n_scored: distinct sentences, and how many the metric itself scored; fewer if
            a shortlist was made by BLEU.
    """

    text: str
    score: float
    in_references: int
    n_candidates: int
    n_scored: int


def search(
    metric: Metric,
    references: References,
    candidates: Sequence[str],
    weights: Sequence[Sequence[float]] = (),
) -> Search:
    """The sentence that scores highest as the output for every item.

    BLEU scores every candidate, exactly, from corpus statistics; of two that score the same the
    first in alphabetical order is taken. For other metrics the candidates are ranked by BLEU, and
    the metric scores the 25 highest.

    Args:
        metric: any metric; its own settings say how texts are read.
        references: [items] the references of each item.
        candidates: sentences, such as a training set's; repeated ones count once.
        weights: [items] a weight for each reference, for metrics that need them.

    Raises:
        InputError: no candidates, or no references.
    """
    scored = sorted({*candidates})
    n_candidates = len(scored)
    if not scored:
        raise InputError(
            "there is no sentence to try", remedy="give a training set with texts"
        )
    if not references or not all(references):
        raise InputError(
            "an item has no references", remedy="give each item at least one"
        )
    scores = _by_bleu(_bleu_of(metric), references, scored)
    if type(metric) is not BLEU:
        scored = [scored[i] for i in _highest(scores)[:SHORTLIST]]
        values = [score_of(metric, text, references, weights) for text in scored]
        scores = np.array(values)
    order = _highest(scores)
    best = order[0] if order else 0
    text = scored[best]
    holders = [row for row in references if _plain(text) in map(_plain, row)]
    return Search(
        text=text,
        score=float(scores[best]),
        in_references=len(holders),
        n_candidates=n_candidates,
        n_scored=len(scored),
    )


def score_of(
    metric: Metric,
    text: str,
    references: References,
    weights: Sequence[Sequence[float]] = (),
) -> float:
    """The metric's corpus score of one text as the output for every item, by scoring it."""
    return metric.score(repeated(text, references, weights)).corpus


def repeated(
    text: str, references: References, weights: Sequence[Sequence[float]] = ()
) -> Outputs:
    """One text as the output for every item."""
    n = len(references)
    return Outputs(
        ids=numbered(n),
        texts=(text,) * n,
        references=tuple(map(tuple, references)),
        weights=tuple(map(tuple, weights)),
    )


def sentence_probe(metric: Metric, material: StressItems, plan: StressPlan) -> Probe:
    """One training sentence as the output for every item (Table 5).

    Raises:
        UsageError: an estimator, no training set, or no references.
    """
    items = material.items
    if isinstance(metric, Estimated):
        raise UsageError("an estimate does not depend on the item; see 'stuffing'")
    if not plan.train:
        raise UsageError(f"it searches a training set: give {called('train')}")
    if not items.references:
        raise UsageError("it needs references")
    best = search(metric, items.references, plan.train, items.weights)
    row = Row(label="one sentence", text=best.text, in_references=best.in_references)
    honest = metric.score(material.outputs())
    repeats = metric.score(with_texts(items, [best.text] * len(items)))
    base = (Row(label=material.first), rounds(honest))
    rows = rows_of(base, [(row, rounds(repeats))], plan)
    verdict, fooled = _verdict(rows[0], rows[1], len(items))
    every = best.n_scored == best.n_candidates
    how = "all scored" if every else f"the {best.n_scored} highest by BLEU scored"
    return Probe(
        name="sentence",
        about=f"One of {best.n_candidates:,} training sentences for every item; {how}.",
        rows=rows,
        verdict=verdict,
        fooled=fooled,
    )


def _verdict(base: Row, best: Row, n: int) -> tuple[str, bool | None]:
    if best.score != best.score or base.score != base.score or base.score <= 0:
        return "Undefined: the outputs have no score to compare with.", None
    share = best.score / base.score
    where = (
        f"in {best.in_references} of {n}" if best.in_references else "in no references"
    )
    verdict = (
        f"'{best.text}' for every item scores {best.score:.4g}, {percent_of(share)} of the score "
        f"of {base.label} ({where})"
    )
    if share >= GOOD_ENOUGH:
        return f"{verdict}: a text that says nothing of its item passes.", True
    return f"{verdict}.", False


def _by_bleu(metric: BLEU, references: References, texts: Sequence[str]) -> FloatArray:
    constant = ConstantBLEU(metric, references)
    blocks = [texts[begin : begin + BLOCK] for begin in range(0, len(texts), BLOCK)]
    return np.concatenate([constant.scores(constant.read(block)) for block in blocks])


def _bleu_of(metric: Metric) -> BLEU:
    """The metric if it is BLEU, else BLEU on its tokens, for its shortlist."""
    if type(metric) is BLEU:
        return metric
    plain = BLEU()
    tokenize = getattr(metric, "tokenize", plain.tokenize)
    return BLEU(
        tokenize=tokenize, lowercase=getattr(metric, "lowercase", plain.lowercase)
    )


def _highest(scores: FloatArray) -> list[int]:
    """Places of defined scores, best first, the earlier of two equal ones first."""
    rounded = np.round(scores, 10)  # rounding errors must not break ties
    return [
        int(i) for i in np.argsort(-rounded, kind="stable") if not np.isnan(scores[i])
    ]


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
