"""Who picks the text that people preferred: `refless validate` and `refless judge` on choices."""

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
from refless.report.document import Document, Figure, Section, Table, caveats
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
        return (
            None
            if self.estimator is None
            else worth_using(self.pairwise, self.baselines)
        )

    def _shown(self) -> Document:
        result = self.pairwise
        verdict = nearest(result)
        chosen = allowed(len(result.judges), "score")
        if self.estimator is not None:
            verdict = recommendation(result, self.baselines, self.scores)
            chosen = ()
        choices = f"{counted(result.choices, 'choice')} by people between {result.texts:,} texts"
        note = f"{choices}: {counted(result.pairs, 'pair')} of {counted(result.groups, 'source')}."
        even = f"{counted(result.even, 'pair')} left even by people do not count."
        return Document(
            title=f"{counted(result.pairs, 'preference pair')}",
            verdict=verdict,
            notes=(
                *((f"  {self.next_command}",) if self.use else ()),
                *((note, even) if result.even else (note,)),
                *chosen,
            ),
            sections=(
                self._beside(),
                *([_people(result, result.person)] if result.person else []),
                caveats(),
            ),
        )

    def _beside(self) -> Section:
        result = self.pairwise
        names = labels([line.name.removeprefix("the ") for line in result.judges], NAME)
        rows = tuple(
            (
                names[line.name.removeprefix("the ")],
                with_interval(line.accuracy, line.interval),
                "-"
                if line is result.judges[0]
                else with_interval(line.gap, line.gap_interval),
            )
            for line in result.judges
        )
        table = Table(header=("", "right [95 %]", "behind by [95 %]"), rows=rows)
        drawn = [
            Line(
                name=line.name.removeprefix("the "),
                value=line.accuracy,
                interval=line.interval,
            )
            for line in result.judges
            if line.name != COIN
        ]
        title = "Share of pairs in which the text that people preferred is picked"
        chart = Figure(
            svg=row_chart(drawn, "right", title), caption=f"{title}.", table=table
        )
        first = result.judges[0].name
        legend = (
            f"Right: share of the pairs in which it {PICKS}; no opinion counts half. Behind by: "
            f"how much more often {first} is right, on the same pairs. Intervals draw whole "
            "sources."
        )
        if self.estimator is not None:
            legend += " Estimators, length and TF-IDF (a ridge) have learned from other sources."
        return Section(
            title="Side by side", figures=(chart,), table=table, lines=(legend,)
        )

    def _json(self) -> Record:
        command = "judge" if self.estimator is None else "validate"
        counts = {
            name: getattr(self.pairwise, name)
            for name in ("choices", "pairs", "groups")
        }
        return self._record(self.pairwise, command=command, use=self.use, **counts)

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
    rivals = [line for line in result.judges if line.name in baselines]
    enough = result.pairs - result.even >= FEWEST
    first = result.judges[0].interval[0] > 0.5
    return enough and first and all(line.gap_interval[0] > 0 for line in rivals)


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
    line = result.judges[0]
    name = sentence(line.name)
    right = with_interval(line.accuracy, line.interval)
    rivals = [
        judge
        for judge in result.judges
        if judge.name in baselines and judge.name != COIN
    ]
    rival = min(rivals, key=lambda judge: judge.gap)
    gap = with_interval(rival.gap, rival.gap_interval)
    lost = with_interval(-rival.gap, (-rival.gap_interval[1], -rival.gap_interval[0]))
    ahead = f"{rival.name} {PICKS} more often than {line.name} does, by {lost}"
    if also := [judge.name for judge in rivals if judge.gap < 0 and judge is not rival]:
        ahead += f" (so {'do' if len(also) > 1 else 'does'} {' and '.join(also)})"
    if rival.gap_interval[1] < 0 and rival.name in scores:
        return f"Use {rival.name}: {ahead.replace(rival.name, 'it', 1)}."
    if not line.interval[0] > 0.5:
        return (
            f"Use none: on these pairs no agreement with people is shown ({line.name} {PICKS} in "
            f"{right}){f', and {ahead}' if rival.gap < 0 else ''}."
        )
    if rival.gap_interval[1] < 0:
        return f"Use none: {ahead}."
    if rival.gap < 0:
        return f"No reason to use {line.name} is shown: {ahead}. {name} is right in {right}."
    if worth_using(result, baselines):
        return (
            f"Use {line.name}: it {PICKS} in {right} of the pairs, more often than the best "
            f"baseline, {rival.name}, by {gap}."
        )
    return (
        f"{name} {PICKS} in {right} of the pairs, but it is not shown to do better "
        f"than {_unbeaten(rivals)}."
    )


def _unbeaten(rivals: list[Judge]) -> str:
    """The rivals that it is not shown to be better than, the nearest first."""
    level = [judge for judge in rivals if not judge.gap_interval[0] > 0]
    level.sort(key=lambda judge: judge.gap)
    return " and ".join(
        f"{judge.name} (by {with_interval(judge.gap, judge.gap_interval)})"
        for judge in level
    )


def nearest(result: Pairwise) -> str:
    """Which score picks right most often, as far as can be told."""
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
    most = " most often" if len(result.judges) > 1 else ""
    more = ", more than every other" if most else ""
    return f"On {pairs} {top.name} {PICKS}{most}, in {right}{more}."


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
