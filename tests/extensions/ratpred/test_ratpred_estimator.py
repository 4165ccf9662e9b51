"""RatPred as an estimator: fitted, held out, saved, signed."""

import sys
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from numpy.testing import assert_allclose, assert_array_equal

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, as_outputs, numbered
from refless.estimators import ESTIMATORS, estimator_of
from refless.extensions.ratpred.estimator import RatPred
from refless.extensions.ratpred.model import Range
from refless.registry.errors import MissingExtraError, UsageError
from refless.registry.spec import spec_of
from refusals import bad_input, bad_usage

SMALL = {
    "embedding": 12,
    "hidden": 12,
    "batch_size": 16,
    "epochs": 5,
    "synthetic_epochs": 2,
    "learning_rate": 0.01,
}
FOODS = ("thai", "french", "greek", "polish")
ENDS = ("near the sea", "in town", "by the bridge", "for dinner", "for two", "all day")


def pool(n: int = 96, *, scale: tuple[float, float] | None = None) -> RatedPool:
    """Good texts name what the act asks for; bad ones stammer."""
    rng = np.random.default_rng(0)
    texts = []
    sources = []
    ratings = []
    for i in range(n):
        food = FOODS[i % 4]
        end = ENDS[i % 6]
        good = rng.random() < 0.5
        body = f"place {i} serves {food} food" if good else f"place {i} is is is"
        texts.append(f"{body} {end} .")
        sources.append(f"inform(name='place {i}',food={food})")
        ratings.append(float(rng.integers(4, 6) if good else rng.integers(1, 3)))
    return pool_of(texts, ratings, sources=sources, scale=scale)


@pytest.fixture(scope="module")
def rated() -> RatedPool:
    return pool()


@pytest.fixture(scope="module")
def fitted(rated: RatedPool) -> RatPred:
    return RatPred(**SMALL).fit(rated)


def outputs(*pairs: tuple[str, str]) -> Outputs:
    return Outputs(
        ids=numbered(len(pairs)),
        texts=tuple(text for _, text in pairs),
        sources=tuple(source for source, _ in pairs),
    )


def unrounded(fitted: RatPred) -> RatPred:
    """The same network, its estimates as they are."""
    raw = RatPred(**SMALL, calibrated=False, clipped=False)
    raw._fitted = fitted._fitted
    return raw


def test_seeds_are_seeds(rated: RatedPool, fitted: RatPred) -> None:
    """Another one gives another network."""
    other = RatPred(**SMALL, seed=1).fit(rated)
    one, two = (model.estimate(as_outputs(rated)).values for model in (fitted, other))
    assert not np.array_equal(one, two)


def test_it_tells_good_from_bad(rated: RatedPool, fitted: RatPred) -> None:
    """New texts of both kinds, names never seen."""
    source = "inform(name='the swan',food=thai)"
    asked = outputs(
        (source, "the swan serves thai food in town ."), (source, "the swan is is .")
    )
    found = fitted.estimate(asked)
    free = unrounded(fitted).estimate(asked).values
    assert free[0] > free[1] + 0.3
    assert found.low[0] < found.values[0] < found.high[0] or np.isnan(found.low[0])
    assert found.support.tolist() == [len(rated)] * 2


def test_predictions_are_clipped_and_rounded_unless_not(
    rated: RatedPool, fitted: RatPred
) -> None:
    """To the range and precision of the ratings; both can be switched off, after training."""
    published = RatPred(**SMALL, calibrated=False, rounded=True)
    published._fitted = fitted._fitted
    values = published.estimate(as_outputs(rated)).values
    assert set(values) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    raw = unrounded(fitted)
    free = raw.estimate(as_outputs(rated)).values
    assert len(set(np.round(free, 6))) > 5
    assert_array_equal(np.clip(np.rint(free), 1, 5), values)
    assert raw.signature() != fitted.signature()


@pytest.mark.parametrize(
    ("ratings", "precision"),
    [
        ([1, 2.5, 3, 6], 0.5),
        ([1, 2, 5], 1.0),
        ([0, 1 / 3, 1], 1 / 3),
        ([0, 0.3, 0.71], None),
        ([2, 2], None),
        ([0, 100], 100.0),
    ],
)
def test_precision_is_the_step_of_the_ratings(
    ratings: list[float], precision: float | None
) -> None:
    """The least gap, if all gaps are multiples of it; the paper's data has halves."""
    found = Range.of(np.array(ratings, dtype=np.float64)).precision
    assert found == (precision if precision is None else pytest.approx(precision))


def test_estimates_have_the_level_of_the_ratings(
    rated: RatedPool, fitted: RatPred
) -> None:
    """On the texts kept aside the line of least squares; a falling one becomes the mean."""
    human, values = fitted.trained.validation
    assert values.mean() == pytest.approx(
        human.mean(), abs=0.1
    )  # clipping moves it a little
    span = Range.of(np.array([1.0, 2.0, 4.0, 5.0]))
    y = np.array([-3.0, -2.0, -1.0])
    ratings = np.array([2.0, 3.0, 5.0])
    line = np.polynomial.Polynomial.fit(y, ratings, 1)
    moved = span.calibrated(y, ratings)
    asked = np.array([-2.5, -1.5, 0.0])
    free = {"clipped": False, "rounded": False}
    assert_allclose(moved.rating(asked, calibrated=True, **free), line(asked))
    expected = span.rating(asked, calibrated=True, **free)
    assert_allclose(moved.rating(asked, calibrated=False, **free), expected)
    falling = span.calibrated(y, ratings[::-1])
    assert_allclose(falling.rating(asked, calibrated=True, **free), ratings.mean())
    level = span.calibrated(np.zeros(3), ratings)
    assert_allclose(
        level.rating(asked, calibrated=True, **free), asked * span.unit + ratings.mean()
    )


def test_held_out_leaves_out_whole_groups(rated: RatedPool) -> None:
    """Every text once, by networks without its group; labels of groups do not count."""
    groups = np.arange(len(rated)) // 4
    found = RatPred(**SMALL, folds=3).held_out(rated, groups)
    assert found.coverage == 1.0
    assert np.corrcoef(found.values, rated.human)[0, 1] > 0.6
    again = RatPred(**SMALL, folds=3).held_out(rated, groups.max() - groups)
    assert_array_equal(found.values, again.values)


def test_held_out_is_fitting_without(rated: RatedPool) -> None:
    """Two groups: each half is estimated by the model of the other."""
    groups = np.arange(len(rated)) % 2
    one = RatPred(**SMALL)
    found = one.held_out(rated, groups)
    for half in (0, 1):
        inside = np.flatnonzero(groups == half)
        outside = np.flatnonzero(groups != half)
        alone = RatPred(**SMALL).fit(rated.take(outside))
        expected = alone.estimate(as_outputs(rated.take(inside))).values
        assert_array_equal(found.values[inside], expected)
    with bad_usage("fit a rated pool first"):
        one.residuals()


def test_columns_are_read(rated: RatedPool, fitted: RatPred) -> None:
    """Texts and sources by name, or sources beside the texts: as a pool of them."""
    columns = {"text": list(rated.texts), "source": list(rated.sources)}
    for one in (
        RatPred(**SMALL).fit(columns, rated.human),
        RatPred(**SMALL).fit(list(rated.texts), rated.human, sources=rated.sources),
    ):
        assert_array_equal(one.predict(columns), fitted.predict(as_outputs(rated)))


def test_a_specification_names_its_parameters() -> None:
    """Flat, each in its range; progress is none of them."""
    one = estimator_of(
        "ratpred:layers=1,epochs=9,patience=none,slots=name+near,rounded=yes"
    )
    assert one == RatPred(
        layers=1, epochs=9, patience=None, slots=("name", "near"), rounded=True
    )
    assert estimator_of(spec_of(one, ESTIMATORS)) == one
    assert (
        repr(RatPred(ensemble_size=2, epochs=9)) == "RatPred(epochs=9, ensemble_size=2)"
    )
    assert one.title == "RatPred"
    assert "progress" not in one.get_params()
    with bad_usage("learning_rate must be above 0"):
        estimator_of("ratpred:learning_rate=0")


def test_progress_is_told(rated: RatedPool) -> None:
    """Progress is a share of the epochs of all networks."""
    one = RatPred(**SMALL, ensemble_size=2)
    shares = []
    one.progress = shares.append
    one.fit(rated)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) == 2 * (SMALL["epochs"] + SMALL["synthetic_epochs"])


def test_reasons() -> None:
    """Empty texts, bad rows, too few rated texts: NaN with a reason."""
    few = RatPred(**SMALL).fit(pool(12))
    asked = replace(
        outputs(("request(a)", "one"), ("request(a)", " "), ("request(a)", "x")),
        bad=(False, False, True),
    )
    found = few.estimate(asked)
    assert found.reasons == ("too-few", "empty", "bad-row")
    assert np.isnan(found.values).all()
    assert few.held_out(pool(12)).reasons == ("too-few",) * 12
    with bad_usage("20 rated texts"):
        few.trained  # noqa: B018


def test_bad_sources_name_their_text(rated: RatedPool, fitted: RatPred) -> None:
    """A source that is no act where all rated ones are."""
    with bad_input(r"source of text 2.*at character 11"):
        fitted.estimate(outputs(("inform(a=b)", "one"), ("inform(a=b", "two")))
    with bad_usage("the outputs have none"):
        fitted.estimate(["a text without a source"])


def test_plain_sources_and_none() -> None:
    """Sources in words, and no sources at all, are read too."""
    words = replace(pool(), sources=tuple(f"what about {f} food?" for f in FOODS * 24))
    for given in (words, replace(words, sources=())):
        found = RatPred(**SMALL).fit(given).estimate(as_outputs(given))
        assert found.coverage == 1.0


def test_references_are_learned_from(rated: RatedPool) -> None:
    """People's texts make another model, and another signature."""
    people = (("inform(name='a b',food=thai)", "a b serves thai food in town ."),) * 2
    plain = RatPred(**SMALL, synthetic_errors=False).fit(rated)
    more = RatPred(**SMALL, synthetic_errors=False, references=people).fit(rated)
    assert more.signature() != plain.signature()
    epochs = [model.trained.courses[0].epochs for model in (plain, more)]
    assert epochs == [SMALL["epochs"], SMALL["epochs"] + SMALL["synthetic_epochs"]]


def test_explaining_without_a_text(rated: RatedPool, fitted: RatPred) -> None:
    """An estimate with its interval and no neighbours; hiding a text trains without it."""
    one = as_outputs(rated.take(np.array([0])))
    shown = fitted.explain(one)
    assert shown.neighbors == ()
    assert shown.estimate == fitted.estimate(one).values[0]
    hidden = fitted.explain(one, hide=rated.ids[0])
    assert hidden.size == len(rated) - 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"ensemble_size": 0},
        {"validation_split": 0.9},
        {"folds": 1},
        {"seed": -1},
        {"dropout": 1.0},
        {"batch_size": 0},
        {"learning_rate": 0.0},
        {"patience": 0},
        {"layers": -1},
    ],
)
def test_parameters_are_checked(wrong: dict[str, float]) -> None:
    """A setting that could not be honoured is refused at once, the network's too."""
    with pytest.raises(UsageError):
        RatPred(**wrong)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the line that installs it."""
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"'\.\[neural\]'"):
        RatPred().fit(pool())


@pytest.mark.parametrize("device", ["nope", "", "\x1b[2J", "judge", "cuda:99"])
def test_a_device_that_is_none(device: str) -> None:
    """It is refused by name."""
    with bad_usage("device must be one of auto, cpu, cuda"):
        RatPred(**SMALL, device=device)


def test_a_device_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is trained elsewhere in its place."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with bad_usage("there is no device 'cuda' here"):
        RatPred(**SMALL, device="cuda").fit(pool(30))
