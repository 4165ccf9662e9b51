"""Several dimensions, each validated by itself: the result of `refless validate` on all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from refless.nouns import counted
from refless.report.dimensions import ByDimension
from refless.report.document import Document, Table
from refless.report.record import Record, Signed
from refless.report.validate.data import ValidateRecord
from refless.report.validate.result import ValidateResult
from refless.report.validate.side_by_side import Standing, standing_of, worth_using
from refless.report.wording import number, with_interval

LEGEND = (
    "Spearman, with its 95 % interval, of the estimator to use. 'use NAME': it agrees with people "
    "better than the best baseline. 'as baseline': it agrees, but no better as far as is shown. "
    "'use none': no agreement is shown, or a baseline has more. Each line stands for itself: where "
    "estimates know nothing, 1 line in 40 still seems to agree."
)
VERDICTS: dict[Standing, str] = {
    "few": "too few",
    "score": "use score",
    "none": "use none",
    "better": "use {}",
    "baseline": "use none",
    "alike": "as baseline",
}


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
        names = self._names()
        table = Table(
            header=("dimension", "texts", "Spearman [95 %]", "best baseline", "verdict"),
            rows=tuple((names[name], *_row(one)) for name, one in self.results.items()),
            numeric=(False, True, True, False, False),
        )
        several = counted(len(self.results), "dimension")
        return self._page(
            f"Validation of {several}",
            f"Estimates are shown to agree with people in {worth} of {several}, and no baseline to "
            "do better.",
            table,
            (LEGEND,),
        )


def _row(result: ValidateResult) -> tuple[str, ...]:
    found = result.side_by_side
    line, rival = found.first, found.rival
    return (
        f"{len(result.validation.pool):,}",
        with_interval(line.spearman, line.spearman_interval),
        f"{number(rival.spearman)} {rival.name}",
        VERDICTS[standing_of(found)].format(result.signature.name),
    )
