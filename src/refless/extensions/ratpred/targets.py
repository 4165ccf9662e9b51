"""What the network's last numbers mean: a rating, or classifiers of its levels (section 2.1).

Levels and ratings are standardised. `number`: the rating itself. `ordered`: for each level but the
lowest whether the rating reaches it; the estimate is the expected level. `levels`: for each level
whether it is the rating's; the estimate is the mean level, weighted by what the classifiers say.
"""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus


def outputs(target: str, levels: int) -> int:
    """Numbers that the network ends in."""
    return {"number": 1, "ordered": levels - 1, "levels": levels}[target]


def estimates(values: Tensor, target: str, levels: Tensor) -> Tensor:
    """[b] ratings out of the network's last numbers [b, outputs]; levels [k] ascend."""
    if target == "number":
        return values[..., 0]
    chances = values.sigmoid()
    if target == "ordered":
        return levels[0] + chances @ levels.diff()
    return (chances @ levels) / chances.sum(dim=-1).clamp(min=1e-9)


def losses(values: Tensor, y: Tensor, target: str, levels: Tensor) -> Tensor:
    """[b] squared errors, or the sum of the classifiers' cross-entropies."""
    if target == "number":
        return (values[..., 0] - y).square()
    if target == "ordered":
        middles = (levels[1:] + levels[:-1]) / 2
        right = (y[..., None] >= middles).to(values.dtype)
    else:
        nearest = (y[..., None] - levels).abs().argmin(dim=-1)
        right = torch.nn.functional.one_hot(nearest, len(levels)).to(values.dtype)
    return binary_cross_entropy_with_logits(values, right, reduction="none").sum(dim=-1)


def misranked(found: Tensor, y: Tensor, source: Tensor) -> Tensor:
    """Mean logistic loss over pairs of rows with one source and different ratings; 0 of none.

    Args:
        found, y: [b] estimates and ratings.
        source: [b, t] each row's source as tokens.
    """
    same = (source[:, None] == source[None]).all(dim=2)
    better = same & (y[:, None] > y[None])
    loss = softplus(found[None] - found[:, None]) * better
    return loss.sum() / better.sum().clamp(min=1)
