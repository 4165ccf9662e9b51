"""What training starts from, and how it stands."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from refless.extensions.ratpred.batches import Encoded
from refless.registry.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainingData:
    """What one network learns from.

    Attributes:
        seed: of what is drawn.
        rated: rated texts; validation: those that choose the epoch to keep.
        synthetic: all data of the first epochs, the rated included; None without synthetic errors.
        sizes: entries in the dictionary of each side.
        vectors: for each side [entries, e] vectors that words begin with, NaN for the others.
    """

    seed: int
    rated: Encoded
    validation: Encoded
    synthetic: Encoded | None
    sizes: Mapping[str, int]
    vectors: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """What one epoch did; correlations are NaN where undefined."""

    number: int
    synthetic: bool
    loss: float
    pearson: float
    spearman: float
    best: bool


@dataclass(slots=True)
class State:
    """How training stands: the best score and the epoch of it, from 0.

    `number` epochs are done; `history` tells of each.
    """

    best: float = -math.inf
    best_epoch: int = 0
    number: int = 0
    history: list[Epoch] = field(default_factory=list)
