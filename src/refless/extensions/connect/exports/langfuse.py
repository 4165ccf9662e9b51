"""Langfuse: scores, which are apart from their texts, and the traces or observations with these.

Scores of people have the source ANNOTATION; API and EVAL are programs and models. What is exported
of traces has lists of scores without authors or sources: nothing tells people's there.
"""

from collections import Counter
from collections.abc import Mapping

from refless.data.tables.exports.format import Export, Found, apart, at, each, said_in, unpacked
from refless.data.tables.source import Row

_OF_TRACES = ("traceId", "sessionId", "userId", "bookmarked")


def is_scores(first: Mapping[str, object]) -> bool:
    """A score, of the export or of the API, or the API's object around several."""
    one = at(first.get("data"), 0) if "data" in first else first
    names = set[object](one) if isinstance(one, Mapping) else set()
    return {"source", "name", "dataType"} <= names and bool({"traceId", "subject"} & names)


def is_traces(first: Mapping[str, object]) -> bool:
    """A row of the traces, or of the observations."""
    return all(name in first for name in ("id", "input", "output", "name")) and any(
        name in first for name in _OF_TRACES
    )


def read_traces(row: Row, left: Counter[str]) -> Found | None:
    """Reads a trace or an observation: what went in and came out."""
    given, got = unpacked(row.get("input")), unpacked(row.get("output"))
    scores = [name for name, cell in row.items() if name != "tags" and _is_numbers(cell)]
    left["scores without an author, in traces; export the scores"] += len(scores)
    other = {*scores, "input", "output"}
    record = {name: cell for name, cell in row.items() if name not in other}
    if (text := said_in(got)) is None:
        left["traces without an output"] += 1
        return None
    columns = {"text": text, "source": said_in(given), "inputs": given, "outputs": got}
    return Found(record | columns, [])


def _is_numbers(cell: object) -> bool:
    cells = unpacked(cell)
    return isinstance(cells, list) and any(isinstance(one, int | float) for one in cells)


SCORES = Export(
    title="scores of Langfuse",
    looks_like=is_scores,
    start=apart("scores of Langfuse", "traces", "traceId", "source ANNOTATION"),
    roles=(),
    within="data",
)
TRACES = Export(
    title="traces of Langfuse",
    looks_like=is_traces,
    start=each(read_traces),
    roles=("id", "text", "source"),
)
