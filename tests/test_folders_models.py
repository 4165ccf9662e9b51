"""Folders of models and of stopped trainings: replaced in one step, checked when they are read."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from safetensors.torch import load_file, save_file

from command_line import jsonl, rated_rows, run
from manifests import put, resealed
from refless.data.human import pool_of
from refless.extensions.ratpred.batches import Encoded, padded
from refless.extensions.ratpred.estimator import RatPred
from refless.extensions.ratpred.model import load
from refless.extensions.ratpred.progress import TrainingData
from refless.extensions.ratpred.settings import Settings
from refless.extensions.ratpred.training import train
from refless.registry.errors import InputError

TINY: dict[str, Any] = {
    "embedding": 4, "hidden": 4, "epochs": 3, "synthetic_errors": False, "threads": 1,
}  # fmt: skip
POOL = pool_of(
    [f"the ferry {'opens' if i % 3 else 'sinks'} {i}" for i in range(30)],
    [1 + i % 5 for i in range(30)],
    scale=(1, 5),
)


@pytest.fixture(scope="module")
def fitted() -> RatPred:
    return RatPred(**TINY, ensemble_size=2).fit(POOL)


@pytest.fixture
def model(fitted: RatPred, tmp_path: Path) -> Path:
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def estimates(folder: Path) -> np.ndarray:
    return RatPred(model=str(folder)).fit(POOL).estimate(["the ferry opens 3", "nothing"]).values


@pytest.mark.parametrize("flushes", [0, 1, 2, 3])
def test_a_full_disk_leaves_the_old_model(
    model: Path, flushes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the space ends; what was begun is gone."""
    old, left = estimates(model), [flushes]

    def full(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")

    other = RatPred(**{**TINY, "seed": 5}).fit(POOL)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
            other.save(model)
    assert np.array_equal(estimates(model), old)
    assert len(list(model.iterdir())) == 2
    other.save(model)
    assert not np.array_equal(estimates(model), old)


def test_models_of_format_2_are_read(model: Path, fitted: RatPred) -> None:
    """Weights beside model.json, without a digest; the next save removes them."""
    wanted = estimates(model)
    described = json.loads((model / "model.json").read_text())
    data = model / described.pop("data")
    del described["files"], described["sha256"]
    (data / "model.safetensors").replace(model / "model.safetensors")
    data.rmdir()
    (model / "model.json").write_text(json.dumps({**described, "format": 2}))
    assert np.array_equal(estimates(model), wanted)
    fitted.save(model)
    assert np.array_equal(estimates(model), wanted)
    assert not (model / "model.safetensors").exists()


def test_an_index_is_no_place_for_a_model(fitted: RatPred, tmp_path: Path) -> None:
    """Its data would go."""
    (tmp_path / "index.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds 'index\.json' and no model"):
        fitted.save(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        *(put(name, value=value)
          for name in ("settings", "reader", "dictionary", "range", "validation", "about",
                       "history", "data", "files")
          for value in (None, 3, "x", {"a": 1}, [[1.0]])),
        put("settings", "hidden", value="4"),
        put("settings", "hidden", value=10**12),
        put("settings", "hidden", value=10**30),
        put("settings", "layers", value=10**9),
        put("settings", "embedding", value=5),
        put("settings", "cell", value="rnn"),
        put("settings", "cell", value="lstm"),
        put("settings", "bidirectional", value=True),
        put("settings", "target", value="levels"),
        put("dictionary", "text", 0, value=3),
        put("dictionary", "text", value=[]),
        put("range", "unit", value=0.0),
        put("range", "offset", value=float("nan")),
        put("range", "precision", value=0),
        put("range", "high", value=float("inf")),
        put("validation", 0, 0, value=float("nan")),
        put("validation", 0, value=[]),
        put("about", "size", value=-1),
        put("about", "scale", value=[5, 1]),
        put("about", "signature", value="a|b"),
        put("about", "pool", value="../../etc/x"),
        put("history", 0, "loss", value="low"),
        lambda manifest: manifest["about"].pop("aggregate"),
    ],
)  # fmt: skip
def test_a_sealed_model_that_lies(model: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Wrong types, missing keys, NaN, sizes beyond all memory: one error of ours."""
    resealed(model / "model.json", change)
    with pytest.raises(InputError, match="refless train"):
        load(model)


def lie(folder: Path, manifest: str, content: bytes) -> None:
    """Other content in the one file of data; digest and seal hold."""
    (path,) = folder.glob("data-*/*.safetensors")
    path.write_bytes(content)
    facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    resealed(folder / manifest, put("files", path.stem, value=facts))


TABLES: list[Callable[[dict[str, Any]], object]] = [
    lambda tables: tables.clear(),
    lambda tables: tables.pop(min(tables)),
    lambda tables: tables.update({"x": torch.zeros(3)}),
    lambda tables: tables.update({max(tables): torch.zeros(7, 7)}),
    lambda tables: tables.update({key: table.double() for key, table in tables.items()}),
    lambda tables: tables.update({min(tables): torch.zeros(0)}),
]
HEADS = [
    b"", b"\0" * 7, b"\xff" * 8 + b"{}", (9).to_bytes(8, "little") + b"[" * 9,
    (200_000).to_bytes(8, "little") + b"[" * 200_000, (2).to_bytes(8, "little") + b"{}",
]  # fmt: skip


def written(tables: dict[str, Any], path: Path) -> bytes:
    save_file(tables, path)
    return path.read_bytes()


@pytest.mark.parametrize("content", [*TABLES, *HEADS])
def test_weights_that_lie(model: Path, content: Any, tmp_path: Path) -> None:
    """Other tables than the network's, other numbers, no safetensors."""
    if callable(content):
        tables = load_file(next(model.glob("data-*/*.safetensors")))
        content(tables)
        content = written(tables, tmp_path / "other")
    lie(model, "model.json", content)
    with pytest.raises(InputError, match="train it again"):
        load(model)


SETTINGS = Settings(embedding=4, hidden=4, epochs=5, synthetic_epochs=0, layers=1)
IDS = padded([[2 + i % 3, 3] for i in range(12)])
PART = Encoded(source=IDS, text=IDS, y=np.linspace(-1, 1, 12))
LESSON = TrainingData(
    seed=0, rated=PART, validation=PART, synthetic=None, sizes={"source": 5, "text": 5}
)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped")
    train(LESSON, SETTINGS, checkpoint=folder)
    return folder


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "state.json").write_text("{"),
        lambda folder: (folder / "state.json").write_text("[" * 100_000),
        lambda folder: (folder / "state.json").write_text('{"key": "x", "file": "epoch5"}'),
        lambda folder: next(folder.glob("data-*/*")).unlink(),
        lambda folder: next(folder.glob("data-*/*")).write_bytes(b"half"),
        *(lambda folder, change=change: resealed(folder / "state.json", change) for change in (
            put("state", value=None), put("state", "number", value=-5),
            put("state", "number", value="5"), put("state", "best_epoch", value=10**30),
            put("state", "best", value="good"), put("state", "history", value=[]),
            put("state", "history", 0, value={}), put("files", value={}),
        )),
        *(lambda folder, content=content: lie(folder, "state.json", content) for content in HEADS),
        *(lambda folder, change=change: changed(folder, change) for change in TABLES),
        lambda folder: changed(folder, lambda tables: tables.update(
            {"adam.output.bias.step": torch.zeros(2)})),
    ],
)  # fmt: skip
def test_a_damaged_checkpoint_is_told(
    stopped: Path, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    """With what to do; and doing it helps."""
    folder = tmp_path / "network1"
    shutil.copytree(stopped, folder)
    damage(folder)
    with pytest.raises(InputError, match="remove the folder to train from the beginning"):
        train(LESSON, SETTINGS, checkpoint=folder)
    shutil.rmtree(folder)
    train(LESSON, SETTINGS, checkpoint=folder)


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes the tables of a checkpoint."""
    tables = load_file(next(folder.glob("data-*/*.safetensors")))
    change(tables)
    lie(folder, "state.json", written(tables, folder.parent / "other"))


def test_train_and_demo_know_at_once_that_they_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2 before anything is learned."""
    rated = jsonl(tmp_path / "rated.jsonl", rated_rows())
    monkeypatch.setattr(RatPred, "fit", lambda *_: pytest.fail("it trains"))
    for words in (
        ("train", rated, "--out-dir", rated),
        ("train", rated, "--out-dir", rated / "below"),
        ("demo", "--out-dir", rated / "below"),
        ("index", rated, "--out-dir", rated / "below"),
    ):
        ran = run(*words)
        assert ran.code == 2
        assert "refless: error: " in ran.err
        assert "a file, not" in ran.err
