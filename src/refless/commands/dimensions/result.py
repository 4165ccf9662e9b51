"""The results of one command for several dimensions, as one: of `validate` and of `score`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from refless.commands.score.data import ScoreRecord
from refless.commands.score.result import ScoreResult
from refless.commands.validate.result import ValidateRecord, ValidateResult
from refless.commands.validate.verdict import Standing, standing_of, worth_using
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Record, Signed
from refless.report.result import Result
from refless.report.wording import labels, number, percent, with_interval

IN_DETAIL = "One of them with everything there is to say:"
MEANS = "The mean rating that people would give, with its 95 % interval, in the raters' units."
ALL = "All estimates, one row an output and dimension: add -o estimates.csv"
SPEARMAN = (
    "Spearman, with its 95 % interval, of the estimator to use. 'use NAME': it agrees with people "
    "better than the best baseline. 'as baseline': it agrees, but no better as far as is shown. "
    "'use none': no agreement is shown, or a baseline is ahead. Each line stands for itself: where "
    "estimates know nothing, 1 line in 40 still seems to agree."
)
VERDICTS: dict[Standing, str] = {
    "few": "too few",
    "score": "use score",
    "none": "use none",
    "better": "use {}",
    "baseline": "use none",
    "behind": "use none",
    "alike": "as baseline",
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ByDimension(Result):
    """Results of one command, each the same as of that dimension alone.

    Attributes:
        results: by the name of the dimension, in the order of the file or as they were asked for.
    """

    results: Mapping[str, Any]

    def _json(self) -> Record:
        return self._record(dimensions={name: one.json() for name, one in self.results.items()})

    def _rows(self) -> Rows:
        """The rows of all results, each with its dimension."""
        return [
            {"dimension": name, **row} for name, one in self.results.items() for row in one.rows()
        ]

    def exported(self, tool: str) -> Mapping[str, str]:
        """Nothing: what other tools read is of one dimension.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{tool}: is for one dimension; choose one with --dimension NAME")

    def _lines(self, cells: Callable[[Any], tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
        """The rows of a table: what each dimension is called, and the cells of its result."""
        names = labels([*self.results], 24)
        return tuple((names[name], *cells(one)) for name, one in self.results.items())

    def _page(
        self,
        title: str,
        verdict: str,
        table: Table,
        lines: tuple[str, ...],
        before: tuple[Section, ...] = (),
    ) -> Document:
        """What the terminal and the page show: a table, and the command line of the first one."""
        results = [*self.results.values()]
        return Document(
            title=title,
            verdict=verdict,
            sections=(
                *before,
                Section(title="Each dimension by itself", table=table),
                Section(lines=lines),
                Section(lines=(IN_DETAIL, f"  {results[0].command}")),
            ),
            signatures=tuple(str(one.signature) for one in results),
        )


@dataclass(frozen=True, kw_only=True)
class ScoreByDimensionRecord(Record):
    """The estimates of each dimension, as if it were alone."""

    command: Literal["score"] = "score"
    signature: Signed
    dimensions: dict[str, ScoreRecord]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ScoreByDimension(ByDimension):
    """Outputs with their estimates, for each dimension.

    Attributes:
        results: by dimension, each as of `refless.score` with that dimension alone.
    """

    record = ScoreByDimensionRecord
    results: Mapping[str, ScoreResult]

    def _shown(self) -> Document:
        """What the terminal and the page show."""
        table = Table(
            header=("dimension", "mean estimate [95 %]", "scale", "covered", "outputs", "rated"),
            rows=self._lines(_scored_row),
        )
        outputs = [one.scored.overall.n for one in self.results.values()]
        known = [section for one in self.results.values() for section in one.document().sections]
        several = counted(len(self.results), "dimension")
        return self._page(
            f"Estimates of {several}",
            f"{counted(max(outputs), 'output')}, estimated in {several}.",
            table,
            (MEANS, ALL),
            tuple(dict.fromkeys(section for section in known if section.warning)),
        )


def _scored_row(result: ScoreResult) -> tuple[str, ...]:
    mean, rated = result.scored.overall, result.estimator.rated
    scale = "-" if rated.scale is None else "{:g} to {:g}".format(*rated.scale)
    return (
        with_interval(mean.mean, mean.mean_interval),
        scale,
        percent(mean.coverage),
        f"{mean.n:,}",
        f"{len(rated):,}",
    )


@dataclass(frozen=True, kw_only=True)
class ValidateByDimensionRecord(Record):
    """The validation of each dimension, as if it were alone."""

    command: Literal["validate"] = "validate"
    signature: Signed
    dimensions: dict[str, ValidateRecord]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValidateByDimension(ByDimension):
    """Whether estimators agree with the raters, for each dimension.

    Attributes:
        results: by dimension, each as of `refless.validate` with that dimension alone.
    """

    record = ValidateByDimensionRecord
    results: Mapping[str, ValidateResult]

    def _shown(self) -> Document:
        """What the terminal and the page show."""
        worth = sum(worth_using(one.side_by_side) for one in self.results.values())
        table = Table(
            header=("dimension", "texts", "Spearman [95 %]", "best baseline", "verdict"),
            rows=self._lines(_validated_row),
            numeric=(False, True, True, False, False),
        )
        several = counted(len(self.results), "dimension")
        return self._page(
            f"Validation of {several}",
            f"Estimates are shown to agree with people in {worth} of {several}, and no baseline is "
            "ahead.",
            table,
            (SPEARMAN,),
        )


def _validated_row(result: ValidateResult) -> tuple[str, ...]:
    found = result.side_by_side
    line, rival = found.first, found.rival
    return (
        f"{len(result.validation.pool):,}",
        with_interval(line.spearman, line.spearman_interval),
        f"{number(rival.spearman)} {rival.name}",
        VERDICTS[standing_of(found)].format(result.signature.name),
    )
