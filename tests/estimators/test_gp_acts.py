"""The GP where sources are dialogue acts: it sees values that a text leaves out."""

from __future__ import annotations

import pickle

import numpy as np

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, numbered
from refless.estimators.gp import GaussianProcess

NAMES = [
    "mill",
    "punter",
    "eagle",
    "vaults",
    "plough",
    "olive",
    "cricketers",
    "wrestlers",
]
FOODS = ["thai", "french", "indian", "chinese", "english", "italian"]


def rated(n: int, seed: int) -> RatedPool:
    """Texts about a name and a food; those that leave the food out are rated 2, others 5."""
    rng = np.random.default_rng(seed)
    texts = []
    sources = []
    ratings = []
    for name, food in zip(rng.choice(NAMES, n), rng.choice(FOODS, n), strict=True):
        whole = rng.random() < 0.5
        served = (
            food if whole else rng.choice([other for other in FOODS if other != food])
        )
        texts.append(f"{name} serves {served} food .")
        sources.append(f"inform(name='{name}',food={food})")
        ratings.append(5.0 if whole else 2.0)
    return pool_of(texts, ratings, sources=sources)


def test_values_left_out_are_seen() -> None:
    """Names and foods that no rated text has; only the source tells which text is right."""
    gp = GaussianProcess().fit(rated(80, seed=1))
    outputs = Outputs(
        ids=numbered(3),
        texts=(
            "barn serves greek food .",
            "barn serves thai food .",
            "barn serves greek food .",
        ),
        sources=("inform(name='barn',food=greek)",) * 2 + ("inform(food=",),
    )
    right, wrong, unread = gp.estimate(outputs).values
    assert right > 4.0
    assert wrong < 3.0
    assert not np.isnan(unread)
    again = pickle.loads(pickle.dumps(gp)).estimate(outputs).values
    np.testing.assert_array_equal(again, [right, wrong, unread])
