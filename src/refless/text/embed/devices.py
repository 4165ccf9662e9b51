"""The device that a network runs on: the processor, or a graphics card by CUDA."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from refless.registry.errors import UsageError
from refless.registry.spec import About

AUTO = "auto"
CPU = "cpu"
CUDA = "cuda"
FLOAT32 = "float32"
DEVICE = About(
    "where networks run; auto: a graphics card if there is one",
    choices=(AUTO, CPU, CUDA),
)
PRECISION = About(
    "of an encoder's numbers; bfloat16: faster, three digits",
    choices=(FLOAT32, "bfloat16"),
)


def device_of(name: str) -> str:
    """`cpu` or `cuda`.

    Raises:
        UsageError: a graphics card is asked for, and there is none.
    """
    if name != CPU and _has_card():
        return CUDA
    if name == CUDA:
        raise UsageError(
            "there is no device 'cuda' here: torch finds no graphics card; use auto or cpu"
        )
    return CPU


def _has_card() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def all_digits(device: str) -> AbstractContextManager[None]:
    """While it lasts, cuDNN has all 24 bits of float32 (its own default is TF32, with 11)."""
    import torch

    if device == CPU:
        return nullcontext()
    exact: AbstractContextManager[None] = torch.backends.cudnn.flags(
        enabled=True, deterministic=True, allow_tf32=False
    )
    return exact
