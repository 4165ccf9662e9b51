"""Estimators in scikit-learn's hands: clones, cross-validation, grids, pipelines, frames."""

from __future__ import annotations

import pickle
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from refless.data.records import Estimates, as_outputs
from refless.estimators import ESTIMATORS, Estimator, estimator_of, held_out
from refless.estimators.gp import GaussianProcess
from refless.estimators.gp.kernels import MEANING, SOURCE, SOURCE_MEANING, TEXT
from refless.estimators.neighbors import BLEUNeighbors
from refless.extensions.ratpred.estimator import RatPred
from refless.metrics.kernels.bleu import BleuStar
from refless.metrics.kernels.rouge import RougeL
from refless.registry.spec import listed, parameters, spec_of
from refless.stats.correlation import spearman
from refusals import bad_usage
from rows import Frame

POOL = simulate(90, seed=4).pool
TEXTS = list(POOL.texts)
HUMAN = POOL.human
FOLDS = KFold(3)
MAKERS: dict[str, dict[str, Any]] = {
    "bleu-neighbors": {"min_neighbors": 1, "tau": 0.05},
    "gp": {"use_source": False},
}
SMALL = {"embedding": 4, "hidden": 4, "epochs": 2, "synthetic_epochs": 1, "threads": 1}
TORCH = {"ratpred": {**SMALL, "use_source": False}} if find_spec("torch") else {}
FITTED = [ESTIMATORS[name](**values) for name, values in (MAKERS | TORCH).items()]
IDS = list(MAKERS | TORCH)


def same(one: Estimates, other: Estimates) -> None:
    """Equal number by number."""
    for name in ("values", "low", "high", "support", "sd"):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.reasons == other.reasons


@pytest.mark.parametrize("estimator", FITTED, ids=IDS)
def test_the_basics(estimator: Estimator) -> None:
    """fit returns the estimator; predict is an array, estimate has the rest; clones forget."""
    one = clone(estimator)
    assert one.fit(TEXTS, HUMAN) is one
    check_is_fitted(one)
    found = one.estimate(TEXTS)
    assert_array_equal(one.predict(np.array(TEXTS, dtype=object)), found.values)
    for other in (clone(one), one.clone()):
        assert other.get_params() == one.get_params() == estimator.get_params()
        with pytest.raises(NotFittedError):
            check_is_fitted(other)
        with bad_usage("fit a rated pool first"):
            other.predict(TEXTS)
    same(pickle.loads(pickle.dumps(one)).estimate(TEXTS), found)
    assert is_regressor(one)
    assert "progress" not in one.get_params()


@pytest.mark.parametrize("estimator", FITTED, ids=IDS)
def test_cross_validation(estimator: Estimator) -> None:
    """cross_val_predict is fitting to the other folds; cross_val_score is Spearman of it."""
    found = cross_val_predict(estimator, TEXTS, HUMAN, cv=FOLDS)
    scores = cross_val_score(estimator, TEXTS, HUMAN, cv=FOLDS)
    for fold, (train, test) in enumerate(FOLDS.split(TEXTS)):
        one = estimator.clone().fit([TEXTS[i] for i in train], HUMAN[train])
        alone = one.predict([TEXTS[i] for i in test])
        assert_array_equal(found[test], alone)
        known = ~np.isnan(alone)
        assert_array_equal(scores[fold], spearman(HUMAN[test][known], alone[known]))


def test_scores_leave_abstentions_out() -> None:
    """Spearman over the texts that have an estimate; NaN where too few have."""
    model = BLEUNeighbors(tau=0.3, min_neighbors=1).fit(TEXTS, HUMAN)
    other = [*TEXTS[:20], "zzzz", "0"]
    found = model.predict(other)
    assert np.isnan(found[20:]).all()
    human = [*HUMAN[:20], 1.0, 0.0]
    known = ~np.isnan(found)
    assert model.score(other, human) == spearman(np.array(human)[known], found[known])
    assert np.isnan(model.score(["zzzz", "0"], [1.0, 0.0]))


def test_grid_search_over_tau_and_a_kernels_own_parameters() -> None:
    """Nested parameters are reached by name; the best one is fitted to everything."""
    grid = {"tau": [0.02, 0.1, 0.3], "kernel__orders": [(2, 4), (1, 3)]}
    search = GridSearchCV(
        BLEUNeighbors(min_neighbors=1, max_fraction=1.0), grid, cv=FOLDS
    )
    search.fit(TEXTS, HUMAN)
    assert set(search.best_params_) == {"tau", "kernel__orders"}
    best = search.best_estimator_
    assert (best.tau, best.kernel.orders) == tuple(search.best_params_.values())[::-1]
    assert_array_equal(search.predict(TEXTS), best.predict(TEXTS))
    means = search.cv_results_["mean_test_score"]
    assert len(means) == 6
    assert np.nanmax(means) == search.best_score_


def test_a_pipeline() -> None:
    """Texts may be changed on the way; a step's parameters are reached by name."""
    steps = [
        ("lower", FunctionTransformer(lambda texts: [t.lower() for t in texts])),
        ("it", GaussianProcess()),
    ]
    pipeline = Pipeline(steps).set_params(it__max_sd=0.5)
    pipeline.fit(TEXTS, HUMAN)
    lower = [text.lower() for text in TEXTS]
    alone = GaussianProcess(max_sd=0.5).fit(lower, HUMAN)
    assert_array_equal(pipeline.predict(TEXTS), alone.predict(lower))
    assert pipeline.score(TEXTS, HUMAN) == alone.score(lower, HUMAN)


def frames() -> list[Any]:
    """The pool's texts and sources as data frames."""
    columns = {"text": TEXTS, "source": list(POOL.sources)}
    found: list[Any] = [Frame(columns), columns]
    for library in ("pandas", "polars"):
        try:
            found.append(__import__(library).DataFrame(columns))
        except ImportError:
            continue
    try:
        import pyarrow as pa
    except ImportError:
        return found
    return [*found, pa.table(columns)]


@pytest.mark.parametrize("frame", frames(), ids=lambda frame: type(frame).__name__)
def test_frames_have_texts_and_sources(frame: Any) -> None:
    """Columns text and source count, whatever holds them; as sources given by themselves do."""
    given = GaussianProcess().fit(TEXTS, HUMAN, sources=POOL.sources)
    framed = GaussianProcess().fit(frame, HUMAN)
    assert framed.signature().get("k") == ",".join(
        (*TEXT, *SOURCE, *MEANING, *SOURCE_MEANING)
    )
    same(framed.estimate(frame), given.estimate(frame))
    assert framed.rated.sources == given.rated.sources
    with bad_usage("do not pass sources beside it"):
        GaussianProcess().fit(frame, HUMAN, sources=POOL.sources)


TABLES = [one for one in frames() if not isinstance(one, dict | Frame)]


@pytest.mark.parametrize("frame", TABLES, ids=lambda frame: type(frame).__name__)
def test_cross_validation_of_frames(frame: Any) -> None:
    """scikit-learn takes rows out of them."""
    found = cross_val_predict(GaussianProcess(), frame, HUMAN, cv=FOLDS)
    train, test = next(FOLDS.split(TEXTS))
    one = GaussianProcess().fit(
        [TEXTS[i] for i in train],
        HUMAN[train],
        sources=[POOL.sources[i] for i in train],
    )
    assert_array_equal(found[test], one.predict(as_outputs(POOL.take(test))))


def test_a_frame_without_texts() -> None:
    """The columns there are are named."""
    with bad_usage("a column 'text' is needed; there are answer, source"):
        BLEUNeighbors().fit({"answer": TEXTS, "source": TEXTS}, HUMAN)


@pytest.mark.parametrize("estimator", FITTED, ids=IDS)
def test_held_out_changes_nothing(estimator: Estimator) -> None:
    """Fitted or not, it is as it was, and so are its estimates and its signature."""
    one = estimator.clone()
    found = held_out(one, POOL)
    assert one._fitted is None
    one.fit(POOL.take(np.arange(40)))
    before = one.estimate(TEXTS)
    signed = one.signature()
    same(held_out(one, POOL), found)
    same(held_out(spec_of(one, ESTIMATORS), POOL), found)
    same(one.estimate(TEXTS), before)
    assert one.signature() == signed


@pytest.mark.parametrize("estimator", FITTED, ids=IDS)
def test_signatures_without_fitting(estimator: Estimator) -> None:
    """A pool's signature is that of an estimator fitted to it; so are the rated texts in use."""
    one = estimator.clone()
    fitted = one.fitted_to(POOL)
    assert one.signature(POOL) == fitted.signature() != one.signature()
    assert one.drawn(POOL).ids == fitted.rated.ids
    assert one._fitted is None


def test_parameters_that_fit_reads() -> None:
    """Changed afterwards, they ask for another fit; those that estimates read do not."""
    model = GaussianProcess().fit(TEXTS, HUMAN)
    model.set_params(max_sd=0.5).predict(TEXTS)
    with bad_usage("parameters have changed since fit"):
        model.set_params(tune_on=50).predict(TEXTS)


def test_what_stands_in_a_terminal() -> None:
    """Only what differs from the defaults; it evaluates to the estimator."""
    assert repr(GaussianProcess()) == "GaussianProcess()"
    one = BLEUNeighbors(kernel=RougeL(tokenize="13a"), tau=0.1)
    assert repr(one) == "BLEUNeighbors(kernel=RougeL(tokenize='13a'), tau=0.1)"
    assert eval(repr(one)) == one


@pytest.mark.parametrize(
    ("kernel", "title"),
    [("bleu*", "BLEU Neighbors"), (RougeL(), "BLEU Neighbors with rouge-l")],
)
def test_titles(kernel: Any, title: str) -> None:
    """The names that people give them."""
    assert BLEUNeighbors(kernel=kernel).title == title
    assert (GaussianProcess().title, RatPred().title) == (
        "the Gaussian process",
        "RatPred",
    )


def test_specifications() -> None:
    """The canonical name of an estimator parses back, a kernel within it included."""
    one = BLEUNeighbors(kernel=BleuStar(orders=(1, 4), clip=False), tau=0.1)
    text = "bleu-neighbors:kernel=(bleu*:orders=1-4,clip=no),tau=0.1"
    assert spec_of(one, ESTIMATORS) == text
    assert spec_of(estimator_of(text), ESTIMATORS) == text
    assert estimator_of(text).signature() == one.signature()
    assert estimator_of(one) is one
    assert estimator_of("gp:max_sd=0.2,encoder=some/dir") == GaussianProcess(
        max_sd=0.2, encoder="some/dir"
    )
    with bad_usage("no estimator 'knn'; there are bleu-neighbors, gp, ratpred"):
        estimator_of("knn")


@pytest.mark.parametrize("name", MAKERS)
def test_lists_of_parameters(name: str) -> None:
    """Every parameter is declared, in the order of the constructor; the defaults parse back."""
    kind = ESTIMATORS[name]
    assert [one.name for one in parameters(kind)] == list(kind().get_params(deep=False))
    said = listed(name, ESTIMATORS).partition(" takes ")[2].replace(", ", ",")
    assert spec_of(estimator_of(f"{name}:{said}"), ESTIMATORS) == name
