"""What rated texts cost and how many instructions jobs take: the scripts run, and count right."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
DUMP = "version: 1\ncreator: callgrind-3.19.0\nevents: Ir\nfn=(1) f\n16 400\n\ntotals: {}\n"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    """A script as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module(request.param)


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A script as users start it."""
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("benchmark", ["growth"], indirect=True)
def test_growth_shows_each_cell(
    benchmark: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two sizes as characters and as words, with an exponent each, in 80 columns."""
    monkeypatch.setattr(benchmark, "alone", lambda name, *words: told(benchmark, name, *words))
    files = [word for name in ("g.json", "g.html") for word in ("-o", str(tmp_path / name))]
    assert benchmark.main(["--quick", *files]) == 0
    cells = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))
    found = [(cell["tokens"], cell["texts"]) for cell in cells]
    assert found == [(tokens, n) for tokens in ("characters", "words") for n in (500, 1_000)]
    assert all(cell["pair_ns"] > 0 and cell["disk_mib"] > 0 for cell in cells)
    assert (tmp_path / "g.html").read_text(encoding="utf-8").count("<figure") == 6
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def told(benchmark: ModuleType, name: str, *words: object) -> dict[str, float]:
    """What a process of its own would measure, here."""
    found: dict[str, float] = benchmark.ALONE[name](*map(str, words))
    return found


@pytest.mark.parametrize("benchmark", ["growth"], indirect=True)
def test_a_cell_is_measured_in_processes_of_its_own(benchmark: ModuleType) -> None:
    """One builds, one matches; both tell every cost."""
    cell = benchmark.cell_of("words", benchmark.KERNELS["words"], 20, 500)
    assert (cell.tokens, cell.texts, cell.outputs) == ("words", 500, 2_000)
    assert all(getattr(cell, cost) > 0 for cost in benchmark.COSTS)


@pytest.mark.parametrize("benchmark", ["growth"], indirect=True)
def test_an_exponent_is_the_slope_of_the_logarithms(benchmark: ModuleType) -> None:
    """Ten times the texts: ten times the seconds is 1, a hundred times 2, the same 0."""
    costs = dict.fromkeys(benchmark.COSTS, 3.0)
    same = {"tokens": "words", "length": 20, "outputs": 1}
    first = benchmark.Cell(**same, texts=100, **costs)
    second = benchmark.Cell(**same, texts=1_000, **{**costs, "build_s": 30.0, "open_s": 300.0})
    slopes = [benchmark.slope([first, second], name) for name in ("build_s", "open_s", "pair_ns")]
    assert slopes == pytest.approx([1.0, 2.0, 0.0])


def test_jobs_run_without_valgrind() -> None:
    """Each is named; one that this tree does not know would be told on standard error."""
    done = run("instructions", "--plain")
    jobs = ("matching", "indexing", "rouge", "reading", "estimating")
    assert done.stdout == "".join(f"{name}: ran\n" for name in jobs)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("benchmark", ["instructions"], indirect=True)
def test_instructions_are_those_between_two_marks(benchmark: ModuleType, tmp_path: Path) -> None:
    """callgrind writes one file a mark; the tenth comes after the ninth."""
    for i in range(1, 11):
        (tmp_path / f"out.{i}").write_text(DUMP.format(i * 1_000), encoding="utf-8")
    (tmp_path / "out").write_text(DUMP.format(7), encoding="utf-8")
    assert benchmark.counts_in(tmp_path) == [2_000, 4_000, 6_000, 8_000, 10_000]
    ours, theirs = {"matching": 3_000_000, "rouge": 1}, {"matching": 2_000_000}
    lines = benchmark.table(ours, theirs, "abc")
    assert lines[1].split() == ["matching", "3.00", "2.00", "1.500"]
    assert [line.split()[1:] for line in lines if line.startswith("reading")] == [["-", "-"]]
