"""Phoenix: annotations, which are apart from their texts, and the spans that have them.

Both as the API has them and as data frames of its client, whose columns have dotted names.
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


def is_annotations(first: Mapping[str, object]) -> bool:
    """An annotation of a span, or the API's object around several."""
    one = at(first.get("data"), 0) if "data" in first else first
    return isinstance(one, Mapping) and "annotator_kind" in one


def read_annotations(row: Row, left: Counter[str]) -> Found | None:
    """Reads an annotation that a person made."""
    name = name_in(row.get("name")) or name_in(row.get("annotation_name"))
    span, kind = name_in(row.get("span_id")), name_in(row.get("annotator_kind"))
    score, label = (_of(row, "result", part) for part in ("score", "label"))
    value = label if score is None else score
    if kind != "HUMAN":
        left[f"annotations '{name}' by {kind}, not by people"] += 1
    elif row.get("document_position") is not None:
        left["annotations of documents, not of what came out"] += 1
    elif span is None or value is None:
        left["annotations without a score or label, or without a span_id"] += 1
    else:
        who = name_in(row.get("user_id")) or name_in(row.get("identifier")) or None
        when = row.get("created_at")
        told = {"rating": value, "dimension": name, "annotator": who, "timestamp": when}
        return Found({"span": span}, [told])
    return None


def is_spans(first: Mapping[str, object]) -> bool:
    """Spans."""
    one = at(first.get("data"), 0) if "data" in first else first
    return (
        isinstance(one, Mapping)
        and "span_kind" in one
        and ("context" in one or "context.span_id" in one)
    )


def read_spans(row: Row, left: Counter[str]) -> Found | None:
    """Reads a span: what went in and came out."""
    given, got, system = (
        _attribute(row, name) for name in ("input.value", "output.value", "llm.model_name")
    )
    if (text := said_in(got)) is None:
        left["spans without an output"] += 1
        return None
    return Found(
        {
            "id": name_in(_of(row, "context", "span_id")),
            "text": text,
            "source": said_in(given),
            "system": name_in(system),
            "trace_id": name_in(_of(row, "context", "trace_id")),
            "name": name_in(row.get("name")),
            "span_kind": name_in(row.get("span_kind")),
        },
        [],
    )


def _attribute(row: Row, name: str) -> object:
    """An attribute, in an object, in objects in objects, or in a column of its own."""
    within = unpacked(row.get("attributes"))
    parts = (at(within, name), at(within, *name.split(".")), row.get(f"attributes.{name}"))
    return next((one for one in parts if one is not None), None)


def _of(row: Row, outer: str, inner: str) -> object:
    """What an object holds, or the column of that dotted name."""
    found = at(unpacked(row.get(outer)), inner)
    return row.get(f"{outer}.{inner}") if found is None else found


ANNOTATIONS = Export(
    title="annotations of Phoenix",
    looks_like=is_annotations,
    start=each(read_annotations),
    known=("rating", "annotator"),
    keys=("span",),
    within="data",
)
SPANS = Export(
    title="spans of Phoenix",
    looks_like=is_spans,
    start=each(read_spans),
    known=("id", "text", "source", "system"),
    within="data",
)
