"""Writing: a file is there whole or not at all."""

import os
import stat
import sys
from functools import partial
from pathlib import Path

import pytest

from refless.files.writing import check_writable, write_atomic
from refusals import bad_input

POSIX = pytest.mark.skipif(
    sys.platform == "win32", reason="POSIX permissions and links"
)


@pytest.mark.parametrize("data", ["caf\xe9\r\n", b"\x00\xff"])
def test_what_is_written_is_read(tmp_path: Path, data: str | bytes) -> None:
    """Text as UTF-8 without changed line ends, bytes as they are; nothing else remains."""
    path = tmp_path / "o.json"
    write_atomic(str(path), "before")
    write_atomic(str(path), data)
    assert path.read_bytes() == (data.encode() if isinstance(data, str) else data)
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If writing fails, the old file stays and the temporary one goes."""
    path = tmp_path / "o.json"
    write_atomic(str(path), "before")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with bad_input(r"cannot be written \(No space left"):
        write_atomic(str(path), "after")
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A missing folder is an input error that names the path."""
    path = str(tmp_path / "none" / "o.json")
    for fails in (partial(write_atomic, data="x"), check_writable):
        with bad_input("check that the folder exists") as caught:
            fails(path)
        assert caught.value.path == path


def test_a_look_at_whether_a_file_can_be_written(tmp_path: Path) -> None:
    """Leaves a file that is there as it is, makes none that is not, and refuses a folder."""
    path = tmp_path / "o.json"
    check_writable(str(path))
    assert [*tmp_path.iterdir()] == []
    path.write_text("before")
    check_writable(str(path))
    assert (path.read_text(), [*tmp_path.iterdir()]) == ("before", [path])
    check_writable(os.devnull)
    with bad_input("the file cannot be written"):
        check_writable(str(tmp_path))


@POSIX
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    """An existing file keeps its permissions, a link its target; a new file gets the usual."""
    path = tmp_path / "o.json"
    link = tmp_path / "link"
    plain = tmp_path / "plain"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomic(str(link), "after")
    assert link.is_symlink()
    assert path.read_text() == "after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    plain.write_text("")
    write_atomic(str(tmp_path / "new"), "x")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode


@POSIX
def test_devices_are_written_to() -> None:
    """A device is written to, not replaced."""
    write_atomic("/dev/null", "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
