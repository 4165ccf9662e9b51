"""HUSE and its parts: the result of `refless huse`."""

from dataclasses import dataclass
from typing import Literal

from refless.extensions.papers.huse.study import Huse
from refless.registry.plural import counted
from refless.registry.signature import Signature
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
    """HUSE, HUSE-Q and HUSE-D from human ratings and, where asked for, from estimates of them.

    Attributes:
        estimator: signature of what made the estimates.
    """

    command: Literal["huse"] = "huse"
    signature: Signed
    human: Huse
    estimated: Huse | None
    estimator: str | None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HuseResult(Result):
    """HUSE from human ratings and, where asked for, from estimates of them.

    Attributes:
        human, estimated: the two results; estimated is None where it was not asked for.
        estimator: signature of what made the estimates.
    """

    record = HuseRecord
    human: Huse
    estimated: Huse | None = None
    estimator: Signature | None = None

    @property
    def by_ratings(self) -> dict[str, Huse]:
        """The results by whose ratings they rest on."""
        both = {"human": self.human, "estimated": self.estimated}
        return {name: one for name, one in both.items() if one is not None}

    def _shown(self) -> Document:
        found, rated = self.by_ratings, self.human
        rows = tuple(
            (label, *(_part(one, part) for one in found.values())) for part, label in PARTS.items()
        )
        header = ("", *(f"{name} ratings [95 %]" for name in found))
        left_out = tuple(
            f"Left out, as a rating, an estimate or a probability is missing: {one.n_left_out} "
            f"({name} ratings)."
            for name, one in found.items()
            if one.n_left_out
        )
        line = (
            f"{counted(rated.n, 'text')}, {rated.n_human} of them by people; "
            f"{counted(rated.neighbors, 'neighbour')}."
        )
        return Document(
            title=f"HUSE of {counted(rated.n, 'text')}",
            verdict=f"By human ratings HUSE is {_part(rated, 'huse')}.",
            notes=(line, *left_out),
            sections=(
                Section(title="HUSE and its parts", table=Table(header=header, rows=rows)),
                Section(lines=(MEANING,)),
            ),
            signatures=tuple(str(one) for one in (self.signature, self.estimator) if one),
        )

    def _rows(self) -> Rows:
        """One mapping for human ratings, one for estimates."""
        return [
            {"ratings": name, **{part: getattr(one, part) for part in PARTS}, "n": one.n}
            for name, one in self.by_ratings.items()
        ]


def _part(one: Huse, part: str) -> str:
    return with_interval(getattr(one, part), getattr(one, f"{part}_interval"), 2)
