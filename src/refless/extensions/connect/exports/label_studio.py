"""Label Studio: JSON (a task with its annotations) and JSON_MIN or CSV (an annotation a row).

The scale is in the labelling configuration alone. A star rating of 0 cannot be stored, so 1 is the
lowest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from refless.data.records import Scale
from refless.data.tables.exports.format import (
    Entry,
    Export,
    Reader,
    ReaderRequest,
    at,
    fields_of,
    has,
    items,
    name_in,
    number_in,
)
from refless.data.tables.reading import Reading, Row
from refless.files.untrusted import is_file, reading
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

KNOWN = ("id", "rating", "annotator", "timestamp", "data")
_MOST_CONFIG = 1 << 20
_NUMBERED = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\b")


def is_json(first: Mapping[str, object]) -> bool:
    """Tasks with annotations, of old versions with completions; or tasks as they are imported."""
    has_data = isinstance(first.get("data"), dict)
    if has_data and first.keys() <= {"id", "data", "meta", "predictions"}:
        return True
    return isinstance(first.get("annotations", first.get("completions")), list) and (
        has_data or "drafts" in first or "predictions" in first
    )


def tasks(about: ReaderRequest) -> Reader:
    """Reads a task: a row for each rating of its annotations."""
    controls = controls_of(about)

    def read(task: Row) -> Entry | None:
        data = fields_of(task.get("data"))
        left_out = about.notes.left_out
        left_out["drafts"] += len(items(task.get("drafts")))
        ratings = []
        for entry in items(task.get("annotations", task.get("completions"))):
            if at(entry, "was_cancelled") or at(entry, "skipped"):
                left_out["cancelled annotations"] += 1
                continue
            person = at(entry, "completed_by")
            name = name_in(person) or at(person, "email") or name_in(at(person, "id"))
            who = {"annotator": name, "timestamp": at(entry, "created_at")}
            results = items(at(entry, "result"))
            usable = _ratings(results, who, controls, about.reading)
            left_out["annotations without a rating"] += not usable
            ratings += usable
        scores = {}
        for entry in items(task.get("predictions")):
            score = number_in(at(entry, "score"))
            if score is not None:
                scores[str(at(entry, "model_version"))] = score
        record = data | {"data": data, "predictions": scores}
        if "id" in task:
            record["id"] = name_in(task["id"])
        return Entry(record, ratings)

    return read


def rows_of_annotations(about: ReaderRequest) -> Reader:
    """Reads an annotation of JSON_MIN or CSV; what was rated is told by its form or its name."""
    controls = controls_of(about)
    named = {*controls, about.reading.dimension} - {None}

    def read(row: Row) -> Entry | None:
        record = dict(row)
        ratings = []
        who = {"annotator": row.get("annotator"), "timestamp": row.get("created_at")}
        for name, cell in row.items():
            values = _values(cell)
            if not values and name in named and isinstance(cell, str) and cell:
                values = [{"choices": [cell]}]
            if values:
                del record[name]
                results = [{"from_name": name, "value": value} for value in values]
                ratings += _ratings(results, who, controls, about.reading)
        if row.get("annotation_id"):  # else a task that nobody has seen
            about.notes.left_out["annotations without a rating"] += not ratings
        record["id"] = name_in(row.get("id"))
        return Entry(record, ratings)

    return read


def _values(cell: object) -> list[object]:
    """The values that a cell of ratings holds, in CSV as JSON; none of any other cell."""
    if isinstance(cell, str) and cell[:2] == "[{":
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return []
    entries = items(cell)
    are_numbers = all(number_in(_number(entry)) is not None for entry in entries)
    return entries if are_numbers else []


def _number(value: object) -> object:
    """The stars or the number that a value holds, if it does."""
    stars = at(value, "rating")
    return at(value, "number") if stars is None else stars


def _choice(value: object) -> str | None:
    """The word that was chosen; None for none or several."""
    choices = items(at(value, "choices"))
    only = choices[0] if len(choices) == 1 else None
    return only if isinstance(only, str) else None


def _ratings(
    results: Sequence[object], who: Row, controls: Controls, reading: Reading
) -> list[Row]:
    """The ratings of results that are single numbers; or words, if the user has a map for them."""
    ratings: list[Row] = []
    for result in results:
        name = name_in(at(result, "from_name"))
        value = at(result, "value")
        rating = _number(value)
        choice = _choice(value) if rating is None else None
        if choice is not None:
            is_word = reading.rating_map is not None
            rating = (
                choice
                if is_word
                else number_of_choice(choice, controls.get(name or ""))
            )
        if name is not None and rating is not None:
            ratings.append({"rating": rating, "dimension": name} | who)
    return ratings


@dataclass(frozen=True, slots=True)
class Control:
    """One thing to rate, as the labelling configuration has it."""

    scale: Scale | None
    choices: tuple[str, ...] = ()


Controls = dict[str, Control]


def number_of_choice(choice: str, control: Control | None) -> object:
    """The number that a choice begins with, else its place among the choices, else its word."""
    number = _NUMBERED.match(choice)
    if number is not None:
        return float(number[1])
    if control is not None and choice in control.choices:
        return float(control.choices.index(choice) + 1)
    return choice


def controls_of(about: ReaderRequest) -> Controls:
    """The controls of a labelling configuration; notes what follows for the scale.

    Raises:
        InputError: a configuration that is none, or that has no such name.
        UsageError: no such file.
    """
    path = about.reading.label_config
    notes = about.notes
    if path is None:
        if about.reading.scale is None:
            config = called("reading", {"label-config": "FILE.xml"})
            notes.say(
                f"the scale is in the labelling configuration: {config} "
                "(Settings, Labeling Interface, Code)"
            )
        return {}
    controls = controls_in(tree_in(path), path)
    dimension = about.dimension(controls)
    if dimension not in controls:
        return controls
    control = controls[dimension]
    if control.scale is not None:
        notes.take_scale(dimension, control.scale, path)
    if control.choices and not all(map(_NUMBERED.match, control.choices)):
        order = ", ".join(f"'{word}' {n}" for n, word in enumerate(control.choices, 1))
        notes.say(
            f"choices count in the order of {path}: {order}; else use "
            f"{called('reading', {'rating-map': 'WORD=NUMBER,...'})}"
        )
    return controls


def controls_in(tree: ET.Element, path: str) -> Controls:
    """The controls of a labelling configuration by name.

    Raises:
        InputError: it has none.
    """
    controls = {
        str(entry.get("name")): _control(entry)
        for entry in tree.iter()
        if entry.tag in {"Rating", "Number", "Choices"}
    }
    if not controls:
        raise InputError(
            "no Rating, Number or Choices in it", path=path, remedy=_REMEDY
        )
    return controls


def tree_in(path: str) -> ET.Element:
    """The labelling configuration in a file.

    Raises:
        InputError: a file that is none; UsageError: no such file.
    """
    if not is_file(path):
        raise UsageError(f"{called('reading', {'label-config': path})}: no such file")
    with reading(path), open(path, "rb") as file:  # noqa: PTH123
        raw = file.read(_MOST_CONFIG + 1)
    if len(raw) > _MOST_CONFIG or b"<!" in raw.replace(b"<!--", b""):
        raise InputError(
            "more than a labelling configuration", path=path, remedy=_REMEDY
        )
    try:
        return ET.fromstring(raw)  # noqa: S314 - nothing is declared, so nothing expands
    except (ET.ParseError, ValueError, LookupError) as fault:
        raise InputError(f"not XML ({fault})", path=path, remedy=_REMEDY) from fault


_REMEDY = "save the code of the project's Labeling Interface"


def _control(tag: ET.Element) -> Control:
    if tag.tag == "Choices":
        words = tuple(
            str(entry.get("alias") or entry.get("value"))
            for entry in tag.iter("Choice")
        )
        matches = map(_NUMBERED.match, words)
        numbers = [float(match[1]) for match in matches if match]
        if numbers and len(numbers) == len(words):
            return Control(_scale(min(numbers), max(numbers)), words)
        return Control(_scale(1.0, float(len(words))), words)
    try:
        if tag.tag == "Rating":
            return Control(_scale(1.0, float(tag.get("maxRating") or 5)))
        low = float(tag.get("min") or "nan")
        high = float(tag.get("max") or "nan")
        return Control(_scale(low, high))
    except ValueError:
        return Control(None)


def _scale(low: float, high: float) -> Scale | None:
    return (low, high) if low < high < float("inf") else None


JSON = Export(title="Label Studio JSON", looks_like=is_json, start=tasks, roles=KNOWN)
JSON_MIN = Export(
    title="Label Studio JSON_MIN",
    looks_like=has("annotation_id", "annotator", "lead_time"),
    start=rows_of_annotations,
    roles=(*KNOWN, "annotation_id", "lead_time", "created_at", "updated_at"),
)
