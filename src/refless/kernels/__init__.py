"""Similarities k(x, s) of an output x to a rated text s."""

from __future__ import annotations

from refless.kernels.bleu import BleuStar
from refless.kernels.protocol import Kernel, Prepared

KERNELS: dict[str, type[BleuStar]] = {"bleu*": BleuStar}

__all__ = ["KERNELS", "BleuStar", "Kernel", "Prepared"]
