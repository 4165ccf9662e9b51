"""demo: the main job on a self-made sample."""

import shlex
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from refless.commands.demo.result import DemoResult
from refless.commands.parameters import About, Folder, Seed, command
from refless.commands.score.run import score
from refless.commands.validate.run import validate
from refless.data.records import Outputs, RatedPool, as_outputs
from refless.data.rows import rating_rows, rows_of
from refless.data.simulate import simulate
from refless.files.writing import make_folder, write_atomic

RATED, NEW = 240, 60
RATINGS, OUTPUTS = "rated.jsonl", "outputs.jsonl"


@command
def demo(
    *,
    out_dir: Annotated[Folder | None, About(kind=str | None)] = None,
    seed: Seed = 0,
) -> DemoResult:
    """Show the main job on a SIMULATED sample: rated texts, new outputs, no file needed.

    Texts, systems and annotators are made up by a program, so nothing here says how well refless
    does on your ratings; `refless validate` on your own file does.

    Args:
        out_dir: Also write the sample as rated.jsonl and outputs.jsonl into this folder.
    """
    pool = simulate(RATED + NEW, seed=seed).pool
    rated, fresh = pool.take(np.arange(RATED)), pool.take(np.arange(RATED, RATED + NEW))
    outputs = as_outputs(fresh)
    if out_dir is not None:
        _write(Path(out_dir), rated, outputs)
    folder = None if out_dir is None else fspath(out_dir)
    validated, scored = validate(rated, group="source"), score(outputs, rated)
    sample = shlex.quote(str(Path(folder or ".") / RATINGS))
    command = f"{validated.next_command.replace('FILE', sample, 1)} --scale 1 5"
    return DemoResult(
        validated=replace(validated, next_command=command),
        scored=scored,
        sizes=(RATED, NEW),
        files=(RATINGS, OUTPUTS),
        out_dir=folder,
        signature=scored.signature,
    )


def _write(folder: Path, rated: RatedPool, outputs: Outputs) -> None:
    """The sample as files: one rating a line, one output a line."""
    make_folder(folder)
    tables = {RATINGS: rating_rows(rated), OUTPUTS: rows_of(outputs)}
    for name, table in tables.items():
        lines = b"".join(msgspec.json.encode(row) + b"\n" for row in table)
        write_atomic(str(folder / name), lines)
