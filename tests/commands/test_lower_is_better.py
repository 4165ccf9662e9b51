"""Ratings and scores that count what there should be little of."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from command_line import headlines, jsonl, run
from refless import pool_of
from refless.data.tables import Columns, Reading, read_pool
from refless.data.tables.ratings import means_errors
from refusals import bad_usage
from rows import column


def rows(n: int = 40) -> list[dict[str, object]]:
    """Outputs of two systems, of which the second makes about two errors more."""
    rng = np.random.default_rng(0)
    return [
        {
            "item": i // 2,
            "system": ("good", "bad")[i % 2],
            "text": text,
            "errors": int(rng.integers(0, 3) + 2 * (i % 2)),
            "judge": i,
        }
        for i, text in enumerate(headlines(n))
    ]


@pytest.mark.parametrize(
    ("cells", "scale", "expected"),
    [
        ([0, 3, 1], None, [0, -3, -1]),
        ([0, 3, 1], (0, 5), [5, 2, 4]),
        (["yes", "no", "no"], None, [0, 1, 1]),
        ([1, 0, 1], None, [0, 1, 0]),
    ],
)
def test_ratings_are_turned(
    cells: list[object], scale: tuple[int, int] | None, expected: list[float]
) -> None:
    """On the scale if it is known, else below 0; verdicts become the other ones."""
    table = [{"text": f"t{i}", "hallucination": cell} for i, cell in enumerate(cells)]
    columns = Columns(rating=("hallucination",))
    plain = read_pool(table, Reading(columns=columns, scale=scale))
    hint = "if lower is better, as the name says, lower_is_better='hallucination'"
    assert any(hint in line for line in plain.notes)
    read = read_pool(
        table, Reading(columns=columns, scale=scale, lower=("hallucination",))
    )
    assert read.pool.ratings.values.tolist() == expected
    assert any(
        "ratings 'hallucination': lower is better, so" in line for line in read.notes
    )
    assert not any(hint in line for line in read.notes)


def test_grades_may_be_best_at_1(tmp_path: Path) -> None:
    """Columns called grades say which way they are read, and so does a judge against them."""
    table = [{"id": i, "Note": i % 6 + 1, "judge": 7 - i % 6} for i in range(30)]
    path = jsonl(tmp_path / "r.jsonl", table)
    notes = run("judge", path, "--column", "rating=Note", "--score-column", "judge").err
    assert (
        "if 1 is the best grade, --lower-is-better Note and --scale 1 6 turn" in notes
    )
    assert "or --lower-is-better Note the ratings if their low ones are good" in notes


def test_compare_turns_errors(tmp_path: Path) -> None:
    """The system with fewer errors is the better one, by the difference of the means (numpy)."""
    path = jsonl(tmp_path / "r.jsonl", rows())
    flags = (
        "--column",
        "rating=errors",
        "--format",
        "json",
        "--estimator",
        "bleu-neighbors",
    )
    plain = run("compare", path, *flags)
    assert "if lower is better, as the name says, --lower-is-better errors" in plain.err
    turned = run("compare", path, *flags, "--lower-is-better", "errors")
    errors = np.array([row["errors"] for row in rows()], dtype=float)
    gap = errors[1::2].mean() - errors[::2].mean()
    (pair,) = turned.json["pairs"]
    sign = 1 if pair["second"] == "good" else -1
    assert sign * pair["difference"]["value"] == pytest.approx(gap)
    assert plain.json["pairs"][0]["difference"]["value"] == pytest.approx(-sign * gap)


@pytest.mark.parametrize("name", ["errors", "penalty"])
def test_a_judge_that_counts_errors(tmp_path: Path, name: str) -> None:
    """It is low where people rate high, which is said with the flag that turns it."""
    table = [
        {"id": f"t{i}", "rating": 1 + i % 5, name: 4 - i % 5 + (i * 7 % 3 == 0)}
        for i in range(40)
    ]
    path = jsonl(tmp_path / "r.jsonl", table)
    flags = ("--score-column", name, "--resamples", "60", "--format", "json")
    plain = run("judge", path, *flags)
    assert (
        f"{name} is low where people rate high: --lower-is-better {name} turns it"
        in plain.err
    )
    turned = run("judge", path, *flags, "--lower-is-better", name)
    ratings, counts = (column(table, key) for key in ("rating", name))
    expected = -spearmanr(ratings, counts).statistic
    assert turned.json["judges"][0]["measures"]["spearman"]["value"] == pytest.approx(
        expected
    )
    assert "--lower-is-better" not in turned.err


def test_names() -> None:
    """Whole words, and not those that say that there are none."""
    assert all(
        map(means_errors, ("errors", "MQM score", "scores.hallucination", "rank_human"))
    )
    assert all(map(means_errors, ("rating (1=best, 5=worst)", "Grade, 1 is excellent")))
    assert not any(
        map(means_errors, ("terrors", "error_free", "no hallucination", "frank"))
    )
    assert not any(
        map(means_errors, ("rating (1=worst, 5=best)", "1 is bad, 11 is the best"))
    )


def test_what_is_no_such_column() -> None:
    """A name of neither ratings nor scores; rated texts that are read already."""
    table = [{"text": "a", "rating": 1}]
    with bad_usage("'errors': it is no score_column and no column of rat"):
        read_pool(table, Reading(lower=("errors",)))
    with bad_usage("make it with lower_is_better"):
        read_pool(pool_of(["a"], [1.0]), Reading(lower=("rating",)))
