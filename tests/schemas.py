"""The JSON schemas of results, and whether an object fits its own."""

from __future__ import annotations

from typing import Any, get_args

from jsonschema import Draft202012Validator

from refless.commands import function_of
from refless.commands.lists.result import ListResult
from refless.extensions.connect.datasets.result import DatasetsResult


def schemas(command: str) -> list[Any]:
    """The schemas of the results that a command's function returns: of ratings, of pairs."""
    found = function_of(command).__annotations__["return"]
    if command == "list":
        return [ListResult.schema(), DatasetsResult.schema()]
    return [one.schema() for one in get_args(found) or (found,)]


def fits(found: Any) -> None:
    """Raises ValidationError for an object of the command line that does not fit its schema."""
    possible = schemas(found["command"])
    if found["command"] == "list":
        schema = possible[found["kind"] == "datasets"]
    else:
        (schema,) = [
            schema for schema in possible if kind_of(schema) == found.get("of")
        ]
    Draft202012Validator(schema).validate(found)


def kind_of(schema: Any) -> str | None:
    """The kind of a schema's objects, None for ratings of texts."""
    fields = schema["$defs"][schema["$ref"].rpartition("/")[2]]["properties"]
    kind: str | None = fields.get("of", {"enum": [None]})["enum"][0]
    return kind
