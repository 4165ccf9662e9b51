"""HUSE and its parts: the result of `refless huse`."""

from dataclasses import dataclass
from typing import Literal

from refless.extensions.papers.huse.study import Huse
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Record, Signed
from refless.report.result import Result
from refless.report.wording import with_interval

PARTS = {"huse": "HUSE", "quality": "HUSE-Q, quality", "diversity": "HUSE-D, diversity"}
MEANING = (
    "1: people and model cannot be told apart; 0: they always can. HUSE-D is what the model's "
    "probabilities add to quality. Texts by people and by the model weigh the same."
)


@dataclass(frozen=True, kw_only=True)
class HuseRecord(Record):
    """HUSE, HUSE-Q and HUSE-D from human ratings."""

    command: Literal["huse"] = "huse"
    signature: Signed
    human: Huse


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HuseResult(Result):
    """HUSE from human ratings."""

    record = HuseRecord
    human: Huse

    def _shown(self) -> Document:
        huse = self.human
        rows = tuple((label, _part(huse, part)) for part, label in PARTS.items())
        line = (
            f"{counted(huse.n, 'text')}, {huse.n_human} of them by people; "
            f"{counted(huse.neighbors, 'neighbour')}."
        )
        lost = f"Left out, as a rating or a probability is missing: {huse.n_left_out}."
        table = Table(header=("", "human ratings [95 %]"), rows=rows)
        return Document(
            title=f"HUSE of {counted(huse.n, 'text')}",
            verdict=f"By human ratings HUSE is {_part(huse, 'huse')}.",
            notes=(line, lost) if huse.n_left_out else (line,),
            sections=(
                Section(title="HUSE and its parts", table=table),
                Section(lines=(MEANING,)),
            ),
        )

    def _rows(self) -> Rows:
        """One mapping."""
        huse = self.human
        return [{**{part: getattr(huse, part) for part in PARTS}, "n": huse.n}]


def _part(huse: Huse, part: str) -> str:
    return with_interval(getattr(huse, part), getattr(huse, f"{part}_interval"), 2)
