"""The network: two encoders, fully connected tanh layers, a linear output (sections 2 and 3.4)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from refless.extensions.ratpred.batches import Encoded, TokenArray
from refless.extensions.ratpred.settings import Settings
from refless.registry.arrays import FloatArray, IntArray

Drop = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Token ids [b, t], 0 after the end of a sequence, and lengths [b], which stay on the CPU."""

    tokens: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, rows: TokenArray, device: str) -> Self:
        """Rows of ids, cut after the longest."""
        lengths = (rows > 0).sum(axis=1)
        cut = rows[:, : lengths.max()].astype(np.int64)
        return cls(torch.from_numpy(cut).to(device), torch.from_numpy(lengths))


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sources and texts that are computed together."""

    source: Sequences
    text: Sequences

    @classmethod
    def of(cls, data: Encoded, rows: IntArray, device: str) -> Self:
        """Some rows of the data."""
        return cls(
            *(Sequences.of(side[rows], device) for side in (data.source, data.text))
        )


class TokenEncoder(torch.nn.Module):
    """The last state of a GRU that reads tokens from left to right."""

    def __init__(self, words: int, settings: Settings) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(words, settings.embedding, padding_idx=0)
        self.cell = torch.nn.GRU(settings.embedding, settings.hidden)

    def forward(self, sequences: Sequences, drop: Drop) -> Tensor:
        """[b, hidden] of tokens whose vectors go through `drop`."""
        packed = pack_padded_sequence(
            sequences.tokens.t(), sequences.lengths, enforce_sorted=False
        )
        vectors = PackedSequence(drop(self.embedding(packed.data)), *packed[1:])
        last: Tensor = self.cell(vectors)[1]
        return last[0]


class Network(torch.nn.Module):
    """From tokens to standardised ratings.

    Args:
        sizes: entries in the dictionary of each side.
        settings: sizes of the network.
    """

    def __init__(self, sizes: Mapping[str, int], settings: Settings) -> None:
        super().__init__()
        width = 2 * settings.hidden
        self.source, self.text = (
            TokenEncoder(sizes[side], settings) for side in ("source", "text")
        )
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(width, width) for _ in range(settings.layers)
        )
        self.output = torch.nn.Linear(width, 1)

    @property
    def device(self) -> str:
        """`cpu` or `cuda`."""
        return self.output.weight.device.type

    @classmethod
    def empty(cls, sizes: Mapping[str, int], settings: Settings) -> Self:
        """With parameters that have no values yet; torch's own random numbers are left alone."""
        with torch.random.fork_rng(devices=[]):
            return cls(sizes, settings)

    @classmethod
    def shapes(
        cls, sizes: Mapping[str, int], settings: Settings, *, most: int
    ) -> dict[str, torch.Size]:
        """Of all parameters, without memory for them.

        Raises:
            ValueError: more parameters than `most`, or sizes that no tensor can have.
        """
        if settings.layers > most:
            raise ValueError("the network has more layers than there are weights")
        try:
            with torch.device("meta"):
                network = cls(sizes, settings)
        except (RuntimeError, TypeError, OverflowError) as fault:
            raise ValueError("the network has sizes that no tensor can have") from fault
        return {name: value.shape for name, value in network.state_dict().items()}

    def forward(self, batch: Batch, drop: Drop) -> Tensor:
        """[b] standardised ratings."""
        ends = [self.source(batch.source, drop), self.text(batch.text, drop)]
        value = torch.cat(ends, dim=-1)
        for layer in self.layers:
            value = layer(value).tanh()
        ratings: Tensor = self.output(value)
        return ratings[:, 0]

    def estimates(self, batch: Batch) -> FloatArray:
        """[b] standardised ratings, nothing dropped."""
        with torch.inference_mode():
            values = self(batch, _unchanged)
        return np.asarray(values.cpu().numpy(), dtype=np.float64)


def _unchanged(vectors: Tensor) -> Tensor:
    return vectors


def dropping(share: float, generator: torch.Generator) -> Drop:
    """Drops a share of the numbers, and makes the others larger by as much."""

    def drop(vectors: Tensor) -> Tensor:
        mask = torch.empty_like(vectors).bernoulli_(1 - share, generator=generator)
        return vectors * mask.div_(1 - share)

    return drop


def initialise(network: Network, seed: int) -> None:
    """Draws the first parameters of a network on the CPU.

    Embeddings are uniform with variance 1, matrices Glorot's, biases 0; the unknown word's vector
    is 0, so that a word never seen says nothing. The paper does not tell how it begins.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in network.named_parameters():
            if "bias" in name:
                value.zero_()
            elif "embedding" in name:
                value.uniform_(-math.sqrt(3), math.sqrt(3), generator=generator)
                value[:2] = 0.0  # the end of a sequence, and the unknown word
            else:
                gates = torch.split(
                    value, len(value) // 3 if "cell" in name else len(value)
                )
                for gate in gates:
                    bound = math.sqrt(6 / (gate[0].numel() + len(gate)))
                    gate.uniform_(-bound, bound, generator=generator)
