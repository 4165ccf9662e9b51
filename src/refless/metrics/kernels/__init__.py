"""Similarities k(x, s) of an output x to a rated text s. KERNELS is the registry, by name."""

from typing import cast

from refless.metrics.kernels.protocol import Kernel
from refless.registry.offered import Registry
from refless.registry.spec import made

KERNELS: Registry[type[Kernel]] = Registry(
    "kernels",
    {
        "bleu*": "refless.metrics.kernels.bleu:BleuStar",
        "rouge-l": "refless.metrics.kernels.rouge:RougeL",
        "meteor": "refless.metrics.meteor:Meteor",
        "bertscore": "refless.metrics.bertscore:BertScore",
    },
)


def kernel_of(kernel: str | Kernel) -> Kernel:
    """The kernel that a specification names (`bleu*:orders=1-4`); a kernel passes through.

    Raises:
        UsageError: an unknown kernel or parameter, or a value that cannot be honoured.
    """
    return cast("Kernel", made(kernel, KERNELS, "kernel"))


__all__ = [
    "KERNELS",
    "Kernel",
    "kernel_of",
]
