"""refless score over shards: the numbers of one run, whatever is killed, in bounded memory."""

import gzip
import io
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refless
from command_line import json_of, jsonl, output_rows, rated_rows, run, run_well
from refless.commands.score import shard_sums, shards
from refless.commands.score.result import ScoreResult
from refless.commands.score.shard import content_of
from refless.commands.score.shard_sums import (
    StreamTotals,
    Totals,
    groups_of_shard,
    joined,
)
from refless.data.records import Outputs
from refless.registry.errors import InputError, MissingExtraError, RefLessError
from refless.stats import intervals
from refless.stats.clusters import GroupSums
from rows import only, read_csv, read_jsonl

NUMBERS = ("estimate", "low", "high", "sd")
SIZES = (17, 1, 22)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fitted estimator."""
    where = tmp_path_factory.mktemp("model")
    rated = jsonl(where / "rated.jsonl", rated_rows())
    run_well("fit", rated, "--scale", 1, 5, "--to", where / "m.safetensors")
    return where / "m.safetensors"


Rows = Sequence[dict[str, Any]]


def outputs() -> list[dict[str, Any]]:
    """Outputs of three systems, one of them empty, some copies of rated texts."""
    rows = [dict(row) for row in output_rows(sum(SIZES))]
    rows[5]["text"] = ""
    for i in range(12, 38):
        rows[i]["text"] = rated_rows()[3 * i]["text"]
    return rows


def written(folder: Path, rows: Rows, ending: str = ".jsonl") -> Path:
    """A folder of shards of these rows."""
    folder.mkdir()
    begin = 0
    for number, size in enumerate(SIZES):
        name = f"part-{number}{ending}"
        (folder / name).write_bytes(content_of(name, rows[begin : begin + size]))
        begin += size
    (folder / "_SUCCESS").touch()
    return folder


def read(folder: Path) -> list[dict[str, Any]]:
    """The rows of all shards in a folder, in order of their names."""
    rows: list[dict[str, Any]] = []
    for file in sorted(folder.glob("part-*")):
        content = file.read_bytes()
        text = gzip.decompress(content) if file.suffix == ".gz" else content
        if ".parquet" in file.name:
            parquet = pytest.importorskip("pyarrow.parquet")
            rows += parquet.read_table(io.BytesIO(text)).to_pylist()
        elif ".csv" in file.name:
            rows += read_csv(text.decode())
        else:
            rows += read_jsonl(text.decode())
    return rows


def numbers(rows: Rows) -> np.ndarray[Any, Any]:
    """[4, n] estimates with intervals, NaN where there is none."""
    columns = []
    for name in NUMBERS:
        cells = [row[name] for row in rows]
        columns.append([np.nan if cell in {None, ""} else cell for cell in cells])
    return np.array(columns, dtype=np.float64)


def same(found: Rows, wanted: Rows) -> bool:
    """Whether rows are equal and in one order, numbers to 1e-12."""
    names = ("id", "system", "reason", "text")
    return only(found, *names) == only(wanted, *names) and np.allclose(
        numbers(found), numbers(wanted), rtol=0, atol=1e-12, equal_nan=True
    )


def in_one(model: Path, rows: Rows) -> ScoreResult:
    """The slow twin: all outputs in memory, and the normal interval of their mean."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "DRAWN_ROWS", 0)
        return refless.score(rows, model=model)


@pytest.mark.parametrize(
    "ending", [".jsonl", ".csv", ".parquet", ".jsonl.gz", ".parquet.gz"]
)
def test_as_one_file(model: Path, tmp_path: Path, ending: str) -> None:
    """Rows, means of systems with intervals, reasons, copies: those of one run."""
    folder = written(tmp_path / "in", outputs(), ending)
    out = tmp_path / "out"
    found = json_of("score", folder, "--model", model, "-o", f"{out}/", "--threads", 1)
    told = in_one(model, outputs())
    assert same(read(out), told.rows())
    wanted = told.to_dict()
    for name in ("n", "n_scored", "coverage", "reasons", "design", "warnings"):
        assert found[name] == wanted[name]
    for name in ("mean", "mean_interval"):
        assert found[name] == pytest.approx(wanted[name], abs=1e-12)
    assert [*found["systems"]] == [*wanted["systems"]]
    for name, mean in wanted["systems"].items():
        own = found["systems"][name]
        assert own["mean_interval"] == pytest.approx(mean["mean_interval"], abs=1e-12)
        assert own["n_scored"] == mean["n_scored"]
    for part in ("overall", "systems"):
        assert found["guards"]["copies"][part] == wanted["guards"]["copies"][part]
    assert found["guards"]["without_copies"]["mean"] == pytest.approx(
        wanted["guards"]["without_copies"]["mean"], abs=1e-12
    )


def test_processes_and_order(model: Path, tmp_path: Path) -> None:
    """Two processes, and rows and shards in another order: the same numbers, to the last bit."""
    first = refless.score(
        written(tmp_path / "in", outputs()), model=model, to=tmp_path / "out", threads=2
    )
    turned = outputs()[::-1]
    second = refless.score(
        written(tmp_path / "in2", turned), model=model, to=tmp_path / "out2", threads=1
    )
    assert same(read(tmp_path / "out"), [*reversed(read(tmp_path / "out2"))])
    assert first.scored.systems == pytest.approx(second.scored.systems)
    for name, mean in first.scored.systems.items():
        assert mean.mean == pytest.approx(second.scored.systems[name].mean, abs=1e-12)


KILLED = """
import os, signal, sys
import refless
from refless.commands.score import shard_sums
from pathlib import Path
def killed(self, path, *more, real=None):
    if "part-1" in str(path):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, path, *more)
def patched(kind, name):
    real = getattr(kind, name)
    setattr(kind, name, lambda self, path, *more: killed(self, path, *more, real=real))
patched(*{"estimates": (Path, "replace"), "sums": (shard_sums.ShardSums, "save")}[sys.argv[4]])
refless.score(sys.argv[1], model=sys.argv[2], to=sys.argv[3], threads=1)
"""


@pytest.mark.parametrize("when", ["estimates", "sums"])
def test_killed(model: Path, tmp_path: Path, when: str) -> None:
    """Before a shard's estimates are there, or between them and their sums: it goes on."""
    folder = written(tmp_path / "in", outputs())
    out = tmp_path / "out"
    words = [sys.executable, "-c", KILLED, str(folder), str(model), str(out), when]
    path = os.pathsep.join(sys.path)
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, check=False)
    assert done.returncode == -signal.SIGKILL
    finished = {file.name for file in out.glob("part-*")}
    assert finished == {"part-0.jsonl"} | (
        {"part-1.jsonl"} if when == "sums" else set()
    )
    before = (out / "part-0.jsonl").stat().st_mtime_ns
    ran = run_well("score", folder, "--model", model, "-o", out, "--threads", 1)
    assert "3 shards; 1 of them by an earlier run" in ran.notes
    assert (out / "part-0.jsonl").stat().st_mtime_ns == before
    assert same(read(out), refless.score(outputs(), model=model).rows())


def test_done_again(model: Path, tmp_path: Path) -> None:
    """A shard whose outputs, or whose settings, have changed."""
    folder = written(tmp_path / "in", outputs())
    words = (
        "score",
        folder,
        "--model",
        model,
        "-o",
        f"{tmp_path}/out/",
        "--threads",
        1,
    )
    run_well(*words)
    jsonl(folder / "part-1.jsonl", output_rows(1))
    assert "2 of them by an earlier run" in run_well(*words).notes
    assert "earlier run" not in run_well(*words, "--where", "system!=m9").notes
    (folder / "part-1.jsonl").unlink()
    assert "1 file beside them, such as part-1.jsonl" in run_well(*words).notes


MEMORY = """
import resource, sys
import refless
refless.score(sys.argv[1], model=sys.argv[2], to=sys.argv[3], threads=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_memory_is_bounded(model: Path, tmp_path: Path) -> None:
    """Twelve times the shards take no more memory, but for sums and the sample."""
    peaks = []
    for count in (2, 24):
        folder = tmp_path / f"in{count}"
        folder.mkdir()
        for number in range(count):
            rows = [
                {**row, "text": f"{row['text']} {number}", "source": f"p{number} {i}"}
                for i, row in enumerate(output_rows(300))
            ]
            jsonl(folder / f"part-{number}.jsonl", rows)
        words = [sys.executable, "-c", MEMORY, str(folder), str(model)]
        done = subprocess.run(
            [*words, str(tmp_path / f"out{count}")],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(float(done.stdout))
    assert peaks[1] < peaks[0] + 40  # MB; 6,600 outputs more in memory take 62


def test_bad_rows(model: Path, tmp_path: Path) -> None:
    """File and line are named, in any process; skipped ones keep their place."""
    folder = written(tmp_path / "in", outputs())
    lines = (folder / "part-2.jsonl").read_text().splitlines()
    lines[3] = "{nothing"
    (folder / "part-2.jsonl").write_text("\n".join(lines))
    words = ("score", folder, "--model", model, "-o", f"{tmp_path}/out/")
    for threads in (1, 3):
        ran = run(*words, "--threads", threads)
        assert ran.refuses(f"{folder / 'part-2.jsonl'}, line 4: not JSON")
    ran = run_well(*words, "--skip-bad", "--threads", 1)
    assert read(tmp_path / "out")[17 + 1 + 3]["reason"] == "bad-row"
    assert "part-2.jsonl, line 4: not JSON" in ran.notes
    again = json_of(*words, "--skip-bad", "--threads", 1)
    assert "" not in again["systems"]


def test_refused_by_name(model: Path, tmp_path: Path) -> None:
    """Before any work, what cannot be had over a stream."""
    folder = written(tmp_path / "in", outputs())
    out = tmp_path / "out"
    words = ("score", folder, "--model", model, "-o", f"{out}/")
    assert run("score", folder, "-o", f"{out}/").refuses("by a fitted estimator")
    assert run(*words, "--accept-above", 3).refuses("--accept-above is for outputs")
    assert run(*words, "--format", "csv").refuses("--format csv takes all rows")
    assert run(*words, "--csv-safe").refuses("--csv-safe takes all rows")
    assert run(*words, "-o", tmp_path / "a.csv").refuses("a.csv takes all rows")
    assert run(*words, "-o", tmp_path).refuses("-o names two folders")
    same_folder = run("score", folder, "--model", model, "-o", folder)
    assert same_folder.refuses("the outputs are read from there")
    other = jsonl(tmp_path / "part-0.jsonl", output_rows(2))
    assert run("score", other, *words[1:]).refuses("two shards are called part-0.jsonl")
    assert run("score", tmp_path / "no.xlsx", *words[2:]).refuses("no such file")
    (tmp_path / "in" / "part-0.jsonl").rename(tmp_path / "part.txt")
    assert run("score", tmp_path / "part.txt", *words[2:]).refuses("is no shard")
    assert run("score", "-", *words[2:]).refuses("shards are files")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run("score", empty, *words[2:]).refuses("there is no shard")
    assert not out.exists()


def test_gate_and_page(model: Path, tmp_path: Path) -> None:
    """A gate stands on the sums; a page names the folder; rows of the result are refused."""
    folder = written(tmp_path / "in", outputs())
    page = tmp_path / "page.html"
    words = ("score", folder, "--model", model, "-o", f"{tmp_path}/out/", "-o", page)
    assert run(*words, "--min-coverage", 1).code == 3
    assert f"The estimates are in {tmp_path}/out/" in page.read_text()
    result = refless.score(folder, model=model, to=tmp_path / "out")
    with pytest.raises(RefLessError, match="the rows are in the shards"):
        result.rows()


def test_drawn_outputs(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all shards those with the lowest random numbers, which their names and the seed tell."""
    monkeypatch.setattr(shard_sums, "MOST_OUTPUTS", 7)
    monkeypatch.setattr(shards, "MOST_OUTPUTS", 7)
    folder = written(tmp_path / "in", outputs())
    refless.score(folder, model=model, to=tmp_path / "out", threads=1)
    every: list[float] = []
    for number, size in enumerate(SIZES):
        rng = np.random.default_rng([0, *f"part-{number}.jsonl".encode()])
        every += rng.random(size).tolist()
    paths = sorted((tmp_path / "out" / "_refless").iterdir())
    sample = shard_sums.Stream.of(paths).sample
    assert sample.numbers.tolist() == sorted(every)[:7]
    last = shard_sums.ShardSums.load(paths[2]).sample.numbers
    assert last.max() < sorted(every[: -SIZES[2]])[6]


LABELS = st.sampled_from(["", "a", "b", "c"])
ROW = st.tuples(st.floats(1, 5), LABELS, st.sampled_from("xy"), st.booleans())


@given(rows=st.lists(ROW, min_size=1, max_size=30), cut=st.integers(0, 30))
def test_sums_add_up(rows: list[tuple[float, str, str, bool]], cut: int) -> None:
    """Over shards cut anywhere, in parts of the sources, those of all values at once."""
    values = np.array([value for value, *_ in rows])
    values[values < 1.5] = np.nan
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    totals = StreamTotals()
    columns = []
    begin = 0
    for part in parts:
        names = [name for _, _, name, _ in part]
        texts = Outputs(ids=names, texts=names, systems=names)
        is_copy = np.array([copied for *_, copied in part])
        labels = [label for _, label, *_ in part]
        own = values[begin : begin + len(part)]
        piece = dict(groups_of_shard(texts, own, labels, is_copy, {"a"}))
        codes = np.searchsorted(["x", "y"], sorted({*names}))
        columns.append({**piece, "system": codes[piece["system"]]})
        begin += len(part)
    every = joined(columns)
    for part in range(3):
        rows_of = every["unit"] % 3 == part
        totals.add({name: every[name][rows_of] for name in every}, "xy")
    defined = ~np.isnan(values)
    _check(totals.overall, values, [label for _, label, *_ in rows], defined)
    for name, own_totals in totals.systems.items():
        is_own = np.array([system == name for *_, system, _ in rows])
        _check(own_totals, values, [label for _, label, *_ in rows], defined & is_own)
        assert own_totals.rows == is_own.sum()
    assert totals.overall.strange == sum(
        label != "a" for i, (_, label, *_) in enumerate(rows) if defined[i]
    )


def _check(
    found: Totals, values: np.ndarray[Any, Any], labels: list[str], rows: Any
) -> None:
    """Sums beside those of the values themselves."""
    kept = np.flatnonzero(rows)
    told = GroupSums.of(values[kept], [labels[i] for i in kept])
    own = found.sums
    assert (own.n, own.groups, own.pairs) == (told.n, told.groups, told.pairs)
    for name in ("mean", "within", "between"):
        assert getattr(own, name) == pytest.approx(
            getattr(told, name), abs=1e-9, nan_ok=True
        )


def test_errors_travel() -> None:
    """An error of another process says what it said there."""
    for error in (
        InputError("a fault", path="x.csv", line=3, remedy="mend it"),
        MissingExtraError("Parquet", "parquet"),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy)) == (type(error), str(error))
        assert copy.__dict__ == error.__dict__
