"""The report of `refless huse`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from refless.nouns import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Record, Signed
from refless.report.wording import with_interval
from refless.signature import Signature
from refless.studies.huse import Huse

PARTS = {"huse": "HUSE", "quality": "HUSE-Q, quality", "diversity": "HUSE-D, diversity"}
MEANING = (
    "1: people and model cannot be told apart; 0: they always can. HUSE-D is what the model's "
    "probabilities add to quality. Intervals are over texts."
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HuseResult:
    """HUSE from human ratings and, where asked for, from estimates of them.

    Attributes:
        rated, estimated: the two results; estimated is None where it was not asked for.
        signature: of the study; estimator: of what made the estimates.
    """

    rated: Huse
    estimated: Huse | None
    signature: Signature
    estimator: Signature | None

    @property
    def by_ratings(self) -> dict[str, Huse]:
        """The results by whose ratings they rest on."""
        both = {"human": self.rated, "estimated": self.estimated}
        return {name: one for name, one in both.items() if one is not None}


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


def huse_document(result: HuseResult, command: str = "") -> Document:
    """The report of `refless huse`."""
    found, rated = result.by_ratings, result.rated
    rows = tuple(
        (label, *(_part(one, part) for one in found.values())) for part, label in PARTS.items()
    )
    header = ("", *(f"{name} ratings [95 %]" for name in found))
    table = Table(header=header, rows=rows)
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
    signatures = (result.signature, *(() if result.estimator is None else (result.estimator,)))
    return Document(
        title=f"HUSE of {counted(rated.n, 'text')}",
        verdict=f"By human ratings HUSE is {_part(rated, 'huse')}.",
        notes=(line, *left_out),
        sections=(Section(title="HUSE and its parts", table=table), Section(lines=(MEANING,))),
        signatures=tuple(map(str, signatures)),
        command=command,
    )


def _part(one: Huse, part: str) -> str:
    return with_interval(getattr(one, part), getattr(one, f"{part}_interval"), 2)


def huse_rows(result: HuseResult) -> Rows:
    """One row for human ratings, one for estimates."""
    return [
        {"ratings": name, **{part: getattr(one, part) for part in PARTS}, "n": one.n}
        for name, one in result.by_ratings.items()
    ]
