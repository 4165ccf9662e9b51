"""Argilla: records as JSON (`to_json`, `to_disk`) and flattened, as of `to_datasets` in Parquet.

JSON does not say which responses are drafts or were discarded: that is said aloud. The scale is in
`.argilla/settings.json`, which `to_disk` writes beside the records.
"""

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

from refless.data.records import Scale
from refless.data.tables.exports.format import (
    Entry,
    Export,
    Reader,
    ReaderRequest,
    at,
    fields_of,
    items,
    name_in,
    number_in,
    text_in,
    unpacked,
)
from refless.data.tables.reading import Row
from refless.files.untrusted import json_of
from refless.registry.errors import InputError

_USERS = ".responses.users"
_PARTS = (".responses", _USERS, ".responses.status")
_WITHOUT_STATUS = (
    "JSON of Argilla does not say which responses are drafts or were discarded: all count; "
    "dataset.records.to_datasets().to_parquet(FILE) leaves them out"
)


def is_records(first: Mapping[str, object]) -> bool:
    """Nested or flattened records."""
    nested = all(name in first for name in ("fields", "responses", "_server_id"))
    return nested or any(name.endswith(_USERS) for name in first)


def read_records(about: ReaderRequest) -> Reader:
    """Reads a record: its fields, and a rating for each response that was submitted."""
    notes = about.notes
    settings = Path(about.path).parent / ".argilla" / "settings.json"
    scales = _scales(settings)
    dimension = about.dimension(scales)
    if dimension in scales:
        notes.take_scale(dimension, scales[dimension], settings)

    def read(row: Row) -> Entry | None:
        nested = isinstance(row.get("fields"), dict)
        if nested:
            notes.say(_WITHOUT_STATUS)
        record, responses = _nested(row) if nested else _flat(row)
        ratings = []
        for name, value, user, status in responses:
            if status not in {None, "submitted"}:
                notes.left_out[f"responses with the status '{status}'"] += 1
            elif isinstance(value, list | dict) or value is None:
                notes.left_out[f"responses to '{name}' that are no single value"] += 1
            else:
                ratings.append(
                    {"rating": value, "dimension": name, "annotator": name_in(user)}
                )
        return Entry(record | {"id": name_in(row.get("id"))}, ratings)

    return read


Response = tuple[str, object, object, object]  # question, value, user, status


def _nested(row: Row) -> tuple[Row, list[Response]]:
    record = _texts(fields_of(row.get("fields"))) | fields_of(row.get("metadata"))
    suggestions = fields_of(row.get("suggestions")).items()
    record["suggestions"] = {
        name: number_in(at(entry, "value")) for name, entry in suggestions
    }
    responses: list[Response] = []
    for name, answers in fields_of(row.get("responses")).items():
        responses += [
            (name, at(answer, "value"), at(answer, "user_id"), None)
            for answer in items(answers)
        ]
    return record, responses


def _flat(row: Row) -> tuple[Row, list[Response]]:
    questions = [name.removesuffix(_USERS) for name in row if name.endswith(_USERS)]
    fields = dict(row)
    suggestions: dict[str, object] = {}
    responses: list[Response] = []
    for name in questions:
        suggestions[name] = number_in(row.get(f"{name}.suggestion"))
        parts = [items(unpacked(row.get(f"{name}{part}"))) for part in _PARTS]
        for value, user, status in zip_longest(*parts):
            responses.append((name, value, user, status))
        columns = (f"{name}.responses", f"{name}.suggestion")
        for column in row:
            if column.startswith(columns):
                fields.pop(column, None)
    return _texts(fields) | {"suggestions": suggestions}, responses


def _texts(fields: Row) -> Row:
    """Fields, of which those that hold a chat become its turns as text."""
    return {
        name: text_in(entry) if isinstance(entry, list) else entry
        for name, entry in fields.items()
    }


def _scales(path: Path) -> dict[str, Scale]:
    """Lowest and highest option of each question, if a file of settings says so."""
    scales: dict[str, Scale] = {}
    try:
        questions = items(at(json_of(path), "questions"))
    except InputError:  # most often there is none
        return scales
    for question in questions:
        options = [
            number_in(at(option, "value"))
            for option in items(at(question, "settings", "options"))
        ]
        values = [
            float(value) for value in options if value is not None and abs(value) < 1e9
        ]
        if len(values) == len(options) > 1 and min(values) < max(values):
            scales[str(at(question, "name"))] = (min(values), max(values))
    return scales


RECORDS = Export(
    title="records of Argilla",
    looks_like=is_records,
    start=read_records,
    roles=("id", "rating", "annotator"),
)
