"""Traces of MLflow, scores and traces of Langfuse; ratings that are apart from their texts.

Feedback of people has the source type HUMAN in MLflow, ANNOTATION in Langfuse; that of judges and
code becomes columns of scores. Langfuse's traces have lists of scores without authors or sources:
nothing tells people's there. Ratings that LangSmith and Phoenix export have no texts, and are
refused with the lines that join them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from refless.data.tables.exports.format import (
    Entry,
    Export,
    apart,
    at,
    each,
    fields_of,
    has,
    items,
    name_in,
    number_in,
    said_in,
    text_in,
    unpacked,
)
from refless.data.tables.ratings import spelled
from refless.data.tables.reading import Numbered, Row
from refless.registry.errors import InputError

_OF_TRACES = ("traceId", "sessionId", "userId", "bookmarked")  # of Langfuse


def _first(first: Mapping[str, object]) -> Mapping[str, object]:
    """An entry, or the first of an API's object around several."""
    return fields_of(at(first.get("data"), 0)) if "data" in first else first


def mlflow_trace(row: Row, left: Counter[str]) -> Entry | None:
    """Reads a trace of MLflow, and the feedback on it."""
    ratings: list[Row] = []
    scores: dict[str, object] = {}
    for entry in items(unpacked(row.get("assessments"))):
        name = name_in(at(entry, "assessment_name")) or name_in(at(entry, "name"))
        value = at(entry, "feedback", "value")
        if name is None or value is None or at(entry, "valid") is False:
            left["assessments that are no feedback, or were overridden"] += 1
        elif at(entry, "source", "source_type") == "HUMAN":
            ratings.append(
                {
                    "rating": value,
                    "dimension": name,
                    "annotator": name_in(at(entry, "source", "source_id")),
                    "timestamp": at(entry, "create_time"),
                }
            )
        else:
            number = float(value) if isinstance(value, bool) else number_in(value)
            scores[name] = value if isinstance(value, str) else number
    request = unpacked(row.get("request"))
    response = unpacked(row.get("response"))
    record: Row = {
        "id": name_in(row.get("trace_id")),
        "text": text_in(response),
        "source": text_in(request),
        "request": request,
        "response": response,
        "tags": fields_of(unpacked(row.get("tags"))),
        "scores": scores,
    }
    return Entry(record, ratings)


def is_langfuse_score(first: Mapping[str, object]) -> bool:
    """A score, of the export or of the API, or the API's object around several."""
    names = set(_first(first))
    return {"source", "name", "dataType"} <= names and bool(
        {"traceId", "subject"} & names
    )


def by_trace(rows: Iterator[Numbered]) -> Iterator[Numbered]:
    """One row for each trace that scores of Langfuse are about."""
    traces: dict[str, tuple[int, list[object]]] = {}
    for number, row in rows:
        if isinstance(row, InputError):
            yield number, row
            continue
        trace = (
            name_in(row.get("traceId"))
            or name_in(at(row, "subject", "traceId"))
            or name_in(at(row, "subject", "id"))
            or ""
        )
        traces.setdefault(trace, (number, []))[1].append(row)
    for trace, (number, scores) in traces.items():
        yield number, {"id": trace, "scored": scores}


def _langfuse_value(entry: Mapping[str, object]) -> object:
    """The value of a score: its number, or the label of a category, whose value is its place.

    Raises:
        InputError: a category without its label.
    """
    label = entry.get("stringValue")
    value = entry.get("value")
    if str(entry.get("dataType")).upper() == "CATEGORICAL":
        if isinstance(label, str) and label.strip():
            return label
        if not isinstance(spelled(value), str):  # blank, or a number
            remedy = (
                "export stringValue, too; value is the place of a category in a list"
            )
            raise InputError("a CATEGORICAL score without its label", remedy=remedy)
    is_filled = isinstance(value, float | int | str) and value != ""
    cell = value if is_filled else label  # cells of CSV are text
    return float(cell) if isinstance(cell, bool) else cell


def langfuse_scores(row: Row) -> Entry | InputError:
    """Reads all scores of a trace: those by people are ratings, the others columns of scores."""
    ratings: list[Row] = []
    scores: dict[str, object] = {}
    for entry in map(fields_of, items(row["scored"])):
        name = name_in(entry.get("name")) or "score"
        try:
            value = _langfuse_value(entry)
        except InputError as fault:
            return fault
        if entry.get("source") == "ANNOTATION":
            author = name_in(entry.get("authorUserId"))
            ratings.append(
                {
                    "rating": value,
                    "dimension": name,
                    "annotator": author or name_in(entry.get("authorUserName")),
                    "timestamp": entry.get("timestamp"),
                }
            )
        else:
            scores[name] = value
    return Entry({"id": row["id"], "scores": scores}, ratings)


def is_langfuse_trace(first: Mapping[str, object]) -> bool:
    """A row of the traces, or of the observations."""
    return has("id", "input", "output", "name")(first) and any(
        name in first for name in _OF_TRACES
    )


def langfuse_trace(row: Row, left: Counter[str]) -> Entry | None:
    """Reads a trace or an observation of Langfuse; None, which is counted, without an output."""
    inputs = unpacked(row.get("input"))
    answer = unpacked(row.get("output"))
    scores = [
        name for name, cell in row.items() if name != "tags" and _is_numbers(cell)
    ]
    left["scores without an author, in traces; export the scores"] += len(scores)
    text = said_in(answer)
    if text is None:
        left["traces without an output"] += 1
        return None
    unread = {*scores, "input", "output"}
    record = {name: cell for name, cell in row.items() if name not in unread}
    record |= {
        "text": text,
        "source": said_in(inputs),
        "inputs": inputs,
        "outputs": answer,
    }
    return Entry(record, [])


def _is_numbers(cell: object) -> bool:
    return any(isinstance(number, int | float) for number in items(unpacked(cell)))


def is_phoenix_annotation(first: Mapping[str, object]) -> bool:
    """An annotation of a span, or the API's object around several."""
    return "annotator_kind" in _first(first)


MLFLOW = Export(
    title="traces of MLflow",
    looks_like=has("trace_id", "assessments", "request", "response"),
    start=each(mlflow_trace),
    roles=("id", "text", "source", "rating", "annotator", "timestamp", "request", "response",
           "tags"),
)  # fmt: skip
LANGFUSE_SCORES = Export(
    title="scores of Langfuse",
    looks_like=is_langfuse_score,
    start=lambda _: langfuse_scores,
    roles=("id", "rating", "annotator", "timestamp"),
    within="data",
    gathered=by_trace,
)
LANGFUSE_TRACES = Export(
    title="traces of Langfuse",
    looks_like=is_langfuse_trace,
    start=each(langfuse_trace),
    roles=("id", "text", "source", "inputs", "outputs"),
)
LANGSMITH_FEEDBACK = Export(
    title="feedback of LangSmith",
    looks_like=has("feedback_source", "key", "run_id"),
    start=apart("feedback of LangSmith", "runs", "run_id", "feedback_source.user_id"),
)
PHOENIX_ANNOTATIONS = Export(
    title="annotations of Phoenix",
    looks_like=is_phoenix_annotation,
    start=apart("annotations of Phoenix", "spans", "span_id", "annotator_kind HUMAN"),
    within="data",
)
