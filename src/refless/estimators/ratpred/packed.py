"""The recurrent unit for one network on processors: sequences without their padding.

At each time only the sequences that still go on are computed. The gradient is written out as in
`recurrence`, which is the slow twin. Products of matrices may be taken with inputs of 8 bits of
mantissa (bfloat16), which processors that know these numbers multiply several times as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from refless.compiled.gates import close_gates, narrowed, open_gates

ROUND, TILE = 64, 16  # rows of products over all times, and of one time
Table = NDArray[np.float32 | np.uint16]


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
    h' = n + z (h - n); h starts at 0. The states come in the order of length. Tables of all times
    have rows of 0 up to a round number, and a product takes some rows of other times too: code
    for products is compiled anew for each size, and is slower for odd ones.
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
        rows = len(vectors) + -len(vectors) % ROUND
        given = _filled(vectors, rows, narrow)
        inward, onward = (_filled(table, len(table), narrow) for table in (inward, onward))
        gates = given @ inward
        before = given.new_zeros(rows, size)
        inner, fresh = vectors.new_empty(rows, size), vectors.new_empty(rows, size)
        opened = vectors.new_empty(rows, 2 * size)
        state = vectors.new_zeros(batch, size)
        share = given.new_empty(batch + TILE, 3 * size)
        biases = torch.cat((bias + onward_bias, onward_bias[2 * size :]))
        biases[2 * size : 3 * size] = bias[2 * size :]  # the state's own is multiplied by a gate
        tables = [_numbers(t) for t in (gates, share, biases, state, before, inner, fresh, opened)]
        begin = 0
        for count, later in zip(counts, (*counts, 0)[1:], strict=True):
            _multiply(before, begin, count, onward, share)
            open_gates(begin, count, later, *tables)
            begin += count
        ctx.save_for_backward(given, inward, onward, before, inner, fresh, opened)
        ctx.counts = counts
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        given, inward, onward, before, inner, fresh, opened = ctx.saved_tensors
        size, end, later, turned = fresh.shape[1], sum(ctx.counts), 0, onward.t()
        factors, slopes = given.new_empty(len(given), 3 * size), torch.empty_like(before)
        factors[end:], slopes[end:] = 0.0, 0.0
        carried, pulled = gradient.clone(), given.new_empty(len(gradient) + TILE, size)
        biases = gradient.new_zeros(4 * size)
        saved = (before, inner, fresh, opened)
        tables = [_numbers(t) for t in (carried, pulled, *saved, factors, slopes, biases)]
        for count in reversed(ctx.counts):
            end -= count
            if later:
                _multiply(factors, end + count, later, turned, pulled)
            close_gates(end, count, later, *tables)
            later = count
        to_onward = (before.t() @ factors).to(gradient.dtype)
        factors[:, 2 * size :] = slopes
        to_vectors = (factors @ inward.t())[: sum(ctx.counts)].to(gradient.dtype)
        to_inward = (given.t() @ factors).to(gradient.dtype)
        bias, own = biases[: 3 * size], biases[3 * size :]
        onward_bias = torch.cat((biases[: 2 * size], own))
        return to_vectors, to_inward, to_onward, bias, onward_bias, None, None, None


def _multiply(table: Tensor, begin: int, count: int, weights: Tensor, out: Tensor) -> None:
    """Writes rows begin .. begin + count times the weights to `out`, and the rest of a tile."""
    rows = table[begin:][: count + -count % TILE]
    torch.mm(rows, weights, out=out[: len(rows)])


def _filled(table: Tensor, rows: int, narrow: bool) -> Tensor:
    """The table in the numbers of products, with rows of 0 up to so many."""
    if not narrow:
        return torch.nn.functional.pad(table, (0, 0, 0, rows - len(table)))
    filled = torch.empty(rows, table.shape[1], dtype=torch.bfloat16)
    narrowed(table.detach().numpy(), _numbers(filled))
    filled[len(table) :] = 0.0
    return filled


def _numbers(table: Tensor) -> Table:
    """The table's memory; bfloat16 as whole numbers of 16 bits, which NumPy knows."""
    if table.dtype == torch.bfloat16:
        table = table.view(torch.uint16)
    return table.numpy()


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
