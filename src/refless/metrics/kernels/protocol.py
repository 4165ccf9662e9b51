"""The protocol of kernels for estimators."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

from refless.metrics.kernels.dense import Dense


class Kernel(Protocol):
    """A similarity with its settings; parameters are dataclass fields, by keyword.

    Attributes:
        name: its name in KERNELS.
        default_tau: the threshold that was published for it.
    """

    name: ClassVar[str]
    default_tau: ClassVar[float]

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The kernel, ready to compare outputs with these rated texts."""
        ...

    def settings(self) -> dict[str, object]:
        """The settings that belong in a signature."""
        ...
