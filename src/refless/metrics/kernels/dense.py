"""Kernels that have read the rated texts: sums over neighbours out of blocks of similarities.

A block holds some outputs against all rated texts, and is gone before the next one of its thread:
memory stays bounded however many outputs there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial

import numpy as np

from refless.loops import Loops
from refless.metrics.matching import PLAIN, Work
from refless.registry.arrays import FloatArray, IntArray
from refless.text.terms import tokens_of
from refless.text.tokenize import tokenizer

loops = Loops("matching")

BLOCK_PAIRS = 1 << 20  # pairs a block: 8 MB
BLOCK_ROWS = 128
EVIDENCE_TOKENS = 2_000  # shared stretches are looked for in the first so many tokens
EVIDENCE_MOST = 5

# outputs begin..end -> [end - begin, rated texts]
Rows = Callable[[int, int], FloatArray]
_Task = Callable[[FloatArray, int], None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dense:
    """A kernel against fixed rated texts, given by its rows of similarities.

    Attributes:
        size: number of rated texts.
        rows: outputs -> what computes the similarities of some of them; they lie in [0, 1].
        tokenize: the tokens that are counted, and shown to people where texts share them.
        least: fewest tokens with which a text can resemble another.
        stretch: fewest tokens in a row that are worth showing.
        parallel: whether rows may be computed in several threads at once.
    """

    size: int
    rows: Callable[[Sequence[str]], Rows]
    tokenize: str = "words"
    least: int = 1
    stretch: int = 1
    parallel: bool = True

    def lengths(self, texts: Sequence[str]) -> IntArray:
        """[texts] number of tokens."""
        return tokens_of(texts, self.tokenize).lengths

    def shared(self, text: str, rated: str) -> tuple[str, ...]:
        """The strings that an output and a rated text share, longest first."""
        return stretches(text, rated, self.tokenize, self.stretch)

    def similarities(self, texts: Sequence[str], work: Work = PLAIN) -> FloatArray:
        """[texts, rated texts] similarity of every pair, -1 where a text must not see the other."""
        out = np.zeros((len(texts), self.size))

        def task(block: FloatArray, begin: int) -> None:
            out[begin : begin + len(block)] = np.maximum(block, 0.0)  # too short: 0

        self._run(texts, task, work)
        if work.held is not None:
            work.held.hide(out)
        return out

    def neighbor_sums(
        self, texts: Sequence[str], values: IntArray, tau: float, work: Work = PLAIN
    ) -> tuple[IntArray, IntArray]:
        """[texts] how many rated texts have a similarity >= tau, and the sum of their values.

        A text of too few tokens has no neighbours at any tau.

        Args:
            texts: outputs; values: [rated texts] integers whose sum stays below 2**63.
            tau: from 0 to 1; work: what each must not see, threads and progress.
        """
        counts, sums = np.zeros((2, len(texts)), dtype=np.int64)

        def task(block: FloatArray, begin: int) -> None:
            near = block >= tau - loops.SLACK
            rows = slice(begin, begin + len(block))
            counts[rows], sums[rows] = near.sum(axis=1), near @ values

        self._run(texts, task, work)
        return counts, sums

    def _run(self, texts: Sequence[str], task: _Task, work: Work) -> None:
        """Runs the task on every block, in which -1 marks what an output must not see."""
        n = len(texts)
        rows = self.rows(texts)
        short = self.lengths(texts) < self.least
        step = max(1, min(BLOCK_ROWS, BLOCK_PAIRS // max(1, self.size)))

        def job(begin: int) -> None:
            end = min(begin + step, n)
            block = rows(begin, end)
            block[short[begin:end]] = -1.0
            if work.held is not None:
                work.held.hide(block, begin)
            task(block, begin)

        jobs = [partial(job, begin) for begin in range(0, n, step)]
        (work if self.parallel else replace(work, threads=1)).run([jobs], len(jobs))


def stretches(text: str, rated: str, tokenize: str, least: int) -> tuple[str, ...]:
    """Stretches of at least so many tokens that both texts hold, longest first."""
    split = tokenizer(tokenize)
    glue = "" if tokenize == "char" else " "
    x = split(text)[:EVIDENCE_TOKENS]
    s = split(rated)[:EVIDENCE_TOKENS]
    blocks = SequenceMatcher(None, x, s, autojunk=False).get_matching_blocks()
    runs = {glue.join(x[b.a : b.a + b.size]) for b in blocks if b.size >= least}
    return tuple(sorted(runs, key=lambda run: (-len(run), run))[:EVIDENCE_MOST])
