"""The result of `refless fit`."""

import shlex
from dataclasses import dataclass
from typing import Literal

from refless.estimators import Estimator
from refless.registry.plural import counted
from refless.report.document import Document, Section
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import sentence


@dataclass(frozen=True, kw_only=True)
class FitRecord(Record):
    """The file of a fitted estimator, and how many rated texts it has learned from."""

    command: Literal["fit"] = "fit"
    signature: Signed
    path: str
    n: Count


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FitResult(Result):
    """A fitted estimator and its file."""

    record = FitRecord
    estimator: Estimator
    path: str

    def _shown(self) -> Document:
        size = counted(len(self.estimator.rated), "rated text")
        model = f"--model {shlex.quote(self.path)}"
        lines = (f"  refless score OUTPUTS {model}", f"  refless explain TEXT {model}")
        return Document(
            title="refless fit",
            verdict=f"{sentence(self.estimator.title)} has learned from {size}.",
            sections=(Section(title="To use it", lines=lines),),
        )

    def _json(self) -> Record:
        return self._record(n=len(self.estimator.rated))
