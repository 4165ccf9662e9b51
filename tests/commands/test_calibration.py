"""Probabilities of a judge beside people."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import foldnorm
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

import refless
from command_line import jsonl, run_well, too_wide
from refless.commands.judge.calibration import (
    BINS,
    Calibration,
    better,
    calibration_of,
    held_out_map,
)
from refless.registry.arrays import BoolArray, FloatArray
from rows import read_csv

CLOSE = 1e-10


def drawn(n: int, seed: int, power: float = 1.0) -> tuple[FloatArray, BoolArray]:
    """Probabilities with two decimals; the true chance is this power of them."""
    rng = np.random.default_rng(seed)
    scores = rng.random(n).round(2)
    return scores, rng.random(n) < scores**power


def found_of(scores: FloatArray, good: BoolArray) -> Calibration:
    """The calibration of texts drawn one by one."""
    return calibration_of(scores, good, np.arange(len(scores)))


@given(st.integers(0, 1000), st.integers(100, 400))
def test_curve_and_scores_equal_scikit_learn(seed: int, n: int) -> None:
    """The reliability curve, the Brier score and the log loss; its parts add up to the score."""
    scores, good = drawn(n, seed)
    found = found_of(scores, good)
    shares, said = calibration_curve(good, scores, n_bins=BINS, strategy="quantile")
    assert [part.passed.value for part in found.curve] == pytest.approx(
        shares.tolist(), abs=CLOSE
    )
    assert [part.probability for part in found.curve] == pytest.approx(
        said.tolist(), abs=CLOSE
    )
    assert found.brier.value == pytest.approx(brier_score_loss(good, scores), abs=CLOSE)
    parts = found.reliability - found.resolution + found.uncertainty + found.within
    assert parts == pytest.approx(found.brier.value, abs=CLOSE)
    clipped = np.clip(scores, 0.001, 0.999)
    assert found.losses["as it is"] == pytest.approx(log_loss(good, clipped), abs=CLOSE)
    low = np.array([part.passed.interval[0] for part in found.curve])
    assert (low <= shares).all()


@given(st.integers(0, 1000), st.integers(100, 300))
def test_errors_equal_the_slow_twin(seed: int, n: int) -> None:
    """Murphy's parts and ECE bin by bin, with scipy's folded normal distribution."""
    scores, good = drawn(n, seed)
    found = found_of(scores, good)
    reliability = resolution = ece = chance = 0.0
    start = 0
    ordered = np.argsort(scores, kind="stable")
    for part in found.curve:
        rows = ordered[start : start + part.n]
        start += part.n
        share = good[rows].mean()
        gap = abs(scores[rows].mean() - share)
        weight = part.n / n
        reliability += weight * gap**2
        resolution += weight * (share - good.mean()) ** 2
        ece += weight * gap
        error = math.sqrt(share * (1 - share) / part.n)
        if error > 0:
            chance += weight * (foldnorm(gap / error, scale=error).mean() - gap)
    assert start == n
    assert found.reliability == pytest.approx(reliability, abs=CLOSE)
    assert found.resolution == pytest.approx(resolution, abs=CLOSE)
    assert found.ece == pytest.approx(ece, abs=CLOSE)
    assert found.ece_debiased == pytest.approx(max(0, ece - chance), abs=CLOSE)


def test_a_calibrated_judge_has_less_error_without_chance() -> None:
    """Its ECE is all chance: a third of it or more is taken away, over 100 draws."""
    errors = [found_of(*drawn(200, seed)) for seed in range(100)]
    plain = np.mean([found.ece for found in errors])
    assert np.mean([found.ece_debiased for found in errors]) < 2 * plain / 3
    assert 0.02 < plain < 0.1


@given(st.integers(0, 1000))
def test_isotonic_map_equals_scikit_learn(seed: int) -> None:
    """With a pass made up at the lowest score, and a fail at the highest."""
    scores, good = drawn(80, seed)
    made_up = np.append(scores, [scores.min(), scores.max()])
    twin = IsotonicRegression(out_of_bounds="clip")
    twin.fit(made_up, np.append(good, [True, False]).astype(float))
    new = np.linspace(0, 1, 33)
    assert better("isotonic", scores, good, new) == pytest.approx(
        twin.predict(new), abs=CLOSE
    )


def test_platt_map_equals_the_slow_twin() -> None:
    """The same loss without its derivative; targets are (n + 1) / (n + 2) and 1 / (n + 2)."""
    scores, good = drawn(60, 3, power=2)
    passes = good.sum()
    odds = np.log(
        np.clip(scores, 1e-6, 1 - 1e-6) / (1 - np.clip(scores, 1e-6, 1 - 1e-6))
    )
    targets = np.where(good, (passes + 1) / (passes + 2), 1 / (60 - passes + 2))

    def loss(line: FloatArray) -> float:
        chance = 1 / (1 + np.exp(-line[0] * odds - line[1]))
        return -float(
            (targets * np.log(chance) + (1 - targets) * np.log(1 - chance)).sum()
        )

    line = minimize(loss, [1, 0], method="Nelder-Mead", options={"xatol": 1e-9}).x
    expected = 1 / (1 + np.exp(-line[0] * odds - line[1]))
    assert better("Platt", scores, good, scores) == pytest.approx(expected, abs=1e-5)


def test_rated_rows_are_held_out() -> None:
    """A verdict changes no probability of its own fold."""
    scores, good = drawn(100, 1, power=3)
    unit = np.arange(100) // 2
    plain = held_out_map("isotonic", scores, good, unit)
    changed = good.copy()
    changed[10:12] = ~changed[10:12]
    again = held_out_map("isotonic", scores, changed, unit)
    assert again[10:12].tolist() == plain[10:12].tolist()
    assert again.tolist() != plain.tolist()


def test_few_verdicts_of_one_kind_change_nothing() -> None:
    """Nine passes are too few to learn from: the probabilities stay as they are."""
    scores, _ = drawn(100, 1)
    found = found_of(scores, np.arange(100) < 9)
    assert (found.method, [*found.losses]) == ("as it is", ["as it is"])


def test_judge_shows_and_writes_probabilities(tmp_path: Path) -> None:
    """A section on the terminal; in files a column for rated rows and others."""
    scores, good = drawn(300, 5, power=3)
    rows = [
        {
            "text": f"text {i}",
            "p": scores[i],
            "rating": int(good[i]) if i % 3 else None,
        }
        for i in range(300)
    ]
    path = jsonl(tmp_path / "rated.jsonl", rows)
    out = tmp_path / "out.csv"
    ran = run_well("judge", path, "--score-column", "p", "--resamples", "40", "-o", out)
    assert too_wide(ran.out) == []
    assert "Are its probabilities right?" in ran.out
    assert "scores pass from 0.5 on; --pass X" in ran.notes
    written = read_csv(out.read_text())
    assert len(written) == 300
    mapped = np.array([float(row["p calibrated"]) for row in written])
    said = np.array([float(row["p"]) for row in written])
    truth = said**3
    assert np.abs(mapped - truth).mean() < np.abs(said - truth).mean() / 2


def test_scores_that_are_no_probabilities_have_no_calibration() -> None:
    """Verdicts have none, nor scores from 1 to 5."""
    rows = [
        {
            "text": f"text {i}",
            "rating": i % 2,
            "a": i % 2,
            "b": 1 + i % 5,
        }
        for i in range(60)
    ]
    result = refless.judge(rows, score_column=["a", "b"], passing=1, resamples=40)
    assert [judge["calibration"] for judge in result.to_dict()["judges"]] == [None] * 2
