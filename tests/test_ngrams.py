"""Token ids to n-gram features, against counters of tuples."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.compiled import ngrams as loops
from refless.errors import UsageError
from refless.ngrams import Features, Shape, Vocabulary, learn, look_up
from refless.tokenize import tokenizer

Gram = tuple[str, ...]
TEXTS = st.lists(st.text("ab \U0001f98a", max_size=12), max_size=6)
SHAPES = st.builds(
    lambda low, more, clip: Shape(low=low, high=low + more, clip=clip),
    st.integers(1, 3), st.integers(0, 3), st.booleans(),
)  # fmt: skip


def counts_of(text: str, order: int, shape: Shape) -> Counter[Gram]:
    """How often each n-gram occurs in a text."""
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


@given(TEXTS.flatmap(lambda texts: st.tuples(st.just(texts), st.permutations(texts))), SHAPES)
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
    shared = [set(features_of(learnt, 0, k)) & set(features_of(learnt, 1, k)) for k in range(3)]
    assert list(map(len, shared)) == [2, 1, 0]
    assert known.features == 3 + 2 + 1


@pytest.mark.parametrize(("low", "high"), [(0, 4), (3, 2), (-1, 2)])
def test_orders_must_rise_from_one(low: int, high: int) -> None:
    """The error says what was asked for."""
    with pytest.raises(UsageError, match=f"rise from 1, got {low} to {high}"):
        Shape(low=low, high=high)


@given(st.lists(st.integers(-1, 2**62), max_size=1500))
def test_distinct_keys_and_their_ranks(keys: list[int]) -> None:
    """The hash table of compiled code against Python's own."""
    array = np.array(keys, dtype=np.int64)
    distinct = loops.distinct(array)
    assert distinct.tolist() == list(dict.fromkeys(key for key in keys if key >= 0))
    known = np.sort(distinct)[::2].copy()
    wanted = {key: rank for rank, key in enumerate(known.tolist())}
    assert loops.ranks(array, *loops.table(known)).tolist() == [wanted.get(k, -1) for k in keys]


def test_the_hash_table_grows() -> None:
    """More keys than any list that Hypothesis makes, far apart and close together."""
    keys = np.concatenate([np.arange(3_000), np.arange(3_000) * 2**40])
    assert loops.distinct(keys).tolist() == list(dict.fromkeys(keys.tolist()))


def test_orders_have_an_end() -> None:
    """An order that no text has would take all memory, or all time."""
    for high in (101, 99_999_999_999):
        with pytest.raises(UsageError, match="highest n-gram order must be at most 100"):
            Shape(tokenize="words", low=1, high=high)
    assert Shape(tokenize="words", low=100, high=100).orders == 1
