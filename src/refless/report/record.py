"""The JSON of results: what each object has in common, and its JSON Schema.

Each command declares its object as one dataclass, whose fields are numbers, words, and the studies'
own dataclasses. A float that is NaN is null.
"""

from dataclasses import MISSING, dataclass, fields
from inspect import cleandoc
from itertools import product
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from refless.registry.signature import Signature

Count = Annotated[int, Meta(ge=0)]
Signed = Annotated[
    str,
    Meta(
        description="Everything that can change a number, as key:value joined by |.",
        pattern=r"^[^|:]+(\|[^|:]+:[^|]*)+$",
    ),
]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Record:
    """The first fields of every command's object; notes say what was noticed on the way."""

    format: Literal[1] = 1
    command: str
    notes: tuple[str, ...] = ()


def record(kind: type[T], *sources: object, **values: object) -> T:
    """A record of the values, and of the sources' attributes that its fields are named after."""
    declared = fields(kind)  # type: ignore[arg-type]
    names = [
        field.name for field in declared if field.default is MISSING and field.init
    ]
    for name, source in product(names, sources):
        if name not in values and hasattr(source, name):
            value = getattr(source, name)
            values[name] = str(value) if isinstance(value, Signature) else value
    return kind(**values)


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON Schema of a record: every name is there, no other is, undefined numbers are null."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_strict(msgspec.json.schema(kind)),
    }


def _strict(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
    if isinstance(part, list):
        return [_strict(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    strict: dict[str, Any] = {}
    for key, entry in part.items():
        if key in {"properties", "$defs"}:  # names of fields, not of the schema
            strict[key] = {name: _strict(value) for name, value in entry.items()}
        elif key not in {"default", "title"}:
            strict[key] = _strict(entry)
    if "description" in strict:
        strict["description"] = cleandoc(strict["description"])
    if strict.get("type") == "number":
        strict["type"] = ["number", "null"]
    if "properties" in strict:
        strict |= {"required": [*strict["properties"]], "additionalProperties": False}
    return strict
