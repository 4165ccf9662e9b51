"""The recurrent unit for one network on processors: sequences without their padding.

At each time only the sequences that still go on are computed. The gradient is written out as in
`recurrence`, which is the slow twin. Products of matrices may be taken with inputs of 8 bits of
mantissa (bfloat16), which processors that know these numbers multiply several times as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from refless.compiled.gates import close_gates, open_gates

ROUND = 64  # rows


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Sequences of a batch in order of time, and at each time the longest first.

    Attributes:
        tokens: [n] all that are there.
        counts: for each time how many sequences go on; their sum is n.
        places: [b] where each sequence lies in the order of length.
    """

    tokens: Tensor
    counts: tuple[int, ...]
    places: Tensor

    @classmethod
    def of(cls, tokens: Tensor) -> Packed:
        """From token ids [t, b], 0 after the end of a sequence."""
        order = torch.argsort((tokens > 0).sum(dim=0), descending=True, stable=True)
        ordered = tokens[:, order]
        there = ordered > 0
        counts = tuple(count for count in there.sum(dim=1).tolist() if count)
        return cls(ordered[there], counts, torch.argsort(order))

    def turned(self) -> Tensor:
        """[n] for each token the place of the one as far from the sequence's other end."""
        starts = torch.tensor((0, *self.counts)).cumsum(dim=0)
        times = torch.repeat_interleave(torch.tensor(self.counts, dtype=torch.int64))
        rows = torch.arange(len(self.tokens)) - starts[times]
        lengths = torch.bincount(rows)
        return starts[lengths[rows] - 1 - times] + rows


def product(a: Tensor, b: Tensor, narrow: bool) -> Tensor:
    """The product of two matrices in the numbers of the first, taken in bfloat16 if `narrow`."""
    if not narrow:
        return a @ b
    return (a.bfloat16() @ b.bfloat16()).to(a.dtype)


class _PackedRecurrence(torch.autograd.Function):
    """Vectors [n, e], weights [e, 3h] and [h, 3h], biases [3h] twice -> last states [b, h].

    With W, U, b, c: r, z = sigmoid(W x + b + U h + c), n = tanh(W x + b + r (U h + c)),
    h' = n + z (h - n); h starts at 0. The states come in the order of length.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        vectors: Tensor,
        inward: Tensor,
        onward: Tensor,
        bias: Tensor,
        onward_bias: Tensor,
        counts: tuple[int, ...],
        batch: int,
        narrow: bool,
    ) -> Tensor:
        size = onward.shape[0]
        given = _numbers(narrow, _lengthened(vectors), inward, onward)
        own = onward_bias.clone()
        own[2 * size :] = 0.0  # the state's bias in `new` is multiplied by a gate, others are not
        gates = (given[0] @ given[1]).to(vectors.dtype).add_(bias + own)
        before, inner, fresh = (gates.new_zeros(len(gates), size) for _ in range(3))
        opened = gates.new_empty(len(gates), 2 * size)
        state, begin = gates.new_zeros(batch, size), 0
        inside, last = onward_bias[2 * size :].numpy(), state.numpy()
        tables = [table.numpy() for table in (before, inner, fresh, opened)]
        for count in counts:
            at = slice(begin, begin + count)
            share = (state[:count].to(given[2].dtype) @ given[2]).to(gates.dtype)
            parts = (table[at] for table in tables)
            open_gates(gates[at].numpy(), share.numpy(), inside, last, *parts)
            begin += count
        ctx.save_for_backward(*given, before, inner, fresh, opened)
        ctx.counts = counts
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        vectors, inward, onward, before, inner, fresh, opened = ctx.saved_tensors
        size, kind = fresh.shape[1], vectors.dtype
        factors, slopes = fresh.new_zeros(len(fresh), 3 * size), torch.zeros_like(fresh)
        flat = torch.zeros_like(factors, dtype=kind)
        carried, end, turned = gradient.clone(), sum(ctx.counts), onward.t()
        tables = [table.numpy() for table in (before, inner, fresh, opened, factors, slopes)]
        for count in reversed(ctx.counts):
            at = slice(end - count, end)
            close_gates(carried.numpy(), *(table[at] for table in tables))
            flat[at] = factors[at]
            carried[:count] += flat[at] @ turned
            end -= count
        to_onward = (before.to(kind).t() @ flat).to(gradient.dtype)
        onward_bias = factors.sum(dim=0)
        bias = torch.cat((onward_bias[: 2 * size], slopes.sum(dim=0)))
        flat[:, 2 * size :] = slopes
        to_vectors = (flat @ inward.t())[: sum(ctx.counts)].to(gradient.dtype)
        to_inward = (vectors.t() @ flat).to(gradient.dtype)
        return to_vectors, to_inward, to_onward, bias, onward_bias, None, None, None


def _lengthened(vectors: Tensor) -> Tensor:
    """With rows of 0 up to a round number: code for products is compiled anew for each size."""
    return torch.nn.functional.pad(vectors, (0, 0, 0, -len(vectors) % ROUND))


def _numbers(narrow: bool, *tables: Tensor) -> tuple[Tensor, ...]:
    return tuple(table.bfloat16() for table in tables) if narrow else tables


def last_states(
    sequences: Packed,
    vectors: Tensor,
    weights: tuple[Tensor, Tensor, Tensor, Tensor],
    *,
    narrow: bool,
) -> Tensor:
    """[b, h] the unit's state after the last token of each sequence.

    Args:
        sequences: which vector belongs where.
        vectors: [n, e] the inputs.
        weights: [e, 3h] and [h, 3h] of inputs and state, and their biases [3h].
        narrow: whether products are taken in bfloat16.
    """
    batch = len(sequences.places)
    states: Tensor = _PackedRecurrence.apply(  # type: ignore[no-untyped-call]
        vectors, *weights, sequences.counts, batch, narrow
    )
    return states[sequences.places]
