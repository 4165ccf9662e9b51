"""The texts that a judge may decide alone."""

import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import refless
from command_line import Ran, headlines, jsonl, one_line, run, too_wide
from refless.commands.judge.licence import Licence, Promise, licensed
from refless.data.tables import Columns, Reading, read_pool
from refless.estimators import estimator_of
from refless.evaluation.labels import AllRows, Labels
from refless.evaluation.raters import Raters, Votes
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.signature import Signature
from rows import read_csv


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
        unlabelled=every.unlabelled,
        every=every,
        raters=raters,
        **more,
    )


def drawn(n: int, seed: int, noise: float = 0.1) -> tuple[FloatArray, FloatArray]:
    """Verdicts of people, and probabilities that are right on average but for noise."""
    rng = default_rng(seed)
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
    order = default_rng(seed).permutation(n)
    again = licensed(labels_of(human[order], judge[order]), 0.5, promise)
    assert again == licence
    assert bool(licence.undefined) == (licence.people == 1)


def test_the_promise_holds_on_both_sides_and_for_several_judges() -> None:
    """In 60 draws a judge decides with more errors than promised in a tenth at most.

    The chance of a pass is the score itself, which is uniform: of scores from t on (1 - t) / 2 are
    wrong, so that t must be .8 or more if 10 % may be, and .2 or less on the other side.
    """
    broken = 0
    licensed_any = 0
    for seed in range(60):
        rng = default_rng(seed)
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
    assert licensed_any > 40
    assert broken / 60 <= 0.1


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
    noise = default_rng(1).random(n)
    every = default_rng(2).permutation(n)
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
    said = ran.line
    assert "may pass outputs from 0." in said
    assert "The promise, with 90 % confidence" in said
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
    said = ran.line
    assert "90 % confidence for 2 judges together" in said
    found = judged(path, *names, "--at-most-wrong", "0.2", "--format", "json").json
    stars, noise = sorted(found["judges"], key=lambda judge: judge["name"])
    assert (noise["licence"]["people"], stars["licence"]["people"] < 1) == (1.0, True)
    assert noise["licence"]["promise"]["judges"] == 2
    alone = judged(path, *names[2:], "--at-most-wrong", "0.05")
    assert "may decide nothing alone" in alone.line
    assert "More ratings: not within reach" in alone.line


def in_file(path: Path, *words: object) -> dict[str, dict[str, str]]:
    """The rows of `-o`, by id."""
    out = path.with_name("out.csv")
    ran = judged(path, "--at-most-wrong", "0.2", *words, "-o", out)
    assert ran.code == 0, ran.err
    return {row["id"]: row for row in read_csv(out.read_text())}


def test_runs_of_one_judge_vote(tmp_path: Path) -> None:
    """The score is the share of the runs with an answer that pass; one judge has the whole promise.

    The first row has stars of 5, 2 and 4 (two of three pass), the second 5, 1 and no answer.
    """
    table = rows()
    stars = [row.pop("judge_stars") for row in table]
    shifts = [default_rng(seed).normal(size=len(table)) for seed in range(3)]
    for k, shift in enumerate(shifts):
        for row, star, more in zip(table, stars, shift, strict=True):
            noisy = round(float(star) + float(more))  # type: ignore[arg-type]
            row[f"run{k}"] = min(max(noisy, 1), 5)
    for row, answers in zip(table, ((5, 2, 4), (5, 1, None)), strict=False):
        row |= {f"run{k}": answer for k, answer in enumerate(answers)}
    path = jsonl(tmp_path / "runs.jsonl", table)
    words = ("--score-column", "run*", "--runs", "--read", "rating-map=0=1,1=5")
    words += ("--pass", "4")
    written = in_file(path, *words)
    assert float(written["t0"]["votes"]) == pytest.approx(2 / 3)
    assert float(written["t1"]["votes"]) == pytest.approx(1 / 2)
    found = judged(path, *words, "--at-most-wrong", "0.2", "--format", "json").json
    (votes,) = found["judges"]
    assert (votes["name"], votes["licence"]["promise"]["judges"]) == ("votes", 1)
    assert found["runs"]["runs"] == 3
    top = votes["licence"]["passes"]["chosen"]["threshold"]
    for row in written.values():
        assert (row["votes decides"] == "pass") == (float(row["votes"]) >= top)


def test_texts_and_scores_together_are_one_more_judge(tmp_path: Path) -> None:
    """Rated texts have estimates without themselves; the judge that decides most is named first.

    The judge knows nothing here, and the texts of good rows share a word.
    """
    table = rows(150, 120)
    human, _ = drawn(150, 3)
    for row, good in zip(table, human, strict=True):
        row["text"] = f"{row['text']} {'excellent' if good else 'awful'}"
    path = jsonl(tmp_path / "rated.jsonl", table)
    estimator = "gp:encoder=none"
    words = ("--score-column", "noise", "--estimator", estimator)
    written = in_file(path, *words)
    pool = read_pool(str(path), Reading(columns=Columns(score=("noise",)))).pool
    alone = estimator_of(estimator).held_out(pool, np.arange(len(pool)))
    for name, value in zip(pool.ids, alone.values, strict=True):
        assert float(written[name]["gp + scores"]) == pytest.approx(value)
    unrated = [row["id"] for row in table if row["rating"] is None]
    assert all(written[str(name)]["gp + scores"] for name in unrated)
    ran = judged(path, *words, "--at-most-wrong", "0.2")
    assert "may pass outputs from" in ran.line
    found = judged(path, *words, "--at-most-wrong", "0.2", "--format", "json").json
    licences = {judge["name"]: judge["licence"] for judge in found["judges"]}
    assert licences["noise"]["people"] == 1 > licences["gp + scores"]["people"]
    assert licences["noise"]["promise"]["judges"] == 2
    assert Signature.parse(found["signature"]).get("estimator") == estimator


def test_three_way_words(tmp_path: Path) -> None:
    """Partial lies between, or is no answer, as the person says; no answer is left to people.

    Of four texts in turn one is unsure and one partial, and people pass half of these; of the
    others 3 % are wrong.
    """
    human, _ = drawn(400, 3)
    wrong = default_rng(0).random(400) < 0.03
    table = []
    for i, (good, flip) in enumerate(zip(human, wrong, strict=True)):
        word = "pass" if good != flip else "fail"
        rating = int(good)
        if i % 2 == 0:
            word = ("unsure", "partial")[i // 2 % 2]
            rating = i // 4 % 2
        row = {"id": f"t{i}", "text": f"text {i}", "rating": rating, "said": word}
        table.append(row)
    path = jsonl(tmp_path / "words.jsonl", table)
    said = {str(row["id"]): row["said"] for row in table}
    for partial in ("0.5", ""):
        score_map = f"score-map=pass=1,partial={partial},fail=0,unsure="
        words = ("--score-column", "said", "--read", score_map)
        decided = {
            (said[name], row["said decides"], row["said"])
            for name, row in in_file(path, *words).items()
        }
        assert decided == {
            ("pass", "pass", "1.0"),
            ("partial", "person", partial),
            ("fail", "fail", "0.0"),
            ("unsure", "person", ""),
        }
        ran = judged(path, *words, "--at-most-wrong", "0.2", "--format", "json")
        (judge,) = ran.json["judges"]
        assert judge["licence"]["people"] == pytest.approx(1 / 2)


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
    more = (licence.needed or 0) - licence.n
    assert f"about {more} more rated texts would" in one_line(result)


def test_no_threshold_is_said_to_fail_that_would_do_alone() -> None:
    """Of the best 30 none is wrong, .9 ** 30 is .04, too much for two sides; of 15 it is .2."""
    promise = Promise(at_most_wrong=0.1, sure=0.9)
    judge = -np.arange(80.0)
    for right, nowhere in ((30, False), (15, True)):
        human = (np.arange(80) < right).astype(float)
        human[right::2] = 1
        licence = licensed(labels_of(human, judge), 0.5, promise)
        assert licence.undefined.endswith("whatever the threshold") == nowhere


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
    assert "deciding all texts one way, unread" in one_line(result)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
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
    assert ran.refuses(problem)


def test_without_a_judge_nothing_is_licensed(path: Path) -> None:
    """Metrics that are computed here decide nothing."""
    ran = judged(path, "-m", "bleu", "--at-most-wrong", "0.1")
    assert "--at-most-wrong goes with --score-column" in ran.err


def test_a_promise_within_reach_is_named() -> None:
    """All are rated, and none may be decided alone: the line asks for the strictest that holds."""
    human, judge = drawn(120, 0, noise=0.3)
    rows = [
        {"id": i, "text": f"t{i}", "rating": 1 + 4 * right, "score": 100 * said}
        for i, (right, said) in enumerate(zip(human, judge, strict=True))
    ]
    asked = {"scale": (1, 5), "score_column": "score", "passing": 3}
    found = refless.judge(rows, at_most_wrong=0.01, **asked)
    (card,) = found.cards()
    assert found.audits[0].licence.undefined
    assert re.match(r"leave all to people, unless (\d+) % may be wrong", card.advice)
    assert "at_most_wrong=0." in card.command
    assert not any("makes no verdicts" in line for line in found.notes)
