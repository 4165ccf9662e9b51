"""Record batches of Arrow with an estimate beside each row, as every machine of a cluster does it.

A fitted estimator travels as the bytes of its file and is opened once a process, which maps it into
memory.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.data.tables import Columns, Reading, read_outputs
from refless.estimators.saved import load
from refless.files.arrays import ENDING
from refless.files.untrusted import reading
from refless.files.writing import write_atomic
from refless.registry.errors import InputError, UsageError

if TYPE_CHECKING:
    from refless.data.records import Outputs
    from refless.estimators import Estimator

ADDED = {  # columns, and the types that Spark and Arrow call them by
    "estimate": "double",
    "low": "double",
    "high": "double",
    "support": "long",
    "reason": "string",
    "signature": "string",
}
Folder = str | os.PathLike[str]


def content_of(model: Folder) -> bytes:
    """The bytes of the file of a fitted estimator; raises InputError for one that is not there."""
    with reading(model):
        return Path(model).read_bytes()


def digest_of(content: bytes) -> str:
    """By which each machine knows a fitted estimator again."""
    return hashlib.sha256(content).hexdigest()


def local_file(content: bytes, digest: str) -> Path:
    """The file of an estimator on this machine, written if it is not there yet.

    Raises:
        InputError: other bytes than those that were sent.
    """
    path = Path(tempfile.gettempdir()) / f"refless-{_user()}-{digest[:16]}{ENDING}"
    if not path.exists():
        write_atomic(str(path), content)
    if digest_of(path.read_bytes()) != digest:
        problem, remedy = "another estimator than the one that was sent", "remove that file"
        raise InputError(problem, path=str(path), remedy=remedy)
    return path


def _user() -> str:
    """Whose process this is; in a container, users may have no name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())


@lru_cache(maxsize=2)
def opened(path: Path, digest: str) -> Estimator:  # noqa: ARG001 - another one is opened anew
    """The estimator, once a process; one thread, as clusters run a process for each core."""
    return load(path, threads=1)


def estimated(estimator: Estimator, batch: Any, columns: Columns) -> Any:  # noqa: ANN401 - Arrow
    """The rows of a record batch or table, and of each `ADDED`: see there.

    A row that cannot be read has the reason `bad-row`. Numbers are null where there is none.
    How rows are dealt to batches changes no number by more than 1e-12.

    Args:
        estimator: fitted.
        batch: of pyarrow.
        columns: what its columns of texts, sources and systems are called; see `check`.
    """
    import pyarrow as pa

    rows = len(batch)
    added: dict[str, Any] = {name: [] for name in ADDED}
    if rows:
        result = estimator.estimate(_outputs(estimator, batch, columns)).on(estimator.rated.scale)
        added = {"estimate": result.values, "low": result.low, "high": result.high}
        added |= {"support": result.support, "reason": result.reasons}
        added["signature"] = [str(estimator.signature())] * rows
    kinds = {"double": pa.float64(), "long": pa.int64(), "string": pa.string()}
    arrays, schema = [*batch.columns], batch.schema
    for name, kind in ADDED.items():
        # as pandas has them: NaN is null
        arrays.append(pa.array(added[name], type=kinds[kind], from_pandas=True))
        schema = schema.append(pa.field(name, kinds[kind]))
    return type(batch).from_arrays(arrays, schema=schema)


def check(columns: Columns, estimator: Estimator, names: list[str]) -> None:
    """Raises UsageError for columns that are not there or would come twice, or lost sources."""
    texts, scores = _named(columns), estimator.rated.score_names
    if lost := sorted({*texts, *scores} - {*names}):
        raise UsageError(f"there is no column '{lost[0]}'; the columns are {', '.join(names)}")
    if twice := sorted({*ADDED} & {*names}):
        raise UsageError(f"there is a column '{twice[0]}' already; rename or drop it")
    import pyarrow as pa

    cells: dict[str, list[Any]] = {name: ["a"] for name in texts}
    cells |= {name: [0.0] for name in scores}
    estimator.estimate(_outputs(estimator, pa.table(cells), columns))  # it may miss the sources


def _outputs(estimator: Estimator, batch: Any, columns: Columns) -> Outputs:  # noqa: ANN401
    """The outputs in a batch; rows that cannot be read keep their place."""
    scores = estimator.rated.score_names
    names = dict.fromkeys([*_named(columns), *scores])
    cells = {name: batch.column(name).to_pylist() for name in names}
    reading = Reading(columns=replace(columns, score=tuple(scores)), skip_bad=True)
    return read_outputs(cells, reading).outputs


def _named(columns: Columns) -> list[str]:
    """The columns that are named of texts, sources and systems."""
    return [name for name in (columns.text, columns.source, columns.system) if name is not None]
