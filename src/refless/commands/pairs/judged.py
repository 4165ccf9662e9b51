"""The result of `refless validate` and `refless judge` on choices between two texts."""

from dataclasses import dataclass
from typing import Literal

from refless.commands.pairs.card import (
    EVEN,
    PICKS,
    card_of_estimates,
    card_of_scores,
    worth_using,
)
from refless.commands.pairs.pairwise import COIN, Judge, Pairwise, Person
from refless.commands.populations import allowed
from refless.data.choices import Choices
from refless.data.records import RatedPool
from refless.estimators import Estimator
from refless.registry.arrays import FloatArray
from refless.registry.plural import counted
from refless.report.charts import Line, Mark, row_chart
from refless.report.document import Card, Document, Section, Table, folded
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import labels, number, with_interval

NAME = 26  # columns of a terminal


@dataclass(frozen=True, kw_only=True)
class JudgedRecord(Record):
    """Judges of pairs side by side.

    Attributes:
        of: the kind of ratings.
        choices, pairs, texts, groups: how many; groups are what is held out, and drawn, together.
        even: pairs on which people are evenly split; no judge can be right about them.
        judges: one each, the reference first.
        person: one person against the others; null if nobody judged what others did.
        use: whether the estimator is shown to be better than every baseline; null of `judge`.
        next_command: what estimates new texts; "" of `judge`.
    """

    command: Literal["validate", "judge"] = "validate"
    of: Literal["pairs"] = "pairs"
    signature: Signed
    choices: Count
    pairs: Count
    texts: Count
    groups: Count
    even: Count
    judges: tuple[Judge, ...]
    person: Person | None
    use: bool | None
    next_command: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class JudgedResult(Result):
    """Judges of pairs side by side.

    Attributes:
        pool: the texts; choices: between them; pairwise: who is right how often.
        differences: by judge, [k] its number of the first text less that of the second.
        baselines: names of those that are no estimators.
        scores: names of those that are scores of others; all of them for `judge`.
        estimator: the first judge, not fitted; None of `judge`, which knows scores alone.
        next_command: the line that estimates new texts with it.
    """

    record = JudgedRecord
    pool: RatedPool
    choices: Choices
    pairwise: Pairwise
    differences: dict[str, FloatArray]
    baselines: tuple[str, ...]
    scores: tuple[str, ...]
    estimator: Estimator | None
    next_command: str = ""

    @property
    def use(self) -> bool | None:
        """Whether the estimator picks right more often than a coin and than every baseline."""
        if self.estimator is None:
            return None
        return worth_using(self.pairwise, self.baselines)

    def card(self) -> Card:
        """The answer with its picture."""
        (chart,) = self._side_by_side().figures
        if self.estimator is None:
            return card_of_scores(self.pairwise, chart)
        return card_of_estimates(
            self.pairwise, self.baselines, self.scores, chart, self.next_command
        )

    def _shown(self) -> Document:
        result = self.pairwise
        choices = f"{counted(result.choices, 'choice')} by people between {result.texts:,} texts"
        notes = [f"{choices}, of {counted(result.groups, 'source')}."]
        if result.even:
            even = counted(result.even, "pair")
            notes.append(f"{even} left even by people do not count.")
        if self.estimator is None:
            notes += allowed(len(result.judges), "score")
        sections = [self._side_by_side()]
        if result.person:
            sections.append(_people(result, result.person))
        return Document(
            title=counted(result.pairs, "preference pair"),
            cards=(self.card(),),
            notes=tuple(notes),
            sections=folded(sections),
        )

    def _side_by_side(self) -> Section:
        judges = self.pairwise.judges
        first = judges[0]
        short = [judge.name.removeprefix("the ") for judge in judges]
        names = labels(short, NAME)
        rows = []
        lines = []
        for judge, name in zip(judges, short, strict=True):
            right = with_interval(judge.accuracy, judge.interval)
            behind = with_interval(judge.gap, judge.gap_interval)
            rows.append((names[name], right, "-" if judge is first else behind))
            if name != COIN:
                lines.append(
                    Line(name=name, value=judge.accuracy, interval=judge.interval)
                )
        header = ("", "right [95 %]", "behind by [95 %]")
        table = Table(header=header, rows=tuple(rows))
        title = "Share of pairs in which the text that people preferred is picked"
        marks = [Mark(value=EVEN, style="c3")]
        chart = row_chart(
            lines, "right", title, f"{title}; 0.5 is a coin.", marks=marks
        )
        legend = (
            f"Right: share of the pairs in which it {PICKS}; no opinion counts half. Behind by: "
            f"how much more often {first.name} is right, on the same pairs. Intervals draw whole "
            "sources."
        )
        if self.estimator is not None:
            legend += " Estimators, length and TF-IDF (a ridge) have learned from other sources."
        return Section(
            title="Side by side", figures=(chart,), table=table, lines=(legend,)
        )

    def _json(self) -> Record:
        command = "judge" if self.estimator is None else "validate"
        return self._record(self.pairwise, command=command)

    def _rows(self) -> Rows:
        """One mapping a pair."""
        pool = self.pool
        choices = self.choices
        columns = {name: column.tolist() for name, column in self.differences.items()}
        rows: list[dict[str, Cell]] = []
        for i, (a, b) in enumerate(zip(choices.first, choices.second, strict=True)):
            source = {"source": pool.sources[a]} if pool.sources else {}
            people = {
                "choices": int(choices.votes[i]),
                "for_a": float(choices.share[i]),
            }
            ahead = {name: float(column[i]) for name, column in columns.items()}
            texts = {"text_a": pool.texts[a], "text_b": pool.texts[b]}
            rows.append({**source, **people, **ahead, **texts})
        return rows


def _people(result: Pairwise, person: Person) -> Section:
    rows = (
        ("one person", with_interval(person.accuracy, person.interval)),
        (result.judges[0].name.removeprefix("the "), number(person.reference)),
        ("difference", with_interval(person.gap, person.gap_interval)),
    )
    choices = counted(person.n, "choice")
    line = f"On {choices} that others judged too: agreement with most of the others."
    return Section(
        title="Beside one person",
        table=Table(header=("", "right [95 %]"), rows=rows),
        lines=(line,),
    )
