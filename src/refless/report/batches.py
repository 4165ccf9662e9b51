"""A file of rows that are written batch by batch: it is there whole, or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from refless.files.writing import check_writable, unwritable
from refless.registry.errors import MissingExtraError, UsageError
from refless.report.export import Rows, as_jsonl

ENDINGS = (".jsonl", ".parquet")
TYPES = {"support": "int64", **dict.fromkeys(("estimate", "low", "high", "sd"), "double")}


@contextmanager
def writer(path: str | os.PathLike[str]) -> Iterator[Callable[[Rows], None]]:
    """A function that appends rows; the file takes its place when the block ends without error.

    Raises:
        UsageError: another ending than .jsonl or .parquet.
        InputError: a folder that cannot be written, or a full disk.
        MissingExtraError: Parquet without pyarrow.
    """
    target = Path(os.path.realpath(path))
    if target.suffix not in ENDINGS or (target.exists() and not target.is_file()):
        raise UsageError(f"--to {target} must be a file that ends in {' or '.join(ENDINGS)}")
    check_writable(str(target))
    open_rows = _parquet if target.suffix == ".parquet" else _jsonl
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            with open_rows(file) as write:
                yield write
            file.flush()
            os.fsync(file.fileno())
            file.close()  # Windows renames closed files only
            Path(file.name).replace(target)
        except BaseException as fault:
            with suppress(OSError):
                Path(file.name).unlink()
            if isinstance(fault, OSError):
                raise unwritable(target.parent, fault) from fault
            raise


@contextmanager
def _jsonl(file: IO[bytes]) -> Iterator[Callable[[Rows], None]]:
    def write(rows: Rows) -> None:
        file.write(as_jsonl(rows).encode())

    yield write


@contextmanager
def _parquet(file: IO[bytes]) -> Iterator[Callable[[Rows], None]]:
    """Rows become one row group; every batch has the types of the first, whatever is missing."""
    try:
        from pyarrow import Table, schema, type_for_alias
        from pyarrow.parquet import ParquetWriter
    except ImportError as missing:
        raise MissingExtraError("Parquet", "parquet") from missing
    parquet: Any = None

    def write(rows: Rows) -> None:
        nonlocal parquet
        types = schema([(name, type_for_alias(TYPES.get(name, "string"))) for name in rows[0]])
        parquet = parquet or ParquetWriter(file, types)
        parquet.write_table(Table.from_pylist([*rows], schema=types))

    yield write
    if parquet is not None:
        parquet.close()
