"""Discriminative BLEU, delta-BLEU (Galley et al. 2015): references weighted by people."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from refless.data.records import Outputs
from refless.extensions.metrics.bleu import BLEU, scores_of, signature_of
from refless.extensions.metrics.counting import Counting, statistics
from refless.extensions.metrics.references import check_weights
from refless.metrics.protocol import Scores
from refless.registry.errors import InputError
from refless.registry.signature import Signature
from refless.registry.spec import About
from refless.registry.version import __version__

VARIANTS = ("equation", "code")


@dataclass(frozen=True, kw_only=True)
class DeltaBLEU(BLEU):
    """Multi-reference BLEU whose references carry weights in [-1, 1].

    A match is worth the weight of the best reference that holds the n-gram, which may be negative;
    an order whose sum is negative counts as without a match; the totals are multiplied by the
    output's highest weight. All weights 1 is BLEU; the best reference itself scores 100.

    Attributes:
        variant: `equation` takes the maximum of weight * clipped count, as the paper prints it;
            `code` the highest weight among references with the n-gram, times its count clipped by
            the highest count in any of them, as the author's later code does. They differ only
            where an n-gram repeats.
    """

    name: ClassVar[str] = "delta-bleu"
    needs: ClassVar[tuple[str, ...]] = ("references", "weights")

    variant: Annotated[str, About("of the weighted counts", choices=VARIANTS)] = (
        "equation"
    )

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs against their weighted references.

        Raises:
            InputError: as BLEU; a weight that is missing or outside [-1, 1]; an output without a
                positive weight.
        """
        check_weights(outputs)
        pairs = zip(outputs.ids, outputs.weights, strict=True)
        names = [name for name, weights in pairs if max(weights) <= 0]
        if names:
            more = f" (nor have {len(names) - 1} others)" if len(names) > 1 else ""
            raise InputError(
                f"output '{names[0]}' has no reference with a positive weight{more}",
                remedy="rate more references, or leave such outputs out",
            )
        counts = statistics(outputs, self._counting())
        return scores_of(counts, self._smoothing())

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        own = signature_of(self.name, self._counting(), self._smoothing())
        return own.plus(variant=self.variant, v=__version__)

    def _counting(self) -> Counting:
        return replace(super()._counting(), by_code=self.variant == "code")
