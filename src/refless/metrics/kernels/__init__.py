"""Similarities k(x, s) of an output x to a rated text s. KERNELS is the registry, by name."""

from typing import cast

from refless.metrics.kernels.bertscore import BertScore
from refless.metrics.kernels.bleu import BleuStar
from refless.metrics.kernels.meteor import Meteor
from refless.metrics.kernels.protocol import Kernel, Prepared
from refless.metrics.kernels.rouge import RougeL
from refless.registry.spec import made

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
