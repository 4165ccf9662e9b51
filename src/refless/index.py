"""A rated pool with its postings, saved in a folder and mapped back into memory.

The folder holds `index.json` and one `data-...` folder of arrays and text columns. Saving writes a
new data folder, then replaces `index.json` in one step: a process killed at any moment leaves the
old index or the new one. `index.json` names every file with its size and SHA-256, and holds a
SHA-256 of itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refless.errors import IndexFolderError, InputError, UsageError
from refless.human import canonical_order, fingerprint, human_ratings
from refless.kernels.bleu import PreparedBleu
from refless.ngrams import Shape, Vocabulary
from refless.postings import Postings
from refless.records import COLUMNS, IntArray, RatedPool, Ratings, columns_of
from refless.version import __version__

FORMAT = 1
MANIFEST = "index.json"
_FRESH = "index.new"  # the next manifest, before it takes its place
_DATA = re.compile(r"data-[0-9a-f]{12}-[0-9a-f]{8}")  # nothing else is ever removed
_POSTINGS = (
    "order", "lengths", "order_starts", "block_starts", "features", "feature_starts", "members",
    "common", "bits", "words",
)  # fmt: skip
_Array = npt.NDArray[Any]


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
        return self.prepared.vocabulary.shape

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
            InputError: a file, or a folder that holds something other than an index.
        """
        path = Path(folder)
        _refuse_foreign(path)
        path.mkdir(parents=True, exist_ok=True)
        arrays = self._arrays()
        name = f"data-{self.fingerprint}-{os.urandom(4).hex()}"
        data = path / name
        data.mkdir()
        files = {key: _write(data / f"{key}.npy", array) for key, array in arrays.items()}
        _sync(data)
        manifest = {"format": FORMAT, "refless": __version__, **self._facts(), "data": name}
        manifest["files"] = files
        _replace(path, json.dumps({**manifest, "sha256": _seal(manifest)}, indent=1))
        for old in path.iterdir():
            if _DATA.fullmatch(old.name) and old.name != name:
                shutil.rmtree(old, ignore_errors=True)

    def _facts(self) -> dict[str, object]:
        pool, shape = self.pool, self.shape
        return {
            "size": len(pool),
            "fingerprint": self.fingerprint,
            "scale": pool.scale,
            "aggregate": pool.aggregate,
            "named": pool.named,
            "merged": pool.merged,
            "tokenize": shape.tokenize,
            "orders": [shape.low, shape.high],
            "clip": shape.clip,
        }

    def _arrays(self) -> dict[str, _Array]:
        pool, vocabulary, postings = self.pool, self.prepared.vocabulary, self.prepared.postings
        arrays: dict[str, _Array] = {}
        more = {"annotators": pool.ratings.annotators, "tokens": vocabulary.tokens}
        for name, column in {**columns_of(pool), **more}.items():
            arrays.update(_packed(name, column))
        for name in ("text", "annotator", "values"):
            arrays[f"ratings.{name}"] = getattr(pool.ratings, name)
        arrays.update({f"keys.{i}": keys for i, keys in enumerate(vocabulary.keys)})
        arrays.update({f"firsts.{i}": firsts for i, firsts in enumerate(vocabulary.firsts)})
        arrays.update({f"postings.{name}": getattr(postings, name) for name in _POSTINGS})
        return arrays


def load_index(folder: str | os.PathLike[str]) -> RatedIndex:
    """The saved index, its arrays mapped into memory.

    Raises:
        IndexFolderError: no index, a truncated or altered file, or another format.
    """
    path = Path(folder)
    manifest = _manifest(path)
    data = path / str(manifest["data"])
    arrays = {name: _read(data, name, facts) for name, facts in manifest["files"].items()}
    shape = Shape(
        tokenize=manifest["tokenize"],
        low=manifest["orders"][0],
        high=manifest["orders"][1],
        clip=manifest["clip"],
    )
    pool = _pool(manifest, arrays)
    return RatedIndex(pool, _prepared(shape, arrays), manifest["fingerprint"])


def rated_in(given: RatedPool | RatedIndex) -> RatedPool:
    """The rated texts of a pool or of an index."""
    return given.pool if isinstance(given, RatedIndex) else given


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a folder, the only form a saved index has."""
    return Path(path).is_dir()


def _pool(manifest: dict[str, Any], arrays: dict[str, _Array]) -> RatedPool:
    columns = {name: _unpacked(name, arrays) for name in COLUMNS}
    ratings = Ratings(
        text=arrays["ratings.text"],
        annotator=arrays["ratings.annotator"],
        values=arrays["ratings.values"],
        annotators=_unpacked("annotators", arrays),
    )
    scale = tuple(manifest["scale"]) if manifest["scale"] else None
    n = manifest["size"]
    return RatedPool(
        **columns,
        human=human_ratings(ratings, n, scale=scale, aggregate=manifest["aggregate"]),
        ratings=ratings,
        scale=scale,
        aggregate=manifest["aggregate"],
        named=manifest["named"],
        merged=manifest["merged"],
    )


def _prepared(shape: Shape, arrays: dict[str, _Array]) -> PreparedBleu:
    vocabulary = Vocabulary(
        shape=shape,
        tokens=_unpacked("tokens", arrays),
        keys=tuple(arrays[f"keys.{i}"] for i in range(shape.high - 1)),
        firsts=tuple(arrays[f"firsts.{i}"] for i in range(shape.orders)),
    )
    postings = Postings(
        orders=shape.orders,
        low=shape.low,
        **{name: arrays[f"postings.{name}"] for name in _POSTINGS},
    )
    return PreparedBleu(vocabulary, postings)


def joined(first: RatedPool, second: RatedPool) -> RatedPool:
    """The ratings of two pools as one; texts are the same where their identity says so.

    That is the id where both pools have ids of their own; (task, system, source, text) where both
    had a column of annotators; else every row is a text of its own.

    Raises:
        UsageError: pools of another kind.
        InputError: a text about which they disagree.
    """
    for name in ("scale", "aggregate", "named", "merged"):
        if getattr(first, name) != getattr(second, name):
            raise UsageError(
                f"pools cannot be joined when one has {name} {getattr(first, name)} and the other "
                f"{getattr(second, name)}"
            )
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in COLUMNS}
    pairs["annotators"] = (first.ratings.annotators, second.ratings.annotators)
    for name, (mine, theirs) in pairs.items():
        if len(first) and len(second) and bool(mine) != bool(theirs):
            raise UsageError(f"one pool has {name} and the other has none; they cannot be joined")
    place, fresh = _places(first, second)
    ratings = _joined_ratings(first.ratings, second.ratings, place)
    n = len(first) + len(fresh)
    columns = {
        name: getattr(first, name) + tuple(getattr(second, name)[i] for i in fresh)
        for name in COLUMNS
        if getattr(first, name) or getattr(second, name)
    }
    if not first.named:
        columns["ids"] = first.ids + tuple(str(len(first) + i + 1) for i in range(len(fresh)))
    human = human_ratings(ratings, n, scale=first.scale, aggregate=first.aggregate)
    return replace(first, **columns, human=human, ratings=ratings)


def _places(first: RatedPool, second: RatedPool) -> tuple[IntArray, list[int]]:
    """Row of each of the second pool's texts in the joined pool, and which of them are new."""
    keys = _identities(first, second)
    known = dict(zip(keys[0], range(len(first)), strict=True)) if keys else {}
    place = np.empty(len(second), dtype=np.int64)
    fresh: list[int] = []
    for row in range(len(second)):
        at = known.get(keys[1][row]) if keys else None
        if at is None:
            at = len(first) + len(fresh)
            fresh.append(row)
        else:
            _check_same(first, at, second, row)
        place[row] = at
    return place, fresh


def _check_same(first: RatedPool, at: int, second: RatedPool, row: int) -> None:
    """A text that both pools hold must be the same in every column."""
    who = f"id '{second.ids[row]}'" if first.named else f"the text '{second.texts[row][:40]}'"
    for name in COLUMNS[1:]:
        mine, theirs = getattr(first, name), getattr(second, name)
        if mine and mine[at] != theirs[row]:
            raise InputError(
                f"{who} names another {name.removesuffix('s')} in the index",
                remedy="give each text its own id",
            )


def _identities(first: RatedPool, second: RatedPool) -> tuple[Sequence[object], ...]:
    if first.named:
        return first.ids, second.ids
    if not first.merged:
        return ()
    source = "sources" if first.sources else "items"
    names = [name for name in ("tasks", "systems", source, "texts") if getattr(first, name)]
    return tuple(
        list(zip(*(getattr(pool, name) for name in names), strict=True)) for pool in (first, second)
    )


def _joined_ratings(first: Ratings, second: Ratings, place: IntArray) -> Ratings:
    names = tuple(sorted({*first.annotators, *second.annotators}))
    number = {name: i for i, name in enumerate(names)}

    def renumbered(ratings: Ratings) -> IntArray:
        table = np.array([number[name] for name in ratings.annotators] or [0], dtype=np.int64)
        return table[ratings.annotator]

    return Ratings(
        text=np.concatenate([first.text, place[second.text]]),
        annotator=np.concatenate([renumbered(first), renumbered(second)]),
        values=np.concatenate([first.values, second.values]),
        annotators=names,
    )


def _packed(name: str, column: tuple[str, ...]) -> dict[str, _Array]:
    """A column of strings as UTF-8 bytes and where each string begins."""
    raw = [entry.encode("utf-8", "surrogatepass") for entry in column]
    starts = np.cumsum([0, *map(len, raw)], dtype=np.int64)
    return {f"{name}.bytes": np.frombuffer(b"".join(raw), np.uint8), f"{name}.starts": starts}


def _unpacked(name: str, arrays: dict[str, _Array]) -> tuple[str, ...]:
    raw, starts = arrays[f"{name}.bytes"].tobytes(), arrays[f"{name}.starts"].tolist()
    return tuple(raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(starts))


def _write(path: Path, array: _Array) -> dict[str, object]:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "sha256": _digest(path)}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(manifest: dict[str, object]) -> str:
    """Digest of all that index.json says besides it."""
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _replace(folder: Path, text: str) -> None:
    fresh = folder / _FRESH
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)
    _sync(folder)


def _sync(folder: Path) -> None:
    """Makes a folder's entries durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _refuse_foreign(path: Path) -> None:
    """Whatever is not ours stays untouched; what a killed run left behind is ours."""
    if not path.exists():
        return
    if not path.is_dir():
        raise InputError("is a file, not a folder", path=str(path), remedy="name another folder")
    others = [p.name for p in path.iterdir() if p.name != _FRESH and not _DATA.fullmatch(p.name)]
    if MANIFEST in others and {"refless", "data"} <= set(_parsed(path / MANIFEST)):
        return
    if others:
        raise InputError(
            f"the folder holds '{min(others)}' and no index",
            path=str(path),
            remedy="name an empty folder, or one that holds an index",
        )


def _parsed(path: Path) -> dict[str, Any]:
    """What index.json says; empty if that is nothing of ours."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, IsADirectoryError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = _parsed(path / MANIFEST)
    except (FileNotFoundError, NotADirectoryError) as missing:
        raise _unusable(path, "holds no index.json") from missing
    if "format" not in manifest:
        raise _unusable(path, "index.json is broken or no index of refless")
    if (found := manifest["format"]) != FORMAT:
        raise _unusable(path, f"the index has format {found}, this version reads {FORMAT}")
    if manifest.get("sha256") != _seal(manifest):
        raise _unusable(path / MANIFEST, "the file was altered")
    return manifest


def _unusable(path: Path, found: str) -> IndexFolderError:
    return IndexFolderError(found, path=str(path), remedy="make the index again")


def _read(data: Path, name: str, facts: dict[str, Any]) -> _Array:
    """One array, copy-on-write: the loops then see the same type as for a fresh one."""
    path = data / f"{name}.npy"
    if not path.is_file() or path.stat().st_size != facts["bytes"]:
        raise _unusable(path, "a file of the index is missing or truncated")
    if _digest(path) != facts["sha256"]:
        raise _unusable(path, "a file of the index was altered")
    try:
        return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
    except ValueError:  # empty arrays cannot be mapped
        return np.asarray(np.load(path, allow_pickle=False))
