"""Files that are there whole or not at all; locks between processes."""

import errno
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from refless.registry.errors import InputError

POSIX = os.name == "posix"
_FAR = 1 << 30  # where Windows locks a byte, beyond all that is read


def write_atomic(path: str, data: bytes | str) -> None:
    """Writes a file through a temporary one beside it, so that readers never see half of it.

    Text is written as UTF-8 with line ends as they stand; half of a character (of a file's name
    that is no UTF-8) is a question mark. A symbolic link stays one: its target is replaced. An
    existing file keeps its permissions. What killed writers of this file left beside it is removed.

    Raises:
        InputError: a folder that does not exist or cannot be written to.
    """
    target = Path(os.path.realpath(path))
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    with _ours(path):
        if _irreplaceable(target):
            target.write_bytes(content)
        else:
            replace_file(target, content)


def check_writable(path: str) -> None:
    """Raises InputError where `write_atomic` would, as far as that can be known; leaves nothing."""
    target = Path(os.path.realpath(path))
    with _ours(path):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not _irreplaceable(target):
            temporary, stream = _fresh(target)
            stream.close()
            temporary.unlink()


def _irreplaceable(target: Path) -> bool:
    """Whether it is a pipe or /dev/stdout, which can be written and not replaced."""
    return target.exists() and not target.is_file()


@contextmanager
def _ours(path: str) -> Iterator[None]:
    """Errors of the system as ours, about a file that is written."""
    try:
        yield
    except OSError as fault:
        remedy = "check that the folder exists and can be written to"
        found = f"the file cannot be written ({fault.strerror or fault})"
        raise InputError(found, path=path, remedy=remedy) from fault


def make_folder(path: Path) -> None:
    """Makes a folder, and those above it, where they are missing.

    Raises:
        InputError: one that cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unwritable(path, fault) from fault


def unwritable(path: Path, fault: OSError) -> InputError:
    """The error for a folder that the system does not let us write."""
    if isinstance(fault, FileExistsError | NotADirectoryError):
        found, remedy = "is a file, not a folder", "name another folder"
        if not path.is_file():
            found = "lies below a file, not in a folder"
    else:
        found = f"the folder cannot be written ({fault.strerror or fault})"
        remedy = "check its permissions and the space that is left, or name another"
    return InputError(found, path=str(path), remedy=remedy)


def replace_file(target: Path, content: bytes) -> None:
    """Writes a file in one step; it lasts, whatever happens to the machine, when this returns.

    Raises:
        OSError: whatever the system says; the old file is then there as it was.
    """
    remove_leftovers(target)
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    temporary, stream = _fresh(target)
    try:
        with stream:
            write_through(stream, content)
            if mode is not None:
                temporary.chmod(mode)
            if POSIX:  # while it is locked, so that nobody takes it for a dead one's
                temporary.replace(target)
        if not POSIX:  # Windows renames closed files only
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


def write_through(stream: BinaryIO, content: bytes) -> None:
    """Writes to the disk, not only to the system's memory."""
    stream.write(content)
    stream.flush()
    os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Makes a folder's entries durable, where the system can."""
    if not POSIX:
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # one that may be written and not read
        return
    try:
        os.fsync(handle)
    except OSError as fault:
        if fault.errno != errno.EINVAL:  # some file systems know no such thing
            raise
    finally:
        os.close(handle)


def lock(handle: int) -> bool:
    """Takes the lock of an open file unless somebody else has it; closing gives it back."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_leftovers(target: Path) -> None:
    """Removes what killed writers of a file left beside it; those at work hold a lock."""
    left = re.compile(re.escape(f".{target.name}.") + "[0-9a-f]{8}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if left.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError), Path(entry.path).open("r+b") as stream:
                    if lock(stream.fileno()):
                        Path(entry.path).unlink()


def _fresh(target: Path) -> tuple[Path, BinaryIO]:
    """A new file beside the target, locked."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        stream = temporary.open("xb")
        with suppress(OSError):  # a file system without locks
            lock(stream.fileno())
        if os.fstat(stream.fileno()).st_nlink or not POSIX:
            return temporary, stream
        stream.close()  # somebody took it for a dead one's before it was locked
