"""Compiled loops over code points read texts as their slow twins do, whatever the script."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from refless.text.runs import RatedRuns
from refless.text.surface import surface
from refless.text.terms import (
    KnownGrams,
    KnownTerms,
    Tokens,
    Words,
    letter_terms,
    products_of,
    word_terms,
)
from refless.text.words import words
from slow_texts import (
    letter_strings,
    plain_words,
    runs_of,
    surface_numbers,
    tally,
    word_strings,
)
from slow_twins import gram_cosine, table

# cases, marks, joiners, scripts without blanks, full stops of all kinds
LETTERS = "aB1_ İΣς.。?،,!\n\u0301\u0307\u200dก\u0e31中\U00020000\U000e0100\ud800 'é"
TEXT = st.text(max_size=30) | st.text(LETTERS, max_size=30)
TEXTS = st.lists(TEXT, max_size=5)
TWINS = [(word_terms, word_strings), (letter_terms, letter_strings)]


@pytest.mark.parametrize("whole", [False, True])
@given(TEXTS)
def test_words_are_split_as_one_by_one(whole: bool, texts: list[str]) -> None:
    """Sizes of the words of each text, and equal keys of equal words alone."""
    laid = Words.of(texts).whole() if whole else Words.of(texts)
    strings = [words(text, whole=whole) for text in texts]
    assert laid.begins.tolist() == np.cumsum([0, *map(len, strings)]).tolist()
    every = [*chain.from_iterable(strings)]
    assert laid.sizes.tolist() == [*map(len, every)]
    assert same_kinds(laid.keys.tolist(), every)


def same_kinds(keys: Sequence[int], strings: Sequence[object]) -> bool:
    """Whether keys are equal where strings are, and nowhere else."""
    pairs = {*zip(keys, strings, strict=True)}
    return len(pairs) == len({*keys}) == len({*strings})


@pytest.mark.parametrize(("read", "twin"), TWINS)
@given(texts=TEXTS)
@example(texts=["the fox the fox", "", "fox"])
@example(texts=["語" * 60])
def test_terms_are_those_of_counters(
    read: Callable[[Words], Tokens],
    twin: Callable[[str], list[str]],
    texts: list[str],
) -> None:
    """The different terms of each text, and how often it has them."""
    terms = read(Words.of(texts)).counted()
    strings = [twin(text) for text in texts]
    every: list[str] = []
    for i, text in enumerate(strings):
        part = slice(int(terms.starts[i]), int(terms.starts[i + 1]))
        assert sorted(terms.counts[part]) == sorted(tally(text))
        alone = read(Words.of([texts[i]])).counted()
        assert alone.keys.tolist() == terms.keys[part].tolist()
        every += text
    assert len({*terms.keys.tolist()}) == len({*every})


def test_cosines_of_grams_by_hand() -> None:
    """'abcde' and 'abcdx' share 3 of 4, 2 of 3, 1 of 2; 'aaaaaa' 3, 2, 1 of 5, 4, 3 with 'aaaa'."""
    assert gram_cosine("abcde", "abcdx") == pytest.approx((3 / 4 + 2 / 3 + 1 / 2) / 3)
    wanted = (3 / np.sqrt(5 * 3) + 2 / np.sqrt(4 * 2) + 1 / np.sqrt(3 * 1)) / 3
    assert gram_cosine("aaaaaa", "aaaa") == pytest.approx(wanted)
    assert gram_cosine("abcd", "abcd") == pytest.approx(1.0)
    assert gram_cosine("abc", "abc") == gram_cosine("", "") == 0.0


@given(
    st.lists(TEXT | st.text("ab", max_size=30), max_size=5),
    st.lists(TEXT | st.text("ab", max_size=30), max_size=6),
)
@example(["a" * 2_000, "ba" * 600, "aaa"], ["a" * 1_999, "aaaa", ""])
def test_products_of_grams_are_cosines(texts: list[str], rated: list[str]) -> None:
    """On all of Unicode, of short texts, of n-grams again and again."""
    grams = KnownGrams.of(rated)
    anchors = grams.vectors(rated).T.tocsr()
    found = products_of(grams.vectors(texts), anchors)
    assert_allclose(found, table(gram_cosine, texts, rated), rtol=0, atol=1e-12)


# many have the same low bits, by which their entries would be in one place
KEY = st.integers(0, 2**40).map(lambda number: number << 20 | number % 5)


@given(st.sets(KEY, max_size=40), st.lists(KEY, max_size=9))
def test_keys_have_their_places(known: set[int], others: list[int]) -> None:
    """The place of a known key, and one more than the last for another one."""
    keys = sorted(known)
    wanted = [keys.index(key) if key in keys else len(keys) for key in others]
    places = KnownTerms(np.array(keys, dtype=np.int64)).places
    assert places(np.array(others, dtype=np.int64)).tolist() == wanted
    assert places(np.array(keys, dtype=np.int64)).tolist() == [*range(len(keys))]


@given(TEXTS)
@example(["The cat. The CAT... sat? 42, İ!", "a b c d a b c d"])
def test_surface_numbers_are_those_of_each_text(texts: list[str]) -> None:
    """Bit for bit, as words and characters of one text after the other give them."""
    rows = [surface_numbers(text) for text in texts]
    wanted = np.array(rows, dtype=np.float64).reshape(len(rows), 15)
    np.testing.assert_array_equal(surface(texts), wanted)


@given(rated=TEXTS, texts=TEXTS)
@example(rated=["Ab c: dé_e 語語語 ⅷ"], texts=["ab C dé e 語語語 VIII", ""])
def test_runs_are_those_of_plain_words(rated: list[str], texts: list[str]) -> None:
    """Runs of three words of each text, one that it has again as another one, known or not."""
    texts = [*texts, *rated]
    runs = RatedRuns.of(rated)
    found = runs.looked_up(texts)
    wanted: list[tuple[object, ...]] = []
    for text in texts:
        seen: Counter[tuple[str, ...]] = Counter()
        for run in runs_of(plain_words(text), 3):
            wanted.append((run, seen[run]))
            seen[run] += 1
    known = {*wanted[len(wanted) - len(runs.runs.ids) :]}
    named = [run if run in known else None for run in wanted]
    assert same_kinds(found.ids.tolist(), named)
    assert found.starts[-1] == len(wanted)
    part = slice(len(wanted) - len(runs.runs.ids), None)
    np.testing.assert_array_equal(runs.runs.ids, found.ids[part])
    np.testing.assert_array_equal(
        np.diff(runs.runs.starts), np.diff(found.starts)[len(texts) - len(rated) :]
    )
