"""Estimates of a Ray data set's rows, by a pool of actors."""

from typing import Any

from refless.data.tables import Columns
from refless.estimators.saved import load
from refless.extensions.connect.arrow import (
    Folder,
    check,
    content_of,
    digest_of,
    estimated,
    local_file,
    opened,
)
from refless.registry.errors import MissingExtraError

BATCH = 4_096  # rows an actor is given at once


def score(
    data: Any,  # noqa: ANN401 - a data set of Ray
    model: Folder,
    *,
    actors: int = 2,
    text_column: str = "text",
    source_column: str | None = None,
    system_column: str | None = None,
) -> Any:  # noqa: ANN401
    """The data set with an estimate beside each row, computed when Ray asks for it.

    As `spark.score`; `actors` processes, each with one core and the estimator in memory.

    Raises:
        MissingExtraError: no ray or pyarrow.
        UsageError, InputError: a column that is not there, no fitted estimator.
    """
    try:
        import ray
        import ray.data
    except ImportError as missing:
        raise MissingExtraError("Ray", "ray") from missing
    columns = Columns(text=text_column, source=source_column, system=system_column)
    check(columns, load(model), [*data.schema().names])
    content = content_of(model)
    return data.map_batches(
        Actor,
        fn_constructor_args=(ray.put(content), digest_of(content), columns),
        batch_size=BATCH,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=actors),
        num_cpus=1,
    )


class Actor:
    """Opens an estimator once, and estimates batches."""

    def __init__(self, content: Any, digest: str, columns: Columns) -> None:  # noqa: ANN401
        """The bytes of an estimator's file, or a reference to them."""
        import ray

        data: bytes = content if isinstance(content, bytes) else ray.get(content)
        self.estimator = opened(local_file(data, digest), digest)
        self.columns = columns

    def __call__(self, batch: Any) -> Any:  # noqa: ANN401 - a table of Arrow
        """The batch with estimates."""
        return estimated(self.estimator, batch, self.columns)
