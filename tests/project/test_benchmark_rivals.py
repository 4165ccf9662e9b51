"""The benchmark of simple rivals: every method on the same folds, and what is said of it."""

import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given
from hypothesis import strategies as st

from places import ROOT
from published import started

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
FOLDER = ROOT / "benchmarks"
METHODS = ["gp", "plain", "ridge", "vectors", "trees", "sklearn GP", "length"]


@pytest.fixture(scope="module")
def rivals() -> Any:
    """The script as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        import rivals  # type: ignore[import-not-found]

        yield rivals


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return started(FOLDER / "rivals.py", *arguments)


def test_own_ratings_are_judged_by_every_method(tmp_path: Path) -> None:
    """Whole sources are held out; what is saved is what the table says; a line sums it up."""
    pool = simulate(60, seed=1).pool
    columns = zip(pool.ids, pool.texts, pool.sources, pool.human.tolist(), strict=True)
    rows = [
        dict(zip(("name", "said", "asked", "mark"), row, strict=True))
        for row in columns
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    named = ("--id", "name", "--text", "said", "--source", "asked", "--rating", "mark")
    saved = tmp_path / "saved"
    ran = run(
        "--quick",
        "--file",
        tmp_path / "own.jsonl",
        *named,
        "--scale",
        0,
        1,
        "--save",
        saved,
    )
    assert ran.returncode == 0, ran.stderr
    held = np.load(saved / "own.npz")
    np.testing.assert_allclose(sorted(held["human"]), sorted(pool.human))
    folds = {tuple(np.unique(held["fold"][held["group"] == g])) for g in held["group"]}
    assert folds == {(0,), (1,), (2,)}
    (row,) = [
        line for line in ran.stdout.splitlines() if line.startswith("| own | source |")
    ]
    for method, cell in zip(METHODS, row.split("|")[3:10], strict=True):
        stats = pytest.importorskip("scipy.stats")
        rank = stats.spearmanr(held["human"], held[method])[0]
        r2 = metrics.r2_score(held["human"], held[method])
        assert cell.strip() == f"{rank:.3f} / {r2:.3f}"
    assert "Mean Spearman over 1 pools: gp " in ran.stdout


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 4)),
        min_size=2,
        max_size=9,
    ).filter(lambda rows: len({human for human, _, _ in rows}) > 1)
)
def test_r_squared_is_scikit_learns(
    rivals: ModuleType, rows: list[tuple[int, int, int]]
) -> None:
    """With rows drawn several times, as weights."""
    human, values, weights = np.array(rows, dtype=np.float64).T
    found = rivals.r_squared(human, values, weights[None, :])
    wanted = metrics.r2_score(human, values, sample_weight=weights)
    np.testing.assert_allclose(found, [wanted], atol=1e-9)


def test_few_ratings_judge_other_sources(
    rivals: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every method has a mean; too few texts that remain are none."""
    pool = simulate(100, seed=1).pool
    row = rivals.with_few(pool, 30)
    assert [*row] == METHODS
    assert all(-1 <= rank <= 1 and r2 <= 1 for rank, r2 in row.values())
    assert rivals.with_few(pool, 60) == {}
    assert rivals.main(["--quick", "--few", "25"]) == 0
    assert "1 pools: gp " in capsys.readouterr().out
    rivals.main(["--quick", "--pool", "another"])
    assert capsys.readouterr().out == "no such pool\n"


def test_surface_numbers_by_hand(rivals: ModuleType) -> None:
    """Of four words and a mark, three words of them known to the source."""
    found = rivals.surface("The cat, the 7", "The cat sat|||on mat 5")
    assert found[:6] == [14, np.log(15), 4, np.log(5), 10 / 4, 3 / 4]
    assert found[6:11] == [0, 0, 1 / 5, 1 / 14, 1 / 14]
    assert found[11:17] == [1, 0, 0, 0, 2, 1]
    known, pairs, last, missing, names, numbers, longer, size, new = found[17:]
    assert (known, pairs, last) == (3 / 4, 1 / 3, 0)
    assert (missing, names, numbers) == (4 / 6, 0, 1)
    assert (longer, size, new) == (np.log(5 / 7), np.log(23), 1)
    assert len(rivals.surface("", None)) == 17
    assert np.isfinite(rivals.surface("", "")).all()
