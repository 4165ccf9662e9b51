"""A judge's numbers and uses and the verdict of a gate are declared in one place."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refless
from refless.commands.judge.numbers import NUMBERS, Number
from refless.evaluation.labels import Labels
from refless.evaluation.uses import PURPOSES
from refless.report.result import decided
from refless.stats.answers import Estimate

ROWS = [
    {
        "id": f"t{i}",
        "text": f"text {i}",
        "rating": 1 + i % 5,
        "judge": 1 + (i * 3 + 1) % 5,
    }
    for i in range(40)
]
ENDS = st.floats(-5, 5)


def test_a_number_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry more: page, JSON and gate have it."""

    def largest(labels: Labels, seed: int) -> Estimate:
        gap = float(abs(labels.judge - labels.human).max())
        return Estimate(value=gap, interval=(gap, gap), n=len(labels))

    monkeypatch.setitem(NUMBERS, "largest", Number("largest error", "units", largest))
    judged = refless.judge(
        ROWS, score_column="judge", scale=(1, 5), resamples=40, require="largest<=2"
    )
    assert judged.to_dict()["judges"][0]["measures"]["largest"]["value"] == 3
    assert "largest error" in judged.as_text()
    assert judged.gate.verdict == "failed"
    assert "largest 3.00 [3.00, 3.00], wanted <= 2" in judged.gate.reason


def test_every_use_has_its_purpose() -> None:
    """Each is one of the table, whose short names are on the page."""
    for passing in (None, 4):
        judged = refless.judge(
            ROWS, score_column="judge", scale=(1, 5), resamples=40, passing=passing
        )
        uses = judged.audits[0].uses
        assert {use.purpose for use in uses} <= {*PURPOSES}
        told = judged.as_text()
        assert all(PURPOSES[use.purpose].short in told for use in uses)


def by_cases(low: float, high: float, sign: str, bar: float) -> str:
    """The verdict of a gate, case by case."""
    if math.isnan(low):
        return "undecided"
    right = low >= bar if sign == ">=" else high <= bar
    wrong = high < bar if sign == ">=" else low > bar
    if right:
        return "passed"
    if wrong:
        return "failed"
    return "undecided"


@given(ENDS, ENDS, st.sampled_from([">=", "<="]), ENDS)
def test_one_function_decides_gates(
    first: float, second: float, sign: str, bar: float
) -> None:
    """The whole interval on the right side, all of it on the wrong one, or neither."""
    low, high = sorted((first, second))
    assert decided((low, high), sign, bar) == by_cases(low, high, sign, bar)
    assert decided((low, high), sign, low) == by_cases(low, high, sign, low)
    assert decided((math.nan, math.nan), sign, bar) == "undecided"
