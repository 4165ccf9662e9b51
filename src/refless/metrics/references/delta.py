"""Discriminative BLEU, delta-BLEU (Galley et al. 2015): references weighted by people."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.metrics.bleu import bleu_of_sums
from refless.metrics.references.bleu import BLEU, scores_of, signature_of
from refless.metrics.references.counting import Counting, statistics
from refless.metrics.references.protocol import Scores, check_weights
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
        drop_unweighted: outputs without a positively weighted reference are left out (NaN)
            instead of being an error.
    """

    name: ClassVar[str] = "delta-bleu"
    needs: ClassVar[tuple[str, ...]] = ("references", "weights")

    variant: Annotated[str, About("of the weighted counts", choices=VARIANTS)] = "equation"
    drop_unweighted: Annotated[bool, About("drop outputs without a positive weight")] = False

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs against their weighted references.

        Raises:
            InputError: as BLEU; a weight that is missing or outside [-1, 1]; an output without a
                positive weight, unless these are dropped.
        """
        check_weights(outputs)
        rows = [i for i, weights in enumerate(outputs.weights) if max(weights) > 0]
        if not rows or (len(rows) < len(outputs) and not self.drop_unweighted):
            raise _no_positive_weight(outputs, len(outputs) - len(rows))
        counts = np.zeros((len(outputs), 2 + 2 * self.order))
        counts[rows] = statistics(outputs.take(rows), self._counting())
        scores = scores_of(counts, partial(bleu_of_sums, smoothing=self._smoothing()))
        segments = np.full(len(outputs), np.nan)
        segments[rows] = scores.segments[rows]
        return replace(scores, segments=segments)

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        own = signature_of(self.name, self._counting(), self._smoothing())
        return own.plus(variant=self.variant, drop=self.drop_unweighted, v=__version__)

    def _counting(self) -> Counting:
        return replace(super()._counting(), by_code=self.variant == "code")


def _no_positive_weight(outputs: Outputs, n: int) -> InputError:
    name = next(
        name for name, row in zip(outputs.ids, outputs.weights, strict=True) if max(row) <= 0
    )
    more = f" (nor have {n - 1} others)" if n > 1 else ""
    return InputError(
        f"output '{name}' has no reference with a positive weight{more}",
        remedy="rate more references, or leave such outputs out with drop_unweighted=yes",
    )
