"""Saved folders: locks, readers during a save, leftovers, and manifests and arrays that lie."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifests import put, resealed
from refless.data.human import pool_of
from refless.data.records import RatedPool
from refless.data.simulate import simulate
from refless.estimators import BLEUNeighbors
from refless.files import folders
from refless.metrics.growth import add_to_index
from refless.metrics.index import INDEX, RatedIndex, load_index
from refless.metrics.kernels import BleuStar
from refless.registry.errors import IndexFolderError, InputError, UsageError
from refless.text.ngrams import Shape

POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX files")


def more(i: int) -> RatedPool:
    """A rated text with an id of its own, and with scores of two judges."""
    scores = {"a": [None], "b": [i]}
    return pool_of([f"the ferry sinks {i}"], [3], ids=[f"new{i}"], scale=(1, 5), scores=scores)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of twenty texts, saved."""
    pool = pool_of([f"a text of {i} words" for i in range(20)], [1 + i % 5 for i in range(20)],
                   ids=[f"t{i}" for i in range(20)], scale=(1, 5),
                   scores={"a": [*range(19), None], "b": [1] * 20})  # fmt: skip
    RatedIndex.build(pool).save(tmp_path / "index")
    return tmp_path / "index"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_no_rating_of_several_writers_is_lost(folder: Path) -> None:
    """Eight add a text each at once; readers never fail, and never see less than before."""
    writers = [threading.Thread(target=add_to_index, args=(folder, more(i))) for i in range(8)]
    seen: list[int] = []
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        seen.append(len(load_index(folder).pool))
    assert seen == sorted(seen)
    assert {f"new{i}" for i in range(8)} < set(load_index(folder).pool.ids)
    assert len(names(folder)) == 2


def test_a_writer_waits_and_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some patience; then it goes on, or gives up and changes nothing."""
    monkeypatch.setattr(folders, "PATIENCE", 0.05)
    told: list[str] = []
    with folders.claimed(folder, INDEX):
        with pytest.raises(InputError, match=r"another run has been writing there for 0\.2 sec"):
            add_to_index(folder, more(0), wait=0.2, tell=told.append)
        assert "new0" not in load_index(folder).pool.ids
        waiting = threading.Thread(target=add_to_index, args=(folder, more(1)))
        waiting.start()
        time.sleep(0.2)
        assert waiting.is_alive()
    waiting.join()
    assert [line for line in told if "another run is writing there" in line] == told != []
    assert "new1" in load_index(folder).pool.ids


def test_append_names_its_faults(folder: Path, tmp_path: Path) -> None:
    """Another shape; no index there, and then no folder is made."""
    with pytest.raises(UsageError, match="keeps the n-grams"):
        add_to_index(folder, more(0), shape=Shape(low=1))
    with pytest.raises(IndexFolderError, match=r"holds no index\.json"):
        add_to_index(tmp_path / "none", more(0))
    assert not (tmp_path / "none").exists()


def test_a_reader_who_is_overtaken_begins_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is replaced between the manifest and the first array, three times."""
    opened, left = folders._opened, [3]

    def late(path: Path, kind: folders.Kind) -> Any:
        if left[0]:
            left[0] -= 1
            with monkeypatch.context() as patched:
                patched.setattr(folders, "_opened", opened)
                add_to_index(folder, more(left[0]))
        return opened(path, kind)

    monkeypatch.setattr(folders, "_opened", late)
    assert {"new0", "new1", "new2"} < set(load_index(folder).pool.ids)


@POSIX
def test_the_lock_of_a_killed_run_is_free(folder: Path) -> None:
    """And what it left is gone after the next run: its lock, its data, its manifest."""
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom refless.files.folders import claimed\n"
        "from refless.metrics.index import INDEX\nwith claimed(sys.argv[1], INDEX) as claim:\n"
        "    (claim.folder / 'data-0123456789ab-01234567').mkdir()\n"
        "    (claim.folder / '.index.json.01234567').write_text('half')\n"
        "    os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], check=False)
    assert done.returncode == -9
    assert ".lock" in names(folder)
    load_index(folder)
    add_to_index(folder, more(0), wait=1)
    assert len(names(folder)) == 2


def test_a_folder_that_was_made_for_nothing_goes(tmp_path: Path) -> None:
    """Where a run fails before it has written."""
    with pytest.raises(RuntimeError), folders.claimed(tmp_path / "a" / "new", INDEX):
        raise RuntimeError
    assert names(tmp_path / "a") == []


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    """A file, a folder below a file."""
    (tmp_path / "file").write_text("text")
    for path, said in (("file", "is a file, not a folder"), ("file/x", "lies below a file")):
        with pytest.raises(InputError, match=said):
            RatedIndex.build(more(0)).save(tmp_path / path)


def test_a_lock_that_the_system_refuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a read-only disk does."""

    def refuse(*_: object, **__: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match=r"cannot be written \(Read-only file system\); check"):
        folders._locked(folder, 0.0, None)


@pytest.mark.parametrize(
    "change",
    [
        *(put(name, value=value) for name in ("size", "orders", "scale", "named", "clip", "merged",
          "tokenize", "aggregate", "fingerprint", "data", "files", "score_names")
          for value in (-1, "x", [], {}, None, float("nan"), 10**30, [1], [[]], "../..")
          if (name, value) != ("scale", None)),
        put("data", value="../../../etc"),
        put("data", value="data-0123456789ab-01234567/../.."),
        put("orders", value=[2, 10**12]),
        put("orders", value=[4, 2]),
        put("size", value=19),
        put("scale", value=[5, 1]),
        put("score_names", value=["b", "a"]),
        put("score_names", value=["a", "a"]),
        put("score_names", value=["a"]),
        put("score_names", value=["a", "b", "c"]),
        put("scale", value=[1, float("inf")]),
        put("files", "ids.bytes", value=3),
        put("files", "ids.bytes", "bytes", value="3"),
        put("files", "../../x", value={"bytes": 1, "sha256": ""}),
        put("files", "extra", value={"bytes": 1, "sha256": ""}),
        lambda manifest: manifest.pop("size"),
        lambda manifest: manifest["files"].pop("tokens.bytes"),
    ],
)  # fmt: skip
def test_a_sealed_manifest_that_lies(
    folder: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    """Wrong types, missing keys, NaN, huge numbers, other folders: one error of ours."""
    resealed(folder / "index.json", change)
    with pytest.raises(IndexFolderError, match="make the index again"):
        load_index(folder)


@POSIX
def test_what_is_no_ordinary_file(folder: Path, tmp_path: Path) -> None:
    """A pipe, a folder, JSON of a great depth: nothing hangs."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "deep").write_text("[" * 100_000 + "]" * 100_000)
    (tmp_path / "deep2").write_text('{"format": 1, "a": ' * 100_000 + "1" + "}" * 100_000)
    (tmp_path / "long").write_text('{"format": ' + "9" * 10_000 + "}")
    for name in ("pipe", "folder", "deep", "deep2", "long"):
        (folder / "index.json").unlink()
        (folder / "index.json").symlink_to(tmp_path / name)
        with pytest.raises(IndexFolderError, match="index"):
            load_index(folder)
    (folder / "index.json").unlink()
    (folder / "index.json").symlink_to("index.json")
    with pytest.raises(IndexFolderError, match="cannot be read"):
        load_index(folder)


def lie(folder: Path, name: str, array: np.ndarray) -> None:
    """Another array in the place of one; digest and seal hold."""
    (path,) = folder.glob(f"data-*/{name}.npy")
    np.save(path, array)
    content = path.read_bytes()
    facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    resealed(folder / "index.json", put("files", name, value=facts))


def edit(place: Any, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    """One entry changed."""

    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("postings.order", edit(0, 10**9)),
        ("postings.order", edit(0, 1)),
        ("postings.order", edit(0, -1)),
        ("postings.lengths", edit(0, 10**6)),
        ("postings.lengths", edit(0, -5)),
        ("postings.order_starts", edit(1, 2)),
        ("postings.block_starts", edit(-1, 10**12)),
        ("postings.features", edit(-1, 2**31 - 1)),
        ("postings.features", edit(1, 0)),
        ("postings.feature_starts", edit(3, -(2**62))),
        ("postings.feature_starts", edit(-1, 2**62)),
        ("postings.members", edit(3, 60_000)),
        ("postings.common", edit(0, 32_000)),
        ("postings.common", edit(0, -2)),
        ("postings.words", edit(-1, 10**6)),
        ("postings.bits", lambda bits: bits[:, :-1]),
        ("postings.bits", lambda bits: bits.T),
        ("postings.bits", lambda bits: bits.ravel()),
        ("keys.1", edit(-1, 2**62)),
        ("keys.0", edit(0, -1)),
        ("firsts.0", edit(-1, 2**40)),
        ("firsts.1", edit(2, 0)),
        ("upto.0", edit(0, 0)),
        ("upto.1", edit(0, -(2**31))),
        ("upto.2", lambda upto: upto[:-1]),
        ("ratings.text", edit(0, 20)),
        ("ratings.text", edit(0, 1)),
        ("ratings.annotator", edit(0, 3)),
        ("ratings.values", edit(0, np.nan)),
        ("ratings.values", lambda values: values.astype(np.float32)),
        ("ratings.values", lambda values: values.astype(object)),
        ("scores", edit(0, np.inf)),
        ("scores", lambda scores: scores[:-1]),
        ("scores", lambda scores: scores.reshape(20, 2)),
        ("ids.starts", edit(4, 2)),
        ("ids.bytes", edit(1, 255)),
        ("ids.bytes", edit(slice(0, 4), list(b"t1t1"))),
        ("texts.starts", lambda starts: starts[:-1]),
        ("tokens.bytes", edit(0, 122)),
        *((name, lambda array: np.zeros(0, array.dtype)) for name in (
            "postings.order", "postings.features", "firsts.2", "texts.starts", "keys.2")),
    ],
)  # fmt: skip
def test_sealed_arrays_that_lie(
    folder: Path, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Whatever compiled code would follow out of its arrays: an error, no crash."""
    (path,) = folder.glob(f"data-*/{name}.npy")
    lie(folder, name, change(np.load(path)))
    with pytest.raises(IndexFolderError, match="make the index again"):
        load_index(folder)


@pytest.mark.parametrize(
    "shape", [Shape(), Shape(clip=False), Shape(tokenize="words", low=1, high=2)]
)
def test_what_is_sound_is_not_refused(tmp_path: Path, shape: Shape) -> None:
    """More texts than fit into one block of postings, and a pool without texts."""
    for pool in (simulate(9_000, seed=3).pool, pool_of([], [])):
        RatedIndex.build(pool, shape).save(tmp_path)
        assert len(load_index(tmp_path).pool) == len(pool)


def test_arrays_are_mapped(folder: Path) -> None:
    """And match as those of a fresh index do."""
    index = load_index(folder)
    assert isinstance(index.prepared.segments[0].postings.members.base, np.memmap)
    model = BLEUNeighbors(min_neighbors=1, max_fraction=1, kernel=BleuStar())
    fresh = RatedIndex.build(index.pool)
    texts = ["a text of 3 words", "nothing alike"]
    found, wanted = (model.fit(one).estimate(texts).values for one in (index, fresh))
    assert np.array_equal(found, wanted, equal_nan=True)
