"""Other encoders, classifiers of levels, ranking, vectors: against torch and by hand."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from refless.data.records import as_outputs
from refless.estimators.saved import load, save
from refless.extensions.ratpred import targets
from refless.extensions.ratpred.estimator import RatPred
from refless.extensions.ratpred.model import Range
from refless.registry.errors import InputError, UsageError
from refless.text.embed import WordVectors
from test_ratpred_estimator import SMALL, pool


def test_classifiers_by_hand() -> None:
    """Levels 0, 1, 3. Ordered: reaches 1, reaches 3. One a level: weighted by their chances."""
    levels = torch.tensor([0.0, 1.0, 3.0])
    sure = torch.tensor([[20.0, -20.0], [20.0, 0.0]])
    torch.testing.assert_close(targets.estimates(sure, "ordered", levels), torch.tensor([1.0, 2.0]))
    each = torch.tensor([[-20.0, 0.0, 0.0], [-20.0, -20.0, 20.0]])
    torch.testing.assert_close(targets.estimates(each, "levels", levels), torch.tensor([2.0, 3.0]))
    y = torch.tensor([1.0, 3.0])
    near = np.log1p(np.exp(-20.0))
    expected = torch.tensor([2 * near, near + np.log(2)], dtype=torch.float32)
    torch.testing.assert_close(targets.losses(sure, y, "ordered", levels), expected)
    expected = torch.tensor([near + 2 * np.log(2), 3 * near], dtype=torch.float32)
    torch.testing.assert_close(targets.losses(each, y, "levels", levels), expected)


def test_pairs_of_one_source_are_ranked() -> None:
    """The mean over pairs, against a loop; other sources and equal ratings do not count."""
    generator = torch.Generator().manual_seed(4)
    found, y = torch.randn(5, generator=generator), torch.tensor([1.0, 2, 2, 1, 3])
    source = torch.tensor([[1, 4], [1, 4], [1, 4], [2, 4], [2, 4]])
    losses = [
        np.log1p(np.exp(float(found[j] - found[i])))
        for i in range(5)
        for j in range(5)
        if source[i, 0] == source[j, 0] and y[i] > y[j]
    ]
    assert len(losses) == 3
    got = targets.misranked(found, y, source)
    torch.testing.assert_close(got, torch.tensor(np.mean(losses), dtype=torch.float32))
    assert targets.misranked(found, y, torch.arange(5)[:, None]) == 0.0


@pytest.mark.parametrize(
    "changes",
    [
        {"cell": "lstm"},
        {"cell": "cnn"},
        {"bidirectional": True},
        {"target": "ordered"},
        {"target": "levels"},
        {"ranking": 1.0},
        {"bfloat16": True, "ranking": 0.5, "target": "ordered", "bidirectional": True},
    ],
    ids=str,
)
def test_each_option_learns_and_is_saved(changes: dict, tmp_path: Path) -> None:
    """Good texts above bad ones, also when read back; another signature than the published."""
    rated = pool()
    made = RatPred(**{**SMALL, **changes}, clipped=False).fit(rated)
    values = made.estimate(as_outputs(rated)).values
    assert np.corrcoef(values, rated.human)[0, 1] > 0.7
    assert not np.isnan(values).any()
    save(made, tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.estimate(as_outputs(rated)).values, values)
    assert again.settings == made.settings
    assert str(made.signature()) != str(RatPred(**SMALL).fit(rated).signature())


def test_levels_need_steps() -> None:
    """Ratings without steps have no levels: an error that says what to do."""
    ratings = np.sqrt(np.arange(2.0, 30.0))
    with pytest.raises(UsageError, match=r"needs ratings in steps.*these have none.*'number'"):
        Range.of(ratings).levels("ordered")
    halves = Range.of(np.array([1.0, 2.5, 3.0, 6.0]))
    levels = np.array(halves.levels("levels")) * halves.unit + halves.offset
    np.testing.assert_allclose(levels, np.arange(1.0, 6.5, 0.5))


@pytest.mark.parametrize(
    "wrong",
    [{"cell": "rnn"}, {"target": "rank"}, {"ranking": -1.0},
     {"cell": "cnn", "bidirectional": True}],
    ids=str,
)  # fmt: skip
def test_wrong_settings_are_refused(wrong: dict) -> None:
    """Before anything is trained."""
    with pytest.raises(UsageError):
        RatPred(**wrong)


def test_words_begin_with_given_vectors(tmp_path: Path) -> None:
    """Words of the file begin there; another file is another signature; sizes must agree."""
    rated, path = pool(), tmp_path / "vectors.txt"
    path.write_text("serves " + " ".join(["0.25"] * 12) + "\n")
    still = {**SMALL, "learning_rate": 1e-12, "epochs": 1, "synthetic_epochs": 0}
    made = RatPred(**still, vectors=str(path)).fit(rated)
    model = made.trained
    table = model.networks[0].text.embedding.weight
    words = model.dictionary.text
    torch.testing.assert_close(table[words.index("serves") + 2], torch.full((12,), 0.25))
    assert table[words.index("food") + 2].std() > 0.1
    signed = str(made.signature())
    path.write_text("serves " + " ".join(["0.5"] * 12) + "\n")
    assert str(RatPred(**still, vectors=str(path)).fit(rated).signature()) != signed
    path.write_text("serves 1 2 3\n")
    with pytest.raises(UsageError, match="vectors of 3 numbers, the network of 12"):
        RatPred(**still, vectors=str(path)).fit(rated)


@pytest.mark.parametrize("text", ["", "3 4\n", "well\n"])
def test_a_file_without_vectors_is_refused(text: str, tmp_path: Path) -> None:
    """With the line and what to do."""
    path = tmp_path / "vectors.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="word vectors in text form"):
        WordVectors(path=str(path)).embed(["a"], str.split)


@pytest.mark.parametrize("device", ["nope", "", "\x1b[2J", "judge", "cuda:99"])
def test_a_device_that_is_not_here(device: str) -> None:
    """It is refused by name."""
    with pytest.raises(UsageError, match="there is no device"):
        RatPred(**SMALL, device=device).fit(pool(30))
