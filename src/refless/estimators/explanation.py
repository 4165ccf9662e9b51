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
        parts = [Part(part.name, part.addition * size) for part in self.parts]
        neighbors = [replace(n, rating=n.rating * size + low) for n in self.neighbors]
        return replace(
            self,
            estimate=self.estimate * size + low,
            low=self.low * size + low,
            high=self.high * size + low,
            mean=self.mean * size + low,
            parts=tuple(parts),
            neighbors=tuple(neighbors),
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
    neighbors = []
    for i, similarity, share in zip(rows, similarities, shares, strict=True):
        text = rated.texts[i]
        neighbors.append(
            Neighbor(
                id=rated.ids[i],
                text=text,
                rating=float(rated.human[i]),
                similarity=float(similarity),
                share=float(share),
                shared=shared(text),
                n_ratings=int(counts[i]),
            )
        )
    return tuple(neighbors)
