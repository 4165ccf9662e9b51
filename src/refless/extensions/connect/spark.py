"""Estimates of a Spark data frame's rows, on every machine of a cluster."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from refless.data.tables import Columns
from refless.estimators.saved import load
from refless.extensions.connect.arrow import (
    ADDED,
    Folder,
    check,
    content_of,
    digest_of,
    estimated,
    opened,
)
from refless.files.arrays import ENDING
from refless.registry.errors import MissingExtraError


def score(
    frame: Any,  # noqa: ANN401 - a data frame of Spark, classic or Connect
    model: Folder,
    *,
    text_column: str = "text",
    source_column: str | None = None,
    system_column: str | None = None,
) -> Any:  # noqa: ANN401
    """The frame with an estimate beside each row, computed when Spark asks for it.

    The estimator is sent to every machine once. Estimates are those of `refless score --model`, to
    1e-12, however the rows are dealt. A row that cannot be read has the reason `bad-row`
    and fails no job. refless has to be installed on the executors.

    Args:
        frame: of PySpark 3.5 or later.
        model: file of `refless fit`, on this machine.
        text_column, source_column, system_column: what the columns are called.

    Returns:
        The frame with the columns `estimate`, `low`, `high` (null where there is none; in the
        raters' units), `support`, `reason` and `signature`.

    Raises:
        MissingExtraError: no pyspark or pyarrow.
        UsageError, InputError: a column that is not there, no fitted estimator.
    """
    try:
        from pyspark.sql.types import StructType
    except ImportError as missing:
        raise MissingExtraError("Spark", "spark") from missing
    columns = Columns(text=text_column, source=source_column, system=system_column)
    check(columns, load(model), frame.columns)
    content = content_of(model)
    digest = digest_of(content)
    name = _sent(frame.sparkSession, content, digest)
    schema = StructType.fromJson(frame.schema.jsonValue())
    for added, kind in ADDED.items():
        schema = schema.add(added, kind)
    return frame.mapInArrow(partial(_estimated, name, digest, columns), schema)


def _sent(spark: Any, content: bytes, digest: str) -> str:  # noqa: ANN401
    """The name by which every executor has the estimator's file."""
    name = f"refless-{digest}{ENDING}"
    path = Path(tempfile.mkdtemp(prefix="refless-")) / name
    path.write_bytes(content)
    if "connect" in type(spark).__module__:
        spark.addArtifacts(str(path), file=True)
    else:
        spark.sparkContext.addFile(str(path))
    return name


def _estimated(name: str, digest: str, columns: Columns, batches: Iterable[Any]) -> Iterator[Any]:
    """What a worker does with the batches of a partition."""
    from pyspark import SparkFiles

    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    estimator = opened(Path(SparkFiles.get(name)), digest)
    for batch in batches:
        yield estimated(estimator, batch, columns)
