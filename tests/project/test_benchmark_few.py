"""benchmarks/few.py: judges and texts with few ratings, on articles that the test makes."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from places import ROOT

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
FOLDER = ROOT / "benchmarks"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("few", "rivals", "estimators", "surface"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return import_module("few")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Eight articles with four summaries each, and a judge who is mostly right."""
    folder = tmp_path / "summeval-judges"
    folder.mkdir()
    rng = np.random.default_rng(0)
    articles = [
        {"article": f"a{i}", "text": f"The ferry number {i} is late."} for i in range(8)
    ]
    rows = []
    for i in range(32):
        quality = int(rng.integers(1, 6))
        judged = {} if i == 5 else {"coherence": quality + float(rng.normal()) / 4}
        rows.append(
            {
                "id": str(i),
                "article": f"a{i // 4}",
                "system": "M1",
                "text": f"Ferry {i} is late " + "again " * quality,
                "experts": {
                    key: [quality, quality, min(5, quality + 1)] for key in DIMENSIONS
                },
                "judges": {"gpt4": judged, "gpt35": judged},
            }
        )
    for name, some in (("articles", articles), ("summaries", rows)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in some)
        )
    return tmp_path


def test_a_line_for_each_number_of_ratings(
    few: ModuleType, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one judge, and with two beside their mean and their ridge."""
    few.RATINGS = (10, 12)
    assert few.main(["--data", str(data), "--quick"]) == 0
    line = capsys.readouterr().out
    assert line.startswith("coherence, 10 ratings: line on gpt4 0.")
    assert [part.split()[0] for part in line.split(", ")[2:]] == [
        "texts",
        "both",
        "bad",
        "short",
    ]
    few.main(["--data", str(data), "--quick", "--judge", "gpt4", "gpt35"])
    line = capsys.readouterr().out
    assert all(
        f"{name} 0." in line for name in ("line on gpt35", "mean of judges", "ridge")
    )


def test_articles_are_rated_or_estimated(few: ModuleType, data: Path) -> None:
    """Never both, and whole."""
    pool = next(few.summeval(data, articles=True, judges=["gpt4"]))[1]
    assert np.isnan(pool.scores[:, 0]).sum() == 1
    for fit, asked in few.drawn(pool, 10, 5):
        assert len(fit) == 10
        assert len(asked) == 20
        assert not {*pool.take(fit).sources} & {*pool.take(asked).sources}
