"""Similarities k(x, s) of an output x to a rated text s."""

from __future__ import annotations

from dataclasses import dataclass, fields

from refless.errors import UsageError
from refless.kernels.bertscore import RANDOM, BertScore
from refless.kernels.bleu import BleuStar
from refless.kernels.meteor import Meteor
from refless.kernels.protocol import Kernel, Prepared
from refless.kernels.rouge import RougeL
from refless.kernels.weighing import Weighing
from refless.ngrams import Shape

KERNELS: dict[str, type[BleuStar | RougeL | Meteor | BertScore]] = {
    "bleu*": BleuStar,
    "rouge-l": RougeL,
    "meteor": Meteor,
    "bertscore": BertScore,
}
PARAMETERS = {  # which parameters each kernel heeds
    "bleu*": ("tokenize", "orders", "clip", "stop_words", "rarity"),
    "rouge-l": ("tokenize",),
    "meteor": (),
    "bertscore": ("model", "layer", "baseline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelParameters:
    """The parameters of all kernels, as estimators and the command line hold them.

    Attributes:
        tokenize: tokens of bleu* (None: char) and rouge-l (None: words).
        orders, clip: lowest and highest n-gram order, and clipping, of bleu*.
        stop_words, rarity: of bleu*, see `kernels.weighing`.
        model, layer, baseline: of bertscore.
    """

    tokenize: str | None = None
    orders: tuple[int, int] = (2, 4)
    clip: bool = True
    stop_words: str | None = None
    rarity: bool = False
    model: str | None = None
    layer: int | None = None
    baseline: str = RANDOM


def kernel_of(name: str, parameters: KernelParameters) -> BleuStar | RougeL | Meteor | BertScore:
    """The kernel of that name, made of the parameters that concern it.

    Raises:
        UsageError: no such kernel, a parameter that cannot be honoured, or one that this kernel
            does not heed and that is not at its default.
    """
    if name not in KERNELS:
        raise UsageError(f"kernel must be one of {', '.join(KERNELS)}")
    plain = KernelParameters()
    for field in fields(KernelParameters):
        given = getattr(parameters, field.name)
        if field.name not in PARAMETERS[name] and given != getattr(plain, field.name):
            raise UsageError(f"kernel {name} has no {field.name}; got {field.name}={given!r}")
    if name == "rouge-l":
        return RougeL(tokenize=parameters.tokenize or "words")
    if name == "meteor":
        return Meteor()
    if name == "bertscore":
        return BertScore(
            model=parameters.model, layer=parameters.layer, baseline=parameters.baseline
        )
    low, high = parameters.orders
    tokens = parameters.tokenize or "char"
    shape = Shape(tokenize=tokens, low=low, high=high, clip=parameters.clip)
    return BleuStar(shape, Weighing(stop_words=parameters.stop_words, rarity=parameters.rarity))


__all__ = [
    "KERNELS",
    "PARAMETERS",
    "BertScore",
    "BleuStar",
    "Kernel",
    "KernelParameters",
    "Meteor",
    "Prepared",
    "RougeL",
    "kernel_of",
]
