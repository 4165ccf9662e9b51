"""Estimates of a Spark data frame's rows, on every machine of a cluster."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from refless.commands.parameters import Folder
from refless.data.tables import Columns
from refless.extensions.connect.arrow import ADDED, estimating


def score(
    frame: Any,  # noqa: ANN401 - a data frame of Spark, classic or Connect
    model: Folder,
    *,
    text_column: str = "text",
    source_column: str | None = None,
    system_column: str | None = None,
) -> Any:  # noqa: ANN401
    """The frame with an estimate beside each row, computed when Spark asks for it.

    The estimator goes with the query. Estimates are those of `refless score --model`, to 1e-12,
    however the rows are dealt. A row that cannot be read has the reason `bad-row` and fails no job.
    refless has to be installed on the executors.

    Args:
        frame: of PySpark 3.5 or later.
        model: file of `refless fit`, on this machine.
        text_column, source_column, system_column: what the columns are called.

    Returns:
        The frame with the columns `estimate`, `low`, `high` (null where there is none; in the
        raters' units), `support`, `reason` and `signature`.

    Raises:
        MissingExtraError: no pyarrow.
        UsageError, InputError: a column that is not there, no fitted estimator.
    """
    from pyspark.sql.types import StructType

    columns = Columns(text=text_column, source=source_column, system=system_column)
    function = estimating(model, columns, frame.columns)
    schema = StructType.fromJson(frame.schema.jsonValue())
    for added, kind in ADDED.items():
        schema = schema.add(added, kind)
    return frame.mapInArrow(partial(_estimates, function), schema)


def _estimates(function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
    """The batches of a partition with estimates."""
    for batch in batches:
        yield function(batch)
