"""Token ids to n-gram features, against counters of tuples."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.text.ngrams import Features, Shape, Vocabulary, learn, look_up
from refless.text.tokenize import tokenizer
from refusals import bad_usage

Gram = tuple[str, ...]
TEXTS = st.lists(st.text("ab \U0001f98a", max_size=12), max_size=6)
SHAPES = st.builds(
    lambda low, more, clip: Shape(low=low, high=low + more, clip=clip),
    st.integers(1, 3),
    st.integers(0, 3),
    st.booleans(),
)


def counts_of(text: str, order: int, shape: Shape) -> Counter[Gram]:
    """The counts of n-grams in a text."""
    tokens = tokenizer(shape.tokenize)(text)
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def features_of(features: Features, text: int, order: int) -> list[int]:
    """A text's features of one order (counted from 0)."""
    begin, end = features.starts[order, text : text + 2]
    return [int(i) for i in features.ids[begin:end]]


def weights_of(features: Features, text: int, order: int) -> list[int]:
    """The weights of these features."""
    begin, end = features.starts[order, text : text + 2]
    return [int(i) for i in features.weights[begin:end]]


def gram_of(known: Vocabulary, feature: int) -> Gram:
    """The n-gram behind a feature, unravelled from the keys."""
    order = next(k for k, f in enumerate(known.firsts) if f[0] <= feature < f[-1])
    rank = int(np.searchsorted(known.firsts[order], feature, side="right")) - 1
    tokens: list[str] = []
    for keys in reversed(known.keys[: order + known.shape.low - 1]):
        rank, last = divmod(int(keys[rank]), len(known.tokens))
        tokens.append(known.tokens[last])
    return (known.tokens[rank], *reversed(tokens))


@given(TEXTS, TEXTS, SHAPES)
def test_features_are_the_occurrences_of_known_n_grams(
    rated: list[str], outputs: list[str], shape: Shape
) -> None:
    """Clipped: as many as the pool's largest count admits; else distinct, weighed by count."""
    known, learnt = learn(rated, shape)
    for texts, features in ((rated, learnt), (outputs, look_up(outputs, known))):
        assert features.lengths.tolist() == list(map(len, texts))
        for k, order in enumerate(range(shape.low, shape.high + 1)):
            most: Counter[Gram] = Counter()
            for text in rated:
                most |= counts_of(text, order, shape)
            for i, text in enumerate(texts):
                wanted = Counter(
                    {g: c for g, c in counts_of(text, order, shape).items() if most[g]}
                )
                found = features_of(features, i, k)
                assert len(set(found)) == len(found)
                grams = [gram_of(known, feature) for feature in found]
                if shape.clip:
                    assert Counter(grams) == wanted & most
                else:
                    weights = weights_of(features, i, k)
                    assert dict(zip(grams, weights, strict=True)) == wanted


@given(TEXTS, SHAPES)
def test_learning_equals_looking_up(texts: list[str], shape: Shape) -> None:
    """The pool's own texts have the same features either way."""
    known, learnt = learn(texts, shape)
    again = look_up(texts, known)
    for name in ("lengths", "starts", "ids", "weights"):
        assert np.array_equal(getattr(learnt, name), getattr(again, name))


@given(
    TEXTS.flatmap(lambda texts: st.tuples(st.just(texts), st.permutations(texts))),
    SHAPES,
)
def test_the_vocabulary_forgets_the_order_of_texts(
    texts: tuple[list[str], list[str]], shape: Shape
) -> None:
    """Saved indexes are the same from run to run."""
    first, second = (learn(order, shape)[0] for order in texts)
    assert first.tokens == second.tokens
    for name in ("keys", "firsts"):
        pairs = zip(getattr(first, name), getattr(second, name), strict=True)
        assert all(np.array_equal(one, other) for one, other in pairs)


def test_shared_features_are_clipped_matches() -> None:
    """By hand: 'aaaa' and 'aaa' share two of 'aa', one of 'aaa', none of order 4."""
    known, learnt = learn(["aaaa", "aaa"], Shape())
    shared = [
        set(features_of(learnt, 0, k)) & set(features_of(learnt, 1, k))
        for k in range(3)
    ]
    assert list(map(len, shared)) == [2, 1, 0]
    assert known.features == 3 + 2 + 1


@pytest.mark.parametrize(("low", "high"), [(0, 4), (3, 2), (-1, 2)])
def test_orders_must_rise_from_one(low: int, high: int) -> None:
    """The error says what was asked for."""
    with bad_usage(f"rise from 1, got {low} to {high}"):
        Shape(low=low, high=high)


@given(TEXTS, TEXTS, SHAPES)
def test_features_share_what_texts_share(
    rated: list[str], outputs: list[str], shape: Shape
) -> None:
    """An output's weights are what it shares with a text of the pool that has the feature."""
    known, learnt = learn(rated, shape)
    found = look_up(outputs, known)
    for k, order in enumerate(range(shape.low, shape.high + 1)):
        for i, output in enumerate(outputs):
            mine = features_of(found, i, k)
            own = dict(
                zip(mine, weights_of(found, i, k) or [1] * len(mine), strict=True)
            )
            for j, text in enumerate(rated):
                shared = sum(
                    own.get(feature, 0) for feature in features_of(learnt, j, k)
                )
                x = counts_of(output, order, shape)
                s = counts_of(text, order, shape)
                limit = s if shape.clip else x
                assert shared == sum(min(c, limit[g]) for g, c in x.items() if g in s)


def test_many_n_grams() -> None:
    """More than the hash table begins with: a pair of each two of 90 characters, by hand."""
    letters = [chr(0x4E00 + i) for i in range(90)]
    known, features = learn(
        [a + b for a, b in product(letters, letters)], Shape(low=2, high=2)
    )
    assert known.keys[0].tolist() == list(range(8100))
    assert features.ids.tolist() == list(range(8100))
    assert look_up([letters[3] + letters[5]], known).ids.tolist() == [275]


def test_orders_have_an_end() -> None:
    """An order that no text has would take all memory, or all time."""
    for high in (101, 99_999_999_999):
        with bad_usage("highest n-gram order must be at most 100"):
            Shape(tokenize="words", low=1, high=high)
    assert Shape(tokenize="words", low=100, high=100).orders == 1
