"""BLEU* with rarer n-grams weighing more."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.metrics.bleu import gram_counts
from refless.metrics.kernels.bleu import BleuStar
from refless.metrics.kernels.weighing import prepare_weighted
from refless.text.ngrams import Shape
from refless.text.tokenize import tokenizer

TEXT = st.lists(st.sampled_from(["the", "of", "fox", "dog", "the", "quick"]), max_size=9)
TEXTS = st.lists(TEXT.map(" ".join), max_size=5)


def weighted_bleu_star(output: str, rated: str, pool: Sequence[str], shape: Shape) -> float:
    """BLEU* of an output against a rated text of a pool, in [0, 1]: the definition, spelled out.

    The slow twin of `prepare_weighted`.
    """
    split = tokenizer(shape.tokenize)
    x, s, texts = split(output), split(rated), [split(text) for text in pool]
    product = 1.0
    for n in range(shape.low, shape.high + 1):
        mine, theirs = gram_counts(x, n), gram_counts(s, n)
        frequency = Counter(g for text in texts for g in gram_counts(text, n))
        weight = {g: math.log((len(texts) + 1) / (frequency[g] + 1)) for g in mine}
        limit = theirs if shape.clip else mine
        matched = sum(weight[g] * min(c, limit[g]) for g, c in mine.items() if g in theirs)
        total = sum(weight[g] * c for g, c in mine.items())
        product *= (matched / total if total > 0 else 0.0) ** (1.0 / shape.orders)
    beta = math.exp(min(0.0, 1.0 - len(s) / len(x))) if x else 0.0
    return float(beta * product)


@settings(max_examples=40)
@given(TEXTS, TEXTS, st.sampled_from([(1, 2), (2, 3)]), st.booleans())
def test_products_equal_the_definition(
    texts: list[str], pool: list[str], orders: tuple[int, int], clip: bool
) -> None:
    """On words, with words that no rated text has."""
    shape = Shape(tokenize="words", low=orders[0], high=orders[1], clip=clip)
    outputs = [*texts, "the unknown fox of the dog"]
    found = prepare_weighted(pool, shape).similarities(outputs)
    for i, text in enumerate(outputs):
        short = len(text.split()) < shape.high
        for j, rated in enumerate(pool):
            expected = weighted_bleu_star(text, rated, pool, shape)
            assert found[i, j] == pytest.approx(0.0 if short else expected, abs=1e-9)


def test_by_hand() -> None:
    """Unigrams of "the fox" in a pool of 2: fox weighs log(3 / 2), the log(3 / 3) = 0."""
    shape = Shape(tokenize="words", low=1, high=1)
    prepared = prepare_weighted(["the fox", "the dog"], shape)
    assert prepared.similarities(["the fox"]).tolist() == [[1.0, 0.0]]
    # rarer among others: log(3 / 2) for fox, log(3 / 1) for the unknown word
    share = np.log(3 / 2) / (np.log(3 / 2) + np.log(3))
    assert prepared.similarities(["fox zebra"])[0, 0] == pytest.approx(share)


def test_settings_say_what_is_weighed() -> None:
    """Plain BLEU* says nothing of it."""
    assert BleuStar().settings() == {"tok": "char", "n": "2-4", "clip": True}
    assert BleuStar(rarity=True).settings()["rarity"] == "log"
