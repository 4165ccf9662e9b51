"""Kernels that have no postings: sums over neighbours out of blocks of similarities.

A block holds some outputs against all rated texts, and is gone before the next one of its thread:
memory stays bounded however many outputs there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from refless.compiled import dense as loops
from refless.matching import Held, Progress, Sums, WeightedSums, cores, hide_nothing
from refless.records import FloatArray, IntArray

BLOCK_PAIRS = 1 << 20  # pairs a block: 8 MB
BLOCK_ROWS = 128
EVIDENCE_TOKENS = 2_000  # shared stretches are looked for in the first so many tokens
EVIDENCE_MOST = 5

Rows = Callable[[int, int], FloatArray]  # outputs begin..end -> [end - begin, rated texts]
_Task = Callable[[FloatArray, int], None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dense:
    """A kernel against fixed rated texts, given by its rows of similarities.

    Attributes:
        size: number of rated texts.
        rows: outputs -> what computes the similarities of some of them; they lie in [0, 1].
        count: texts -> number of tokens of each.
        common: two texts -> what they share, for people.
        least: fewest tokens with which a text can resemble another.
        parallel: whether rows may be computed in several threads at once.
    """

    size: int
    rows: Callable[[Sequence[str]], Rows]
    count: Callable[[Sequence[str]], IntArray]
    common: Callable[[str, str], tuple[str, ...]]
    least: int = 1
    parallel: bool = True

    def lengths(self, texts: Sequence[str]) -> IntArray:
        """[texts] number of tokens."""
        return self.count(texts)

    def shortest(self) -> int:
        """Fewest tokens with which a text can resemble another."""
        return self.least

    def shared(self, text: str, rated: str) -> tuple[str, ...]:
        """What an output and a rated text have in common, longest first."""
        return self.common(text, rated)

    def similarities(
        self,
        texts: Sequence[str],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> FloatArray:
        """[texts, rated texts] similarity of every pair."""
        out = np.zeros((len(texts), self.size))

        def task(block: FloatArray, begin: int) -> None:
            out[begin : begin + len(block)] = np.maximum(block, 0.0)  # too short: 0

        self._run(texts, task, None, threads, progress)
        return out

    def neighbor_sums(
        self,
        texts: Sequence[str],
        values: IntArray,
        taus: FloatArray,
        *,
        held: Held | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Sums:
        """See `matching.neighbor_sums`; a text of too few tokens has no neighbours at any tau."""
        counts = np.zeros((len(texts), len(taus)), dtype=np.int64)
        sums = np.zeros_like(counts)
        thresholds = np.ascontiguousarray(taus, dtype=np.float64)

        def task(block: FloatArray, begin: int) -> None:
            loops.sums_loop(block, values, thresholds, begin, counts, sums)

        self._run(texts, task, held, threads, progress)
        return Sums(counts, sums)

    def weighted_sums(
        self,
        texts: Sequence[str],
        values: FloatArray,
        tau: float,
        power: float,
        *,
        held: Held | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> WeightedSums:
        """See `matching.weighted_sums`."""
        n = len(texts)
        found = WeightedSums(np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n))

        def task(block: FloatArray, begin: int) -> None:
            loops.weighted_loop(
                block, values, tau, power, begin, found.counts, found.weights, found.sums
            )

        self._run(texts, task, held, threads, progress)
        return found

    def _run(
        self,
        texts: Sequence[str],
        task: _Task,
        held: Held | None,
        threads: int | None,
        progress: Progress | None,
    ) -> None:
        """Runs the task on every block, in which -1 marks what an output must not see."""
        n = len(texts)
        rows, short = self.rows(texts), self.lengths(texts) < self.least
        held = held or hide_nothing(n)
        step = max(1, min(BLOCK_ROWS, BLOCK_PAIRS // max(1, self.size)))
        chunks = [(begin, min(begin + step, n)) for begin in range(0, n, step)]

        def work(begin: int, end: int) -> None:
            block = rows(begin, end)
            block[short[begin:end]] = -1.0
            _hide(block, held, begin)
            task(block, begin)

        done = 0
        with ThreadPoolExecutor((threads or cores()) if self.parallel else 1) as pool:
            for job in as_completed([pool.submit(work, *chunk) for chunk in chunks]):
                job.result()
                done += 1
                if progress is not None:
                    progress(done / len(chunks))


def _hide(block: FloatArray, held: Held, begin: int) -> None:
    for i in range(len(block)):
        group = held.group[begin + i]
        if group >= 0:
            block[i, held.places[held.starts[group] : held.starts[group + 1]]] = -1.0


def stretches(x: Sequence[str], s: Sequence[str], least: int, glue: str) -> tuple[str, ...]:
    """Stretches of at least so many tokens that both lists hold, longest first."""
    x, s = x[:EVIDENCE_TOKENS], s[:EVIDENCE_TOKENS]
    blocks = SequenceMatcher(None, x, s, autojunk=False).get_matching_blocks()
    found = {glue.join(x[b.a : b.a + b.size]) for b in blocks if b.size >= least}
    return tuple(sorted(found, key=lambda run: (-len(run), run))[:EVIDENCE_MOST])
