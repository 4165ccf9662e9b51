"""Saved folders: a manifest, and beside it one folder of data that the manifest names.

A writer, one at a time, writes a new data folder and replaces the manifest in one step: a process
killed at any moment leaves the old state or the new one, and readers see either. The manifest names
every file of data with its size and SHA-256, and holds a SHA-256 of itself.
"""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from refless.files.found_sound import digest_of, is_known, remember
from refless.files.writing import POSIX, lock, replace_file, sync_folder, unwritable, write_through
from refless.registry.errors import InputError

PATIENCE = 2.0  # seconds of waiting before it is told
WAIT = 300.0  # seconds after which a writer gives up waiting for another
LOCK = ".lock"
_PAUSE = 0.05  # seconds between two attempts
_TRIES = 100  # that a reader makes while writers replace what it reads
_MOST = 1 << 28  # bytes of a manifest
_DATA = re.compile(r"data-[0-9a-f]{12}-[0-9a-f]{8}")  # no other folder is ever removed
_FILE = re.compile(r"[a-z]+(\.[a-z0-9_]+){0,2}")
_Made = TypeVar("_Made")


Content = bytes | Iterable[Any]  # the whole, or pieces: bytes or arrays of bytes


class Kept(NamedTuple):
    """A file of data that is there already, with what a manifest says of it."""

    path: Path
    facts: object


class Files(dict[str, BufferedReader]):
    """The open files of a folder by name; `known`: they were found sound before."""

    known = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a folder is for.

    Attributes:
        name: what people call it: "index".
        manifest: name of the file that is replaced in one step.
        format: number of the format; `older`: other numbers that are read, each with its files.
        suffix: of files of data.
        alone: whether it is made only where there is nothing else.
        unfinished: names of files that killed runs of older versions left.
        missing: what is said where there is none.
        remedy: what people can do about a damaged one.
        error: what is raised then.
    """

    name: str
    manifest: str
    format: int
    suffix: str
    alone: bool
    missing: str
    remedy: str
    error: type[InputError] = InputError
    older: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()

    def fault(self, path: Path, found: str) -> InputError:
        """The error for a folder that cannot be used."""
        return self.error(found, path=str(path), remedy=self.remedy)


@dataclass(frozen=True, slots=True)
class Claim:
    """A folder that nobody else writes as long as this is held.

    Attributes:
        folder: its path; kind: what it is for.
        lasting: whether what is put there must outlast the machine.
    """

    folder: Path
    kind: Kind
    lasting: bool = True

    def put(
        self,
        facts: Mapping[str, object],
        data: Iterable[tuple[str, Content]],
        stem: str,
        kept: Mapping[str, Kept] = MappingProxyType({}),
    ) -> None:
        """Replaces what the folder holds in one step; what was replaced is removed.

        Args:
            facts: what the manifest says, for JSON.
            data: names and contents of the files.
            stem: 12 hexadecimal digits for the name of the data's folder.
            kept: further files by name, which are not written again but linked.

        Raises:
            InputError: no space, or a folder that cannot be written; the old state is kept.
        """
        name = f"data-{stem}-{secrets.token_hex(4)}"
        self._sweep({one.path for one in kept.values()})  # first: what others left fills the disk
        try:
            files = self._write(self.folder / name, data, kept)
            manifest = {"format": self.kind.format, **facts, "data": name, "files": files}
            manifest["sha256"] = _seal(manifest)
            lines = (f"{json.dumps(key)}: {json.dumps(said)}" for key, said in manifest.items())
            text = "{\n" + ",\n".join(lines) + "\n}\n"
            replace_file(self.folder / self.kind.manifest, text.encode())
        except OSError as fault:
            raise unwritable(self.folder, fault) from fault
        finally:
            self._sweep()

    def _write(
        self, folder: Path, data: Iterable[tuple[str, Content]], kept: Mapping[str, Kept]
    ) -> dict[str, object]:
        folder.mkdir()
        files: dict[str, object] = {}
        for name, content in data:
            digest, size = hashlib.sha256(), 0
            pieces: Iterable[Any] = (content,) if isinstance(content, bytes) else content
            with (folder / f"{name}{self.kind.suffix}").open("wb") as stream:
                for piece in pieces:
                    size += stream.write(piece)
                    digest.update(piece)
                if self.lasting:
                    write_through(stream, b"")
            files[name] = {"bytes": size, "sha256": digest.hexdigest()}
        for name, one in kept.items():
            _link(one.path, folder / f"{name}{self.kind.suffix}")
            files[name] = one.facts
        sync_folder(folder)
        sync_folder(self.folder)
        return files

    def _sweep(self, spared: Iterable[Path] = ()) -> None:
        """Removes what the manifest does not name: whoever wrote it is dead, as we hold the lock.

        Readers who have opened files of it can read on; others begin again. Folders that hold
        spared files stay.
        """
        kept = {above.name for path in spared for above in path.parents}
        manifest: dict[str, Any] = {}
        with suppress(OSError):
            manifest = _parsed(_content(self.folder / self.kind.manifest))
        older = {name for files in self.kind.older.values() for name in files.values()}
        left = older if "data" in manifest else set()
        with suppress(OSError):
            for path in [*self.folder.iterdir()]:
                if _DATA.fullmatch(path.name) and path.name not in {manifest.get("data"), *kept}:
                    shutil.rmtree(path, ignore_errors=True)
                elif path.name in left or path.name in self.kind.unfinished:
                    path.unlink()


def _link(path: Path, target: Path) -> None:
    """The same file under another name; a copy where the system has no such names."""
    try:
        target.hardlink_to(path)
    except (OSError, NotImplementedError):
        shutil.copyfile(path, target)
    with target.open("r+b") as stream:
        write_through(stream, b"")


@contextmanager
def claimed(
    folder: str | os.PathLike[str],
    kind: Kind,
    *,
    wait: float = WAIT,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Claim]:
    """A folder, made where missing, that nobody else writes until the `with` is left.

    Args:
        folder: its path; kind: what it is for.
        wait: seconds to wait for another writer.
        tell: told that somebody else is waited for.

    Raises:
        InputError: a folder that cannot be written, that somebody else writes all the time, or
            that holds something else; whatever is not ours stays untouched.
    """
    path = Path(folder)
    there = path.is_dir()
    _refuse_foreign(path, kind)
    handle = _locked(path, wait, tell)
    try:
        yield Claim(path, kind)
    finally:
        if POSIX:  # before the lock is given back: others see that the file has gone
            with suppress(OSError):
                (path / LOCK).unlink()
        os.close(handle)
        with suppress(OSError):
            if not POSIX:
                (path / LOCK).unlink()
            if not there:
                path.rmdir()  # which is done only where it is empty


def _locked(folder: Path, wait: float, tell: Callable[[str], None] | None) -> int:
    begun, told = time.monotonic(), tell is None
    while True:
        try:
            handle = _attempt(folder)
        except OSError as fault:
            raise unwritable(folder, fault) from fault
        if handle is not None:
            return handle
        waited = time.monotonic() - begun
        if tell is not None and not told and waited > PATIENCE:
            tell(f"{folder}: another run is writing there; waiting up to {wait:g} seconds for it")
            told = True
        if waited > wait:
            raise InputError(
                f"another run has been writing there for {wait:g} seconds",
                path=str(folder),
                remedy="wait until it is done, or name another folder",
            )
        time.sleep(_PAUSE)


def _attempt(folder: Path) -> int | None:
    """The open, locked file that stands for the folder; None where somebody else has it."""
    path = folder / LOCK
    folder.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except FileNotFoundError:  # a run that made the folder, and failed, removed it again
        return None
    try:
        if lock(handle) and os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except FileNotFoundError:  # the run before us has removed the file
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def kept_in(folder: Path, kind: Kind) -> dict[str, Kept]:
    """The files of data in a folder that nobody else writes, for `Claim.put`; by name."""
    manifest = _manifest(folder, kind, _found(folder, kind))
    data = folder / manifest["data"]
    return {
        name: Kept(data / f"{name}{kind.suffix}", facts)
        for name, facts in manifest["files"].items()
    }


def read(
    folder: str | os.PathLike[str],
    kind: Kind,
    make: Callable[[dict[str, Any], Files], _Made],
) -> _Made:
    """What is made of a manifest and its files, which are open and have their sizes and digests.

    A writer may replace them meanwhile: the old or the new state is read.

    Args:
        folder: its path; kind: what it is for.
        make: takes the manifest and its open files; a ValueError of it tells what is damaged.

    Raises:
        InputError: the kind's error, for a folder that holds none or a damaged one.
    """
    path = Path(folder)
    for _ in range(_TRIES):
        content = _found(path, kind)
        try:
            return _made(path, kind, _manifest(path, kind, content), make)
        except kind.error:
            if _found(path, kind) == content:
                raise
    raise kind.fault(path, "other runs replace it faster than it can be read")


def _made(
    path: Path,
    kind: Kind,
    manifest: dict[str, Any],
    make: Callable[[dict[str, Any], Files], _Made],
) -> _Made:
    with ExitStack() as stack:
        files = _files(path, kind, manifest, stack)
        digest = digest_of(str(manifest.get("sha256")), files.values())
        files.known = is_known(path, digest)
        try:
            if not files.known:
                _check_digests(path, kind, manifest, files)
            made = make(manifest, files)
        except kind.error:
            raise
        except (ValueError, OverflowError, MemoryError, RecursionError) as fault:
            raise kind.fault(path, f"the {kind.name} cannot be read ({fault})") from fault
        if not files.known:
            remember(path, digest)
        return made


def _found(path: Path, kind: Kind) -> bytes:
    """The content of the manifest."""
    try:
        return _content(path / kind.manifest)
    except (FileNotFoundError, NotADirectoryError) as missing:
        raise kind.fault(path, kind.missing) from missing
    except OSError as fault:
        raise kind.fault(path, f"{kind.manifest} cannot be read ({fault.strerror})") from fault


def _manifest(path: Path, kind: Kind, content: bytes) -> dict[str, Any]:
    """A manifest whose seal holds."""
    manifest = _parsed(content)
    if "format" not in manifest:
        raise kind.fault(path, f"{kind.manifest} is broken or no {kind.name} of refless")
    found = manifest["format"]
    if type(found) is int and found in kind.older:
        return manifest
    if type(found) is not int or found != kind.format:
        told = f"has format {str(found)[:20]}, this version reads {kind.format}"
        raise kind.fault(path, f"the {kind.name} {told}")
    if manifest.get("sha256") != _seal(manifest):
        raise kind.fault(path / kind.manifest, "the file was altered")
    return manifest


def _files(path: Path, kind: Kind, manifest: dict[str, Any], stack: ExitStack) -> Files:
    """The files that a manifest names; all of them are opened before any is read."""
    older = kind.older.get(manifest["format"])
    if older is not None:
        return Files(
            (name, stack.enter_context(_opened(path / own, kind))) for name, own in older.items()
        )
    data, facts = manifest.get("data"), manifest.get("files")
    if not isinstance(data, str) or not _DATA.fullmatch(data) or not isinstance(facts, dict):
        raise kind.fault(path / kind.manifest, "it names no files, or none of refless")
    if not all(map(_FILE.fullmatch, facts)):
        raise kind.fault(path / kind.manifest, "it names a file that is none of refless")
    paths = {name: path / data / f"{name}{kind.suffix}" for name in facts}
    files = Files((name, stack.enter_context(_opened(own, kind))) for name, own in paths.items())
    for name, file in files.items():
        wanted = facts[name] if isinstance(facts[name], dict) else {}
        if os.fstat(file.fileno()).st_size != wanted.get("bytes"):
            raise kind.fault(paths[name], f"a file of the {kind.name} is missing or truncated")
    return files


def _check_digests(path: Path, kind: Kind, manifest: dict[str, Any], files: Files) -> None:
    """Raises the kind's error for a file that is not as it was written."""
    for name, file in files.items() if manifest["format"] not in kind.older else ():
        wanted = manifest["files"][name]
        if hashlib.file_digest(file, "sha256").hexdigest() != wanted.get("sha256"):
            altered = path / manifest["data"] / f"{name}{kind.suffix}"
            raise kind.fault(altered, f"a file of the {kind.name} was altered")
        file.seek(0)


def _opened(path: Path, kind: Kind) -> BufferedReader:
    """A file of data, opened."""
    try:
        return _regular(path)
    except (FileNotFoundError, NotADirectoryError) as missing:
        found = f"a file of the {kind.name} is missing or truncated"
        raise kind.fault(path, found) from missing
    except OSError as fault:
        raise kind.fault(path, f"the file cannot be read ({fault.strerror})") from fault


def _regular(path: Path) -> BufferedReader:
    """An ordinary file, opened; a pipe, which nobody may ever write, is not waited for."""
    flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, os.O_RDONLY | flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no ordinary file")
    return os.fdopen(handle, "rb")


def _content(path: Path) -> bytes:
    """What a manifest holds; of one that is too large for any, the beginning, which is broken."""
    with _regular(path) as stream:
        return stream.read(_MOST)


def _parsed(content: bytes) -> dict[str, Any]:
    """What a manifest says; empty if that is nothing of ours."""
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError, MemoryError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _seal(manifest: Mapping[str, object]) -> str:
    """Digest of all that a manifest says besides it."""
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    try:
        return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    except RecursionError:
        return ""


def _refuse_foreign(path: Path, kind: Kind) -> None:
    """What a killed run left behind is ours; anything else is not."""
    try:
        names = {own.name for own in path.iterdir()}
    except FileNotFoundError:
        return
    except OSError as fault:
        raise unwritable(path, fault) from fault
    with suppress(OSError):
        if {"format", "data"} <= _parsed(_content(path / kind.manifest)).keys():
            return
    ours = re.compile(rf"\.{re.escape(kind.manifest)}\.[0-9a-f]{{8}}|{re.escape(LOCK)}")
    others = {
        name
        for name in names - {*kind.unfinished}
        if not _DATA.fullmatch(name) and not ours.fullmatch(name)
    }
    others = others if kind.alone else others & {"index.json"}
    if others:
        raise InputError(
            f"the folder holds '{min(others)}' and no {kind.name}",
            path=str(path),
            remedy=f"name an empty folder, or one that holds a saved {kind.name}",
        )
