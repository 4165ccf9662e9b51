"""METEOR as a kernel: an output (hypothesis) against a rated text (its only reference)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, ClassVar

from refless.metrics.kernels.dense import Dense, Rows
from refless.metrics.similarities.meteor import Implementation, implementation, meteor, settings_of
from refless.registry.arrays import FloatArray
from refless.registry.spec import About, check


@dataclass(frozen=True, slots=True, kw_only=True)
class Meteor:
    """METEOR with the output as the candidate and the rated text as its only reference.

    Attributes:
        implementation: `jar` or `nltk`; None takes what is there, the jar first.
    """

    name: ClassVar[str] = "meteor"
    default_tau: ClassVar[float] = 0.18

    implementation: Annotated[
        Implementation | None, About("which METEOR; none: what is there, the jar first")
    ] = None

    def __post_init__(self) -> None:
        check(self)

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts; nothing is computed yet.

        Raises:
            MissingExtraError, UsageError: there is nothing that computes METEOR.
        """
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=texts, which=implementation(self.implementation)),
            parallel=False,  # one Java process answers
        )

    def settings(self) -> dict[str, object]:
        """Which METEOR."""
        return settings_of(implementation(self.implementation))


def _rows(texts: Sequence[str], *, rated: Sequence[str], which: Implementation) -> Rows:
    def block(begin: int, end: int) -> FloatArray:
        pairs = list(product(texts[begin:end], rated))
        scores = meteor([text for text, _ in pairs], [[known] for _, known in pairs], which)
        return scores.reshape(end - begin, len(rated))

    return block
