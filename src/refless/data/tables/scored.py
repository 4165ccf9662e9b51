"""Rows -> rated texts with columns of scores, and with references where there are any."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.data.records import Outputs, RatedPool, as_outputs
from refless.data.tables.columns import BOTH_ROLES
from refless.data.tables.memory import Rows
from refless.data.tables.merging import Merged
from refless.data.tables.outputs import of_texts, own_columns
from refless.data.tables.pools import PoolRead, rated_of
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.validate_rows import checked, numbers_of, picked
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError, UsageError

NUMBERS = ("logprob", "length")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoredRead(PoolRead):
    """Rated texts with scores, and what there is to say about how they were read.

    Attributes:
        pool: the rated texts, which keep no scores; texts are "" where the files have none.
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
    rows: Rows, reading: Reading = PLAIN, roles: Sequence[str] = BOTH_ROLES
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
    columns = {name: numbers_of(table.table, name) for name in of_roles.values()}
    own = own_columns(table, range(len(table.table)))
    rated = rated_of(table, reading, columns)
    read, groups = rated.read, rated.groups
    pool = read.pool.with_scores(())
    return ScoredRead(
        pool=pool,
        outputs=replace(as_outputs(pool), **of_texts(own, groups)),
        scores={name: _of_texts(table.scores[name], groups) for name in named.all("score")},
        texts="text" in named.columns,
        numbers={role: _of_texts(columns[name], groups) for role, name in of_roles.items()},
        labels=picked(table, "label", groups),
        notes=read.notes,
        skipped=read.skipped,
        n_skipped=read.n_skipped,
        group=read.group,
    )


def _of_texts(column: Sequence[float | None], groups: Merged) -> FloatArray:
    """[n] a column by row as a column by text."""
    return np.array([column[row] for row in groups.first], dtype=np.float64)
