"""A tiny GPT-2 with random weights and words as tokens, made for the tests."""

from pathlib import Path

import pytest

WORDS = ["the", "a", "fox", "dog", "is", "was", "quick", "slow", "."]


def tiny_language_model(folder: Path, *, positions: int = 64, marked: bool = True) -> str:
    """The folder of a causal language model that reads so many tokens; skips without libraries."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    known = {word: i for i, word in enumerate(["<unk>", "<s>", *WORDS])}
    tokenizer = Tokenizer(WordLevel(known, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    marks = {"bos_token": "<s>"} if marked else {}
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(known), n_embd=16, n_layer=2, n_head=2, n_positions=positions
    )
    network = transformers.GPT2LMHeadModel(config)
    for weights in network.parameters():  # as it comes, every token is about as probable
        weights.data *= 8
    network.save_pretrained(folder)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", **marks
    )
    fast.save_pretrained(folder)
    return str(folder)
