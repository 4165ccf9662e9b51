"""What encoders make of sequences: all networks at each time, or one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from refless.estimators.ratpred.network import WINDOW, Encode, Parameters
from refless.estimators.ratpred.packed import Packed, last_states
from refless.estimators.ratpred.recurrence import last_state
from refless.estimators.ratpred.settings import Settings

Factors = Callable[[int, tuple[int, ...]], Tensor]  # member, shape -> factors 0 or 1 / (1 - p)
Read = Callable[[Parameters, str, Tensor, Tensor], Tensor]


def side_by_side(settings: Settings, kept: dict[str, Tensor] | None = None) -> Encode:
    """An encoder that computes all networks at each time; for every unit.

    Args:
        settings: unit and directions.
        kept: for each side [m, t, b, e] factors of the inputs, 0 or 1 / (1 - p).
    """
    read = UNITS[settings.unit]

    def encode(p: Parameters, side: str, tokens: Tensor) -> Tensor:
        vectors = _embedded(p[f"{side}.embedding"], tokens)
        if kept is not None:
            vectors = vectors * kept[side]
        padding, ends = tokens == 0, []
        for name in settings.directions:
            ordered = vectors if name == "forward" else _turned(vectors, padding)
            ends.append(read(p, f"{side}.{name}", ordered, padding))
        return torch.cat(ends, dim=-1)

    return encode


def _embedded(table: Tensor, tokens: Tensor) -> Tensor:
    """[m, t, b, e] vectors of tokens [m, t, b] from tables [m, words, e]."""
    starts = torch.arange(len(tokens), device=tokens.device)[:, None, None] * table.shape[1]
    flat = table.flatten(0, 1)  # index_select's gradient can be recorded in a graph
    return flat.index_select(0, (tokens + starts).flatten()).view(*tokens.shape, -1)


def _turned(vectors: Tensor, padding: Tensor) -> Tensor:
    """Sequences [m, t, b, e] from their last to their first token; padding stays at the end."""
    times = torch.arange(vectors.shape[1], device=vectors.device)[None, :, None]
    places = ((~padding).sum(dim=1, keepdim=True) - 1 - times) % vectors.shape[1]
    return vectors.gather(1, places[..., None].expand_as(vectors))


def _gates(p: Parameters, name: str, vectors: Tensor) -> Tensor:
    """[m, t, b, gates x h] the inputs' share in the gates."""
    members, steps, batch, _ = vectors.shape
    inputs = vectors.reshape(members, steps * batch, -1)
    gates = torch.baddbmm(p[f"{name}.input_bias"], inputs, p[f"{name}.input"])
    return gates.view(members, steps, batch, -1)


def _gru(p: Parameters, name: str, vectors: Tensor, padding: Tensor) -> Tensor:
    """[m, b, h] state after the last token."""
    gates = _gates(p, name, vectors)
    return last_state(gates, p[f"{name}.state"], p[f"{name}.state_bias"], padding)


def _lstm(p: Parameters, name: str, vectors: Tensor, padding: Tensor) -> Tensor:
    """[m, b, h] state after the last token: gates in, forget, new, out."""
    gates = _gates(p, name, vectors)
    weights, bias = p[f"{name}.state"], p[f"{name}.state_bias"]
    state = cell = gates.new_zeros(gates.shape[0], gates.shape[2], weights.shape[1])
    for t in range(gates.shape[1]):
        opened = gates[:, t] + torch.baddbmm(bias, state, weights)
        take, keep, new, out = opened.chunk(4, dim=-1)
        after = keep.sigmoid() * cell + take.sigmoid() * new.tanh()
        over = padding[:, t, :, None]
        state = torch.where(over, state, out.sigmoid() * after.tanh())
        cell = torch.where(over, cell, after)
    return state


def _cnn(p: Parameters, name: str, vectors: Tensor, padding: Tensor) -> Tensor:
    """[m, b, h] the highest value of each feature of three tokens; 0 at least."""
    there = vectors * ~padding[..., None]
    side = WINDOW // 2
    around = torch.nn.functional.pad(there, (0, 0, 0, 0, side, side))
    steps = vectors.shape[1]
    windows = torch.cat([around[:, i : i + steps] for i in range(WINDOW)], dim=-1)
    features = _gates(p, name, windows).relu() * ~padding[..., None]
    return features.amax(dim=1)


UNITS: dict[str, Read] = {"gru": _gru, "lstm": _lstm, "cnn": _cnn}


def one_by_one(
    settings: Settings, factors: Factors | None = None, stopped: Sequence[bool] = ()
) -> Encode:
    """An encoder that computes one network after the other, and no padding: for processors.

    Only for `gru`. For networks that are `stopped` it says 0.
    """

    def encode(p: Parameters, side: str, tokens: Tensor) -> Tensor:
        tables = _each(p[f"{side}.embedding"])
        weights = [_of_members(p, f"{side}.{name}") for name in settings.directions]
        ends = []
        for member, table in enumerate(tables):
            if stopped and stopped[member]:
                ends.append(table.new_zeros(tokens.shape[2], settings.encoded))
                continue
            sequences = Packed.of(tokens[member])
            vectors = torch.nn.functional.embedding(sequences.tokens, table)
            if factors is not None:
                vectors = vectors * factors(member, tuple(vectors.shape))
            parts = [
                last_states(
                    sequences,
                    vectors if i == 0 else vectors[sequences.turned()],
                    own[member],
                    narrow=settings.narrow,
                )
                for i, own in enumerate(weights)
            ]
            ends.append(torch.cat(parts, dim=-1))
        return torch.stack(ends)

    return encode


def _of_members(p: Parameters, name: str) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Each member's weights of input and state, and their biases."""
    parts = [p[f"{name}.input"], p[f"{name}.state"]]
    parts += [p[f"{name}.{part}_bias"][:, 0] for part in ("input", "state")]
    return list(zip(*map(_each, parts), strict=True))


def _each(table: Tensor) -> tuple[Tensor, ...]:
    """[k, ...] -> k tables; of one alone nothing is copied on the way back."""
    return table.unbind() if len(table) > 1 else (table.squeeze(0),)
