"""The gate on the second of two systems."""

import math
from collections.abc import Sequence

import numpy as np

from refless.commands.gate.measures import GateMeasure
from refless.evaluation.comparing import SURE
from refless.report.result import GateRecord
from refless.report.units import RatingUnits
from refless.report.wording import labels
from refless.stats.answers import Answer
from refless.stats.corrections import holm

NAME = 24  # columns of a terminal


def is_worse(answers: Sequence[Answer], bars: Sequence[float]) -> list[bool]:
    """Whether each answer is shown to lie below its bar, corrected for all (Holm 1979)."""
    pairs = [*zip(answers, bars, strict=True)]
    corrected = holm(np.array([answer.beyond(bar).p for answer, bar in pairs]))
    below = [answer.interval[1] < bar for answer, bar in pairs]
    shown = (corrected < SURE).tolist()
    return [low and sure for low, sure in zip(below, shown, strict=True)]


def decided_by(
    measures: Sequence[GateMeasure], systems: Sequence[str], margin: float
) -> GateRecord:
    """Failed if any measure shows the new system to be worse, passed if all rule that out.

    Args:
        measures: of the new system against the old one.
        systems: the old one first; margin: by how much the new one may be worse.
    """
    name = labels(systems, NAME)
    old, new = (name[system] for system in systems)
    by = f" by more than {measures[0].allowed(margin)}" if margin else ""
    worse = is_worse(
        [measure.answer for measure in measures], [measure.bar for measure in measures]
    )
    if any(worse):
        failing = [measure for measure, bad in zip(measures, worse, strict=True) if bad]
        why = f"{new} is worse than {old}{by}: {_listed(failing)}"
        return GateRecord.of("failed", why)
    untold = [
        measure for measure in measures if not measure.answer.interval[0] >= measure.bar
    ]
    if untold:
        numbers = _listed(untold)
        why = f"it cannot be told yet whether {new} is worse than {old}{by}: {numbers}"
        return GateRecord.of("undecided", why)
    why = f"{new} is not worse than {old}{by}: {_listed(measures)}"
    return GateRecord.of("passed", why)


def _listed(measures: Sequence[GateMeasure]) -> str:
    """The measures of the new system with their numbers, or why they have no interval."""
    return ", ".join(map(_said, measures))


def _said(measure: GateMeasure) -> str:
    value = measure.answer.value
    if math.isnan(value):
        return f"{measure.name}: {measure.why}"
    if measure.why:
        return f"{measure.said} has no interval: {measure.why}"
    if not measure.is_of_ratings:
        return measure.said
    units = RatingUnits(percent=measure.is_share)
    leads = "leads" if value >= 0 else "trails"
    ends = units.ends(measure.answer.interval, "to")
    return f"it {leads} by {units.size(value)} ({ends})"
