"""ROUGE-L (Lin 2004): the longest common subsequence of two texts' tokens."""

from collections.abc import Sequence


def common(x: Sequence[str], s: Sequence[str]) -> int:
    """Length of the longest common subsequence of two lists of tokens."""
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(x, s)
