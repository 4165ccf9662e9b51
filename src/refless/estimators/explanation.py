"""The evidence behind one estimate, whatever the estimator."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from refless.data.records import Estimates, Neighbor, RatedPool, Reason, Scale
from refless.registry.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Part:
    """The part of an estimate that one property of texts adds."""

    name: str  # for people
    addition: float  # in units of the estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The evidence behind one estimate.

    Attributes:
        estimate: the estimate, NaN where undefined; low, high: its interval.
        reason: why it is undefined, or "".
        support: number of rated texts it rests on; size: number they were drawn from.
        neighbors: these, most similar first, or those with the largest share first.
        mean: mean estimate of the rated texts; parts: what makes this one another, the largest
            first. They sum to the estimate before it is cut to the scale. NaN and () where there is
            no estimate, and of estimators that add nothing up.
    """

    estimate: float
    low: float
    high: float
    reason: Reason
    support: int
    size: int
    neighbors: tuple[Neighbor, ...]
    mean: float = float("nan")
    parts: tuple[Part, ...] = ()

    @classmethod
    def of(
        cls, estimates: Estimates, size: int, neighbors: tuple[Neighbor, ...] = ()
    ) -> Self:
        """The evidence behind the one estimate, out of so many rated texts."""
        return cls(
            estimate=float(estimates.values[0]),
            low=float(estimates.low[0]),
            high=float(estimates.high[0]),
            reason=estimates.reasons[0],
            support=int(estimates.support[0]),
            size=size,
            neighbors=neighbors,
        )

    def on(self, scale: Scale | None) -> Self:
        """The same in the raters' units; unchanged without a scale."""
        low, high = scale or (0.0, 1.0)
        size = high - low
        names = ("estimate", "low", "high", "mean")
        return replace(
            self,
            **{name: getattr(self, name) * size + low for name in names},
            parts=tuple(Part(part.name, part.addition * size) for part in self.parts),
            neighbors=tuple(
                replace(n, rating=n.rating * size + low) for n in self.neighbors
            ),
        )


def evidence(
    rated: RatedPool,
    rows: IntArray,
    similarities: FloatArray,
    shares: FloatArray,
    shared: Callable[[str], tuple[str, ...]],
) -> tuple[Neighbor, ...]:
    """Some of the rated texts as evidence, in the order given.

    Args:
        rated: the rated texts; rows: which of them.
        similarities, shares: of these rows.
        shared: what a rated text has in common with the output.
    """
    counts = np.bincount(rated.ratings.text, minlength=len(rated))
    return tuple(
        Neighbor(
            id=rated.ids[i],
            text=rated.texts[i],
            rating=float(rated.human[i]),
            similarity=float(similarity),
            share=float(share),
            shared=shared(rated.texts[i]),
            n_ratings=int(counts[i]),
        )
        for i, similarity, share in zip(rows, similarities, shares, strict=True)
    )
