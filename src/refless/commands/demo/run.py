"""demo: the main job on the sample that the package brings."""

import shlex
from dataclasses import replace
from importlib.resources import files
from os import fspath
from pathlib import Path
from typing import Annotated

import msgspec

from refless.commands.demo.result import DemoResult
from refless.commands.parameters import About, Folder, command
from refless.commands.score.run import score
from refless.commands.validate.run import validate
from refless.data.tables import Reading, read_outputs, read_pool
from refless.files.writing import make_folder, write_atomic

RATED = "rated.jsonl"
OUTPUTS = "outputs.jsonl"
SCALE = (1.0, 5.0)


@command
def demo(
    *,
    out_dir: Annotated[Folder | None, About(kind=str | None)] = None,
) -> DemoResult:
    """Show the main job on a SIMULATED sample: rated texts, new outputs, no file needed.

    For example: refless demo --out-dir sample

    Texts, systems and annotators are made up by a program, so nothing here says how well refless
    does on your ratings; `refless validate` on your own file does.

    Args:
        out_dir: Also write the sample as rated.jsonl and outputs.jsonl into this folder.
    """
    lines = {name: _lines(name) for name in (RATED, OUTPUTS)}
    folder = Path("." if out_dir is None else fspath(out_dir))
    if out_dir is not None:
        make_folder(folder)
        for name, content in lines.items():
            write_atomic(str(folder / name), content)
    rows = msgspec.json.Decoder().decode_lines
    rated = read_pool(rows(lines[RATED]), Reading(scale=SCALE)).pool
    outputs = read_outputs(rows(lines[OUTPUTS])).outputs
    validated = validate(rated)
    scored = score(outputs, rated)
    ratings = shlex.quote(str(folder / RATED))
    command = f"{validated.next_command.replace('FILE', ratings, 1)} --scale 1 5"
    return DemoResult(
        validated=replace(validated, next_command=command),
        scored=replace(scored, validating=f"refless validate {ratings} --scale 1 5"),
        sizes=(len(rated), len(outputs)),
        files=(RATED, OUTPUTS),
        out_dir=None if out_dir is None else fspath(out_dir),
        signature=scored.signature,
    )


def _lines(name: str) -> bytes:
    """A file of the sample: one rating a line, or one output a line."""
    return files("refless.commands.demo").joinpath("sample", name).read_bytes()
