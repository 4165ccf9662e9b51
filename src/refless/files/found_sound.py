"""Which files were found sound before and are unchanged since, so that they open at once.

For each saved folder the user's cache keeps one digest: of what the system says of its files, whose
time of change nobody can set. It lies where whoever sends a folder cannot write.
"""

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from refless.files.writing import POSIX
from refless.registry.version import __version__

LEAST = 1 << 24  # bytes; less is checked in no time
YOUNG = 3.0  # seconds, within which a file may change and keep its time of change


def digest_of(seal: str, files: Iterable[BufferedReader]) -> str | None:
    """What stands for a manifest and its open files as they are now.

    None where that cannot be relied on: files that may just be written, that are small, or of a
    system on which anybody sets any time.
    """
    told = [os.fstat(file.fileno()) for file in files]
    size, latest = sum(one.st_size for one in told), max((one.st_ctime for one in told), default=0)
    if not POSIX or size < LEAST or not 0 < latest < time.time() - YOUNG:
        return None
    names = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
    facts = [tuple(getattr(one, name) for name in names) for one in told]
    return hashlib.sha256(repr((__version__, seal, facts)).encode()).hexdigest()


def is_known(folder: Path, digest: str | None) -> bool:
    """Whether these files were found sound."""
    with suppress(OSError, ValueError, RuntimeError):
        note = _note(folder)
        mine = note.stat().st_uid == os.getuid()
        return digest is not None and mine and note.read_text() == digest
    return False


def remember(folder: Path, digest: str | None) -> None:
    """Notes that they are; where nothing can be noted they are checked again next time."""
    if digest is None:
        return
    with suppress(OSError, RuntimeError):
        note = _note(folder)
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        note.write_text(digest)


def _note(folder: Path) -> Path:
    """The file in the user's cache that stands for a folder."""
    above = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    return Path(above) / "refless" / "sound" / name
