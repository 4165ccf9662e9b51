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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refless.compiled import matching as loops
from refless.ngrams import Features
from refless.postings import BLOCK, Postings
from refless.records import FloatArray, IntArray

CHUNK = 128  # outputs a task

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Which rated texts each output must not see.

    Attributes:
        group: [outputs] the output's group, -1 for none.
        starts: [groups + 1] group g holds `places[starts[g]:starts[g + 1]]`.
        places: rated texts as rows of the pool.
    """

    group: IntArray
    starts: IntArray
    places: IntArray


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


def hold_out(output_groups: IntArray, rated_groups: IntArray) -> Held:
    """Hides from each output the rated texts of its own group.

    Args:
        output_groups: [outputs] group numbers from 0, -1 for outputs that see everything.
        rated_groups: [rated texts] group numbers from 0, -1 for texts of no group.
    """
    n = int(max(output_groups.max(initial=-1), rated_groups.max(initial=-1))) + 1
    places = np.argsort(rated_groups, kind="stable")
    starts = np.searchsorted(rated_groups[places], np.arange(n + 1))
    return Held(output_groups.astype(np.int64), starts.astype(np.int64), places.astype(np.int64))


def hide_nothing(outputs: int) -> Held:
    """Every output sees every rated text."""
    return Held(np.full(outputs, -1), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))


def neighbor_sums(
    postings: Postings,
    outputs: Features,
    values: IntArray,
    taus: FloatArray,
    *,
    held: Held | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sums:
    """Count and sum of values of the rated texts with similarity >= tau, for every tau at once.

    Args:
        postings: the rated pool.
        outputs: texts as features of the pool's vocabulary.
        values: [rated texts] integers whose sum stays below 2**63.
        taus: [thresholds] in any order.
        held: what each output must not see.
        threads: number of threads, all cores by default; the result does not depend on it.
        progress: called with the share of the work that is done.
    """
    n = len(outputs.lengths)
    held = held or hide_nothing(n)
    counts = np.zeros((n, len(taus)), dtype=np.int64)
    sums = np.zeros_like(counts)
    sorted_values = values[postings.order]
    place = _place(postings, held)

    def task(block: _Block, begin: int, end: int) -> None:
        loops.sums_loop(
            *_arguments(block, outputs, begin, end),
            np.ascontiguousarray(taus, dtype=np.float64),
            sorted_values[block.begin : block.end],
            held.group,
            held.starts,
            place,
            block.begin,
            counts,
            sums,
        )

    _run(postings, n, task, threads, progress)
    return Sums(counts, sums)


def weighted_sums(
    postings: Postings,
    outputs: Features,
    values: FloatArray,
    tau: float,
    power: float,
    *,
    held: Held | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WeightedSums:
    """Sums over the neighbours, each weighing similarity**power; arguments as `neighbor_sums`.

    Floating-point sums run in the order of `postings.order`, whatever the threads.
    """
    n = len(outputs.lengths)
    held = held or hide_nothing(n)
    result = WeightedSums(np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n))
    sorted_values = values[postings.order]
    place = _place(postings, held)

    def task(block: _Block, begin: int, end: int) -> None:
        loops.weighted_loop(
            *_arguments(block, outputs, begin, end),
            tau,
            power,
            sorted_values[block.begin : block.end],
            held.group,
            held.starts,
            place,
            block.begin,
            result.counts,
            result.weights,
            result.sums,
        )

    _run(postings, n, task, threads, progress)
    return result


def similarities(
    postings: Postings,
    outputs: Features,
    *,
    symmetric: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> FloatArray:
    """[outputs, rated texts] similarity of every pair; `symmetric` is the mean both ways."""
    out = np.zeros((len(outputs.lengths), len(postings)))

    def task(block: _Block, begin: int, end: int) -> None:
        rows = postings.order[block.begin : block.end]
        loops.similarities_loop(*_arguments(block, outputs, begin, end), symmetric, rows, out)

    _run(postings, len(out), task, threads, progress)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """One block of rated texts, with the place of each of its features in the postings."""

    postings: Postings
    begin: int
    end: int
    slots: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint32]


def _blocks(postings: Postings) -> Iterator[_Block]:
    for number, begin in enumerate(range(0, len(postings), BLOCK)):
        end = min(begin + BLOCK, len(postings))
        entries = slice(postings.block_starts[number], postings.block_starts[number + 1])
        slots = np.full(len(postings.common), -1, dtype=np.int32)
        slots[postings.features[entries]] = np.arange(entries.start, entries.stop)
        bits = np.ascontiguousarray(postings.bits[:, begin:end])
        yield _Block(postings, begin, end, slots, bits)


def _run(
    postings: Postings,
    n: int,
    task: Callable[[_Block, int, int], None],
    threads: int | None,
    progress: Progress | None,
) -> None:
    """Runs the task for every block and every chunk of outputs; a chunk is one thread's."""
    blocks = -(-len(postings) // BLOCK)
    total, done = blocks * -(-n // CHUNK), 0
    with ThreadPoolExecutor(threads or cores()) as pool:
        for block in _blocks(postings):
            chunks = [(begin, min(begin + CHUNK, n)) for begin in range(0, n, CHUNK)]
            jobs = [pool.submit(task, block, *chunk) for chunk in chunks]
            for job in as_completed(jobs):
                job.result()
                done += 1
                if progress is not None:
                    progress(done / total)


def cores() -> int:
    """Number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _place(postings: Postings, held: Held) -> IntArray:
    """The held rated texts as places in the order by length, ascending within each group."""
    rank = np.empty(len(postings), dtype=np.int64)
    rank[postings.order] = np.arange(len(postings))
    place = rank[held.places]
    group = np.repeat(np.arange(len(held.starts) - 1), np.diff(held.starts))
    place[held.starts[0] :] = place[held.starts[0] :][np.lexsort((place[held.starts[0] :], group))]
    return place


def _arguments(block: _Block, outputs: Features, begin: int, end: int) -> tuple[object, ...]:
    """What every loop reads, in the order of their first parameters."""
    p = block.postings
    return (
        outputs.ids,
        outputs.weights,
        outputs.starts,
        outputs.lengths,
        begin,
        end,
        p.low,
        p.lengths[block.begin : block.end],
        block.slots,
        p.feature_starts,
        p.members,
        p.common,
        block.bits,
        p.words,
    )
