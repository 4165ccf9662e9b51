"""Parquet -> rows, some thousand at a time."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from refless.data.tables.cells import cells_of
from refless.data.tables.columns import Keep
from refless.data.tables.reading import NumberedRows, Source
from refless.data.tables.streams import Place, check_names, opened
from refless.files.untrusted import too_large
from refless.registry.errors import InputError, MissingExtraError

ROOM = 1 << 26  # bytes of values of fixed lengths that are unpacked at a time


@contextmanager
def parquet(place: Place, keep: Keep) -> Iterator[Source]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as fault:
        raise MissingExtraError("Parquet", "parquet") from fault
    try:
        with opened(place) as stream:
            # what is packed cannot be read from its end
            raw = stream if stream.seekable() else io.BytesIO(stream.read())
            file = ParquetFile(raw)
            file = ParquetFile(
                raw, metadata=file.metadata, read_dictionary=_texts(file.schema)
            )
            names = tuple(map(str, file.schema_arrow.names))
            check_names(names, place.path)
            _check_size(file, place)
            rows = _parquet_rows(file, [*filter(keep, names)], place)
            yield Source(columns=names, rows=rows, lines=False)
    except (ArrowException, OverflowError, TypeError, UnicodeDecodeError) as fault:
        reason = re.sub(r"\s+", " ", str(fault))
        raise InputError(f"not Parquet: {reason}", path=place.path) from fault


def _check_size(file: Any, place: Place) -> None:  # noqa: ANN401 - pyarrow has no types
    """Raises InputError where the file says that it unpacks to more bytes than are read."""
    # the sizes of columns crash on damaged files
    groups = range(file.metadata.num_row_groups)
    if (
        sum(file.metadata.row_group(i).total_byte_size for i in groups)
        > place.reading.max_bytes
    ):
        raise too_large(place.path, place.reading.max_bytes)


def _texts(schema: Any) -> list[str]:  # noqa: ANN401
    """The columns of bytes, but in maps: read as dictionaries, equal values take no room."""
    columns = [schema.column(i) for i in range(len(schema))]
    texts = [entry for entry in columns if entry.physical_type == "BYTE_ARRAY"]
    plain = [entry.path for entry in texts if entry.logical_type.type != "DECIMAL"]
    return [path for path in plain if ".key_value." not in path]


def _parquet_rows(file: Any, columns: list[str], place: Place) -> NumberedRows:  # noqa: ANN401
    number = size = 0
    # of fixed lengths
    width = sum(file.schema.column(i).length for i in range(len(file.schema)))
    rows = max(1, min(8192, ROOM // max(width, 1)))
    for batch in file.iter_batches(batch_size=rows, columns=columns):
        # values of no length take no room; those of a dictionary are told before they are written
        size += max(sum(map(_bytes, batch.columns)), batch.num_rows)
        if size > place.reading.max_bytes:
            raise too_large(place.path, place.reading.max_bytes)
        cells = [cells_of(_decoded(column)) for column in batch.columns]
        for row in zip(*cells, strict=True) if cells else [()] * batch.num_rows:
            number += 1
            yield number, dict(zip(batch.schema.names, row, strict=True))


def _bytes(column: Any) -> int:  # noqa: ANN401
    """The bytes of a column, each value of a dictionary as often as it stands there."""
    from pyarrow import compute, types

    kind = column.type
    if types.is_nested(kind) and not types.is_map(kind):
        parts = column.flatten()
        return sum(map(_bytes, parts if isinstance(parts, list) else [parts]))
    if not types.is_dictionary(kind) or types.is_primitive(kind.value_type):
        return int(column.nbytes)
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return int(column.indices.nbytes + (compute.sum(lengths).as_py() or 0))


def _decoded(column: Any) -> Any:  # noqa: ANN401
    """A dictionary as the values that it stands for."""
    return (
        column.dictionary_decode() if hasattr(column, "dictionary_decode") else column
    )
