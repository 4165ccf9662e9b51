"""Closed-form baselines against refits without each group."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from refless.evaluation import baselines
from refless.evaluation.baselines import length_only, tfidf
from refless.evaluation.groups import mean_of_others

BASELINES = {
    "constant": lambda human, _lengths, groups: mean_of_others(human, groups),
    "length_only": length_only,
}


@st.composite
def pools(draw):
    n = draw(st.integers(1, 30))
    human = draw(
        st.lists(st.integers(0, 10).map(lambda r: r / 10), min_size=n, max_size=n)
    )
    lengths = draw(st.lists(st.integers(0, 400), min_size=n, max_size=n))
    groups = draw(st.lists(st.integers(3, 9), min_size=n, max_size=n))
    return np.array(human), np.array(lengths, dtype=np.float64), np.array(groups)


def refitted(human, lengths, groups):
    """The slow twin: for each text a line through all texts outside its group."""
    predictions = []
    for row, group in enumerate(groups):
        others = groups != group
        x = np.log1p(lengths[others])
        y = human[others]
        if len(x) == 0:
            predictions.append(np.nan)
        elif np.ptp(x) == 0:
            predictions.append(y.mean())
        else:
            slope = ((x - x.mean()) * (y - y.mean())).sum() / np.square(
                x - x.mean()
            ).sum()
            predictions.append(y.mean() + slope * (np.log1p(lengths[row]) - x.mean()))
    return predictions


@settings(max_examples=80)
@given(pools())
def test_constant_is_the_mean_of_the_others(pool):
    """Closed form equals a mean taken anew for each text."""
    human, _, groups = pool
    slow = [
        human[groups != g].mean() if (groups != g).any() else np.nan for g in groups
    ]
    assert mean_of_others(human, groups) == pytest.approx(slow, abs=1e-12, nan_ok=True)


@settings(max_examples=80)
@given(pools())
def test_length_only_is_a_line_through_the_others(pool):
    """Closed form equals a least-squares line fitted anew for each text."""
    assert length_only(*pool) == pytest.approx(refitted(*pool), abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("name", list(BASELINES))
def test_no_texts_no_predictions(name):
    """An empty pool gives empty predictions."""
    assert (
        len(BASELINES[name](np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))) == 0
    )


def test_tfidf_is_scikit_learns() -> None:
    """The same products of rows as TfidfVectorizer with pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    pool = simulate(80, seed=2).pool
    theirs = TfidfVectorizer(ngram_range=(1, 2)).fit_transform(pool.texts)
    ours = tfidf(pool.texts)
    assert_allclose(
        (ours @ ours.T).toarray(), (theirs @ theirs.T).toarray(), atol=1e-12
    )


def test_ridge_is_scikit_learns() -> None:
    """Each group judged by Ridge(1) on the others."""
    from sklearn.linear_model import Ridge

    pool = simulate(90, seed=4).pool
    groups = np.arange(90) // 3
    rows = np.hstack([tfidf(pool.texts).toarray(), tfidf(pool.sources).toarray()])
    found = baselines.baselines(pool, groups, groups % 10)[
        "TF-IDF + sources"
    ].estimates[0]
    for label in np.unique(groups)[:6]:
        inside = groups == label
        model = Ridge(alpha=1.0, solver="cholesky").fit(
            rows[~inside], pool.human[~inside]
        )
        assert_allclose(found[inside], model.predict(rows[inside]), atol=1e-6)


def test_ridge_with_one_group_has_nothing_to_learn_from() -> None:
    pool = simulate(10, seed=1).pool
    nothing = np.zeros(10, np.int64)
    ridge = baselines.baselines(pool, nothing, nothing)["TF-IDF ridge"]
    assert np.isnan(ridge.estimates).all()


def test_ridges_with_and_without_sources() -> None:
    """Sources can make a ridge worse, so both are baselines; without sources there is one."""
    pool = simulate(60, seed=5).pool
    groups = np.arange(60)
    both = baselines.baselines(pool, groups, groups % 5)
    names = [
        "TF-IDF ridge",
        "TF-IDF + sources",
        "the system's name",
        "length",
        "constant",
    ]
    assert [*both] == names
    alone = both["TF-IDF ridge"].estimates[0]
    assert not np.allclose(both["TF-IDF + sources"].estimates[0], alone)
    bare = baselines.baselines(
        replace(pool, sources=(), systems=()), groups, groups % 5
    )
    assert [*bare] == ["TF-IDF ridge", "length", "constant"]


def test_the_systems_name_is_a_baseline_where_it_is_known_of_others() -> None:
    """The mean rating of the same system, else of all; none where systems are held out whole."""
    pool = simulate(60, seed=5).pool
    alone = np.arange(60)
    found = baselines.baselines(pool, alone, alone % 5)["the system's name"].estimates[
        0
    ]
    names = np.array(pool.systems)
    for i in range(60):
        others = (names == names[i]) & (alone != i)
        assert found[i] == pytest.approx(pool.human[others].mean())
    one_apart = ("other", *["same"] * 59)
    single = baselines.baselines(replace(pool, systems=one_apart), alone, alone % 5)
    assert single["the system's name"].estimates[0][0] == pytest.approx(
        pool.human[1:].mean()
    )
    whole = np.unique(names, return_inverse=True)[1]
    assert "the system's name" not in baselines.baselines(pool, whole, whole % 5)
    same = replace(pool, systems=("same",) * 60)
    assert "the system's name" not in baselines.baselines(same, alone, alone % 5)
