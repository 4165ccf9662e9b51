"""The order of the tree: the picture in docs/architecture.md is the rule, the code must keep it."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "refless"
FILES = sorted(SOURCE.rglob("*.py"))
FROM_ANYWHERE = {"version", "errors", "nouns", "records", "stats", "human", "signature"}
FACADE = "__init__"  # the last line of the picture: the package itself
MOST_LINES = 450


def picture() -> dict[str, str]:
    """Each line of the tree, top to bottom: its module or package, and what is said of it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = text.split("```\nsrc/refless/\n")[1].split("\n```")[0]
    lines = [
        re.fullmatch(r"  (\w+)(?:\.py|/) +(\S.*)|   {8,}\S.*", row) for row in tree.split("\n")
    ]
    assert None not in lines, "a line of the tree in docs/architecture.md has another form"
    return {line[1]: line[2] for line in lines if line and line[1]}


ORDER = list(picture())


def module_of(file: Path) -> str:
    """`refless.metrics.kernels.bleu` for src/refless/metrics/kernels/bleu.py."""
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    """The line of the picture that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else FACADE


MODULES = {module_of(file): file for file in FILES}


def imported_by(module: str) -> Iterator[tuple[str, int]]:
    """What a module imports of ours, wherever the import stands: (module, line)."""
    file = MODULES[module]
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield (inner if inner in MODULES else source), node.lineno


def ours(module: str) -> list[tuple[str, int]]:
    """The imports of `imported_by` that are ours."""
    return [(name, line) for name, line in imported_by(module) if name.split(".")[0] == "refless"]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_upwards(module: str) -> None:
    """A module imports only from lines above its own; the ground layers from anywhere."""
    own = ORDER.index(layer_of(module))
    wrong = [
        f"line {line}: {name}"
        for name, line in ours(module)
        if layer_of(name) not in FROM_ANYWHERE and ORDER.index(layer_of(name)) > own
    ]
    assert not wrong, f"{module} imports from below its own line of the tree: {wrong}"


def test_imports_have_no_cycle() -> None:
    """Not even within a package."""
    graph = {module: {name for name, _ in ours(module)} - {module} for module in MODULES}
    list(TopologicalSorter(graph).static_order())


def test_picture_shows_every_module() -> None:
    """Nothing lies in src that the picture does not show."""
    assert {layer_of(module) for module in MODULES} | {FACADE} == set(ORDER)


def test_picture_names_only_what_is_there() -> None:
    """Files that a package's line names lie in that package."""
    for layer, said in picture().items():
        for name in re.findall(r"\w+\.py", said):
            assert (SOURCE / layer / name).exists(), f"{layer}/{name} is only in the picture"


def test_names_say_what_is_inside() -> None:
    """No module is called after nothing in particular."""
    parts = {part for module in MODULES for part in module.split(".")}
    assert not parts & {"utils", "util", "common", "base", "helpers", "misc"}


@pytest.mark.parametrize("module", MODULES)
def test_no_assert_in_source(module: str) -> None:
    """`python -O` must not change what is checked."""
    nodes = ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8")))
    lines = [node.lineno for node in nodes if isinstance(node, ast.Assert)]
    assert not lines, f"{module} has assert statements on lines {lines}"


@pytest.mark.parametrize("module", MODULES)
def test_files_stay_short(module: str) -> None:
    """A file that grows beyond this is split by noun."""
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) < MOST_LINES
