"""A gate on a whole run of a tool: its scores beside those of an earlier run, item by item.

Each tool's module has `scores_in`, which reads a run. What it returns is plain data: keep it as
JSON, and give it as the baseline of the next run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from refless.commands.gate.result import GateResult
from refless.commands.gate.run import gate

Scores = Mapping[
    str, Sequence[float]
]  # those of each item: one for each time it was run
NUMBERS = {
    "passed": 1.0,
    "undecided": 0.0,
    "failed": -1.0,
}  # where a tool takes no words


def by_item(scores: Iterable[tuple[object, Any]]) -> dict[str, list[float]]:
    """The scores of each item; those that are no number or verdict are left out."""
    items: dict[str, list[float]] = defaultdict(list)
    for item, score in scores:
        if isinstance(score, int | float):
            items[str(item)].append(float(score))
    return dict(items)


def gated(
    candidate: Scores, baseline: Scores, name: str, margin: float = 0.0
) -> GateResult:
    """Whether a run may take the place of an earlier one: `refless.gate` on their scores.

    Args:
        candidate: of the new run; baseline: of the earlier one.
        name: of the scores.
        margin: by how much the new run may be worse.
    """
    rows = []
    for system, items in (("baseline", baseline), ("candidate", candidate)):
        for item, scores in items.items():
            rows += [
                {"system": system, "item": item, name: score, "run": run}
                for run, score in enumerate(scores)
            ]
    return gate(rows, baseline="baseline", margin=margin, score_column=name)
