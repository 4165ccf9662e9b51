"""Matching of outputs with rated texts: exclusions, threads, progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.registry.progress import Progress


@dataclass(frozen=True, slots=True, eq=False)
class Exclusions:
    """The rated texts that each output must not see."""

    group: IntArray  # [outputs] the output's group, -1 for none
    starts: IntArray  # [groups + 1] group g holds `places[starts[g]:starts[g + 1]]`
    places: IntArray  # rated texts as rows of the pool

    def sizes(self) -> IntArray:
        """[outputs] how many rated texts each must not see."""
        return np.where(self.group >= 0, np.diff(self.starts, append=0)[self.group], 0)

    def hide(self, block: FloatArray, begin: int = 0) -> None:
        """Puts -1 into a block [outputs from `begin` on, rated texts] where they must not see."""
        for row, group in zip(
            block, self.group[begin : begin + len(block)], strict=True
        ):
            if group >= 0:
                row[self.places[self.starts[group] : self.starts[group + 1]]] = -1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Work:
    """The conditions of a matching of outputs with rated texts, whatever is matched.

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
            for tasks in rounds:
                for job in as_completed([pool.submit(task) for task in tasks]):
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
