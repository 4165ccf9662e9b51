"""Texts to n-gram features, against counters of tuples."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refless.text import ngrams
from refless.text.ngrams import Features, Shape, learn, look_up
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


def occurrences(text: str, order: int, shape: Shape) -> list[tuple[Gram, int]]:
    """The n-grams of a text from its beginning on, each with how often it stood before."""
    seen: Counter[Gram] = Counter()
    tokens = tokenizer(shape.tokenize)(text)
    found = []
    for i in range(len(tokens) - order + 1):
        gram = tuple(tokens[i : i + order])
        found.append((gram, seen[gram]))
        seen[gram] += 1
    return found


@given(TEXTS, TEXTS, SHAPES)
@example(["a b", " a\n a", ""], ["b a b"], Shape(tokenize="words", low=1, high=2))
def test_features_are_the_occurrences_of_known_n_grams(
    rated: list[str], outputs: list[str], shape: Shape
) -> None:
    """Clipped: as many as the pool's largest count admits; else distinct, weighed by count."""
    known, learnt = learn(rated, shape)
    names: dict[tuple[Gram, int], int] = {}
    for texts, features in ((rated, learnt), (outputs, look_up(outputs, known))):
        for k, order in enumerate(range(shape.low, shape.high + 1)):
            runs = (occurrences(text, order, shape) for text in rated)
            pool = {*chain.from_iterable(runs)}
            for i, text in enumerate(texts):
                wanted = [r for r in occurrences(text, order, shape) if r in pool]
                if not shape.clip:
                    counts = counts_of(text, order, shape)
                    wanted = [run for run in wanted if run[1] == 0]
                    weights = [counts[gram] for gram, _ in wanted]
                    assert weights_of(features, i, k) == weights
                found = features_of(features, i, k)
                pairs = zip(wanted, found, strict=True)
                assert all(
                    names.setdefault(run, number) == number for run, number in pairs
                )
    assert sorted(names.values()) == [*range(known.features)]
    assert learnt.lengths.tolist() == [len(tokenizer(shape.tokenize)(t)) for t in rated]


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
    for one, other in zip(first.known, second.known, strict=True):
        assert np.array_equal(one.keys, other.keys)


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


def test_blocks_of_texts_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many texts are read at a time."""
    texts = ["abab", "", "bab", "ab ab ab", "c"]
    known, features = learn(texts, Shape(low=1))
    monkeypatch.setattr(ngrams, "BLOCK", 2)
    again, same = learn(texts, Shape(low=1))
    assert known.features == again.features
    for name in ("lengths", "starts", "ids", "weights"):
        assert np.array_equal(getattr(features, name), getattr(same, name))


def test_orders_have_an_end() -> None:
    """An order that no text has would take all memory, or all time."""
    for high in (101, 99_999_999_999):
        with bad_usage("highest n-gram order must be at most 100"):
            Shape(tokenize="words", low=1, high=high)
    assert Shape(tokenize="words", low=100, high=100).orders == 1
