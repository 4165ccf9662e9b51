"""What the network's last numbers mean: a rating, or classifiers of its levels (section 2.1).

Levels and ratings are standardised. `number`: the rating itself. `ordered`: for each level but the
lowest whether the rating reaches it; the estimate is the expected level. `levels`: for each level
whether it is the rating's; the estimate is the mean level, weighted by what the classifiers say.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus


def outputs(target: str, levels: int) -> int:
    """Numbers that the network ends in."""
    return {"number": 1, "ordered": levels - 1, "levels": levels}[target]


def estimates(values: Tensor, target: str, levels: Tensor) -> Tensor:
    """[m, b] ratings out of the network's last numbers [m, b, outputs]; levels [k] ascend."""
    if target == "number":
        return values[..., 0]
    chances = values.sigmoid()
    if target == "ordered":
        return levels[0] + chances @ levels.diff()
    return (chances @ levels) / chances.sum(dim=-1).clamp(min=1e-9)


def losses(values: Tensor, y: Tensor, target: str, levels: Tensor) -> Tensor:
    """[m, b] squared errors, or the sum of the classifiers' cross-entropies."""
    if target == "number":
        return (values[..., 0] - y).square()
    if target == "ordered":
        middles = (levels[1:] + levels[:-1]) / 2
        right = (y[..., None] >= middles).to(values.dtype)
    else:
        nearest = (y[..., None] - levels).abs().argmin(dim=-1)
        right = torch.nn.functional.one_hot(nearest, len(levels)).to(values.dtype)
    return binary_cross_entropy_with_logits(values, right, reduction="none").sum(dim=-1)


def misranked(found: Tensor, y: Tensor, there: Tensor, source: Tensor) -> Tensor:
    """[m] mean logistic loss over pairs of rows with one source and different ratings; 0 of none.

    Args:
        found, y: [m, b] estimates and ratings.
        there: [m, b] whether a row is one.
        source: [m, t, b] its source's tokens.
    """
    same = (source[:, :, :, None] == source[:, :, None, :]).all(dim=1)
    better = same & (y[:, :, None] > y[:, None, :]) & there[:, :, None] & there[:, None, :]
    loss = softplus(found[:, None, :] - found[:, :, None]) * better
    return loss.sum(dim=(1, 2)) / better.sum(dim=(1, 2)).clamp(min=1)
