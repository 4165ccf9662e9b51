"""On how many items one system is rated higher than another, as high, or lower."""

import math
from dataclasses import dataclass

import numpy as np

from refless.evaluation.planned_look import at_planned_look
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.answers import Estimate
from refless.stats.contrast import contrast
from refless.stats.correlation import settled
from refless.stats.group_sequential import Looks
from refless.stats.intervals import VERDICTS
from refless.stats.samples import Sample

NONE = Estimate(undefined="no item has ratings of both")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWins:
    """Shares of the items with ratings of both systems.

    Attributes:
        items: how many have ratings of both.
        higher, equal, lower: shares of them on which the second system is rated so.
    """

    items: int
    higher: Estimate
    equal: Estimate
    lower: Estimate

    def turned(self) -> "ItemWins":
        """The shares with the other system second."""
        return ItemWins(
            items=self.items, higher=self.lower, equal=self.equal, lower=self.higher
        )


def item_wins(
    first: FloatArray,
    second: FloatArray,
    unit: IntArray,
    *,
    these: bool,
    looks: bool,
    planned: Looks | None,
) -> ItemWins:
    """On how many items the second system is rated higher, as high, and lower.

    Args:
        first, second: [n] mean ratings of the same items, NaN where there is none.
        unit: [n] what each item was drawn with.
        these: whether the question is about these items, and not about items like them.
        looks: whether the intervals are to hold however often one looks.
        planned: planned looks by now, at all of which the intervals are to hold.
    """
    rated = ~np.isnan(first + second)
    n = int(rated.sum())
    if not n:
        return ItemWins(items=0, higher=NONE, equal=NONE, lower=NONE)
    both = settled(np.concatenate([first[rated], second[rated]]))
    gaps = np.full(len(first), math.nan)
    gaps[rated] = np.sign(both[n:] - both[:n])

    def share(sign: int) -> Estimate:
        outcome = np.where(rated, gaps == sign, math.nan)
        result = contrast(Sample.of(outcome, unit), scale=VERDICTS, these=these)
        answer = result.alone
        if looks:
            answer = answer.at_any_look(result.rated, reach=1.0)
        if planned is not None:
            answer = at_planned_look(answer, planned)
        return Estimate.of(answer, n)

    return ItemWins(items=n, higher=share(1), equal=share(0), lower=share(-1))
