"""Several dimensions, each estimated by itself: the result of `refless score` on all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from refless.nouns import counted
from refless.report.dimensions import ByDimension
from refless.report.document import Document, Table
from refless.report.record import Record, Signed
from refless.report.score.data import ScoreRecord
from refless.report.score.result import ScoreResult
from refless.report.wording import in_units, percent, with_interval

LEGEND = "The mean rating that people would give, with its 95 % interval, in the raters' units."
ALL = "All estimates, one row an output and dimension: add -o estimates.csv"


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
        names = self._names()
        table = Table(
            header=("dimension", "mean estimate [95 %]", "scale", "covered", "outputs", "rated"),
            rows=tuple((names[name], *_row(one)) for name, one in self.results.items()),
        )
        outputs = [one.scored.overall.n for one in self.results.values()]
        known = [section for one in self.results.values() for section in one.document().sections]
        several = counted(len(self.results), "dimension")
        return self._page(
            f"Estimates of {several}",
            f"{counted(max(outputs), 'output')}, estimated in {several}.",
            table,
            (LEGEND, ALL),
            tuple(dict.fromkeys(section for section in known if section.warning)),
        )


def _row(result: ScoreResult) -> tuple[str, ...]:
    mean, rated = result.scored.overall, result.estimator.rated
    value, ends, scale = mean.mean, mean.mean_interval, "-"
    if rated.scale is not None:
        value, (low, high) = in_units(value, ends, rated.scale)
        ends, scale = (low, high), "{:g} to {:g}".format(*rated.scale)
    return (
        with_interval(value, ends),
        scale,
        percent(mean.coverage),
        f"{mean.n:,}",
        f"{len(rated):,}",
    )
