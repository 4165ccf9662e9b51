"""Outputs that a licensed judge decides, and those for people: the result of `refless route`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from refless.commands.route.audit import ENOUGH, AuditedSide
from refless.commands.route.licence_file import LicensedJudge
from refless.commands.texts import place_columns
from refless.data.records import Outputs
from refless.registry.arrays import FloatArray, StringArray
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord, Result
from refless.report.wording import exact_percent, number, percent, sentence

TOGETHER = "together"
TITLES = {"pass": "passed", "fail": "failed", TOGETHER: "decided"}
REASONS = {
    "between": "the score is between the thresholds",
    "no score": "the judge gave no score",
    "audit": "drawn for the audit",
    "broken promise": "the promise no longer holds",
}
NEXT = (
    "Put people's decisions on these into a column of ratings, and route again: the audit then "
    "tells whether the promise holds."
)
NOT_FOR = "Not for: outputs of another kind, or another prompt or model of the judge."
LEGEND = (
    f"Mean evidence from {ENOUGH:g} on says that the promise no longer holds: wrong in at most 5 % "
    "of uses, however often you look. Ratings of texts that the audit has not drawn do not count."
)


@dataclass(frozen=True, kw_only=True)
class RouteRecord(Record):
    """Outputs that a licensed judge decides, and those for people.

    Attributes:
        judge: its name; licence: signature of what licensed it.
        decided: how many pass, fail, and go to a person; reasons: why the last do.
        audits: ratings of what it passes and fails, as far as it may, and of both together.
        items: the decision on each output, by id, or by row of the file.
    """

    command: Literal["route"] = "route"
    signature: Signed
    judge: str
    licence: Signed
    decided: dict[str, Count]
    reasons: dict[str, Count]
    audits: dict[str, AuditedSide]
    items: dict[str, str]
    gate: GateRecord


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RouteResult(Result):
    """Outputs that a licensed judge decides, and those for people.

    Attributes:
        texts: the outputs; judge: with its licence; scores: [n] that it gave.
        decisions: [n] pass, fail or person; reasons: [n] why a person decides, or "".
        audits: by decision, ratings of drawn texts that the judge decides so.
        first: [n] place in the file of each; named: whether ids came from the user.
    """

    record = RouteRecord
    texts: Outputs
    judge: LicensedJudge
    scores: FloatArray
    decisions: StringArray
    reasons: StringArray
    audits: Mapping[str, AuditedSide]
    first: tuple[int, ...]
    named: bool

    def _shown(self) -> Document:
        counts = Counter(self.decisions.tolist())
        n = len(self.texts)
        left = counts["person"] / max(n, 1)
        promise = self.judge.licence.promise
        verdict = (
            f"{self.judge.name} passes {counts['pass']:,} of {counted(n, 'output')} and fails "
            f"{counts['fail']:,}; people decide the other {counts['person']:,} ({percent(left)})."
        )
        if self.gate.reason:
            verdict = f"{sentence(self.gate.reason)}. {verdict}"
        kept = (
            f"Of what it decides either way at most {exact_percent(promise.at_most_wrong)} are "
            f"wrong, with {exact_percent(promise.sure)} confidence."
        )
        return Document(
            title=f"{self.judge.name} on {counted(n, 'output')}",
            verdict=verdict,
            notes=(kept, NOT_FOR),
            sections=(self._people(), self._audited()),
        )

    def _people(self) -> Section:
        """The reasons why people decide."""
        counts = Counter(self.reasons.tolist())
        rows = tuple(
            (words, f"{counts[reason]:,}")
            for reason, words in REASONS.items()
            if counts[reason]
        )
        table = Table(header=("a person decides as", "outputs"), rows=rows)
        return Section(title="For people", table=table, lines=(NEXT,))

    def _audited(self) -> Section:
        """The audit of each side."""
        rows = tuple(
            (TITLES[name], str(side.n), str(side.wrong), number(side.evidence))
            for name, side in self.audits.items()
        )
        table = Table(header=("the judge", "audited", "wrong", "evidence"), rows=rows)
        return Section(title="Audit", table=table, lines=(LEGEND,))

    def _json(self) -> Record:
        return self._record(
            judge=self.judge.name,
            licence=str(self.judge.signature),
            decided=Counter(self.decisions.tolist()),
            reasons=Counter(filter(None, self.reasons.tolist())),
            items=dict(zip(self._names(), self.decisions.tolist(), strict=True)),
        )

    def _names(self) -> Sequence[str]:
        """[n] the ids of the outputs, or their rows in the file if that has none."""
        if self.named:
            return self.texts.ids
        return [str(row + 1) for row in self.first]

    def _rows(self) -> Rows:
        """One mapping an output, in the order of the file."""
        names = self._names()
        order = sorted(range(len(names)), key=self.first.__getitem__)
        return [self._row(i, names[i]) for i in order]

    def _row(self, i: int, name: str) -> dict[str, Cell]:
        """An output with its decision."""
        texts = self.texts
        places = place_columns(texts, i)
        row: dict[str, Cell] = {"id" if self.named else "row": name}
        row |= {role: cell for role, cell in places.items() if role != "id"}
        row[self.judge.name] = float(self.scores[i])
        row["decide"] = str(self.decisions[i])
        row["why"] = str(self.reasons[i])
        row["text"] = texts.texts[i]
        return row
