"""Outputs of systems that tests compare."""

from __future__ import annotations

from typing import Any

import numpy as np

import refless
from command_line import ANY_NEIGHBOR, headlines

Rows = list[dict[str, Any]]


ORDER = ("old", "new")


def outputs(items: int = 60, gap: float = 0.8, seed: int = 1) -> Rows:
    """Two systems' texts for the same items; a judge hears half of the quality. All are rated."""
    rng = np.random.default_rng(seed)
    texts = headlines(2 * items)
    found = []
    for i in range(items):
        for k, system in enumerate(("old", "new")):
            text = texts[(2 * i + k) % len(texts)]
            liked = 0.8 * ("Torby" in text) + rng.normal() * 0.6
            row = {
                "id": f"{system}{i}",
                "item": f"i{i:03}",
                "system": system,
                "text": text,
            }
            rating = float(np.clip(np.round(3 + k * gap + liked), 1, 5))
            found.append(
                {**row, "rating": rating, "judge": rating / 2 + rng.normal() * 0.4}
            )
    return found


def partly(rows: Rows, n: int) -> Rows:
    """Ratings of the first n items alone."""
    known = {f"i{i:03}" for i in range(n)}
    return [
        {**row, "rating": row["rating"] if row["item"] in known else None}
        for row in rows
    ]


def compared(rows: Rows, **more: Any) -> refless.CompareResult:
    """The same from Python."""
    return refless.compare(rows, **{"estimator": ANY_NEIGHBOR[1], **more})
