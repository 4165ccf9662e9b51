"""Words found, counted and replaced in place."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.extensions.papers.stress import words as w

TEXTS = ("A man, a plan (a canal).", "Woman reads.", "")


def test_words_leave_punctuation_aside() -> None:
    """Counted by hand; apostrophes and hyphens stay within words."""
    assert w.words_of('He said: "don\'t!" (well-known)') == [
        "he",
        "said",
        "don't",
        "well-known",
    ]
    assert w.counted(TEXTS)["a"] == 3
    assert w.most_frequent(w.counted(TEXTS), 2) == ("a", "canal")


def test_substitution_is_in_place() -> None:
    """3 of 8 words, by hand; the rest of the texts stays as it was."""
    found = w.replaced(TEXTS, {"a": "UNK"})
    assert found.texts == ("UNK man, UNK plan (UNK canal).", "Woman reads.", "")
    assert found.share == pytest.approx(3 / 8)


def test_no_words_have_no_share() -> None:
    """NaN, not 0."""
    assert w.replaced(("", "..."), {"a": "b"}).share != 0


@given(
    st.lists(st.text(alphabet="ab ,.", max_size=12), max_size=6),
    st.floats(0, 1),
    st.integers(0, 3),
)
def test_control_takes_content_words_only(
    texts: list[str], share: float, seed: int
) -> None:
    """It takes as many as asked for, or all; 'a' is a stop word and stays; a seed repeats it."""
    words = [*chain.from_iterable(map(w.words_of, texts))]
    content = [word for word in words if word != "a"]
    found = w.control(texts, share, "UNK", frozenset({"a"}), seed)
    again = w.control(texts, share, "UNK", frozenset({"a"}), seed)
    left = [*chain.from_iterable(map(w.words_of, found.texts))]
    assert found.texts == again.texts
    assert left.count("unk") == min(round(share * len(words)), len(content))
    assert left.count("a") == words.count("a")
