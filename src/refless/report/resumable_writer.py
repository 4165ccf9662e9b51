"""A file of rows that is written part by part, and goes on where a stopped run ended.

Parts lie in a folder beside the file, each whole; at the end they become the file in one step.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

import msgspec

from refless.files.untrusted import json_of, reading
from refless.files.writing import check_writable, lock, make_folder, unwritable, write_atomic
from refless.registry.errors import InputError, MissingExtraError, UsageError
from refless.report.export import as_jsonl, as_parquet

ENDINGS = (".jsonl", ".parquet")
RUN = "run.json"
KINDS = {"support": "int64", **dict.fromkeys(("estimate", "low", "high", "sd"), "double")}

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Parts:
    """A file, and the folder of its parts, which nobody else writes meanwhile."""

    path: Path
    folder: Path

    def rows(self, number: int) -> Rows | None:
        """The rows of a part as they were written, or None where it is not there yet.

        Raises:
            InputError: a part that cannot be read.
        """
        part = self._part(number)
        if not part.exists():
            return None
        with reading(part):
            if part.suffix == ".jsonl":
                return [msgspec.json.decode(line) for line in part.read_bytes().splitlines()]
            rows: Rows = _parquet().read_table(part).to_pylist()
            return rows

    def put(self, number: int, rows: Rows) -> None:
        """Writes a part, whole or not at all; it lasts when this returns."""
        part = self._part(number)
        write_atomic(
            str(part), as_jsonl(rows) if part.suffix == ".jsonl" else as_parquet(rows, _kinds(rows))
        )

    def done(self, number: int) -> None:
        """Makes the first so many parts the file, and removes them."""
        whole = self.folder / f"whole{self.path.suffix}"
        parts = [self._part(i) for i in range(number)]
        try:
            (_joined if whole.suffix == ".jsonl" else _joined_parquet)(parts, whole)
            whole.replace(self.path)
            shutil.rmtree(self.folder)
        except OSError as fault:
            raise unwritable(self.folder, fault) from fault

    def _part(self, number: int) -> Path:
        return self.folder / f"{number:07}{self.path.suffix}"


@contextmanager
def parts_of(path: str | os.PathLike[str], settings: Mapping[str, object]) -> Iterator[Parts]:
    """The parts of a file, those of a run that was stopped among them.

    Args:
        path: the file, `.jsonl` or `.parquet`.
        settings: what all of its parts must be made with, plain data.

    Raises:
        UsageError: another ending.
        InputError: a folder that cannot be written, parts made with other settings, another run.
        MissingExtraError: Parquet without pyarrow.
    """
    target = Path(path)
    if target.suffix not in ENDINGS:
        raise UsageError(f"--to {target} must end in {' or '.join(ENDINGS)}")
    if target.suffix == ".parquet":
        _parquet()
    check_writable(str(target))
    folder = target.with_name(f"{target.name}.parts")
    make_folder(folder)
    with _alone(folder):
        _check(folder / RUN, json.loads(json.dumps(settings)))
        yield Parts(target, folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    try:
        stream: BinaryIO = (folder / "lock").open("ab")
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    with stream:
        if not lock(stream.fileno()):
            remedy = "wait for it, or name another file"
            raise InputError("another run writes these parts", path=str(folder), remedy=remedy)
        yield


def _check(run: Path, settings: Mapping[str, object]) -> None:
    """Raises InputError where a stopped run was another one, and has left a part."""
    if not run.exists() or not any(run.parent.glob("[0-9]*")):
        write_atomic(str(run), json.dumps(settings, indent=1))
        return
    with reading(run):
        before = json_of(run)
    there = before if isinstance(before, dict) else {}
    if other := [name for name in settings if there.get(name) != settings[name]]:
        name = other[0]
        found = f"a stopped run was made with another {name}: {there.get(name)}"
        remedy = f"give it the same ({settings[name]} is asked for), or remove {run.parent}"
        raise InputError(found, path=str(run), remedy=remedy)


def _joined(parts: Sequence[Path], whole: Path) -> None:
    with whole.open("wb") as out:
        for part in parts:
            with part.open("rb") as one:
                shutil.copyfileobj(one, out)
        _through(out)


def _joined_parquet(parts: Sequence[Path], whole: Path) -> None:
    first = _parquet().ParquetFile(parts[0]).schema_arrow
    with whole.open("wb") as out:
        with _parquet().ParquetWriter(out, first) as writer:
            for part in parts:
                writer.write_table(_parquet().read_table(part))
        _through(out)


def _through(stream: IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _kinds(rows: Rows) -> dict[str, str]:
    """The same types, whatever is missing in these rows."""
    return {name: KINDS.get(name, "string") for name in rows[0]}


def _parquet() -> Any:  # noqa: ANN401 - a module without types
    try:
        import pyarrow.parquet as module
    except ImportError as missing:
        raise MissingExtraError("Parquet", "parquet") from missing
    return module
