"""Similarities k(x, s) of an output x to a rated text s. KERNELS is the registry, by name."""

from typing import cast

from refless.kernels.bertscore import BertScore
from refless.kernels.bleu import BleuStar
from refless.kernels.meteor import Meteor
from refless.kernels.protocol import Kernel, Prepared
from refless.kernels.rouge import RougeL
from refless.spec import made

KERNELS: dict[str, type[Kernel]] = {
    "bleu*": BleuStar,
    "rouge-l": RougeL,
    "meteor": Meteor,
    "bertscore": BertScore,
}


def kernel_of(kernel: str | Kernel) -> Kernel:
    """The kernel that a specification names (`bleu*:orders=1-4`); a kernel passes through.

    Raises:
        UsageError: an unknown kernel or parameter, or a value that cannot be honoured.
    """
    return cast("Kernel", made(kernel, KERNELS, "kernel"))


__all__ = [
    "KERNELS",
    "BertScore",
    "BleuStar",
    "Kernel",
    "Meteor",
    "Prepared",
    "RougeL",
    "kernel_of",
]
