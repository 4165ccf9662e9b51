"""Devices and precisions of an encoder."""

import numpy as np
import pytest

from refless.text.embed import BUILT_IN, Encoder
from refless.text.embed.devices import device_of
from refless.text.embed.loading import network_of
from refusals import bad_usage
from tiny_encoder import LAYERS

torch = pytest.importorskip("torch", reason="torch is not installed")

TEXTS = ["the fox is quick", "a dog", "", "the dogs was slow ."]


def test_a_card_is_taken_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` is `cuda` with a card and `cpu` without; `cuda` without one is refused."""
    names = ("auto", "cpu", "cuda")
    monkeypatch.setattr(
        torch.cuda,
        "is_available",
        lambda: True,
    )
    assert [*map(device_of, names)] == ["cuda", "cpu", "cuda"]
    monkeypatch.setattr(
        torch.cuda,
        "is_available",
        lambda: False,
    )
    assert [*map(device_of, names[:2])] == ["cpu", "cpu"]
    with bad_usage("torch finds no graphics card"):
        device_of("cuda")


def test_bfloat16(model: str) -> None:
    """It has eight bits: vectors of length 1 differ from the third digit on."""
    whole = Encoder(model=model, device="cpu")
    half = Encoder(model=model, device="cpu", precision="bfloat16")
    found = half.sentences(TEXTS)
    assert 1e-5 < np.abs(found - whole.sentences(TEXTS)).max() < 0.03
    np.testing.assert_allclose(
        np.linalg.norm(found, axis=1),
        1,
        atol=1e-6,
    )
    assert half.settings() == {**whole.settings(), "precision": "bfloat16"}


def test_only_the_layers_that_are_needed(model: str) -> None:
    """The one that is taken and the next; `test_embed` holds the vectors of each to the whole."""
    assert len(network_of(model, 1, "cpu", "float32").encoder.layer) == 1
    Encoder(model=model, layer=1, device="cpu").embed(TEXTS)
    before = network_of.cache_info().misses
    assert len(network_of(model, 2, "cpu", "float32").encoder.layer) == 2
    assert network_of.cache_info().misses == before
    assert len(network_of(model, LAYERS, "cpu", "float32").encoder.layer) == LAYERS


@pytest.mark.parametrize("wrong", [{"device": "cuda"}, {"precision": "bfloat16"}])
def test_a_table_of_vectors_needs_no_device(wrong: dict[str, str]) -> None:
    """A setting that could not be honoured is refused."""
    with bad_usage("holds static embeddings: they are float32"):
        Encoder(model=BUILT_IN, **wrong).sentences(TEXTS)
