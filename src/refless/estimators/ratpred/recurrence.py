"""A gated recurrent unit for many networks at once, with its gradient written out.

Every array begins with the member it belongs to. The gradient of the recurrent weights is one
product over all time steps, which is why this is quicker than a unit that is unrolled step by step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

STAY = 1e4  # as a gate's input: the gate is exactly 1 and the state stays as it is


class _Recurrence(torch.autograd.Function):
    """Gates' inputs [m, t, b, 3h] (reset, update, new), weights [m, h, 3h], bias [m, 1, 3h].

    r, z = sigmoid(x + U h + b), n = tanh(x + r (U h + b)), h' = n + z (h - n); h starts at 0.
    """

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weights: Tensor, bias: Tensor) -> Tensor:  # noqa: ANN401
        members, steps, batch, width = gates.shape
        size = width // 3
        states = gates.new_zeros(steps + 1, members, batch, size)
        hidden = gates.new_empty(steps, members, batch, width)
        opened = gates.new_empty(steps, members, batch, 2 * size)
        fresh = gates.new_empty(steps, members, batch, size)
        for t in range(steps):
            x, g = gates[:, t], hidden[t]
            torch.baddbmm(bias, states[t], weights, out=g)
            torch.add(x[..., : 2 * size], g[..., : 2 * size], out=opened[t]).sigmoid_()
            reset, update = opened[t][..., :size], opened[t][..., size:]
            torch.addcmul(x[..., 2 * size :], reset, g[..., 2 * size :], out=fresh[t]).tanh_()
            torch.lerp(fresh[t], states[t], update, out=states[t + 1])
        ctx.save_for_backward(weights, states, hidden, opened, fresh)
        return states[steps].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # noqa: ANN401
        weights, states, hidden, opened, fresh = ctx.saved_tensors
        steps, members, batch, width = hidden.shape
        size = width // 3
        reset, update = opened[..., :size], opened[..., size:]
        into_new = (1 - update) * (1 - fresh * fresh)  # d h' / d (input of n)
        factors = torch.empty_like(hidden).view(steps, members, batch, 3, size)
        torch.mul(into_new * hidden[..., 2 * size :], reset * (1 - reset), out=factors[..., 0, :])
        torch.mul(states[:-1] - fresh, update * (1 - update), out=factors[..., 1, :])
        torch.mul(into_new, reset, out=factors[..., 2, :])
        slopes = torch.empty_like(states[1:])  # gradient of each state
        turned = weights.transpose(1, 2)
        gradient = gradient.contiguous()
        for t in range(steps - 1, -1, -1):
            slopes[t].copy_(gradient)
            factors[t].mul_(gradient[:, :, None, :])
            carried = gradient * update[t]
            gradient = torch.baddbmm(carried, factors[t].view(members, batch, width), turned)
        inner = factors.view(steps, members, batch, width).transpose(0, 1)
        flat = inner.reshape(members, steps * batch, width)
        before = states[:-1].transpose(0, 1).reshape(members, steps * batch, size)
        outer = inner.clone()
        torch.mul(slopes, into_new, out=slopes)
        outer[..., 2 * size :] = slopes.transpose(0, 1)
        return outer, before.transpose(1, 2) @ flat, flat.sum(dim=1, keepdim=True)


def last_state(gates: Tensor, weights: Tensor, bias: Tensor, padding: Tensor) -> Tensor:
    """[m, b, h] the unit's state after the last token of each sequence.

    Args:
        gates: [m, t, b, 3h] the inputs' share in the gates reset, update, new.
        weights, bias: [m, h, 3h] and [m, 1, 3h], the state's share.
        padding: [m, t, b] where a sequence has ended: its state stays.
    """
    size = gates.shape[-1] // 3
    reset, update, new = torch.split(gates, size, dim=-1)
    update = update.masked_fill(padding[..., None], STAY)
    joined = torch.cat((reset, update, new), dim=-1)
    state: Tensor = _Recurrence.apply(joined, weights, bias)  # type: ignore[no-untyped-call]
    return state
