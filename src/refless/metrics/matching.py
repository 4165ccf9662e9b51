"""The compiled hot loop: postings of a rated pool -> match counts -> thresholded sums.

For one output and one block of rated texts the loop counts the matches of every order, multiplies
them, and compares the product with the smallest one whose similarity reaches tau (similarity rises
with the product, so the comparison is exact and no root is taken).

Two ways of counting, chosen for each output and block by what the counters can hold:

* packed: three counters of 10 bits in one 32-bit word, so that one addition counts a match of any
  order;
* wide: a 32-bit counter for each order, for texts whose counts could pass 1,023, and for any other
  number of orders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from refless.loops import Loops
from refless.metrics.postings import BLOCK, Postings
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.progress import Progress
from refless.text.ngrams import Features

loops = Loops("matching")

CHUNK = 128  # outputs a task


@dataclass(frozen=True, slots=True, eq=False)
class Exclusions:
    """Which rated texts each output must not see.

    Attributes:
        group: [outputs] the output's group, -1 for none.
        starts: [groups + 1] group g holds `places[starts[g]:starts[g + 1]]`.
        places: rated texts as rows of the pool.
    """

    group: IntArray
    starts: IntArray
    places: IntArray

    def sizes(self) -> IntArray:
        """[outputs] how many rated texts each must not see."""
        return np.where(self.group >= 0, np.diff(self.starts, append=0)[self.group], 0)

    def hide(self, block: FloatArray, begin: int = 0) -> None:
        """Puts -1 into a block [outputs from `begin` on, rated texts] where they must not see."""
        for row, group in zip(block, self.group[begin : begin + len(block)], strict=True):
            if group >= 0:
                row[self.places[self.starts[group] : self.starts[group + 1]]] = -1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Work:
    """What a matching of outputs with rated texts heeds, whatever is matched.

    Attributes:
        held: what each output must not see; None where it sees every rated text.
        threads: number of threads, all cores by default; no result depends on it.
        progress: called with the share of the work that is done.
    """

    held: Exclusions | None = None
    threads: int | None = None
    progress: Progress | None = None

    def run(self, rounds: Iterable[Sequence[Callable[[], None]]], jobs: int) -> None:
        """Runs so many jobs on the threads, one round after the other."""
        done = 0
        with ThreadPoolExecutor(self.threads or cores()) as pool:
            for some in rounds:
                for job in as_completed([pool.submit(task) for task in some]):
                    job.result()
                    done += 1
                    if self.progress is not None:
                        self.progress(done / jobs)


PLAIN = Work()


def cores() -> int:
    """Number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What an output's neighbours add up to, for each threshold.

    Attributes:
        counts: [outputs, thresholds] number of neighbours.
        sums: [outputs, thresholds] sum of their values (integers: exact in any order).
    """

    counts: IntArray
    sums: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSums:
    """The same with weights similarity**power, for one threshold.

    Attributes:
        counts: [outputs] number of neighbours.
        weights: [outputs] sum of their weights.
        sums: [outputs] sum of weight times value.
    """

    counts: IntArray
    weights: FloatArray
    sums: FloatArray


def hold_out(output_groups: IntArray, rated_groups: IntArray) -> Exclusions:
    """Hides from each output the rated texts of its own group.

    Args:
        output_groups: [outputs] group numbers from 0, -1 for outputs that see everything.
        rated_groups: [rated texts] group numbers from 0, -1 for texts of no group.
    """
    n = int(max(output_groups.max(initial=-1), rated_groups.max(initial=-1))) + 1
    places = np.argsort(rated_groups, kind="stable")
    starts = np.searchsorted(rated_groups[places], np.arange(n + 1))
    return Exclusions(
        output_groups.astype(np.int64), starts.astype(np.int64), places.astype(np.int64)
    )


def hide_nothing(outputs: int) -> Exclusions:
    """Every output sees every rated text."""
    return Exclusions(
        np.full(outputs, -1), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    )


def neighbor_sums(
    postings: Postings, outputs: Features, values: IntArray, taus: FloatArray, work: Work = PLAIN
) -> Sums:
    """Count and sum of values of the rated texts with similarity >= tau, for every tau at once.

    Args:
        postings: the rated pool.
        outputs: texts as features of the pool's vocabulary.
        values: [rated texts] integers whose sum stays below 2**63; or [thresholds, rated texts].
        taus: [thresholds] in any order.
        work: what each output must not see, threads and progress.
    """
    n = len(outputs.lengths)
    counts = np.zeros((n, len(taus)), dtype=np.int64)
    sums = np.zeros_like(counts)
    thresholds = np.ascontiguousarray(taus, dtype=np.float64)
    columns = _columns(outputs)
    hidden, rows = _hidden(postings, work.held or hide_nothing(n)), np.atleast_2d(values)

    def task(block: _Block, begin: int, end: int) -> None:
        own = np.take(rows, postings.order[block.begin : block.end], axis=1)
        loops.sums_loop(
            columns, block.arrays, begin, end, hidden, block.begin, thresholds, own, counts, sums
        )

    _run(postings, n, task, work)
    return Sums(counts, sums)


def weighted_sums(
    postings: Postings,
    outputs: Features,
    values: FloatArray,
    tau: float,
    power: float,
    work: Work = PLAIN,
) -> WeightedSums:
    """Sums over the neighbours, each weighing similarity**power; arguments as `neighbor_sums`.

    Floating-point sums run in the order of `postings.order`, whatever the threads.
    """
    n = len(outputs.lengths)
    result = WeightedSums(np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n))
    columns = _columns(outputs)
    sorted_values, hidden = values[postings.order], _hidden(postings, work.held or hide_nothing(n))

    def task(block: _Block, begin: int, end: int) -> None:
        own, totals = sorted_values[block.begin : block.end], (result.counts, result.weights)
        where = (columns, block.arrays, begin, end, hidden, block.begin)
        loops.weighted_loop(*where, tau, power, own, *totals, result.sums)

    _run(postings, n, task, work)
    return result


def similarities(
    postings: Postings,
    outputs: Features,
    work: Work = PLAIN,
    *,
    cosine: bool = False,
) -> FloatArray:
    """[outputs, rated texts] similarity of every pair, -1 where an output must not see the text.

    Args:
        postings, outputs, work: as of `neighbor_sums`.
        cosine: instead, the mean over orders of the cosine of clipped n-gram counts.
    """
    columns = _columns(outputs)
    out = np.zeros((len(outputs.lengths), len(postings)))

    def task(block: _Block, begin: int, end: int) -> None:
        rows = postings.order[block.begin : block.end]
        loops.similarities_loop(columns, block.arrays, begin, end, cosine, rows, out)

    _run(postings, len(out), task, work)
    if work.held is not None:
        work.held.hide(out)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Rated texts `begin` to `end` in the order by length, as the loops read them."""

    begin: int
    end: int
    arrays: tuple[object, ...]


def _blocks(postings: Postings) -> Iterator[_Block]:
    p = postings
    for number, begin in enumerate(range(0, len(p), BLOCK)):
        end = min(begin + BLOCK, len(p))
        entries = slice(p.block_starts[number], p.block_starts[number + 1])
        slots = np.full(len(p.common), -1, dtype=np.int32)  # a feature's place among the postings
        slots[p.features[entries]] = np.arange(entries.start, entries.stop)
        bits = np.ascontiguousarray(p.bits[:, begin:end])
        members = (p.feature_starts, p.members, p.common)
        yield _Block(begin, end, (p.low, p.lengths[begin:end], slots, *members, bits, p.words))


def _run(postings: Postings, n: int, task: Callable[[_Block, int, int], None], work: Work) -> None:
    """Runs the task for every block and every chunk of outputs; a chunk is one thread's."""
    chunks = [(begin, min(begin + CHUNK, n)) for begin in range(0, n, CHUNK)]
    rounds = ([partial(task, block, *chunk) for chunk in chunks] for block in _blocks(postings))
    work.run(rounds, -(-len(postings) // BLOCK) * len(chunks))


def _hidden(postings: Postings, exclusions: Exclusions) -> tuple[IntArray, IntArray, IntArray]:
    """Group, starts and places of what is held, as places in the order by length, ascending."""
    rank = np.empty(len(postings), dtype=np.int64)
    rank[postings.order] = np.arange(len(postings))
    place = rank[exclusions.places]
    group = np.repeat(np.arange(len(exclusions.starts) - 1), np.diff(exclusions.starts))
    inside = slice(exclusions.starts[0], None)
    place[inside] = place[inside][np.lexsort((place[inside], group))]
    return exclusions.group, exclusions.starts, place


def _columns(outputs: Features) -> tuple[npt.NDArray[np.integer], ...]:
    return outputs.ids, outputs.weights, outputs.starts, outputs.lengths
