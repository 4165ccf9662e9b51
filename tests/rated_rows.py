"""Rated rows that several tests read."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from command_line import headlines

Rows = Sequence[Mapping[str, object]]


def rated() -> Rows:
    """Texts by four systems, some of them equal, rated by two people, with a score each."""
    draw = random.Random(5)
    texts = headlines(40)
    found = []
    for i in range(40):
        text = texts[i - 4] if i % 9 == 8 else texts[i]
        liked = i % 4 + draw.gauss(0, 1)
        row = {
            "id": f"t{i:03}",
            "item": f"i{i // 4}",
            "source": f"what of {i // 4}",
            "system": ("human", "m1", "m2", "m3")[i % 4],
            "text": text,
            "good": liked + draw.gauss(0, 0.5),
            "logprob": -5.0 - (i * 3) % 11 / 7,
            "references": [" ".join(draw.sample(text.split(), 3)), texts[(i * 7) % 40]],
        }
        for who in ("ann", "bob"):
            rating = round(min(5, max(1, 3 + liked / 2 + draw.gauss(0, 0.3))), 1)
            found.append({**row, "annotator": who, "rating": rating})
    return found
