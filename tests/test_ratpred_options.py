"""Other encoders, classifiers of levels, ranking, vectors: against torch and by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from refless.embed import WordVectors  # noqa: E402
from refless.errors import InputError, UsageError  # noqa: E402
from refless.estimators import RatPred  # noqa: E402
from refless.estimators.ratpred import Settings, targets  # noqa: E402
from refless.estimators.ratpred.encoders import side_by_side  # noqa: E402
from refless.estimators.ratpred.model import Range, load  # noqa: E402
from refless.estimators.ratpred.network import SIDES, initial, stacked  # noqa: E402
from refless.records import as_outputs  # noqa: E402
from test_ratpred_estimator import SMALL, pool  # noqa: E402

E, H, T, B = 5, 4, 6, 3
LENGTHS = (6, 3, 1)


def one(settings: Settings) -> tuple[dict[str, "torch.Tensor"], "torch.Tensor"]:
    """A network's parameters, biases too, and sequences of several lengths."""
    generator = torch.Generator().manual_seed(0)
    p = stacked([initial(dict.fromkeys(SIDES, 9), settings, generator)])
    p = {name: torch.randn(v.shape, generator=generator) for name, v in p.items()}
    tokens = torch.randint(1, 9, (1, T, B), generator=generator)
    tokens[0, torch.arange(T)[:, None] >= torch.tensor(LENGTHS)] = 0
    return p, tokens


@pytest.mark.parametrize("unit", ["gru", "lstm"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_encoders_are_torchs(unit: str, bidirectional: bool) -> None:
    """The last state of each direction, whatever the length."""
    settings = Settings(embedding=E, hidden=H, unit=unit, bidirectional=bidirectional)
    p, tokens = one(settings)
    module = getattr(torch.nn, unit.upper())(E, H, bidirectional=bidirectional)
    for name, end in zip(settings.directions, ("", "_reverse"), strict=False):
        for part, theirs in (("input", "ih"), ("state", "hh")):
            weight, bias = p[f"text.{name}.{part}"][0], p[f"text.{name}.{part}_bias"][0, 0]
            getattr(module, f"weight_{theirs}_l0{end}").data = weight.t().contiguous()
            getattr(module, f"bias_{theirs}_l0{end}").data = bias
    vectors = torch.nn.functional.embedding(tokens[0], p["text.embedding"][0])
    packed = torch.nn.utils.rnn.pack_padded_sequence(vectors, torch.tensor(LENGTHS))
    last = module(packed)[1]
    last = last if unit == "gru" else last[0]
    found = side_by_side(settings)(p, "text", tokens)
    torch.testing.assert_close(found[0], torch.cat(list(last), dim=-1), atol=1e-5, rtol=1e-4)


def test_a_convolution_is_torchs() -> None:
    """Windows of three, the highest of each feature, no feature from the padding."""
    settings = Settings(embedding=E, hidden=H, unit="cnn")
    p, tokens = one(settings)
    found = side_by_side(settings)(p, "text", tokens)
    weights = p["text.forward.input"][0].view(3, E, H).permute(2, 1, 0)
    for row, length in enumerate(LENGTHS):
        vectors = p["text.embedding"][0][tokens[0, :length, row]]
        features = torch.nn.functional.conv1d(
            vectors.t()[None], weights, p["text.forward.input_bias"][0, 0], padding=1
        )
        torch.testing.assert_close(found[0, row], features[0].relu().amax(dim=1))


def test_classifiers_by_hand() -> None:
    """Levels 0, 1, 3. Ordered: reaches 1, reaches 3. One a level: weighted by their chances."""
    levels = torch.tensor([0.0, 1.0, 3.0])
    sure = torch.tensor([[[20.0, -20.0], [20.0, 0.0]]])
    torch.testing.assert_close(
        targets.estimates(sure, "ordered", levels), torch.tensor([[1.0, 2.0]])
    )
    each = torch.tensor([[[-20.0, 0.0, 0.0], [-20.0, -20.0, 20.0]]])
    torch.testing.assert_close(
        targets.estimates(each, "levels", levels), torch.tensor([[2.0, 3.0]])
    )
    y = torch.tensor([[1.0, 3.0]])
    near = np.log1p(np.exp(-20.0))
    expected = torch.tensor([[2 * near, near + np.log(2)]], dtype=torch.float32)
    torch.testing.assert_close(targets.losses(sure, y, "ordered", levels), expected)
    expected = torch.tensor([[near + 2 * np.log(2), 3 * near]], dtype=torch.float32)
    torch.testing.assert_close(targets.losses(each, y, "levels", levels), expected)


def test_pairs_of_one_source_are_ranked() -> None:
    """The mean over pairs, against a loop; other sources and equal ratings do not count."""
    generator = torch.Generator().manual_seed(4)
    found, y = torch.randn(2, 6, generator=generator), torch.tensor([[1.0, 2, 2, 1, 3, 0]] * 2)
    source = torch.tensor([[[1, 1, 1, 2, 2, 1]], [[1, 2, 3, 4, 5, 6]]])
    there = torch.tensor([[True, True, True, True, True, False]] * 2)
    losses = []
    for i in range(6):
        for j in range(6):
            same = source[0, 0, i] == source[0, 0, j] and there[0, i] and there[0, j]
            if same and y[0, i] > y[0, j]:
                losses.append(np.log1p(np.exp(float(found[0, j] - found[0, i]))))
    assert len(losses) == 3
    got = targets.misranked(found, y, there, source)
    torch.testing.assert_close(got, torch.tensor([np.mean(losses), 0.0], dtype=torch.float32))


@pytest.mark.parametrize(
    "changes",
    [
        {"unit": "lstm"},
        {"unit": "cnn"},
        {"bidirectional": True},
        {"target": "ordered"},
        {"target": "levels"},
        {"ranking": 1.0},
        {"narrow": True, "ranking": 0.5, "target": "ordered", "bidirectional": True},
    ],
    ids=str,
)
def test_each_option_learns_and_is_saved(changes: dict, tmp_path: Path) -> None:
    """Good texts above bad ones, also when read back; another signature than the published."""
    rated = pool()
    settings = replace(SMALL, **changes)
    made = RatPred(settings=settings, bounded=False).fit(rated)
    values = made.predict(as_outputs(rated)).values
    assert np.corrcoef(values, rated.truth)[0, 1] > 0.7
    assert not np.isnan(values).any()
    made.save(tmp_path)
    again = RatPred(model=str(tmp_path), bounded=False).fit(rated)
    np.testing.assert_array_equal(again.predict(as_outputs(rated)).values, values)
    assert load(tmp_path).settings == settings
    assert str(made.signature()) != str(RatPred(settings=SMALL).fit(rated).signature())


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
    [{"unit": "rnn"}, {"target": "rank"}, {"ranking": -1.0},
     {"unit": "cnn", "bidirectional": True}],
    ids=str,
)  # fmt: skip
def test_wrong_settings_are_refused(wrong: dict) -> None:
    """Before anything is trained."""
    with pytest.raises(UsageError):
        Settings(**wrong)


def test_words_begin_with_given_vectors(tmp_path: Path) -> None:
    """Words of the file begin there; another file is another signature; sizes must agree."""
    rated, path = pool(), tmp_path / "vectors.txt"
    path.write_text("serves " + " ".join(["0.25"] * 12) + "\n")
    still = replace(SMALL, rate=1e-12, passes=1, synthetic_passes=0)
    made = RatPred(settings=still, vectors=str(path)).fit(rated)
    model = made.trained
    table = model.parameters["text.embedding"][0]
    words = model.dictionary.text
    torch.testing.assert_close(table[words.index("serves") + 2], torch.full((12,), 0.25))
    assert table[words.index("food") + 2].std() > 0.1
    signed = str(made.signature())
    path.write_text("serves " + " ".join(["0.5"] * 12) + "\n")
    assert str(RatPred(settings=still, vectors=str(path)).fit(rated).signature()) != signed
    path.write_text("serves 1 2 3\n")
    with pytest.raises(UsageError, match="vectors of 3 numbers, the network of 12"):
        RatPred(settings=still, vectors=str(path)).fit(rated)


@pytest.mark.parametrize("text", ["3 4\nwell 1 2 3 4\n", "well 1 2 3 4\nill 4 3 2 1\n"])
def test_the_size_of_vectors(text: str, tmp_path: Path) -> None:
    """With word2vec's first line and without."""
    path = tmp_path / "vectors.txt"
    path.write_text(text)
    assert WordVectors(path=str(path)).size() == 4


@pytest.mark.parametrize("text", ["", "3 4\n", "well\n"])
def test_a_file_without_vectors_is_refused(text: str, tmp_path: Path) -> None:
    """With the line and what to do."""
    path = tmp_path / "vectors.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="word vectors in text form"):
        WordVectors(path=str(path)).size()
