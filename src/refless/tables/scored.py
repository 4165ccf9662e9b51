"""Rows -> rated texts with columns of scores, and with references where there are any."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.errors import InputError, UsageError
from refless.records import FloatArray, Outputs, RatedPool, as_outputs
from refless.tables.checking import Checked, checked, picked
from refless.tables.columns import SCORED_ROLES
from refless.tables.memory import Rows
from refless.tables.outputs import of_texts, references_of
from refless.tables.pools import PoolRead, rated_of
from refless.tables.ratings import BLANKS, spelled
from refless.tables.reading import PLAIN, Reading

NUMBERS = ("logprob", "length")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoredRead(PoolRead):
    """Rated texts with scores, and what there is to say about how they were read.

    Attributes:
        pool: the rated texts; texts are "" where the files have none.
        outputs: the same as outputs, with their references and weights if any.
        scores: by column, [n]; NaN where a cell is blank.
        numbers: by role (`logprob`, `length`), the same, where there is such a column.
        labels: [n] values of the label column, or empty.
        texts: whether the files have texts.
    """

    outputs: Outputs
    scores: dict[str, FloatArray]
    texts: bool
    numbers: dict[str, FloatArray]
    labels: tuple[str, ...] = ()


def read_scored(
    rows: Rows, reading: Reading = PLAIN, roles: Sequence[str] = SCORED_ROLES
) -> ScoredRead:
    """The rated texts in rows from anywhere with their columns of scores; texts are not needed.

    Rows of one text must agree in their scores. Without a text column an annotator column needs an
    id column beside it, as nothing else says which rows are one text.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`; a score that is no number.
    """
    if isinstance(rows, RatedPool | Outputs):
        raise UsageError(f"{type(rows).__name__} has no columns of scores; give rows that have")
    table = checked(rows, reading, roles, ("rating",))
    named = table.roles
    if "text" not in named.columns and "annotator" in table.names and "id" not in table.names:
        raise InputError(
            "there are annotators, but neither texts nor ids to tell which rows are one text",
            path=table.table.name,
            remedy="name a column with --id-column or --text-column",
        )
    of_roles = {role: name for role in NUMBERS if (name := named.one(role)) is not None}
    wanted = dict.fromkeys((*named.all("score"), *of_roles.values()))
    columns = {name: _numbers(table, name) for name in wanted}
    references = references_of(table, range(len(table.table)))
    rated = rated_of(table, reading, columns)
    read, groups = rated.read, rated.groups
    floats = {
        name: np.array([column[row] for row in groups.first], dtype=np.float64)
        for name, column in columns.items()
    }
    return ScoredRead(
        pool=read.pool,
        outputs=replace(as_outputs(read.pool), **of_texts(references, groups)),
        scores={name: floats[name] for name in named.all("score")},
        texts="text" in named.columns,
        numbers={role: floats[name] for role, name in of_roles.items()},
        labels=picked(table, "label", groups),
        notes=read.notes,
        skipped=read.skipped,
        n_skipped=read.n_skipped,
        group=read.group,
    )


def _numbers(rows: Checked, name: str) -> list[float | None]:
    """A column of finite numbers, None where a cell is blank; other cells make bad rows."""
    numbers: list[float | None] = []
    for row, cell in enumerate(rows.table.columns[name]):
        value = spelled(cell)
        number = value if isinstance(value, float) and np.isfinite(value) else None
        if number is None and value is not None and value not in BLANKS:
            remedy = "scores are finite numbers; leave the cell blank where there is none"
            rows.table.refuse(row, f"score {cell!r} is not a number", remedy, name)
        numbers.append(number)
    return numbers
