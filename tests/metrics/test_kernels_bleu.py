"""BLEU*: the compiled loop, its slow twin, NLTK's BLEU and the paper."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import sentence_bleu
from numpy.testing import assert_allclose

from refless.metrics.kernels import KERNELS
from refless.metrics.kernels.bleu import BleuStar, PreparedBleu, bleu_star
from refless.metrics.matching import Work, hold_out
from refless.registry.arrays import FloatArray
from refless.registry.signature import Signature
from refless.text.ngrams import Shape
from refusals import bad_usage
from slow_twins import table

# few letters, so that n-grams are shared: an astral plane, a combining mark, a lone surrogate
LETTERS = "aab \U0001f98a\u0301"
TEXT = st.text(LETTERS + "\ud83d\udc51", max_size=24) | st.text(
    st.characters(), max_size=8
)
NLTK_TEXT = st.text(LETTERS, max_size=24) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=8
)
SENTENCE = st.lists(
    st.sampled_from(["a", "fox", "is", "isn't", "quick.", "$5,"]), max_size=12
)
SHAPES = st.builds(
    lambda orders, clip: Shape(low=orders[0], high=orders[1], clip=clip),
    st.sampled_from([(2, 4), (1, 4), (2, 2), (1, 6), (1, 3), (3, 5)]),
    st.booleans(),
)


def twins(texts: list[str], rated: list[str], shape: Shape) -> FloatArray:
    """All similarities the slow way; an output shorter than the highest order has none."""
    return table(partial(bleu_star, shape=shape), texts, rated)


def nltk_bleu(output: str, rated: str) -> float:
    """NLTK on the raw strings (FACTS, BLEU Neighbors 1); it warns where an order has no match."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(sentence_bleu([rated], output, weights=(0, 1 / 3, 1 / 3, 1 / 3)))


def test_figure_1() -> None:
    """The paper's example: 0.49, 0.39 and 0."""
    rated = ["The dog was quick.", "It is the fox.", "Dogs are lazy."]
    found = PreparedBleu.build(rated, Shape()).similarities(["The fox is quick."])
    assert found.round(2).tolist() == [[0.49, 0.39, 0.0]]


def test_by_hand() -> None:
    """'abcde' against 'abcdx': 3 of 4, 2 of 3, 1 of 2 n-grams; no brevity penalty."""
    assert bleu_star("abcde", "abcdx") == pytest.approx(
        (3 / 4 * 2 / 3 * 1 / 2) ** (1 / 3)
    )
    # the rated text twice as long: exp(1 - 10 / 5)
    assert bleu_star("abcde", "abcdevwxyz") == pytest.approx(np.exp(-1))
    # an output longer than the rated text pays through precision only
    assert bleu_star("abcdevwxyz", "abcde") == pytest.approx(
        (4 / 9 * 3 / 8 * 2 / 7) ** (1 / 3)
    )


def test_clipping_by_hand() -> None:
    """'aaaaaa' has 5, 4, 3 n-grams; 'aaaa' answers 3, 2, 1 of them, or all without clipping."""
    assert bleu_star("aaaaaa", "aaaa") == pytest.approx(
        (3 / 5 * 2 / 4 * 1 / 3) ** (1 / 3)
    )
    assert bleu_star("aaaaaa", "aaaa", Shape(clip=False)) == pytest.approx(1.0)


@given(st.lists(TEXT, max_size=5), st.lists(TEXT, max_size=6), SHAPES)
def test_the_loop_equals_its_twin(
    texts: list[str], rated: list[str], shape: Shape
) -> None:
    """On all of Unicode, short texts, repeated n-grams, any orders, clipped and not."""
    found = PreparedBleu.build(rated, shape).similarities(texts)
    assert found.shape == (len(texts), len(rated))
    assert_allclose(found, twins(texts, rated, shape), rtol=0, atol=1e-9)


@given(st.lists(NLTK_TEXT, max_size=4), st.lists(NLTK_TEXT, max_size=4))
def test_the_default_is_nltk_on_raw_strings(texts: list[str], rated: list[str]) -> None:
    """The loop and the twin alike."""
    wanted = np.array(
        [nltk_bleu(x, s) for x, s in product(texts, rated)], dtype=np.float64
    )
    found = PreparedBleu.build(rated, Shape()).similarities(texts)
    assert_allclose(found.ravel(), wanted, rtol=0, atol=1e-9)
    assert_allclose(twins(texts, rated, Shape()).ravel(), wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("tokens", ["words", "13a"])
@settings(max_examples=25)
@given(st.lists(SENTENCE, max_size=4), st.lists(SENTENCE, max_size=5), SHAPES)
def test_other_tokens(
    tokens: str, texts: list[list[str]], rated: list[list[str]], orders: Shape
) -> None:
    """Words, and 13a, whose tokens are others than the words."""
    shape = Shape(tokenize=tokens, low=orders.low, high=orders.high, clip=orders.clip)
    outputs = [" ".join(x) for x in texts]
    pool = [" ".join(s) for s in rated]
    prepared = PreparedBleu.build(pool, shape)
    found = prepared.similarities(outputs)
    assert_allclose(found, twins(outputs, pool, shape), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("orders", "clip"), [((2, 4), True), ((2, 4), False), ((1, 6), True)]
)
def test_very_long_texts_overflow_no_counter(
    orders: tuple[int, int], clip: bool
) -> None:
    """Counts of 100,000, beside short texts in the same block."""
    shape = Shape(low=orders[0], high=orders[1], clip=clip)
    long = "a" * 100_000
    other = "a" * 99_999
    rated = ["a", "aaaa", "aaaaaaa", "aa ab", other, "ab" * 700]
    texts = [long, "a" * 3_000, "aaaaaa", "ba" * 600, "aaa"]
    found = PreparedBleu.build(rated, shape).similarities(texts)
    assert_allclose(found, twins(texts, rated, shape), rtol=0, atol=1e-9)


@pytest.mark.parametrize("length", [1_022, 1_023, 1_024, 1_027, 2_053])
def test_packed_counters_give_way_where_they_would_overflow(length: int) -> None:
    """Around 1,023 matches, on either side of the ten bits of a packed counter."""
    run = "a" * length
    rated = [run, run[:-1] + "b", "a" * 1_023, "a" * 4_000]
    for texts in ([run], ["b" + run], ["a" * 5_000]):
        for clip in (True, False):
            shape = Shape(low=1, high=3, clip=clip)
            found = PreparedBleu.build(rated, shape).similarities(texts)
            assert_allclose(found, twins(texts, rated, shape), rtol=0, atol=1e-12)


def test_without_clipping_a_short_rated_text_is_matched_more_than_1023_times() -> None:
    """The repeats count in the output, however short the rated texts are."""
    for rated in (["aaaa"], ["aaaa", "aab", "b" * 1_000]):
        shape = Shape(clip=False)
        found = PreparedBleu.build(rated, shape).similarities(
            ["a" * 5_000, "aaaab" * 400]
        )
        wanted = twins(["a" * 5_000, "aaaab" * 400], rated, shape)
        assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_without_texts_there_are_no_similarities() -> None:
    """An empty pool, and no outputs."""
    assert PreparedBleu.build([], Shape()).similarities(["abcd"]).shape == (1, 0)
    assert PreparedBleu.build(["abcd"], Shape()).similarities([]).shape == (0, 1)


def test_lengths_count_tokens() -> None:
    """Characters, or words."""
    texts = ["", "a b", "\U0001f98a\u0301"]
    assert PreparedBleu.build([], Shape()).lengths(texts).tolist() == [0, 3, 2]
    words = PreparedBleu.build([], Shape(tokenize="words"))
    assert words.lengths(texts).tolist() == [0, 2, 1]
    assert words.least == 4


def test_shared_stretches_are_the_longest_first() -> None:
    """By hand, on characters and on words."""
    on_characters = PreparedBleu.build([], Shape())
    assert on_characters.shared("the quick fox", "a quick red fox") == (
        " quick ",
        "fox",
    )
    on_words = PreparedBleu.build([], Shape(tokenize="words"))
    assert on_words.shared("a fox is quick", "this fox is slow") == ("fox is",)
    assert on_words.shared("one", "two") == ()


def test_settings_tell_everything_but_tau() -> None:
    """The kernel in signatures."""
    assert KERNELS["bleu*"]() == BleuStar()
    kernel = BleuStar(tokenize="words", orders=(1, 4), clip=False)
    signed = Signature("x").plus(**kernel.settings())
    assert str(signed) == "x|tok:words|n:1-4|clip:no"
    assert kernel.default_tau == 0.08  # section 4 of the paper
    with bad_usage("tokenize must be one of"):
        BleuStar(tokenize="nothing")


@pytest.mark.parametrize("kernel", ["bleu*", "rouge-l"])
def test_similarities_of_what_is_held_out(kernel: str) -> None:
    """-1 for the rated texts of an output's own group, the same numbers as ever for the others."""
    texts = ["the quick fox", "the quick dog", "a slow dog", "the slow fox"]
    prepared = KERNELS[kernel]().prepare(texts)
    groups = np.array([0, 0, 1, -1])
    found = prepared.similarities(texts, Work(held=hold_out(groups, groups)))
    hidden = (groups[:, None] == groups) & (groups >= 0)
    assert (found[hidden] == -1).all()
    assert np.array_equal(found[~hidden], prepared.similarities(texts)[~hidden])
