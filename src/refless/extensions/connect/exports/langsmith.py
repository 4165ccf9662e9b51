"""LangSmith: feedback, which is apart from its texts, and the runs that have them.

Dumped from its SDK, an object a line: `feedback.model_dump_json()`, `run.json()`.
"""

from collections import Counter

from refless.data.tables.exports.format import (
    Export,
    Found,
    apart,
    at,
    each,
    has,
    name_in,
    said_in,
    unpacked,
)
from refless.data.tables.source import Row


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
    start=apart("feedback of LangSmith", "runs", "run_id", "feedback_source.user_id"),
    roles=(),
)
RUNS = Export(
    title="runs of LangSmith",
    looks_like=has("id", "run_type", "inputs", "outputs"),
    start=each(read_runs),
    roles=("id", "text", "source", "system"),
)
