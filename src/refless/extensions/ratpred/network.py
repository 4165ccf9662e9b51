"""The network: two encoders, fully connected tanh layers, a linear output (sections 2 and 3.4)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from refless.extensions.ratpred import targets
from refless.extensions.ratpred.batches import Encoded, TokenArray
from refless.extensions.ratpred.settings import Settings
from refless.registry.arrays import FloatArray, IntArray

WINDOW = 3  # tokens that a convolution sees at a time
RECURRENT = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
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
        return cls(*(Sequences.of(side[rows], device) for side in (data.source, data.text)))


class Recurrent(torch.nn.Module):
    """The last states of a GRU or an LSTM, in one direction or both."""

    def __init__(self, words: int, settings: Settings) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(words, settings.embedding, padding_idx=0)
        self.cell = RECURRENT[settings.cell](
            settings.embedding, settings.hidden, bidirectional=settings.bidirectional
        )

    def forward(self, sequences: Sequences, drop: Drop) -> Tensor:
        """[b, encoded] of tokens whose vectors go through `drop`."""
        packed = pack_padded_sequence(sequences.tokens.t(), sequences.lengths, enforce_sorted=False)
        vectors = PackedSequence(drop(self.embedding(packed.data)), *packed[1:])
        last = self.cell(vectors)[1]
        return torch.cat(list(last[0] if isinstance(last, tuple) else last), dim=-1)


class Convolution(torch.nn.Module):
    """Windows of three tokens; of each feature the highest value over the sequence, 0 at least."""

    def __init__(self, words: int, settings: Settings) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(words, settings.embedding, padding_idx=0)
        self.cell = torch.nn.Conv1d(
            settings.embedding, settings.hidden, WINDOW, padding=WINDOW // 2
        )

    def forward(self, sequences: Sequences, drop: Drop) -> Tensor:
        """[b, encoded] of tokens whose vectors go through `drop`."""
        vectors = drop(self.embedding(sequences.tokens)).transpose(1, 2)
        inside = (sequences.tokens > 0)[:, None]
        features: Tensor = self.cell(vectors).relu() * inside
        return features.amax(dim=2)


class Network(torch.nn.Module):
    """From tokens to ratings.

    Args:
        sizes: entries in the dictionary of each side.
        settings: sizes of the network and what it ends in.
        levels: the ratings that there can be, ascending and standardised, for targets that
            classify.
    """

    def __init__(
        self, sizes: Mapping[str, int], settings: Settings, levels: Sequence[float] = ()
    ) -> None:
        super().__init__()
        self.settings = settings
        encoder = Convolution if settings.cell == "cnn" else Recurrent
        width = 2 * settings.encoded
        self.source, self.text = (encoder(sizes[side], settings) for side in ("source", "text"))
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(width, width) for _ in range(settings.layers)
        )
        self.output = torch.nn.Linear(width, targets.outputs(settings.target, len(levels)))
        self.register_buffer("levels", torch.tensor([*levels]), persistent=False)
        self.levels: Tensor

    @classmethod
    def empty(
        cls, sizes: Mapping[str, int], settings: Settings, levels: Sequence[float] = ()
    ) -> Self:
        """With parameters that have no values yet; torch's own random numbers are left alone."""
        with torch.random.fork_rng(devices=[]):
            return cls(sizes, settings, levels)

    @classmethod
    def shapes(
        cls, sizes: Mapping[str, int], settings: Settings, levels: Sequence[float], *, most: int
    ) -> dict[str, torch.Size]:
        """Of all parameters, without memory for them.

        Raises:
            ValueError: more parameters than `most`, or sizes that no tensor can have.
        """
        if settings.layers > most:
            raise ValueError("the network has more layers than there are weights")
        try:
            with torch.device("meta"):
                made = cls(sizes, settings, levels)
        except (RuntimeError, TypeError, OverflowError) as fault:
            raise ValueError("the network has sizes that no tensor can have") from fault
        return {name: value.shape for name, value in made.state_dict().items()}

    def forward(self, batch: Batch, drop: Drop) -> Tensor:
        """[b, outputs] what the network ends in; products may be taken in bfloat16."""
        with torch.autocast(
            batch.text.tokens.device.type, torch.bfloat16, enabled=self.settings.bfloat16
        ):
            ends = [self.source(batch.source, drop), self.text(batch.text, drop)]
            value = torch.cat(ends, dim=-1)
            for layer in self.layers:
                value = layer(value).tanh()
        found: Tensor = self.output(value.float())
        return found

    def loss(self, batch: Batch, y: Tensor, drop: Drop) -> Tensor:
        """The batch's mean loss, to which that of wrongly ranked pairs is added."""
        target, ranking = self.settings.target, self.settings.ranking
        values = self(batch, drop)
        loss = targets.losses(values, y, target, self.levels).mean()
        if ranking:
            found = targets.estimates(values, target, self.levels)
            loss = loss + ranking * targets.misranked(found, y, batch.source.tokens)
        return loss

    def estimates(self, batch: Batch) -> FloatArray:
        """[b] standardised ratings, nothing dropped."""
        with torch.inference_mode():
            values = self(batch, _unchanged)
            found = targets.estimates(values, self.settings.target, self.levels)
        return np.asarray(found.cpu().numpy(), dtype=np.float64)


def _unchanged(vectors: Tensor) -> Tensor:
    return vectors


def dropping(share: float, generator: torch.Generator) -> Drop:
    """Drops a share of the numbers, and makes the others larger by as much."""

    def drop(vectors: Tensor) -> Tensor:
        kept = torch.empty_like(vectors).bernoulli_(1 - share, generator=generator)
        return vectors * kept.div_(1 - share)

    return drop


def initialise(network: Network, seed: int, vectors: Mapping[str, FloatArray]) -> None:
    """Draws a network's first parameters.

    Embeddings are uniform with variance 1, matrices Glorot's, biases 0; the unknown word's vector
    is 0, so that a word never seen says nothing. The paper does not tell how it begins.

    Args:
        network: on the CPU.
        seed: of what is drawn.
        vectors: for each side [entries, e] vectors that words begin with, NaN for the others.
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
                size = network.settings.hidden if "cell" in name else len(value)
                gates = torch.split(value, size)
                for gate in gates:
                    bound = math.sqrt(6 / (gate[0].numel() + len(gate)))
                    gate.uniform_(-bound, bound, generator=generator)
        for side, table in vectors.items():
            known = np.flatnonzero(~np.isnan(table).any(axis=1))
            weight = network.get_parameter(f"{side}.embedding.weight")
            weight[torch.from_numpy(known)] = torch.from_numpy(table[known]).to(weight.dtype)
