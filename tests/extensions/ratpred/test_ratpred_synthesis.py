"""Errors made on purpose, and what they cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from refless.extensions.ratpred.reading import SourceAndText
from refless.extensions.ratpred.synthesis import (
    KINDS,
    SPARED,
    dictionary_of,
    lowered,
    synthetic,
    with_errors,
)

SIX = (1.0, 6.0)
TEXT = ("the", "x-name", "serves", "good", "food", ".")
WORDS = dictionary_of([TEXT, ("a", "nice", "place", "!"), ("nice", "food")])


@pytest.mark.parametrize(
    ("rating", "expected"),
    [
        (6.0, [4, 3, 2, 1]),  # section 3.3: 6 and 5.5 fall to 4 first
        (5.5, [4, 3, 2, 1]),
        (5.0, [4, 3, 2, 1]),
        (4.5, [3.5, 2.5, 1.5, 1]),
        (2.0, [1, 1, 1, 1]),
    ],
)
def test_ratings_fall_as_published(rating: float, expected: list[float]) -> None:
    """One point an error, never under 1; the best ones fall to 4 at once."""
    assert [lowered(rating, n) for n in (1, 2, 3, 4)] == expected
    assert lowered(rating, 0) == rating


def test_other_scales_fall_in_proportion() -> None:
    """On 0..1 an error costs a fifth."""
    found = [lowered(1.0, n, (0.0, 1.0)) for n in (1, 2, 3, 4)]
    np.testing.assert_allclose(found, [0.6, 0.4, 0.2, 0.0], atol=1e-12)


def test_each_kind_does_what_it_is_called() -> None:
    """The five errors at one place."""
    rng = default_rng(0)
    text = list(TEXT)
    assert KINDS["remove"](text, 1, WORDS, rng) == [
        "the",
        "serves",
        "good",
        "food",
        ".",
    ]
    assert KINDS["double"](text, 1, WORDS, rng)[:3] == ["the", "x-name", "x-name"]
    assert sorted(KINDS["copy"](text, 1, WORDS, rng)) == sorted([*text, "x-name"])
    added = KINDS["add"](text, 1, WORDS, rng)
    assert added[:1] + added[2:] == text
    assert added[1] in WORDS.words
    replaced = KINDS["replace"](text, 1, WORDS, rng)
    assert replaced[1] != "x-name"
    assert replaced[:1] + replaced[2:] == text[:1] + text[2:]
    assert text == list(TEXT)


def test_added_words_are_content_words_by_frequency() -> None:
    """No articles, no punctuation; nice and food occur twice."""
    assert WORDS.words == ("food", "good", "nice", "place", "serves", "x-name")
    assert np.diff(WORDS.sums, prepend=0).tolist() == [2, 1, 2, 1, 1, 1]


@given(st.integers(0, 500), st.integers(1, 6), st.integers(1, 6))
def test_content_words_first_and_one_word_stays(
    seed: int, length: int, errors: int
) -> None:
    """Articles and punctuation survive while other words are there; no text becomes empty."""
    text = TEXT[:length]
    changed = with_errors(text, errors, WORDS, default_rng(seed))
    assert changed
    content = [t for t in text if t[0].isalnum() and t not in SPARED]
    if len(content) > errors:
        kept = [t for t in changed if t in SPARED or not t[0].isalnum()]
        assert kept == [t for t in text if t in SPARED or not t[0].isalnum()]


def test_versions_and_their_order() -> None:
    """Four versions of each pair, deterministic, each pair's by its place and the seed alone."""
    pairs = [
        SourceAndText(("a",), TEXT),
        SourceAndText(("b",), ("one",)),
        SourceAndText(("c",), ()),
    ]
    made, rated = synthetic(pairs, [6.0, 5.0, 6.0], WORDS, SIX, seed=3)
    assert [pair.source for pair in made] == [("a",)] * 4 + [("b",)] * 4
    assert rated == [4, 3, 2, 1, 4, 3, 2, 1]
    assert synthetic(pairs, [6.0, 5.0, 6.0], WORDS, SIX, seed=3)[0] == made
    assert synthetic(pairs, [6.0, 5.0, 6.0], WORDS, SIX, seed=4)[0] != made
    assert synthetic(pairs[:1], [6.0], WORDS, SIX, seed=3)[0] == made[:4]


def test_the_last_word_stays() -> None:
    """Section 3.3: it is never removed; a full stop is no word."""
    words = dictionary_of([("hello", "there", ".")])
    rng = default_rng(0)
    for _ in range(300):
        found = with_errors(("goodbye", "."), 4, words, rng)
        assert any(token[0].isalnum() for token in found)
