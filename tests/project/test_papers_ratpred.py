"""RatPred's tables: the data behind them, and a small run of the script."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from typing import Any

import numpy as np
import pytest

from places import DATA, PAPERS
from published import needed
from refless.stats.intervals import student

pytest.importorskip("torch", reason="torch is not installed")

FOLDER = DATA / "nlg-ratings"


@pytest.fixture(scope="module")
def papers() -> Iterator[Any]:
    """The script's modules, importable as when it is started."""
    sys.path.insert(0, str(PAPERS))
    import ratpred
    import ratpred_data
    import ratpred_ridge
    import ratpred_runs
    import ratpred_tables

    yield {
        "script": ratpred,
        "data": ratpred_data,
        "ridge": ratpred_ridge,
        "runs": ratpred_runs,
        "tables": ratpred_tables,
    }
    sys.path.remove(str(PAPERS))


@pytest.fixture(scope="module")
def rated(papers: Any) -> Any:
    needed("nlg-ratings")
    return papers["data"].rated_of(FOLDER)


def test_references_belong_to_their_acts(papers: Any, rated: Any) -> None:
    """Every output has a reference; those of BAGEL, two a text, are found by their acts."""
    assert all(rated.references)
    for mr, references in zip(rated.mr, rated.references, strict=True):
        assert {reference.mr for reference in references} == {mr}
    assert (len(rated.training), len(rated.other)) == (
        3_114 + 3_223,
        2 * (1_039 + 1_075),
    )
    assert papers["data"].spelled("?request(a)", "Which hotel -s") == "which hotels ?"


@pytest.mark.parametrize("plain", [True, False])
def test_folds_are_three_to_one_to_one(papers: Any, rated: Any, plain: bool) -> None:
    """Every row is tested once; equal pairs stay in one part unless the split is plain."""
    splits = papers["data"].folds(rated, plain=plain)
    tested = np.concatenate([split.test for split in splits])
    assert sorted(tested) == list(range(2_460))
    for split in splits:
        parts = (split.train, split.validation, split.test)
        assert sorted(np.concatenate(parts)) == list(range(2_460))
        assert all(
            abs(len(part) - size) < 5
            for part, size in zip(parts, (1_476, 492, 492), strict=True)
        )
        if not plain:
            every = np.array([*zip(rated.mr, rated.text, strict=True)])
            pairs = [{*map(tuple, every[part].tolist())} for part in parts]
            assert not pairs[0] & pairs[1] | pairs[0] & pairs[2] | pairs[1] & pairs[2]


@pytest.mark.parametrize(("kind", "n"), [("domain", 675), ("system", 981)])
def test_crossed_configurations(papers: Any, rated: Any, kind: str, n: int) -> None:
    """C1 to C3 test on the same rows; 200 in-set rows, 100 of them for validation."""
    one, two, three = (
        papers["data"].crossed(rated, kind, c) for c in ("C1", "C2", "C3")
    )
    assert len(one.test) == n
    assert (one.test == two.test).all()
    assert (one.test == three.test).all()
    assert (len(one.train), len(one.validation)) == (100, 100)
    assert len(two.train) + len(two.validation) == 2_460 - n - 200
    assert set(three.train) >= set(one.train)
    assert len(three.train) == 2_460 - n - 100


def test_no_setup_learns_from_test_outputs(papers: Any, rated: Any) -> None:
    """Setups 1-4 see no reference of a test row either, but those of equal acts in training."""
    split = papers["data"].folds(rated, plain=False)[0]
    own = {*chain.from_iterable(rated.references[row] for row in split.train)}
    public = {*rated.training}
    for setup in (2, 3, 4):
        sources = set(papers["data"].synthetic_sources(rated, split, setup))
        assert sources <= own | public
    tested = {*chain.from_iterable(rated.references[row] for row in split.test)}
    assert tested <= set(papers["data"].synthetic_sources(rated, split, 5))


def test_the_ridge_on_made_rows_is_a_weighted_ridge(papers: Any) -> None:
    """Coefficients as the normal equations have them; features are counted as log(1 + count)."""
    ridge = papers["ridge"]
    rng = np.random.default_rng(0)
    rows = [[*map("w{}".format, rng.integers(0, 12, size=6))] for _ in range(40)]
    names: dict[str, int] = {}
    x = ridge._counted(rows, names, grow=True)
    counts = [row.count(name) for row, name in product(rows, names)]
    dense = np.log1p(counts).reshape(len(rows), len(names))
    np.testing.assert_allclose(x.toarray(), dense)
    unseen = ridge._counted([["w1", "new"]], names, grow=False).toarray()
    assert unseen.shape == (1, len(names))
    assert np.count_nonzero(unseen) == 1
    y = rng.standard_normal(40)
    shares = np.where(np.arange(40) < 25, 1.0, 0.1)
    normal = dense.T @ (shares[:, None] * dense) + 0.5 * np.eye(len(names))
    expected = np.linalg.solve(normal, dense.T @ (shares * y))
    np.testing.assert_allclose(ridge._solved(x, y, shares, 0.5), expected, atol=1e-3)


def test_the_ridge_learns_from_known_rows_alone(papers: Any, rated: Any) -> None:
    """Other ratings of the rows that are asked: the same estimates."""
    ridge = papers["ridge"]
    how = (0.03, 1.0)
    split = papers["data"].folds(rated, plain=False)[0]
    known = split.train[:300]
    asked = split.test[:50]
    ratings = rated.rating.copy()
    ratings[asked] = 1.0
    other = replace(rated, rating=ratings)
    found = [
        ridge._estimates(data, known, asked, [how])[how] for data in (rated, other)
    ]
    np.testing.assert_array_equal(*found)
    human = rated.rating[asked]
    assert np.corrcoef(found[0], human)[0, 1] > 0


def test_combination_finds_the_better_part(papers: Any) -> None:
    """One good column and one of noise: the weights come from the validation rows."""
    tables = papers["tables"]
    data = papers["data"]
    runs = papers["runs"]
    rng = np.random.default_rng(0)
    human = rng.standard_normal(300)
    good = human + rng.standard_normal(300)
    noise = rng.standard_normal(300)
    rows = np.arange(300)
    splits = [
        data.Split(train=rows[:0], validation=rows[:150], test=rows[150:]),
        data.Split(train=rows[:0], validation=rows[150:], test=rows[:150]),
    ]
    parts = []
    for split in splits:
        columns = [(one[split.test], one[split.validation]) for one in (good, noise)]
        parts.append([runs.Result(*column, 0, 0, 0) for column in columns])
    values = tables.combined(human, splits, parts)
    assert np.corrcoef(values, human)[0, 1] > np.corrcoef(good + noise, human)[0, 1]


def test_choosing_is_counted_by_source(papers: Any) -> None:
    """By hand: one source of three stands alone; of the others the first choice is right once."""
    tables = papers["tables"]
    human = np.array([1.0, 3.0, 4.0, 2.0, 6.0])
    sources = ["a", "a", "b", "b", "c"]
    right = np.array([1.0, 2.0, 2.0, 1.0, 0.0])
    wrong = np.array([2.0, 1.0, 2.0, 1.0, 0.0])
    row = tables.Row(name="both", runs=(right, wrong), quantised=False)
    found = tables.choosing(row, human, sources)
    assert (found["sources"], found["gain"], found["share"]) == (2, 0.5, 0.5)
    # right: 1 whatever is left out. wrong: 0, and 1, -1 and 0 without a, b and c: a variance of 4/3
    half = student(2) * (4 / 3) ** 0.5
    assert found["gain_interval"] == pytest.approx([(1 - half) / 2, (1 + half) / 2])
    assert found["share_interval"] == pytest.approx([(1 - half) / 2, 1.0])
    section = tables.choosing_section(
        "T", [{"name": "rounded"}, found | {"name": "x", "seeds": 2}]
    )
    assert section.table is not None
    assert section.table.rows == (
        ("x", "0.50 [-1.98, 2.98]", "0.500 [-1.984, 1.000]", "2"),
    )


def test_a_small_run_prints_its_table(
    papers: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Trains a small network for one configuration of Table 4 and shows it beside the paper."""
    needed("nlg-ratings")
    words = [
        "--data",
        DATA,
        "--quick",
        "--parts",
        "domain-C1",
        "--setups",
        "1",
        "--rivals",
    ]
    command = ["ratpred.py", *words, "--format", "json", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", [*map(str, command)])
    settings = replace(papers["script"].QUICK, epochs=4, synthetic_epochs=1)
    monkeypatch.setattr(papers["script"], "QUICK", settings)
    sizes = {setup: papers["script"].TABLE2[setup] for setup in (1, 5)}
    monkeypatch.setattr(papers["script"], "TABLE2", sizes)
    assert papers["script"].main() == 0
    found = json.loads(capsys.readouterr().out)
    assert all(row["paper"] == row["ours"] for row in found["table1"])
    rows = {row["name"]: row for row in found["domain-C1"]}
    assert rows["1: base"]["n"] == 675
    assert rows["1: base"]["pearson_paper"] == 0.147
    assert rows["constant 4.5"]["mae"] == pytest.approx(0.994, abs=0.02)
