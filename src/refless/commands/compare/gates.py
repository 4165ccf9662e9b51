"""The gate on the second of two systems."""

import math

from refless.commands.warnings import note
from refless.report.result import GateRecord, decided
from refless.report.wording import numbers
from refless.stats.intervals import Interval


def gate_on(
    system: str, measure: str, interval: Interval, least: float, worse: str, none: str
) -> GateRecord:
    """Whether the measure of the second system is below the least that is allowed; noted, too.

    Args:
        system: the second one; measure: what is measured, with its interval.
        least: that is allowed; worse: what is said of a system below it.
        none: why there is no interval, if there is none.
    """
    ends = f"the interval of the {measure}, {' to '.join(numbers(interval))},"
    verdict = decided(interval, ">=", least)
    reasons = {
        "failed": f"{system} is worse: {ends} ends below {least:g}",
        "undecided": f"{ends} does not tell if {system} {worse}",
        "passed": f"{ends} rules out that {system} {worse}",
    }
    reason = reasons[verdict]
    if math.isnan(interval[0]):
        reason = f"the {measure} has no interval: {none}"
    gate = GateRecord.of(verdict, reason)
    note(gate.reason)
    return gate
