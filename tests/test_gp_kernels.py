"""The kernels of the GP: definite, of each text alone, and by other tools' numbers."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from refless.estimators.gp import tfidf as bags
from refless.estimators.gp.components import (
    ACTS,
    MEANING,
    SOURCE,
    SOURCE_MEANING,
    TEXT,
    WIDTH,
    Component,
    components_of,
    score_numbers,
)
from refless.estimators.gp.inputs import Inputs, inputs_of
from refless.estimators.gp.tfidf import BAGS, LONG, PAIRED, Bag, Held, Known
from refless.registry.arrays import FloatArray
from refless.stats.scaling import NormalRanks
from refless.text.embed import VectorArray
from refless.text.ngrams import Shape

SHARED = [HealthCheck.function_scoped_fixture]
NAN = float("nan")
SCORES = ("a", "b")
NAMES = (*TEXT, *SOURCE, *ACTS, *MEANING, *SOURCE_MEANING, *score_numbers(SCORES))
WORDS = st.sampled_from(["fox", "Fox", "the", "is", "foxes", "Rome", "42", "?", ".", ",", "é"])
SENTENCE = st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=6)
ASKED = SENTENCE | st.sampled_from(["inform(name=fox,food=the)", "inform(name='Rome')", "inform("])
ROW = st.tuples(SENTENCE, ASKED, st.sampled_from([NAN, 1.0, 2.0]), st.integers(-3, 3).map(float))


class Letters:
    """Stands for an encoder: how often each letter occurs, of length 1; 0 for no letter."""

    def sentences(self, texts: Sequence[str], progress: object = None) -> VectorArray:
        counts = np.array([[text.count(letter) for letter in "aefhos"] for text in texts])
        counts = counts.reshape(len(texts), 6)
        lengths = np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        return np.asarray(counts / lengths, dtype=np.float32)


def told(rows: Sequence[tuple[str, str, float, float]]) -> Inputs:
    """Texts with sources, two scores and vectors."""
    texts, sources = [row[0] for row in rows], [row[1] for row in rows]
    scores = np.array([row[2:] for row in rows], dtype=np.float64).reshape(len(rows), 2)
    encoder = Letters()
    return inputs_of(
        texts, sources, encoder=encoder, scores=scores, score_names=SCORES,  # type: ignore[arg-type]
    )  # fmt: skip


def gram(kernel: Component, inputs: Inputs) -> FloatArray:
    """The kernel of every pair."""
    points = kernel.points(inputs)
    return kernel.bound(points)(points)


@settings(max_examples=40)
@given(st.lists(ROW, min_size=1, max_size=8), st.lists(ROW, max_size=4))
@example([("fox", "", 1.0, 1.0)] * 3, [("rome is", "x", 2.0, 3.0), ("the", "y", NAN, -9.0)])
@example([("", "", NAN, 0.0)], [("fox", "fox", 1.0, 1.0)])
@example([("", "fox", NAN, 0.0), ("", "fox fox fox fox fox Fox", NAN, 0.0)], [])
def test_each_kernel_is_positive_semi_definite(
    rated: list[tuple[str, str, float, float]], more: list[tuple[str, str, float, float]]
) -> None:
    """Over rated texts and new ones together; and its diagonal is the one that it says.

    But bags give every text the variance 1: words that no rated text has are its own, so that
    they are shared with no point, not even that of the same text.
    """
    statistics, everything = told(rated), told([*rated, *more])
    for name, kernel in zip(NAMES, components_of(NAMES, statistics, Shape()), strict=True):
        kernel = pickle.loads(pickle.dumps(kernel))
        found = gram(kernel, everything)
        own = kernel.diagonal(kernel.points(everything))
        np.testing.assert_allclose(found, found.T, atol=1e-9, err_msg=name)
        assert np.linalg.eigvalsh(found)[0] > -1e-9, name
        if name not in BAGS:
            np.testing.assert_allclose(np.diag(found), own, atol=1e-9, err_msg=name)
            continue
        np.testing.assert_array_equal(own, 1.0)
        assert (np.diag(found) < 1 + 1e-12).all()
        said = np.array([len(row) > 0 for row in rows_of(read(name, statistics))])
        np.testing.assert_allclose(np.diag(found)[: len(rated)], said, atol=1e-12, err_msg=name)


@settings(max_examples=20, suppress_health_check=SHARED)
@given(st.lists(ROW, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_a_text_lies_where_it_lies_alone(
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[str, str, float, float]],
    random: object,
) -> None:
    """To the last digit, whatever is asked with it, in whatever order, few at a time or many."""
    monkeypatch.setattr(bags, "ROWS", 2)
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    inputs, mixed = told(rows), told([rows[i] for i in order])
    for name, kernel in zip(NAMES, components_of(NAMES, inputs, Shape()), strict=True):
        together, shuffled = (dense(kernel.points(one)) for one in (inputs, mixed))
        np.testing.assert_array_equal(shuffled, together[order], err_msg=name)
        alone = [dense(kernel.points(told([row]))) for row in rows]
        np.testing.assert_array_equal(np.concatenate(alone), together, err_msg=name)
        taken = kernel.points(inputs.take(order))
        np.testing.assert_array_equal(dense(taken), shuffled, err_msg=name)


def dense(points: object) -> np.ndarray:
    """Points as an array of any kind."""
    return points.toarray() if hasattr(points, "toarray") else np.asarray(points)


@pytest.mark.parametrize("name", BAGS)
@given(rated=st.lists(ROW, min_size=1, max_size=8), new=st.lists(ROW, min_size=1, max_size=4))
def test_bags_are_the_vectors_of_scikit_learn(
    name: str,
    rated: list[tuple[str, str, float, float]],
    new: list[tuple[str, str, float, float]],
) -> None:
    """Sublinear counts, smooth idf, rows of length 1; unknown words have the idf of df = 1."""
    text = pytest.importorskip("sklearn.feature_extraction.text", reason="no scikit-learn")
    known, asked = (rows_of(read(name, told(rows))) for rows in (rated, new))
    (kernel,) = components_of([name], told(rated), Shape())
    if not any(known):
        assert kernel.points(told(new)).shape == (len(new), 0)
        return
    vectorizer = text.TfidfVectorizer(
        analyzer=lambda row: row, sublinear_tf=True, smooth_idf=True, norm=None
    ).fit(known)
    rarest = 1 + np.log((1 + len(known)) / 2)
    for rows, inputs in ((known, told(rated)), (asked, told(new))):
        plain = vectorizer.transform(rows).toarray()
        lengths = [
            sum(((1 + np.log(row.count(one))) * rarest) ** 2 for one in {*row} - {*known_in(known)})
            for row in rows
        ] + np.square(plain).sum(axis=1)
        wanted = plain / np.sqrt(np.maximum(lengths, 1e-300))[:, None]
        points, anchors = kernel.points(inputs), kernel.points(told(rated))
        np.testing.assert_allclose(points.toarray(), wanted, atol=1e-12)
        products = wanted @ anchors.toarray().T
        np.testing.assert_allclose(kernel.bound(anchors)(points), products, atol=1e-12)


def known_in(rows: Sequence[Sequence[str]]) -> set[str]:
    """What any of the rows holds."""
    return {one for row in rows for one in row}


def read(name: str, inputs: Inputs) -> Held:
    """What a bag counts."""
    return BAGS[name](inputs.texts, inputs.sources)


def rows_of(held: Held) -> list[list[str]]:
    """What each text holds, as often as it holds it."""
    times = held.times if len(held.times) else np.ones_like(held.ids)
    pairs = (divmod(pair, len(held.names)) for pair in held.pairs.tolist())
    names = [*held.names, *(f"{held.names[i]} {held.names[j]}" for i, j in pairs)]
    all_of = [[names[i]] * n for i, n in zip(held.ids.tolist(), times.tolist(), strict=True)]
    return [list(chain(*all_of[a:b])) for a, b in pairwise(held.starts.tolist())]


def test_what_bags_read_by_hand() -> None:
    """Words and pairs; runs of three to five letters of words with their ends; what is masked."""
    held = {name: rows_of(of(["A fox!"], ["the fox, 9"])) for name, of in BAGS.items()}
    assert held["words"] == [["a", "fox", "a fox", "!", "fox !"]]
    assert held["source"] == [["the", "fox", "the fox", ",", "fox ,", "9", ", 9"]]
    assert held["letters"] == [[" a ", " fo", "fox", "ox ", " fox", "fox ", " fox ", " ! "]]
    masked = rows_of(BAGS["masked"](["Foxes like 9"], ["foxes: 9"]))
    assert masked == [["@", "like", "@ like", "@", "like @"]]


@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=30))
@example([], "0000")
@example(["a fox", "a fox a fox"], "fox a fox fox")
def test_things_are_in_the_order_of_their_names(texts: list[str], other: str) -> None:
    """Pairs too, though they are numbers; names alone give the same again, and so do places."""
    for name in ("words", "letters"):
        bag = Bag.of(BAGS[name], told([(text, "", 0.0, 0.0) for text in texts]))
        names = [*bag.known]
        assert names == sorted(known_in(rows_of(BAGS[name](texts, ()))))
        again = Known.of(names, paired=name in PAIRED)
        assert again.numbers == bag.known.numbers
        np.testing.assert_array_equal(again.keys, bag.known.keys)
        held = BAGS[name]([*texts, other], ())
        wanted = {thing: i for i, thing in enumerate(names)}
        last = slice(held.starts[-2], None)
        times = held.times[last] if len(held.times) else 1
        found = np.repeat(again.places(held)[held.ids[last]], times)
        assert sorted(found) == sorted(wanted.get(thing, -1) for thing in rows_of(held)[-1])


@pytest.mark.parametrize("names", [["a", "a b"], ["a b", "b"], ["b", "b c", "c", "b b"]])
def test_names_of_no_things_are_refused(names: list[str]) -> None:
    """A pair with a word that does not stand alone; another order."""
    with pytest.raises(ValueError, match="pairs of what is no word"):
        Known.of(names, paired=True)


def test_long_words_are_not_remembered() -> None:
    """A text without blanks is one word, whose runs would fill the memory."""
    before = bags._remembered.cache_info()
    first, second = map(Counter, rows_of(BAGS["letters"](["語" * LONG, "語" * 100_000], ())))
    assert first["語" * 3] == LONG - 2
    assert second["語" * 5] == 100_000 - 4
    assert bags._remembered.cache_info() == before


def test_bells_and_trends_by_hand() -> None:
    """Scores 1, 2, 2, 4 are -r, 0, 0, r by ranks, r the root of 2; a score of 9 is one of 4."""
    scores = np.array([[1.0], [2.0], [2.0], [4.0]])
    rated = inputs_of(list("abcd"), (), scores=scores, score_names=("s",))
    new = inputs_of(["e", "f"], (), scores=np.array([[9.0], [NAN]]), score_names=("s",))
    linear, bell, plain = components_of([*score_numbers(["s"])], rated, Shape())
    root = np.sqrt(2)
    wanted = np.outer([root, 0], [-root, 0, 0, root])
    np.testing.assert_allclose(linear.bound(linear.points(rated))(linear.points(new)), wanted)
    gaps = np.subtract.outer([root, 0], [-root, 0, 0, root]) / WIDTH
    found = bell.bound(bell.points(rated))(bell.points(new))
    np.testing.assert_allclose(found, np.exp(-(gaps**2) / 2), atol=1e-12)
    spread = np.std([1, 2, 2, 4])
    places = np.array([4.0, 0.0])  # 9 is 6.2 deviations from the mean, of which 4 count
    gaps = np.subtract.outer(places, (scores[:, 0] - 2.25) / spread) / WIDTH
    found = plain.bound(plain.points(rated))(plain.points(new))
    np.testing.assert_allclose(found, np.exp(-(gaps**2) / 2), atol=1e-12)


def test_numbers_of_the_surface_by_hand() -> None:
    """The trend is the mean product, the bell that of the mean square distance; constants aside."""
    inputs = inputs_of(["A fox.", "the the the", "Is it? 42", "", "Yes, the fox is quick."], ())
    ranked = NormalRanks.of(inputs.surface).mapped(inputs.surface)
    told = ranked[:, np.ptp(inputs.surface, axis=0) > 0]
    assert told.shape[1] < ranked.shape[1]  # no text repeats four words
    bell, trend = components_of(["surface", "trend"], inputs, Shape())
    np.testing.assert_allclose(gram(trend, inputs), told @ told.T / told.shape[1], atol=1e-12)
    squares = np.square(told[:, None] - told[None]).mean(axis=2) / WIDTH**2
    np.testing.assert_allclose(gram(bell, inputs), np.exp(-squares / 2), atol=1e-12)
