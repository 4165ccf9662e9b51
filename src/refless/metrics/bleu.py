"""BLEU's arithmetic: n-gram counts of tokens, brevity penalty, statistics -> BLEU.

Of the smoothings `none`, `floor`, `add-k` and `exp` are sacrebleu's (Chen & Cherry 2014, methods 0
to 3); `coco` is what coco-caption computes: constants so tiny that they only keep logs finite.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.errors import UsageError

SMOOTHINGS: dict[str, float | None] = {  # name -> its default value
    "exp": None,
    "none": None,
    "floor": 0.1,
    "add-k": 1.0,
    "coco": None,
}
NOTHING = 1e-9  # a sum of weights that cancel out ends this near 0
COCO_TINY = 1e-15
COCO_SMALL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoothing:
    """The smoothing with which precisions become a score.

    Attributes:
        name: one of SMOOTHINGS.
        value: what `floor` puts for no match, what `add-k` adds; None for the default.
    """

    name: str = "exp"
    value: float | None = None

    def __post_init__(self) -> None:
        if self.name not in SMOOTHINGS:
            raise UsageError(
                f"no smoothing '{self.name}'; there are {', '.join(SMOOTHINGS)}"
            )
        if self.value is not None and SMOOTHINGS[self.name] is None:
            raise UsageError(
                f"smoothing '{self.name}' takes no value, got {self.value:g}"
            )
        if self.value is not None and not 0 < self.value < math.inf:
            raise UsageError(
                f"the smoothing's value must be above 0, got {self.value:g}"
            )

    @property
    def amount(self) -> float | None:
        """The value in force."""
        return SMOOTHINGS[self.name] if self.value is None else self.value


def gram_counts(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """The count of each n-gram."""
    starts = range(len(tokens) - n + 1)
    return Counter(tuple(tokens[i : i + n]) for i in starts)


def bleu_of_sums(
    sums: FloatArray, smoothing: Smoothing, *, single: bool = False
) -> FloatArray:
    """[...] BLEU, 0 to 100, out of sums of statistics [..., 2 + 2 * order].

    An order whose weighted sum of matches is negative counts as without a match.

    Args:
        sums: length, closest reference length, matches and totals by order.
        smoothing: how precisions become a score.
        single: whether each is one text by itself. Orders that are longer than the text are then
            left out, as sacrebleu does for sentences (its effective order); with them a text of
            three words could have no score but 0.
    """
    order = (sums.shape[-1] - 2) // 2
    matched = np.where(
        sums[..., 2 : 2 + order] > NOTHING, sums[..., 2 : 2 + order], 0.0
    )
    total = sums[..., 2 + order :]
    if smoothing.name == "coco":
        return _coco(sums[..., 0], sums[..., 1], matched, total)
    logs = log_precisions(matched, total, smoothing)
    counted = np.ones(total.shape, dtype=np.bool_)
    if single:
        counted = _defined(total, smoothing)
    mean = np.where(counted, logs, 0.0).sum(axis=-1) / np.maximum(
        counted.sum(axis=-1), 1
    )
    score = 100 * brevity_penalty(sums[..., 0], sums[..., 1]) * np.exp(mean)
    return np.asarray(np.where((matched > 0).any(axis=-1), score, 0.0))


def brevity_penalty(
    length: FloatArray | IntArray, reference: FloatArray | IntArray
) -> FloatArray:
    """exp(1 - reference / length) for shorter outputs, else 1 (equation 2); 0 for empty ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        short = np.where(length > 0, np.exp(1 - reference / length), 0.0)
    return np.where(length < reference, short, 1.0)


def log_precisions(
    matched: FloatArray, total: FloatArray, smoothing: Smoothing
) -> FloatArray:
    """Logarithms of the precisions, -inf for 0."""
    amount = smoothing.amount
    defined = _defined(total, smoothing)
    matched = matched + _added(matched.shape[-1], smoothing)
    total = total + _added(total.shape[-1], smoothing)
    none = defined & (matched == 0)
    if smoothing.name == "exp":
        matched = np.where(none, 0.5 ** np.cumsum(none, axis=-1), matched)
    elif smoothing.name == "floor" and amount is not None:
        matched = np.where(none, amount, matched)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, np.log(matched) - np.log(total), -np.inf)


def _added(order: int, smoothing: Smoothing) -> FloatArray:
    """[order] what `add-k` adds to matches and totals of every order above 1; 0 of others."""
    added = np.zeros(order)
    if smoothing.name == "add-k" and smoothing.amount is not None:
        added[1:] = smoothing.amount
    return added


def _defined(total: FloatArray, smoothing: Smoothing) -> BoolArray:
    """[..., order] whether this order, and every lower one, has an n-gram to be right about."""
    totals = total + _added(total.shape[-1], smoothing)
    return np.asarray(np.logical_and.accumulate(totals > 0, axis=-1))


def _coco(
    length: FloatArray, reference: FloatArray, matched: FloatArray, total: FloatArray
) -> FloatArray:
    product = ((matched + COCO_TINY) / (total + COCO_SMALL)).prod(axis=-1)
    ratio = (length + COCO_TINY) / (reference + COCO_SMALL)
    penalty = np.exp(1 - 1 / np.minimum(ratio, 1.0))
    return np.asarray(100 * penalty * product ** (1 / matched.shape[-1]))
