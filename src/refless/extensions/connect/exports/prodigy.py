"""Prodigy: annotations as JSONL of `db-out`, of one choice of several, or of yes or no."""

from collections import Counter

from refless.data.tables.exports.format import (
    Entry,
    Export,
    each,
    fields_of,
    has,
    items,
    name_in,
)
from refless.data.tables.reading import Row


def read_task(row: Row, left: Counter[str]) -> Entry | None:
    """Reads a task with its rating: the chosen option, or 1 if it was accepted and 0 if rejected.

    Tasks that were ignored, and choices of none or of several options, are counted.
    """
    if row["answer"] == "ignore":
        left["ignored tasks"] += 1
        return None
    rating: Row = {"rating": float(row["answer"] == "accept")}
    if "accept" in row:
        chosen = items(row["accept"])
        is_one = len(chosen) == 1 and row["answer"] == "accept"
        rating = {"rating": chosen[0] if is_one else None}
        left["tasks without one choice"] += not is_one
    elif "label" in row:
        rating["dimension"] = row["label"]
    rating["annotator"] = name_in(row.get("_annotator_id", row.get("_session_id")))
    record = {name: cell for name, cell in row.items() if name not in _OF_TASKS}
    record |= fields_of(row.get("meta"))
    record["id"] = name_in(row.get("_input_hash", row["_task_hash"]))
    return Entry(record, [rating])


_OF_TASKS = {"answer", "accept", "options", "label", "meta"}
TASKS = Export(
    title="tasks of Prodigy",
    looks_like=has("_task_hash", "answer"),
    start=each(read_task),
    roles=("id", "rating", "annotator"),
)
