"""Tuning: what is chosen, that it owes nothing to the texts that judge it, and what noise gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.application.tune import _named
from refless.estimators import Estimator, estimator_of
from refless.human import pool_of
from refless.records import RatedPool
from refless.report.tune import _chosen, gain, kept, seen, shown, to_use, verdict
from refless.simulate import simulate
from refless.studies.side_by_side import SideBySide
from refless.studies.trials import dealt, measured, trial
from refless.studies.tuning import Fold, Tuning, _Course, inner_estimates, ratings_digest, tuning

NEAR = "bleu-neighbors:tau=0.02|0.04|0.08|0.12|0.2,min_neighbors=1|3,max_fraction=0.33|1"
MEAN = "bleu-neighbors:weights=kernel,tau=0,min_neighbors=0,max_fraction=1,power=1|2|4"
PLAIN = {  # stands for gp, and is quicker
    "gp": estimator_of(MEAN.replace("1|2|4", "2")),
    "bleu-neighbors": estimator_of("bleu-neighbors"),
}
SAMPLE = simulate(60, seed=3).pool


def noise(n: int, seed: int) -> RatedPool:
    """Texts and ratings that have nothing to do with each other."""
    texts = [*dict.fromkeys(simulate(n, seed=seed).pool.texts)]
    return pool_of(texts, np.random.default_rng(seed).normal(size=len(texts)).tolist())


def tuned(pool: RatedPool, *specs: str, **how: object) -> Tuning:
    """Every text a group of its own."""
    return tuning(_named(specs, learn_orders=False), PLAIN, pool, np.arange(len(pool)), **how)  # type: ignore[arg-type]


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["bleu*", "rouge-l", "bleu*:order_weights=2+1+0"]),
            st.sampled_from([0.0, 0.05, 0.08, 0.3]),
            st.integers(0, 6),
            st.sampled_from([0.3, 0.66, 1.0]),
            st.sampled_from(["uniform", "kernel"]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(2, 9),
)
def test_one_pass_equals_one_after_the_other(settings: list[tuple[object, ...]], fold: int) -> None:
    """Candidates in any order, families mixed; `gp` among them."""
    names = ("kernel", "tau", "min_neighbors", "max_fraction", "weights")
    some: list[Estimator] = [
        estimator_of("bleu-neighbors").set_params(**dict(zip(names, values, strict=True)))
        for values in settings
    ]
    some.insert(1, estimator_of("gp"))
    groups = np.arange(len(SAMPLE)) % fold
    for one, found in zip(some, inner_estimates(some, SAMPLE, groups), strict=True):
        np.testing.assert_allclose(
            found, one.held_out(SAMPLE, groups).values, rtol=1e-12, atol=1e-12
        )


def test_a_single_candidate_is_what_validate_says() -> None:
    """With nothing to choose the outer number, and its interval, are those of the candidate."""
    groups = np.arange(len(SAMPLE))
    deal = dealt(SAMPLE, groups)
    for spec in ("gp", "bleu-neighbors"):
        one = estimator_of(spec)
        found = tuning({spec: one}, {spec: one}, SAMPLE, groups).side_by_side
        value, ends = measured("spearman", trial(one.tried(SAMPLE, groups, deal.blocks)[1], deal))
        assert (found.first.spearman, found.first.spearman_interval) == (value, ends)
        assert found.methods[1].gain_interval in ((0.0, 0.0), (pytest.approx(0), pytest.approx(0)))


def planted(n: int = 12) -> RatedPool:
    """Families of four texts that share most of their letters and are rated alike; letters that
    texts of different families share tell nothing."""
    rng = np.random.default_rng(5)
    texts, ratings = [], []
    for _ in range(n):
        stem = " ".join("".join(rng.choice([*"abcde"], 5)) for _ in range(8))
        level = rng.uniform(1, 5)
        for _ in range(4):
            texts.append(f"{stem} {''.join(rng.choice([*'abcde'], 6))}")
            ratings.append(level + rng.normal(scale=0.05))
    return pool_of(texts, ratings)


def test_the_right_tau_is_found() -> None:
    """Families are told apart at 0.5 only: below, all texts are neighbours; at 0.999, none are."""
    found = tuned(planted(), "bleu-neighbors:tau=0.01|0.5|0.999,min_neighbors=1,max_fraction=1")
    assert found.chosen.estimator == "bleu-neighbors:tau=0.5,min_neighbors=1,max_fraction=1"
    assert found.chosen.coverage == 1.0
    assert {one.estimator for one in found.folds} == {found.chosen.estimator}
    assert found.side_by_side.first.spearman > 0.9
    assert found.candidates[-1].coverage == 0.0  # so it comes last, whatever it is worth


def test_weights_of_orders_are_found() -> None:
    """Ratings go by pairs of letters that long texts share in another order: higher orders tell
    nothing, and weights on them cost agreement."""
    rng = np.random.default_rng(8)
    texts, ratings = [], []
    for level in (1.0, 5.0) * 24:
        pairs = ["qx", "jz", "vk", "wq"] if level == 1.0 else ["ab", "ce", "di", "fo"]
        texts.append("".join(rng.choice(pairs, 9)))
        ratings.append(level + rng.normal(scale=0.3))
    spec = MEAN.replace("1|2|4", "2")
    candidates = _named([spec], learn_orders=True)
    assert len(candidates) == 1 + 15  # all quarters of three orders, and equal weights
    pool = pool_of(texts, ratings)
    found = tuning(candidates, PLAIN, pool, np.arange(48), objective="mse")
    assert "order_weights=" in found.chosen.estimator
    known = {one.estimator: one.value for one in found.candidates}
    assert found.chosen.value < known[next(iter(candidates))]


def test_nothing_of_a_fifth_touches_its_settings() -> None:
    """Other ratings of the texts that are judged change neither the choice nor where it stands."""
    pool = noise(60, 1)
    deal = dealt(pool, np.arange(len(pool)))
    before = tuned(pool, NEAR, MEAN)
    for fold in range(2):
        inside = deal.blocks % 5 == fold
        ratings = np.where(inside, np.random.default_rng(9).normal(size=len(pool)), pool.human)
        after = tuned(pool_of(list(pool.texts), ratings.tolist()), NEAR, MEAN)
        one, other = before.folds[fold], after.folds[fold]
        assert (one.estimator, one.inner, one.n) == (other.estimator, other.inner, other.n)
        assert one.outer != other.outer
    assert before.chosen.value != after.chosen.value


def test_the_order_of_rows_changes_nothing() -> None:
    """To the last digit."""
    pool = noise(60, 2)
    rows = np.random.default_rng(0).permutation(len(pool))
    first, second = tuned(pool, NEAR, MEAN), tuned(pool.take(rows), NEAR, MEAN)
    assert first.candidates == second.candidates
    assert first.folds == second.folds
    assert first.side_by_side == second.side_by_side
    assert ratings_digest(pool) == ratings_digest(pool.take(rows))
    assert ratings_digest(pool) != ratings_digest(pool.take(rows[1:]))


def test_too_few_estimates_come_last() -> None:
    """Whatever they are worth; where all have too few, the one with most is taken."""
    pool = noise(60, 4)
    spec = "bleu-neighbors:tau=0.04|0.12|0.2,min_neighbors=1"
    free = tuned(pool, spec, min_coverage=0.0)
    shares = sorted(one.coverage for one in free.candidates)
    assert shares[0] < shares[-1]
    strict = tuned(pool, spec, min_coverage=shares[-1])
    assert strict.chosen.coverage == shares[-1]
    values = [one.value for one in free.candidates]
    assert values == sorted(values, reverse=True)
    never = tuned(pool, "bleu-neighbors:min_neighbors=50|60", min_coverage=1.0)
    assert never.chosen.coverage == max(one.coverage for one in never.candidates)
    lowest = tuned(pool, MEAN, objective="mse")
    assert lowest.chosen.value == min(one.value for one in lowest.candidates)


def test_without_a_part_the_choice_is_made_anew() -> None:
    """By hand: the better of two changes when the texts that spoke for it are left out."""
    human = np.arange(20.0)
    pool = pool_of([f"text {i}" for i in range(20)], human.tolist())
    deal = dealt(pool, np.arange(20))
    good, bad = human.copy(), -human
    part = deal.part == 1
    course = _Course(deal, np.ones(20, dtype=np.bool_), np.stack([good, bad]), "mse", 0.4)
    assert course.ranked(range(2))[0] == (0, 0.0, 1.0)
    spoilt = np.where(part, human, human + 1.0)  # right on the part alone
    course = replace(course, estimates=np.stack([spoilt, human + 0.99]))
    assert course.ranked(range(2))[0][0] == 0
    assert course.ranked(range(2), part=1)[0][0] == 1


def test_noise_is_not_called_agreement() -> None:
    """Where ratings have nothing to do with texts, the inner number is positive on average, the
    outer one is not, and nobody is told to use what was chosen (a larger run: docs/decisions.md).
    """
    found = [tuned(noise(60, seed), NEAR, MEAN) for seed in range(12)]
    inner = np.array([one.chosen.value for one in found])
    outer = np.array([one.side_by_side.first.spearman for one in found])
    assert inner.mean() > 0.15
    assert abs(outer.mean()) < 3 * outer.std() / np.sqrt(len(outer))
    assert sum(map(shown, found)) == 0
    assert sum(to_use(one) != "" for one in found) <= 3  # of 36 intervals that should hold 0
    assert sum(gain(one)[1][0] > 0 for one in found) <= 1
    assert sum(gain(one)[1][1] < 0 for one in found) <= 1


def made(gained: tuple[float, float], agreeing: tuple[bool, bool, bool], chosen: str) -> Tuning:
    """A tuning with these ends of its gain over both others; which of the three lines agree."""
    found = tuned(SAMPLE, "bleu-neighbors:tau=0.04|0.08")
    first, *others = found.side_by_side.methods
    middle, less = -sum(gained) / 2, (-gained[1], -gained[0])
    over = {"gain": middle, "gain_interval": less, "saved": middle, "saved_interval": less}
    lines = (first, *(replace(one, **over) for one in others))  # type: ignore[arg-type]
    lines = tuple(
        replace(line, spearman_interval=(0.1 if agrees else -0.1, 0.4))
        for line, agrees in zip(lines, agreeing, strict=True)
    )
    table = SideBySide(methods=lines, reference="tuned", baselines=(), n_drawn=60)
    folds = tuple(Fold(estimator=chosen, n=12, inner=0.3, outer=0.2) for _ in range(5))
    best = (replace(found.candidates[0], estimator=chosen), *found.candidates[1:])
    return replace(found, side_by_side=table, folds=folds, candidates=best)


ALL, NONE = (True, True, True), (False, False, False)
TUNED_ALONE, NEIGHBORS_ALONE = (True, False, False), (False, False, True)


@pytest.mark.parametrize(
    ("gained", "agreeing", "chosen", "use", "said"),
    [
        ((0.01, 0.07), ALL, "x", "tuned", "Use what was chosen: tuning is worth 0.040 [0.010, "),
        ((-0.01, 0.07), ALL, "x", "gp", "Keep gp as it is: tuning is not shown to help, being "),
        ((-0.07, -0.01), ALL, "x", "gp", "Keep gp as it is: what was chosen is worse, worth -0"),
        ((0.0, 0.0), ALL, "gp", "gp", "Keep gp as it is: every fold chooses it. Spearman "),
        ((0.01, 0.07), NONE, "x", "", "Use none: on texts that took no part in choosing no agr"),
        ((0.01, 0.07), TUNED_ALONE, "x", "tuned", "Use what was chosen: tuning is worth 0.04"),
        ((-0.1, 0.07), TUNED_ALONE, "x", "tuned", "What was chosen agrees with people, Spearm"),
        (
            (0.01, 0.07),
            NEIGHBORS_ALONE,
            "x",
            "bleu-neighbors",
            "Keep BLEU Neighbors as published: tuning is not shown to help, being worth 0.040",
        ),
    ],
)
def test_verdicts(
    gained: tuple[float, float],
    agreeing: tuple[bool, bool, bool],
    chosen: str,
    use: str,
    said: str,
) -> None:
    """Each conclusion has its interval behind it, for either objective."""
    found = made(gained, agreeing, chosen)
    assert to_use(found) == use
    assert shown(found) == said.startswith("Use what")
    assert verdict(found).startswith(said)
    assert kept(found) == ("bleu-neighbors" if use == "bleu-neighbors" else "gp")
    assert verdict(replace(found, objective="mse")).startswith(said[:40])


def test_settings_that_no_fifth_chose_are_called_that() -> None:
    """Then the outer numbers are of others."""
    found = made((0.01, 0.07), ALL, "x")
    assert _chosen(found) == ("x", "Without a fifth of the texts the same is chosen 5 of 5 times.")
    alone = replace(found, folds=tuple(replace(one, estimator="y") for one in found.folds))
    assert "chosen 0 of 5 times. So all numbers below but the last" in _chosen(alone)[1]
    assert (seen(found)["folds_that_agree"], seen(alone)["folds_that_agree"]) == (5, 0)
