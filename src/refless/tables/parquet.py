"""Parquet -> rows, some thousand at a time."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from refless.errors import InputError, MissingExtraError
from refless.outside import too_large
from refless.tables.foreign import cells_of
from refless.tables.streams import Place, check_names, opened
from refless.tables.table import Numbered, Table


@contextmanager
def parquet(place: Place) -> Iterator[Table]:
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
            names = tuple(map(str, file.schema_arrow.names))
            check_names(names, place.path)
            _check_size(file, place)
            rows = _parquet_rows(file, [*filter(place.keep, names)], place)
            yield Table(columns=names, rows=rows, lines=False)
    except (ArrowException, OverflowError, TypeError, UnicodeDecodeError) as fault:
        reason = re.sub(r"\s+", " ", str(fault))
        raise InputError(f"not Parquet: {reason}", path=place.path) from fault


def _check_size(file: Any, place: Place) -> None:  # noqa: ANN401 - pyarrow has no types
    """Raises InputError where the file says that it unpacks to more bytes than are read."""
    groups = range(file.metadata.num_row_groups)  # the sizes of columns crash on damaged files
    if sum(file.metadata.row_group(i).total_byte_size for i in groups) > place.reading.max_bytes:
        raise too_large(place.path, place.reading.max_bytes)


def _parquet_rows(file: Any, columns: list[str], place: Place) -> Iterator[Numbered]:  # noqa: ANN401
    number = size = 0
    for batch in file.iter_batches(batch_size=8192, columns=columns):
        size += max(batch.nbytes, batch.num_rows)  # equal values may take no room in the file
        if size > place.reading.max_bytes:
            raise too_large(place.path, place.reading.max_bytes)
        cells = [cells_of(column) for column in batch.columns]
        for row in zip(*cells, strict=True) if cells else [()] * batch.num_rows:
            number += 1
            yield number, dict(zip(batch.schema.names, row, strict=True))
