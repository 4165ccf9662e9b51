"""A trained model, how it agrees with people, and how each of its networks got there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refless.data.records import Predictions, numbered
from refless.evaluation.held_out import Agreement, agreement
from refless.registry.signature import Signature
from refless.stats.resampling import RESAMPLES

if TYPE_CHECKING:
    from refless.extensions.ratpred.model import Model

Told = Mapping[str, Any]  # one epoch of one network, as a model keeps it


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Trained:
    """A trained model and where it lies.

    Attributes:
        path: file of the model; model: what is in it.
        agreement: with people, on the validation split.
        size: rated texts; references: people's texts added to them.
        signature: everything that can change its estimates.
        seed: of what is drawn besides.
    """

    path: str
    model: Model
    agreement: Agreement
    size: int
    references: int
    signature: Signature
    seed: int

    @property
    def signed(self) -> Signature:
        """The signature with how intervals are made."""
        return self.signature.plus(ci=self.agreement.interval_method)


def kept_aside(model: Model, seed: int) -> Agreement:
    """How a model agrees with people on the validation split, which chose its epochs."""
    human, values = model.validation
    judged = Predictions(
        id=numbered(len(human)), human=human, predicted=values, reason=("",) * len(human)
    )
    return agreement(judged, seed=seed, resamples=RESAMPLES)


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """How one network's training went: its epochs in order, and the place of the one kept."""

    epochs: Sequence[Told]
    kept: int

    @property
    def synthetic(self) -> int:
        """How many of the epochs, the first ones, learned from synthetic errors too."""
        return sum(told["synthetic"] for told in self.epochs)


def courses(model: Model) -> list[Course]:
    """Each network's course."""
    found = []
    for network in sorted({told["network"] for told in model.history}):
        own = [told for told in model.history if told["network"] == network]
        found.append(Course(own, max(i for i, told in enumerate(own) if told["best"])))
    return found
