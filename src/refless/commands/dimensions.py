"""One command for each of several dimensions (fluency, coherence ...), and its results as one."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

from refless.commands.parameters import names_in
from refless.commands.score.data import ScoreRecord
from refless.commands.score.result import ScoreResult
from refless.commands.validate.result import ValidateRecord, ValidateResult
from refless.commands.validate.verdict import Standing, standing_of, worth_using
from refless.commands.warnings import note, overheard
from refless.data.tables import SeveralDimensionsError, dimension_of
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Record, Signed
from refless.report.result import Result
from refless.report.wording import labels, number, percent, with_interval

GATES = ("min_coverage", "min_mean")  # on one dimension
MEANS = (
    "The mean rating that people would give, with its 95 % interval, in the raters' units.",
    "All estimates, one row an output and dimension: add -o estimates.csv",
)
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
Command = Callable[..., Result]
Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ByDimension(Result):
    """Results of one command, each the same as of that dimension alone.

    Attributes:
        results: by the name of the dimension, in the order of the file or as they were asked for.
    """

    results: Mapping[str, Any]
    title: ClassVar[str]
    header: ClassVar[tuple[str, ...]]
    lines: ClassVar[tuple[str, ...]]

    def _verdict(self, several: str) -> str:
        raise NotImplementedError

    def _cells(self, result: Any) -> tuple[str, ...]:
        raise NotImplementedError

    def _json(self) -> Record:
        results = self.results.items()
        return self._record(dimensions={name: result.json() for name, result in results})

    def _rows(self) -> Rows:
        """The rows of all results, each with its dimension."""
        results = self.results.items()
        return [{"dimension": name, **row} for name, result in results for row in result.rows()]

    def exported(self, tool: str) -> NoReturn:
        """Raises UsageError: what other tools read is of one dimension."""
        raise UsageError(f"{tool}: is for one dimension; choose one with --dimension NAME")

    def _shown(self) -> Document:
        """A row for each dimension, below every warning, and the command line of the first one."""
        results = [*self.results.values()]
        sections = (section for result in results for section in result.document().sections)
        names = labels([*self.results], 24)
        rows = tuple((names[name], *self._cells(result)) for name, result in self.results.items())
        table = Table(header=self.header, rows=rows)
        several = counted(len(self.results), "dimension")
        detail = ("One of them with everything there is to say:", f"  {results[0].command}")
        return Document(
            title=f"{self.title} of {several}",
            verdict=self._verdict(several),
            sections=(
                *dict.fromkeys(section for section in sections if section.warning),
                Section(title="Each dimension by itself", table=table),
                Section(lines=self.lines),
                Section(lines=detail),
            ),
            signatures=tuple(str(result.signature) for result in results),
        )


@dataclass(frozen=True, kw_only=True)
class ScoreByDimensionRecord(Record):
    """The estimates of each dimension, as if it were alone."""

    command: Literal["score"] = "score"
    signature: Signed
    dimensions: dict[str, ScoreRecord]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ScoreByDimension(ByDimension):
    """Outputs with their estimates, for each dimension, as of `refless.score` with it alone."""

    record = ScoreByDimensionRecord
    results: Mapping[str, ScoreResult]
    title = "Estimates"
    header = ("dimension", "mean estimate [95 %]", "scale", "covered", "outputs", "rated")
    lines = MEANS

    def _verdict(self, several: str) -> str:
        outputs = max(result.scored.overall.n for result in self.results.values())
        return f"{counted(outputs, 'output')}, estimated in {several}."

    def _cells(self, result: ScoreResult) -> tuple[str, ...]:
        mean, rated = result.scored.overall, result.estimator.rated
        scale = "-" if rated.scale is None else "{:g} to {:g}".format(*rated.scale)
        interval = with_interval(mean.mean, mean.mean_interval)
        return (interval, scale, percent(mean.coverage), f"{mean.n:,}", f"{len(rated):,}")


@dataclass(frozen=True, kw_only=True)
class ValidateByDimensionRecord(Record):
    """The validation of each dimension, as if it were alone."""

    command: Literal["validate"] = "validate"
    signature: Signed
    dimensions: dict[str, ValidateRecord]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValidateByDimension(ByDimension):
    """Whether estimators agree with raters, a dimension each, as of `refless.validate` alone."""

    record = ValidateByDimensionRecord
    results: Mapping[str, ValidateResult]
    title = "Validation"
    header = ("dimension", "texts", "Spearman [95 %]", "best baseline", "verdict")
    lines = (SPEARMAN,)

    def _verdict(self, several: str) -> str:
        worth = sum(worth_using(result.side_by_side) for result in self.results.values())
        shown = f"Estimates are shown to agree with people in {worth} of {several}"
        return f"{shown}, and no baseline is ahead."

    def _cells(self, result: ValidateResult) -> tuple[str, ...]:
        leaderboard = result.side_by_side
        line, rival = leaderboard.first, leaderboard.rival
        return (
            f"{len(result.validation.pool):,}",
            with_interval(line.spearman, line.spearman_interval),
            f"{number(rival.spearman)} {rival.name}",
            VERDICTS[standing_of(leaderboard)].format(result.signature.name),
        )


KINDS: dict[str, type[ByDimension]] = {"validate": ValidateByDimension, "score": ScoreByDimension}


def whole_or_by_dimension(function: Command, values: Values) -> Result:
    """The result of a command; of those that can, one of all dimensions if there are several.

    Raises:
        UsageError: several dimensions and a gate.
        InputError: several dimensions in what can be read once.
    """
    with overheard() as notes:
        try:
            return function(**values)
        except SeveralDimensionsError as several:
            if function.__name__ not in KINDS:
                raise
            _check(values, several)
            error = several
    return _joined(function, values, _results(function, values, error), notes)


def _check(values: Values, several: SeveralDimensionsError) -> None:
    """Raises UsageError or InputError for what cannot be done for several dimensions at once."""
    for name in GATES:
        if values.get(name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for one dimension; {several}")
    lists = [rows if isinstance(rows, list | tuple) else [rows] for rows in values.values()]
    if not several.asked and any(isinstance(p, str) and p == "-" for rows in lists for p in rows):
        again = "choose one with --dimension NAME, or save it as a file: it can be read only once"
        raise InputError(several.found, path=several.path, remedy=again) from several


def _results(
    function: Command, values: Values, several: SeveralDimensionsError
) -> dict[str, Result]:
    """The results by dimension; faults become notes, unless the dimensions were asked for."""
    results: dict[str, Result] = {}
    faults: dict[str, InputError] = {}
    for name in several.names:
        own = {**values, "dimension": [name]}
        try:
            with overheard(silent=True):
                results[dimension_of(name)[0]] = function(**own)
        except SeveralDimensionsError as more:  # of a pattern
            results |= _results(function, own, more)
        except InputError as fault:
            if several.asked:
                raise
            faults[name] = fault
    if not results:
        raise next(iter(faults.values()))
    for name, error in faults.items():
        note(f"{name} is left out: {error}")
    return results


def _joined(
    function: Command, values: Values, results: Mapping[str, Result], notes: list[str]
) -> ByDimension:
    """The results as one; notes of all of them are told once, others with their dimension."""
    with overheard() as more:
        for line in dict.fromkeys(line for result in results.values() for line in result.notes):
            names = [name for name, result in results.items() if line in result.notes]
            if line not in notes:
                note(line if len(names) == len(results) else f"{', '.join(names)}: {line}")
    words = shlex.split(next(iter(results.values())).command)
    if "--dimension" in words:  # of one: all that were asked for stand in its place
        at, asked = words.index("--dimension"), names_in(values.get("dimension"))
        words[at : at + 2] = [word for name in asked for word in ("--dimension", name)]
    return KINDS[function.__name__](
        results=results,
        signature=Signature(function.__name__).plus(dimensions=tuple(results)),
        notes=(*notes, *more),
        command=shlex.join(words),
    )
