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

from refless.estimators.ratpred.packed import product
from refless.estimators.ratpred.settings import Settings

Parameters = dict[str, Tensor]
SIDES = ("source", "text")


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Token ids [m, t, b], 0 after the end of a sequence, for both sides; in order of time."""

    source: Tensor
    text: Tensor


Encode = Callable[[Parameters, str, Tensor], Tensor]  # side, tokens [m, t, b] -> [m, b, encoded]
WINDOW = 3  # tokens that a convolution sees at a time


def initial(
    sizes: dict[str, int], settings: Settings, generator: torch.Generator, outputs: int = 1
) -> Parameters:
    """One member's parameters, without the member axis; `outputs` numbers at the end.

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
            for part, rows, gates in _parts(settings):
                blocks = [glorot(rows, state) for _ in range(gates)]
                found[f"{side}.{name}.{part}"] = torch.cat(blocks, dim=1)
                found[f"{side}.{name}.{part}_bias"] = torch.zeros(1, gates * state)
    width = 2 * settings.encoded
    for layer in range(settings.layers):
        found[f"layer{layer}.weight"] = glorot(width, width)
        found[f"layer{layer}.bias"] = torch.zeros(1, width)
    found["output.weight"] = glorot(width, outputs)
    found["output.bias"] = torch.zeros(1, outputs)
    return found


def _parts(settings: Settings) -> list[tuple[str, int, int]]:
    """Matrices of an encoder: name, rows, gates."""
    if settings.unit == "cnn":
        return [("input", WINDOW * settings.embedding, 1)]
    gates = {"gru": 3, "lstm": 4}[settings.unit]
    return [("input", settings.embedding, gates), ("state", settings.hidden, gates)]


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


def forward(p: Parameters, batch: Batch, settings: Settings, encode: Encode) -> Tensor:
    """[m, b, outputs] what the network ends in; `targets.estimates` makes ratings of it."""
    ends = [encode(p, "source", batch.source), encode(p, "text", batch.text)]
    value = torch.cat(ends, dim=-1)
    narrow = settings.narrow and value.device.type == "cpu"
    for layer in range(settings.layers):
        weighted = product(value, p[f"layer{layer}.weight"], narrow)
        value = (weighted + p[f"layer{layer}.bias"]).tanh()
    return torch.baddbmm(p["output.bias"], value, p["output.weight"])
