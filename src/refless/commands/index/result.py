"""The result of `refless index`."""

import shlex
from dataclasses import dataclass
from typing import Literal

from refless.metrics.index import RatedIndex
from refless.registry.plural import counted
from refless.report.document import Document, Section
from refless.report.record import Count, Record, Signed
from refless.report.result import Result


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
