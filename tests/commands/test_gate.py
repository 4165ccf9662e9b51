"""A gate on the new of two systems: passed, failed or undecided, and what would decide it."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

import refless
from command_line import one_line
from refless.commands.gate import as_if_same
from refusals import bad_usage

Rows = list[dict[str, Any]]


def judged(differences: list[float], name: str = "rating", rated: int = 0) -> Rows:
    """Answers of v1 and v2 to items; v1 has 3, v2 so much more, of the first items if not all."""
    rows = []
    for i, difference in enumerate(differences):
        for system, value in (("v1", 3.0), ("v2", 3.0 + difference)):
            row = {"item": f"i{i:03d}", "system": system, name: value}
            if rated and i >= rated:
                row[name] = None
            rows.append(row)
    return rows


@pytest.mark.parametrize("name", ["rating", "score"])
def test_three_verdicts(name: str) -> None:
    """Mean .1 and t interval of [.3, -.1] x 10: .1 +- 2.0930 x .2052 / sqrt(20) = [.004, .196].

    Quantile of Student's t with 19 degrees of freedom from Fisher and Yates's tables. Equal ratings
    make it a little wider (docs/compare.md).
    """
    rows = judged([0.3, -0.1] * 10, name)
    passed = refless.gate(rows, baseline="v1")
    assert passed.gate.verdict == "passed"
    assert passed.interval == pytest.approx((0.1 - 0.09603, 0.1 + 0.09603), abs=2e-3)
    assert passed.exit_status == 0
    assert passed.further.count == 0
    failed = refless.gate(rows, baseline="v2")
    assert (failed.exit_status, failed.candidate) == (3, "v1")
    unit = " points" if name == "rating" else ""
    numbers = "score -0.100 [-0.197, -0.003]"
    if unit:
        numbers = "it trails by 0.10 points (0.003 to 0.197)"
    said = f"Gate failed: v1 is worse than v2: {numbers}."
    assert failed.sentence == f"{said} Ranges are 95 % intervals."
    assert one_line(failed).startswith(said)
    undecided = refless.gate(rows, baseline="v2", margin=0.1)
    assert undecided.exit_status == 4
    assert undecided.sentence.startswith(
        "Gate undecided: it cannot be told yet whether v1 is worse than v2 by "
        f"more than 0.1{unit}: {numbers.partition('0 ')[0]}"
    )
    close = refless.gate(rows, baseline="v2", margin=0.2)
    assert (close.exit_status, close.card().unfit) == (0, "a claim that v1 is better.")
    surely = refless.gate(rows, baseline="v1", margin=0.2)
    assert "claim" not in surely.card().unfit


def test_the_better_version_has_its_gate() -> None:
    """The whole line that holds the next version to it; none where neither is better."""
    line = "refless.gate(rows, baseline='v2')"
    assert line in str(refless.compare(judged([0.3, -0.1] * 10)))
    assert line not in str(refless.compare(judged([0.3, -0.3] * 10)))


def test_what_would_decide() -> None:
    """Fewer ratings the farther the bar; beyond all items new ones; out of reach is null."""
    rng = default_rng(3)
    differences = rng.normal(0.25, 0.8, 300).round(1).tolist()
    rows = judged(differences, rated=24)
    far = refless.gate(rows, baseline="v1", scale=(0, 6), margin=0.1)
    near = refless.gate(rows, baseline="v1", scale=(0, 6))
    assert (far.further.of, near.further.of) == ("ratings", "items")
    assert far.to_dict()["needed"] < 276
    assert f"about {far.further.count} more items would" in far.sentence
    assert f"{near.further.count} new items" in near.sentence
    even = [value - float(np.mean(differences[:30])) for value in differences[:30]]
    never = refless.gate(judged(even), baseline="v1", scale=(0, 6))
    assert never.to_dict()["needed"] is None
    assert "20 times as many items may not decide it" in never.sentence
    alone = refless.gate(judged(even), baseline="v1", these_items=True, scale=(0, 6))
    assert alone.gate.verdict in {"passed", "failed"}  # all of them are rated


@pytest.mark.parametrize(("lead", "hardly"), [(0.3, False), (0.05, True)])
def test_advice_agrees_with_the_forecast(lead: float, *, hardly: bool) -> None:
    """Ratings of the items left are asked only if they decide with more than a slim chance."""
    differences = [lead + 0.8, lead - 0.8] * 25
    card = refless.compare(judged(differences, rated=24), scale=(0, 6)).card()
    said, _, chance = card.further.partition(
        "all 26 items left decide it with a chance of "
    )
    assert (said, int(chance.split()[0]) < 33) == ("ratings of ", hardly)
    assert ("undecided" in card.advice, card.command == "") == (hardly, hardly)
    assert "rated as these are" in chance or "20 times" in chance


@pytest.mark.parametrize(
    ("rated", "items", "of"),
    [(8, 60, ""), (10, 60, "items"), (18, 18, ""), (20, 20, "items")],
)
def test_few_ratings_tell_no_forecast(rated: int, items: int, of: str) -> None:
    """By hand: from 10 items with ratings on; that more would not do, from 20 on."""
    differences = [1.0, -0.6 if rated < items else -1.0] * (items // 2)
    rows = judged(differences, rated=rated)
    assert refless.gate(rows, baseline="v1", scale=(0, 6)).further.of == of


def test_the_forecast_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of gates that asked for more ratings and got as many, 4 of 5 are then decided.

    Simulated: 16 undecided pilots of 30 rated items with differences as they usually are, .3 of
    the standard deviation of items. .8 - 3 standard errors is .5.
    """
    monkeypatch.setattr(as_if_same, "DRAWS", 2)  # of false alarms, which are not asked
    rng = default_rng(5)
    decided = []
    while len(decided) < 16:
        truth = rng.normal(0, 0.3)
        differences = rng.normal(truth, 1, 250).tolist()
        pilot = refless.gate(judged(differences, rated=30), baseline="v1", margin=0.2)
        if not pilot.further.count:
            continue
        rows = judged(differences, rated=30 + pilot.further.count)
        later = refless.gate(rows, baseline="v1", margin=0.2)
        decided.append(later.gate.verdict != "undecided")
    assert np.mean(decided) >= 0.5


def test_false_alarms() -> None:
    """An A/A test by labels that are dealt anew; with a wide margin the gate never fails."""
    rng = default_rng(0)
    rows = judged(rng.normal(0.5, 1, 40).tolist())
    shares = [
        refless.gate(rows, baseline="v1", margin=margin).false_alarms
        for margin in (0.0, 5.0)
    ]
    assert shares[0] == pytest.approx(0.025, abs=0.025)
    assert shares[1] == 0
    wide = str(refless.gate(rows, baseline="v1", margin=5.0))
    assert "would fail in 0 %, pass in 100 % and else be undecided, of" in one_line(
        wide
    )
    any_look = refless.gate(rows, baseline="v1", looks="any", scale=(-5, 10))
    assert math.isnan(any_look.false_alarms)
    assert any_look.to_dict()["false_alarms"] is None


def test_the_candidate() -> None:
    """The other of two systems; of more it has to be named."""
    rows = judged([0.3, -0.1] * 10)
    more = [{**row, "system": "v3"} for row in rows if row["system"] == "v1"]
    with bad_usage("name one of v2, v3 with candidate"):
        refless.gate(rows + more, baseline="v1")
    with bad_usage("candidate='v1' is no other system"):
        refless.gate(rows, baseline="v1", candidate="v1")
    with bad_usage("there is one system, 'v3'"):
        refless.gate(more, baseline="v3")
    two = refless.gate(rows + more, baseline="v1", candidate="v2")
    assert two.interval == refless.gate(rows, baseline="v1").interval
    (pair,) = refless.compare(rows).comparison.pairs
    assert two.interval == pair.difference.interval


def test_a_pass_rate_and_its_card() -> None:
    """Of 40 items v1 passes 30 and v2 20, all of which v1 passes: -25 percentage points."""
    rows: Rows = []
    for system, passed in (("v1", 30), ("v2", 20)):
        for i in range(40):
            row = {
                "item": f"i{i}",
                "text": f"{system} {i}",
                "system": system,
                "rating": int(i < passed),
            }
            rows.append(row)
    result = refless.gate(rows, baseline="v1", margin=0.02, scale=(0, 1))
    card = result.card()
    assert result.gate.verdict == "failed"
    assert card.state == "no"
    worse = "v2 is worse than v1 by more than 2 percentage points"
    assert f"{worse}: it trails by 25 percentage points (" in card.answer
    assert card.advice.startswith("keep v1")
    assert "v2 minus v1, in percentage points" in result.as_text()
    (figure,) = card.figures
    assert "the loss that is allowed" in figure.caption
    assert result.report().outputs is not None
    undecided = refless.gate(rows, baseline="v1", margin=0.2, scale=(0, 1)).card()
    assert undecided.state == "open"
    assert undecided.label == "Undecided"
