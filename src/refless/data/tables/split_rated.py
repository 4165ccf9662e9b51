"""Partly rated rows -> rated texts and outputs."""

from collections.abc import Sequence
from dataclasses import replace

from refless.data.tables.columns import BOTH_ROLES, missing
from refless.data.tables.memory import Rows
from refless.data.tables.outputs import OutputsRead, outputs_of_rows
from refless.data.tables.pools import PoolRead, rated_of
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.validate_rows import checked
from refless.registry.errors import InputError

APART = "give the rated texts with --rated"


def read_both(rows: Rows, reading: Reading = PLAIN) -> tuple[PoolRead, OutputsRead]:
    """The rated texts among the rows, and as outputs those that nobody has rated.

    A text is rated if any row of it is. Texts without ids are named by the number of their row, so
    that no id is given twice.

    Args:
        rows: as for `read_pool`.
        reading: as for `read_pool`.

    Raises:
        InputError: as `read_pool` and `read_outputs`; nothing is rated, or everything.
        UsageError, MissingExtraError: as `read_pool`.
    """
    table = checked(rows, reading, BOTH_ROLES, needed=("text",))
    if not table.roles.all("rating"):
        raise missing("rating", [*table.table.seen], table.table.name, f", or {APART}")
    rated = rated_of(table, reading, both=True)
    if not rated.others:
        remedy = f"leave the rating of texts to estimate blank, or {APART}"
        found = "every text has a rating, so there is none to estimate"
        raise InputError(found, path=table.table.name, remedy=remedy)
    read = outputs_of_rows(table, rated.others, ())
    if "id" in table.names:
        return rated.read, read
    pool = replace(rated.read.pool, ids=_numbers(rated.groups.first))
    outputs = replace(read.outputs, ids=_numbers(rated.others))
    return replace(rated.read, pool=pool), replace(read, outputs=outputs)


def _numbers(rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(str(row + 1) for row in rows)
