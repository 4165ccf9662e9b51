"""Fixed predictions as a trial, for tests of what is made of trials."""

from __future__ import annotations

import numpy as np

from refless.estimators.scorer import Held
from refless.evaluation.jackknife import Deal, Trial
from refless.registry.arrays import FloatArray, IntArray


def deal_of(human: FloatArray, groups: IntArray | None = None, parts: int = 20) -> Deal:
    """Five blocks and so many parts, of groups in the order of their numbers."""
    numbers = np.arange(len(human)) if groups is None else groups
    return Deal(
        human=human, groups=numbers, blocks=numbers % 5, part=1 + numbers % parts, parts=parts
    )


def fixed(human: FloatArray, values: FloatArray, groups: IntArray | None = None) -> Trial:
    """A method that learns nothing."""
    return Trial(deal_of(human, groups), (Held(values, values),))
