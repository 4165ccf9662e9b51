"""What a block of similarities adds up to."""

from refless.loops.caching import loop
from refless.loops.matching import SLACK


@loop(nogil=True)
def sums_loop(block, values, taus, begin, counts, sums):
    """Counts and sums of the values of the rated texts with similarity >= tau; < 0 is hidden."""
    for i in range(len(block)):
        for j in range(block.shape[1]):
            similarity = block[i, j]
            if similarity < 0.0:
                continue
            for k in range(len(taus)):
                if similarity >= taus[k] - SLACK:
                    counts[begin + i, k] += 1
                    sums[begin + i, k] += values[j]
