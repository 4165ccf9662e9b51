"""The signature of a function: one for editors, help(), type checkers and the command line."""

import ast
import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from command_line import run
from places import ROOT
from refless.commands import COMMANDS, function_of
from refless.commands.parameters import parameters_of

CALLS = ROOT / "tests" / "typing" / "calls.py"
CHECKERS = {"mypy": ("--no-error-summary",), "basedpyright": ("--level", "error")}


@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checkers_refuse_wrong_calls_and_no_others(checker: str) -> None:
    """Misspelt parameters, values of another type, attributes that a result does not have."""
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    command = [sys.executable, "-m", checker, *CHECKERS[checker], str(CALLS)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    refused = re.findall(r"calls\.py:(\d+)(?::\d+)?(?::| -) error", ran.stdout)
    lines = CALLS.read_text("utf-8").splitlines()
    wrong = [number for number, line in enumerate(lines, 1) if line.endswith("# wrong")]
    assert sorted({*map(int, refused)}) == wrong, ran.stdout + ran.stderr


def test_calls_of_every_function_are_checked() -> None:
    """At least one right call of each, and one with a misspelt parameter."""
    text = CALLS.read_text("utf-8")
    for name in COMMANDS:
        calls = re.findall(rf"^(?:refless\.)?{name}(?:_of)?\(.*", text, re.MULTILINE)
        assert {call.endswith("# wrong") for call in calls} == {True, False}, name


def written(name: str) -> list[tuple[str, str | None]]:
    """The parameters of a command's function with their defaults, as its source has them."""
    tree = ast.parse(
        Path(inspect.getfile(inspect.unwrap(function_of(name)))).read_text("utf-8")
    )
    nodes = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    arguments = nodes[0].args
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(positional) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    return [
        (argument.arg, default and ast.unparse(default))
        for argument, default in zip(
            [*positional, *arguments.kwonlyargs], defaults, strict=True
        )
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_everybody_sees_the_same_parameters(name: str) -> None:
    """The source, inspect, the declarations and the flags say the same, in the same order."""
    parameters = parameters_of(function_of(name))
    names = [parameter for parameter, _ in written(name)]
    shown = inspect.signature(function_of(name)).parameters
    assert [*shown] == [parameter.name for parameter in parameters] == names
    help_ = run(name, "--help").out
    for parameter in parameters:
        if not parameter.about.argument:
            assert parameter.longest in help_
    for parameter, default in written(name):
        required = shown[parameter].default is inspect.Parameter.empty
        assert required == (default is None)
