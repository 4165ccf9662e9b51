"""Rows -> outputs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from refless.data.records import Outputs, RatedPool, as_outputs
from refless.data.tables.cells import references_of_cells, tokens_of_cells, weights_of_cell
from refless.data.tables.columns import OUTPUT_ROLES, Roles, check_columns, roles_of, wanted
from refless.data.tables.load_columns import gather_batches
from refless.data.tables.memory import Rows
from refless.data.tables.merging import Merged, merged
from refless.data.tables.pools import with_scores
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.validate_rows import (
    NEEDED,
    Checked,
    Read,
    about,
    agree,
    check_late,
    checked,
    checked_as,
    merged_note,
    said,
)
from refless.registry.errors import InputError


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutputsRead(Read):
    """Outputs and what there is to say about how they were read."""

    outputs: Outputs


def read_outputs(rows: Rows, reading: Reading = PLAIN) -> OutputsRead:
    """The outputs in rows from anywhere; Outputs pass through, a RatedPool gives its texts.

    Rows with one id and equal contents are one output. Under `skip_bad` a bad row keeps its place
    with the text "" and `bad` set.

    Args:
        rows: as for `read_pool`.
        reading: which column is what and how to read files.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`.
    """
    if isinstance(rows, RatedPool | Outputs):
        given = as_outputs(rows) if isinstance(rows, RatedPool) else rows
        return OutputsRead(outputs=with_scores(given, reading.columns.score, "outputs"))
    table = checked(rows, reading, OUTPUT_ROLES)
    return outputs_of_rows(table, range(len(table.table)), table.roles.notes)


def read_batches(rows: Rows, reading: Reading, size: int) -> Iterator[OutputsRead]:
    """The outputs, at most so many at a time; nothing is kept from one batch to the next.

    Each row is an output of its own, also where two have one id; without ids rows are counted
    through all files. Which column is what is decided by the first batch, which has all notes; a
    column that begins later is refused, as other sizes of batches would read it.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_outputs`, when the batch is asked for.
    """
    keep, done = wanted(reading.columns, OUTPUT_ROLES), 0
    roles: Roles | None = None
    check_columns(reading.columns, OUTPUT_ROLES)
    for table in gather_batches(rows, keep, reading, size):
        notes: tuple[str, ...] = ()
        seen = tuple(table.seen)
        now = roles_of(reading.columns, OUTPUT_ROLES, seen, table.name, known=table.known)
        if roles is None:
            roles, notes = now, now.notes
        check_late(now, roles, done, table.name)
        found = outputs_of_rows(checked_as(table, roles), range(len(table)), notes, apart=True)
        if "id" not in roles.columns:
            ids = tuple(str(done + i) for i in range(1, len(table) + 1))
            found = replace(found, outputs=replace(found.outputs, ids=ids))
        done += len(table)
        yield found


def outputs_of_rows(
    rows: Checked, chosen: Sequence[int], notes: Sequence[str], *, apart: bool = False
) -> OutputsRead:
    """The outputs on the chosen rows, `apart` also those of one id; raises as `read_outputs`."""
    own = own_columns(rows, chosen)
    bad = [row for row in chosen if row in rows.table.bad]
    if bad:
        rows = _with_place_holders(rows, bad)
    groups = merged(chosen, None if apart else rows.names.get("id"))
    agree(rows, groups, own)
    outputs = Outputs(
        **about(rows, groups),
        **of_texts(own, groups),
        bad=tuple(row in rows.table.bad for row in groups.first) if bad else (),
    )
    notes = (*notes, *merged_note(rows, groups))
    return OutputsRead(
        outputs=outputs, **said(rows, groups, notes, bad, "kept as empty place holders")
    )


def own_columns(rows: Checked, chosen: Sequence[int]) -> dict[str, list[tuple[Any, ...]]]:
    """[n of table] what metrics read besides the text, on the chosen rows: columns by role."""
    return _references(rows, chosen) | _tokens(rows, chosen)


def _tokens(rows: Checked, chosen: Sequence[int]) -> dict[str, list[tuple[Any, ...]]]:
    """The tokens and their log-probabilities, where there is a column of these."""
    name, beside = rows.roles.one("logprobs"), rows.roles.one("tokens")
    if name is None:
        return {}
    found: dict[str, list[tuple[Any, ...]]] = {
        role: [()] * len(rows.table) for role in ("tokens", "logprobs")
    }
    for row in chosen:
        tokens = None if beside is None else rows.table.columns[beside][row]
        try:
            read = tokens_of_cells(rows.table.columns[name][row], tokens)
            found["tokens"][row], found["logprobs"][row] = read
        except InputError as fault:
            rows.table.refuse(row, fault.found, fault.remedy, name)
    return found


def _references(rows: Checked, chosen: Sequence[int]) -> dict[str, list[tuple[Any, ...]]]:
    """The references and weights, where there are such columns."""
    names, weight_name = rows.roles.all("reference"), rows.roles.one("weight")
    columns = [rows.table.columns[name] for name in names]
    roles = ("references", "weights") if weight_name else ("references",) if names else ()
    found: dict[str, list[tuple[Any, ...]]] = {role: [()] * len(rows.table) for role in roles}
    for row in chosen if names else ():
        name = names[0]
        try:
            texts = references_of_cells([column[row] for column in columns])
            if weight_name is not None:
                name = weight_name
                found["weights"][row] = weights_of_cell(rows.table.columns[name][row], len(texts))
            found["references"][row] = texts
        except InputError as fault:
            rows.table.refuse(row, fault.found, fault.remedy, name)
    return found


def of_texts(columns: Mapping[str, Sequence[Any]], groups: Merged) -> dict[str, Any]:
    """Columns by row as columns by text."""
    return {name: tuple(column[row] for row in groups.first) for name, column in columns.items()}


def _with_place_holders(rows: Checked, bad: Sequence[int]) -> Checked:
    """Bad rows without texts; their place stands for an id or item that they lack."""
    texts = [*rows.texts]
    needed = {role: [*rows.names[role]] for role in NEEDED if role in rows.names}
    for row in bad:
        texts[row] = ""
        for column in needed.values():
            column[row] = column[row] or f"{rows.table.part(row).name}:{rows.table.lines[row]}"
    return replace(rows, texts=texts, names={**rows.names, **needed})
