"""Races for the best of several systems: who is dropped, who is left, and who is rated next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.until_decided import (
    decided,
    false_alarms,
    items_needed,
    one_look_plans,
    over_pools,
    race,
)
from numpy.random import default_rng

import refless
from command_line import ANY_NEIGHBOR, headlines, json_of, jsonl, one_line, run_well
from refless.evaluation.racing import race_plan
from refless.stats.group_sequential import LookPlan
from refusals import bad_usage
from rows import read_csv

Rows = list[dict[str, Any]]
TRUTH = {"best": 1.6, "good": 0.3, "fair": 0.0, "poor": -0.6}
ITEMS = 60
ESTIMATOR = ANY_NEIGHBOR[1]


def entries(seed: int = 3) -> Rows:
    """Four systems' answers to 60 items, all of them with the rating that they will get."""
    rng = default_rng(seed)
    texts = headlines(4 * ITEMS)
    rows = []
    for item in range(ITEMS):
        for place, (system, quality) in enumerate(TRUTH.items()):
            rating = float(np.clip(np.round(3 + quality + rng.normal(0, 0.9)), 1, 5))
            row = {"id": f"{system}{item}", "item": f"i{item:02}", "system": system}
            text = texts[(4 * item + place) % len(texts)]
            rows.append({**row, "text": text, "rating": rating})
    return rows


def known(rows: Rows, ids: set[str]) -> Rows:
    """The rows with ratings of these ids alone."""
    return [
        {**row, "rating": row["rating"] if row["id"] in ids else None} for row in rows
    ]


def raced(rows: Rows, **more: Any) -> Any:
    """The next question of a race."""
    return refless.next(rows, goal="best", scale=(1, 5), estimator=ESTIMATOR, **more)


def test_a_race_to_its_end() -> None:
    """Rated round by round: systems shown to be worse are asked no more, until one is left."""
    rows = entries()
    rated: set[str] = set()
    asked = []
    result = raced(known(rows, rated))
    assert "4 of 4 systems are left" in str(result)
    assert "No look was taken yet." in str(result)
    while len(result.choice.rows):
        new = {row["id"] for row in result.rows()}
        assert not new & rated
        systems = {row["system"] for row in result.rows()}
        assert systems == {*result.choice.race.left}
        assert len(new) == len(systems) * result.choice.n
        asked.append(len(new))
        rated |= new
        result = raced(known(rows, rated))
    assert result.choice.race.left == ("best",)
    assert asked[0] == 4 * 6
    assert sum(asked) < 0.6 * len(rows)
    words = one_line(result)
    assert "best is the best of 4 systems: the others are shown to be worse." in words
    assert "dropped: worse than" in words
    assert "To rate" not in words
    race_json = result.to_dict()["race"]
    assert [racer["behind"] is None for racer in race_json["systems"]] == [
        True,
        False,
        False,
        False,
    ]


def test_all_rated_at_once() -> None:
    """The last look is taken at all items; equal systems stay tied for first."""
    rows = entries()
    twin = [
        {**row, "system": "twin", "id": f"t{row['id']}"}
        for row in rows
        if row["system"] == "best"
    ]
    result = raced([*rows, *twin])
    race_by_now = result.choice.race
    assert {*race_by_now.left} == {"best", "twin"}
    assert race_by_now.number == race_by_now.count == 10
    assert "2 of 5 systems are tied for first" in one_line(result)


def test_the_file_for_raters(tmp_path: Path) -> None:
    """The command line writes it, and says how to go on."""
    file = jsonl(tmp_path / "outputs.jsonl", known(entries(), set()))
    out = tmp_path / "to-rate.csv"
    words = (
        "next",
        file,
        "--goal",
        "best",
        "--looks",
        5,
        *ANY_NEIGHBOR,
        "--scale",
        1,
        5,
    )
    ran = run_well(*words, "-o", out)
    rows = read_csv(out.read_text("utf-8"))
    assert len(rows) == 4 * 12
    assert "--goal best" in ran.out.split("Do now")[1]
    assert json_of(*words, "-n", 3)["n"] == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"looks": 40},
            "60 items that all 4 systems answered are too few for 40 looks",
        ),
        ({"looks": 0}, "must be 1 or more, got 0"),
        ({"within": 0.2}, "goes with goal=mean or compare"),
    ],
)
def test_races_that_cannot_be(more: dict[str, Any], message: str) -> None:
    """Each says what to give instead."""
    with pytest.raises(refless.UsageError) as error:
        raced(known(entries(), set()), **more)
    assert message in str(error.value).replace("'", "")


def test_one_system_is_no_race() -> None:
    """A race takes two."""
    rows = [row for row in known(entries(), set()) if row["system"] == "best"]
    with bad_usage("two systems or more"):
        raced(rows)


def test_the_plan_of_a_race() -> None:
    """Each of five systems' pairs may err by .05 / 4 on the side that drops the best."""
    plan = race_plan(LookPlan.equal(5, 100, "obrien-fleming"), 5)
    assert plan.alpha == pytest.approx(2 * 0.05 / 4)
    assert plan.spending == "pocock"
    assert plan.looks(20).last > LookPlan.equal(5, 100, "pocock").looks(20).last


def scored(systems: dict[str, list[int]], rated: int) -> Rows:
    """Answers of each system to as many items as it has ratings; those of the first are given."""
    texts = iter(headlines(sum(map(len, systems.values()))))
    rows = []
    for system, ratings in systems.items():
        for item, rating in enumerate(ratings):
            row = {
                "id": f"{system}{item}",
                "item": f"i{item:02}",
                "system": system,
                "text": next(texts),
                "rating": rating if item < rated else None,
            }
            rows.append(row)
    return rows


def test_those_that_are_left_race_on_as_fewer() -> None:
    """Of 20 items best is ahead of good by 1 on 6 and behind by 1 on one: t = 2.03, p = .057.

    Of four systems a pair may err by .1 / 3 on both sides, of two by .1.
    """
    good = [3, 4] * 10
    lead = [1, 0, 0] * 6 + [-1, 0]
    best = [rating + more for rating, more in zip(good, lead, strict=True)]
    poor = [1] * 18 + [2, 2]
    systems = {
        "best": best,
        "good": good,
        "poor": poor,
        "worse": poor[::-1],
    }
    race_by_now = raced(scored(systems, 20), looks=1).choice.race
    assert race_by_now.left == ("best",)
    assert {racer.name: racer.behind for racer in race_by_now.systems}["good"] == "best"
    rivals = {"best": best, "good": good, "twin": best, "like": best}
    assert "good" in raced(scored(rivals, 20), looks=1).choice.race.left


def test_a_race_that_may_end() -> None:
    """Half of the items show no difference at all; of these items alone the end tells."""
    systems = {"one": [2, 3, 4, 5] * 10, "two": [3, 2, 5, 4] * 10}
    rows = scored(systems, 20)
    end = "Each pair of those left has a chance of at most"
    assert end in one_line(raced(rows))
    assert end not in one_line(raced(rows, these_items=True))
    assert end not in one_line(raced(scored(systems, 40)))


def test_the_best_is_hardly_ever_dropped() -> None:
    """Five equal systems but for one that is a little better: 60 races of at most 50 items."""
    rng = default_rng(9)
    kept = []
    for _ in range(60):
        ratings = rng.integers(1, 6, (5, 50)).astype(float)
        ratings[0] = np.minimum(ratings[0] + (rng.random(50) < 0.1), 5)
        used, left = race(ratings, (1.0, 5.0), these=False, at_the_end=False)
        kept.append(0 in left)
        assert used <= 250
    assert np.mean(kept) >= 0.93


def test_the_benchmark_of_decisions() -> None:
    """Its lines name each question and way; planned looks rate less than one look at the end."""
    rows = [row for row in entries() if row["system"] in ("best", "fair", "good")]
    lines = list(decided("simulated", rows, 12, default_rng(0)))
    shares = {(line.question, line.way): line.numbers["items"] for line in lines}
    assert len(shares) == 8
    assert shares["items like these", "one look"] == 1
    assert shares["items like these", "ended as told"] <= 0.8
    assert shares["these items", "planned"] < shares["items like these", "planned"]
    summary = {
        (line.question, line.way): line.numbers["items"] for line in over_pools(lines)
    }
    assert summary == pytest.approx(shares)
    (unpaired,) = one_look_plans("simulated", rows, lines, 40, default_rng(0))
    assert unpaired.numbers["shown"] >= 0.5
    line = false_alarms("simulated", rows, 40, default_rng(0))
    assert "false alarms in 40 studies" in line


def test_items_that_a_plan_needs() -> None:
    """Half way from .4 to .6 are 15 of 10 and 20 items; what is never shown needs more than all."""
    assert items_needed([0.4, 0.6, 0.5], (10, 20, 30), 0.5) == 15
    assert np.isnan(items_needed([0.4, 0.6], (10, 20), 0.7))
