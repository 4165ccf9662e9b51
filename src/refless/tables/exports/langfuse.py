"""Langfuse: scores, which are apart from their texts, and the traces or observations with these.

Scores of people have the source ANNOTATION; API and EVAL are programs and models. What is exported
of traces has lists of scores without authors or sources: nothing tells people's there.
"""

from collections import Counter
from collections.abc import Mapping

from refless.tables.exports.shape import (
    Export,
    Found,
    at,
    each,
    name_in,
    said_in,
    unpacked,
)
from refless.tables.table import Row

_OF_TRACES = ("traceId", "sessionId", "userId", "bookmarked")
_WORDS = {"TEXT", "CORRECTION"}


def is_scores(first: Mapping[str, object]) -> bool:
    """A score, of the export or of the API, or the API's object around several."""
    one = at(first.get("data"), 0) if "data" in first else first
    names = set[object](one) if isinstance(one, Mapping) else set()
    return {"source", "name", "dataType"} <= names and bool({"traceId", "subject"} & names)


def read_scores(row: Row, left: Counter[str]) -> Found | None:
    """Reads a score that a person gave."""
    kind, source = name_in(row.get("dataType")), name_in(row.get("source"))
    value = row.get("stringValue") if kind == "CATEGORICAL" else row.get("value")
    value = row.get("value") if value in (None, "") else value
    subject = row.get("subject")
    observation = name_in(row.get("observationId"))
    if at(subject, "kind") == "observation":
        observation = name_in(at(subject, "id"))
    trace = name_in(row.get("traceId")) or name_in(at(subject, "traceId"))
    if at(subject, "kind") == "trace":
        trace = name_in(at(subject, "id"))
    if source != "ANNOTATION":
        left[f"scores '{name_in(row.get('name'))}' by {source}, not by people"] += 1
    elif kind in _WORDS or value in (None, ""):
        left["comments and corrections, which are no ratings"] += 1
    elif not (trace or observation):
        left["scores of sessions or runs, not of a trace"] += 1
    else:
        return Found({"observation": observation, "trace": trace}, [_rating(row, value)])
    return None


def _rating(row: Row, value: object) -> Row:
    who = name_in(row.get("authorUserName")) or name_in(row.get("authorUserId"))
    when = row.get("timestamp")
    return {"rating": value, "dimension": row.get("name"), "annotator": who, "timestamp": when}


def is_traces(first: Mapping[str, object]) -> bool:
    """A row of the traces, or of the observations."""
    return all(name in first for name in ("id", "input", "output", "name")) and any(
        name in first for name in _OF_TRACES
    )


def read_traces(row: Row, left: Counter[str]) -> Found | None:
    """Reads a trace or an observation: what went in and came out."""
    given, got = unpacked(row.get("input")), unpacked(row.get("output"))
    scores = [name for name, cell in row.items() if name != "tags" and _is_numbers(cell)]
    left["scores without an author, in traces; refless join takes the file of scores"] += len(
        scores
    )
    other = {*scores, "input", "output"}
    record = {name: cell for name, cell in row.items() if name not in other}
    if (text := said_in(got)) is None:
        left["traces without an output"] += 1
        return None
    told = {"text": text, "source": said_in(given), "inputs": given, "outputs": got}
    return Found(record | told, [])


def _is_numbers(cell: object) -> bool:
    cells = unpacked(cell)
    return isinstance(cells, list) and any(isinstance(one, int | float) for one in cells)


SCORES = Export(
    title="scores of Langfuse",
    looks_like=is_scores,
    start=each(read_scores),
    known=("rating", "annotator"),
    keys=("observation", "trace"),
    within="data",
)
TRACES = Export(
    title="traces of Langfuse",
    looks_like=is_traces,
    start=each(read_traces),
    known=("id", "text", "source"),
)
