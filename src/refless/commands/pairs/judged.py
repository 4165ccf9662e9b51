"""The result of `refless validate` and `refless judge` on choices between two texts."""

from dataclasses import dataclass
from typing import Literal

from refless.commands.pairs.pairwise import COIN, Judge, Pairwise, Person
from refless.commands.validate.verdict import resting_on
from refless.data.choices import Choices
from refless.data.records import RatedPool
from refless.estimators import Estimator
from refless.registry.arrays import FloatArray
from refless.registry.plural import counted, these
from refless.report.charts import Line, row_chart
from refless.report.document import Document, Figure, Section, Table
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import allowed, labels, number, sentence, with_interval
from refless.stats.intervals import of_best

FEWEST = 20  # pairs that a verdict needs
NAME = 26  # columns of a terminal
PICKS = "picks the text that people preferred"


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

    def _shown(self) -> Document:
        result = self.pairwise
        pairs = counted(result.pairs, "pair")
        choices = f"{counted(result.choices, 'choice')} by people between {result.texts:,} texts"
        notes = [f"{choices}: {pairs} of {counted(result.groups, 'source')}."]
        if result.even:
            even = counted(result.even, "pair")
            notes.append(f"{even} left even by people do not count.")
        if self.estimator is None:
            verdict = nearest(result)
            notes += allowed(len(result.judges), "score")
        else:
            verdict = recommendation(result, self.baselines, self.scores)
        if self.use:
            notes.insert(0, f"  {self.next_command}")
        sections = [self._side_by_side()]
        if result.person:
            sections.insert(1, _people(result, result.person))
        return Document(
            title=counted(result.pairs, "preference pair"),
            verdict=verdict,
            notes=tuple(notes),
            sections=tuple(sections),
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
        svg = row_chart(lines, "right", title)
        chart = Figure(svg=svg, caption=f"{title}.", table=table)
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


def worth_using(result: Pairwise, baselines: tuple[str, ...]) -> bool:
    """Whether the first judge is shown to be better than a coin and than every baseline."""
    if result.pairs - result.even < FEWEST or not result.judges[0].interval[0] > 0.5:
        return False
    rivals = [judge for judge in result.judges if judge.name in baselines]
    return all(judge.gap_interval[0] > 0 for judge in rivals)


def recommendation(
    result: Pairwise, baselines: tuple[str, ...], scores: tuple[str, ...]
) -> str:
    """Whether to use the estimator, in a sentence or two."""
    decided = result.pairs - result.even
    if decided < FEWEST:
        return f"{counted(decided, 'decided pair')} are too few to tell if an estimator is of use."
    return _recommended(result, baselines, scores) + resting_on(
        result.groups, "sources"
    )


def _recommended(
    result: Pairwise, baselines: tuple[str, ...], scores: tuple[str, ...]
) -> str:
    first = result.judges[0]
    name = sentence(first.name)
    right = with_interval(first.accuracy, first.interval)
    rivals = [
        judge
        for judge in result.judges
        if judge.name in baselines and judge.name != COIN
    ]
    rival = min(rivals, key=lambda judge: judge.gap)
    leading = [judge.name for judge in rivals if judge.gap < 0 and judge is not rival]
    ahead = _ahead(rival, first, leading)
    significant = rival.gap_interval[1] < 0
    if significant and rival.name in scores:
        return f"Use {rival.name}: {ahead.replace(rival.name, 'it', 1)}."
    if not first.interval[0] > 0.5:
        disagrees = f"({first.name} {PICKS} in {right})"
        if rival.gap < 0:
            disagrees += f", and {ahead}"
        return (
            f"Use none: on these pairs no agreement with people is shown {disagrees}."
        )
    if significant:
        return f"Use none: {ahead}."
    if rival.gap < 0:
        return f"No reason to use {first.name} is shown: {ahead}. {name} is right in {right}."
    if worth_using(result, baselines):
        gap = with_interval(rival.gap, rival.gap_interval)
        return (
            f"Use {first.name}: it {PICKS} in {right} of the pairs, more often than the best "
            f"baseline, {rival.name}, by {gap}."
        )
    return (
        f"{name} {PICKS} in {right} of the pairs, but it is not shown to do better "
        f"than {_unbeaten(rivals)}."
    )


def _ahead(rival: Judge, first: Judge, leading: list[str]) -> str:
    """The lead of the best rival over the first judge, and the names of others that lead."""
    low, high = rival.gap_interval
    lead = with_interval(-rival.gap, (-high, -low))
    ahead = f"{rival.name} {PICKS} more often than {first.name} does, by {lead}"
    if leading:
        verb = "do" if len(leading) > 1 else "does"
        ahead += f" (so {verb} {' and '.join(leading)})"
    return ahead


def _unbeaten(rivals: list[Judge]) -> str:
    """The rivals that it is not shown to be better than, the nearest first."""
    level = [judge for judge in rivals if not judge.gap_interval[0] > 0]
    level.sort(key=lambda judge: judge.gap)
    return " and ".join(
        f"{judge.name} (by {with_interval(judge.gap, judge.gap_interval)})"
        for judge in level
    )


def nearest(result: Pairwise) -> str:
    """The score that picks right most often, as far as can be told."""
    top = result.judges[0]
    pairs = these(result.pairs - result.even, "pair")
    low, high = of_best(top.accuracy, top.interval, len(result.judges), result.groups)
    right = with_interval(top.accuracy, (low, min(high, 1.0)))
    if not low > 0.5:
        several = f"The best of {len(result.judges)}, {top.name},"
        best = several if len(result.judges) > 1 else sentence(top.name)
        return (
            f"On {pairs} no score is shown to agree with people. {best} is right in {right}, as a "
            "coin can be."
        )
    level = [judge.name for judge in result.judges[1:] if not judge.gap_interval[0] > 0]
    if level:
        alike = f"it cannot be told apart from {', '.join(level)}"
        return f"On {pairs} {top.name} {PICKS} in {right}, but {alike}."
    if len(result.judges) == 1:
        return f"On {pairs} {top.name} {PICKS}, in {right}."
    return (
        f"On {pairs} {top.name} {PICKS} most often, in {right}, more than every other."
    )


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
