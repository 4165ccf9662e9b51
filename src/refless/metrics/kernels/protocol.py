"""What an estimator needs of a kernel."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

from refless.metrics.matching import PLAIN, Sums, WeightedSums, Work
from refless.registry.arrays import FloatArray, IntArray


class Prepared(Protocol):
    """A kernel that has read the rated texts."""

    def lengths(self, texts: Sequence[str]) -> IntArray:
        """[texts] number of tokens."""
        ...

    def shortest(self) -> int:
        """Fewest tokens with which a text can resemble another."""
        ...

    def neighbor_sums(
        self, texts: Sequence[str], values: IntArray, taus: FloatArray, work: Work = PLAIN
    ) -> Sums:
        """Count and sum of values of the rated texts with similarity >= tau, for every tau."""
        ...

    def weighted_sums(
        self, texts: Sequence[str], values: FloatArray, tau: float, power: float, work: Work = PLAIN
    ) -> WeightedSums:
        """The same for one tau, each rated text weighing similarity**power."""
        ...

    def similarities(self, texts: Sequence[str], work: Work = PLAIN) -> FloatArray:
        """[texts, rated texts] similarity of every pair, -1 where a text must not see the other."""
        ...

    def shared(self, text: str, rated: str) -> tuple[str, ...]:
        """What an output and a rated text have in common, longest first."""
        ...


class Kernel(Protocol):
    """A similarity with its settings; parameters are dataclass fields, by keyword.

    Attributes:
        name: its name in KERNELS.
        default_tau: the threshold that was published for it.
    """

    name: ClassVar[str]
    default_tau: ClassVar[float]

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """The kernel, ready to compare outputs with these rated texts."""
        ...

    def settings(self) -> dict[str, object]:
        """What belongs in a signature."""
        ...
