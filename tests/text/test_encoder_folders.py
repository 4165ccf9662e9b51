"""Encoders' folders that others made: no code of theirs runs, no pickle is loaded, no network."""

import io
import json
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import jsonl, rated_rows, run
from refless.registry.errors import InputError, UsageError
from refless.text.embed import Encoder
from refusals import bad_usage
from tiny_encoder import tiny_encoder

EVIL = """
import pathlib
pathlib.Path({mark!r}).write_text("run")
from transformers import BertConfig as Config, BertModel as Model, BertTokenizerFast as Tokenizer
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny encoder, with a module beside it that leaves a mark when it is run."""
    where = Path(tiny_encoder(tmp_path / "tiny"))
    (where / "evil.py").write_text(EVIL.format(mark=str(tmp_path / "mark")), "utf-8")
    return where


def say(path: Path, **more: Any) -> None:
    """Adds to what a JSON file says."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}), "utf-8")


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("kind", ["bert", "evil"])
def test_no_code_of_a_model_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """`auto_map` is refused; nothing is asked, and a `yes` on standard input changes nothing."""
    autos = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}
    say(
        folder / name,
        auto_map={**autos, "AutoTokenizer": ["evil.Tokenizer", "evil.Tokenizer"]},
    )
    say(folder / "config.json", model_type=kind)
    asked = io.StringIO("y\n" * 99)
    monkeypatch.setattr(sys, "stdin", asked)
    with bad_usage(r"asks for code of its own to be run .*which refless"):
        Encoder(model=str(folder)).sentences(["the fox"])
    assert asked.tell() == 0
    assert not (tmp_path / "mark").exists()
    rated = jsonl(tmp_path / "r.jsonl", rated_rows())
    ran = run(
        "validate", rated, "--estimator", f"gp:encoder={folder}", stdin="y\n" * 99
    )
    assert ran.refuses("asks for code of its own")
    assert not (tmp_path / "mark").exists()


def test_code_is_refused_by_transformers_as_well(folder: Path, tmp_path: Path) -> None:
    """Should a file of another name say so: a model that transformers does not know is none."""
    say(folder / "config.json", model_type="evil")
    with bad_usage("holds no encoder that can be loaded"):
        Encoder(model=str(folder)).sentences(["the fox"])
    assert not (tmp_path / "mark").exists()


def test_no_pickle_is_loaded(folder: Path, tmp_path: Path) -> None:
    """Weights in `.bin` files are refused, also where they are sound."""
    import torch

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.write_text, (tmp_path / "mark", "run"))

    (folder / "model.safetensors").unlink()
    torch.save({"x": Evil()}, folder / "pytorch_model.bin")
    with bad_usage(r"weights as a pickle .*never loaded; save the model"):
        Encoder(model=str(folder)).sentences(["the fox"])
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "name", ["w.bin", "w.pt", "sub/w.safetensors", "../w.safetensors", 5]
)
def test_no_pickle_is_a_shard(folder: Path, tmp_path: Path, name: str | int) -> None:
    """Weights in several files are plain `.safetensors` names of the folder, each of them."""
    import torch

    weights = folder / "model.safetensors"
    from safetensors.torch import load_file

    tensors = load_file(weights)
    weights.unlink()
    if isinstance(name, str):
        (folder / name).parent.mkdir(exist_ok=True)
        torch.save(tensors, folder / name)
    said = {"metadata": {"total_size": 1}, "weight_map": dict.fromkeys(tensors, name)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(said), "utf-8")
    with bad_usage(r"which is no .safetensors file of that folder; save"):
        Encoder(model=str(folder)).sentences(["the fox"])


def test_shards_that_are_safe(folder: Path) -> None:
    """Two files with the weights are read as one with all."""
    from safetensors.torch import load_file, save_file

    whole = Encoder(model=str(folder)).sentences(["the fox is quick"])
    parts = folder.with_name("parts")
    shutil.copytree(folder, parts)
    tensors = load_file(parts / "model.safetensors")
    (parts / "model.safetensors").unlink()
    files = {
        name: f"model-{1 + i % 2:05}-of-00002.safetensors"
        for i, name in enumerate(tensors)
    }
    for file in {*files.values()}:
        part = {name: tensors[name] for name in files if files[name] == file}
        save_file(part, parts / file, metadata={"format": "pt"})
    said = {"metadata": {"total_size": 1}, "weight_map": files}
    (parts / "model.safetensors.index.json").write_text(json.dumps(said), "utf-8")
    read = Encoder(model=str(parts)).sentences(["the fox is quick"])
    # where in memory weights lie may move the last bit
    assert read == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize(
    "said",
    [
        {"transformers_weights": "adapter_model.bin"},
        {"transformers_weights": "other.safetensors.index.json"},
    ],
)
def test_weights_by_another_name(folder: Path, said: dict[str, str]) -> None:
    """A configuration cannot say which file holds the weights, nor can an adapter."""
    say(folder / "config.json", **said)
    with bad_usage(r"names a file of weights itself \(config.json\)"):
        Encoder(model=str(folder)).sentences(["the fox"])


def test_adapters_are_refused(folder: Path) -> None:
    """One names another model, and may lie in a pickle."""
    (folder / "adapter_config.json").write_text("{}", "utf-8")
    with bad_usage("holds an adapter; merge it with its model"):
        Encoder(model=str(folder)).sentences(["the fox"])


@pytest.mark.parametrize(
    "said",
    [
        {"num_labels": 10_000_000_000},
        {"num_hidden_layers": 100_000},
        {"max_position_embeddings": 10**10},
        {"text_config": {"vocab_size": -(10**12)}},
    ],
)
def test_sizes_that_no_model_has(folder: Path, said: dict[str, Any]) -> None:
    """They would fill the memory before any weight is read."""
    say(folder / "config.json", **said)
    with bad_usage(r"in config.json; at most \d+ is read"):
        Encoder(model=str(folder)).sentences(["the fox"])


def test_a_pickle_beside_safe_weights_is_left_alone(
    folder: Path, tmp_path: Path
) -> None:
    """It may lie there."""
    (folder / "pytorch_model.bin").write_bytes(b"no weights")
    assert Encoder(model=str(folder)).sentences(["the fox"]).shape == (1, 16)


@pytest.mark.parametrize(
    "said",
    [
        {"attn_implementation": "somebody/kernel"},
        {"attn_implementation": {"": "somebody/kernel"}},
        {"_attn_implementation": ["somebody/kernel"]},
        {"_attn_implementation_internal": "somebody/kernel"},
        {"text_config": {"attn_implementation": "somebody/kernel"}},
    ],
)
def test_kernels_from_elsewhere_are_refused(folder: Path, said: dict[str, Any]) -> None:
    """A name of a hub's repository would be fetched and run; so would one within a table."""
    say(folder / "config.json", **said)
    with bad_usage("asks for a kernel from elsewhere"):
        Encoder(model=str(folder)).sentences(["the fox"])


def test_nothing_is_asked_of_a_network(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for a folder nor for a name of a model."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert Encoder(model=str(folder)).sentences(["the fox"]).shape == (1, 16)
    with bad_usage("neither a folder nor in Hugging Face's cache"):
        Encoder(model="nobody/has-this").sentences(["the fox"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"\xff"),
        ("config.json", b"[]"),
        ("config.json", b"[" * 100_000),
        ("config.json", b'{"model_type": "bert", "hidden_size": "x"}'),
        (
            "config.json",
            b'{"model_type": "bert", "hidden_size": 7, "num_attention_heads": 2}',
        ),
        ("config.json", b'{"model_type": "t5"}'),
        ("model.safetensors", b""),
        ("model.safetensors", b"\xff" * 99),
        ("model.safetensors", b"\x02\0\0\0\0\0\0\0{}"),
        ("tokenizer.json", b"{"),
        (
            "tokenizer.json",
            b'{"version": "1.0", "model": {"type": "WordPiece", "vocab": 5}}',
        ),
        ("modules.json", b"{}"),
        ("modules.json", b'[5, {"type": [1]}]'),
        ("1_Pooling/config.json", b"null"),
        ("1_Pooling/config.json", b'{"pooling_mode": {"a": 1}}'),
        ("sentence_bert_config.json", b'{"max_seq_length": "many"}'),
    ],
)
def test_damaged_folders(folder: Path, name: str, content: bytes) -> None:
    """Each part, damaged: one clear error."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises((InputError, UsageError)) as caught:
        Encoder(model=str(folder)).sentences(["the fox"])
    assert "\n" not in str(caught.value)
    assert folder.name in str(caught.value)


def test_a_vocabulary_larger_than_its_vectors(folder: Path) -> None:
    """Texts with such words cannot be read, and that is said."""
    said = json.loads((folder / "tokenizer.json").read_text())
    said["model"]["vocab"]["fox"] = 99_999
    (folder / "tokenizer.json").write_text(json.dumps(said), "utf-8")
    with bad_usage("the encoder cannot read these texts"):
        Encoder(model=str(folder)).sentences(["the fox"])
