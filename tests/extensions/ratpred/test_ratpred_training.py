"""Training, selection, early stopping, and going on after a stop."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from numpy.random import default_rng

from refless.extensions.ratpred.batches import (
    Encoded,
    TrainingData,
    epoch_batches,
    padded,
)
from refless.extensions.ratpred.settings import Settings
from refless.extensions.ratpred.training import Training, predictions, train
from refless.stats.correlation import pearson, spearman

SMALL = Settings(
    embedding=6,
    hidden=5,
    batch_size=8,
    epochs=6,
    synthetic_epochs=2,
    learning_rate=0.01,
)


def data(n: int, seed: int, words: int = 9) -> Encoded:
    """Random texts whose rating is the share of small ids."""
    rng = default_rng(seed)
    rows = [rng.integers(2, words, size=rng.integers(1, 7)).tolist() for _ in range(n)]
    sources = [rng.integers(2, 5, size=rng.integers(1, 4)).tolist() for _ in range(n)]
    y = np.array([np.mean(np.array(row) < 5) for row in rows])
    return Encoded(
        source=padded(sources), text=padded(rows), y=(y - y.mean()) / y.std()
    )


def joined(parts: list[Encoded]) -> Encoded:
    """All rows of several."""

    def rows(tables: list) -> np.ndarray:
        width = max(table.shape[1] for table in tables)
        return np.concatenate(
            [np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables]
        )

    return Encoded(
        source=rows([part.source for part in parts]),
        text=rows([part.text for part in parts]),
        y=np.concatenate([part.y for part in parts]),
    )


def lesson(seed: int, *, made: bool = True) -> TrainingData:
    rated = data(30 + seed, seed)
    more = data(50, seed + 50)
    return TrainingData(
        seed=seed,
        rated=rated,
        validation=data(20, seed + 100),
        synthetic=joined([rated, more]) if made else None,
        sizes={"source": 5, "text": 9 + seed},
    )


def test_training_is_repeatable() -> None:
    """The same seed, the same network; torch's own random numbers have no part in it."""
    found = []
    for own in (1, 2):
        torch.manual_seed(own)
        found.append(train(lesson(0), SMALL))
    assert found[0][1] == found[1][1]
    for one, other in zip(
        found[0][0].parameters(), found[1][0].parameters(), strict=True
    ):
        assert torch.equal(one, other)
    assert train(replace(lesson(0), seed=7), SMALL)[1] != found[0][1]


def test_predictions_keep_the_order_of_rows() -> None:
    """However many are computed at a time."""
    network, _ = train(lesson(0, made=False), replace(SMALL, epochs=1))
    part = data(150, 3)
    found = predictions(network, part)
    rows = default_rng(0).permutation(150)
    moved = Encoded(source=part.source[rows], text=part.text[rows], y=part.y[rows])
    np.testing.assert_allclose(predictions(network, moved), found[rows], atol=1e-6)


def test_it_learns() -> None:
    """The share of small ids is found from 200 texts."""
    rated = data(200, 1)
    held = data(100, 2)
    one = TrainingData(
        seed=0,
        rated=rated,
        validation=held,
        synthetic=None,
        sizes={"source": 5, "text": 9},
    )
    _, state = train(one, replace(SMALL, epochs=20, embedding=16, hidden=16))
    assert state.pearson > 0.9


def test_the_best_pass_is_kept_and_patience_ends() -> None:
    """Parameters are those of the epoch with the highest Pearson + Spearman; then it stops."""
    settings = replace(SMALL, epochs=60, patience=4)
    one = lesson(0)
    scores = []
    run = Training.begin(one, settings, "cpu")
    while not run.done:
        if run.state.number == settings.synthetic_epochs:
            run.restart()
        run.epoch()
        run.select()
        values = predictions(run.network, one.validation)
        scores.append(
            pearson(one.validation.y, values) + spearman(one.validation.y, values)
        )
    best, state = train(one, settings)
    assert state == run.state
    assert state.best_epoch == int(np.argmax(scores))
    waited = len(scores) - 1 - max(state.best_epoch, settings.synthetic_epochs)
    assert waited == 4 or len(scores) == 62
    found = predictions(best, one.validation)
    assert pearson(found, one.validation.y) == pytest.approx(state.pearson, abs=1e-6)


def test_equal_development_ratings_do_no_harm() -> None:
    """Without a correlation the error decides."""
    one = lesson(0)
    flat = replace(one.validation, y=np.zeros(20))
    _, state = train(replace(one, validation=flat), SMALL)
    assert state.best > -np.inf
    assert np.isnan(state.pearson)


def test_a_pass_holds_each_row_once() -> None:
    """Batches of about one length and size; all rows, none twice."""
    lengths = default_rng(0).integers(1, 40, size=103)
    batches = epoch_batches(lengths, 10, default_rng(1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(103))
    assert {len(rows) for rows in batches} == {9, 10}
    spreads = [np.ptp(lengths[rows]) for rows in batches]
    assert np.median(spreads) < 8  # a random batch spreads over 30
    other = epoch_batches(lengths, 10, default_rng(2))
    assert {frozenset(rows) for rows in batches} != {frozenset(rows) for rows in other}
    means = [lengths[rows].mean() for rows in batches]
    assert means != sorted(means)


def test_dropout_reaches_the_step() -> None:
    """After one epoch the network is another one with dropout."""
    plain = replace(SMALL, epochs=1, dropout=0.0)
    one, other = (
        train(lesson(0, made=False), settings)[0]
        for settings in (plain, replace(plain, dropout=0.5))
    )
    assert not torch.equal(one.output.weight, other.output.weight)
