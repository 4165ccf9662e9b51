"""Encoders of tests: a tiny BERT with random weights, and one that counts letters."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from refless.text.embed import VectorArray

WORDS = ["the", "a", "fox", "dog", "is", "was", "quick", "slow", "##s", "."]
LAYERS = 3


def tiny_encoder(folder: Path) -> str:
    """The folder of an encoder with a vocabulary of some words; skips without transformers."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip(
        "transformers", reason="transformers is not installed"
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", "utf-8")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokens),
        hidden_size=16,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    return str(folder)


def letters(texts: Sequence[str]) -> VectorArray:
    """Stands for an encoder: how often each letter occurs, of length 1; 0 for no letter."""
    counts = [text.count(letter) for text, letter in product(texts, "aefhos")]
    every = np.array(counts).reshape(len(texts), 6)
    lengths = np.maximum(np.linalg.norm(every, axis=1, keepdims=True), 1e-9)
    return np.asarray(every / lengths, dtype=np.float32)
