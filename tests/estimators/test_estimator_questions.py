"""The core asks no estimator for its class; an extension may know its own."""

import ast
from pathlib import Path

import pytest

from places import ROOT
from refless.estimators import ESTIMATORS

SOURCE = ROOT / "src" / "refless"
OUTSIDE = [
    file
    for file in SOURCE.rglob("*.py")
    if not {"estimators", "extensions"} & {*file.parts}
]
CLASSES = {"Estimator", *(kind.__name__ for kind in ESTIMATORS.values())}


@pytest.mark.parametrize(
    "file", OUTSIDE, ids=lambda file: str(file.relative_to(SOURCE))
)
def test_no_isinstance(file: Path) -> None:
    """Estimators differ in their methods alone: a new one needs no edit here."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {
            "isinstance",
            "issubclass",
        }:
            asked = {getattr(part, "id", "") for part in ast.walk(node.args[1])}
            assert not asked & CLASSES, f"line {node.lineno}"
