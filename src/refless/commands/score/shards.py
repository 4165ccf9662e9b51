"""Outputs in many files, too many for memory: estimates shard by shard, and their sums."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import chain
from os import fspath
from pathlib import Path, PurePath
from threading import Lock
from typing import Any

import numpy as np

from refless.commands.score.novelty import MOST_OUTPUTS
from refless.commands.score.shard import (
    PACKED,
    SUMS,
    Shard,
    ShardJob,
    ShardScorer,
    ending_of,
)
from refless.commands.score.shard_process import OtherProcess
from refless.commands.score.shard_sums import ShardSums, Stream
from refless.commands.warnings import note, progress
from refless.data.tables.memory import paths_of
from refless.estimators.saved import Saved
from refless.files.untrusted import is_folder
from refless.files.writing import make_folder
from refless.metrics.matching import cores
from refless.registry.dialect import called
from refless.registry.errors import InputError, MissingExtraError, UsageError
from refless.registry.plural import counted

ENDINGS = (".jsonl", ".ndjson", ".csv", ".parquet")
NAMED = f"{', '.join(ENDINGS)}, perhaps with {PACKED}"


def streamed(job: ShardJob, outputs: Any, saved: Saved, threads: int | None) -> Stream:
    """The sums of all shards, after the estimates of each are written.

    Finished shards of an earlier run are taken as they are.

    Args:
        job: the settings; saved: the estimator, opened.
        outputs: files, folders or patterns.
        threads: processes that score at once, this one among them; by default one a core.

    Raises:
        UsageError: no files, or estimates that would overwrite them.
        InputError: a shard that cannot be read; finished ones stay.
    """
    shards = shards_in(outputs, job.folder)
    make_folder(Path(job.folder, SUMS))
    waiting = Waiting(job, shards)
    with progress("estimating") as report:
        waiting.report = report
        processes = min(threads or cores(), len(waiting.shards))
        if processes:
            _work(waiting, saved, processes)
    done = len(shards) - len(waiting.shards)
    earlier = f"; {done} of them by an earlier run" if done else ""
    note(f"{job.folder}: the estimates of {counted(len(shards), 'shard')}{earlier}")
    _note_others(job.folder, {shard.name for shard in shards})
    stream = Stream.of([shard.sums(job) for shard in shards])
    _tell(shards, stream)
    return stream


def _note_others(folder: str, names: set[str]) -> None:
    """Says if estimates of other shards lie beside these: who reads the folder reads them too."""
    files = {file.name for file in Path(folder).iterdir()}
    others = sorted(name for name in files - names if ending_of(name) in ENDINGS)
    if others:
        are = counted(len(others), "file")
        note(
            f"{folder}: {are} beside them, such as {others[0]}: of no shard of this run"
        )


def shards_in(outputs: Any, folder: str) -> list[Shard]:
    """The files of outputs, sorted by name; of folders those of the formats of shards.

    Raises:
        UsageError: no files, other formats, two of one name, or a folder that is read itself.
        MissingExtraError: Parquet without pyarrow.
    """
    paths = paths_of(outputs)
    if paths is None or "-" in paths:
        raise UsageError(
            f"shards are files: name their folder, or a pattern such as 'outputs/*.jsonl'; "
            f"without {called('to')} rows come from anywhere"
        )
    files = sorted(chain.from_iterable(map(files_in, paths)))
    names = Counter(PurePath(file).name for file in files)
    for name, count in names.items():
        if ending_of(name) not in ENDINGS:
            raise UsageError(f"{name} is no shard: shards end in {NAMED}")
        if count > 1:
            raise UsageError(f"two shards are called {name}: rename one of them")
    parents = {Path(file).parent for file in files}
    if Path(folder).resolve() in {parent.resolve() for parent in parents}:
        problem = f"{called('to')} {folder}: the outputs are read from there"
        raise UsageError(f"{problem}; name another folder")
    if ".parquet" in map(ending_of, names) and find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet", "parquet")
    return [Shard(file, Path(file).stat().st_size) for file in files]


def files_in(path: str) -> list[str]:
    """The shards in a folder, but for hidden ones and those of other formats; else the file."""
    if not is_folder(path):
        if not Path(path).is_file():
            raise InputError("no such file", path=path, remedy="check the spelling")
        return [path]
    files = [file for file in Path(path).iterdir() if ending_of(file.name) in ENDINGS]
    shards = [fspath(file) for file in files if file.name[0] not in "._"]
    if not shards:
        raise InputError("there is no shard", path=path, remedy=f"these end in {NAMED}")
    return shards


class Waiting:
    """The shards that are not finished, handed out one at a time.

    Attributes:
        job: the settings; shards: those that were not finished at the beginning.
        report: takes the share that is done.
    """

    def __init__(self, job: ShardJob, shards: Sequence[Shard]) -> None:
        self.job = job
        self.shards: list[Shard] = []
        self.report: Callable[[float], None] | None = None
        self._lock = Lock()
        self._lowest = np.ones(0)
        for shard in shards:
            sums = shard.finished(job)
            if sums is None:
                self.shards.append(shard)
            else:
                self._drawn(sums)
        self._ahead = iter(self.shards)
        self._bytes = 0
        self._total = sum(shard.size for shard in self.shards)

    def drain(self, score: Callable[[Shard, float], None]) -> None:
        """Scores shards until none is left; where one fails, others begin no more."""
        try:
            for shard, below in iter(self._next, None):
                score(shard, below)
                self._done(shard)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Hands out no more."""
        self._ahead = iter(())

    def _next(self) -> tuple[Shard, float] | None:
        """A shard, and the random number above which its outputs are not drawn."""
        with self._lock:
            shard = next(self._ahead, None)
            is_full = len(self._lowest) == MOST_OUTPUTS
            below = float(self._lowest[-1]) if is_full else 1.0
        return None if shard is None else (shard, below)

    def _done(self, shard: Shard) -> None:
        sums = ShardSums.load(shard.sums(self.job))
        with self._lock:
            self._drawn(sums)
            self._bytes += shard.size
            if self.report is not None:
                self.report(self._bytes / max(self._total, 1))

    def _drawn(self, sums: ShardSums) -> None:
        """Remembers the random numbers of the outputs that were drawn from a shard."""
        both = np.concatenate([self._lowest, sums.sample.numbers])
        self._lowest = np.sort(both)[:MOST_OUTPUTS]


def _work(waiting: Waiting, saved: Saved, processes: int) -> None:
    """Scores all shards, here and in other processes."""
    job = waiting.job
    with ExitStack() as stack:
        others = [OtherProcess(job) for _ in range(processes - 1)]
        for other in others:
            stack.callback(other.close)
        pool = stack.enter_context(ThreadPoolExecutor(processes))
        jobs = [pool.submit(waiting.drain, other) for other in others]
        try:
            waiting.drain(ShardScorer(job, saved))
        except BaseException:
            for other in others:
                other.kill()
            raise
        for each in jobs:
            each.result()


def _tell(shards: Sequence[Shard], stream: Stream) -> None:
    """Notes what was noticed in shards: a sentence that several share, at the first of them."""
    said: set[str] = set()
    for shard, lines in zip(shards, stream.notes, strict=True):
        for line in _unsaid(shard, lines, said):
            is_named = shard.path in line
            note(line if is_named else f"{shard.path}: {line}")


def _unsaid(shard: Shard, lines: Sequence[str], said: set[str]) -> Iterator[str]:
    """The lines that say more than those before, but for numbers and names of shards."""
    for line in lines:
        sentence = re.sub(r"\d+", "", line.replace(shard.path, ""))
        if sentence not in said:
            said.add(sentence)
            yield line
