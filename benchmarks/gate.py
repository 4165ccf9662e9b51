"""How often does a gate fail with nothing changed? A/A runs: two versions that are the same.

Four kinds of ratings: few of them, skewed ones, items that belong together, and verdicts. Beside
`refless.gate` stands what most workflows do: fail if the new mean is lower than the old one by more
than the margin. The last column is how often the gate fails if the new version is worse by the
margin and half a standard deviation of an item's difference.

    python benchmarks/gate.py [--runs 400] [--margin 0.1]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import refless
from refless.registry.arrays import FloatArray, IntArray

WORSE = 0.5  # standard deviations of an item's difference
MIDDLE = (0.1, 0.2, 0.4, 0.2, 0.1)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of ratings, 1 to as many as there are shares.

    Attributes:
        items, documents: how many there are; items of one document are alike.
        shares: of each rating.
    """

    items: int
    documents: int
    shares: tuple[float, ...]

    @property
    def document(self) -> IntArray:
        """[items] the document of each item."""
        return np.arange(self.items) * self.documents // self.items

    def drawn(self, rng: np.random.Generator) -> list[FloatArray]:
        """[items] ratings of two versions that are the same."""
        cuts = np.quantile(rng.normal(size=100_000), np.cumsum(self.shares)[:-1])
        common = rng.normal(size=self.documents)[self.document]
        versions = []
        for _ in range(2):
            shared = rng.normal(size=self.documents)[self.document]
            luck = (rng.normal(size=self.items) + common + shared) / np.sqrt(3)
            versions.append(1.0 + np.searchsorted(cuts, luck))
        return versions


KINDS = {
    "few: 12 items": Kind(12, 12, MIDDLE),
    "skewed: 40 items, 80 % best": Kind(40, 40, (0.04, 0.03, 0.05, 0.08, 0.8)),
    "clustered: 60 items of 15 documents": Kind(60, 15, MIDDLE),
    "verdicts: 50 items, 90 % pass": Kind(50, 50, (0.1, 0.9)),
}


def verdict_of(kind: Kind, old: FloatArray, new: FloatArray, margin: float) -> str:
    """The verdict of the gate."""
    rows: list[dict[str, Any]] = []
    for system, ratings in (("old", old), ("new", new)):
        for item, rating in enumerate(ratings.tolist()):
            row = {"system": system, "item": f"i{item}", "rating": rating}
            rows.append({**row, "document": f"d{kind.document[item]}"})
    scale = (1.0, float(len(kind.shares)))
    result = refless.gate(
        rows, baseline="old", margin=margin, scale=scale, group="document"
    )
    return result.gate.verdict


def shares_of(kind: Kind, runs: int, margin: float, seed: int) -> list[float]:
    """Shares of runs: the mean fails, the gate fails, is undecided, fails if the new is worse."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(4)
    for _ in range(runs):
        old, new = kind.drawn(rng)
        lower = np.maximum(new - WORSE * np.std(new - old) - margin, 1.0)
        verdict = verdict_of(kind, old, new, margin)
        of_worse = verdict_of(kind, old, lower, margin)
        counts += [
            new.mean() < old.mean() - margin,
            verdict == "failed",
            verdict == "undecided",
            of_worse == "failed",
        ]
    shares: list[float] = (counts / runs).tolist()
    return shares


def main() -> None:
    """Prints a row a kind of ratings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--margin", type=float, default=0.1)
    asked = parser.parse_args()
    print(f"A/A runs a row: {asked.runs}, margin {asked.margin:g}; shares of runs\n")
    print("| ratings | mean is lower | gate fails | gate undecided | fails if worse |")
    print("|---|---|---|---|---|")
    for seed, (name, kind) in enumerate(KINDS.items()):
        shares = shares_of(kind, asked.runs, asked.margin, seed)
        cells = " | ".join(f"{share:.3f}" for share in shares)
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
