"""The kernels of the GP: definite, of each text alone, and by other tools' numbers."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from refless.estimators.gp.features import TERMS, KernelInputs, Tfidf, inputs_of
from refless.estimators.gp.kernels import (
    MEANING,
    NEAR,
    SOURCE,
    SOURCE_MEANING,
    TEXT,
    LearnedKernel,
    score_kernels,
)
from refless.estimators.gp.kernels import learned as learned_with_points
from refless.registry.arrays import FloatArray
from refless.stats.scaling import NormalRanks
from slow_texts import STRINGS
from tiny_encoder import letters

NAN = float("nan")
SCORES = ("a", "b")
NAMES = (*TEXT, *SOURCE, *MEANING, *SOURCE_MEANING, *score_kernels(SCORES))
WORDS = st.sampled_from(
    ["fox", "Fox", "the", "is", "foxes", "Rome", "42", "?", ".", ",", "é"]
)
SENTENCE = st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=6)
ASKED = SENTENCE | st.sampled_from(
    ["inform(name=fox,food=the)", "inform(name='Rome')", "inform("]
)
ROW = st.tuples(
    SENTENCE, ASKED, st.sampled_from([NAN, 1.0, 2.0]), st.integers(-3, 3).map(float)
)


def inputs_from(rows: Sequence[tuple[str, str, float, float]]) -> KernelInputs:
    """Texts with sources, two scores and vectors."""
    texts = [row[0] for row in rows]
    sources = [row[1] for row in rows]
    scores = np.array([row[2:] for row in rows], dtype=np.float64).reshape(len(rows), 2)
    return inputs_of(
        texts,
        sources,
        encode=letters,
        scores=scores,
        score_names=SCORES,
    )


def learned(
    inputs: KernelInputs, names: Sequence[str] = NAMES
) -> dict[str, LearnedKernel]:
    """The kernels of these names."""
    return {name: learned_with_points(name, inputs)[0] for name in names}


def values(
    kernel: LearnedKernel, inputs: KernelInputs, anchors: KernelInputs
) -> FloatArray:
    """The kernel of texts with others."""
    return kernel.between(kernel.points(inputs), kernel.anchors(kernel.points(anchors)))


def terms_of(
    name: str, rows: Sequence[tuple[str, str, float, float]]
) -> list[list[str]]:
    """The terms of each text, as often as it has them."""
    return [STRINGS[name](row[0], row[1]) for row in rows]


@settings(max_examples=40)
@given(st.lists(ROW, min_size=1, max_size=8), st.lists(ROW, max_size=4))
@example(
    [("fox", "", 1.0, 1.0)] * 3, [("rome is", "x", 2.0, 3.0), ("the", "y", NAN, -9.0)]
)
@example([("", "", NAN, 0.0)], [("fox", "fox", 1.0, 1.0)])
@example([("", "fox", NAN, 0.0), ("", "fox fox fox fox fox Fox", NAN, 0.0)], [])
def test_each_kernel_is_positive_semi_definite(
    rated: list[tuple[str, str, float, float]],
    more: list[tuple[str, str, float, float]],
) -> None:
    """Over rated texts and new ones together; and its diagonal is the one that it says.

    But terms give every text the variance 1: those that no rated text has are its own, so that
    they are shared with no point, not even that of the same text.
    """
    everything = inputs_from([*rated, *more])
    for name, kernel in learned(inputs_from(rated)).items():
        kernel = pickle.loads(pickle.dumps(kernel))
        matrix = values(kernel, everything, everything)
        variances = kernel.diagonal(kernel.points(everything))
        assert_allclose(matrix, matrix.T, atol=1e-9, err_msg=name)
        assert np.linalg.eigvalsh(matrix)[0] > -1e-9, name
        if name not in (*TERMS, "grams"):
            assert_allclose(np.diag(matrix), variances, atol=1e-9, err_msg=name)
            continue
        assert (np.diag(matrix) < 1 + 1e-12).all()
        if name == "grams":
            long = [len(row[0]) >= 4 for row in [*rated, *more]]
            assert_array_equal(variances, long)
            worded = variances[: len(rated)]
        else:
            assert_array_equal(variances, 1.0)
            worded = np.array([len(row) > 0 for row in terms_of(name, rated)])
        assert_allclose(np.diag(matrix)[: len(rated)], worded, atol=1e-12, err_msg=name)


@settings(max_examples=20)
@given(st.lists(ROW, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_a_text_lies_where_it_lies_alone(
    rows: list[tuple[str, str, float, float]], random: object
) -> None:
    """To the last digit, whatever other texts there are, in whatever order."""
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    inputs = inputs_from(rows)
    mixed = inputs_from([rows[i] for i in order])
    for name, kernel in learned(inputs).items():
        together, shuffled = (dense(kernel, texts) for texts in (inputs, mixed))
        assert_array_equal(shuffled, together[order], err_msg=name)
        alone = [dense(kernel, inputs_from([row])) for row in rows]
        assert_array_equal(np.concatenate(alone), together, err_msg=name)
        taken = dense(kernel, inputs.take(order))
        assert_array_equal(taken, shuffled, err_msg=name)


def dense(kernel: Any, inputs: KernelInputs) -> FloatArray:
    """The points of texts, or their features, as an array."""
    points = kernel.points(inputs)
    if hasattr(kernel, "features"):
        points = kernel.features(points).toarray()
    return np.asarray(points)


@pytest.mark.parametrize("name", TERMS)
@given(
    rated=st.lists(ROW, min_size=1, max_size=8),
    new=st.lists(ROW, min_size=1, max_size=4),
)
def test_terms_have_the_vectors_of_scikit_learn(
    name: str,
    rated: list[tuple[str, str, float, float]],
    new: list[tuple[str, str, float, float]],
) -> None:
    """Sublinear counts, smooth idf, rows of length 1; new terms have the idf of df = 1."""
    text = pytest.importorskip(
        "sklearn.feature_extraction.text", reason="no scikit-learn"
    )
    known = terms_of(name, rated)
    kernel = Tfidf.learned(name, inputs_from(rated))
    if not any(known):
        assert kernel.points(inputs_from(new)).shape == (len(new), 0)
        return
    vectorizer = text.TfidfVectorizer(
        analyzer=lambda row: row, sublinear_tf=True, smooth_idf=True, norm=None
    ).fit(known)
    rarest = 1 + np.log((1 + len(known)) / 2)
    vectors = []
    for rows in (rated, new):
        terms = terms_of(name, rows)
        plain = vectorizer.transform(terms).toarray()
        lengths = np.square(plain).sum(axis=1)
        for i, row in enumerate(terms):
            for term in {*row} - {*vectorizer.vocabulary_}:
                lengths[i] += ((1 + np.log(row.count(term))) * rarest) ** 2
        vectors.append(plain / np.sqrt(np.maximum(lengths, 1e-300))[:, None])
        points = kernel.points(inputs_from(rows)).toarray()
        assert_allclose(
            np.sort(points, axis=1), np.sort(vectors[-1], axis=1), atol=1e-12
        )
        found = values(kernel, inputs_from(rows), inputs_from(rated))
        assert_allclose(found, vectors[-1] @ vectors[0].T, atol=1e-12)


def test_terms_by_hand() -> None:
    """Words and pairs; runs of three to five letters of words with their ends; what is masked."""
    terms = {name: of("A fox!", "the fox, 9") for name, of in STRINGS.items()}
    assert terms["words"] == ["a", "fox", "!", "a fox", "fox !"]
    assert terms["source"] == ["the", "fox", ",", "9", "the fox", "fox ,", ", 9"]
    assert terms["letters"] == [
        " a ",
        " fo",
        "fox",
        "ox ",
        " fox",
        "fox ",
        " fox ",
        " ! ",
    ]
    masked = STRINGS["masked"]("Foxes like 9", "foxes: 9")
    assert masked == ["@", "like", "@", "@ like", "like @"]
    runs = STRINGS["letters"]("語" * 100, "")  # a text without blanks is one word
    assert (runs.count("語" * 3), runs.count("語" * 5)) == (98, 96)


def test_numbers_of_the_surface_by_hand() -> None:
    """The trend is the mean product, the bell that of the mean square distance; constants aside."""
    inputs = inputs_of(
        ["A fox.", "the the the", "Is it? 42", "", "Yes, the fox is quick."], ()
    )
    surface = inputs.columns["trend"]
    ranked = NormalRanks.of(surface).mapped(surface)
    varied = ranked[:, np.ptp(surface, axis=0) > 0]
    assert varied.shape[1] < ranked.shape[1]  # no text repeats four words
    bell, trend = learned(inputs, ["near", "trend"]).values()
    products = varied @ varied.T / varied.shape[1]
    assert_allclose(values(trend, inputs, inputs), products, atol=1e-12)
    squares = np.square(varied[:, None] - varied[None]).mean(axis=2) / NEAR**2
    assert_allclose(values(bell, inputs, inputs), np.exp(-squares / 2), atol=1e-12)


@settings(max_examples=40)
@given(st.lists(st.tuples(SENTENCE, st.sampled_from("xyz")), min_size=2, max_size=8))
def test_a_rated_text_lies_where_it_would_without_its_source(
    rows: list[tuple[str, str]],
) -> None:
    """Components of what texts of different sources share; each from the others' texts alone."""
    texts, sources = zip(*rows, strict=True)
    groups = sources if len(set(sources)) > 1 else texts
    inputs = inputs_of(texts, sources, units=groups)
    kernel, points = learned_with_points("joint", inputs)
    words = learned_with_points("words", inputs)[0]
    n = len(rows)
    alike = values(words, inputs, inputs)
    for i, j in np.ndindex(n, n):
        alike[i, j] *= groups[i] != groups[j]
    sizes, directions = np.linalg.eigh(alike)
    weighed = [n / max(1, n - groups.count(group)) for group in groups]
    parts = np.array(weighed)[:, None] * (alike @ directions[:, sizes > 1e-6])
    total = parts.var(axis=0).sum()
    parts *= np.sqrt(parts.shape[1] / total) if total > 1e-6 else 0.0
    numbers = NormalRanks.of(inputs.columns["joint"]).mapped(inputs.columns["joint"])
    everything = np.hstack([numbers[:, np.ptp(numbers, axis=0) > 0], parts])
    squares = np.square(everything[:, None] - everything[None]).sum(axis=2)
    wanted = np.exp(-0.5 * squares / NEAR**2 / max(1, everything.shape[1]))
    found = kernel.between(points, kernel.anchors(points))
    assert_allclose(found, wanted, atol=1e-6)
    assert_array_equal(
        kernel.points(inputs), points
    )  # copies lie where rated texts lie
