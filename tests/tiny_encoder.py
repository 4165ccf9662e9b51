"""A tiny BERT with random weights, made for the tests and saved where they say."""

from pathlib import Path

import pytest

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
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
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
