"""The Gaussian process on rated pools: abstention, groups, sources, explanations, odd pools."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess, data
from refless.estimators.gp.data import rating_noise
from refless.estimators.gp.model import conditioned, estimated
from refless.estimators.inputs import outputs_in
from refless.registry.errors import UsageError
from refless.stats.correlation import spearman
from refusals import bad_usage

SIMULATED = simulate(260, seed=3).pool
RATED = SIMULATED.take(np.arange(200))
FRESH = SIMULATED.take(np.arange(200, 260))


def fitted(pool: RatedPool = RATED, **parameters: object) -> GaussianProcess:
    """The Gaussian process that has read a pool."""
    return GaussianProcess(**parameters).fit(pool)  # type: ignore[arg-type]


def test_estimates_follow_the_ratings_of_new_texts() -> None:
    """On fresh simulated texts estimates correlate with the human rating and stay on the scale."""
    found = fitted().estimate(as_outputs(FRESH))
    assert spearman(FRESH.human, found.values) > 0.4
    assert found.coverage == 1.0
    assert ((found.values >= 0) & (found.values <= 1)).all()
    assert (found.low <= found.values).all()
    assert (found.values <= found.high).all()
    assert (found.sd > 0).all()


def test_intervals_hold_most_truths() -> None:
    """95 % intervals hold about 95 % of the ratings of fresh texts (binomial slack: 51 of 60)."""
    found = fitted().estimate(as_outputs(FRESH))
    assert ((found.low <= FRESH.human) & (FRESH.human <= found.high)).sum() >= 51


def test_held_out_intervals_hold_most_truths() -> None:
    """95 % intervals of held-out estimates hold 95 % of the ratings, by text and by source."""
    _, groups = np.unique(RATED.sources, return_inverse=True)
    for held in (None, groups):
        found = GaussianProcess().held_out(RATED, held)
        inside = (found.low <= RATED.human) & (RATED.human <= found.high)
        assert inside.mean() >= 0.94


def test_outputs_share_errors_by_n_grams_that_no_rated_text_has() -> None:
    """Two texts of one new word go together further than two of different ones."""
    texts = ("ξψξψξψξψ", "ξψξψξψξψ ξψξψξψξψ", "ϐϖϐϖϐϖϐϖ ϐϖϐϖϐϖϐϖ")
    shared = fitted(use_source=False, encoder=None).together(outputs_in(texts))
    assert shared is not None
    assert shared.covariance[0, 1] > shared.covariance[0, 2] + 1e-6


def test_max_sd_abstains_where_it_is_uncertain() -> None:
    """No estimate has a larger standard deviation than asked for, and the others say why."""
    everything = fitted().estimate(as_outputs(FRESH))
    limit = float(np.median(everything.sd))
    found = fitted(max_sd=limit).estimate(as_outputs(FRESH))
    assert (np.nan_to_num(found.sd) <= limit).all()
    assert_array_equal(everything.sd > limit, ~found.defined)
    assert {found.reasons[i] for i in np.flatnonzero(~found.defined)} == {
        "too-uncertain"
    }


def test_reasons() -> None:
    """Empty texts and bad rows have no estimate; short ones have."""
    pool = pool_of(RATED.texts, RATED.human)
    outputs = Outputs(
        ids=("a", "b", "c", "d"),
        texts=("", "  ", "x", "x"),
        bad=(False, False, False, True),
    )
    found = fitted(pool).estimate(outputs)
    assert found.reasons == ("empty", "empty", "", "bad-row")
    assert np.isnan(found.values).tolist() == [True, True, False, True]


def test_shares_give_the_estimate() -> None:
    """Shares sum to 1, the largest come first, and weigh the ratings into the estimate."""
    gp = fitted()
    one = FRESH.take(np.array([7]))
    found = gp.explain(as_outputs(one))
    shares = np.array([neighbor.share for neighbor in found.neighbors])
    ratings = np.array([neighbor.rating for neighbor in found.neighbors])
    assert len(shares) == len(RATED)
    assert shares.sum() == pytest.approx(1.0)
    assert (np.diff(np.abs(shares)) <= 1e-15).all()
    assert shares @ ratings == pytest.approx(gp.estimate(as_outputs(one)).values[0])
    assert found.estimate == pytest.approx(shares @ ratings)
    assert len(gp.explain(as_outputs(one), most=3).neighbors) == 3


def test_hiding_a_rated_text_removes_its_share() -> None:
    """A held-out text is not among its own evidence."""
    one = as_outputs(RATED.take(np.array([11])))
    gp = fitted()
    assert RATED.ids[11] in {n.id for n in gp.explain(one).neighbors}
    hidden = gp.explain(one, hide=RATED.ids[11])
    assert RATED.ids[11] not in {n.id for n in hidden.neighbors}
    assert hidden.size == len(RATED) - 1


def test_sources_are_asked_for() -> None:
    """A pool with sources needs the outputs' sources, unless told to leave them unread."""
    with bad_usage("gp:use_source=no"):
        fitted().estimate(["a text without a source"])
    assert (
        fitted(use_source=False).estimate(["a text without a source"]).coverage == 1.0
    )


def test_sources_help_where_they_decide() -> None:
    """If the rating is whether the text repeats its source, held-out estimates find it."""
    rng = default_rng(5)
    words = [
        "harbour",
        "kitchen",
        "mountain",
        "painter",
        "village",
        "teacher",
        "garden",
        "bridge",
    ]
    rows = [(rng.choice(words), rng.choice(words)) for _ in range(200)]
    sources = [f"tell me about the {a}" for a, _ in rows]
    texts = [f"i know the {b} well" for _, b in rows]
    ratings = [float(a == b) for a, b in rows]
    pool = pool_of(texts, ratings, sources=sources)
    found = GaussianProcess().held_out(pool)
    assert spearman(pool.human, found.values) > 0.4
    blind = GaussianProcess(use_source=False).held_out(pool)
    assert spearman(pool.human, blind.values) < 0.3


@pytest.mark.parametrize("n", [1, 2, 4])
def test_too_small_a_pool(n: int) -> None:
    """Fewer than five rated texts give no estimate, with a reason."""
    pool = pool_of(list(RATED.texts[:n]), list(RATED.human[:n]))
    found = fitted(pool).estimate(["some text"])
    assert found.reasons == ("too-few",)
    assert GaussianProcess().held_out(pool).reasons == ("too-few",) * n


@pytest.mark.parametrize("most", [10, 5_000])
def test_all_ratings_equal(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of one rating gives that rating, of more than are inverted too."""
    monkeypatch.setattr(data, "MOST_INVERTED", most)
    pool = pool_of(list(RATED.texts[:30]), [3.0] * 30)
    found = fitted(pool).estimate(["some text", RATED.texts[0]])
    assert_allclose(found.values, 3.0)
    assert_allclose(GaussianProcess().held_out(pool).values, 3.0)


def test_duplicates_and_tiny_texts() -> None:
    """Equal texts with different ratings, one-letter texts and no words at all are no obstacle."""
    texts = ["same text"] * 10 + ["a", "b", "", "...", "x y"] + list(RATED.texts[:15])
    pool = pool_of(texts, list(np.linspace(1, 5, 30)), scale=(1, 5))
    found = GaussianProcess().held_out(pool)
    assert found.defined.sum() == 29
    assert found.reasons[12] == "empty"


def test_more_ratings_count_more() -> None:
    """Noise is the pooled variance of a rating over the number of ratings (hand calculation)."""
    pool = pool_of(["a b c", "d e f"], [[1.0, 3.0], [2.0, 2.0, 2.0, 2.0]])
    # squared deviations 1 + 1 + 0, degrees of freedom 1 + 3
    assert_allclose(rating_noise(pool), [0.5 / 2, 0.5 / 4])
    assert rating_noise(pool_of(["a", "b"], [1.0, 2.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("unit", [1e-14, 1e-6, 1e9])
def test_no_unit_of_the_ratings_is_too_small(unit: float) -> None:
    """Ratings in another unit give the same estimates in that unit; a spread is told by its own."""
    rated = RATED.take(np.arange(60))
    others = pool_of(rated.texts, unit * rated.human, sources=rated.sources)
    plain = pool_of(rated.texts, rated.human, sources=rated.sources)
    outputs = as_outputs(FRESH)
    values, wanted = (
        GaussianProcess().fit(pool).predict(outputs) for pool in (others, plain)
    )
    assert_allclose(values / unit, wanted, rtol=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_sd": 0.0},
        {"tune_on": 1},
        {"folds": 1},
        {"threads": 0},
    ],
)
def test_wrong_parameters(wrong: dict[str, object]) -> None:
    """A setting that cannot be honoured is refused."""
    with pytest.raises(UsageError):
        GaussianProcess(**wrong).fit(RATED)  # type: ignore[arg-type]


def test_nothing_is_known_of_unknown_words() -> None:
    """A text without a known word is as uncertain as one can be, and rated like the average one."""
    found = fitted().estimate(
        {
            "text": ["Zyx qwv jkk zzq!", RATED.texts[0]],
            "source": ["Vvk qqz?", RATED.sources[0]],
        }
    )
    others = fitted().estimate(as_outputs(FRESH))
    assert found.sd[0] > 0.99 * others.sd.max()
    assert found.sd[0] > 1.1 * found.sd[1]


def test_what_belongs_together_changes_weights_and_intervals() -> None:
    """Groups of the user's own are held out together; what they are called does not count."""
    groups = [str(i % 7) for i in range(len(RATED))]
    plain = fitted()
    grouped = GaussianProcess().fit(RATED, groups=groups)
    one = plain.estimate(as_outputs(FRESH))
    other = grouped.estimate(as_outputs(FRESH))
    assert (one.values != other.values).any()
    renamed = GaussianProcess().fit(
        RATED, groups=[f"day {9 - int(name)}" for name in groups]
    )
    assert_array_equal(renamed.predict(as_outputs(FRESH)), other.values)
    assert (
        str(renamed.signature()) == str(grouped.signature()) != str(plain.signature())
    )
    sources = GaussianProcess().fit(RATED, groups=RATED.sources)
    assert_array_equal(sources.predict(as_outputs(FRESH)), one.values)
    assert (one.high - one.low).tolist() != (other.high - other.low).tolist()
    label = dict(zip(RATED.ids, groups, strict=True))
    residuals = grouped.residuals()
    assert residuals.sources == tuple(label[name] for name in grouped.rated.ids)
    assert len(residuals.alone) == len(RATED)
    with bad_usage("200 texts but 3 groups"):
        GaussianProcess().fit(RATED, groups=["a", "b", "c"])


def test_errors_of_whole_systems_are_held_out() -> None:
    """Held-out estimates condition on the other systems alone, with the amplitudes of all.

    Outputs whose source the other systems answered have the weights of rated sources.
    """
    gp = fitted()
    state = gp._state()
    rated = gp.rated
    found = gp.residuals().afar
    out = np.array([system == "hasty" for system in rated.systems])
    some = state.data.take(np.flatnonzero(~out))
    assert {*some.rated.sources} >= {*rated.sources}
    model = conditioned(some, state.near.amplitudes)
    y, _ = estimated(some, model, state.data.inputs.take(np.flatnonzero(out)))
    left = rated.human[out] - (state.data.offset + state.data.unit * y)
    assert_allclose(found[out], left, atol=1e-6)
