"""Digests of files and of encoders' folders, computed once."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from refless.files.untrusted import is_file, reading
from refless.registry.errors import InputError


def file_digest(path: str) -> str:
    """Twelve hexadecimal digits of a file's content, computed once; InputError if there is none."""
    if not is_file(path):
        raise InputError("no such file", path=path, remedy="name a file that is there")
    return _digest_of_file(path, stamp(Path(path)))


def stamp(path: Path) -> tuple[int, int]:
    """A stamp that changes when a file or a folder does: digests are kept until then."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    stats = [file.stat() for file in files]
    return sum(s.st_size for s in stats), max((s.st_mtime_ns for s in stats), default=0)


@cache
def _digest_of_file(path: str, stamp: tuple[int, int]) -> str:  # noqa: ARG001 - part of the key
    with reading(path), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def files_digest(files: Iterable[Path]) -> str:
    """Twelve hexadecimal digits of the names and contents of several files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {file_digest(str(file))}\n".encode())
    return digest.hexdigest()[:12]


def folder_digest(folder: Path) -> str:
    """Of everything that an encoder is made of: weights, vocabulary, configuration."""
    kinds = {".json", ".txt", ".model", ".safetensors", ".bin"}
    files = sorted(folder.iterdir())
    return files_digest(
        file for file in files if file.is_file() and file.suffix in kinds
    )
