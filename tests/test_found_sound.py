"""What is remembered of sound folders: it saves a second look, and never hides a change."""

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest

from refless.data.simulate import simulate
from refless.files import found_sound
from refless.metrics.index import RatedIndex, load_index
from refless.registry.errors import IndexFolderError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="times of change on POSIX alone")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index that is not too small and not too young to be remembered."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(found_sound, "LEAST", 1)
    monkeypatch.setattr(found_sound, "YOUNG", 0.05)
    RatedIndex.build(simulate(30, seed=1).pool).save(tmp_path / "index")
    time.sleep(0.1)
    return tmp_path / "index"


def hashes(folder: Path) -> int:
    """How many files are read through to open the index."""
    count = 0
    digest = hashlib.file_digest

    def counted(file: Any, name: str) -> Any:
        nonlocal count
        count += 1
        return digest(file, name)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hashlib, "file_digest", counted)
        load_index(folder)
    return count


def test_the_second_look_is_saved(folder: Path) -> None:
    """Also after a copy of another state was opened; the copy is looked through itself."""
    assert hashes(folder) > 20
    assert hashes(folder) == 0
    RatedIndex.build(simulate(20, seed=1).pool).save(folder)
    time.sleep(0.1)
    assert hashes(folder) > 20
    assert hashes(folder) == 0


@pytest.mark.parametrize("times", [False, True])
def test_a_change_is_found(folder: Path, times: bool) -> None:
    """Of one byte, also where the time of the last writing is put back."""
    load_index(folder)
    assert hashes(folder) == 0
    (path,) = folder.glob("data-*/postings.members.npy")
    was, content = path.stat(), bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    if times:
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    with pytest.raises(IndexFolderError, match="altered"):
        load_index(folder)


def test_what_may_just_be_written_is_not_remembered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later write could leave the same time."""
    monkeypatch.setattr(found_sound, "YOUNG", 1000.0)
    assert hashes(folder) == hashes(folder) > 20


def test_a_cache_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then every look is a whole one."""
    (folder.parent / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "file"))
    assert hashes(folder) == hashes(folder) > 20


def test_a_damaged_folder_is_not_remembered(folder: Path) -> None:
    """Only what was found sound is."""
    (path,) = folder.glob("data-*/postings.members.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    time.sleep(0.1)
    for _ in range(2):
        with pytest.raises(IndexFolderError, match="altered"):
            load_index(folder)
