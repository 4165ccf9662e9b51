"""The result of `refless demo`."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from refless.commands.score.data import ScoreRecord
from refless.commands.validate.result import ValidateRecord
from refless.report.document import Document, Section, plain
from refless.report.record import Record, Signed
from refless.report.result import Result

SIMULATED = "This sample is SIMULATED: a program wrote the texts and rated them."


@dataclass(frozen=True, kw_only=True)
class DemoRecord(Record):
    """Results of `validate` and `score` on the simulated sample."""

    command: Literal["demo"] = "demo"
    signature: Signed
    validate: ValidateRecord
    score: ScoreRecord


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DemoResult(Result):
    """Results of `validate` and `score` on the sample, and the place of its files.

    Attributes:
        validated, scored: their results, of so many texts (`sizes`).
        files: names of the files of rated texts and of outputs.
        out_dir: where they were written, if they were.
    """

    record = DemoRecord
    signs = False
    validated: Result
    scored: Result
    sizes: tuple[int, int]
    files: tuple[str, str]
    out_dir: str | None

    def _shown(self) -> Document:
        rated, new = self.sizes
        trust = f"1. Can estimates be trusted? On {rated} SIMULATED rated texts"
        quality = f"2. How good are {new} new SIMULATED outputs?"
        sections = (
            Section(lines=(SIMULATED,)),
            Section(lines=(trust,)),
            *plain(self.validated.document()),
            Section(lines=(quality,)),
            *plain(self.scored.document()),
            Section(title="3. On your own files", lines=self._next()),
        )
        return Document(title="refless demo", sections=sections)

    def _json(self) -> Record:
        return self._record(validate=self.validated.json(), score=self.scored.json())

    def _next(self) -> tuple[str, ...]:
        """Command lines that do the same."""
        folder = Path(self.out_dir or ".")
        rated, outputs = (shlex.quote(str(folder / name)) for name in self.files)
        lines = (
            f"  refless validate {rated} --scale 1 5",
            f"  refless score {outputs} --rated {rated} --scale 1 5",
            f"  refless compare {rated} --scale 1 5",
        )
        more = "To have this sample as files: refless demo --out-dir sample"
        return lines if self.out_dir is not None else (*lines, more)
