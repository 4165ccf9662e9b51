"""Batches of Arrow, and the clusters that call them: the same numbers as on one machine."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import jsonl, output_rows, rated_rows, run
from refless.data.tables import Columns
from refless.extensions.connect import arrow
from refless.registry.errors import MissingExtraError
from refusals import bad_input, bad_usage
from rows import only

pa = pytest.importorskip("pyarrow")
COLUMNS = Columns(text="text", source="source", system="system")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fitted estimator."""
    where = tmp_path_factory.mktemp("model")
    rated = jsonl(where / "rated.jsonl", rated_rows())
    assert run("fit", rated, "--scale", 1, 5, "--to", where / "m.safetensors").code == 0
    return where / "m.safetensors"


def rows(n: int = 17) -> list[dict[str, Any]]:
    """Outputs, one of them without a text."""
    return [
        {**row, "text": None if i == 3 else row["text"]}
        for i, row in enumerate(output_rows(n))
    ]


def wanted(model: Path, given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `score`, as batches have them."""
    found = refless.score(given, model=model, skip_bad=True).rows()
    signature = str(refless.load(model).signature())
    names = ("estimate", "low", "high", "support", "reason")
    rows = []
    for row, scored in zip(given, only(found, *names), strict=True):
        cells = {k: None if cell != cell else cell for k, cell in scored.items()}
        rows.append({**row, **cells, "signature": signature})
    return rows


def same(found: list[dict[str, Any]], told: list[dict[str, Any]]) -> bool:
    """Whether rows are equal, numbers to 1e-12."""
    return found == [pytest.approx(row, abs=1e-12) for row in told]


@pytest.mark.parametrize("size", [1, 64, 65])
def test_as_score_says(model: Path, size: int) -> None:
    """However rows are dealt; a row without a text is `bad-row`."""
    estimator = refless.load(model)
    given = rows(150)
    found = []
    for begin in range(0, len(given), size):
        batch = pa.RecordBatch.from_pylist(given[begin : begin + size])
        found += arrow.estimated(estimator, batch, COLUMNS).to_pylist()
    assert same(found, wanted(model, given))
    assert (found[3]["reason"], found[3]["estimate"]) == ("bad-row", None)


ODD_CUTS = """
import numpy as np
from refless import GaussianProcess
from refless.data.records import Outputs
from benchmarks.simulate import simulate
new = simulate(900, seed=2).pool
outputs = Outputs(ids=new.ids, texts=new.texts, sources=new.sources)
rng, gp = np.random.default_rng(0), GaussianProcess(threads=1).fit(simulate(401, seed=1).pool)
def columns(rows):
    found = gp.estimate(outputs.take(rows))
    return np.array([found.values, found.low, found.high, found.sd])
whole, order, most = columns(np.arange(900)), rng.permutation(900), 0.0
assert np.array_equal(columns(order), whole[:, order], equal_nan=True)
for cuts in ([7, 450], [1, 301, 308, 887], [*range(97, 900, 97)]):
    parts = np.concatenate([columns(rows) for rows in np.split(np.arange(900), cuts)], axis=1)
    assert (np.isnan(parts) == np.isnan(whole)).all()
    most = max(most, np.nanmax(np.abs(parts - whole)))
print(most)
"""


@pytest.mark.parametrize("kernel", ["", "SkylakeX"])
def test_odd_cuts(kernel: str) -> None:
    """Order changes no digit, parts the last one: OpenBLAS with AVX-512 rounds by place."""
    info = Path("/proc/cpuinfo")
    if kernel and not (info.exists() and "avx512f" in info.read_text()):
        pytest.skip("the processor has no AVX-512")
    more = {"OPENBLAS_CORETYPE": kernel} if kernel else {}
    done = subprocess.run(
        [sys.executable, "-c", ODD_CUTS],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 1e-12


def test_an_empty_batch(model: Path) -> None:
    """Has the columns, of their types."""
    schema = pa.schema(
        [("text", pa.string()), ("source", pa.string()), ("system", pa.string())]
    )
    found = arrow.estimated(
        refless.load(model), pa.RecordBatch.from_pylist([], schema=schema), COLUMNS
    )
    assert found.schema.names == [*schema.names, *arrow.ADDED]
    assert (len(found), str(found.schema.field("estimate").type)) == (0, "double")


def test_columns_are_checked(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a cluster is asked."""
    with bad_usage("no column 'source'; the columns are text, system"):
        arrow.estimating(model, COLUMNS, ["text", "system"])
    with bad_usage("a column 'low' already"):
        arrow.estimating(model, COLUMNS, ["text", "source", "system", "low"])
    with bad_usage("have sources and the outputs have none"):
        arrow.estimating(model, Columns(text="text"), ["text"])
    with bad_input("cannot be read"):
        arrow.estimating(model.parent / "none.safetensors", COLUMNS, ["text"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtraError, match=r"Arrow needs an extra: .*'\.\[parquet\]'"
    ):
        arrow.estimating(model, COLUMNS, ["text", "source", "system"])


def test_sent_and_opened(model: Path) -> None:
    """The function travels with the estimator, which a process opens once."""
    given = rows()
    names = ["text", "source", "system"]
    sent = pickle.dumps(arrow.estimating(model, COLUMNS, names))
    found = pickle.loads(sent)(pa.RecordBatch.from_pylist(given))
    assert same(found.to_pylist(), wanted(model, given))
    assert arrow.opened(model.read_bytes()) is arrow.opened(model.read_bytes())
    with bad_input("cannot be read"):
        arrow.opened(b"{}")


@pytest.mark.filterwarnings("ignore")
def test_spark(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real local Spark with two workers; where it is installed."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    import refless.extensions.connect.spark

    source = str(Path(refless.__file__).parents[1])
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    )
    monkeypatch.setenv(
        "PYSPARK_PYTHON", sys.executable
    )  # of the workers, as of this process
    builder = sql.SparkSession.builder
    remote = os.environ.get(
        "REFLESS_SPARK_CONNECT"
    )  # as builder.remote has it: local[2]
    builder = builder.remote(remote) if remote else builder.master("local[2]")
    for name, value in {"ui.enabled": "false", "sql.shuffle.partitions": "4"}.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    try:
        given = rows()
        schema = "id string, source string, system string, text string"
        frame = session.createDataFrame(
            only(given, "id", "source", "system", "text"),
            schema,
        )
        out = refless.extensions.connect.spark.score(
            frame.repartition(3), model, source_column="source", system_column="system"
        )
        found = sorted(
            (row.asDict() for row in out.collect()), key=lambda row: row["id"]
        )
        assert same(found, sorted(wanted(model, given), key=lambda row: row["id"]))
    finally:
        session.stop()


@pytest.mark.filterwarnings("ignore")
def test_ray(model: Path) -> None:
    """A real local Ray; where it is installed."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    import refless.extensions.connect.ray

    source = str(Path(refless.__file__).parents[1])
    ray.init(
        num_cpus=4,
        include_dashboard=False,
        runtime_env={"env_vars": {"PYTHONPATH": source}},
    )
    try:
        given = rows()
        data = ray.data.from_items(given, override_num_blocks=4)
        out = refless.extensions.connect.ray.score(
            data, model, source_column="source", system_column="system"
        )
        found = sorted(out.take_all(), key=lambda row: row["id"])
        assert same(found, sorted(wanted(model, given), key=lambda row: row["id"]))
    finally:
        ray.shutdown()
