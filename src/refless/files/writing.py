"""Files that are there whole or not at all."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from refless.registry.errors import InputError


def write_atomic(path: str, data: bytes | str) -> None:
    """Writes a file through a temporary one in the same folder, so that nobody reads half of it.

    Text is written as UTF-8 with line ends as they stand; half of a character (of a file's name
    that is no UTF-8) is a question mark. A symbolic link stays one: its target is replaced. An
    existing file keeps its permissions.

    Raises:
        InputError: a folder that does not exist or cannot be written to; the old file is kept.
    """
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    with _writing(path):
        target = _target(path)
        if _is_special(target):
            target.write_bytes(content)
        else:
            _replace(target, content)


def check_writable(path: str) -> None:
    """Raises InputError if `write_atomic` would, as far as that can be known; leaves nothing."""
    with _writing(path):
        target = _target(path)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not _is_special(target):
            temporary = _temporary(target)
            temporary.open("xb").close()
            temporary.unlink()


def make_folder(path: Path) -> None:
    """Makes a folder, and those above it, if they are missing; raises InputError if it cannot."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        message = f"the folder cannot be made ({fault.strerror or fault})"
        remedy = "check its permissions and the free space, or name another"
        raise InputError(message, path=str(path), remedy=remedy) from fault


def _target(path: str) -> Path:
    """The file that a path leads to; an OSError for links that lead in a circle."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _is_special(target: Path) -> bool:
    """Whether it is a pipe or /dev/stdout, which can be written and not replaced."""
    return target.exists() and not target.is_file()


@contextmanager
def _writing(path: str) -> Iterator[None]:
    """Errors of the system as ours, about a file that is written."""
    try:
        yield
    except OSError as fault:
        remedy = "check that the folder exists and can be written to"
        message = f"the file cannot be written ({fault.strerror or fault})"
        raise InputError(message, path=path, remedy=remedy) from fault


def _replace(target: Path, content: bytes) -> None:
    """Writes a file in one step; an OSError leaves the old file as it was."""
    temporary = _temporary(target)
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}")
