"""Outputs of any number, batch by batch: the same as all at once, also where a run was stopped."""

import json
from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import Ran, jsonl, output_rows, rated_rows, run
from refless.data.tables import Reading, read_batches, read_outputs
from refless.estimators import GaussianProcess
from refless.registry.errors import InputError, UsageError
from refless.report.resumable_writer import parts_of

MEANS = ("mean", "mean_interval", "n", "n_scored", "coverage", "systems", "scale", "reasons")
SPECS = ("gp", "gp:exact_up_to=20,inducing=10", "bleu-neighbors:min_neighbors=1,max_fraction=1")


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
        rated = where / "rated.jsonl"
        assert (
            run(
                "fit", rated, "--scale", 1, 5, "--estimator", spec, "--out-dir", where / f"m{i}"
            ).code
            == 0
        )
    return where


def streamed(
    folder: Path, to: Path, *words: object, model: str = "m0", outputs: str = "outputs"
) -> Ran:
    files = sorted(folder.glob(f"{outputs}*.jsonl"))
    return run("stream", *files, "--model", folder / model, "--to", to, *words)


def scored(folder: Path, to: Path, model: str = "m0") -> Any:
    ran = run(
        "score", folder / "outputs.jsonl", "--model", folder / model, "-o", to, "--format", "json"
    )
    return ran.json


@pytest.mark.parametrize("model", ["m0", "m1", "m2"])
@pytest.mark.parametrize("batch", [1, 4, 100])
def test_as_all_at_once(folder: Path, tmp_path: Path, model: str, batch: int) -> None:
    """The file to the last byte, means and intervals to the last digit; two files are as one."""
    wanted = scored(folder, tmp_path / "all.jsonl", model)
    for outputs in ("outputs", "half"):
        ran = streamed(
            folder,
            tmp_path / "some.jsonl",
            "--batch",
            batch,
            "--format",
            "json",
            model=model,
            outputs=outputs,
        )
        found = ran.json
        assert {name: found[name] for name in MEANS} == {name: wanted[name] for name in MEANS}
        assert found["signature"] == wanted["signature"]
        assert (tmp_path / "some.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()
    assert not [*tmp_path.glob("*.parts")]


def test_parquet(folder: Path, tmp_path: Path) -> None:
    """The same numbers, one row group a batch."""
    parquet = pytest.importorskip("pyarrow.parquet")
    scored(folder, tmp_path / "all.jsonl")
    assert streamed(folder, tmp_path / "some.parquet", "--batch", 7).code == 0
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


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_stopped_run_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """What was estimated is not estimated again, and the file ends up the same."""
    pytest.importorskip("pyarrow")
    to, other = tmp_path / f"e.{ending}", tmp_path / f"whole.{ending}"
    wanted = streamed(folder, other, "--batch", 4, "--format", "json").json
    done: list[int] = []
    usual = GaussianProcess.estimate

    def counted(self: GaussianProcess, outputs: Any) -> Any:
        done.append(len(outputs))
        if len(done) == 4:
            raise KeyboardInterrupt
        return usual(self, outputs)

    monkeypatch.setattr(GaussianProcess, "estimate", counted)
    assert streamed(folder, to, "--batch", 4).code == 130
    assert not to.exists()
    ran = streamed(folder, to, "--batch", 4, "--format", "json")
    assert done == [4, 4, 4, 4, 4, 4, 3]
    assert "3 of 6 batches were there from a run before" in ran.err
    assert to.read_bytes() == other.read_bytes()
    assert {**ran.json, **dict.fromkeys(("command_line", "path", "notes"))} == {
        **wanted,
        **dict.fromkeys(("command_line", "path", "notes")),
    }


def test_a_stopped_run_that_was_another(folder: Path, tmp_path: Path) -> None:
    """Other settings, other outputs: what to do is said, and nothing is mixed."""
    to = tmp_path / "e.jsonl"
    files = [str(folder / "outputs.jsonl")]
    settings = {"outputs": files, "estimator": "x", "batch": 4, "reading": {}}
    with parts_of(to, settings) as parts:
        parts.put(0, [{"id": "o0", "text": "elsewhere", "estimate": None, "reason": ""}])
    ran = streamed(folder, to, "--batch", 4)
    assert (ran.code, "another estimator: x; give it the same" in " ".join(ran.err.split())) == (
        2,
        True,
    )
    run_file = tmp_path / "e.jsonl.parts" / "run.json"
    found = refless.load(folder / "m0").signature()
    run_file.write_text(json.dumps({**settings, "estimator": str(found)}))
    ran = streamed(folder, to, "--batch", 4)
    assert (ran.code, "read other outputs (batch 1)" in ran.err) == (2, True)
    ran = streamed(folder, to, "--batch", 4, "--source-column", "system")
    assert (ran.code, "made with another reading: {}" in ran.err) == (2, True)
    assert not to.exists()


def test_a_run_that_left_no_part_binds_nobody(folder: Path, tmp_path: Path) -> None:
    """A file that is not there, and then the right one."""
    to = tmp_path / "e.jsonl"
    wrong = run("stream", folder / "output.jsonl", "--model", folder / "m0", "--to", to)
    assert (wrong.code, "no such file" in wrong.err) == (2, True)
    assert streamed(folder, to).code == 0
    assert to.exists()


def test_two_runs_at_once(tmp_path: Path) -> None:
    """The second is refused."""
    to = tmp_path / "e.jsonl"
    with parts_of(to, {}), pytest.raises(InputError, match="another run writes"), parts_of(to, {}):
        pass


def test_what_cannot_be_streamed(folder: Path, tmp_path: Path) -> None:
    """Other endings; abstention that depends on all outputs."""
    ran = streamed(folder, tmp_path / "e.csv")
    assert (ran.code, "must end in .jsonl or .parquet" in ran.err) == (2, True)
    model = tmp_path / "m"
    spec = "gp:target_coverage=0.5"
    assert run("fit", folder / "rated.jsonl", "--estimator", spec, "--out-dir", model).code == 0
    with pytest.raises(UsageError, match="depends on all of them"):
        refless.stream(str(folder / "outputs.jsonl"), model=model, to=tmp_path / "e.jsonl")


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
