"""On how many items one system is rated higher than another, as high, or lower."""

from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats.correlation import settled


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWins:
    """Shares of the items with ratings of both systems; NaN if there is none.

    Attributes:
        items: how many have ratings of both.
        higher, equal, lower: shares of them on which the second system is rated so.
    """

    items: int
    higher: float
    equal: float
    lower: float

    def turned(self) -> "ItemWins":
        """The shares with the other system second."""
        return ItemWins(items=self.items, higher=self.lower, equal=self.equal, lower=self.higher)


def item_wins(first: FloatArray, second: FloatArray) -> ItemWins:
    """On how many items the second system is rated higher, as high, and lower.

    Args:
        first, second: [n] mean ratings of the same items, NaN where there is none.
    """
    rated = ~np.isnan(first + second)
    n = int(rated.sum())
    both = settled(np.concatenate([first[rated], second[rated]]))
    gaps = both[n:] - both[:n]
    if not n:
        return ItemWins(items=0, higher=np.nan, equal=np.nan, lower=np.nan)
    higher = int((gaps > 0).sum())
    lower = int((gaps < 0).sum())
    return ItemWins(items=n, higher=higher / n, equal=(n - higher - lower) / n, lower=lower / n)
