"""Simulated pools: the same everywhere, and ruled by the quality that they tell."""

import hashlib
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from refless.errors import UsageError
from refless.simulate import ERRORS, SYSTEMS, Simulated, simulate, simulated_texts
from refless.truth import truth_of


def digest(simulated: Simulated) -> str:
    """A hash of everything in it."""
    pool = simulated.pool
    columns = (pool.ids, pool.texts, pool.sources, pool.systems, pool.items)
    arrays = (pool.truth, pool.ratings.values, pool.ratings.annotator, simulated.quality)
    told = repr((columns, [array.round(9).tolist() for array in arrays]))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def test_the_same_on_every_machine() -> None:
    """The pool of seed 0, as first made; a change here changes every documented example."""
    assert digest(simulate(50)) == "e97185f3a5476005"


def test_seeds() -> None:
    """0 is a seed like any other, and another seed gives other texts."""
    assert digest(simulate(20, seed=0)) == digest(simulate(20))
    assert simulate(20, seed=1).pool.texts != simulate(20).pool.texts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("long", [False, True])
def test_truth_tracks_quality(seed: int, long: bool) -> None:
    """Ratings follow the quality behind them, though no annotator sees it clearly."""
    simulated = simulate(200, seed=seed, long=long)
    assert 0.7 < spearmanr(simulated.pool.truth, simulated.quality).statistic < 0.999


def test_quality_of_systems() -> None:
    """The careful system is best, the broken one worst, and nobody is always either."""
    simulated = simulate(600)
    systems = np.array(simulated.pool.systems)
    means = {name: simulated.quality[systems == name].mean() for name in SYSTEMS}
    assert means["broken"] + 0.1 < means["hasty"] < means["careful"] - 0.1
    assert simulated.quality.min() == 0.0
    assert simulated.quality.max() == 1.0


def test_quality_can_be_read_off_the_text() -> None:
    """Ridge regression (scikit-learn) on character n-grams finds it, requests held out whole."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold, cross_val_predict

    simulated = simulate(600)
    pool = simulated.pool
    features = TfidfVectorizer(analyzer="char", ngram_range=(2, 4)).fit_transform(pool.texts)
    predicted = cross_val_predict(
        Ridge(1.0), features, pool.truth, cv=GroupKFold(5), groups=pool.items
    )
    assert spearmanr(predicted, simulated.quality).statistic > 0.6


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_sizes(n: int) -> None:
    """As many texts as asked for, three to a request, each rated by different annotators."""
    simulated = simulate(n, annotators=7, raters_per_text=4)
    pool = simulated.pool
    assert len(pool) == len(simulated.quality) == len(set(pool.ids)) == n
    assert len(pool.sources) == len(pool.systems) == len(pool.items) == n
    assert np.bincount(pool.ratings.text, minlength=n).tolist() == [4] * n
    pairs = set(zip(pool.ratings.text.tolist(), pool.ratings.annotator.tolist(), strict=True))
    assert len(pairs) == 4 * n
    assert len(pool.ratings.annotators) == 7
    np.testing.assert_array_equal(pool.truth, truth_of(pool.ratings, n, scale=pool.scale))


def test_items_are_requests() -> None:
    """Systems that answer the same request share item and source; other items have others."""
    pool = simulate(900).pool
    assert len(set(pool.items)) == len(set(pool.sources)) == 300
    assert len(set(zip(pool.items, pool.sources, strict=True))) == 300
    assert len(set(zip(pool.items, pool.systems, strict=True))) == 900
    assert len(set(pool.texts)) > 800


@pytest.mark.parametrize("scale", [(1, 5), (0, 1), (0, 100), (-3, 3), (0.5, 5.5)])
def test_ratings_keep_to_the_scale(scale: tuple[float, float]) -> None:
    """Whole steps from the lowest to the highest, both of them used; truth in [0, 1]."""
    pool = simulate(300, scale=scale).pool
    values = pool.ratings.values
    assert (values.min(), values.max()) == scale
    assert np.array_equal((values - scale[0]) % 1, np.zeros(len(values)))
    assert pool.truth.min() >= 0.0
    assert pool.truth.max() <= 1.0


def test_annotators_differ() -> None:
    """Annotators have a bias and noise of their own: none agrees with the truth throughout."""
    simulated = simulate(600)
    ratings = simulated.pool.ratings
    off = (ratings.values - 1) / 4 - simulated.quality[ratings.text]
    bias = [off[ratings.annotator == i].mean() for i in range(5)]
    noise = [off[ratings.annotator == i].std() for i in range(5)]
    assert max(bias) - min(bias) > 0.03
    assert min(noise) > 0.05


def test_lengths() -> None:
    """Short texts are mostly of 30 to 80 characters, long ones of some 600 to 900."""
    short = np.array([len(text) for text in simulate(600).pool.texts])
    assert np.mean((short >= 30) & (short <= 80)) > 0.85
    assert short.min() >= 5
    long = np.array([len(text) for text in simulate(300, long=True).pool.texts])
    assert long.min() >= 600
    assert long.max() <= 960
    assert np.median(long) == pytest.approx(750, abs=50)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_leave_a_text(name: str) -> None:
    """However often an error strikes, words are left, parted by single spaces."""
    rng = np.random.default_rng(0)
    _, error = ERRORS[name]
    text = "The Copper Kettle serves fresh Thai food."
    for _ in range(20):
        text = error(text.split(" "), rng)
        assert text
        assert "  " not in text


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": -1},
        {"n": 3, "seed": -1},
        {"n": 3, "raters_per_text": 6},
        {"n": 3, "raters_per_text": 0},
        {"n": 3, "scale": (1, 1.5)},
        {"n": 3, "scale": (5, 1)},
    ],
)
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    """What cannot be honoured is refused."""
    with pytest.raises(UsageError):
        simulate(**arguments)


def test_texts_for_benchmarks() -> None:
    """20,000 texts: nearly all distinct, near the length, words by Zipf's law."""
    texts = simulated_texts(20_000)
    assert len(texts) == 20_000
    assert len(set(texts)) > 19_900
    assert np.mean([len(text) for text in texts]) == pytest.approx(50, abs=3)
    words, counts = np.unique(" ".join(texts).split(), return_counts=True)
    assert len(words) > 4000
    ranked = np.sort(counts)[::-1]
    # Zipf: frequency falls about as 1 / rank
    assert ranked[9] / ranked[99] == pytest.approx(10, rel=0.4)


def test_texts_for_benchmarks_are_the_same_everywhere() -> None:
    """The first texts of seed 0, as first made; other seeds give others."""
    texts = simulated_texts(50)
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16] == "fd7a0ade1256b399"
    assert simulated_texts(50, seed=1) != texts
    assert simulated_texts(0) == ()


@pytest.mark.parametrize("length", [1, 10, 200, 1000])
def test_texts_have_their_length(length: int) -> None:
    """About as long as asked for, and never empty."""
    texts = simulated_texts(300, length=length)
    assert min(map(len, texts)) >= 1
    if length >= 50:
        assert np.mean([len(text) for text in texts]) == pytest.approx(length, rel=0.1)


@pytest.mark.parametrize("arguments", [{"n": -1}, {"n": 1, "length": 0}, {"n": 1, "seed": -1}])
def test_wrong_arguments_of_texts(arguments: dict[str, Any]) -> None:
    """What cannot be honoured is refused."""
    with pytest.raises(UsageError):
        simulated_texts(**arguments)
