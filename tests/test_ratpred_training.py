"""Training side by side, selection, early stopping, and going on after a stop."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from refless.estimators.ratpred.batches import Encoded, ordered_batches, padded  # noqa: E402
from refless.estimators.ratpred.network import initial, stacked  # noqa: E402
from refless.estimators.ratpred.progress import Member, Pass  # noqa: E402
from refless.estimators.ratpred.settings import Settings  # noqa: E402
from refless.estimators.ratpred.steps import Runner  # noqa: E402
from refless.estimators.ratpred.training import estimates, train  # noqa: E402

SMALL = Settings(embedding=6, hidden=5, batch=8, passes=6, synthetic_passes=2, rate=0.01)


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


def member(seed: int, *, made: bool = True) -> Member:
    rated, more = data(30 + seed, seed), data(50, seed + 50)
    return Member(
        seed=seed,
        rated=rated,
        development=data(20, seed + 100),
        synthetic=joined([rated, more]) if made else None,
        sizes={"source": 5, "text": 9 + seed},
    )


def test_members_do_not_see_each_other() -> None:
    """On processors networks side by side become what each becomes alone, whichever stops first."""
    settings = replace(SMALL, passes=30, patience=3)
    members = [member(0), member(0), replace(member(0), seed=7)]
    together, state = train(members, settings)
    passes = [sum(told.member == i for told in state.curve) for i in range(3)]
    assert passes[0] == passes[1] != passes[2]
    for i, one in enumerate(members):
        alone, _ = train([one], settings)
        for name, value in alone.items():
            torch.testing.assert_close(together[name][i], value[0], rtol=1e-4, atol=1e-5)


def test_different_data_side_by_side() -> None:
    """Members of other sizes and dictionaries: the smaller one's estimates are its own."""
    settings = replace(SMALL, dropout=0.0, batch=100)
    members = [member(0, made=False), member(5, made=False)]
    together, _ = train(members, settings)
    parts = [one.development for one in members]
    found = estimates(together, parts, settings)
    for i, one in enumerate(members):
        alone, _ = train([one], settings)
        expected = estimates(alone, [one.development], settings)[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-3, atol=1e-4)


def test_it_learns() -> None:
    """The share of small ids is found from 200 texts."""
    rated, held = data(200, 1), data(100, 2)
    one = Member(
        seed=0, rated=rated, development=held, synthetic=None, sizes={"source": 5, "text": 9}
    )
    _, state = train([one], replace(SMALL, passes=20, embedding=16, hidden=16))
    assert max(told.pearson for told in state.curve) > 0.9
    assert state.curve[-1].loss < state.curve[0].loss


def test_a_stopped_run_goes_on_to_the_same_result(tmp_path: Path) -> None:
    """Stopped in either phase, between two checkpoints: the same numbers to the last digit."""
    settings = replace(SMALL, passes=10, synthetic_passes=7)
    whole, expected = train([member(0), member(1)], settings)

    class StoppedError(Exception):
        pass

    for stop in (6, 13):

        def tell(told: Pass, stop: int = stop) -> None:
            if told.number == stop:
                raise StoppedError

        folder = tmp_path / str(stop)
        with pytest.raises(StoppedError):
            train([member(0), member(1)], settings, tell=tell, checkpoint=folder)
        resumed: list[int] = []
        again, state = train(
            [member(0), member(1)],
            settings,
            tell=lambda told, seen=resumed: seen.append(told.number),
            checkpoint=folder,
        )
        assert min(resumed) == stop - (stop - 1) % 5
        assert state == expected or state.curve == expected.curve
        for name, value in whole.items():
            assert torch.equal(value, again[name])


def test_other_data_do_not_go_on(tmp_path: Path) -> None:
    """A checkpoint of other data or settings is left alone."""
    train([member(0)], SMALL, checkpoint=tmp_path)
    seen: list[int] = []
    train([member(1)], SMALL, checkpoint=tmp_path, tell=lambda told: seen.append(told.number))
    assert min(seen) == 1


def test_other_levels_or_vectors_do_not_go_on(tmp_path: Path) -> None:
    """They belong to what a run depends on."""
    settings, levels = replace(SMALL, target="ordered"), (-1.0, 0.0, 1.0)
    table = {"text": np.full((9, 6), 0.5)}
    begun = replace(member(0), vectors=table)
    for one, some in ((member(0), levels), (begun, levels), (begun, (-1.0, 0.5, 1.0))):
        seen: list[int] = []
        train(
            [one], settings, checkpoint=tmp_path, levels=some,
            tell=lambda told, seen=seen: seen.append(told.number),
        )  # fmt: skip
        assert min(seen) == 1


def test_the_best_pass_is_kept_and_patience_ends() -> None:
    """Parameters are those of the pass with the highest Pearson + Spearman; then it stops."""
    settings = replace(SMALL, passes=60, patience=4)
    one = member(0)
    best, state = train([one], settings)
    scores = [told.pearson + told.spearman for told in state.curve]
    assert state.best_number == [int(np.argmax(scores))]
    waited = len(scores) - 1 - max(state.best_number[0], settings.synthetic_passes)
    assert waited == 4 or len(scores) == 62
    found = estimates(best, [one.development], settings)[0]
    told = state.curve[state.best_number[0]]
    assert np.corrcoef(found, one.development.y)[0, 1] == pytest.approx(told.pearson, abs=1e-6)


def test_equal_development_ratings_do_no_harm() -> None:
    """Without a correlation the error decides."""
    one = member(0)
    flat = replace(one.development, y=np.zeros(20))
    _, state = train([replace(one, development=flat)], SMALL)
    errors = [told for told in state.curve if told.best]
    assert errors
    assert all(np.isnan(told.pearson) for told in state.curve)


def test_a_pass_holds_each_row_once() -> None:
    """Batches of about one length and size; all rows, none twice."""
    lengths = np.random.default_rng(0).integers(1, 40, size=103)
    rows = ordered_batches(lengths, 11, np.random.default_rng(1))
    inside = rows[rows >= 0]
    assert sorted(inside.tolist()) == list(range(103))
    sizes = (rows >= 0).sum(axis=1)
    assert sizes.max() - sizes.min() <= 1
    spreads = [np.ptp(lengths[row[row >= 0]]) for row in rows]
    assert np.median(spreads) < 8  # a random batch spreads over 30
    other = ordered_batches(lengths, 11, np.random.default_rng(2))
    assert not np.array_equal(rows, other)


def test_one_source_is_dealt_out_anew() -> None:
    """Where there are no sources all texts share the empty one; batches still differ."""
    lengths, same = np.random.default_rng(0).integers(1, 40, size=90), np.zeros(90, dtype=np.int64)
    one, other = (ordered_batches(lengths, 9, np.random.default_rng(i), same) for i in (1, 2))
    assert {frozenset(row) for row in one.tolist()} != {frozenset(row) for row in other.tolist()}
    assert np.median([np.ptp(lengths[row]) for row in one]) < 12


def test_dropout_and_ranking_reach_the_step() -> None:
    """The first loss is another one with dropout, and with ranking that of the ratings and more."""
    one = member(0, made=False)
    plain = replace(SMALL, dropout=0.0, batch=100, passes=1)
    first, dropped, ranked = (
        train([one], settings)[1].curve[0].loss
        for settings in (plain, replace(plain, dropout=0.5), replace(plain, ranking=1.0))
    )
    assert abs(dropped - first) > 1e-3
    assert ranked > first + 0.1


def test_ranking_asks_for_batches_by_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only then; else batches are by length alone."""
    asked: list[bool] = []

    def noted(*words: object) -> object:
        asked.append(words[3] is not None)
        return ordered_batches(*words)  # type: ignore[arg-type]

    monkeypatch.setattr("refless.estimators.ratpred.training.ordered_batches", noted)
    for ranking in (0.0, 1.0):
        train([member(0, made=False)], replace(SMALL, passes=1, ranking=ranking))
    assert asked == [False, True]


@pytest.mark.parametrize("dropout", [0.0, 0.2, 0.5])
def test_inputs_are_dropped(dropout: float) -> None:
    """A share of them, the others made larger; anew for each step, pass and member."""
    settings = replace(SMALL, dropout=dropout)
    begin = stacked([initial({"source": 5, "text": 9}, settings, torch.Generator())])
    runner = Runner.of(begin, settings, torch.zeros(0), "cpu")
    runner.seed([3, 4], 0)
    drawn = [runner._factors(i, (200, 50)) for i in (0, 0, 1)]
    for factors in drawn:
        kept = factors > 0
        assert kept.float().mean() == pytest.approx(1 - dropout, abs=0.02)
        torch.testing.assert_close(factors[kept], torch.full_like(factors[kept], 1 / (1 - dropout)))
    if dropout:
        assert not torch.equal(drawn[0], drawn[1])
        assert not torch.equal(drawn[0], drawn[2])


def test_texts_of_one_source_stay_together() -> None:
    """Where pairs of them are ranked: a source's three texts are in one batch, or in two."""
    lengths = np.random.default_rng(0).integers(1, 40, size=90)
    sources = np.arange(90) % 30
    rows = ordered_batches(lengths, 9, np.random.default_rng(1), sources)
    batch = np.empty(90, dtype=np.int64)
    for i, row in enumerate(rows):
        batch[row[row >= 0]] = i
    spread = [len(set(batch[sources == source])) for source in range(30)]
    assert max(spread) <= 2
    assert spread.count(1) > 20
