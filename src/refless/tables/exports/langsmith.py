"""LangSmith: feedback, which is apart from its texts, and the runs that have them.

Dumped from its SDK, an object a line: `feedback.model_dump_json()`, `run.json()`.
"""

from collections import Counter

from refless.tables.exports.shape import (
    Export,
    Found,
    at,
    each,
    has,
    name_in,
    said_in,
    unpacked,
)
from refless.tables.table import Row


def read_feedback(row: Row, left: Counter[str]) -> Found | None:
    """Reads feedback that a person gave: it has a user, and its source is no model."""
    source = unpacked(row.get("feedback_source"))
    who, key, run = (
        name_in(one) for one in (at(source, "user_id"), row.get("key"), row.get("run_id"))
    )
    value = row.get("score") if row.get("score") is not None else row.get("value")
    if row.get("comparative_experiment_id") is not None:
        left["preferences, which rate no text"] += 1
    elif who is None or at(source, "type") == "model":
        left[f"feedback '{key}' by models and code, not by people"] += 1
    elif run is None or value is None or isinstance(value, list | dict):
        left["feedback without a value, or without a run"] += 1
    else:
        when = row.get("created_at")
        told = {"rating": value, "dimension": key, "annotator": who, "timestamp": when}
        return Found({"run": run}, [told])
    return None


def read_runs(row: Row, left: Counter[str]) -> Found | None:
    """Reads a run: what went in and came out."""
    given, got = unpacked(row.get("inputs")), unpacked(row.get("outputs"))
    if (text := said_in(got)) is None:
        left["runs without an output"] += 1
        return None
    metadata = at(unpacked(row.get("extra")), "metadata")
    return Found(
        {
            "id": name_in(row.get("id")),
            "text": text,
            "source": said_in(given),
            "system": name_in(at(metadata, "ls_model_name")),
            "inputs": given,
            "outputs": got,
            "metadata": metadata,
            "name": name_in(row.get("name")),
            "kind": name_in(row.get("run_type")),
            "trace_id": name_in(row.get("trace_id")),
            "reference_example_id": name_in(row.get("reference_example_id")),
        },
        [],
    )


FEEDBACK = Export(
    title="feedback of LangSmith",
    looks_like=has("feedback_source", "key", "run_id"),
    start=each(read_feedback),
    known=("rating", "annotator"),
    keys=("run",),
)
RUNS = Export(
    title="runs of LangSmith",
    looks_like=has("id", "run_type", "inputs", "outputs"),
    start=each(read_runs),
    known=("id", "text", "source", "system"),
)
