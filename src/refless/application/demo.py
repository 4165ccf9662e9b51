"""demo: the main job on a self-made sample."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from refless.application.parameters import Flag, Folder, Seed, check_drawing, command
from refless.application.result import Result
from refless.application.score import ScoreResult, score
from refless.application.validate import ValidateResult, validate

if TYPE_CHECKING:
    from refless.records import Outputs, RatedPool
    from refless.report.document import Document
    from refless.report.record import Record
    from refless.signature import Signature

RATED, NEW = 240, 60
RATINGS, OUTPUTS = "rated.jsonl", "outputs.jsonl"
SIMULATED = "This sample is SIMULATED: a program wrote the texts and rated them."


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DemoResult(Result):
    """What `validate` and `score` say of the sample, and where its files are."""

    record = "refless.report.short:DemoRecord"
    validated: ValidateResult
    scored: ScoreResult
    out_dir: str | None

    @property
    def signature(self) -> Signature:
        """That of the estimates."""
        return self.scored.signature

    def document(self) -> Document:
        """What the terminal shows."""
        from refless.report.document import Document, Section, plain

        sections = (
            Section(lines=(SIMULATED,)),
            Section(lines=(f"1. Can estimates be trusted? On {RATED} SIMULATED rated texts",)),
            *plain(self.validated.document()),
            Section(lines=(f"2. How good are {NEW} new SIMULATED outputs?",)),
            *plain(self.scored.document()),
            Section(title="3. On your own files", lines=self._next()),
        )
        return Document(title="refless demo", sections=sections, command=self.command)

    def json(self) -> Record:
        """What `--format json` prints."""
        return self._record(validate=self.validated.json(), score=self.scored.json())

    def _next(self) -> tuple[str, ...]:
        """Command lines that do the same."""
        outputs = shlex.quote(str(Path(self.out_dir or ".") / OUTPUTS))
        lines = (
            f"  refless validate {_rated(self.out_dir)} --group source",
            f"  refless score {outputs} --rated {_rated(self.out_dir)}",
        )
        more = "To have this sample as files: refless demo --out-dir sample"
        return lines if self.out_dir is not None else (*lines, more)


def _rated(folder: Folder | None) -> str:
    """The sample's rated texts, as a command line has them."""
    return f"{shlex.quote(str(Path(folder or '.') / RATINGS))} --scale 1 5"


@command
def demo(
    *,
    out_dir: Annotated[
        Folder | None,
        Flag(
            help="Also write the sample as rated.jsonl and outputs.jsonl into this folder.",
            kind=str | None,
        ),
    ] = None,
    seed: Seed = 0,
) -> DemoResult:
    """Show the main job on a SIMULATED sample: rated texts, new outputs, no file needed.

    Texts, systems and annotators are made up by a program, so nothing here says how well refless
    does on your ratings; `refless validate` on your own file does.
    """
    import numpy as np

    from refless.records import as_outputs, take
    from refless.simulate import simulate

    check_drawing(seed)
    pool = simulate(RATED + NEW, seed=seed).pool
    rated, fresh = take(pool, np.arange(RATED)), take(pool, np.arange(RATED, RATED + NEW))
    outputs = as_outputs(fresh)
    if out_dir is not None:
        _write(Path(out_dir), rated, outputs)
    validated = validate(rated, group="source")
    command = validated.next_command.replace("FILE", _rated(out_dir), 1)
    return DemoResult(
        validated=replace(validated, next_command=command),
        scored=score(outputs, rated),
        out_dir=None if out_dir is None else fspath(out_dir),
    )


def _write(folder: Path, rated: RatedPool, outputs: Outputs) -> None:
    """The sample as files: one rating a line, one output a line."""
    import msgspec

    from refless.writing import make_folder, write_atomic

    make_folder(folder)
    ratings = rated.ratings
    rows = [
        {
            "id": rated.ids[i],
            "source": rated.sources[i],
            "item": rated.items[i],
            "system": rated.systems[i],
            "text": rated.texts[i],
            "annotator": ratings.annotators[who],
            "rating": value,
        }
        for i, who, value in zip(
            ratings.text.tolist(), ratings.annotator.tolist(), ratings.values.tolist(), strict=True
        )
    ]
    columns = zip(
        outputs.ids, outputs.sources, outputs.items, outputs.systems, outputs.texts, strict=True
    )
    names = ("id", "source", "item", "system", "text")
    fresh = [dict(zip(names, row, strict=True)) for row in columns]
    for name, table in ((RATINGS, rows), (OUTPUTS, fresh)):
        lines = b"".join(msgspec.json.encode(row) + b"\n" for row in table)
        write_atomic(str(folder / name), lines)
