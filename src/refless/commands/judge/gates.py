"""The gates on a judge's measures and on its drift."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from refless.commands.judge.audit import Audit
from refless.commands.judge.document import cell
from refless.commands.judge.numbers import NUMBERS
from refless.commands.judge.repeated import ScoreChange
from refless.commands.warnings import note
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.report.result import Gated, GateRecord, decided
from refless.stats.answers import Estimate


def requirements(words: str | None) -> tuple[tuple[str, str, float], ...]:
    """(measure, >= or <=, value) of each part; raises UsageError for what is none."""
    parts = map(str.strip, (words or "").split(","))
    result = []
    for part in filter(None, parts):
        match = re.fullmatch(r"(\w+)\s*(>=|<=)\s*(-?\d*\.?\d+)", part)
        if match is None or match[1] not in NUMBERS:
            names = ", ".join(NUMBERS)
            raise UsageError(
                f"{called('require')} needs MEASURE>=NUMBER, got '{part}'; measures: {names}"
            )
        name, sign, value = match.groups()
        bar = float(value)
        if NUMBERS[name].signed and (sign == ">=" or bar < 0):
            raise UsageError(
                f"{called('require', part)}: the size of the {name} is what counts; {name}<=0.2"
            )
        result.append((name, sign, bar))
    return tuple(result)


def gated(
    audits: Sequence[Audit],
    required: Sequence[tuple[str, str, float]],
    drifts: Mapping[str, ScoreChange],
    max_drift: float | None,
) -> GateRecord:
    """The verdict of the worst gate, whose reason is noted."""
    gates: list[tuple[Gated, str]] = []
    for judge in audits:
        for name, sign, bar in required:
            value = judge.measures.get(name) or _missing(name)
            measure = name
            if NUMBERS[name].signed:  # too strict is as bad as too kind
                value = _size_of(value)
                measure = f"size of the {name}"
            gates.append(_reached(f"{judge.name}: {measure}", value, sign, bar))
    if max_drift is not None:
        for name, drift in drifts.items():
            moved = f"{name}: size of the change of the mean score"
            gates.append(_reached(moved, _size_of(drift.change), "<=", max_drift))
    worst_first: tuple[Gated, ...] = ("failed", "undecided", "passed")
    for verdict in worst_first:
        reasons = [reason for kind, reason in gates if kind == verdict]
        if reasons:
            gate = GateRecord.of(verdict, "; ".join(reasons))
            note(gate.reason)
            return gate
    return GateRecord()


def _missing(name: str) -> Estimate:
    """A number that these ratings do not have, with the reason."""
    reason = "it is not measured here"
    if NUMBERS[name].asks == "verdicts":
        reason = f"{reason}; verdicts need {called('passing')}"
    return Estimate(undefined=reason)


def _size_of(estimate: Estimate) -> Estimate:
    """The same number without its sign, and the interval of its size."""
    low, high = estimate.interval
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    ends = least, max(abs(low), abs(high))
    return replace(estimate, value=abs(estimate.value), interval=ends)


def _reached(name: str, estimate: Estimate, sign: str, bar: float) -> tuple[Gated, str]:
    """The verdict on one number, and its reason."""
    verdict = decided(estimate.interval, sign, bar)
    if math.isnan(estimate.interval[0]):
        return (
            verdict,
            f"{name} has no interval ({estimate.undefined or 'too few rows'})",
        )
    return verdict, f"{name} {cell(estimate)}, wanted {sign} {bar:g}"
