"""RatPred's training beside a bare PyTorch loop of the same sizes, in one run.

    python benchmarks/training.py [--quick] [--threads N]

1,476 simulated pairs with the lengths of the paper's data (sources 3-21 tokens, texts 3-40), two
GRU encoders of 300, two tanh layers of 600, batches of 50, fused Adam. The bare loops take batches
of like length with packed or with padded sequences, or packed ones as they come. Epochs alternate
and the best of each counts. Exit status 1 if ours takes more than 1.2 times as long as
the quickest of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from refless.extensions.ratpred.batches import (
    Encoded,
    TrainingData,
    epoch_batches,
    padded,
)
from refless.extensions.ratpred.settings import Settings
from refless.extensions.ratpred.training import Training

WORDS = 400
ROUNDS = 6
LIMIT = 1.2


def simulated(n: int, seed: int = 0) -> Encoded:
    """Random tokens, lengths about those of the rated outputs."""
    rng = np.random.default_rng(seed)
    texts = np.clip(rng.poisson(10, size=n), 3, 40)
    sources = 3 * np.clip(rng.poisson(3, size=n), 1, 7)
    draw = [rng.integers(2, WORDS, size=size).tolist() for size in (*texts, *sources)]
    return Encoded(
        source=padded(draw[n:]), text=padded(draw[:n]), y=rng.standard_normal(n)
    )


class Bare(torch.nn.Module):
    """The same network, as plain as can be."""

    def __init__(self, settings: Settings, *, packed: bool) -> None:
        super().__init__()
        size = settings.hidden
        wide = 2 * settings.hidden
        self.packed = packed
        self.embeddings = torch.nn.ModuleList(
            torch.nn.Embedding(WORDS, settings.embedding, padding_idx=0)
            for _ in range(2)
        )
        self.cells = torch.nn.ModuleList(
            torch.nn.GRU(settings.embedding, size) for _ in range(2)
        )
        self.dropout = torch.nn.Dropout(settings.dropout)
        layers = [torch.nn.Linear(wide, wide) for _ in range(settings.layers)]
        parts = [part for layer in layers for part in (layer, torch.nn.Tanh())]
        self.end = torch.nn.Sequential(*parts, torch.nn.Linear(wide, 1))

    def forward(self, sides: list[torch.Tensor]) -> torch.Tensor:
        """[b] predictions of tokens [b, t] of both sides."""
        pairs = zip(self.embeddings, self.cells, sides, strict=True)
        ends = [self._last(table, cell, tokens) for table, cell, tokens in pairs]
        found: torch.Tensor = self.end(torch.cat(ends, dim=1))
        return found[:, 0]

    def _last(
        self, table: torch.nn.Module, cell: torch.nn.Module, tokens: torch.Tensor
    ) -> torch.Tensor:
        lengths = (tokens > 0).sum(dim=1)
        if not self.packed:
            states: torch.Tensor = cell(self.dropout(table(tokens.t())))[0]
            return states[lengths - 1, torch.arange(len(tokens))]
        sequences = pack_padded_sequence(tokens.t(), lengths, enforce_sorted=False)
        vectors = self.dropout(table(sequences.data))
        state: torch.Tensor = cell(PackedSequence(vectors, *sequences[1:]))[1]
        return state[0]


def bare_epoch(
    data: Encoded, settings: Settings, *, packed: bool = True, alike: bool = True
) -> Callable[[int], None]:
    """One epoch of a bare loop, over batches of like length or as they come."""
    network = Bare(settings, packed=packed)
    adam = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)
    sides = [
        torch.from_numpy(part.astype(np.int64)) for part in (data.source, data.text)
    ]
    y = torch.from_numpy(data.y.astype(np.float32))
    count = -(-len(data) // settings.batch_size)

    def run(number: int) -> None:
        rng = np.random.default_rng(number)
        batches = (
            epoch_batches(data.lengths[:, 1], settings.batch_size, rng)
            if alike
            else np.array_split(rng.permutation(len(data)), count)
        )
        for rows in batches:
            chosen = torch.from_numpy(rows)
            cut = [side[chosen] for side in sides]
            cut = [side[:, : int((side > 0).sum(dim=1).max())] for side in cut]
            loss = (network(cut) - y[chosen]).square().mean()
            adam.zero_grad()
            loss.backward()
            adam.step()

    return run


def our_epoch(data: Encoded, settings: Settings) -> Callable[[int], None]:
    """One epoch of `train`, without model selection."""
    sizes = {"source": WORDS, "text": WORDS}
    learned = TrainingData(
        seed=0, rated=data, validation=data, synthetic=None, sizes=sizes
    )
    under_way = Training.begin(learned, settings, "cpu")

    def run(number: int) -> None:
        under_way.state.number = number
        under_way.epoch()

    return run


def timed(runs: dict[str, Callable[[int], None]], rounds: int) -> dict[str, float]:
    """Seconds of the best epoch of each; epochs alternate."""
    best = dict.fromkeys(runs, float("inf"))
    for number in range(rounds):
        for name, run in runs.items():
            begin = time.perf_counter()
            run(number)
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def main() -> int:
    """Prints a line each; 1 if ours is too slow."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--quick", action="store_true", help="small networks: does it run?"
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    size = 20 if options.quick else 300
    settings = Settings(embedding=size, hidden=size)
    data = simulated(200 if options.quick else 1_476)
    seconds = timed(
        {
            "refless": our_epoch(data, settings),
            "bare, packed": bare_epoch(data, settings),
            "bare, padded": bare_epoch(data, settings, packed=False),
            "bare, as they come": bare_epoch(data, settings, alike=False),
        },
        ROUNDS,
    )
    print(
        f"{len(data):,} pairs, hidden {size}, {options.threads} threads, torch {torch.__version__}"
    )
    for name, value in seconds.items():
        print(
            f"{name:<20}{value:7.2f} s an epoch {len(data) / value:10,.0f} pairs a second"
        )
    rivals = [
        seconds[name] for name in ("bare, packed", "bare, padded", "bare, as they come")
    ]
    ratio = seconds["refless"] / min(rivals)
    print(
        f"refless takes {ratio:.2f} times as long as the quickest bare GRU (limit {LIMIT})"
    )
    return int(ratio > LIMIT and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
