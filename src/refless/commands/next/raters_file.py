"""Outputs to rate as tasks of Label Studio and records of Argilla.

The first ones to rate have the highest priority. Raters do not see it, and no text has an estimate.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from refless.data.records import Outputs
from refless.registry.signature import Signature
from refless.report.export import Cell, as_json

LISTED = ("id", "item", "system", "source", "text")  # columns of the file
VISIBLE = ("source", "text")  # roles that raters see


def label_studio_tasks(rows: Sequence[Mapping[str, Cell]], signature: Signature) -> str:
    """A task an output, with its priority as the score of an empty prediction."""
    version = f"refless {signature}"
    tasks = []
    for row, priority in _ranked(rows):
        prediction = {"model_version": version, "score": priority, "result": []}
        tasks.append({"data": row, "predictions": [prediction]})
    return as_json(tasks)


def argilla_records(
    rows: Sequence[Mapping[str, Cell]], names: Mapping[str, str]
) -> str:
    """A record an output, with its priority and all that raters need not see as metadata.

    Args:
        rows: the outputs; names: of their columns, by role.
    """
    fields = [names[role] for role in VISIBLE if role in names]
    records = []
    for row, priority in _ranked(rows):
        hidden = {name: cell for name, cell in row.items() if name not in fields}
        records.append(
            {
                "id": hidden.pop(names.get("id", ""), None),
                "fields": {name: row[name] for name in fields},
                "metadata": {**hidden, "priority": priority},
                "suggestions": {},
                "responses": {},
                "vectors": {},
            }
        )
    return as_json(records)


def _ranked(
    rows: Sequence[Mapping[str, Cell]],
) -> Iterator[tuple[dict[str, Cell], float]]:
    """Each row without empty cells, and its priority: 1 for the first, above 0 for the last."""
    for i, row in enumerate(rows):
        filled = {
            name: cell
            for name, cell in row.items()
            if cell is not None and cell == cell
        }
        yield filled, (len(rows) - i) / len(rows)


def ids_tell(outputs: Outputs) -> bool:
    """Whether ids hold names of systems."""
    names = {*outputs.systems} - {""}
    return any(name in text_id for name, text_id in product(names, outputs.ids))


def told_without_ids(outputs: Outputs) -> bool:
    """Whether item, source and text tell each output from the others."""
    columns = [column for column in (outputs.items, outputs.sources) if column]
    rows = [*zip(*columns, outputs.texts, strict=True)]
    return bool(columns) and len({*rows}) == len(rows)


def columns_of_list(
    called: Mapping[str, tuple[str, ...]],
    outputs: Outputs,
    *,
    blind: bool,
    has_ids: bool,
) -> dict[str, str]:
    """Names of the columns of the file for raters, by role: the user's, or the usual.

    Numbers of rows are no ids, and sources that stand for items are not written twice.
    """
    twice = "item" not in called and outputs.items == outputs.sources
    has_ids = has_ids and "id" in called
    left_out = {"system": blind, "item": twice, "id": not has_ids}
    roles = [role for role in LISTED if not left_out.get(role)]
    return {role: (*called.get(role, ()), role)[0] for role in roles}
