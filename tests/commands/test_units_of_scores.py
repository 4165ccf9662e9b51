"""Whether a judge's scores are in the units of the ratings."""

from pathlib import Path

import numpy as np
import pytest

from command_line import json_of, jsonl, run
from refless.evaluation.scales import are_ratings
from refless.registry.arrays import FloatArray
from refless.stats.intervals import Interval


def column(low: int, high: int, n: int = 60, seed: int = 0) -> FloatArray:
    """Whole numbers from end to end."""
    inside = np.random.default_rng(seed).integers(low, high + 1, n - 2)
    return np.array([low, high, *inside], dtype=np.float64)


@pytest.mark.parametrize(
    ("human", "judge", "scale"),
    [
        ((0, 100), (1, 10), None),
        ((0, 100), (1, 10), (0, 100)),
        ((10, 95), (2, 9), (0, 100)),  # neither fills its scale
        ((1, 10), (1, 5), None),
        ((1, 10), (1, 5), (1, 10)),
        ((1, 7), (1, 5), None),
        ((1, 5), (1, 7), None),
        ((1, 5), (1, 10), None),
        ((1, 5), (0, 1), (1, 5)),
        ((1, 5), (0, 100), None),
        ((-3, 3), (0, 1), None),
    ],
)
def test_two_scales(
    human: tuple[int, int], judge: tuple[int, int], scale: Interval | None
) -> None:
    """Whichever of them is the longer one, and whether or not the flag says that of the ratings."""
    assert not are_ratings(column(*human), column(*judge, seed=1), scale)


@pytest.mark.parametrize(
    ("human", "judge", "scale"),
    [
        ((1, 5), (1, 5), None),
        ((1, 5), (4, 5), None),  # a kind judge
        ((1, 5), (1, 4), None),  # a strict one
        ((1, 4), (1, 5), None),  # strict people
        ((1, 5), (3, 3), None),
        ((0, 100), (70, 90), None),
        ((0, 100), (20, 60), (0, 100)),
        ((1, 7), (1, 5), (1, 7)),  # the flag says that both are on one scale
        ((-1, 1), (-1, 1), None),
        ((0, 1), (0, 1), None),
    ],
)
def test_one_scale(
    human: tuple[int, int], judge: tuple[int, int], scale: Interval | None
) -> None:
    """A judge that leaves out an end of the scale stays in its units."""
    assert are_ratings(column(*human), column(*judge, seed=1), scale)


def test_thumbs_in_two_codes(tmp_path: Path) -> None:
    """-1 and 1 beside 0 and 1: ranks alone, and with --pass both are verdicts.

    Of 20 rows 12 pass with both, 2 with people alone, 3 with the judge alone.
    """
    pairs = [(1, 1)] * 11 + [(1, 0)] * 2 + [(-1, 1)] * 3 + [(-1, 0)] * 3 + [(1, 1)]
    rows = [{"id": f"t{i}", "rating": a, "judge": b} for i, (a, b) in enumerate(pairs)]
    path = jsonl(tmp_path / "thumbs.jsonl", rows)
    flags = ("--score-column", "judge", "--resamples", "60")
    ran = run("judge", path, *flags, "--format", "json")
    measures = ran.json["judges"][0]["measures"]
    assert measures["bias"]["value"] is None
    assert measures["spearman"]["value"] is not None
    assert (
        "scores go from 0 to 1 and ratings go from -1 to 1: the units differ" in ran.err
    )
    page = run("judge", path, *flags).line
    assert "the judge's scores are not in the units of the ratings" in page
    passes = json_of("judge", path, *flags, "--pass", 1)["judges"][0]
    assert passes["measures"]["judge_rate"]["value"] == pytest.approx(15 / 20)
    assert passes["measures"]["base_rate"]["value"] == pytest.approx(14 / 20)


def test_verdicts_leave_scores_in_their_units(tmp_path: Path) -> None:
    """Of 40 scores from 1 to 5, 20 of them without a rating, 16 are 5; people rate 1 lower."""
    scores = [5, 5, 4, 3, 2] * 8
    rows: list[dict[str, object]] = [
        {"id": f"t{i}", "judge": score} for i, score in enumerate(scores)
    ]
    for row, score in zip(rows[:20], scores, strict=False):
        row["rating"] = score - 1
    path = jsonl(tmp_path / "half.jsonl", rows)
    flags = ("--score-column", "judge", "--scale", 1, 5, "--pass", 4)
    judged = json_of("judge", path, *flags)["judges"][0]
    assert (judged["usual"], judged["usual_share"]) == (5, 16 / 40)
    assert judged["measures"]["bias"]["value"] == pytest.approx(1)
