"""What training starts from, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from refless.estimators.ratpred.batches import Encoded
from refless.records import FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Member:
    """One network's data.

    Attributes:
        rated: what it learns from; development: what chooses the pass to keep.
        synthetic: all data of the first passes, the rated included; None without made errors.
        sizes: entries in the dictionary of each side.
        vectors: for each side [entries, e] vectors that words begin with, NaN for the others.
    """

    seed: int
    rated: Encoded
    development: Encoded
    synthetic: Encoded | None
    sizes: dict[str, int]
    vectors: Mapping[str, FloatArray] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What one pass did to one member; correlations are NaN where undefined."""

    member: int
    number: int
    synthetic: bool
    loss: float
    pearson: float
    spearman: float
    best: bool


@dataclass(slots=True, eq=False)
class State:
    """How training stands: for each member its best score and the pass of it, from 0.

    `number` passes are done; `curve` tells of each.
    """

    best: list[float]
    best_number: list[int]
    stopped: list[bool]
    number: int = 0
    curve: list[Pass] = field(default_factory=list)
