"""A rated pool with its postings, saved in a folder and mapped back into memory.

The folder holds `index.json` and one `data-...` folder of arrays and text columns; `folders.py`
says how it is replaced.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from refless.data.human import canonical_order, fingerprint
from refless.data.joining import joined
from refless.data.records import RatedPool
from refless.data.stored import Arrays, arrays_of, facts_of, file_of, packed, pool_in, strings
from refless.files.folders import Claim, Files, Kind, claimed, read
from refless.files.untrusted import is_folder
from refless.metrics.kernels.bleu import PreparedBleu, Segment
from refless.metrics.postings import Postings
from refless.metrics.soundness import (
    POSTINGS,
    array_in,
    arrays_in,
    check_sound,
    dtype_of,
    facts_in,
    of_segment,
)
from refless.registry.errors import IndexFolderError
from refless.registry.version import __version__
from refless.text.ngrams import Shape, Vocabulary

INDEX = Kind(
    name="index",
    manifest="index.json",
    format=2,
    suffix=".npy",
    alone=True,
    missing="holds no index.json",
    remedy="make the index again",
    error=IndexFolderError,
    unfinished=("index.new",),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RatedIndex:
    """A rated pool in canonical order, ready for BLEU* with one choice of tokens and orders.

    Attributes:
        pool: the rated texts, sorted by content.
        prepared: their n-grams and postings.
        fingerprint: twelve hexadecimal digits of the pool's content.
    """

    pool: RatedPool
    prepared: PreparedBleu
    fingerprint: str

    @classmethod
    def build(cls, pool: RatedPool, shape: Shape | None = None) -> RatedIndex:
        """The index of a pool."""
        ordered = pool.take(canonical_order(pool))
        prepared = PreparedBleu.build(ordered.texts, shape or Shape())
        return cls(ordered, prepared, fingerprint(ordered))

    def __repr__(self) -> str:
        return f"RatedIndex: {self.shape}, of {self.pool!r}"

    @property
    def shape(self) -> Shape:
        """Tokens, orders and clipping of the n-grams."""
        return self.prepared.shape

    def append(self, more: RatedPool) -> RatedIndex:
        """An index of these ratings and more: equal to one built from both at once.

        Raises:
            InputError: an id that names another text there.
            UsageError: another scale, aggregate or other columns.
        """
        return RatedIndex.build(joined(self.pool, more), self.shape)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the index; an index that is there already is replaced in one step.

        Raises:
            InputError: a file, a folder that holds something other than an index, that cannot be
                written, or that another run writes for five minutes.
        """
        with claimed(folder, INDEX) as claim:
            self.put(claim)

    def put(self, claim: Claim) -> None:
        """The same for a folder that is claimed already."""
        arrays = self._arrays().items()
        contents = ((name, file_of(array, dtype_of(name))) for name, array in arrays)
        claim.put(self.facts(), contents, self.fingerprint)

    def facts(self) -> dict[str, object]:
        """What index.json says of it."""
        shape = self.shape
        return {
            "refless": __version__,
            **facts_of(self.pool, self.fingerprint),
            "segments": [len(one.postings) for one in self.prepared.segments],
            "tokenize": shape.tokenize,
            "orders": [shape.low, shape.high],
            "clip": shape.clip,
        }

    def _arrays(self) -> Arrays:
        arrays = arrays_of(self.pool)
        for number, segment in enumerate(self.prepared.segments):
            arrays.update(segment_arrays(segment, number))
        return arrays


def segment_arrays(segment: Segment, number: int) -> Arrays:
    """A segment as arrays, by the names of its files."""
    vocabulary, postings = segment.vocabulary, segment.postings
    arrays = packed("tokens", vocabulary.tokens)
    for name in ("keys", "firsts", "upto"):
        arrays.update({f"{name}.{i}": one for i, one in enumerate(getattr(vocabulary, name))})
    arrays.update({f"postings.{name}": getattr(postings, name) for name in POSTINGS})
    return {of_segment(name, number): array for name, array in arrays.items()}


def load_index(folder: str | os.PathLike[str]) -> RatedIndex:
    """The saved index, its arrays mapped into memory.

    Raises:
        IndexFolderError: no index, a truncated or altered file, or another format.
    """
    return read(folder, INDEX, _made)


def rated_in(given: RatedPool | RatedIndex) -> RatedPool:
    """The rated texts of a pool or of an index."""
    return given.pool if isinstance(given, RatedIndex) else given


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a folder, the only form a saved index has."""
    return is_folder(path)


def _made(manifest: dict[str, Any], files: Files) -> RatedIndex:
    facts = facts_in(manifest, files)
    arrays = {name: array_in(name, facts, file) for name, file in files.items()}
    if not files.known:
        check_sound(arrays, facts)
    segments = tuple(
        _segment(facts.shape, arrays_in(arrays, number)) for number in range(len(facts.sizes))
    )
    prepared = PreparedBleu(facts.shape, segments)
    return RatedIndex(pool_in(arrays, facts), prepared, facts.fingerprint)


def _segment(shape: Shape, arrays: Arrays) -> Segment:
    vocabulary = Vocabulary(
        shape=shape,
        tokens=strings("tokens", arrays),
        keys=tuple(arrays[f"keys.{i}"] for i in range(shape.high - 1)),
        firsts=tuple(arrays[f"firsts.{i}"] for i in range(shape.orders)),
        upto=tuple(arrays[f"upto.{i}"] for i in range(shape.orders)),
    )
    postings = Postings(
        orders=shape.orders,
        low=shape.low,
        **{name: arrays[f"postings.{name}"] for name in POSTINGS},
    )
    return Segment(vocabulary, postings)
