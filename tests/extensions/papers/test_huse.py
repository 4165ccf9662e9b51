"""HUSE: the published numbers, a slow twin, and what cannot be computed."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from places import DATA
from published import needed
from refless.extensions.papers.huse.study import huse
from refusals import bad_input, bad_usage
from rows import column


def published():
    """Ratings, log-probabilities, lengths, and whether a person wrote it (`Label` is False)."""
    path = DATA / "huse-summarization" / "summary_clean.csv"
    needed("huse-summarization")
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, skipinitialspace=True))
    names = ("HumanJudgement", "ModelProbability", "LengthOfUtterance")
    columns = [np.array(column(rows, name), dtype=np.float64) for name in names]
    return *columns, np.array([row["Label"] == "False" for row in rows])


def test_published_numbers() -> None:
    """FACTS: HUSE 0.53, HUSE-Q 0.58, HUSE-D 0.95."""
    found = huse(*published())
    assert (found.n, found.n_human, found.n_left_out, found.neighbors) == (
        200,
        100,
        0,
        15,
    )
    assert (found.huse, found.quality, found.diversity) == pytest.approx(
        (0.53, 0.58, 0.95)
    )
    assert found.huse_interval[0] < 0.53 < found.huse_interval[1]


def slow(features, human, k, share):
    """Each text by itself, with sorted distances; each kind by its share."""
    wrong = []
    for i in range(len(human)):
        off = np.sqrt(((features - features[i]) ** 2).sum(axis=1))
        others = [j for j in range(len(human)) if j != i]
        radius = sorted(off[others])[min(k, len(others) - 1)]
        votes = [human[j] for j in others if off[j] <= radius * (1 + share)]
        people = sum(votes) / sum(human)
        models = (len(votes) - sum(votes)) / sum(~human)
        wrong.append((people >= models - 1e-12) != human[i])
    return np.mean(np.array(wrong)[human]) + np.mean(np.array(wrong)[~human])


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 20), st.booleans())
def test_slow_twin(seed, k, exact) -> None:
    """Random texts with many ties."""
    rng = default_rng(seed)
    n = 24
    ratings = rng.integers(1, 6, n).astype(float)
    probable = -rng.integers(5, 15, n).astype(float)
    lengths = rng.integers(1, 4, n).astype(float)
    human = rng.random(n) < 0.5
    human[:4] = [True, True, False, False]
    found = huse(ratings, probable, lengths, human, neighbors=k, exact_ties=exact)
    order = np.lexsort((human, probable / lengths, ratings))
    columns = np.ascontiguousarray(np.stack([ratings, probable / lengths])[:, order])
    features = (columns / columns.std(axis=1, keepdims=True)).T
    share = 1e-9 if exact else 0.0
    assert found.huse == pytest.approx(slow(features, human[order], k, share))
    assert found.quality == pytest.approx(slow(features[:, :1], human[order], k, share))
    assert found.diversity == pytest.approx(1 + found.huse - found.quality)


def test_apart_and_alike() -> None:
    """Texts that nobody could confuse give 0; texts alike in everything about 1."""
    rng = default_rng(0)
    human = np.arange(200) < 100
    apart = huse(
        human * 5.0 + rng.normal(size=200) * 0.1,
        rng.normal(size=200),
        np.ones(200),
        human,
    )
    assert (apart.huse, apart.quality) == (0.0, 0.0)
    alike = huse(rng.normal(size=200), rng.normal(size=200), np.ones(200), human)
    assert alike.huse == pytest.approx(1, abs=0.2)


def drawn(rng, n: int, share: float, apart: float):
    """Texts of which so many are people's; the model's lie apart in both features."""
    human = np.arange(n) < n * share
    ratings, probable = rng.normal(size=(2, n)) + apart * ~human
    return ratings, probable, np.ones(n), human


def test_few_texts_by_people_weigh_as_much() -> None:
    """If nothing differs HUSE is 1 on average, though only a fifth is people's (it was .41)."""
    rng = default_rng(0)
    found = [huse(*drawn(rng, 100, 0.2, 0.0)) for _ in range(60)]
    assert np.mean([one.huse for one in found]) == pytest.approx(1, abs=0.1)
    held = [one.huse_interval[0] < 1 < one.huse_interval[1] for one in found]
    assert np.mean(held) >= 0.93


@pytest.mark.parametrize(("share", "apart"), [(0.5, 1.0), (0.2, 1.0), (0.5, 0.0)])
def test_intervals_hold(share: float, apart: float) -> None:
    """The average HUSE lies inside, as the texts that judge are drawn too."""
    rng = default_rng(1)
    found = [huse(*drawn(rng, 100, share, apart)) for _ in range(100)]
    for part in ("huse", "quality", "diversity"):
        true = np.mean([getattr(one, part) for one in found])
        ends = np.array([getattr(one, f"{part}_interval") for one in found])
        assert ((ends[:, 0] <= true) & (true <= ends[:, 1])).mean() >= 0.93


def test_no_error_is_no_certainty() -> None:
    """Of 20 texts none is confused: others may be."""
    found = huse(*drawn(default_rng(2), 20, 0.5, 9.0), neighbors=5)
    assert found.huse == found.huse_interval[0] == 0
    assert 0.1 < found.huse_interval[1] < 0.6


def test_exact_ties_do_not_depend_on_units() -> None:
    """Any linear change of ratings leaves them; as published, rounding may move some."""
    ratings, probable, lengths, human = published()
    one, other = (
        huse(values, probable, lengths, human, exact_ties=True)
        for values in (ratings, (ratings - 1) / 5)
    )
    assert one == other
    assert one.quality == pytest.approx(0.60)


def test_what_is_missing_is_left_out() -> None:
    """Texts without an estimate count as left out, not as 0."""
    ratings, probable, lengths, human = published()
    ratings = ratings.copy()
    ratings[:3] = np.nan
    assert huse(ratings, probable, lengths, human).n_left_out == 3


def test_bad_input() -> None:
    """One kind of text only, lengths of 0, no neighbour."""
    ones = np.ones(6)
    human = np.array([True, True, True, False, False, False])
    with bad_input("people's texts with a model's"):
        huse(ones, ones, ones, np.ones(6, dtype=bool))
    with bad_input("length"):
        huse(ones, ones, ones * 0, human)
    with bad_usage("neighbour"):
        huse(ones, ones, ones, human, neighbors=0)
