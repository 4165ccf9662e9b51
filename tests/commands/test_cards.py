"""Cards of every question: short answers, one picture each, and in a notebook before all else."""

import re
from dataclasses import replace
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refless
from command_line import headlines, one_line
from refless.commands.next.active_learning import Choice, Step
from refless.commands.next.card import card_of as what_to_rate
from refless.evaluation.further import DECIDED, UNKNOWN, if_steady, if_steady_said
from refless.evaluation.rating_distances import shares_apart, shares_by_chance
from rows import only

SCALE = (1, 5)


def outputs() -> list[dict[str, Any]]:
    """Sixty outputs of two systems to thirty items, half of them rated, scored three times."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(60):
        level = 1 + (7 * i) % 5
        row = {
            "item": f"i{i // 2}",
            "system": "new" if i % 2 else "old",
            "text": f"Output {i} says {'good ' * level} things.",
            "rating": level if i < 30 else None,
        }
        runs = np.clip(
            level + rng.integers(-1, 2, 3),
            *SCALE,
        )
        rows.append(row | {f"run{k}": int(run) for k, run in enumerate(runs)})
    return rows


def choices() -> list[dict[str, Any]]:
    """The new system wins three of four, on forty sources."""
    return [
        {
            "prompt": f"q{i}",
            "response_a": f"first answer {i}",
            "response_b": f"second {i}",
            "system_a": "new",
            "system_b": "old",
            "winner": "b" if i % 4 == 0 else "a",
        }
        for i in range(40)
    ]


def by_three_raters() -> list[dict[str, Any]]:
    rows = []
    for row in rated():
        for add, name in enumerate("abc"):
            rating = min(row["rating"] + add, 5)
            rows.append({**row, "annotator": name, "rating": rating})
    return rows


def rated(n: int = 30) -> list[dict[str, Any]]:
    """The first n outputs, with people's ratings alone."""
    return only(
        outputs()[:n],
        "item",
        "system",
        "text",
        "rating",
    )


RUNS = ("run0", "run1", "run2")
RESULTS = {
    "choices": lambda: refless.compare_choices(choices()),
    "several choices": lambda: refless.compare_choices(
        [*choices(), {**choices()[0], "prompt": "more", "system_b": "third"}]
    ),
    "scores": lambda: refless.compare_scores(
        only(
            outputs(),
            "item",
            "system",
            "text",
            "run0",
        ),
        score_column="run0",
    ),
    "raters": lambda: refless.judge_raters(by_three_raters(), scale=SCALE),
    "runs": lambda: refless.judge(
        [row for row in outputs() if row["rating"]],
        scale=SCALE,
        runs=True,
        score_column=RUNS,
    ),
    "judged choices": lambda: refless.validate_choices(choices()),
    "next": lambda: refless.next(
        rated(60),
        goal="compare",
        scale=SCALE,
    ),
    "race": lambda: refless.next(
        rated(60),
        goal="best",
        scale=SCALE,
        looks=5,
    ),
    "plan": lambda: refless.plan(scale=SCALE),
    "explained": lambda: refless.explain("Output good.", rated=rated(), scale=SCALE),
}


@pytest.mark.usefixtures("few_studies")
@pytest.mark.parametrize("name", RESULTS)
def test_answer_and_picture(name: str) -> None:
    """At most twenty words and one picture with its caption; in a notebook they come first."""
    result = RESULTS[name]()
    for card in result.report().cards:
        assert len(card.answer.split()) <= 20, card.answer
        assert len(card.figures) == 1
        assert "<svg" in str(card.figures[0].svg)
        assert card.figures[0].caption.endswith(".")
        assert card.unfit.endswith(".")
        assert f"Not for: {card.unfit}" in one_line(result.as_text(width=999))
    fragment = result._repr_html_()
    card, folds = fragment.split("</article>", 1)
    assert "<table" not in re.sub(r"<details>.*?</details>", "", card, flags=re.DOTALL)
    assert folds.count("<summary>") >= 2
    assert "\n:root" not in fragment


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.3, 0.7), "about 300 more texts would decide it"),
        ((0.6, 0.7), DECIDED),
        ((np.nan, np.nan), UNKNOWN),
    ],
)
def test_ratings_that_would_decide_by_hand(
    interval: tuple[float, float], said: str
) -> None:
    """Of 100 texts with .5 ± .2 and a bar of .6: twice as narrow takes four times as many."""
    assert if_steady(0.5, interval, 0.6, 100, "text").startswith(said)


def test_rated_outputs_beyond_those_that_are_left() -> None:
    """The answer says that the file lacks them."""
    rows = [
        {"text": text, "rating": i * 7 % 5 if i < 40 else None}
        for i, text in enumerate(headlines(42))
    ]
    further = refless.validate(rows).card().further
    assert "more rated outputs, more than the 2 left, would" in further


def test_more_texts_than_are_left() -> None:
    """So many of those that are there cannot be rated."""
    more = if_steady_said(236, 100, "text", 5)
    assert more.startswith("about 136 more texts, more than the 5 left, would")


def test_people_who_choose_alike_by_hand() -> None:
    """Of ten pairs two people choose alike on nine; 20 of each: luck gives 19 of 39."""
    rows = []
    for i in range(10):
        for name in "xy":
            row = choices()[i]
            winner = "ab"[(i + (i == 0 and name == "x")) % 2]
            rows.append({**row, "annotator": name, "winner": winner})
    result = refless.compare_choices(rows)
    assert result.alike == pytest.approx((0.9, 19 / 39))
    assert "Two people choose alike in 90 %; luck gives 49 %." in result.card().rests


@pytest.mark.usefixtures("few_studies")
def test_a_plan_names_the_file() -> None:
    """The line that draws outputs has the file of the plan, and nothing of the plan."""
    card = refless.plan(rated(), scale=SCALE, within=0.5).card()
    assert re.fullmatch(
        r"refless.next\(rows, goal='mean', n=\d+, scale=\(1, 5\)\).save\('to-rate.csv'\)",
        card.command,
    )


def test_shares_of_choices_by_hand() -> None:
    """The new system, which is second by its name, wins 30 of 40, one choice a source."""
    result = refless.compare_choices(choices(), system=("old", "new"))
    assert sorted(result.shares) == [0.0] * 10 + [1.0] * 30
    assert result.card().answer.startswith("new wins 75 % of the choices (")
    turned = refless.compare_choices(choices(), system=("new", "old"))
    assert turned.card().answer == result.card().answer
    tied = [{**row, "winner": "tie"} for row in choices()[30:34]]
    any_look = refless.compare_choices([*choices()[:30], *tied], looks="any")
    answer = any_look.card().answer
    assert answer.startswith("new wins 65 %, ties 12 %, loses 24 %: 71 % with ties")
    assert "The answer holds however often you look" in one_line(any_look)


@given(
    st.lists(
        st.lists(st.integers(1, 5), min_size=2, max_size=4), min_size=1, max_size=6
    )
)
def test_ratings_apart(texts: list[list[int]]) -> None:
    """Shares equal those counted pair by pair; luck is any two ratings, whatever the text."""
    values = [*map(float, chain.from_iterable(texts))]
    text = np.repeat(np.arange(len(texts)), [*map(len, texts)])
    steps = [0.0, 1.0, 2.0, 3.0, 4.0]
    wanted = np.zeros(5)
    for ratings in texts:
        pairs = [abs(a - b) for a, b in combinations(ratings, 2)]
        for apart in pairs:
            wanted[apart] += len(ratings) / len(pairs) / len(values)
    found = shares_apart(np.array(values), text, steps)
    assert found == pytest.approx(wanted.tolist())
    every = [abs(a - b) for a, b in combinations(values, 2)]
    luck = [every.count(step) / len(every) for step in steps]
    assert shares_by_chance(np.array(values), steps) == pytest.approx(luck)


def test_widths_that_are_unknown() -> None:
    """With one rating of the new version nothing tells how far its ratings differ."""
    rows: list[dict[str, Any]] = [
        {
            "item": f"i{i}",
            "system": system,
            "text": f"{system} {i}",
            "rating": 1 + i % 5,
        }
        for i, system in product(range(20), ("v1", "v2"))
    ]
    for row in rows[3::2]:
        del row["rating"]
    card = refless.next(rows, goal="compare", scale=(1, 5)).card()
    assert card.state == "open"
    assert card.answer.endswith(
        "What they bring cannot be told: their errors are unknown."
    )
    assert not card.figures
    first, second = card.command.splitlines()
    assert first.endswith(".save('to-rate.csv')")
    assert second.startswith("refless.compare(")


def test_widths_that_are_not_reached() -> None:
    """Digits tell them from what is wanted; the width falls with the root of all ratings."""
    curve = (Step(0, 0.304, 0.26, 0.36), Step(110, 0.204, 0.18, 0.24))
    found = Choice(
        "mean", np.arange(40), 110, 40, "random", curve, within=0.2, already=90
    )
    card = what_to_rate(found, "", "", ("v1", "v2"), rated=True)
    assert card.label == "Not quite"
    assert card.further == (
        "all 110 bring about ±0.204, just short of ±0.20 (within, by default 5 % of the scale): "
        "about 9 outputs beyond them reach it."
    )
    told = what_to_rate(replace(found, n=110), "", "", ("v1", "v2"), rated=True)
    assert "tell the mean of v1 and v2 together to ±0.204;" in told.answer


def judged(right: float, bar: int = 0) -> list[dict[str, Any]]:
    """Outputs of two versions, the old one better, scored as rated in a share, else by luck.

    Args:
        right: the share; below 0 those scores are the other way round.
        bar: from where on ratings and scores are 1, else 0; 0 for none.
    """
    rng = np.random.default_rng(7)
    rows = []
    for i in range(80):
        rating, luck = rng.integers(1, 6, 2).tolist()
        if rng.random() < 0.7:
            rating = 4 if i % 2 else 2
        said = rating if right > 0 else 6 - rating
        score = said if rng.random() < abs(right) else luck
        row = {
            "item": f"i{i // 2}",
            "system": "old" if i % 2 else "new",
            "text": f"output {i}",
            "rating": rating,
            "judge_score": score,
        }
        if bar:
            row["rating"] = int(rating >= bar)
            row["judge_score"] = int(score >= bar)
        rows.append(row)
    return rows


def test_only_ratings_show_who_leads() -> None:
    """A version that leads by estimates alone is not said to lead already."""
    (pair,) = refless.compare(judged(1.0), scale=SCALE).comparison.pairs
    found = Choice("compare", np.arange(2), 1, 1, "random", pair=pair)
    assert found.decided is pair
    assert replace(found, pair=replace(pair, method="estimates")).decided is None


@pytest.mark.parametrize("bar", [0, 3])
def test_a_judge_that_agrees_by_luck_is_not_to_be_used(bar: int) -> None:
    """Each page says so, and which version the judge favours; points or passes."""
    rows = [{**row, "gpt_score": row["judge_score"]} for row in judged(0.0, bar)]
    names = ("judge_score", "gpt_score")
    scale = (0, 1) if bar else SCALE
    looked = [card for card in refless.look(rows).cards if card.topic in names]
    cards = refless.judge(rows, scale=scale, score_column=names).cards()
    for card in (*looked, *cards):
        assert "no agreement with people is shown, and it favours new by" in card.answer
        assert card.advice.startswith("do not use it: averages")
    assert len(looked) == len(cards) == 2
    assert {card.command for card in cards} == {""}


@pytest.mark.parametrize(("better", "added"), [(0, 30), (2, 0)])
def test_a_version_that_is_favoured_in_other_units(better: int, added: int) -> None:
    """Noise makes a judge too kind to the worse one by one line alone: that is no favour."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(120):
        old = i % 2
        rating = int(rng.integers(1, 4)) + better * old
        score = 20 * rating + 12 * rng.standard_normal() + added * (1 - old)
        system = "old" if old else "new"
        row = {"item": f"i{i}", "system": system, "text": f"output {i}"}
        rows.append({**row, "rating": rating, "judge_score": score})
    result = refless.judge(rows, scale=SCALE, score_column="judge_score")
    (card,) = result.cards()
    favour = re.search(r"favours new by .* points of people's scale", card.answer)
    assert bool(favour) == bool(added)
    (versions, *_) = result.audits[0].uses
    assert versions.answer == "correct"
    assert "there are 2 systems: 'refless compare' with" in versions.estimate.undefined


@pytest.mark.parametrize(
    ("right", "answer", "advice"),
    [
        (0.3, "it does not tell good from bad well enough", "use it for averages"),
        (-0.6, "no agreement with people is shown", "find out whether low scores"),
    ],
)
def test_a_judge_that_agrees_somewhat(right: float, answer: str, advice: str) -> None:
    """The same sentence has the same line everywhere; scores the other way round are a remedy."""
    rows = judged(right)
    (card,) = refless.judge(rows, scale=SCALE, score_column="judge_score").cards()
    looked = next(c for c in refless.look(rows).cards if c.topic == "judge_score")
    assert answer in card.answer
    assert advice in card.advice
    assert looked.answer == card.answer
    assert looked.advice.startswith(card.advice)
    assert card.command.startswith("refless.compare(rows") == (right > 0)
    assert looked.command.startswith("refless.compare(rows") == (right > 0)


def test_a_judge_of_one_score_needs_no_more_ratings() -> None:
    """No rating more would tell what it is worth."""
    rows = [{**row, "judge_score": 3} for row in judged(0.0)]
    (card,) = refless.judge(rows, scale=SCALE, score_column="judge_score").cards()
    assert (card.state, card.advice[:13]) == ("open", "do not use it")


def test_runs_that_agree_with_people_by_luck() -> None:
    """Runs may say the same each time, and nothing of use."""
    rows = [{**row, "again": row["judge_score"]} for row in judged(0.0)]
    names = ("judge_score", "again")
    (card,) = refless.judge(rows, scale=SCALE, runs=True, score_column=names).cards()
    assert (card.state, card.advice[:13]) == ("yes", "do not use it")


def test_the_strictest_and_the_kindest_rater_are_named() -> None:
    """By hand: beside the others a gives 3/2 less for 1, 2, 3; 1 less for 4; as much for 5."""
    card = refless.judge_raters(by_three_raters(), scale=SCALE).card()
    assert "a (-1.10), c (+1.00)" in card.rests
