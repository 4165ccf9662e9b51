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

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Count = Annotated[int, Meta(ge=0)]
SAYS = "Everything that can change a number, as key:value joined by |."
Signed = Annotated[str, Meta(description=SAYS, pattern=r"^[^|:]+(\|[^|:]+:[^|]*)+$")]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Record:
    """What the object of every command begins with."""

    format: Literal[1] = 1
    command: str


def record(kind: type[T], *things: object, **given: object) -> T:
    """A record of what is given and of the things' attributes that its fields are named after."""
    names = [field.name for field in fields(kind) if field.default is MISSING and field.init]  # type: ignore[arg-type]
    for name, thing in product(names, things):
        if name not in given and hasattr(thing, name):
            value = getattr(thing, name)
            given[name] = str(value) if isinstance(value, Signature) else value
    return kind(**given)


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON Schema of a record: every name is there, no other is, undefined numbers are null."""
    return {"$schema": DRAFT, **_strict(msgspec.json.schema(kind))}


def _strict(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
    if isinstance(part, list):
        return [_strict(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    found: dict[str, Any] = {
        key: {name: _strict(one) for name, one in entry.items()}
        if key in {"properties", "$defs"}
        else _strict(entry)
        for key, entry in part.items()
        if key not in {"default", "title"}
    }
    if "description" in found:
        found["description"] = cleandoc(found["description"])
    if found.get("type") == "number":
        found["type"] = ["number", "null"]
    if "properties" in found and found.get("type") == "object":
        found |= {"required": [*found["properties"]], "additionalProperties": False}
    return found
