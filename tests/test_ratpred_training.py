"""Training, selection, early stopping, and going on after a stop."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from refless.extensions.ratpred.batches import Encoded, epoch_batches, padded
from refless.extensions.ratpred.progress import TrainingData
from refless.extensions.ratpred.settings import Settings
from refless.extensions.ratpred.training import predictions, train

SMALL = Settings(
    embedding=6, hidden=5, batch_size=8, epochs=6, synthetic_epochs=2, learning_rate=0.01
)


def data(n: int, seed: int, words: int = 9) -> Encoded:
    """Random texts whose rating is the share of small ids."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(2, words, size=rng.integers(1, 7)).tolist() for _ in range(n)]
    sources = [rng.integers(2, 5, size=rng.integers(1, 4)).tolist() for _ in range(n)]
    y = np.array([np.mean([w < 5 for w in row]) for row in rows])
    return Encoded(source=padded(sources), text=padded(rows), y=(y - y.mean()) / y.std())


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
    rated, more = data(30 + seed, seed), data(50, seed + 50)
    return TrainingData(
        seed=seed,
        rated=rated,
        validation=data(20, seed + 100),
        synthetic=joined([rated, more]) if made else None,
        sizes={"source": 5, "text": 9 + seed},
    )


@pytest.mark.parametrize("cell", ["gru", "lstm", "cnn"])
def test_training_is_repeatable(cell: str) -> None:
    """The same seed, the same network; torch's own random numbers have no part in it."""
    settings = replace(SMALL, cell=cell)
    found = []
    for own in (1, 2):
        torch.manual_seed(own)
        found.append(train(lesson(0), settings))
    assert found[0][1] == found[1][1]
    for one, other in zip(found[0][0].parameters(), found[1][0].parameters(), strict=True):
        assert torch.equal(one, other)
    other = train(replace(lesson(0), seed=7), settings)[1]
    assert other.history[0].loss != found[0][1].history[0].loss


def test_predictions_keep_the_order_of_rows() -> None:
    """However many are computed at a time."""
    network, _ = train(lesson(0, made=False), replace(SMALL, epochs=1))
    part = data(150, 3)
    found = predictions(network, part)
    rows = np.random.default_rng(0).permutation(150)
    moved = Encoded(source=part.source[rows], text=part.text[rows], y=part.y[rows])
    np.testing.assert_allclose(predictions(network, moved), found[rows], atol=1e-6)


def test_it_learns() -> None:
    """The share of small ids is found from 200 texts."""
    rated, held = data(200, 1), data(100, 2)
    one = TrainingData(
        seed=0, rated=rated, validation=held, synthetic=None, sizes={"source": 5, "text": 9}
    )
    _, state = train(one, replace(SMALL, epochs=20, embedding=16, hidden=16))
    assert max(told.pearson for told in state.history) > 0.9
    assert state.history[-1].loss < state.history[0].loss


def test_the_best_pass_is_kept_and_patience_ends() -> None:
    """Parameters are those of the epoch with the highest Pearson + Spearman; then it stops."""
    settings = replace(SMALL, epochs=60, patience=4)
    one = lesson(0)
    best, state = train(one, settings)
    scores = [told.pearson + told.spearman for told in state.history]
    assert state.best_epoch == int(np.argmax(scores))
    waited = len(scores) - 1 - max(state.best_epoch, settings.synthetic_epochs)
    assert waited == 4 or len(scores) == 62
    found = predictions(best, one.validation)
    told = state.history[state.best_epoch]
    assert np.corrcoef(found, one.validation.y)[0, 1] == pytest.approx(told.pearson, abs=1e-6)


def test_equal_development_ratings_do_no_harm() -> None:
    """Without a correlation the error decides."""
    one = lesson(0)
    flat = replace(one.validation, y=np.zeros(20))
    _, state = train(replace(one, validation=flat), SMALL)
    errors = [told for told in state.history if told.best]
    assert errors
    assert all(np.isnan(told.pearson) for told in state.history)


def test_a_pass_holds_each_row_once() -> None:
    """Batches of about one length and size; all rows, none twice."""
    lengths = np.random.default_rng(0).integers(1, 40, size=103)
    batches = epoch_batches(lengths, 10, np.random.default_rng(1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(103))
    assert {len(rows) for rows in batches} == {9, 10}
    spreads = [np.ptp(lengths[rows]) for rows in batches]
    assert np.median(spreads) < 8  # a random batch spreads over 30
    other = epoch_batches(lengths, 10, np.random.default_rng(2))
    assert {frozenset(rows) for rows in batches} != {frozenset(rows) for rows in other}
    means = [lengths[rows].mean() for rows in batches]
    assert means != sorted(means)


def test_one_source_is_dealt_out_anew() -> None:
    """Where there are no sources all texts share the empty one; batches still differ."""
    lengths, same = np.random.default_rng(0).integers(1, 40, size=90), np.zeros(90, dtype=np.int64)
    one, other = (epoch_batches(lengths, 10, np.random.default_rng(i), same) for i in (1, 2))
    assert {frozenset(row) for row in one} != {frozenset(row) for row in other}
    assert np.median([np.ptp(lengths[row]) for row in one]) < 12


def test_dropout_and_ranking_reach_the_step() -> None:
    """The first loss is another one with dropout, and with ranking that of the ratings and more."""
    one = lesson(0, made=False)
    plain = replace(SMALL, dropout=0.0, batch_size=100, epochs=1)
    first, dropped, ranked = (
        train(one, settings)[1].history[0].loss
        for settings in (plain, replace(plain, dropout=0.5), replace(plain, ranking=1.0))
    )
    assert abs(dropped - first) > 1e-3
    assert ranked > first + 0.1


def test_ranking_asks_for_batches_by_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only then; else batches are by length alone."""
    asked: list[bool] = []

    def noted(*words: object) -> object:
        asked.append(words[3] is not None)
        return epoch_batches(*words)  # type: ignore[arg-type]

    monkeypatch.setattr("refless.extensions.ratpred.training.epoch_batches", noted)
    for ranking in (0.0, 1.0):
        train(lesson(0, made=False), replace(SMALL, epochs=1, ranking=ranking))
    assert asked == [False, True]


def test_texts_of_one_source_stay_together() -> None:
    """Where pairs of them are ranked: a source's three texts are in one batch, or in two."""
    lengths = np.random.default_rng(0).integers(1, 40, size=90)
    sources = np.arange(90) % 30
    batch = np.empty(90, dtype=np.int64)
    for i, rows in enumerate(epoch_batches(lengths, 10, np.random.default_rng(1), sources)):
        batch[rows] = i
    spread = [len(set(batch[sources == source])) for source in range(30)]
    assert max(spread) <= 2
    assert spread.count(1) > 20
