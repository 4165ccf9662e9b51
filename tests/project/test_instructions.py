"""The gate of benchmarks/instructions.py: which counts it refuses."""

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest

from places import ROOT


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("instructions")


@pytest.fixture
def gate(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A machine that can count, of the record's versions, on which every job takes as recorded."""
    record = script.tomllib.loads(script.RECORD.read_text("utf-8"))
    counts = {name: job["millions"] for name, job in record["jobs"].items()}
    monkeypatch.setattr(
        script.shutil,
        "which",
        lambda name: f"/usr/bin/{name}",
    )
    monkeypatch.setattr(
        script.platform,
        "machine",
        lambda: "x86_64",
    )
    monkeypatch.setattr(
        script,
        "versions",
        lambda: record["made_with"],
    )
    monkeypatch.setattr(
        script,
        "earlier_jobs",
        lambda: record["jobs"],
    )
    monkeypatch.setattr(
        script,
        "counted",
        lambda source: counts,
    )
    return script


def counts_of(gate: ModuleType) -> dict[str, float]:
    counts: dict[str, float] = gate.counted(ROOT / "src")
    return counts


def test_the_record_has_every_job(gate: ModuleType) -> None:
    """And nothing is refused that takes as long as it says."""
    assert {*counts_of(gate)} == {*gate.JOBS}
    assert gate.main([]) == 0


def test_a_tenth_more_is_refused(
    gate: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """9 % more passes; 11 % more, and a job that does not run, are named."""
    counts = counts_of(gate)
    counts["matching"] *= 1.09
    assert gate.main([]) == 0
    counts["matching"] *= 1.02
    del counts["rouge"]
    assert gate.main([]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["matching", "rouge"]


def test_a_raised_record_has_a_reason(
    gate: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another reason than before; a lowered one needs none."""
    job = {"millions": 10.0, "why": "first counted"}
    raised = {**job, "millions": 12.0}
    assert len(gate.without_reason({"rouge": raised}, {"rouge": job})) == 1
    told = {**raised, "why": "it reads marks too"}
    assert gate.without_reason({"rouge": told}, {"rouge": job}) == []
    assert gate.without_reason({"rouge": job}, {"rouge": raised}) == []


@pytest.mark.parametrize("lacking", ["valgrind", "processor", "versions"])
def test_where_nothing_can_be_compared(
    gate: ModuleType,
    lacking: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is refused, and that is said."""
    counts_of(gate)["matching"] *= 2
    if lacking == "valgrind":
        monkeypatch.setattr(
            gate.shutil,
            "which",
            lambda name: None,
        )
    elif lacking == "processor":
        monkeypatch.setattr(
            gate.platform,
            "machine",
            lambda: "arm64",
        )
    else:
        monkeypatch.setattr(
            gate,
            "versions",
            lambda: "Python 3.14",
        )
    assert gate.main([]) == 0
    out = capsys.readouterr().out
    assert ("Nothing is refused" if lacking == "versions" else "Not counted") in out
