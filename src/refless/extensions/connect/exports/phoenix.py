"""Phoenix: annotations, which are apart from their texts, and the spans that have them.

Both as the API has them and as data frames of its client, whose columns have dotted names.
"""

from collections import Counter
from collections.abc import Mapping

from refless.data.tables.exports.format import (
    Export,
    Found,
    apart,
    at,
    each,
    name_in,
    said_in,
    unpacked,
)
from refless.data.tables.source import Row


def is_annotations(first: Mapping[str, object]) -> bool:
    """An annotation of a span, or the API's object around several."""
    one = at(first.get("data"), 0) if "data" in first else first
    return isinstance(one, Mapping) and "annotator_kind" in one


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
    start=apart("annotations of Phoenix", "spans", "span_id", "annotator_kind HUMAN"),
    roles=(),
    within="data",
)
SPANS = Export(
    title="spans of Phoenix",
    looks_like=is_spans,
    start=each(read_spans),
    roles=("id", "text", "source", "system"),
    within="data",
)
