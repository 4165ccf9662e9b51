"""The GP where sources are dialogue acts: features, their kernel, what they make it see."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, numbered
from refless.estimators.gp import GaussianProcess
from refless.estimators.gp.dialogue_acts import features, mostly_acts
from refless.estimators.gp.features import Tfidf, inputs_of

NAMES = ["mill", "punter", "eagle", "vaults", "plough", "olive", "cricketers", "wrestlers"]
FOODS = ["thai", "french", "indian", "chinese", "english", "italian"]


def test_features_by_hand() -> None:
    """Placeholders in words and pairs, slots without values, what is missing, what is doubled."""
    found = features("The Mill is the mill .", "inform(name='The Mill',food=Thai,kids=yes)")
    assert found == (
        "x-name", "is", "x-name", ".",
        "<s> x-name", "x-name is", "is x-name", "x-name .", ". </s>",
        "inform/food", "inform/kids", "inform/name",
        "missing x-food",
        "doubled x-name",
    )  # fmt: skip


@pytest.mark.parametrize("source", ["a question (of one) ?", "inform(name=", ""])
def test_other_and_malformed_sources_leave_the_words(source: str) -> None:
    """They are no reason to fail: the text is read alone."""
    assert features("Yes .", source) == ("yes", ".", "<s> yes", "yes .", ". </s>")


def test_values_are_found_in_texts_without_blanks() -> None:
    """As many letters as they have."""
    assert [*features("我去北京", "go(city='北京')")[:3]] == ["我", "去", "x-city"]


def test_most_sources_decide() -> None:
    """More than half, so that single malformed ones do no harm."""
    assert mostly_acts(["inform(a=b)", "inform(a=b)", "inform("])
    assert mostly_acts(["name[x], food[y]"])
    assert not mostly_acts(["inform(a=b)", "inform("])
    assert not mostly_acts([])


def test_the_kernel_is_a_bag_of_features() -> None:
    """Learned from the features of all rated texts; texts without a source's acts have words."""
    pool = rated(30, seed=0)
    inputs = inputs_of(pool.texts, pool.sources)
    kernel = Tfidf.of("acts", inputs)
    acts = [features(*both) for both in zip(pool.texts, pool.sources, strict=True)]
    found = kernel.points(inputs).toarray() > 0
    np.testing.assert_array_equal(found, [[term in row for term in kernel.terms] for row in acts])


def rated(n: int, seed: int) -> RatedPool:
    """Texts about a name and a food; those that leave the food out are rated 2, others 5."""
    rng = np.random.default_rng(seed)
    texts, sources, ratings = [], [], []
    for name, food in zip(rng.choice(NAMES, n), rng.choice(FOODS, n), strict=True):
        whole = rng.random() < 0.5
        served = food if whole else rng.choice([other for other in FOODS if other != food])
        texts.append(f"{name} serves {served} food .")
        sources.append(f"inform(name='{name}',food={food})")
        ratings.append(5.0 if whole else 2.0)
    return pool_of(texts, ratings, sources=sources)


def test_values_left_out_are_seen() -> None:
    """Names and foods that no rated text has; only the source tells which text is right."""
    gp = GaussianProcess().fit(rated(80, seed=1))
    outputs = Outputs(
        ids=numbered(3),
        texts=("barn serves greek food .", "barn serves thai food .", "barn serves greek food ."),
        sources=("inform(name='barn',food=greek)",) * 2 + ("inform(food=",),
    )
    right, wrong, unread = gp.estimate(outputs).values
    assert right > 4.0
    assert wrong < 3.0
    assert not np.isnan(unread)
    assert "acts" in gp.signature().get("k")
    again = pickle.loads(pickle.dumps(gp)).estimate(outputs).values
    np.testing.assert_array_equal(again, [right, wrong, unread])


def test_words_as_sources_are_read_as_before() -> None:
    """Neither kernel nor signature mention acts."""
    pool = pool_of(["a b", "b c", "c d", "d e", "e f"], [1, 2, 3, 4, 5], sources=list("vwxyz"))
    assert "acts" not in GaussianProcess().fit(pool).signature().get("k")
