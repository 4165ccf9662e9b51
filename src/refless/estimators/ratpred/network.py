"""The network: two encoders, fully connected tanh layers, a linear output (sections 2 and 3.4).

Several networks (members) are computed at once: every parameter and every batch begins with the
member it belongs to, and no number of one member depends on another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from refless.estimators.ratpred.recurrence import last_state
from refless.estimators.ratpred.settings import Settings

Parameters = dict[str, Tensor]
SIDES = ("source", "text")


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Token ids [m, t, b], 0 after the end of a sequence, for both sides; in order of time."""

    source: Tensor
    text: Tensor


Dropout = Callable[[str, tuple[int, ...]], Tensor]  # side, shape -> factors 0 or 1 / (1 - p)


def initial(sizes: dict[str, int], settings: Settings, generator: torch.Generator) -> Parameters:
    """One member's parameters, without the member axis.

    Embeddings are uniform with variance 1, matrices Glorot's; the unknown word's vector is 0, so
    that a word never seen says nothing. The paper does not tell how it begins.
    """
    wide, state = settings.embedding, settings.hidden

    def uniform(bound: float, *shape: int) -> Tensor:
        return (torch.rand(*shape, generator=generator) * 2 - 1) * bound

    def glorot(rows: int, columns: int) -> Tensor:
        return uniform(math.sqrt(6 / (rows + columns)), rows, columns)

    found: Parameters = {}
    for side in SIDES:
        table = uniform(math.sqrt(3), sizes[side], wide)
        table[:2] = 0.0  # the end of a sequence, and the unknown word
        found[f"{side}.embedding"] = table
        for name in settings.directions:
            for part, rows in (("input", wide), ("state", state)):
                blocks = [glorot(rows, state) for _ in range(settings.gates)]
                found[f"{side}.{name}.{part}"] = torch.cat(blocks, dim=1)
                found[f"{side}.{name}.{part}_bias"] = torch.zeros(1, settings.gates * state)
    width = 2 * settings.encoded
    for layer in range(settings.layers):
        found[f"layer{layer}.weight"] = glorot(width, width)
        found[f"layer{layer}.bias"] = torch.zeros(1, width)
    found["output.weight"] = glorot(width, settings.outputs)
    found["output.bias"] = torch.zeros(1, settings.outputs)
    return found


def stacked(members: list[Parameters]) -> Parameters:
    """Parameters of several members in one; shorter tables of embeddings are filled with 0."""
    found = {}
    for name in members[0]:
        parts = [member[name] for member in members]
        rows = max(part.shape[0] for part in parts)
        whole = torch.zeros(len(parts), rows, *parts[0].shape[1:])
        for i, part in enumerate(parts):
            whole[i, : part.shape[0]] = part
        found[name] = whole
    return found


def forward(p: Parameters, batch: Batch, settings: Settings, dropout: Dropout | None) -> Tensor:
    """[m, b, outputs] predictions, in units of the standardised ratings."""
    ends = [
        _encoded(p, side, tokens, dropout)
        for side, tokens in (("source", batch.source), ("text", batch.text))
    ]
    value = torch.cat(ends, dim=-1)
    for layer in range(settings.layers):
        value = torch.baddbmm(p[f"layer{layer}.bias"], value, p[f"layer{layer}.weight"]).tanh()
    return torch.baddbmm(p["output.bias"], value, p["output.weight"])


def _encoded(p: Parameters, side: str, tokens: Tensor, dropout: Dropout | None) -> Tensor:
    """[m, b, encoded] what an encoder makes of its sequences."""
    members, steps, batch = tokens.shape
    table = p[f"{side}.embedding"]
    starts = torch.arange(members, device=tokens.device)[:, None, None] * table.shape[1]
    flat = table.flatten(0, 1)
    if tokens.is_cuda:  # its gradient can be recorded in a graph
        vectors = flat.index_select(0, (tokens + starts).flatten()).view(*tokens.shape, -1)
    else:
        vectors = torch.nn.functional.embedding(tokens + starts, flat)
    if dropout is not None:
        vectors = vectors * dropout(side, tuple(vectors.shape))
    inputs, padding = vectors.view(members, steps * batch, -1), tokens == 0
    name = f"{side}.forward"
    gates = torch.baddbmm(p[f"{name}.input_bias"], inputs, p[f"{name}.input"])
    gates = gates.view(members, steps, batch, -1)
    return last_state(gates, p[f"{name}.state"], p[f"{name}.state_bias"], padding)
