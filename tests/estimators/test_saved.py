"""Fitted estimators in files: to the last digit what was fitted, replaced in one step, checked."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from benchmarks.simulate import simulate

import refless
from command_line import Ran, jsonl, output_rows, rated_rows, run, unnoted
from refless import GaussianProcess
from refless.data.records import as_outputs, scored
from refless.estimators import Estimator, estimator_of
from refless.estimators.gp import all_ratings, data
from refless.files.arrays import read_arrays, write_arrays
from refusals import bad_input, bad_usage
from tiny_encoder import tiny_encoder

POSIX = pytest.mark.skipif(
    os.name != "posix", reason="links and users are those of POSIX"
)
NEURAL = pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
SMALL = "ratpred:embedding=4,hidden=4,epochs=3,synthetic_epochs=1,threads=1"
SPECS = [
    "gp",
    "gp:use_source=no,use_system=yes,max_sd=0.3",
    "gp:use_system=yes,max_sd=0.4",
    "bleu-neighbors",
    "bleu-neighbors:kernel=(rouge-l),min_neighbors=1",
    pytest.param(SMALL, marks=NEURAL),
]
BOTH = ("values", "alone", "afar")


def same(one: Estimator, other: Estimator, outputs: Any) -> None:
    """Bitwise: estimates, intervals, errors, evidence; and the signature."""
    found = one.estimate(outputs)
    wanted = other.estimate(outputs)
    assert found.reasons == wanted.reasons
    for name in ("values", "support", "low", "high", "sd"):
        assert np.array_equal(
            getattr(found, name), getattr(wanted, name), equal_nan=True
        ), name
    left = one.residuals()
    right = other.residuals()
    assert (left.sources, left.systems, left.ends) == (
        right.sources,
        right.systems,
        right.ends,
    )
    assert all(
        np.array_equal(getattr(left, n), getattr(right, n), equal_nan=True)
        for n in BOTH
    )
    first = outputs.take([0])
    assert repr(one.explain(first, most=5)) == repr(other.explain(first, most=5))
    assert one.signature() == other.signature()
    assert one.rated.ids == other.rated.ids


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rated texts with a column to group by and a judge's score, and outputs."""
    where = tmp_path_factory.mktemp("saved")
    extra = [
        {**row, "day": f"d{i // 36}", "judge": i % 7}
        for i, row in enumerate(rated_rows())
    ]
    for row in extra:
        row["judge"] = len(str(row["text"])) % 5
    jsonl(where / "rated.jsonl", extra)
    outputs = [
        {**row, "day": f"d{i // 4}", "judge": i % 5}
        for i, row in enumerate(output_rows())
    ]
    jsonl(where / "outputs.jsonl", outputs)
    return where


@pytest.mark.parametrize("spec", SPECS)
def test_a_saved_estimator_is_the_fitted_one(tmp_path: Path, spec: str) -> None:
    """From Python, whatever the estimator."""
    pool = simulate(60, seed=2).pool
    outputs = as_outputs(simulate(20, seed=3).pool)
    fitted = estimator_of(spec).fit(pool)
    refless.save(fitted, tmp_path / "m.safetensors")
    same(refless.load(tmp_path / "m.safetensors"), fitted, outputs)


@pytest.mark.parametrize("drawn", [200, 60])
@pytest.mark.parametrize("compared", [200, 60])
def test_all_that_a_process_reads_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drawn: int, compared: int
) -> None:
    """Scores, sources, systems; of more ratings than are inverted, or compared in pairs."""
    monkeypatch.setattr(data, "MOST_INVERTED", drawn)
    monkeypatch.setattr(all_ratings, "MOST_COMPARED", compared)
    both = simulate(140, seed=2).pool
    judge = np.random.default_rng(0).normal(size=len(both))
    pool = replace(both, **scored({"judge": judge}))
    fitted = GaussianProcess(use_system=True).fit(pool.take(np.arange(110)))
    assert {"system", "masked", "score judge"} <= {*fitted._state().data.kernels}
    refless.save(fitted, tmp_path / "m.safetensors")
    outputs = as_outputs(pool.take(np.arange(100, 140)))
    same(refless.load(tmp_path / "m.safetensors"), fitted, outputs)


@pytest.mark.parametrize("spec", ["gp", "bleu-neighbors"])
def test_score_by_a_model_is_score_by_its_texts(
    folder: Path, tmp_path: Path, spec: str
) -> None:
    """Every digit of JSON and CSV, the signature and the evidence included."""
    one = tmp_path / "one.json"
    other = tmp_path / "other.json"
    given = ("--scale", 1, 5, "--estimator", spec, "--group", "day")
    rated = folder / "rated.jsonl"
    outputs = folder / "outputs.jsonl"
    model = tmp_path / "m.safetensors"
    assert run("fit", rated, "--to", model, *given).code == 0
    by_model = run("score", outputs, "--model", model, "--format", "csv", "-o", one)
    by_texts = run(
        "score", outputs, "--rated", rated, *given, "--format", "csv", "-o", other
    )
    assert by_model.code == by_texts.code == 0, by_model.err + by_texts.err
    assert by_model.out == by_texts.out
    found, wanted = (unnoted(json.loads(path.read_text())) for path in (one, other))
    assert found == wanted


def test_scores_of_others_are_asked_for_once(folder: Path, tmp_path: Path) -> None:
    """A model knows which columns it has learned from; others are refused."""
    rated = folder / "rated.jsonl"
    outputs = folder / "outputs.jsonl"
    model = tmp_path / "m.safetensors"
    judge = ("--score-column", "judge")
    assert run("fit", rated, "--to", model, *judge).code == 0
    found = run("score", outputs, "--model", model, "--format", "csv")
    assert (
        found.out
        == run("score", outputs, "--rated", rated, *judge, "--format", "csv").out
    )
    assert (
        run("score", outputs, "--model", model, *judge, "--format", "csv").out
        == found.out
    )
    refused = run("score", outputs, "--model", model, "--score-column", "nobody")
    assert refused.refuses("nobody")


def test_explain_by_a_model(folder: Path, tmp_path: Path) -> None:
    """An output, and a rated text held out."""
    rated = folder / "rated.jsonl"
    outputs = folder / "outputs.jsonl"
    model = tmp_path / "m.safetensors"
    run("fit", rated, "--to", model, "--scale", 1, 5)
    for words in (("--id", "o01", "--outputs", outputs), ("--id", "t003")):
        found = run("explain", *words, "--model", model)
        wanted = run("explain", *words, "--rated", rated, "--scale", 1, 5)
        assert found.code == 0, found.err
        assert found.out == wanted.out


@NEURAL
def test_vectors_are_kept_and_their_encoder_is_known(tmp_path: Path) -> None:
    """Rated texts are not embedded again; another encoder at the same place is refused."""
    pool = simulate(30, seed=2).pool
    outputs = as_outputs(simulate(10, seed=3).pool)
    tiny_encoder(tmp_path / "encoder")
    fitted = GaussianProcess(encoder=str(tmp_path / "encoder")).fit(pool)
    refless.save(fitted, tmp_path / "m.safetensors")
    same(refless.load(tmp_path / "m.safetensors"), fitted, outputs)
    weights = next((tmp_path / "encoder").glob("*.safetensors"))
    raw = weights.read_bytes()
    weights.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with bad_input("would now be"):
        refless.load(tmp_path / "m.safetensors")


@pytest.mark.parametrize("size", [0, 1, 4, 5])
def test_few_rated_texts(tmp_path: Path, size: int) -> None:
    """None, too few for a model, and just enough."""
    pool = simulate(20, seed=2).pool.take(np.arange(size))
    for spec in ("gp:use_source=no", "bleu-neighbors"):
        fitted = estimator_of(spec).fit(pool)
        refless.save(fitted, tmp_path / f"{spec[:2]}.safetensors")
        same(
            refless.load(tmp_path / f"{spec[:2]}.safetensors"),
            fitted,
            as_outputs(simulate(5, seed=3).pool),
        )


def refused(*words: object) -> str:
    ran: Ran = run(*words)
    assert ran.code == 2, ran.out
    return ran.err


def test_what_a_model_has_is_not_given_again(folder: Path, tmp_path: Path) -> None:
    """Rated texts, an estimator, another scale, another group."""
    rated = folder / "rated.jsonl"
    model = tmp_path / "m.safetensors"
    run("fit", rated, "--to", model, "--scale", 1, 5, "--estimator", "bleu-neighbors")
    by = ("score", folder / "outputs.jsonl", "--model", model)
    assert "has its own --rated; leave one of them out" in refused(
        *by, "--rated", rated
    )
    assert "has its own --estimator" in refused(*by, "--estimator", "ratpred")
    assert "was made with --scale 1 5" in refused(*by, "--scale", 1, 4)
    assert "was made without --group" in refused(*by, "--group", "day")
    assert "must end in .safetensors" in refused(
        "fit", rated, "--to", tmp_path / "model"
    )
    with bad_usage("fit a rated pool first"):
        refless.save(GaussianProcess(), tmp_path / "none.safetensors")


DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another version": (
        lambda facts: facts.update(signature="gp|v:0.0.9"),
        "refless 0.0.9 made it, and this is",
    ),
    "another signature": (
        lambda facts: facts.update(signature=f"gp|v:{refless.__version__}"),
        "it was made as gp",
    ),
    "no estimator": (
        lambda facts: facts.update(estimator="magic"),
        "no estimator 'magic'",
    ),
    "another one": (
        lambda facts: facts.update(estimator="bleu-neighbors"),
        "the arrays are not those of its kernel",
    ),
    "more learned": (
        lambda facts: facts["learned"].update(more=1),
        "more than there is to learn",
    ),
    "another size": (lambda facts: facts["pool"].update(size=3), "has another length"),
}


def changed(
    path: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], object]
) -> None:
    """Writes other facts and arrays into a file."""
    facts, arrays = read_arrays(path, "fitted estimator", "")
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(facts, arrays)
    write_arrays(path, "fitted estimator", facts, arrays)


@pytest.mark.parametrize("how", DAMAGED)
def test_facts_that_lie_are_refused(tmp_path: Path, how: str) -> None:
    """With the file's name and what to do."""
    change, message = DAMAGED[how]
    path = tmp_path / "m.safetensors"
    refless.save(GaussianProcess().fit(simulate(20, seed=2).pool), path)
    changed(path, lambda facts, _: change(facts))
    with bad_input(message) as error:
        refless.load(path)
    assert str(error.value).startswith(str(path))
    assert "make it again" in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("amplitudes", -1.0, "an amplitude is out of range"),
        ("amplitudes", np.nan, "an amplitude is out of range"),
        ("pool.text", 20, "pool.text has a number outside"),
        ("pool.annotator", -1, "pool.annotator has a number outside"),
        ("pool.ratings", np.nan, "a rating is not finite"),
        ("pool.ratings", 4.5, "it was made as gp"),
        ("meaning", np.nan, "a vector is neither of length 1 nor 0"),
        ("meaning", 3.0, "a vector is neither of length 1 nor 0"),
        ("source_meaning", np.inf, "a vector is neither of length 1 nor 0"),
        ("0 alpha", np.nan, "alpha has a number out of range"),
        ("0 directions", 1e99, "directions has a number out of range"),
        ("0 first letters", np.nan, "first letters has a number out of range"),
        ("numbers", np.inf, "numbers has a number out of range"),
        ("words keys", 2**62, "words keys are not sorted"),
        ("letters idf", 0.5, "letters idf is out of range"),
        ("grams keys", 2**62, "grams keys are not sorted"),
        ("components", np.nan, "components has a number out of range"),
        ("0 ones", -1e9, "ones have no sum"),
        ("held_out", np.inf, "held_out has an infinite number"),
    ],
)
def test_numbers_that_lie_are_refused(
    tmp_path: Path, name: str, value: float, message: str
) -> None:
    """One that stands first."""
    path = tmp_path / "m.safetensors"
    model = GaussianProcess()
    refless.save(model.fit(simulate(20, seed=2).pool), path)
    changed(path, lambda _, arrays: arrays[name].reshape(-1).__setitem__(0, value))
    with bad_input(message):
        refless.load(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("held_out", -np.inf, "an error is infinite"),
        ("keys 2", 2**62, "keys 2 are not sorted"),
        ("entries", -1, "entries has a number outside"),
        ("block_starts", 1, "block_starts begins elsewhere"),
        ("members", 60, "a member is in no block"),
        ("common", -2, "common has a number outside"),
        ("words", 3, "words begins elsewhere"),
    ],
)
def test_postings_that_lead_elsewhere_are_refused(
    tmp_path: Path, name: str, value: float, message: str
) -> None:
    """Before a compiled loop reads or writes there: there are 60 texts, in one block."""
    path = tmp_path / "m.safetensors"
    refless.save(estimator_of("bleu-neighbors").fit(simulate(60, seed=2).pool), path)
    changed(path, lambda _, arrays: arrays[name].reshape(-1).__setitem__(0, value))
    with bad_input(message):
        refless.load(path)


@pytest.mark.parametrize("name", ["meaning", "amplitudes", "pool.ratings"])
def test_another_digit_is_seen(tmp_path: Path, name: str) -> None:
    """A byte that is another makes no other numbers: the file is refused, with what to do."""
    path = tmp_path / "m.safetensors"
    refless.save(GaussianProcess().fit(simulate(20, seed=2).pool), path)
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[:8], "little")
    place = json.loads(content[8 : 8 + size])[name]["data_offsets"][0]
    content[8 + size + place] ^= 1  # the least bit of the first number
    path.write_bytes(content)
    with bad_input(r"not what was saved.*make it again"):
        refless.load(path)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A saved network."""
    path = tmp_path_factory.mktemp("network") / "m.safetensors"
    refless.save(estimator_of(SMALL).fit(simulate(30, seed=2).pool), path)
    return path.read_bytes()


@NEURAL
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda facts, _: facts["settings"].update(hidden="4"), "int"),
        (lambda facts, _: facts["settings"].update(hidden=10**12), "sizes"),
        (lambda facts, _: facts["settings"].update(layers=10**9), "layers"),
        (lambda facts, _: facts["settings"].update(embedding=999), "shape"),
        (lambda facts, _: facts["range"].update(unit=0.0), "range"),
        (lambda facts, _: facts["validation"][0].clear(), "one estimate each"),
        (lambda facts, _: facts["about"].update(scale=[5, 1]), "lower first"),
        (lambda facts, _: facts["about"].pop("sources"), "sources"),
        (lambda _, arrays: arrays.pop("0.output.bias"), "weights"),
        (
            lambda _, arrays: arrays.update({"0.output.bias": np.zeros((7, 7), "f4")}),
            "shape",
        ),
        (lambda _, arrays: arrays.update({"0.output.bias": np.zeros(1)}), "type"),
    ],
)
def test_networks_that_lie_are_refused(
    network: bytes, tmp_path: Path, change: Any, message: str
) -> None:
    """Wrong types, missing keys, sizes beyond all memory."""
    path = tmp_path / "m.safetensors"
    path.write_bytes(network)
    changed(path, lambda facts, arrays: change(facts["learned"], arrays))
    with bad_input(message) as error:
        refless.load(path)
    assert "make it again" in str(error.value)


def test_whatever_is_no_saved_file_is_refused(tmp_path: Path) -> None:
    """Nothing there, a folder, cut off anywhere, other bytes, a file of somebody else."""
    from safetensors.numpy import save

    path = tmp_path / "m.safetensors"
    whole = tmp_path / "whole.safetensors"
    refless.save(estimator_of("bleu-neighbors").fit(simulate(20, seed=2).pool), whole)
    content = whole.read_bytes()
    with bad_input("there is no such file"):
        refless.load(path)
    with bad_input("this is a folder"):
        refless.load(tmp_path)
    header = len(content) - int.from_bytes(content[:8], "little")
    cut = [content[:size] for size in (0, 7, 8, 100, header, len(content) - 1)]
    made = [
        b"\xff" * 40,
        (9).to_bytes(8, "little") + b"[" * 9,
        save({"a": np.zeros(3)}),
    ]
    for other in (*cut, *made, content[:8] + content[8:].replace(b'"I64"', b'"F99"')):
        path.write_bytes(other)
        with bad_input("name a file made by 'refless fit'"):
            refless.load(path)


def test_arrays_are_mapped(tmp_path: Path) -> None:
    """Numbers stay in the file until they are read, and are whole numbers of their type."""
    path = tmp_path / "m.safetensors"
    refless.save(GaussianProcess().fit(simulate(20, seed=2).pool), path)
    _, arrays = read_arrays(path, "fitted estimator", "")
    for name, array in arrays.items():
        base: Any = array
        while base.base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap), name
        assert array.flags.aligned
        assert array.flags.c_contiguous


def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that was begun remains."""
    path = tmp_path / "m.safetensors"
    old, new = (
        estimator_of("bleu-neighbors").fit(simulate(n, seed=2).pool) for n in (20, 25)
    )
    refless.save(old, path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with bad_input(r"cannot be written \(No space left on device\)"):
            refless.save(new, path)
    assert refless.load(path).signature() == old.signature()
    assert [*tmp_path.iterdir()] == [path]


@POSIX
def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    """By any number of links, also to what is not there yet; a circle of links is refused."""
    old, new = (
        estimator_of("bleu-neighbors").fit(simulate(n, seed=2).pool) for n in (20, 25)
    )
    target, link, second = (
        tmp_path / f"{name}.safetensors" for name in ("target", "a", "b")
    )
    link.symlink_to(target.name)
    second.symlink_to(link)
    for model in (old, new):
        refless.save(model, second)
        assert refless.load(target).signature() == model.signature()
        assert link.is_symlink()
        assert second.is_symlink()
    assert len([*tmp_path.iterdir()]) == 3
    circle = tmp_path / "circle.safetensors"
    circle.symlink_to(circle)
    with bad_input("cannot be written"):
        refless.save(new, circle)
    with bad_input("make it again"):
        refless.load(circle)
    circle.unlink()
    circle.symlink_to(tmp_path / "nowhere" / "m.safetensors")
    with bad_input(r"cannot be written \(No such file or directory\)"):
        refless.save(new, circle)


@POSIX
@pytest.mark.parametrize("existing", [True, False])
def test_a_folder_that_is_read_only(existing: bool) -> None:
    """An error in words; the old file stays."""
    old, new = (
        estimator_of("bleu-neighbors").fit(simulate(n, seed=2).pool) for n in (20, 25)
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "m.safetensors"
        if existing:
            refless.save(old, model)
        before = [(file.name, file.read_bytes()) for file in folder.iterdir()]
        folder.chmod(0o555)
        with (
            as_nobody(),
            bad_input(r"written \(Permission denied\)"),
        ):
            refless.save(new, model)
        assert [(file.name, file.read_bytes()) for file in folder.iterdir()] == before
        folder.chmod(0o755)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write everywhere, so another user does it, where tests are root's."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


WRITER = """
import sys, refless
from benchmarks.simulate import simulate
from refless.estimators import estimator_of
models = [estimator_of("bleu-neighbors").fit(simulate(n, seed=2).pool) for n in (20, 25)]
print("ready", flush=True)
while True:
    for model in models:
        refless.save(model, sys.argv[1])
"""


def _write(path: Path, count: int) -> None:
    models = [
        estimator_of("bleu-neighbors").fit(simulate(n, seed=2).pool) for n in (20, 25)
    ]
    for _ in range(count):
        for model in models:
            refless.save(model, path)


def test_a_kill_and_two_writers_leave_a_whole_file(tmp_path: Path) -> None:
    """While two write, each reader sees one of their files; so it is after both are killed."""
    path = tmp_path / "m.safetensors"
    _write(path, 1)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        sizes = {len(refless.load(path).rated) for _ in range(60)}
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert sizes <= {20, 25}
    assert len(refless.load(path).rated) in {20, 25}
