"""One shard: outputs in a file, their estimates in another, and the sums of these."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePath

import msgspec
import numpy as np

from refless.commands.estimating import estimated_rows
from refless.commands.models import with_scores_of
from refless.commands.rows import ScoredRows, note_codes, told_outputs
from refless.commands.score.copies import copies
from refless.commands.score.data import estimate_rows
from refless.commands.score.shard_sums import (
    DrawnOutputs,
    ShardFacts,
    ShardSums,
    groups_of_shard,
)
from refless.commands.warnings import silenced
from refless.data.design import column_of, group_names, units_of
from refless.data.records import Estimates
from refless.data.tables import OutputsRead
from refless.estimators.saved import Saved, opened
from refless.files.arrays import ENDING
from refless.files.writing import write_atomic
from refless.registry.arrays import Names
from refless.registry.dialect import command_line
from refless.registry.errors import InputError
from refless.report.export import Rows as Written
from refless.report.export import as_csv, as_jsonl, as_parquet

SUMS = "_refless"  # the folder of sums, beside the estimates; Spark and others skip _
PACKED = ".gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardJob:
    """The same for all shards; it can be sent to another process.

    Attributes:
        model: file of the fitted estimator; signature: of it.
        rows: how outputs are read; folder: of the estimates.
        seed: of what is drawn; flags: see `flags_spoken`.
    """

    model: str
    signature: str
    rows: ScoredRows
    folder: str
    seed: int
    flags: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of outputs, and its size in bytes."""

    path: str
    size: int

    @property
    def name(self) -> str:
        """Its name, which that of its estimates is too."""
        return PurePath(self.path).name

    def estimates(self, job: ShardJob) -> Path:
        """The file of its estimates."""
        return Path(job.folder, self.name)

    def sums(self, job: ShardJob) -> Path:
        """The file of their sums."""
        return Path(job.folder, SUMS, f"{self.name}{ENDING}")

    def key(self, job: ShardJob) -> str:
        """All that its estimates depend on: another key, and it is done again."""
        changed = Path(self.path).stat().st_mtime_ns
        told = (job.signature, job.rows, job.seed, self.path, self.size, changed)
        return sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()

    def finished(self, job: ShardJob) -> ShardSums | None:
        """The sums, if its estimates are there, made from the same as they would be now."""
        if not self.estimates(job).is_file():
            return None
        try:
            sums = ShardSums.load(self.sums(job))
        except InputError:
            return None
        return sums if sums.facts.key == self.key(job) else None


class ShardScorer:
    """An estimator that scores shards, one after the other."""

    def __init__(self, job: ShardJob, saved: Saved | None = None) -> None:
        self.job = job
        self.saved = saved or opened(job.model, threads=1)
        estimator = self.saved.estimator
        rows = with_scores_of(estimator, job.rows)
        self._reading = rows.to_reading(group=column_of(self.saved.group))
        self._rated_units = {*estimator.residuals().sources}

    def __call__(self, shard: Shard, below: float) -> None:
        """Writes a shard's estimates, then their sums: what is killed between is done again.

        Args:
            shard: the outputs; below: of the sample, random numbers that are low enough.

        Raises:
            InputError: a file that cannot be read; it names file and line.
        """
        key = shard.key(self.job)
        with command_line(self.job.flags), silenced() as notes:
            read, estimates = estimated_rows(
                self.saved.estimator, shard.path, self._reading
            )
            told_outputs(read)
            note_codes(self.saved.estimator.rated, read.outputs)
            sums = self._sums(shard, read, estimates, key, below)
            rows = estimate_rows(
                read.outputs.take(read.listed), estimates.take(read.listed)
            )
            content = content_of(shard.name, rows)
        write_atomic(str(shard.estimates(self.job)), content)
        facts = msgspec.structs.replace(sums.facts, notes=tuple(notes))
        replace(sums, facts=facts).save(shard.sums(self.job))

    def _sums(
        self,
        shard: Shard,
        read: OutputsRead,
        estimates: Estimates,
        key: str,
        below: float,
    ) -> ShardSums:
        """The sums of the estimates of a shard."""
        outputs = read.outputs
        seed = self.job.seed
        rated = self.saved.estimator.rated
        values = estimates.values
        copied, is_copy = copies(outputs, rated, seed, self.saved.runs)
        labels = self._labels(read)
        groups = groups_of_shard(outputs, values, labels, is_copy, self._rated_units)
        # the same numbers, whichever shard is done first
        rng = np.random.default_rng([seed, *shard.name.encode("utf-8", "replace")])
        sample = DrawnOutputs(outputs, values, rng.random(len(outputs))).lowest(below)
        facts = ShardFacts(
            key=key,
            systems=tuple(sorted({*outputs.systems})),
            reasons=dict(Counter(filter(None, estimates.reasons))),
            itself=copied.n_itself,
            notes=(),
            score_names=outputs.score_names,
        )
        return ShardSums(facts, groups, sample)

    def _labels(self, read: OutputsRead) -> Names:
        """[n] what the outputs belong to; where ratings do not say it, their source or item."""
        outputs = read.outputs
        group = self.saved.group
        labels: Names = ()
        if group is not None:
            labels = group_names(outputs, group, read.group)
        labels = units_of(outputs, labels, like=self.saved.estimator.rated)
        return labels or outputs.sources or outputs.items


def ending_of(name: str) -> str:
    """The ending that says the format, packed or not."""
    return PurePath(name.removesuffix(PACKED)).suffix


def content_of(name: str, rows: Written) -> bytes:
    """The rows in the format that a file's name says, packed if it ends in .gz."""
    ending = ending_of(name)
    if ending == ".parquet":
        content = as_parquet(rows)
    else:
        text = as_csv(rows) if ending == ".csv" else as_jsonl(rows)
        content = text.encode("utf-8", "replace")
    return gzip.compress(content, 6, mtime=0) if name.endswith(PACKED) else content
