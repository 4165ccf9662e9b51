"""The texts that a judge may decide alone."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refless
from command_line import Ran, headlines, jsonl, run, too_wide
from refless.commands.judge.licence import Licence, Promise, licensed
from refless.evaluation.labels import AllRows, Labels
from refless.evaluation.raters import Raters, Votes
from refless.registry.arrays import FloatArray, IntArray


def labels_of(
    human: FloatArray,
    judge: FloatArray,
    unit: IntArray | None = None,
    raters: Raters | None = None,
    **more: bool,
) -> Labels:
    """A judge beside people."""
    n = len(human)
    rows = np.arange(n)
    unit = rows if unit is None else unit
    votes = Votes(text=rows, rating=human)
    every = AllRows(human=human, judge=judge, unit=unit, votes=votes)
    return Labels(
        name="judge",
        human=human,
        judge=judge,
        unit=unit,
        votes=votes,
        every=every,
        raters=raters,
        **more,
    )


def drawn(n: int, seed: int, noise: float = 0.1) -> tuple[FloatArray, FloatArray]:
    """Verdicts of people, and probabilities that are right on average but for noise."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.2, 0.2, n)
    human = (rng.random(n) < chance).astype(float)
    return human, np.clip(chance + noise * rng.normal(size=n), 0, 1)


def twin(licence: Licence, judge: FloatArray) -> float:
    """The largest share that certified thresholds decide: each pair of them is tried."""
    uppers = [step.threshold for step in licence.passes.steps if step.certified]
    lowers = [step.threshold for step in licence.fails.steps if step.certified]
    shares = [0.0]
    for upper, lower in product([math.inf, *uppers], [-math.inf, *lowers]):
        passed = {row for row, score in enumerate(judge) if score >= upper}
        failed = {row for row, score in enumerate(judge) if score <= lower}
        if not passed & failed:
            shares.append(len(passed | failed) / len(judge))
    return max(shares)


@given(st.integers(0, 1000), st.integers(40, 300), st.sampled_from([0.1, 0.2, 0.4]))
def test_the_most_is_decided(seed: int, n: int, most: float) -> None:
    """The slow twin decides as much; the order of rows does not matter."""
    human, judge = drawn(n, seed)
    judge = judge.round(1)
    promise = Promise(
        at_most_wrong=most,
        sure=0.8,
    )
    licence = licensed(labels_of(human, judge), 0.5, promise)
    assert 1 - licence.people == pytest.approx(twin(licence, judge))
    order = np.random.default_rng(seed).permutation(n)
    again = licensed(labels_of(human[order], judge[order]), 0.5, promise)
    assert again == licence
    assert bool(licence.undefined) == (licence.people == 1)


def test_the_promise_holds_on_both_sides_and_for_several_judges() -> None:
    """In 150 draws a judge decides with more errors than promised in a tenth at most.

    The chance of a pass is the score itself, which is uniform: of scores from t on (1 - t) / 2 are
    wrong, so that t must be .8 or more if 10 % may be, and .2 or less on the other side.
    """
    broken = 0
    licensed_any = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        judges = []
        for _ in range(2):
            judge = rng.random(600)
            human = (rng.random(600) < judge).astype(float)
            promise = Promise(at_most_wrong=0.1, sure=0.9, judges=2)
            judges.append(licensed(labels_of(human, judge), 0.5, promise))
        licensed_any += any(licence.people < 1 for licence in judges)
        broken += any(
            licence.passes.threshold < 0.8 or licence.fails.threshold > 0.2
            for licence in judges
        )
    assert licensed_any > 100
    assert broken / 150 <= 0.1


def size_of(licence: Licence) -> float:
    """Independent texts behind all thresholds."""
    return sum(step.effective_n for step in licence.passes.steps)


def test_units_and_raters_count() -> None:
    """Texts of one source, and raters who differ in strictness, make fewer texts certain."""
    human, judge = drawn(600, 0, noise=0.02)
    promise = Promise(
        at_most_wrong=0.1,
        sure=0.9,
    )
    alone = licensed(labels_of(human, judge), 0.5, promise)
    sources = np.argsort(np.argsort(human + judge)) // 20
    together = licensed(labels_of(human, judge, sources), 0.5, promise)
    rater = np.arange(600) % 6
    text = np.arange(600)
    strict = np.where(rater == 0, 1 - human, human)  # one of six sees it the other way
    raters = Raters(text=text, rater=rater, rating=strict)
    by_raters = licensed(labels_of(strict, judge, raters=raters), 0.5, promise)
    without = licensed(labels_of(strict, judge), 0.5, promise)
    for first, second in ((alone, together), (without, by_raters)):
        assert size_of(second) < size_of(first)
        assert second.people >= first.people


@pytest.mark.parametrize(
    ("more", "why"), [({"selected": True}, "at random"), ({"shifted": True}, "beyond")]
)
def test_rows_that_do_not_stand_for_others_license_nothing(
    more: dict[str, bool], why: str
) -> None:
    """No number of such labels would do."""
    promise = Promise(
        at_most_wrong=0.2,
        sure=0.8,
    )
    licence = licensed(labels_of(*drawn(400, 0), **more), 0.5, promise)
    assert (licence.people, licence.needed, licence.curve) == (1.0, None, ())
    assert why in licence.undefined


def rows(n: int = 420, rated: int = 300) -> list[dict[str, object]]:
    """Headlines with people's verdicts, a probability, a score from 1 to 5, and noise."""
    human, judge = drawn(n, 3)
    noise = np.random.default_rng(1).random(n)
    every = np.random.default_rng(2).permutation(n)
    return [
        {
            "id": f"t{i}",
            "text": headlines(n)[i],
            "rating": int(human[i]) if every[i] < rated else None,
            "p": None if i % 40 == 0 else round(float(judge[i]), 3),
            "judge_stars": round(1 + 4 * float(judge[i])),
            "noise": round(float(noise[i]), 3),
        }
        for i in range(n)
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "rated.jsonl", rows())


def judged(path: Path, *words: object) -> Ran:
    """The command, without much resampling."""
    return run("judge", path, "--resamples", "40", *words)


def test_judge_says_what_it_may_decide(path: Path) -> None:
    """Text and JSON agree with the rows; scores that are missing are left to people."""
    words = (
        "--score-column",
        "p",
        "--at-most-wrong",
        "0.1",
    )
    ran = judged(path, *words)
    assert ran.code == 0, ran.err
    assert too_wide(ran.out) == []
    said = " ".join(ran.out.split())
    assert "p may pass texts from 0." in said
    assert "at most 10 % are wrong, with 90 % confidence" in said
    assert "Without a person" in said
    found = judged(path, *words, "--format", "json").json
    (judge,) = found["judges"]
    licence = judge["licence"]
    top = licence["passes"]["chosen"]["threshold"]
    bottom = licence["fails"]["chosen"]["threshold"]
    scores = [row["p"] for row in rows() if row["p"] is not None]
    decided = sum(score >= top or score <= bottom for score in scores)
    assert licence["people"] == pytest.approx(1 - decided / 420)
    assert [point["at_most_wrong"] for point in licence["curve"]] == [
        0.01,
        0.02,
        0.05,
        0.1,
        0.2,
    ]
    assert "wrong:0.1|sure:0.9" in found["signature"]


def test_several_judges_share_one_promise(path: Path) -> None:
    """A table of them; one that knows nothing may decide nothing, and more ratings may not help."""
    names = (
        "--score-column",
        "judge_stars",
        "--score-column",
        "noise",
    )
    ran = judged(path, *names, "--at-most-wrong", "0.2")
    said = " ".join(ran.out.split())
    assert "90 % confidence for 2 judges together" in said
    found = judged(path, *names, "--at-most-wrong", "0.2", "--format", "json").json
    stars, noise = sorted(found["judges"], key=lambda judge: judge["name"])
    assert (noise["licence"]["people"], stars["licence"]["people"] < 1) == (1.0, True)
    assert noise["licence"]["promise"]["judges"] == 2
    alone = judged(path, *names[2:], "--at-most-wrong", "0.05")
    assert "noise may decide nothing alone" in " ".join(alone.out.split())
    assert "More ratings may not help." in " ".join(alone.out.split())


def test_few_ratings_say_how_many_would_do() -> None:
    """Fifty texts without an error on each side are too few for 5 %; some hundred should do."""
    table = [
        {
            "text": f"text {i}",
            "rating": i % 2,
            "judge": i % 2 + i / 100,
        }
        for i in range(100)
    ]
    result = refless.judge(table, score_column="judge", at_most_wrong=0.05)
    licence = result.audits[0].licence  # type: ignore[union-attr]
    assert licence is not None
    assert licence.people == 1
    assert 100 <= (licence.needed or 0) <= 500
    assert f"About {licence.needed} rated texts should." in str(result)


def test_a_licence_that_any_rule_would_have_is_named() -> None:
    """People pass 99 of 100 texts, so all may pass unread."""
    table = [
        {
            "text": f"text {i}",
            "rating": int(i % 100 > 0),
            "judge": i % 7,
        }
        for i in range(400)
    ]
    result = refless.judge(table, score_column="judge", passing=3, at_most_wrong=0.1)
    assert "deciding all texts one way, unread" in " ".join(str(result).split())


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ("--at-most-wrong", "1"),
            "--at-most-wrong must be above 0 and below 1, got 1",
        ),
        (
            ("--at-most-wrong", "0.1", "--lower-is-better", "p"),
            "--at-most-wrong needs columns of which higher values are better",
        ),
        (
            ("--at-most-wrong", "0.1", "--column", "mix=noise"),
            "--at-most-wrong cannot be answered if rows count unlike",
        ),
        (
            (
                "--at-most-wrong",
                "0.1",
                "--read",
                "rating-map=0=1,1=4,2=5",
                "--scale",
                "1",
                "5",
            ),
            "--at-most-wrong needs --pass X",
        ),
    ],
)
def test_questions_that_cannot_be_answered(
    path: Path, words: tuple[str, ...], problem: str
) -> None:
    """Each with the flag that answers it."""
    ran = judged(path, "--score-column", "p", *words)
    assert (ran.code, problem in " ".join(ran.err.split())) == (2, True), ran.err


def test_without_a_judge_nothing_is_licensed(path: Path) -> None:
    """Metrics that are computed here decide nothing."""
    ran = judged(path, "-m", "bleu", "--at-most-wrong", "0.1")
    assert "--at-most-wrong goes with --score-column" in ran.err
