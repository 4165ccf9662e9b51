"""Files -> rated texts with columns of scores, and with references where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.errors import InputError
from refless.records import FloatArray, Outputs, RatedPool, as_outputs
from refless.tables.columns import SCORED_ROLES
from refless.tables.gathering import bad_row
from refless.tables.merging import Merged, check_agreement
from refless.tables.outputs import references_of
from refless.tables.pools import pool_of_rows
from refless.tables.ratings import spelled
from refless.tables.reading import Checked, Reading, checked, picked

NUMBERS = ("logprob", "length")
_PLAIN = Reading()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoredRead:
    """Rated texts with scores, and what there is to say about how they were read.

    Attributes:
        pool: the rated texts; texts are "" where the files have none.
        outputs: the same as outputs, with their references and weights if any.
        scores: by column, [n]; NaN where a cell is blank.
        numbers: by role (`logprob`, `length`), the same, where there is such a column.
        labels: [n] values of the label column, or empty.
        texts: whether the files have texts.
        notes, skipped, n_skipped, group: as in PoolRead.
    """

    pool: RatedPool
    outputs: Outputs
    scores: dict[str, FloatArray]
    texts: bool
    numbers: dict[str, FloatArray]
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: tuple[InputError, ...] = ()
    n_skipped: int = 0
    group: tuple[str, ...] = ()


def read_scored(
    paths: Sequence[str], reading: Reading = _PLAIN, roles: Sequence[str] = SCORED_ROLES
) -> ScoredRead:
    """The rated texts in files with their columns of scores; no text column is needed.

    Rows of one text must agree in their scores. Without a text column an annotator column needs an
    id column beside it, as nothing else says which rows are one text.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`; a score that is no number.
    """
    rows = checked(paths, reading, roles, ("rating",))
    if "text" not in rows.roles.columns and "annotator" in rows.names and "id" not in rows.names:
        raise InputError(
            "annotators, but neither texts nor ids: which rows are one text?",
            path=paths[0],
            remedy="name a column with --id-column or --text-column",
        )
    of_roles = {role: name for role in NUMBERS if (name := rows.roles.one(role)) is not None}
    wanted = dict.fromkeys((*rows.roles.all("score"), *of_roles.values()))
    columns = {name: _numbers(rows, name) for name in wanted}
    references, weights = references_of(rows)
    read, groups = pool_of_rows(rows, paths, reading)
    labels = {"label": rows.names["label"]} if "label" in rows.names else {}
    check_agreement(rows.table, groups, {**columns, **labels}, rows.names.get("id"))
    floats = {name: _floats(column, groups) for name, column in columns.items()}
    return ScoredRead(
        pool=read.pool,
        outputs=_outputs(read.pool, groups, references, weights),
        scores={name: floats[name] for name in rows.roles.all("score")},
        texts="text" in rows.roles.columns,
        numbers={role: floats[name] for role, name in of_roles.items()},
        labels=picked(rows.names, "label", groups),
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
        if isinstance(value, str) and value in {"nan", "na", "null", "none"}:
            value = None
        number = value if isinstance(value, float) and np.isfinite(value) else None
        if number is None and value is not None and value == value and row not in rows.faults.rows:
            remedy = "scores are finite numbers; leave the cell blank where there is none"
            rows.faults.add(row, bad_row(rows.table, row, f"score {cell!r}", remedy, name))
        numbers.append(number)
    return numbers


def _floats(column: Sequence[float | None], groups: Merged) -> FloatArray:
    values = (column[row] for row in groups.first)
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _outputs(
    pool: RatedPool,
    groups: Merged,
    references: Sequence[tuple[str, ...]],
    weights: Sequence[tuple[float, ...]],
) -> Outputs:
    return replace(
        as_outputs(pool),
        references=tuple(references[row] for row in groups.first) if references else (),
        weights=tuple(weights[row] for row in groups.first) if weights else (),
    )
