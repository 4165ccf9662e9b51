"""Estimates of a Spark data frame's rows, on every machine of a cluster."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.estimators.saved import load
from refless.extensions.connect.arrow import (
    ADDED,
    Columns,
    Folder,
    check,
    content_of,
    digest_of,
    estimated,
    opened,
)
from refless.files.arrays import ENDING
from refless.registry.errors import MissingExtraError

if TYPE_CHECKING:
    from refless.evaluation.scoring import Means, Summed


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


def means(
    scored: Any,  # noqa: ANN401 - a data frame of Spark
    model: Folder,
    *,
    group_column: str | None = None,
    system_column: str | None = None,
) -> Means:
    """The mean estimate of a frame that `score` made, and of each system, with 95 % intervals.

    Spark adds up, and only sums reach the driver. Equal to the means of `refless stream`, but for
    rounding, from 50,000 outputs on; of fewer, the interval is taken as normal.

    Args:
        scored: with the columns of `score`.
        model: file of `refless fit`, the same.
        group_column: what outputs of one name err together by: the column of sources, or that of
            `refless fit --group`. Strings. Without it every output errs by itself.
        system_column: the column of systems.

    Returns:
        Means in the raters' units.
    """
    from pyspark.sql import functions as spark

    from refless.evaluation.scoring import Means

    def named(column: str | None) -> Any:  # noqa: ANN401
        return spark.lit("") if column is None else spark.coalesce(spark.col(column), spark.lit(""))

    fitted = load(model)
    residuals = fitted.residuals().on(fitted.rated.scale)
    value, entry = spark.col("estimate"), spark.lit(1)
    groups = scored.groupBy(
        named(system_column).alias("system"), named(group_column).alias("group")
    )
    cells = groups.agg(
        spark.count(entry).alias("rows"),
        spark.count(value).alias("n"),
        spark.sum(value).alias("total"),
        spark.sum(value * value).alias("squares"),
    ).persist()
    rated = [(name, 1) for name in {*residuals.sources} - {""}]
    known = scored.sparkSession.createDataFrame(rated, "group string, known int")
    whole = cells.groupBy("group").agg(
        *(spark.sum(name).alias(name) for name in ("rows", "n", "total", "squares"))
    )
    try:
        (overall,) = _summed(whole.join(known, "group", "left").groupBy()).collect()
        systems = _summed(cells.join(known, "group", "left").groupBy("system")).collect()
    finally:
        cells.unpersist()
    by_name = {row["system"]: _record(row) for row in systems} if system_column else {}
    return Means.summed(_record(overall), by_name, residuals)


def _summed(cells: Any) -> Any:  # noqa: ANN401 - grouped data
    """What the groups of outputs add up to; outputs of no group stand alone."""
    from pyspark.sql import functions as spark

    n, total, squares = spark.col("n"), spark.col("total"), spark.col("squares")
    alone, some = spark.col("group") == "", n > 0
    missing = some & spark.col("known").isNull()
    return cells.agg(
        spark.sum("rows").alias("rows"),
        spark.sum(n).alias("n"),
        spark.sum(total).alias("total"),
        spark.sum(squares).alias("squares"),
        spark.sum(spark.when(alone, n).otherwise(some.cast("long"))).alias("groups"),
        spark.sum(spark.when(alone, n).otherwise(n * n)).alias("sizes"),
        spark.sum(spark.when(alone, squares).when(some, total * total / n)).alias("grouped"),
        spark.sum(missing.cast("long")).alias("unknown"),
    )


def _record(row: Any) -> Summed:  # noqa: ANN401
    """A row of `_summed`; sums of nothing are null."""
    from refless.evaluation.scoring import Summed
    from refless.stats.clusters import Sums

    result = {name: row[name] or 0 for name in ("n", "groups", "sizes", "total", "squares")}
    sums = Sums(**result, grouped=row["grouped"] or 0.0)
    return Summed(n=row["rows"] or 0, sums=sums, known=not row["unknown"])


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
