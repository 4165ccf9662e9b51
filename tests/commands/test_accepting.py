"""Estimates that are high enough to need no person."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from command_line import headlines, json_of, jsonl, run
from refless.commands.score.accepting import SURE, accepting


def drawn(n: int, rng: np.random.Generator, size: int = 1) -> tuple[np.ndarray, ...]:
    """Estimates, ratings (1 or 0) and clusters; the chance of a 1 rises with the estimate."""
    clusters = np.arange(n) // size
    estimates = rng.random(n)
    shared = rng.random(clusters.max() + 1)[clusters]
    chance = np.where(
        rng.random(n) < 0.3, shared, rng.random(n)
    )  # some rows take their cluster's
    return estimates, (chance < 0.8 + 0.2 * estimates).astype(float), clusters


def test_no_bad_text_by_hand() -> None:
    """Of n texts without a bad one, at most 5 % are bad if .95^n is at most .1: n >= 45.

    Of 44 texts without a bad one up to 5.6 % may be bad at odds of 12 to 1 (.08^(1/44) = .944),
    which is more than 5 %, so no number is told.
    """
    for n, given_ in ((44, False), (45, True)):
        found = accepting(
            np.arange(n, dtype=float), np.ones(n), np.arange(n), 1.0, 0.05
        )
        assert (found.chosen is not None) == given_
        if given_:
            assert found.chosen.threshold == 0.0
            assert found.chosen.highest == pytest.approx(1 - 0.1 ** (1 / n))
            assert found.takes(np.array([-1.0, 0.0, math.nan])).tolist() == [
                False,
                True,
                False,
            ]
        else:
            assert found.needed is None


@pytest.mark.parametrize("size", [1, 5])
def test_the_promise_holds(size: int) -> None:
    """In 200 draws the true share of bad texts above the threshold is over 5 % in a tenth at most.

    The share of bad texts above t is 0.1 (1 - t): the threshold must be 0.5 or more.
    """
    broken = 0
    told = 0
    for seed in range(200):
        found = accepting(*drawn(700 * size, default_rng(seed), size), 0.5, 0.05)
        if found.chosen is not None:
            told += 1
            broken += found.chosen.threshold < 0.5
    assert told > 60
    assert broken / 200 <= 1 - SURE


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_the_order_of_rows_does_not_matter(seed: int, n: int) -> None:
    """And more bad texts are never allowed for a lower threshold than fewer are."""
    rng = default_rng(seed)
    estimates, human, clusters = drawn(n, rng, 2)
    order = rng.permutation(n)
    first = accepting(estimates, human, clusters, 0.5, 0.3)
    again = accepting(estimates[order], human[order], clusters[order], 0.5, 0.3)
    assert first == again
    strict = accepting(estimates, human, clusters, 0.5, 0.1)
    assert strict.takes(estimates).sum() <= first.takes(estimates).sum()


def test_none_can_be_promised() -> None:
    """Half of the texts are bad whatever the estimate: no number of ratings would do."""
    found = accepting(np.arange(200.0), np.arange(200) % 2, np.arange(200), 0.5, 0.05)
    assert (found.chosen, found.needed) == (None, None)
    nothing = np.zeros(0)
    assert accepting(nothing, nothing, nothing.astype(int), 0.5, 0.05).steps == ()


def test_estimates_that_know_nothing_seldom_promise_a_number() -> None:
    """13.6 % of texts are bad and 10 % may be: a number in at most 5 % of 200 draws, was 35 %.

    Estimates that know something (correlation .8) are told one, and so many do in most draws.
    """
    rng = default_rng(0)

    def drawn_texts(n: int, r: float) -> tuple[np.ndarray, ...]:
        quality = rng.normal(size=n)
        estimates = r * quality + math.sqrt(1 - r * r) * rng.normal(size=n)
        return estimates, np.clip(np.round(3.6 + quality), 1, 5), np.arange(n)

    told = [accepting(*drawn_texts(330, 0.0), 3, 0.1).needed for _ in range(200)]
    assert sum(number is not None for number in told) <= 10
    kept = []
    for _ in range(200):
        needed = accepting(*drawn_texts(60, 0.8), 3, 0.1).needed
        if needed is not None:
            kept.append(accepting(*drawn_texts(needed, 0.8), 3, 0.1).chosen is not None)
    assert len(kept) > 10
    assert np.mean(kept) > 0.7


def test_score_says_which_outputs_need_no_person(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Text, JSON and CSV; values outside the scale, and what it does not go with, are refused."""
    rng = default_rng(0)
    good = rng.integers(0, 2, 160)
    rows = [
        {
            "text": f"{text} {'fine and clear' if g else 'bad bad bad bad'}",
            "rating": 2 + 2 * int(g),
        }
        for text, g in zip(headlines(160), good, strict=True)
    ]
    rated = jsonl(tmp_path / "rated.jsonl", rows[:120])
    new = jsonl(tmp_path / "new.jsonl", [{"text": row["text"]} for row in rows[120:]])
    words = ("score", new, "--rated", rated, "--scale", "1", "5", "--accept-above", "3")
    plain = run(*words, "--at-most-wrong", "0.1")
    assert "Without a person" in plain.out
    assert "at most 10 % lie below 3, with 90 % confidence" in plain.line
    found = json_of(*words, "--at-most-wrong", "0.1")
    least = found["accepted"]["chosen"]["threshold"]
    taken = [item["estimate"] >= least for item in found["items"]]
    assert np.mean(np.array(taken) == good[120:].astype(bool)) > 0.9
    assert "accept:3|wrong:0.1" in found["signature"]
    many = run(*words, "--at-most-wrong", "0.001")
    assert "No output can do without a person" in many.line
    for more, problem in (
        (
            ("--at-most-wrong", "0"),
            "--at-most-wrong must be above 0 and below 1, got 0",
        ),
    ):
        assert problem in run(*words, *more).err
    high = run(*words[:-1], "9")
    assert "--accept-above is in the raters' units, from 1 to 5; got 9" in high.notes
