"""A part of many rated texts is drawn without regard to order, labels or ratings."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from command_line import jsonl, run, run_well
from refless.data.human import pool_of
from refless.data.records import RatedPool
from refless.evaluation.groups import drawn_rows

WORDS = ("ferry", "choir", "museum", "bridge", "school", "tower")


def pool(n: int, different: int, seed: int = 0) -> RatedPool:
    """Rated texts of which so many are different."""
    ratings = np.random.default_rng(seed).integers(1, 6, n).astype(float)
    texts = [f"{WORDS[i % different % 6]} {i % different}" for i in range(n)]
    return pool_of(texts, ratings, scale=(1, 5))


def test_all_where_there_are_no_more() -> None:
    """Nothing is drawn."""
    assert drawn_rows(pool(30, 30), pool(30, 30).ids, 30, 0).tolist() == list(range(30))


@pytest.mark.parametrize("different", [400, 150])
def test_order_and_ratings_decide_nothing(different: int) -> None:
    """The same contents are drawn from shuffled rows with other ratings, copies together."""
    given = pool(400, different)
    rows = drawn_rows(given, given.ids, 100, 3)
    mixed = np.random.default_rng(1).permutation(400)
    other = pool(400, different, seed=9).take(mixed)
    again = drawn_rows(other, given.ids, 100, 3)
    drawn = Counter(given.texts[i] for i in rows)
    assert drawn == Counter(other.texts[i] for i in again)
    whole = Counter(given.texts)
    assert all(whole[text] == count for text, count in drawn.items())
    assert 90 < len(rows) <= 100


def test_seeds_draw_differently() -> None:
    """About a quarter of a quarter is common to two seeds; 0 is a seed."""
    given = pool(4_000, 4_000)
    first, second = (
        set(drawn_rows(given, given.ids, 1_000, seed).tolist()) for seed in (0, 1)
    )
    assert 190 < len(first & second) < 310  # 250 expected, standard deviation 12


def test_groups_stay_whole() -> None:
    """By source: all texts of a source or none; its name does not matter."""
    given = pool(4_000, 4_000)
    labels = [
        str(i // 4 if i < 2_000 else 500 + (i - 2_000) // 2) for i in range(4_000)
    ]
    rows = drawn_rows(given, labels, 1_000, 0)
    sizes = Counter(labels)
    drawn = Counter(labels[i] for i in rows)
    assert all(sizes[label] == count for label, count in drawn.items())
    assert 990 < len(rows) <= 1_000
    renamed = drawn_rows(given, [f"x{label}" for label in labels], 1_000, 0)
    assert renamed.tolist() == rows.tolist()


def test_few_large_groups_and_many_copies() -> None:
    """Single texts are drawn from all of a few systems, and of many copies."""
    given = pool(1_000, 1_000)
    rows = drawn_rows(given, [f"m{i % 5}" for i in range(1_000)], 100, 0)
    assert len(rows) == 100
    assert len({i % 5 for i in rows}) == 5
    few = pool(1_000, 4)
    assert len(drawn_rows(few, few.ids, 100, 0)) == 100


def test_validate_draws_aloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note, and the signature, which says from how many and with which seed."""
    rows = [
        {"text": f"{WORDS[i % 6]} {i} opens", "rating": 1 + i % 5} for i in range(60)
    ]
    rated = jsonl(tmp_path / "rated.jsonl", rows)
    neighbors = ("--estimator", "bleu-neighbors", "--format", "json")
    monkeypatch.setattr("refless.commands.validate.run.AT_MOST", 40)
    part = run_well("validate", rated, *neighbors, "--seed", "2")
    assert "validated on 40 rated texts drawn from 60" in part.err
    assert part.json["estimator"]["n"] == 40
    assert "drawnfrom:60|drawseed:2" in part.json["signature"]
    shuffled = jsonl(tmp_path / "shuffled.jsonl", rows[::-1])
    again = run("validate", shuffled, *neighbors, "--seed", "2")
    assert again.json["signature"] == part.json["signature"]
    monkeypatch.undo()
    full = run("validate", rated, *neighbors)
    assert "drawn from" not in full.err + full.json["signature"]
