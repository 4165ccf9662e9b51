"""The results of commands that have no report of their own: index, fit, mine, demo."""

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from refless.estimators import Estimator
from refless.index import RatedIndex
from refless.mining import Candidate, Weighted
from refless.nouns import counted
from refless.report.document import Document, Section, plain
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.score.data import ScoreRecord
from refless.report.validate.data import ValidateRecord
from refless.report.wording import sentence

SIMULATED = "This sample is SIMULATED: a program wrote the texts and rated them."


@dataclass(frozen=True, kw_only=True)
class IndexRecord(Record):
    """The folder of an index, and how many rated texts are in it."""

    command: Literal["index"] = "index"
    signature: Signed
    folder: str
    n: Count


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class IndexResult(Result):
    """A saved index and its folder."""

    record = IndexRecord
    signs = False
    index: RatedIndex
    folder: str

    def _shown(self) -> Document:
        size = counted(len(self.index.pool), "rated text")
        names = self.index.pool.score_names
        scores = [word for name in names for word in ("--score-column", name)]
        use = shlex.join(["refless", "score", "OUTPUTS", "--rated", self.folder, *scores])
        return Document(
            title="refless index",
            verdict=f"An index of {size}, pool {self.index.fingerprint}.",
            sections=(Section(title="To use it", lines=(f"  {use}",)),),
        )

    def _json(self) -> Record:
        return self._record(n=len(self.index.pool))


@dataclass(frozen=True, kw_only=True)
class FitRecord(Record):
    """The folder of a fitted estimator, and how many rated texts it has learned from."""

    command: Literal["fit"] = "fit"
    signature: Signed
    folder: str
    n: Count


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FitResult(Result):
    """A fitted estimator and its folder."""

    record = FitRecord
    estimator: Estimator
    folder: str

    def _shown(self) -> Document:
        size = counted(len(self.estimator.rated), "rated text")
        score, explain = (
            shlex.join(["refless", *words, "--model", self.folder])
            for words in (("score", "OUTPUTS"), ("explain", "TEXT"))
        )
        return Document(
            title="refless fit",
            verdict=f"{sentence(self.estimator.title)} has learned from {size}.",
            sections=(Section(title="To use it", lines=(f"  {score}", f"  {explain}")),),
        )

    def _json(self) -> Record:
        return self._record(n=len(self.estimator.rated))


@dataclass(frozen=True, kw_only=True)
class MineRecord(Record):
    """Responses to rate (the first step), or items with weighted references (the second)."""

    command: Literal["mine"] = "mine"
    signature: Signed
    candidates: tuple[Candidate, ...]
    weighted: tuple[Weighted, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MineResult(Result):
    """What was mined, or what came back from raters.

    Attributes:
        candidates: responses to rate, in the order in which raters see them; empty in the second
            step.
        weighted: items with their references and weights; empty in the first step.
        summary: what there is, as a sentence.
    """

    record = MineRecord
    candidates: tuple[Candidate, ...] = ()
    weighted: tuple[Weighted, ...] = ()
    summary: str

    def _shown(self) -> Document:
        return Document(title="refless mine", verdict=self.summary)

    def _rows(self) -> Rows:
        """One mapping a response to rate, or an item."""
        return [
            {name: value for name, value in asdict(row).items() if not isinstance(value, tuple)}
            for row in self.candidates or self.weighted
        ]


@dataclass(frozen=True, kw_only=True)
class DemoRecord(Record):
    """What `validate` and `score` say of the simulated sample."""

    command: Literal["demo"] = "demo"
    signature: Signed
    validate: ValidateRecord
    score: ScoreRecord


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DemoResult(Result):
    """What `validate` and `score` say of the sample, and where its files are.

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
        sections = (
            Section(lines=(SIMULATED,)),
            Section(lines=(f"1. Can estimates be trusted? On {rated} SIMULATED rated texts",)),
            *plain(self.validated.document()),
            Section(lines=(f"2. How good are {new} new SIMULATED outputs?",)),
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
            f"  refless validate {rated} --scale 1 5 --group source",
            f"  refless score {outputs} --rated {rated} --scale 1 5",
        )
        more = "To have this sample as files: refless demo --out-dir sample"
        return lines if self.out_dir is not None else (*lines, more)
