"""What a block of similarities adds up to."""

from refless.loops.caching import loop
from refless.loops.matching import SLACK, add_weighted


@loop(nogil=True)
def sums_loop(block, values, taus, begin, counts, sums):
    """Counts and sums of the values of the rated texts with similarity >= tau; < 0 is hidden.

    `values` has a row for each tau, or one for all.
    """
    for i in range(len(block)):
        for j in range(block.shape[1]):
            similarity = block[i, j]
            if similarity < 0.0:
                continue
            for k in range(len(taus)):
                if similarity >= taus[k] - SLACK:
                    counts[begin + i, k] += 1
                    sums[begin + i, k] += values[min(k, len(values) - 1), j]


@loop(nogil=True)
def weighted_loop(block, values, tau, power, begin, counts, weights, sums):
    """The same for one tau, with weights similarity**power; a weight of 0 does not count."""
    for i in range(len(block)):
        add_weighted(block[i], values, tau, power, begin + i, counts, weights, sums)
