"""Functions and JSON documents that other tools pin: nothing that was there goes or changes.

tests/data/stable.txt is what was promised: `python tests/project/test_stable.py` prints what is.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from refless import stable

PROMISED = Path(__file__).parents[1] / "data" / "stable.txt"


def parameters(name: str) -> Iterator[str]:
    """A line a parameter: its kind and default."""
    function = getattr(stable, name)
    for parameter in inspect.signature(function).parameters.values():
        default = "required"
        if parameter.default is not parameter.empty:
            default = repr(parameter.default)
        yield f"{name}({parameter.name}) {parameter.kind.name} {default}"


def keys(
    place: str, schema: Any, definitions: Any, above: tuple[str, ...]
) -> Iterator[str]:
    """A line a key, with its type."""
    reference = schema.get("$ref", "")
    if reference in above:
        return
    if reference:
        name = reference.rpartition("/")[2]
        yield from keys(place, definitions[name], definitions, (*above, reference))
        return
    kind = schema.get("type") or "any"
    if "enum" in schema:
        kind = f"one of {', '.join(map(str, sorted(schema['enum'], key=str)))}"
    yield f"{place} {kind}"
    for part in schema.get("anyOf", ()):
        yield from keys(f"{place}|", part, definitions, above)
    for key, value in schema.get("properties", {}).items():
        yield from keys(f"{place}.{key}", value, definitions, above)
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from keys(f"{place}[]", schema[part], definitions, above)


def lines() -> list[str]:
    """All parameters and keys, in order."""
    result: set[str] = set()
    for name, document in stable.DOCUMENTS.items():
        schema = document.schema()
        result |= {*parameters(name)}
        result |= {*keys(name, schema, schema.get("$defs", {}), ())}
    return sorted(result)


def test_nothing_that_is_pinned_goes() -> None:
    """A parameter or a key may come; one that goes or changes needs a new major version."""
    promised = PROMISED.read_text("utf-8").splitlines()
    assert len(promised) > 100
    assert not {*promised} - {*lines()}


def test_the_functions() -> None:
    """They are those of `refless`, and each has a document."""
    import refless

    assert {*stable.__all__} == {"DOCUMENTS", *stable.DOCUMENTS}
    for name in stable.DOCUMENTS:
        assert getattr(stable, name) is getattr(refless, name)


if __name__ == "__main__":
    print("\n".join(lines()))  # noqa: T201
