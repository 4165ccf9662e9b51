"""Record batches of Arrow with an estimate beside each row, as every machine of a cluster does it.

A fitted estimator travels as the bytes of its file and is opened once a process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.commands.estimating import estimated_rows
from refless.commands.parameters import Folder
from refless.data.tables import Columns, Reading
from refless.estimators.saved import load
from refless.files.arrays import ENDING
from refless.registry.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from refless.data.records import Estimates
    from refless.estimators import Estimator

ADDED = {  # columns, and the types that Spark and Arrow call them by
    "estimate": "double",
    "low": "double",
    "high": "double",
    "support": "long",
    "reason": "string",
    "signature": "string",
}


@lru_cache(maxsize=2)
def opened(content: bytes) -> Estimator:
    """The estimator in the bytes of a file of `refless fit`, opened once a process.

    It has one thread, as clusters run a process for each core.

    Raises:
        InputError: bytes of something else.
    """
    with tempfile.TemporaryDirectory(
        prefix="refless-", ignore_cleanup_errors=True
    ) as folder:
        path = Path(folder) / f"sent{ENDING}"
        path.write_bytes(content)
        return load(path, threads=1)


def estimated(estimator: Estimator, batch: Any, columns: Columns) -> Any:  # noqa: ANN401 - Arrow
    """The rows of a record batch or table, with a column for each of `ADDED`.

    A row that cannot be read has the reason `bad-row`. Numbers are null where there is none.
    How rows are dealt to batches changes no number by more than 1e-12.

    Args:
        estimator: fitted.
        batch: of pyarrow.
        columns: what its columns of texts, sources and systems are called; see `estimating`.
    """
    import pyarrow as pa

    added: dict[str, Any] = {name: [] for name in ADDED}
    if len(batch):
        estimates = _estimates(estimator, batch, columns)
        added = {
            "estimate": estimates.values,
            "low": estimates.low,
            "high": estimates.high,
            "support": estimates.support,
            "reason": estimates.reasons,
            "signature": [str(estimator.signature())] * len(batch),
        }
    kinds = {"double": pa.float64(), "long": pa.int64(), "string": pa.string()}
    arrays = [*batch.columns]
    schema = batch.schema
    for name, kind in ADDED.items():
        # as pandas has them: NaN is null
        arrays.append(pa.array(added[name], type=kinds[kind], from_pandas=True))
        schema = schema.append(pa.field(name, kinds[kind]))
    return type(batch).from_arrays(arrays, schema=schema)


def estimating(
    model: Folder, columns: Columns, names: list[str]
) -> Callable[[Any], Any]:
    """A function from batches of these columns to batches with estimates, for any machine.

    It can be pickled: the fitted estimator goes with it.

    Args:
        model: the file.
        columns: what the columns of texts, sources and systems are called; names: all there are.

    Raises:
        MissingExtraError: no pyarrow.
        UsageError: a column that is not there or would come twice, sources that are not there.
        InputError: no fitted estimator.
    """
    estimator = load(model)
    texts = _named(columns)
    scores = estimator.rated.score_names
    if lost := sorted({*texts, *scores} - {*names}):
        raise UsageError(
            f"there is no column '{lost[0]}'; the columns are {', '.join(names)}"
        )
    if twice := sorted({*ADDED} & {*names}):
        raise UsageError(f"there is a column '{twice[0]}' already; rename or drop it")
    try:
        import pyarrow as pa
    except ImportError as missing:
        raise MissingExtraError("Arrow", "parquet") from missing
    cells: dict[str, list[Any]] = {name: ["a"] for name in texts}
    cells |= {name: [0.0] for name in scores}
    # it may miss the sources
    _estimates(estimator, pa.table(cells), columns)
    return partial(_estimated_by, Path(model).read_bytes(), columns)


def _estimated_by(content: bytes, columns: Columns, batch: Any) -> Any:  # noqa: ANN401 - Arrow
    return estimated(opened(content), batch, columns)


def _estimates(estimator: Estimator, batch: Any, columns: Columns) -> Estimates:  # noqa: ANN401
    """An estimate for each row of a batch, also where the row cannot be read."""
    scores = estimator.rated.score_names
    names = dict.fromkeys([*_named(columns), *scores])
    cells = {name: batch.column(name).to_pylist() for name in names}
    reading = Reading(columns=replace(columns, score=tuple(scores)), skip_bad=True)
    read, estimates = estimated_rows(estimator, cells, reading)
    return estimates.take(read.listed)


def _named(columns: Columns) -> list[str]:
    """The columns that are named of texts, sources and systems."""
    names = (columns.text, columns.source, columns.system)
    return [name for name in names if name is not None]
