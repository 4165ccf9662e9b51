"""METEOR: METEOR 1.5 in Java, or NLTK's."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from refless.data.records import Outputs
from refless.metrics.references.protocol import Scores, averaged, check_references
from refless.metrics.similarities.meteor import (
    Implementation,
    implementation,
    meteor,
    meteor_score,
    meteor_statistics,
    settings_of,
)
from refless.registry.errors import RefLessError
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class Meteor:
    """METEOR in [0, 1] against the best reference.

    METEOR 1.5's corpus score is made of the summed statistics of all outputs, as in coco-caption;
    NLTK's is the mean over outputs.

    Attributes:
        implementation: `jar` or `nltk`; None takes what is there, the jar first.
    """

    name: ClassVar[str] = "meteor"
    needs: ClassVar[tuple[str, ...]] = ("references",)

    implementation: Annotated[
        Implementation | None, About("which METEOR; none: what is there, the jar first")
    ] = None

    def __post_init__(self) -> None:
        check(self)

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs.

        Raises:
            InputError: an output without references, or references in another shape.
            MissingExtraError, UsageError: there is nothing that computes METEOR.
        """
        check_references(outputs)
        if implementation(self.implementation) == "nltk":
            return averaged(meteor(outputs.texts, outputs.references, "nltk"))
        counts = meteor_statistics(outputs.texts, outputs.references)
        return Scores(
            segments=meteor_score(counts),
            corpus=float(meteor_score(counts.sum(axis=0))),
            statistics=counts,
            combine=meteor_score,
        )

    def signature(self) -> Signature:
        """Which METEOR, and its settings."""
        settings = settings_of(implementation(self.implementation))
        return Signature(self.name).plus(**settings, v=__version__)

    @classmethod
    def missing(cls) -> str:
        """What to install; "" where METEOR runs."""
        try:
            implementation()
        except RefLessError as lacking:
            return str(lacking)
        return ""
