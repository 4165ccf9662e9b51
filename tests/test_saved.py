"""Fitted estimators in folders: to the last digit what was fitted, and nothing that is damaged."""

import json
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refless
from command_line import Ran, jsonl, output_rows, rated_rows, run
from manifests import put, resealed
from refless import GaussianProcess
from refless.data.records import as_outputs
from refless.data.simulate import simulate
from refless.estimators import Estimator, estimator_of
from refless.registry.errors import InputError, UsageError
from tiny_encoder import tiny_encoder

NEURAL = pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
SMALL = "ratpred:embedding=4,hidden=4,epochs=3,synthetic_epochs=1,threads=1"
SPECS = [
    "gp",
    "gp:use_source=no,use_system=yes,max_sd=0.3,subsample=0.6",
    "gp:exact_up_to=20,inducing=10,use_system=yes,target_coverage=0.7",
    "bleu-neighbors",
    "bleu-neighbors:kernel=(rouge-l),weights=kernel,subsample=0.5,min_neighbors=1",
    pytest.param(SMALL, marks=NEURAL),
]
BOTH = ("values", "alone", "afar")


def same(one: Estimator, other: Estimator, outputs: Any) -> None:
    """Bitwise: estimates, intervals, errors, evidence; and the signature."""
    found, wanted = one.estimate(outputs), other.estimate(outputs)
    assert found.reasons == wanted.reasons
    for name in ("values", "support", "low", "high", "sd"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name), equal_nan=True), name
    left, right = one.residuals(), other.residuals()
    assert (left.sources, left.systems, left.ends) == (right.sources, right.systems, right.ends)
    assert all(np.array_equal(getattr(left, n), getattr(right, n), equal_nan=True) for n in BOTH)
    first = outputs.take([0])
    assert repr(one.explain(first, most=5)) == repr(other.explain(first, most=5))
    assert one.signature() == other.signature()
    assert one.rated.ids == other.rated.ids


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rated texts with a column to group by and a judge's score, and outputs."""
    where = tmp_path_factory.mktemp("saved")
    extra = [{**row, "day": f"d{i // 36}", "judge": i % 7} for i, row in enumerate(rated_rows())]
    for row in extra:
        row["judge"] = len(str(row["text"])) % 5
    jsonl(where / "rated.jsonl", extra)
    outputs = [{**row, "day": f"d{i // 4}", "judge": i % 5} for i, row in enumerate(output_rows())]
    jsonl(where / "outputs.jsonl", outputs)
    return where


@pytest.mark.parametrize("spec", SPECS)
def test_a_saved_estimator_is_the_fitted_one(tmp_path: Path, spec: str) -> None:
    """From Python, whatever the estimator."""
    pool, outputs = simulate(60, seed=2).pool, as_outputs(simulate(20, seed=3).pool)
    fitted = estimator_of(spec).fit(pool)
    refless.save(fitted, tmp_path / "model")
    same(refless.load(tmp_path / "model"), fitted, outputs)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("flags", [(), ("--group", "day")])
def test_score_by_a_model_is_score_by_its_texts(
    folder: Path, tmp_path: Path, spec: str, flags: tuple[str, ...]
) -> None:
    """Every digit of JSON and CSV, the signature and the evidence included."""
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    given = ("--scale", 1, 5, "--estimator", spec)
    rated, outputs, model = folder / "rated.jsonl", folder / "outputs.jsonl", tmp_path / "model"
    assert run("fit", rated, "--out-dir", model, *given, *flags).code == 0
    by_model = run("score", outputs, "--model", model, "--format", "csv", "-o", one)
    given = ("--rated", rated, *given, *flags)
    by_texts = run("score", outputs, *given, "--format", "csv", "-o", other)
    assert by_model.code == by_texts.code == 0, by_model.err + by_texts.err
    assert by_model.out == by_texts.out
    found, wanted = (json.loads(path.read_text()) for path in (one, other))
    assert found == wanted


def test_scores_of_others_are_asked_for_once(folder: Path, tmp_path: Path) -> None:
    """A model knows which columns it has learned from; others are refused."""
    rated, outputs, model = folder / "rated.jsonl", folder / "outputs.jsonl", tmp_path / "model"
    judge = ("--score-column", "judge")
    assert run("fit", rated, "--out-dir", model, *judge).code == 0
    found = run("score", outputs, "--model", model, "--format", "csv")
    assert found.out == run("score", outputs, "--rated", rated, *judge, "--format", "csv").out
    assert run("score", outputs, "--model", model, *judge, "--format", "csv").out == found.out
    refused = run("score", outputs, "--model", model, "--score-column", "nobody")
    assert refused.code == 2
    assert "nobody" in refused.err


def test_explain_by_a_model(folder: Path, tmp_path: Path) -> None:
    """An output, and a rated text held out."""
    rated, outputs, model = folder / "rated.jsonl", folder / "outputs.jsonl", tmp_path / "model"
    run("fit", rated, "--out-dir", model, "--scale", 1, 5)
    for words in (("--id", "o01", "--outputs", outputs), ("--id", "t003")):
        found = run("explain", *words, "--model", model)
        wanted = run("explain", *words, "--rated", rated, "--scale", 1, 5)
        assert found.code == 0, found.err
        assert found.out == wanted.out


@NEURAL
def test_a_folder_of_train_is_a_model(folder: Path, tmp_path: Path) -> None:
    """As `ratpred:model=FOLDER`, by the flag that all estimators have."""
    words = ("--embedding", 4, "--hidden", 4, "--epochs", 3, "--no-synthetic-errors")
    model, outputs = tmp_path / "net", folder / "outputs.jsonl"
    assert (
        run("train", folder / "rated.jsonl", "--out-dir", model, "--scale", 1, 5, *words).code == 0
    )
    found = run("score", outputs, "--model", model, "--format", "csv")
    wanted = run("score", outputs, "--estimator", f"ratpred:model={model}", "--format", "csv")
    assert found.code == 0, found.err
    assert found.out == wanted.out


@NEURAL
def test_vectors_are_kept_and_their_encoder_is_known(tmp_path: Path) -> None:
    """Rated texts are not embedded again; another encoder at the same place is refused."""
    pool = simulate(30, seed=2).pool
    outputs = as_outputs(simulate(10, seed=3).pool)
    tiny_encoder(tmp_path / "encoder")
    fitted = GaussianProcess(encoder=str(tmp_path / "encoder")).fit(pool)
    refless.save(fitted, tmp_path / "model")
    same(refless.load(tmp_path / "model"), fitted, outputs)
    weights = next((tmp_path / "encoder").glob("*.safetensors"))
    raw = weights.read_bytes()
    weights.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(InputError, match="would now be"):
        refless.load(tmp_path / "model")


@pytest.mark.parametrize("size", [0, 1, 4, 5])
def test_few_rated_texts(tmp_path: Path, size: int) -> None:
    """None, too few for a model, and just enough."""
    pool = simulate(20, seed=2).pool.take(np.arange(size))
    for spec in ("gp:use_source=no", "bleu-neighbors"):
        fitted = estimator_of(spec).fit(pool)
        refless.save(fitted, tmp_path / spec[:2])
        same(refless.load(tmp_path / spec[:2]), fitted, as_outputs(simulate(5, seed=3).pool))


def refused(*words: object) -> str:
    ran: Ran = run(*words)
    assert ran.code == 2, ran.out
    return ran.err


def test_what_a_model_has_is_not_given_again(folder: Path, tmp_path: Path) -> None:
    """Rated texts, an estimator, another scale, another group."""
    rated, model = folder / "rated.jsonl", tmp_path / "model"
    run("fit", rated, "--out-dir", model, "--scale", 1, 5, "--estimator", "bleu-neighbors")
    by = ("score", folder / "outputs.jsonl", "--model", model)
    assert "has its own --rated; leave one of them out" in refused(*by, "--rated", rated)
    assert "has its own --estimator" in refused(*by, "--estimator", "ratpred")
    assert "was made with --scale 1 5" in refused(*by, "--scale", 1, 4)
    assert "was made without --group" in refused(*by, "--group", "day")
    assert "fitted.json is a part of what that folder holds" in refused(
        *by, "-o", model / "fitted.json"
    )
    with pytest.raises(UsageError, match="fit a rated pool first"):
        refless.save(GaussianProcess(), tmp_path / "none")


DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another version": (
        put("signature", value="gp|v:0.0.9"),
        "refless 0.0.9 made it, and this is",
    ),
    "another signature": (put("signature", value="gp|v:0.1.0"), "it was made as gp"),
    "no estimator": (put("estimator", value="magic"), "no estimator 'magic'"),
    "another one": (put("estimator", value="bleu-neighbors"), "more than there is to learn"),
    "no nugget": (put("learned", "nugget", value=-1.0), "an amplitude is below 0"),
    "nothing learned": (put("learned", value={}), "missing required field"),
    "more learned": (put("learned", "more", value=1), "unknown field"),
    "another pool": (put("fingerprint", value="0" * 12), "the rated texts are others"),
    "another size": (put("size", value=3), "has another length"),
    "groups": (put("grouped", value=True), "a file of the rated texts is not there"),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_damaged_folders_are_refused(tmp_path: Path, how: str) -> None:
    """By a seal that holds and a manifest that lies."""
    change, told = DAMAGED[how]
    refless.save(GaussianProcess().fit(simulate(20, seed=2).pool), tmp_path)
    resealed(tmp_path / "fitted.json", change)
    with pytest.raises(InputError, match=told) as error:
        refless.load(tmp_path)
    assert "make it again" in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("posterior.d", 0.0, "posterior.d is of no covariance"),
        ("posterior.root", 0.0, "posterior.root is of no covariance"),
        ("posterior.told", np.nan, "posterior.told has no such number"),
        ("posterior.told", -1e9, "posterior.told is of no ratings"),
        ("weights", -1.0, "an amplitude is below 0"),
        ("words.columns", 2**31 - 1, "words.columns has a number outside"),
        ("words.columns", -1, "words.columns has a number outside"),
        ("words.rows", 7, "words.rows do not rise"),
        ("values.variances", 1e300, "values.variances has no such number"),
    ],
)
def test_damaged_numbers_are_refused(tmp_path: Path, name: str, value: float, told: str) -> None:
    """Whatever the digests say: one that stands first."""
    model = GaussianProcess(exact_up_to=10, inducing=10)
    refless.save(model.fit(simulate(20, seed=2).pool), tmp_path)
    (path,) = tmp_path.glob(f"data-*/{name}.npy")
    array = np.load(path)
    array[0] = value
    np.save(path, array)
    facts = {"bytes": path.stat().st_size, "sha256": sha256(path.read_bytes()).hexdigest()}
    resealed(tmp_path / "fitted.json", put("files", name, value=facts))
    with pytest.raises(InputError, match=told):
        refless.load(tmp_path)


def test_another_folder_is_no_model(tmp_path: Path) -> None:
    """Told as such; an index says which flag takes it."""
    refless.RatedIndex.build(simulate(20, seed=2).pool).save(tmp_path / "index")
    with pytest.raises(InputError, match="name a folder made by 'refless fit'"):
        refless.load(tmp_path / "index")
    with pytest.raises(InputError, match="the folder holds"):
        refless.save(GaussianProcess().fit(simulate(20, seed=2).pool), tmp_path / "index")
