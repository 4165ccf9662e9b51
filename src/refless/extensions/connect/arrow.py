"""Record batches of Arrow with an estimate beside each row, as every machine of a cluster does it.

A fitted estimator travels as one file of bytes, is unpacked once a machine and opened once a
process, which maps it into memory.
"""

from __future__ import annotations

import getpass
import io
import os
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.estimators.saved import load, manifest_of
from refless.files.folders import LOCK
from refless.files.untrusted import json_in
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the columns of outputs are called; None where there is no such column.

    Attributes:
        text: strings. source: strings, or what becomes JSON. system: strings.
    """

    text: str = "text"
    source: str | None = None
    system: str | None = None

    def named(self) -> dict[str, str]:
        """Role -> column."""
        roles = {"text": self.text, "source": self.source, "system": self.system}
        return {role: name for role, name in roles.items() if name is not None}


@dataclass(frozen=True, slots=True)
class Packed:
    """A fitted estimator as bytes, and the digest by which each machine knows it again."""

    digest: str
    content: bytes

    @classmethod
    def of(cls, model: Folder) -> Packed:
        """The folder of `refless fit`.

        Raises:
            InputError: no fitted estimator there.
        """
        digest, folder, out = digest_of(model), Path(model), io.BytesIO()
        with zipfile.ZipFile(out, "w") as packed:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.name != LOCK:
                    name = zipfile.ZipInfo(str(path.relative_to(folder)))
                    packed.writestr(name, path.read_bytes())
        return cls(digest, out.getvalue())


def digest_of(model: Folder) -> str:
    """The digest of a fitted estimator, which its folder's manifest says."""
    manifest = manifest_of(model)
    if manifest is None:
        remedy = "name a folder made by 'refless fit'"
        raise InputError("no fitted estimator is there", path=str(model), remedy=remedy)
    return str(json_in(manifest, dict).get("sha256", ""))


def unpacked(content: bytes | Path, digest: str) -> Path:
    """The folder of a packed estimator on this machine, made where it is not there yet.

    Raises:
        InputError: other bytes than those that were packed.
    """
    folder = Path(tempfile.gettempdir()) / f"refless-{_user()}-{digest[:16]}"
    if not folder.exists():
        fresh = Path(tempfile.mkdtemp(prefix=".refless-"))
        source = io.BytesIO(content) if isinstance(content, bytes) else content
        with zipfile.ZipFile(source) as packed:
            packed.extractall(fresh)  # names that lead elsewhere are made to stay within
        try:
            fresh.rename(folder)
        except OSError:  # another process of this machine was first
            shutil.rmtree(fresh)
    if digest_of(folder) != digest:
        found, remedy = "another estimator than the one that was sent", "remove that folder"
        raise InputError(found, path=str(folder), remedy=remedy)
    return folder


def _user() -> str:
    """Whose process this is; in a container, users may have no name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())


@lru_cache(maxsize=2)
def opened(folder: Path, digest: str) -> Estimator:  # noqa: ARG001 - another one is opened anew
    """The estimator, once a process; one thread, as clusters run a process for each core."""
    return load(folder, threads=1)


def estimated(estimator: Estimator, batch: Any, columns: Columns) -> Any:  # noqa: ANN401 - Arrow
    """The rows of a record batch or table, and of each `ADDED`: see there.

    A row that cannot be read has the reason `bad-row`. Numbers are null where there is none.
    How rows are dealt to batches changes no number by more than 1e-12.

    Args:
        estimator: fitted.
        batch: of pyarrow.
        columns: what its columns are called; see `check`.
    """
    import pyarrow as pa

    rows = len(batch)
    added: dict[str, Any] = {name: [] for name in ADDED}
    if rows:
        found = estimator.estimate(_outputs(estimator, batch, columns)).on(estimator.rated.scale)
        added = {"estimate": found.values, "low": found.low, "high": found.high}
        added |= {"support": found.support, "reason": found.reasons}
        added["signature"] = [str(estimator.signature())] * rows
    kinds = {"double": pa.float64(), "long": pa.int64(), "string": pa.string()}
    arrays, schema = [*batch.columns], batch.schema
    for name, kind in ADDED.items():
        # as pandas has them: NaN is null
        arrays.append(pa.array(added[name], type=kinds[kind], from_pandas=True))
        schema = schema.append(pa.field(name, kinds[kind]))
    return type(batch).from_arrays(arrays, schema=schema)


def packed_for(model: Folder, columns: Columns, there: list[str]) -> Packed:
    """The estimator to be sent, once it is sure that it can read columns of these names.

    Raises:
        InputError: no fitted estimator there.
        UsageError: as of `check`.
    """
    check(columns, load(model), there)
    return Packed.of(model)


def check(columns: Columns, estimator: Estimator, there: list[str]) -> None:
    """Raises UsageError for columns that are not there or would come twice, or lost sources."""
    wanted = {*columns.named().values(), *estimator.rated.score_names}
    if lost := sorted(wanted - {*there}):
        raise UsageError(f"there is no column '{lost[0]}'; the columns are {', '.join(there)}")
    if twice := sorted({*ADDED} & {*there}):
        raise UsageError(f"there is a column '{twice[0]}' already; rename or drop it")
    import pyarrow as pa

    cells: dict[str, list[Any]] = {name: ["a"] for name in columns.named().values()}
    cells |= {name: [0.0] for name in estimator.rated.score_names}
    estimator.estimate(_outputs(estimator, pa.table(cells), columns))  # it may miss the sources


def _outputs(estimator: Estimator, batch: Any, columns: Columns) -> Outputs:  # noqa: ANN401
    """The outputs in a batch; rows that cannot be read keep their place."""
    from refless.data.tables import Columns as Named
    from refless.data.tables import Reading, read_outputs

    scores = estimator.rated.score_names
    names = dict.fromkeys([*columns.named().values(), *scores])
    cells = {name: batch.column(name).to_pylist() for name in names}
    roles: dict[str, Any] = {**columns.named(), "score": tuple(scores)}
    named = Named(**roles)
    return read_outputs(cells, Reading(columns=named, skip_bad=True)).outputs
