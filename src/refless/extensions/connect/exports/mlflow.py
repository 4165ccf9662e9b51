"""MLflow: traces with their assessments, as `mlflow.search_traces()` gives them.

Feedback of people has the source type HUMAN; that of judges and code becomes columns of scores.
"""

from collections import Counter

from refless.data.tables.exports.format import (
    Export,
    Found,
    at,
    each,
    fields_of,
    has,
    items,
    name_in,
    number_in,
    text_in,
    unpacked,
)
from refless.data.tables.source import Row


def read_traces(row: Row, left: Counter[str]) -> Found | None:
    """Reads a trace: what went in and came out, and the feedback on it."""
    ratings: list[Row] = []
    scores: dict[str, object] = {}
    for one in items(unpacked(row.get("assessments"))):
        name, value = name_in(at(one, "assessment_name")), at(one, "feedback", "value")
        name = name or name_in(at(one, "name"))
        if name is None or value is None or at(one, "valid") is False:
            left["assessments that are no feedback, or were overridden"] += 1
        elif at(one, "source", "source_type") == "HUMAN":
            who = name_in(at(one, "source", "source_id"))
            time = at(one, "create_time")
            ratings.append(
                {"rating": value, "dimension": name, "annotator": who, "timestamp": time}
            )
        else:
            left[f"'{name}' by models and code (in scores)"] += 1
            scores[name] = float(value) if isinstance(value, bool) else number_in(value)
    request, response = unpacked(row.get("request")), unpacked(row.get("response"))
    record: Row = {
        "id": name_in(row.get("trace_id")),
        "text": text_in(response),
        "source": text_in(request),
        "request": request,
        "response": response,
        "tags": fields_of(unpacked(row.get("tags"))),
        "scores": scores,
    }
    return Found(record, ratings)


TRACES = Export(
    title="traces of MLflow",
    looks_like=has("trace_id", "assessments", "request", "response"),
    start=each(read_traces),
    roles=("id", "text", "source", "rating", "annotator"),
)
