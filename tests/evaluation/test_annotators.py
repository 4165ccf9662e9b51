"""The human yardstick: by hand, and the published table on HUSE."""

import math
from dataclasses import replace

import numpy as np
import pytest

from published import huse_pool
from records import pool_from
from refless.evaluation.annotators import annotators


def test_two_annotators_by_hand():
    """Human ratings 0.25, 0.5, 1: "a" errs by 1/4, 1/2, 0; "b" rated two texts; errors by hand."""
    rows = [("x", "a", 1), ("x", "b", 2), ("y", "a", 1), ("y", "b", 3), ("z", "a", 3)]
    found = annotators(pool_from(rows, scale=(1, 3)))
    assert (found.n, found.names) == (2, ("a", "b"))
    wanted = [(1 / 16 + 1 / 4 + 0) / 3, (1 / 16 + 1 / 4) / 2]
    assert found.values["mse"].tolist() == pytest.approx(wanted)
    # Ranks of "a" 1.5, 1.5, 3 against 1, 2, 3: sqrt(3)/2. "b" has both in order.
    assert found.values["spearman"].tolist() == pytest.approx([math.sqrt(3) / 2, 1])
    assert found.average["spearman"] == pytest.approx((1 + math.sqrt(3) / 2) / 2)
    assert found.best["mse"] == found.values["mse"][0]
    assert found.best["spearman"] == found.values["spearman"][1]


def test_undefined_correlations_are_left_out():
    """An annotator who always says 2 has no Spearman."""
    rows = [(text, "flat", 2) for text in "xyz"] + [
        ("x", "b", 1),
        ("y", "b", 2),
        ("z", "b", 3),
    ]
    found = annotators(pool_from(rows))
    assert found.average["spearman"] == pytest.approx(1)
    assert np.isnan(found.values["spearman"]).tolist() == [False, True]


def test_repeated_ratings_of_one_annotator_are_averaged():
    """Rating 1 and 3 on one text counts as one rating of 2."""
    rows = [("x", "a", 1), ("x", "a", 3), ("y", "a", 4), ("x", "b", 2), ("y", "b", 4)]
    assert annotators(pool_from(rows)).values["mse"].tolist() == [0, 0]


def test_without_two_annotators_there_is_no_yardstick():
    """Unknown raters, or a single one who rated, cannot be compared with the human rating."""
    assert annotators(pool_from([("x", "a", 1), ("y", "a", 2)])) is None
    pool = pool_from([("x", "a", 1), ("y", "a", 2)])
    unnamed = replace(pool, ratings=replace(pool.ratings, annotators=()))
    assert annotators(unnamed) is None
    silent = replace(pool, ratings=replace(pool.ratings, annotators=("a", "b")))
    assert annotators(silent) is None


def test_huse_gives_the_published_yardstick():
    """Table 1 of BLEU Neighbors, "Human", with exact means (FACTS.md, BLEU Neighbors 3)."""
    found = annotators(huse_pool())
    assert found.average["mse"] == pytest.approx(0.0803, abs=1e-4)
    assert found.average["spearman"] == pytest.approx(0.411, abs=1e-3)
    rho = found.values["spearman"]
    assert (np.isnan(rho).sum(), np.nan_to_num(rho).mean()) == (
        1,
        pytest.approx(0.406, abs=1e-3),
    )
    assert found.best["mse"] == pytest.approx(0.0200, abs=1e-4)
    assert found.best["spearman"] == pytest.approx(0.923, abs=1e-3)


def test_annotators_of_few_texts_are_no_yardstick() -> None:
    """Whoever rated two texts agrees with anybody by chance; without two others all stay."""
    texts = [f"text {i}" for i in range(12)]
    rng = np.random.default_rng(0)
    rows = []
    for i, text in enumerate(texts):
        names = "abc" if i < 2 else "ab"
        rows += [(text, name, float(rng.integers(1, 6))) for name in names]
    found = annotators(pool_from(rows))
    assert found is not None
    assert (found.n, found.n_few, found.names) == (2, 1, ("a", "b"))
    few = annotators(pool_from([row for row in rows if row[1] != "b"]))
    assert few is not None
    assert (few.n, few.n_few) == (2, 0)
