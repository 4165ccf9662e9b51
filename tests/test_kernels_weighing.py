"""BLEU* without stop words and with rarer n-grams weighing more."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.estimators import BLEUNeighbors
from refless.metrics.kernels.bleu import BleuStar, bleu_star
from refless.metrics.kernels.weighing import Weighing, prepare_weighted
from refless.metrics.similarities.bleu import gram_counts
from refless.registry.errors import InputError, UsageError
from refless.text.ngrams import Shape
from refless.text.tokenize import tokenizer

TEXT = st.lists(st.sampled_from(["the", "of", "fox", "dog", "the", "quick"]), max_size=9)
TEXTS = st.lists(TEXT.map(" ".join), max_size=5)
WEIGHINGS = st.sampled_from(
    [
        Weighing(rarity=True),
        Weighing(stop_words="english"),
        Weighing(stop_words="english", rarity=True),
    ]
)


def weighted_bleu_star(
    output: str, rated: str, pool: Sequence[str], shape: Shape, weighing: Weighing
) -> float:
    """BLEU* of an output against a rated text of a pool, in [0, 1]: the definition, spelled out.

    The slow twin of `prepare_weighted`.
    """
    split, stop = tokenizer(shape.tokenize), weighing.words()
    x, s, texts = split(output), split(rated), [split(text) for text in pool]
    product = 1.0
    for n in range(shape.low, shape.high + 1):
        mine, theirs = gram_counts(x, n, stop), gram_counts(s, n, stop)
        holding = Counter(g for text in texts for g in gram_counts(text, n, stop))
        size = len(texts) + 1
        weight = {g: math.log(size / (holding[g] + 1)) if weighing.rarity else 1.0 for g in mine}
        limit = theirs if shape.clip else mine
        matched = sum(weight[g] * min(c, limit[g]) for g, c in mine.items() if g in theirs)
        total = sum(weight[g] * c for g, c in mine.items())
        product *= (matched / total if total > 0 else 0.0) ** (1.0 / shape.orders)
    beta = math.exp(min(0.0, 1.0 - len(s) / len(x))) if x else 0.0
    return float(beta * product)


@settings(max_examples=40)
@given(TEXTS, TEXTS, WEIGHINGS, st.sampled_from([(1, 2), (2, 3)]), st.booleans())
def test_products_equal_the_definition(
    texts: list[str], pool: list[str], weighing: Weighing, orders: tuple[int, int], clip: bool
) -> None:
    """On words, with words that no rated text has."""
    shape = Shape(tokenize="words", low=orders[0], high=orders[1], clip=clip)
    outputs = [*texts, "the unknown fox of the dog"]
    found = prepare_weighted(pool, shape, weighing).similarities(outputs)
    for i, text in enumerate(outputs):
        short = len(text.split()) < shape.high
        for j, rated in enumerate(pool):
            wanted = weighted_bleu_star(text, rated, pool, shape, weighing)
            assert found[i, j] == pytest.approx(0.0 if short else wanted, abs=1e-9)


@given(st.lists(st.text("aab ", max_size=14), max_size=4))
def test_equal_weights_are_plain_bleu(texts: list[str]) -> None:
    """With nothing left out and nothing weighed the product of matrices is BLEU* itself."""
    found = prepare_weighted(texts, Shape(), Weighing()).similarities(texts)
    plain = [[bleu_star(x, s) if len(x) >= 4 else 0.0 for s in texts] for x in texts]
    np.testing.assert_allclose(
        found, np.array(plain).reshape(len(texts), len(texts)), rtol=0, atol=1e-12
    )


def test_by_hand() -> None:
    """Unigrams of "the fox" in a pool of 2: fox weighs log(3 / 2), the log(3 / 3) = 0."""
    pool = ["the fox", "the dog"]
    shape = Shape(tokenize="words", low=1, high=1)
    rare = prepare_weighted(pool, shape, Weighing(rarity=True)).similarities(["the fox"])
    assert rare.tolist() == [[1.0, 0.0]]
    stopped = prepare_weighted(pool, shape, Weighing(stop_words="english"))
    # "the" is left out of matches and totals: 1 of 1 and 0 of 1, not 2 of 2 and 1 of 2
    assert stopped.similarities(["the fox"]).tolist() == [[1.0, 0.0]]
    # rarer among others: log(3 / 2) for fox, log(3 / 1) for the unknown word
    share = np.log(3 / 2) / (np.log(3 / 2) + np.log(3))
    found = prepare_weighted(pool, shape, Weighing(rarity=True)).similarities(["fox zebra"])
    assert found[0, 0] == pytest.approx(share)


def test_a_bigram_with_one_content_word_stays() -> None:
    """ "of the" goes, "the fox" stays."""
    shape = Shape(tokenize="words", low=2, high=2)
    prepared = prepare_weighted(["of the fox", "of the dog"], shape, Weighing(stop_words="english"))
    assert prepared.similarities(["of the fox"]).tolist() == [[1.0, 0.0]]


def test_own_stop_words(tmp_path: Path) -> None:
    """A file with a word a line; its content is in the signature."""
    path = tmp_path / "stop.txt"
    path.write_text("Fox\n\n", encoding="utf-8")
    model = BLEUNeighbors(kernel=BleuStar(tokenize="words", orders=(1, 1), stop_words=str(path)))
    prepared = model.fit(["fox", "dog"], [1.0, 2.0])
    assert prepared.explain("fox").support == 0
    first = str(model.signature())
    path.write_text("dog\n", encoding="utf-8")
    assert str(model.signature()) != first
    assert "|stop:stop.txt|stop-sha:" in first
    with pytest.raises(InputError, match="no such file"):
        model.set_params(kernel__stop_words=str(tmp_path / "none")).fit(["a b c d"], [1.0])


def test_settings_say_what_is_weighed() -> None:
    """Plain BLEU* says nothing of it."""
    assert BleuStar().settings() == {"tok": "char", "n": "2-4", "clip": True}
    weighed = BleuStar(tokenize="words", stop_words="english", rarity=True)
    assert weighed.settings()["stop"] == "english"
    assert weighed.settings()["rarity"] == "log"


def test_stop_words_need_words() -> None:
    """Characters are no words."""
    with pytest.raises(UsageError, match="stop words are words"):
        BLEUNeighbors(kernel="bleu*:stop_words=english")
