"""Texts to token vectors by an encoder."""

import sys
from pathlib import Path

import numpy as np
import pytest

from refless.registry.errors import MissingExtraError
from refless.text.embed import Encoder, loading
from refless.text.embed.encoder import model_name
from refusals import bad_usage
from tiny_encoder import LAYERS

TEXTS = ["the fox is quick", "a dog", "the fox is quick", "", "the dogs was slow ."]


def test_each_distinct_text_is_embedded_once(model: str) -> None:
    """Five texts, four of them distinct; [CLS] and [SEP] are marked."""
    found = Encoder(model=model).embed(TEXTS)
    assert found.rows.tolist() == [0, 1, 0, 2, 3]
    # words, and two marks a text; "dogs" is two pieces
    assert np.diff(found.starts).tolist() == [6, 4, 2, 8]
    assert found.vectors.shape == (20, 16)
    assert found.special[found.of(1)].tolist() == [True, False, False, True]
    assert found.of(0) == found.of(2)


def test_vectors_are_the_models_own(model: str) -> None:
    """Text by text without padding, straight from transformers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    network = AutoModel.from_pretrained(model).eval()
    tokenizer = AutoTokenizer.from_pretrained(model)
    for layer in (0, 1, LAYERS):
        found = Encoder(model=model, layer=layer).embed(TEXTS)
        for i, text in enumerate(TEXTS):
            with torch.no_grad():
                read = tokenizer(text, return_tensors="pt")
                states = network(**read, output_hidden_states=True).hidden_states[
                    layer
                ][0]
            np.testing.assert_allclose(
                found.vectors[found.of(i)], states.numpy(), atol=1e-5
            )


def test_long_texts_are_cut_to_what_the_model_reads(model: str) -> None:
    """24 positions, marks included."""
    found = Encoder(model=model).embed(["fox " * 100])
    assert len(found.vectors) == 24


def test_the_order_of_texts_changes_no_vector(model: str) -> None:
    """Batches are made of the sorted texts."""
    first, second = (
        Encoder(model=model).embed(texts) for texts in (TEXTS, TEXTS[::-1])
    )
    for i in range(len(TEXTS)):
        mine = first.vectors[first.of(i)]
        np.testing.assert_array_equal(
            mine, second.vectors[second.of(len(TEXTS) - 1 - i)]
        )


def test_the_signature_names_model_content_and_layer(model: str) -> None:
    """The last layer where nothing else is known; other weights are another model."""
    settings = Encoder(model=model).settings()
    assert settings["model"] == "tiny"
    assert settings["layer"] == LAYERS
    config = Path(model) / "config.json"
    before = config.read_bytes()
    try:
        config.write_bytes(before + b"\n")
        assert Encoder(model=model).settings()["sha"] != settings["sha"]
    finally:
        config.write_bytes(before)


def test_what_is_not_there_is_said(model: str, tmp_path: Path) -> None:
    """No such layer, no such model, a folder that holds none; nothing is downloaded."""
    with bad_usage(r"layer 4 .* there are 0-3"):
        Encoder(model=model, layer=4).embed(["fox"])
    with bad_usage("holds no encoder"):
        Encoder(model=str(tmp_path)).embed(["fox"])


def test_a_missing_library_is_named(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is the line that installs it."""
    loading.described.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"'\.\[neural\]'"):
        Encoder(model=model).embed(["fox"])


def test_published_layers_go_by_name(tmp_path: Path) -> None:
    """BERTScore's release takes layer 9 of bert-base-uncased and 17 of roberta-large."""
    from refless.text.embed.encoder import LAYERS as PUBLISHED

    assert model_name("google-bert/bert-base-uncased") == "bert-base-uncased"
    assert PUBLISHED["bert-base-uncased"] == 9
    assert PUBLISHED["roberta-large"] == 17
    assert model_name(str(tmp_path)) == tmp_path.name
