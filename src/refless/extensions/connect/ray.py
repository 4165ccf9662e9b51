"""Estimates of a Ray data set's rows, on every core of a cluster."""

from typing import Any

from refless.commands.parameters import Folder
from refless.data.tables import Columns
from refless.extensions.connect.arrow import estimating

BATCH = 4_096  # rows of a batch


def score(
    data: Any,  # noqa: ANN401 - a data set of Ray
    model: Folder,
    *,
    text_column: str = "text",
    source_column: str | None = None,
    system_column: str | None = None,
) -> Any:  # noqa: ANN401
    """The data set with an estimate beside each row, computed when Ray asks for it.

    As `spark.score`. Ray decides how many batches are estimated at once, each on one core.

    Raises:
        MissingExtraError: no pyarrow.
        UsageError, InputError: a column that is not there, no fitted estimator.
    """
    columns = Columns(text=text_column, source=source_column, system=system_column)
    return data.map_batches(
        estimating(model, columns, [*data.schema().names]),
        batch_size=BATCH,
        batch_format="pyarrow",
    )
