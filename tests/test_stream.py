"""score --to: outputs of any number, batch by batch: the same as all at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import Ran, jsonl, output_rows, rated_rows, run
from refless.data.tables import Reading, read_batches, read_outputs
from refless.registry.errors import InputError

MEANS = ("mean", "mean_interval", "n", "n_scored", "coverage", "systems", "scale", "reasons")
SPECS = ("gp", "gp:max_rated=20", "bleu-neighbors:min_neighbors=1,max_fraction=1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fitted estimator of each kind, and outputs: in one file, and in two."""
    where = tmp_path_factory.mktemp("stream")
    jsonl(where / "rated.jsonl", rated_rows())
    rows = output_rows(23)
    jsonl(where / "outputs.jsonl", rows)
    for i, some in enumerate((rows[:9], rows[9:])):
        jsonl(where / f"half-{i}.jsonl", some)
    for i, spec in enumerate(SPECS):
        flags = ("--scale", 1, 5, "--estimator", spec, "--to", where / f"m{i}.safetensors")
        assert run("fit", where / "rated.jsonl", *flags).code == 0
    return where


def streamed(
    folder: Path, to: Path, *words: object, model: str = "m0", outputs: str = "outputs"
) -> Ran:
    files = sorted(folder.glob(f"{outputs}*.jsonl"))
    return run("score", *files, "--model", folder / f"{model}.safetensors", "--to", to, *words)


def scored(folder: Path, to: Path, model: str = "m0") -> Any:
    words = (folder / "outputs.jsonl", "--model", folder / f"{model}.safetensors")
    return run("score", *words, "-o", to, "--format", "json").json


@pytest.mark.parametrize("model", ["m0", "m1", "m2"])
@pytest.mark.parametrize("batch", [1, 4, 100])
def test_as_all_at_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, batch: int
) -> None:
    """The file to the last byte, means and intervals to the last digit; two files are as one."""
    monkeypatch.setattr("refless.commands.score.streamed.BATCH", batch)
    wanted = scored(folder, tmp_path / "all.jsonl", model)
    for outputs in ("outputs", "half"):
        to = tmp_path / "some.jsonl"
        found = streamed(folder, to, "--format", "json", model=model, outputs=outputs).json
        assert {name: found[name] for name in MEANS} == {name: wanted[name] for name in MEANS}
        assert found["signature"] == wanted["signature"]
        assert (tmp_path / "some.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()


def test_parquet(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, one row group a batch."""
    parquet = pytest.importorskip("pyarrow.parquet")
    scored(folder, tmp_path / "all.jsonl")
    monkeypatch.setattr("refless.commands.score.streamed.BATCH", 7)
    assert streamed(folder, tmp_path / "some.parquet").code == 0
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    file = parquet.ParquetFile(tmp_path / "some.parquet")
    assert file.read().to_pylist() == rows
    assert file.num_row_groups == 4


def test_gates(folder: Path, tmp_path: Path) -> None:
    """As of score."""
    to = tmp_path / "e.jsonl"
    for least, code in ((1, 0), (5, 3)):
        ran = streamed(folder, to, "--min-mean", least, "--min-coverage", 0.5)
        assert ran.code == code, ran.err
    assert streamed(folder, to, "--min-coverage", 2).code == 2


def test_whole_or_not_at_all(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad row in the last batch leaves the old file, and nothing beside it."""
    monkeypatch.setattr("refless.commands.score.streamed.BATCH", 2)
    bad = jsonl(tmp_path / "bad.jsonl", [*output_rows(5), {"text": 3}])
    to = tmp_path / "e.jsonl"
    to.write_text("old")
    ran = run("score", bad, "--model", folder / "m0.safetensors", "--to", to)
    assert (ran.code, "line 6" in ran.err) == (2, True)
    assert to.read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bad.jsonl", "e.jsonl"]


def test_what_cannot_be_streamed(folder: Path, tmp_path: Path) -> None:
    """Other endings; options that need all outputs."""
    ran = streamed(folder, tmp_path / "e.csv")
    assert (ran.code, "ends in .jsonl or .parquet" in ran.err) == (2, True)
    ran = streamed(folder, tmp_path / "e.jsonl", "--best-of", "item")
    assert (ran.code, "--best-of needs all outputs at once" in ran.err) == (2, True)
    ran = run(
        "score", folder / "outputs.jsonl", "--rated", folder / "rated.jsonl", "--to", "e.jsonl"
    )
    assert (ran.code, "--to needs --model" in ran.err) == (2, True)


def test_batches_of_rows(tmp_path: Path) -> None:
    """Columns that go, ids that come twice, bad rows that keep their place and line."""
    rows: list[dict[str, object]] = [
        {"text": "a", "source": "s", "system": "m"},
        {"text": "b", "source": "t"},
        {"text": 3},
        {"text": "d", "system": "n"},
    ]
    file = jsonl(tmp_path / "o.jsonl", rows)
    reading = Reading(skip_bad=True)
    whole = read_outputs(file, reading).outputs
    for size in (1, 2, 3, 9):
        found = [read.outputs for read in read_batches(file, reading, size)]
        assert tuple(text for one in found for text in one.texts) == whole.texts
        assert tuple(name for one in found for name in one.sources) == whole.sources
        assert tuple(name for one in found for name in one.systems) == whole.systems
        assert tuple(name for one in found for name in one.ids) == whole.ids
    with pytest.raises(InputError, match="line 3"):
        list(read_batches(file, Reading(), 2))
    twice = jsonl(tmp_path / "t.jsonl", [{"id": "1", "text": "a"}, {"id": "1", "text": "b"}])
    assert [len(read.outputs) for read in read_batches(twice, Reading(), 5)] == [2]


def test_a_column_that_begins_late(tmp_path: Path) -> None:
    """Larger batches would read it, and no number may depend on them; others may come."""
    rows: list[dict[str, Any]] = [{"text": f"a b {i}"} for i in range(6)]
    rows[4]["source"] = "s"
    path = jsonl(tmp_path / "late.jsonl", rows)
    with pytest.raises(InputError, match="column 'source' begins after 4 rows"):
        [*read_batches(path, Reading(), 2)]
    (whole,) = read_batches(path, Reading(), 6)
    assert whole.outputs.sources == ("", "", "", "", "s", "")
    rows[4] = {"text": "a", "elsewhere": 1}
    other = jsonl(tmp_path / "other.jsonl", rows)
    assert [len(one.outputs) for one in read_batches(other, Reading(), 2)] == [2, 2, 2]
