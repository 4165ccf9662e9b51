"""RatPred's training beside a bare PyTorch GRU loop of the same sizes, in one run.

    python benchmarks/training.py [--quick] [--threads N]

1,476 simulated pairs with the lengths of the paper's data (sources 3-21 tokens, texts 3-40), two
GRU encoders of 300, two tanh layers of 600, batches of 50, Adam. The bare loop is torch's own
modules on batches of like length too; a second one takes batches as they come. Passes alternate and
the best of each counts; bfloat16 is `refless train --bfloat16`. Exit status 1 if ours, in float32,
takes more than 1.5 times as long as the quicker one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from refless.estimators.ratpred.batches import Encoded, ordered_batches, padded
from refless.estimators.ratpred.progress import Member
from refless.estimators.ratpred.settings import Settings
from refless.estimators.ratpred.training import train

WORDS, ROUNDS, LIMIT = 400, 4, 1.5


def simulated(n: int, seed: int = 0) -> Encoded:
    """Random tokens, lengths about those of the rated outputs."""
    rng = np.random.default_rng(seed)
    texts = np.clip(rng.poisson(10, size=n), 3, 40)
    sources = 3 * np.clip(rng.poisson(3, size=n), 1, 7)
    draw = [rng.integers(2, WORDS, size=size).tolist() for size in (*texts, *sources)]
    return Encoded(source=padded(draw[n:]), text=padded(draw[:n]), y=rng.standard_normal(n))


class Bare(torch.nn.Module):
    """The same network out of torch's modules."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        size, wide = settings.hidden, 2 * settings.hidden
        self.embeddings = torch.nn.ModuleList(
            torch.nn.Embedding(WORDS, settings.embedding, padding_idx=0) for _ in range(2)
        )
        self.units = torch.nn.ModuleList(
            torch.nn.GRU(settings.embedding, size, batch_first=True) for _ in range(2)
        )
        self.dropout = torch.nn.Dropout(settings.dropout)
        layers = [torch.nn.Linear(wide, wide) for _ in range(settings.layers)]
        parts = [part for layer in layers for part in (layer, torch.nn.Tanh())]
        self.end = torch.nn.Sequential(*parts, torch.nn.Linear(wide, 1))

    def forward(self, sides: list[torch.Tensor]) -> torch.Tensor:
        """[b] predictions of tokens [b, t] of both sides."""
        ends = []
        for table, unit, tokens in zip(self.embeddings, self.units, sides, strict=True):
            states, _ = unit(self.dropout(table(tokens)))
            last = (tokens > 0).sum(dim=1).clamp(min=1) - 1
            ends.append(states[torch.arange(len(tokens)), last])
        found: torch.Tensor = self.end(torch.cat(ends, dim=1))
        return found[:, 0]


def bare_pass(data: Encoded, settings: Settings, *, alike: bool) -> Callable[[int], None]:
    """One pass of the bare loop, over batches of like length or as they come."""
    network = Bare(settings)
    adam = torch.optim.Adam(network.parameters(), lr=settings.rate)
    sides = [torch.from_numpy(part.astype(np.int64)) for part in (data.source, data.text)]
    y = torch.from_numpy(data.y.astype(np.float32))
    count = -(-len(data) // settings.batch)

    def run(number: int) -> None:
        rng = np.random.default_rng(number)
        lengths = data.lengths[:, 1]
        batches = (
            ordered_batches(lengths, count, rng)
            if alike
            else np.array_split(rng.permutation(len(data)), count)
        )
        for rows in batches:
            chosen = torch.from_numpy(np.asarray(rows)[np.asarray(rows) >= 0])
            cut = [side[chosen] for side in sides]
            cut = [side[:, : int((side > 0).sum(dim=1).max())] for side in cut]
            loss = (network(cut) - y[chosen]).square().mean()
            adam.zero_grad()
            loss.backward()
            adam.step()

    return run


def our_pass(data: Encoded, settings: Settings) -> Callable[[int], None]:
    """One pass as `train` makes it, model selection on three rows included."""
    few = Encoded(source=data.source[:3], text=data.text[:3], y=data.y[:3])
    member = Member(
        seed=0,
        rated=data,
        development=few,
        synthetic=None,
        sizes={"source": WORDS, "text": WORDS},
    )
    return lambda _: _discard(train([member], settings))


def _discard(_: Any) -> None:
    return None


def timed(runs: dict[str, Callable[[int], None]], rounds: int) -> dict[str, float]:
    """Seconds of the best pass of each; passes alternate."""
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
    parser.add_argument("--quick", action="store_true", help="small networks: does it run?")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    size = 20 if options.quick else 300
    settings = Settings(embedding=size, hidden=size, passes=1, patience=None)
    data = simulated(200 if options.quick else 1_476)
    seconds = timed(
        {
            "refless": our_pass(data, settings),
            "refless, bfloat16": our_pass(data, replace(settings, narrow=True)),
            "bare loop, like lengths": bare_pass(data, settings, alike=True),
            "bare loop, as they come": bare_pass(data, settings, alike=False),
        },
        ROUNDS,
    )
    print(
        f"{len(data):,} pairs, hidden {size}, {options.threads} threads, torch {torch.__version__}"
    )
    for name, value in seconds.items():
        print(f"{name:<26}{value:7.2f} s a pass {len(data) / value:10,.0f} pairs a second")
    ratio = seconds["refless"] / min(v for k, v in seconds.items() if "bare" in k)
    print(f"refless takes {ratio:.2f} times as long as the quicker bare loop (limit {LIMIT})")
    return int(ratio > LIMIT and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
