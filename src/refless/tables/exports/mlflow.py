"""MLflow: traces with their assessments, as `mlflow.search_traces()` gives them.

Feedback of people has the source type HUMAN; that of judges and code becomes columns of scores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from refless.tables.exports.shape import (
    About,
    Export,
    Found,
    Reader,
    at,
    fields_of,
    items,
    name_in,
    number_in,
    python_in,
    text_in,
)
from refless.tables.table import Row


def is_traces(first: Mapping[str, object]) -> bool:
    """Columns of the frame."""
    return all(name in first for name in ("trace_id", "assessments", "request", "response"))


def read_traces(about: About) -> Reader:
    """Reads a trace: what went in and came out, and the feedback on it."""
    left = about.told.left_out

    def read(row: Row) -> Found | None:
        ratings: list[Row] = []
        scores: dict[str, object] = {}
        for one in items(_unpacked(row.get("assessments"))):
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
        request, response = _unpacked(row.get("request")), _unpacked(row.get("response"))
        record: Row = {
            "id": name_in(row.get("trace_id")),
            "text": text_in(response),
            "source": text_in(request),
            "request": request,
            "response": response,
            "tags": fields_of(_unpacked(row.get("tags"))),
            "scores": scores,
        }
        return Found(record, ratings)

    return read


def _unpacked(cell: object) -> object:
    """What a cell of older versions holds as JSON, or one of CSV as Python writes it."""
    if isinstance(cell, str) and cell[:1] in {"[", "{", '"'}:
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return python_in(cell)
    return cell


TRACES = Export(
    title="traces of MLflow",
    looks_like=is_traces,
    start=read_traces,
    known=("id", "text", "source", "rating", "annotator"),
)
