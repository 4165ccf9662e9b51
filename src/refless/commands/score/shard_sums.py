"""Sums of shards: what is kept of outputs whose estimates are on disk already.

They lie beside a shard's estimates and add up, whatever the order of shards. A system's mean needs
sums for each source of its outputs; guards look at outputs that are drawn from all shards.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from hashlib import blake2b
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from refless.commands.score.novelty import MOST_OUTPUTS
from refless.data.records import COLUMNS, Outputs, columns_of
from refless.files.arrays import (
    Array,
    Arrays,
    array_of,
    check_within,
    damaged,
    json_array,
    json_of,
    read_arrays,
    write_arrays,
)
from refless.registry.arrays import BoolArray, FloatArray, IntArray, Names, Strings
from refless.stats.clusters import GroupSums

KIND = "sums of a shard"
REMEDY = "delete it, and its shard is done again"
ROOM = 1 << 20  # groups that are added up at a time
KEYS = ("system", "unit", "copied")
COUNTED = ("rows", "defined", "strange")
ADDED = (*COUNTED, "total", "squares")
SAMPLE = "sample."
Columns = Mapping[str, Array]


class ShardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about one shard.

    Attributes:
        key: of the outputs, the model and the settings that it was made with.
        systems: names, sorted; () without a column of systems.
        reasons: how often each reason of having no estimate occurs.
        itself: outputs that are rated texts; notes: what was noticed while it was read.
        score_names: columns of scores.
    """

    key: str
    systems: Strings
    reasons: dict[str, int]
    itself: int
    notes: Strings
    score_names: Strings


@dataclass(frozen=True, slots=True, eq=False)
class DrawnOutputs:
    """Outputs that are drawn at random: those with the lowest numbers of all.

    Attributes:
        outputs: n of them; values: [n] their estimates; numbers: [n] random ones.
    """

    outputs: Outputs
    values: FloatArray
    numbers: FloatArray

    def lowest(self, below: float = math.inf) -> DrawnOutputs:
        """Those with the lowest numbers, which are below this one."""
        rows = np.argsort(self.numbers, kind="stable")[:MOST_OUTPUTS]
        rows = rows[self.numbers[rows] < below]
        return DrawnOutputs(
            self.outputs.take(rows), self.values[rows], self.numbers[rows]
        )

    def beside(self, other: DrawnOutputs) -> DrawnOutputs:
        """The lowest ones of both; a column that one of them lacks is blank there."""
        first = self.outputs
        second = other.outputs
        if not len(first):
            return other
        columns: dict[str, Any] = {}
        for name in COLUMNS:
            one = getattr(first, name)
            two = getattr(second, name)
            if one or two:
                blank = ("",)
                one = one or blank * len(first)
                two = two or blank * len(second)
            columns[name] = one + two
        outputs = Outputs(
            **columns,
            score_names=first.score_names,
            scores=np.concatenate([first.scores, second.scores]),
        )
        values = np.concatenate([self.values, other.values])
        numbers = np.concatenate([self.numbers, other.numbers])
        return DrawnOutputs(outputs, values, numbers).lowest()


NOBODY = DrawnOutputs(Outputs(ids=(), texts=()), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class ShardSums:
    """Facts about a shard, sums by system and source, and outputs drawn from it."""

    facts: ShardFacts
    groups: Columns
    sample: DrawnOutputs

    def save(self, path: Path) -> None:
        """Writes them to a file, whole or not at all."""
        sample = self.sample
        arrays = {
            **self.groups,
            f"{SAMPLE}strings": json_array(columns_of(sample.outputs)),
            f"{SAMPLE}scores": sample.outputs.scores,
            f"{SAMPLE}values": sample.values,
            f"{SAMPLE}numbers": sample.numbers,
        }
        write_arrays(path, KIND, msgspec.to_builtins(self.facts), arrays)

    @classmethod
    def load(cls, path: Path) -> ShardSums:
        """Those of a file; raises InputError for none there, or a damaged one."""
        facts, arrays = read_arrays(path, KIND, REMEDY)
        with damaged(path, KIND, REMEDY):
            known = msgspec.convert(facts, ShardFacts)
            groups = _groups_in(arrays)
            check_within("system", groups["system"], max(1, len(known.systems)))
            return cls(known, groups, _sample_in(arrays, known.score_names))


def _groups_in(arrays: Arrays) -> Columns:
    n = len(arrays.get("unit", ()))
    whole = {name: array_of(arrays, name, (n,), "<i8") for name in (*KEYS, *COUNTED)}
    return whole | {name: array_of(arrays, name, (n,)) for name in ("total", "squares")}


def _sample_in(arrays: Arrays, score_names: Strings) -> DrawnOutputs:
    columns = json_of(arrays, f"{SAMPLE}strings", dict[str, Strings])
    n = len(columns["ids"])
    shape = (n, len(score_names)) if score_names else (0, 0)
    scores = array_of(arrays, f"{SAMPLE}scores", shape)
    outputs = Outputs(**columns, score_names=score_names, scores=scores)
    values = array_of(arrays, f"{SAMPLE}values", (n,))
    return DrawnOutputs(outputs, values, array_of(arrays, f"{SAMPLE}numbers", (n,)))


def groups_of_shard(
    outputs: Outputs,
    values: FloatArray,
    labels: Names,
    is_copy: BoolArray,
    rated: set[str],
) -> Columns:
    """Sums of the estimates by system, source and whether outputs are copies.

    Args:
        outputs: n outputs, in an order of their own; values: [n] estimates, NaN for none.
        labels: [n] what they belong to, or (); is_copy: [n] of a rated text.
        rated: labels of rated texts; an output of another one is a stranger.
    """
    n = len(outputs)
    is_defined = ~np.isnan(values)
    estimates = np.where(is_defined, values, 0.0)
    place = {name: number for number, name in enumerate(sorted({*outputs.systems}))}
    systems = [place[name] for name in outputs.systems] or [0] * n
    is_known = np.array([label in rated for label in labels] or [False] * n)
    columns = {
        "system": np.array(systems, dtype=np.int64),
        "unit": _numbers_of(labels) if labels else np.zeros(n, dtype=np.int64),
        "copied": is_copy.astype(np.int64),
        "rows": np.ones(n, dtype=np.int64),
        "defined": is_defined.astype(np.int64),
        "strange": (is_defined & ~is_known).astype(np.int64),
        "total": estimates,
        "squares": np.square(estimates),
    }
    return summed(columns, KEYS)


def _numbers_of(labels: Names) -> IntArray:
    """[n] a number for each label, the same in all shards; 0 for a blank one, which is alone."""
    numbers = {}
    for label in {*labels}:
        code = blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        numbers[label] = int.from_bytes(code, "little", signed=True)
    numbers[""] = 0
    return np.array([numbers[label] for label in labels], dtype=np.int64)


def summed(columns: Columns, keys: Names) -> dict[str, Array]:
    """The sums of rows with equal keys, sorted by these."""
    order = np.lexsort([columns[key] for key in keys])
    sorted_keys = np.stack([columns[key][order] for key in keys])
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (sorted_keys[:, 1:] != sorted_keys[:, :-1]).any(axis=0)
    first = np.flatnonzero(is_first)
    sums = {name: np.add.reduceat(columns[name][order], first) for name in ADDED}
    return dict(zip(keys, sorted_keys[:, first], strict=True)) | sums


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over outputs in groups, which add up.

    Attributes:
        rows: outputs; defined: those with an estimate; strange: of these, of unrated sources.
        total, squares: of the estimates.
        units: what the outputs belong to; groups: what the estimates do.
        pairs: sum of the squared sizes of groups.
        of_groups: sum of the squared totals of groups, each over its size.
    """

    rows: float = 0.0
    defined: float = 0.0
    strange: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    units: float = 0.0
    groups: float = 0.0
    pairs: float = 0.0
    of_groups: float = 0.0

    @classmethod
    def of(cls, columns: Columns) -> Totals:
        """The totals of groups, each in one row, and of outputs that are alone, unit 0."""
        rows, defined, strange, total, squares = (
            float(columns[name].sum()) for name in ADDED
        )
        is_alone = columns["unit"] == 0
        alone = float(columns["defined"][is_alone].sum())
        is_group = ~is_alone & (columns["defined"] > 0)
        sizes = columns["defined"][is_group].astype(np.float64)
        totals = columns["total"][is_group]
        return cls(
            rows=rows,
            defined=defined,
            strange=strange,
            total=total,
            squares=squares,
            units=float((~is_alone).sum() + columns["rows"][is_alone].sum()),
            groups=len(sizes) + alone,
            pairs=float(np.square(sizes).sum()) + alone,
            of_groups=float((np.square(totals) / sizes).sum())
            + float(columns["squares"][is_alone].sum()),
        )

    def plus(self, other: Totals) -> Totals:
        """Both together; no group is in both."""
        return Totals(*map(add, astuple(self), astuple(other)))

    @property
    def sums(self) -> GroupSums:
        """The sums that a mean needs."""
        n = int(self.defined)
        mean = self.total / n if n else math.nan
        return GroupSums(
            n=n,
            groups=int(self.groups),
            pairs=self.pairs,
            mean=mean,
            within=max(0.0, self.squares - self.of_groups),
            between=max(0.0, self.of_groups - self.total * mean) if n else 0.0,
        )


@dataclass(slots=True, eq=False)
class StreamTotals:
    """Totals of all outputs, and of each system, by name."""

    overall: Totals = Totals()
    systems: dict[str, Totals] = field(default_factory=dict)

    def add(self, columns: Columns, names: Names) -> None:
        """Adds groups that were not met before; names: of the systems."""
        if not len(columns["unit"]):
            return
        self.overall = self.overall.plus(Totals.of(summed(columns, ("unit",))))
        by_system = summed(columns, ("system", "unit"))
        for code in np.unique(by_system["system"]).tolist():
            rows = by_system["system"] == code
            own = Totals.of({name: by_system[name][rows] for name in by_system})
            name = names[code]
            self.systems[name] = self.systems.get(name, Totals()).plus(own)

    @property
    def estimates(self) -> dict[str, int]:
        """The number of estimates of each system that has any."""
        counts = {name: int(own.defined) for name, own in self.systems.items()}
        return {name: count for name, count in counts.items() if count}


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The sums of all shards.

    Attributes:
        every: of all outputs; originals: of those that copy no rated text.
        sample: outputs drawn from all.
        reasons: how often each reason of having no estimate occurs.
        itself: outputs that are rated texts; named: whether systems are known.
        notes: what was noticed in each shard.
    """

    every: StreamTotals
    originals: StreamTotals
    sample: DrawnOutputs
    reasons: Counter[str]
    itself: int
    named: bool
    notes: tuple[Strings, ...]

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Stream:
        """The sums in files."""
        sample = NOBODY
        facts = []
        size = 0
        for path in paths:
            shard = ShardSums.load(path)
            facts.append(shard.facts)
            sample = sample.beside(shard.sample)
            size += len(shard.groups["unit"])
        every = StreamTotals()
        originals = StreamTotals()
        named = any(fact.systems for fact in facts)
        names = sorted({*chain(*(fact.systems or ("",) for fact in facts))})
        for columns in _in_parts(paths, names, 1 + size // ROOM):
            every.add(columns, names)
            rows = columns["copied"] == 0
            originals.add({name: columns[name][rows] for name in columns}, names)
        reasons = Counter[str]()
        for fact in facts:
            reasons.update(fact.reasons)
        return cls(
            every=every,
            originals=originals,
            sample=sample,
            reasons=reasons,
            itself=sum(fact.itself for fact in facts),
            named=named,
            notes=tuple(fact.notes for fact in facts),
        )


def _in_parts(paths: Sequence[Path], names: Names, parts: int) -> Iterator[Columns]:
    """The groups of all shards, some sources at a time; systems as numbers in these names."""
    place = {name: number for number, name in enumerate(names)}
    for part in range(parts):
        pieces = []
        for path in paths:
            shard = ShardSums.load(path)
            rows = shard.groups["unit"] % parts == part
            piece = {name: column[rows] for name, column in shard.groups.items()}
            codes = np.array([place[name] for name in shard.facts.systems or ("",)])
            piece["system"] = codes[piece["system"]]
            pieces.append(piece)
        yield joined(pieces)


def joined(pieces: Sequence[Columns]) -> Columns:
    """The rows of several groups of columns."""
    columns = {}
    for name in (*KEYS, *ADDED):
        columns[name] = np.concatenate([piece[name] for piece in pieces])
    return columns
