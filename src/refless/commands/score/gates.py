"""Gates, and what is noted of sources and systems that nobody rated."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from refless.commands.score.guards import alike, beats_constant
from refless.commands.warnings import note
from refless.data.design import unit_name
from refless.data.records import Residuals, Scale
from refless.estimators import Estimator
from refless.estimators.intervals import FEWEST_SOURCES
from refless.evaluation.scoring import Mean
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.report.result import GateRecord, decided
from refless.report.wording import number, numbers
from refless.stats.clusters import known_groups

UNPROVEN = (
    "held-out estimates of the rated texts are not shown to err less than a constant, the mean of "
    "the other ratings. More ratings, or another estimator, may show it."
)
ALL_ALIKE = (
    "the estimates hardly differ, so they do not tell a good output from a bad one."
)
BELOW = "the mean's interval"
FEWEST_SYSTEMS = 5  # rated, by which the error of another can be told


def check_on(value: float | None, scale: Scale | None, name: str) -> None:
    """Raises UsageError for a value outside the scale."""
    low, high = scale or (-math.inf, math.inf)
    if value is not None and not low <= value <= high:
        raise UsageError(
            f"{called(name)} is in the raters' units, from {low:g} to {high:g}; got {value:g}"
        )


def doubted(errors: Residuals, estimates: FloatArray) -> tuple[str, ...]:
    """The doubts that estimates say anything of what people would rate, a sentence each."""
    doubts: tuple[str, ...] = () if beats_constant(errors) else (UNPROVEN,)
    return (*doubts, ALL_ALIKE) if alike(estimates, errors) else doubts


def gate(
    mean: Mean,
    min_mean: float | None,
    min_coverage: float | None,
    doubts: Sequence[str] = (),
) -> GateRecord:
    """Whether a mean passes.

    A gate that fails fails whatever is in doubt, but for an estimator that knows no more than the
    mean of the ratings: then the mean says nothing of these outputs.

    Args:
        mean: of the outputs.
        min_mean: the least that it may be; None for no gate.
        min_coverage: the least coverage; None for no gate.
        doubts: why a mean that is high enough shows nothing, a sentence each.
    """
    measured = _measured(mean, min_mean, min_coverage)
    failed = measured.verdict == "failed" and BELOW in measured.reason
    void = failed and UNPROVEN in doubts
    if not doubts or not (measured.verdict == "passed" or void):
        return measured
    first_sentence = doubts[0].partition(". ")[0]
    return GateRecord.of("undecided", first_sentence.removesuffix("."))


def _measured(
    mean: Mean, min_mean: float | None, min_coverage: float | None
) -> GateRecord:
    """The gate by the numbers alone, as if nothing were in doubt."""
    coverage = f"coverage {number(mean.coverage)} is"
    if min_coverage is not None and not mean.coverage >= min_coverage:
        return GateRecord.of("failed", f"{coverage} below {min_coverage:g}")
    if min_mean is None and min_coverage is None:
        return GateRecord()
    if min_mean is None:
        return GateRecord.of("passed", f"{coverage} not below {min_coverage}")
    if mean.n_scored < mean.n and min_coverage is None:
        over = f"the mean is over {mean.n_scored} of {mean.n} outputs, those that have an estimate"
        return GateRecord.of(
            "undecided", f"{over}; {called('min_coverage')} says how many are enough"
        )
    low, high = numbers(mean.mean_interval)
    least = f"{min_mean:g}"
    if math.isnan(mean.mean_interval[0]):
        more = "that takes more outputs with an estimate"
        return GateRecord.of("undecided", f"the mean has no interval; {more}")
    verdict = decided(mean.mean_interval, ">=", min_mean)
    ends = f"{BELOW} [{low}, {high}] contains {least}"
    reasons = {
        "failed": f"{BELOW} ends at {high}, below {least}",
        "undecided": f"{ends}; more outputs or more rated texts narrow it",
        "passed": f"{BELOW} begins at {low}, not below {least}",
    }
    return GateRecord.of(verdict, reasons[verdict])


def note_groups(estimator: Estimator, group: str | None, *, known: bool) -> None:
    """Notes that too few rated sources tell how far estimates for other sources lie off.

    Args:
        estimator: fitted; group: what was held out together, if not the source.
        known: whether all outputs are of rated sources.
    """
    errors = estimator.residuals()
    name = group or unit_name(estimator.rated)
    if group is not None and len(errors.values) and not errors.sources:
        note(
            f"{called('group', group)} changes nothing here: intervals of "
            f"{estimator.title} come from texts "
            "that were kept aside one by one, and may be too narrow for other groups; "
            f"'refless validate --group {group}' holds whole groups out"
        )
    rated = {*errors.sources}
    if not rated or known:
        return
    if len(rated) == 1:
        note(
            f"all rated texts are of one {name}: no interval includes how far estimates for "
            f"another {name} lie off; rate texts of more {name}s"
        )
    elif len(rated) < FEWEST_SOURCES:
        note(
            f"the rated texts are of {len(rated)} {name}s, too few to tell well how far estimates "
            f"for other {name}s lie off: intervals are widened for that, and rest on the errors "
            f"of {len(rated)} {name}s being normal"
        )


def note_systems(systems: AbstractSet[str], estimator: Estimator) -> None:
    """Says so where few or no rated texts can tell how far whole systems are misjudged."""
    rated = known_groups(estimator.residuals().systems) - {""}
    new = sorted(systems - rated - {""})
    if not rated and new:
        note(
            "intervals of systems do not know how far a whole system is estimated too high or "
            "too low: that takes rated texts with their systems, and another estimator than RatPred"
        )
    elif new and len(rated) < FEWEST_SYSTEMS:
        note(
            f"{counted(len(new), 'system')} with few rated texts, or none: how far such a system "
            f"is estimated too high or too low, {counted(len(rated), 'other')} cannot tell "
            "well; the intervals of their texts and means go by a rule of thumb. Rate some of "
            "their texts"
        )
