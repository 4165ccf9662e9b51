"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from refless.errors import InputError


def write_atomic(path: str, data: bytes | str) -> None:
    """Writes a file through a temporary one beside it, so that readers never see half of it.

    Text is written as UTF-8 with line ends as they stand. A symbolic link stays one: its target
    is replaced. An existing file keeps its permissions.

    Raises:
        InputError: a folder that does not exist or cannot be written to.
    """
    target = Path(os.path.realpath(path))
    content = data.encode("utf-8") if isinstance(data, str) else data
    try:
        if target.exists() and not target.is_file():  # a pipe or /dev/stdout cannot be replaced
            target.write_bytes(content)
            return
        _replace(target, content)
    except OSError as fault:
        remedy = "check that the folder exists and can be written to"
        found = f"the file cannot be written ({fault.strerror or fault})"
        raise InputError(found, path=path, remedy=remedy) from fault


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
