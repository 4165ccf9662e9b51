"""Reranking: of the outputs for one item, the one with the highest estimate.

Dusek et al. (2017, section 1) name it as a use of estimates at runtime, beside replacing what lies
too low by a rule-based fallback.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.records import Estimates, Outputs
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError
from refless.registry.signature import Signature

BY = ("item", "source")
NEAR = 1e-6  # estimates of one text differ by less, from thread to thread and batch to batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was chosen for one item.

    Attributes:
        item: its name.
        rows: its outputs, in the order given.
        best: row of the highest estimate, the earliest of equal ones (up to a millionth); None
            where there is none.
        n_scored: how many of its outputs have an estimate.
        tied: how many have that highest one.
        reasons: how often each reason of having no estimate occurs among its outputs.
        fallback: whether the best estimate lies below what was asked for, or there is none.
    """

    item: str
    rows: tuple[int, ...]
    best: int | None
    n_scored: int
    tied: int
    reasons: dict[str, int]
    fallback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf:
    """The best output of each item.

    Attributes:
        by: `item` or `source`.
        fallback_below: the least estimate that was asked for, or None.
        choices: one an item, in the order in which items first appear.
    """

    by: str
    fallback_below: float | None
    choices: tuple[Choice, ...]

    @property
    def n_scored(self) -> int:
        """How many items have a choice."""
        return sum(choice.best is not None for choice in self.choices)

    @property
    def n_fallback(self) -> int:
        """How many items fall back, those without any estimate included."""
        return sum(choice.fallback for choice in self.choices)

    @property
    def n_tied(self) -> int:
        """In how many items several outputs share the highest estimate."""
        return sum(choice.tied > 1 for choice in self.choices)


def best_of(
    outputs: Outputs, estimates: Estimates, *, by: str = "item", fallback_below: float | None = None
) -> BestOf:
    """The best output of each item; the order of rows decides between equal estimates only.

    An output whose item is blank competes with no other; its id names the item. What choosing is
    worth in people's ratings, `reranking` tells.

    Args:
        outputs: the texts that were judged, with items or sources.
        estimates: one for each.
        by: what the outputs to choose from have in common, `item` or `source`.
        fallback_below: items whose best estimate is lower fall back, in the estimates' units.

    Raises:
        UsageError: outputs without that column, another `by`, a threshold that is no number.
    """
    check(by, fallback_below)
    members: dict[tuple[str, bool], list[int]] = {}
    for row, (name, own) in enumerate(zip(labels(outputs, by), outputs.ids, strict=True)):
        members.setdefault((name or own, bool(name)), []).append(row)
    values = estimates.values.tolist()
    choices = tuple(
        _choice(item, rows, values, estimates.reasons, fallback_below)
        for (item, _), rows in members.items()
    )
    return BestOf(by=by, fallback_below=fallback_below, choices=choices)


def _choice(
    item: str,
    rows: Sequence[int],
    values: Sequence[float],
    reasons: Sequence[str],
    below: float | None,
) -> Choice:
    known = [row for row in rows if not math.isnan(values[row])]
    highest = max((values[row] for row in known), default=math.nan)
    within = float(slack(highest))
    equal = [row for row in known if values[row] >= highest - within]
    missing = Counter(reasons[row] for row in rows if reasons[row])
    return Choice(
        item=item,
        rows=tuple(rows),
        best=equal[0] if equal else None,
        n_scored=len(known),
        tied=len(equal),
        reasons=dict(sorted(missing.items())),
        fallback=not equal or (below is not None and highest < below - within),
    )


def slack(highest: FloatArray | float) -> FloatArray:
    """How far below the highest estimate one counts as equal to it."""
    return np.asarray(NEAR * np.maximum(1.0, np.abs(highest)))


def check(by: str, fallback_below: float | None) -> None:
    """Raises UsageError for another `by` than item or source, and a threshold that is no number."""
    if by not in BY:
        raise UsageError(f"--best-of must be {' or '.join(BY)}, got '{by}'")
    if fallback_below is not None and not math.isfinite(fallback_below):
        raise UsageError(f"--fallback-below must be a number, got {fallback_below}")


def labels(outputs: Outputs, by: str) -> tuple[str, ...]:
    """[n] the item or source of each output.

    Raises:
        UsageError: outputs that have none.
    """
    result = outputs.items if by == "item" else outputs.sources
    if result or not len(outputs):
        return result
    if by == "source":
        raise UsageError(
            "--best-of source: the outputs have no source column; name it with --column source=NAME"
        )
    raise UsageError(
        "--best-of item: the outputs have no item column and no source column; name the one that "
        "outputs for the same thing share with --column item=NAME or --column source=NAME"
    )


def signed(result: BestOf, signature: Signature) -> Signature:
    """The estimates' signature with what was chosen and what falls back."""
    chosen = signature.plus(**{"best-of": result.by})
    below = result.fallback_below
    return chosen if below is None else chosen.plus(fallback=below)
