"""METEOR against references."""

from dataclasses import dataclass
from typing import ClassVar

from refless.data.records import Outputs
from refless.extensions.metrics.references import check_references
from refless.metrics.meteor import SETTINGS, jar, meteor_score, meteor_statistics
from refless.metrics.protocol import Metric, Scores
from refless.registry.errors import RefLessError
from refless.registry.signature import Signature
from refless.registry.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class METEOR(Metric):
    """METEOR in [0, 1] against the best reference.

    The corpus score is made of the summed statistics of all outputs, as in coco-caption.
    """

    name: ClassVar[str] = "meteor"
    needs: ClassVar[tuple[str, ...]] = ("references",)

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs.

        Raises:
            InputError: an output without references, or references in another shape.
            MissingExtraError, UsageError: there is nothing that computes METEOR.
        """
        check_references(outputs)
        counts = meteor_statistics(outputs.texts, outputs.references)
        return Scores(
            segments=meteor_score(counts),
            corpus=float(meteor_score(counts.sum(axis=0))),
            statistics=counts,
            combine=meteor_score,
        )

    def signature(self) -> Signature:
        """The version of METEOR, and its settings."""
        return Signature(self.name).plus(**SETTINGS, v=__version__)

    @classmethod
    def missing(cls) -> str:
        """The package or program to install; "" where METEOR runs."""
        try:
            jar()
        except RefLessError as lacking:
            return str(lacking)
        return ""
