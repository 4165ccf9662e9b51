"""The evidence behind one estimate, whatever the estimator."""

from __future__ import annotations

from dataclasses import dataclass

from refless.records import Neighbor, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The evidence behind one estimate.

    Attributes:
        estimate: the estimate, NaN where undefined; low, high: its interval.
        reason: why it is undefined, or "".
        support: number of rated texts it rests on; size: number they were drawn from.
        neighbors: these, most similar first, or those with the largest share first.
    """

    estimate: float
    low: float
    high: float
    reason: Reason
    support: int
    size: int
    neighbors: tuple[Neighbor, ...]
