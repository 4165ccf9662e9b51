"""Planned looks in `compare`: which look it is, what is spent, and whether the study can end."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refless
from command_line import ANY_NEIGHBOR, json_of, jsonl, one_line, run, run_well
from compared_systems import ORDER, Rows, compared, outputs, partly
from refless import CompareResult, UsageError
from refless.evaluation.planned_look import at_planned_look, chance_by_end, planned_look
from refless.stats.answers import Answer
from refless.stats.contrast import contrast
from refless.stats.group_sequential import LookPlan, Looks, critical_value
from refless.stats.samples import Sample
from refusals import bad_usage
from rows import without

SCALE = (1, 5)


def rated(n: int, gap: float) -> Rows:
    """Two systems' answers to 60 items, of which the first n are rated."""
    return without(partly(outputs(gap=gap), n), "judge")


def planned(n: int, gap: float, **more: Any) -> CompareResult:
    """The comparison at a look of a plan that ends at 60 items."""
    return compared(rated(n, gap), **{"scale": SCALE, "looks": 5, "of": 60, **more})


def said(result: CompareResult) -> str:
    return one_line(result)


def test_a_look_in_between() -> None:
    """24 of 60 items are the second of five looks, wider than one look by its boundary."""
    result = planned(24, 0.3)
    (pair,) = result.comparison.pairs
    look = pair.look
    assert look is not None
    assert (look.number, look.count, look.items, look.planned) == (2, 5, 24, 60)
    assert look.upcoming == 36
    assert look.unbiased is None
    looks = Looks.at((12, 24), 60, "obrien-fleming")
    assert look.spent == pytest.approx(looks.spent[-1] / 0.05)
    half = np.ptp(pair.difference.interval) / 2
    assert half == pytest.approx(critical_value(looks.last, 23) * pair.difference.error)
    assert "This is look 2 of 5, at 24 of 60 planned items: 2 % of the error" in said(
        result
    )
    assert "which ending here would give up. The next look is at 36 items." in said(
        result
    )
    assert "holds at all planned looks together" in said(result)
    assert "wider than that of one look, as it holds at all 5 looks" in said(result)
    card = result.card()
    assert card.advice == "go on to the next look, at 36 items."
    assert re.fullmatch(
        r"a chance of \d+ % to show a difference by 60 items, as planned.", card.further
    )
    assert "goal='compare', looks='12,24,36,48,60'" in card.command
    assert "looks:planned|at:12,24,36,48,60|of:60|spending:obrien-fleming" in str(
        result.signature
    )


def test_an_early_end() -> None:
    """The difference is shown, the rest needs no rating, and the estimate is without bias."""
    result = planned(36, 1.0)
    (pair,) = result.comparison.pairs
    assert pair.shown
    assert pair.difference.p == pytest.approx(pair.difference.repeated_p)
    assert pair.look is not None
    assert pair.look.unbiased is not None
    assert abs(pair.look.unbiased.value) <= abs(pair.difference.value)
    assert "the study can end here: 24 items need no rating" in said(result)
    assert f"without that bias it is {-pair.look.unbiased.value:.3f}" in said(result)
    turned = planned(36, 1.0, system=ORDER).comparison.pairs[0]
    assert turned.difference.p == pytest.approx(pair.difference.p)
    assert turned.look is not None
    assert turned.look.unbiased is not None
    assert turned.look.unbiased.value == pytest.approx(-pair.look.unbiased.value)


def test_what_to_rate_up_to_the_next_look() -> None:
    """So many items as are missing; the line that reads them looks as planned."""
    plan = {"goal": "compare", "scale": SCALE, "estimator": ANY_NEIGHBOR[1]}
    result = refless.next(rated(24, 0.3), looks=(12, 24, 36, 60), **plan)
    assert result.choice.n == 12
    card = result.card()
    assert "then 36 of 60 items" in card.answer
    assert "as planned" in card.further
    assert "looks=(12, 24, 36, 60), of=60" in card.command.splitlines()[1]
    assert result.choice.curve == ()
    with bad_usage("such as 20,40,60"):
        refless.next(rated(24, 0.3), looks=5, **plan)


def test_small_enough() -> None:
    """With a margin the study ends once the interval lies inside it on both sides."""
    result = planned(36, 0.0, margin=1.2)
    low, high = result.comparison.pairs[0].difference.interval
    assert -1.2 < low < 0 < high < 1.2
    assert "within ±1.2, so it is small enough and the study can end here" in said(
        result
    )
    assert "small enough" not in said(planned(36, 0.0, margin=0.1))


def test_hardly_a_chance_and_the_last_look() -> None:
    """Going on is a matter of chance, which binds nobody; at the end nothing is left."""
    late = planned(48, 0.0)
    (pair,) = late.comparison.pairs
    assert pair.look is not None
    assert pair.look.chance < 0.1
    assert "Going on has only a chance of" in said(late)
    assert "you may end here, or go on. The next look is at 60 items." in said(late)
    last = planned(30, 0.0, looks=3, of=30)
    assert "This was the last look: no difference is shown." in said(last)
    assert last.card().advice.startswith("end the study")
    assert (last.card().command, last.card().further[:8]) == ("", "none are")


def test_the_chance_by_hand() -> None:
    """z = 5/3 at 40 of 100 items, 2.0310 at the end (five looks of O'Brien & Fleming).

    The end lies around 5/3 with a variance of 1 - .4, and shows a difference beyond
    2.0310 * sqrt(.4) = 1.2845: Phi((1.6667 - 1.2845) / .7746) = Phi(.4934) = .6891, and on the
    other side Phi(-3.8100) = .0001.
    """
    plan = LookPlan.equal(5, 100, "obrien-fleming")
    answer = Answer(value=0.25, error=0.15, freedom=math.inf)
    chance = chance_by_end(answer, plan.looks(40), plan.looks_to_the_end(40))
    assert chance == pytest.approx(0.6892, abs=2e-4)


def test_a_system_that_nobody_rated_yet() -> None:
    """The plan begins: estimates answer, and no look has a rating of both systems."""
    rows = rated(40, 0.3)
    for row in rows[1::2]:  # of the new system
        row["rating"] = None
    (pair,) = compared(rows, scale=SCALE, looks=5, of=60).comparison.pairs
    assert pair.method == "estimates"
    look = pair.look
    assert look is not None
    assert (look.items, look.number, look.upcoming) == (0, 1, 24)
    assert look.chance == pair.chance


def test_these_items_are_spent_as_by_pocock() -> None:
    """Of these items alone more may be spent early; once all are rated all is known."""
    result = planned(24, 0.3, these_items=True)
    (pair,) = result.comparison.pairs
    looks = Looks.at((12, 24), 60, "pocock", population=60)
    half = np.ptp(pair.difference.interval) / 2
    assert half == pytest.approx(critical_value(looks.last, 23) * pair.difference.error)
    (whole,) = planned(60, 0.3, these_items=True).comparison.pairs
    assert whole.difference.error == 0
    assert whole.shown


def test_looks_as_they_came() -> None:
    """Items at each look, this one last: early, late and skipped looks are named by their items."""
    result = planned(24, 0.3, looks=(10, 24))
    (pair,) = result.comparison.pairs
    looks = Looks.at((10, 24), 60, "obrien-fleming")
    half = np.ptp(pair.difference.interval) / 2
    assert half == pytest.approx(critical_value(looks.last, 23) * pair.difference.error)
    assert "look 2 of 3" in said(result)


def test_many_systems_and_the_command_line(tmp_path: Path) -> None:
    """Several pairs share the look; the command line takes the same words."""
    rows = rated(24, 1.2)
    third = [
        {**row, "system": "third", "id": f"t{row['id']}"}
        for row in rows
        if row["system"] == "old"
    ]
    file = jsonl(tmp_path / "rows.jsonl", [*rows, *third])
    ran = run_well(
        "compare", file, *ANY_NEIGHBOR, "--scale", 1, 5, "--looks", "12,24", "--of", 60
    )
    words = ran.line
    assert "This is look 2 of 3, at 24 of 60 planned items" in words
    assert "2 pairs out of 3 need no further ratings." in words
    ran = run("compare", file, *ANY_NEIGHBOR, "--scale", 1, 5, "--looks", "5")
    assert ran.refuses("--of must be given with planned looks")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"looks": 5}, "of must be given with planned looks"),
        ({"of": 50}, "of goes with planned looks"),
        ({"looks": "some", "of": 50}, "looks must be one, any, a number of looks"),
        ({"looks": 1, "of": 50}, "must lie between 2 and of=50"),
        ({"looks": (20, 10), "of": 50}, "items at each look must ascend"),
        ({"looks": "20,60", "of": 50}, "items at each look must ascend"),
    ],
)
def test_plans_that_cannot_be(more: dict[str, Any], message: str) -> None:
    """Each says what to give instead."""
    with pytest.raises(UsageError) as error:
        compared(rated(24, 0.3), scale=SCALE, **more)
    assert message in str(error.value)


def answers(values: np.ndarray, plan: LookPlan) -> list[Answer]:
    """The answer at each look of a plan, by the first so many values."""
    result = []
    for n in plan.at:
        plain = contrast(Sample.of(values[:n], np.arange(n))).alone
        result.append(at_planned_look(plain, plan.looks(n)))
    return result


def test_repeated_intervals_cover_at_all_looks() -> None:
    """Student's t and ten looks from five items on: 300 studies, false alarms at most .07.

    The nominal .05 is known to a standard error of .013; intervals cover at all looks together.
    """
    plan = LookPlan.equal(10, 50, "pocock")
    rng = np.random.default_rng(5)
    alarms = []
    for _ in range(300):
        seen = answers(rng.standard_normal(50), plan)
        alarms.append(any(answer.p < 0.05 for answer in seen))
        inside = all(answer.interval[0] <= 0 <= answer.interval[1] for answer in seen)
        assert inside != alarms[-1]
    assert np.mean(alarms) <= 0.07


def test_estimates_after_a_stop_cover() -> None:
    """Means of a few ratings, five looks: in 300 studies the interval covers in .93 or more."""
    plan = LookPlan.equal(5, 50, "pocock")
    rng = np.random.default_rng(6)
    covered = []
    above = []
    for _ in range(300):
        seen = answers(0.4 + rng.standard_normal(50), plan)
        stop = next(
            (k for k, answer in enumerate(seen) if answer.p < 0.05), len(seen) - 1
        )
        n = plan.at[stop]
        look = planned_look(seen[stop], plan, plan.looks(n), n, math.nan)
        assert look.unbiased is not None
        low, high = look.unbiased.interval
        covered.append(low <= 0.4 <= high)
        above.append(look.unbiased.value > 0.4)
    assert np.mean(covered) >= 0.93
    assert np.mean(above) == pytest.approx(0.5, abs=0.06)


def test_a_p_value_of_one_look_is_the_plain_one() -> None:
    """A plan of which this is the only look changes nothing but rounding."""
    plain = Answer(value=0.5, error=0.2, freedom=30.0)
    one = at_planned_look(plain, Looks.at((50,), 50, "pocock"))
    assert one.p == pytest.approx(plain.p, rel=2e-3)
    assert one.interval == pytest.approx(plain.interval, rel=1e-8)
    assert one.turned().above == pytest.approx(1 - one.above)
    assert one.beyond(0.5).p == pytest.approx(1.0)


def test_a_plan_with_looks() -> None:
    """Five looks take 2.5 % more at the end, and three quarters of one look's on average."""
    ran = run_well("next", "--plan", "--looks", 5)
    assert "Planned looks" in ran.out
    result = json_of("next", "--plan", "--looks", 5)
    fixed = result["goals"][-1]["ratings"]
    steps = result["looks"]
    assert steps[-1]["ratings"] == pytest.approx(1.025 * fixed, rel=0.01)
    assert steps[-1]["ended"] == pytest.approx(0.8, abs=0.005)
    assert [step["spent"] for step in steps][-1] == 1
    before = [0, *(step["ratings"] for step in steps)]
    ended = [0, *(step["ended"] for step in steps)]
    expected = sum((before[k + 1] - before[k]) * (1 - ended[k]) for k in range(5))
    assert 0.75 < expected / fixed < 0.9
    assert f"on average after {expected:,.0f} of" in ran.line
    assert f"--looks 5 --of {steps[-1]['ratings'] // 2}" in ran.out
    assert f"{expected:,.0f} ratings on average reach a difference" in ran.line
    assert f"next FILE --goal compare -n {fixed // 2} -o" in ran.line
    assert run("next", "--plan").out.find("Planned looks") == -1
    refused = run("next", "--plan", "--looks", 5, "-n", 100)
    assert "leave out --looks" in refused.err
    assert "2 or more" in run("next", "--plan", "--looks", 1).err
    assert (
        "--looks goes with --plan"
        in run("next", "x.csv", "--looks", 5, "--goal", "mean").err
    )
