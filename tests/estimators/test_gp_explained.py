"""The part of each kind of kernel in an estimate of the Gaussian process."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from benchmarks.simulate import simulate

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess, data
from refless.estimators.gp.kernels import (
    LABELS,
    MEANING,
    SOURCE,
    SOURCE_MEANING,
    SYSTEM,
    TEXT,
    score_kernels,
)

SIMULATED = simulate(120, seed=3).pool
TEXTS = list(SIMULATED.texts)
SOURCES = list(SIMULATED.sources)
RATINGS = 2 + 9 * SIMULATED.human  # without a scale nothing is cut
JUDGED = [None if i % 7 == 0 else round(3 * r) for i, r in enumerate(RATINGS.tolist())]
PLAIN = pool_of(TEXTS, RATINGS, sources=SOURCES)
HEARD = pool_of(TEXTS, RATINGS, sources=SOURCES, scores={"a judge": JUDGED})


def one(pool: RatedPool, row: int) -> Outputs:
    return as_outputs(pool.take(np.array([row])))


@pytest.mark.parametrize("most", [5_000, 30])
@pytest.mark.parametrize("pool", [PLAIN, HEARD])
def test_parts_sum_to_the_estimate(
    pool: RatedPool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of new texts, of rated ones, and of rated ones that are held out."""
    monkeypatch.setattr(data, "MOST_INVERTED", most)
    gp = GaussianProcess().fit(pool)
    new = replace(
        one(pool, 8), ids=("new",), texts=("The ferry undefined moves at noon!",)
    )
    for output, hide in (
        (new, None),
        (one(pool, 8), None),
        (one(pool, 8), pool.ids[8]),
    ):
        found = gp.explain(output, hide=hide, most=1)
        additions = [part.addition for part in found.parts]
        assert found.estimate == pytest.approx(found.mean + sum(additions), abs=1e-5)
        assert max(additions) > min(additions)
        assert np.abs(additions).tolist() == sorted(np.abs(additions), reverse=True)
        assert ("score a judge" in {part.name for part in found.parts}) == (
            pool is HEARD
        )


def test_a_held_out_text_has_parts_of_its_own() -> None:
    """They come from a process that has not seen its rating."""
    gp = GaussianProcess().fit(PLAIN)
    changed = RATINGS.copy()
    changed[8] = 100.0
    other = GaussianProcess().fit(pool_of(TEXTS, changed, sources=SOURCES))
    found = [
        one_gp.explain(one(PLAIN, 8), hide=PLAIN.ids[8], most=1)
        for one_gp in (gp, other)
    ]
    assert found[0].parts == found[1].parts
    assert found[0].parts != gp.explain(one(PLAIN, 8), most=1).parts


def test_parts_say_what_sets_a_text_apart() -> None:
    """Over the rated texts each part is 0 on average; the mean is about that of their estimates.

    Only about: a rated text lies among the components of the words without its own source's.
    """
    gp = GaussianProcess().fit(HEARD.take(np.arange(40)))
    found = [gp.explain(one(HEARD, i), most=1) for i in range(40)]
    estimates = gp.estimate(as_outputs(HEARD.take(np.arange(40)))).values
    assert found[0].mean == pytest.approx(estimates.mean(), abs=0.02)
    additions: dict[str, list[float]] = {}
    for part in chain.from_iterable(each.parts for each in found):
        additions.setdefault(part.name, []).append(part.addition)
    for values in additions.values():
        assert len(values) == 40
        assert np.mean(values) == pytest.approx(0.0, abs=0.02)


def test_no_estimate_has_no_parts() -> None:
    """Nor has a model of too few texts."""
    gp = GaussianProcess(use_source=False).fit(PLAIN)
    none = [gp.explain(""), GaussianProcess().fit(["a", "b"], [1.0, 2.0]).explain("a")]
    for found in none:
        assert found.reason
        assert found.parts == ()
        assert np.isnan(found.mean)


def test_every_kernel_has_a_name_for_people() -> None:
    """None is left out; those of one score go by its name."""
    every = (
        *TEXT,
        *SOURCE,
        *MEANING,
        *SOURCE_MEANING,
        *SYSTEM,
        *score_kernels(["a b"]),
    )
    assert {*every} - {"score a b"} == {*LABELS}
