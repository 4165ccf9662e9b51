"""What a folder can hold instead of a sound index, and runs that are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from refless.data.records import RatedPool
from refless.data.simulate import simulate
from refless.metrics.index import RatedIndex, load_index
from refless.registry.errors import IndexFolderError, InputError


@pytest.fixture
def pool() -> RatedPool:
    """Sixty simulated texts."""
    return simulate(60, seed=2).pool


@pytest.fixture
def folder(tmp_path: Path, pool: RatedPool) -> Path:
    """Their index, saved."""
    RatedIndex.build(pool).save(tmp_path / "index")
    return tmp_path / "index"


def every_array(folder: Path) -> list[Path]:
    """All files in the one folder of arrays."""
    (data,) = folder.glob("data-*")
    return sorted(data.iterdir())


def test_every_truncated_array_is_refused(folder: Path) -> None:
    """Also by one byte, also to nothing, also a missing one."""
    for path in every_array(folder):
        whole = path.read_bytes()
        for part in (whole[:-1], whole[: len(whole) // 2], b"", None):
            path.unlink() if part is None else path.write_bytes(part)
            with pytest.raises(
                IndexFolderError, match=r"missing or truncated; make the index again"
            ):
                load_index(folder)
        path.write_bytes(whole)
    load_index(folder)


def test_every_altered_byte_is_refused(folder: Path) -> None:
    """In any array: first, last and a middle byte; and in index.json."""
    for path in every_array(folder):
        whole = path.read_bytes()
        for at in (0, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(IndexFolderError, match=r"altered") as error:
                load_index(folder)
            assert str(path) in str(error.value)
        path.write_bytes(whole)


def edited(change: Callable[[dict[str, object]], object]) -> Callable[[str], str]:
    """An edit of the parsed index.json."""

    def edit(text: str) -> str:
        manifest = json.loads(text)
        change(manifest)
        return json.dumps(manifest)

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda text: "", "broken or no index of refless"),
        (lambda text: text[:100], "broken or no index of refless"),
        (lambda text: "[]", "broken or no index of refless"),
        (lambda text: "3", "broken or no index of refless"),
        (lambda text: "{}", "broken or no index of refless"),
        (lambda text: '{"name": "some web page"}', "broken or no index of refless"),
        (edited(lambda m: m.update(format=1)), "the index has format 1, this version reads 2"),
        (edited(lambda m: m.update(format="2")), "the index has format 2, this version reads"),
        (edited(lambda m: m.update(scale=[1, 6])), "altered"),
        (edited(lambda m: m.update(clip=False)), "altered"),
        (edited(lambda m: m.update(files=3)), "altered"),
        (edited(lambda m: m.pop("tokenize")), "altered"),
        (edited(lambda m: m["files"].popitem()), "altered"),
    ],
)
def test_a_strange_manifest_is_refused(
    folder: Path, edit: Callable[[str], str], message: str
) -> None:
    """Empty, cut off, not ours, of another version, edited by hand."""
    manifest = folder / "index.json"
    manifest.write_text(edit(manifest.read_text()))
    with pytest.raises(IndexFolderError, match=message) as error:
        load_index(folder)
    assert str(folder) in str(error.value)


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    """As a manifest."""
    (folder / "index.json").write_bytes(b"\xff\xfe\x00garbage")
    with pytest.raises(IndexFolderError, match="broken or no index"):
        load_index(folder)


def test_where_there_is_no_index(tmp_path: Path) -> None:
    """An empty folder, no folder, a file."""
    (tmp_path / "file").write_text("text")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(IndexFolderError, match=r"holds no index\.json"):
            load_index(path)


@pytest.mark.parametrize("strange", ["notes.txt", "data-2024/x.csv", "index.json", "index.json/x"])
def test_what_is_not_ours_stays_untouched(tmp_path: Path, pool: RatedPool, strange: str) -> None:
    """A folder with anything else in it is no place for an index."""
    path = tmp_path / "work" / strange
    path.parent.mkdir(parents=True)
    path.write_text('{"name": "mine"}')
    with pytest.raises(InputError, match=r"holds '.*' and no index"):
        RatedIndex.build(pool).save(tmp_path / "work")
    assert [p for p in (tmp_path / "work").rglob("*") if p.is_file()] == [path]
    assert path.read_text() == '{"name": "mine"}'


def test_a_file_is_no_place_for_an_index(tmp_path: Path, pool: RatedPool) -> None:
    """It stays what it was."""
    (tmp_path / "file").write_text("text")
    with pytest.raises(InputError, match="is a file, not a folder"):
        RatedIndex.build(pool).save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "text"


def test_an_index_is_replaced_and_what_is_left_over_is_removed(
    folder: Path, pool: RatedPool
) -> None:
    """Arrays of killed runs and of the old index go; files of the user stay."""
    (folder / "data-0123456789ab-01234567").mkdir()
    (folder / "data-0123456789ab-01234567" / "ids.bytes.npy").write_text("half")
    (folder / "index.new").write_text("half")
    (folder / "data-of-mine").mkdir()
    less = RatedIndex.build(pool.take(np.arange(10)))
    less.save(folder)
    assert load_index(folder).pool.ids == less.pool.ids
    data = json.loads((folder / "index.json").read_text())["data"]
    assert sorted(p.name for p in folder.iterdir()) == sorted([data, "data-of-mine", "index.json"])


def test_a_first_run_that_was_killed_does_not_block_the_next(
    tmp_path: Path, pool: RatedPool
) -> None:
    """Whatever it had written."""
    (tmp_path / "data-0123456789ab-01234567").mkdir()
    (tmp_path / "index.new").write_text("half")
    RatedIndex.build(pool).save(tmp_path)
    load_index(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


PROGRAM = """
import sys
from refless.metrics.index import RatedIndex
from refless.data.simulate import simulate
indexes = [RatedIndex.build(simulate(n).pool) for n in (20, 30)]
print("ready", flush=True)
while True:
    for index in indexes:
        index.save(sys.argv[1])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9")
def test_a_killed_run_leaves_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    """Killed a few times at random moments, never half an index; the next save cleans up."""
    folder = tmp_path / "index"
    indexes = [RatedIndex.build(simulate(n).pool) for n in (20, 30)]
    indexes[0].save(folder)
    wanted = {index.fingerprint for index in indexes}
    moments = np.random.default_rng().uniform(0.0, 0.15, 3)
    for moment in moments:
        command = [sys.executable, "-c", PROGRAM, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
        assert load_index(folder).fingerprint in wanted
    indexes[1].save(folder)
    assert load_index(folder).pool.ids == indexes[1].pool.ids
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("writes", [0, 1, 20, 34, 35, 36, 37, 38])
def test_a_save_that_fails_anywhere_leaves_the_old_index(
    folder: Path, pool: RatedPool, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a full disk would end it: at the first arrays, in the middle, around the last steps."""
    left = [writes]

    def sync(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")

    old, new = load_index(folder).fingerprint, RatedIndex.build(pool.take(np.arange(20)))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", sync)
        try:
            new.save(folder)
            finished = True
        except InputError:
            finished = False
    possible = {new.fingerprint} if finished else {old, new.fingerprint}
    assert load_index(folder).fingerprint in possible
    new.save(folder)
    assert len(list(folder.iterdir())) == 2
