"""The network: its cells step by step, padding, dropout, first parameters."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given, settings
from hypothesis import strategies as st

from refless.extensions.ratpred.batches import Encoded, padded
from refless.extensions.ratpred.network import (
    Batch,
    Network,
    Sequences,
    dropping,
    initialise,
)
from refless.extensions.ratpred.settings import Settings

SMALL = Settings(embedding=5, hidden=4, layers=1)
WORDS = {"source": 7, "text": 9}


def network(settings: Settings = SMALL, *, seed: int = 0) -> Network:
    """With random biases too."""
    found = Network.empty(WORDS, settings)
    initialise(found, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in found.named_parameters():
            if "bias" in name:
                value.normal_(generator=generator)
    return found


def data(lengths: list[tuple[int, int]]) -> Encoded:
    """Random ids, of known words, for so many tokens in source and text."""
    rng = np.random.default_rng(1)
    source = [rng.integers(2, WORDS["source"], size=n).tolist() for n, _ in lengths]
    text = [rng.integers(2, WORDS["text"], size=n).tolist() for _, n in lengths]
    return Encoded(
        source=padded(source), text=padded(text), y=rng.standard_normal(len(lengths))
    )


def batch(part: Encoded) -> Batch:
    return Batch.of(part, np.arange(len(part)), "cpu")


def unchanged(vectors: "torch.Tensor") -> "torch.Tensor":
    return vectors


def gradients(one: Network, part: Encoded) -> dict[str, "torch.Tensor"]:
    """Of the sum of squares of what the network ends in."""
    parameters = dict(one.named_parameters())
    found = torch.autograd.grad(
        one(batch(part), unchanged).square().sum(), list(parameters.values())
    )
    return dict(zip(parameters, found, strict=True))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def gru(
    x: np.ndarray, state: np.ndarray, into: np.ndarray, own: np.ndarray
) -> np.ndarray:
    """Reset, update, new: h' = n + z (h - n)."""
    h = len(state)
    gates = sigmoid(into[: 2 * h] + own[: 2 * h])
    new = np.tanh(into[2 * h :] + gates[:h] * own[2 * h :])
    return new + gates[h:] * (state - new)


def test_a_gru_step_by_step() -> None:
    """The last state, whatever the length, against the equations."""
    one = network().text
    part = data([(1, 6), (1, 3), (1, 1)])
    found = one(Sequences.of(part.text, "cpu"), unchanged).detach().numpy()
    w = {
        name: value.detach().numpy().astype(float)
        for name, value in one.named_parameters()
    }
    for row, ids in enumerate(part.text):
        state = np.zeros(SMALL.hidden)
        for x in w["embedding.weight"][ids[ids > 0]]:
            into = w["cell.weight_ih_l0"] @ x + w["cell.bias_ih_l0"]
            own = w["cell.weight_hh_l0"] @ state + w["cell.bias_hh_l0"]
            state = gru(x, state, into, own)
        np.testing.assert_allclose(found[row], state, atol=1e-5)


LENGTHS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=5
)


@settings(max_examples=15)
@given(lengths=LENGTHS)
def test_padding_says_nothing(lengths: list[tuple[int, int]]) -> None:
    """Values and gradients of a batch are those of its rows, each alone without padding."""
    one = network()
    part = data(lengths)
    rows = [
        Encoded(source=part.source[[i]], text=part.text[[i]], y=part.y[[i]])
        for i in range(len(part))
    ]
    together = one(batch(part), unchanged)
    alone = torch.cat([one(batch(row), unchanged) for row in rows])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)
    each = [gradients(one, row) for row in rows]
    for name, value in gradients(one, part).items():
        expected = sum(found[name] for found in each)
        torch.testing.assert_close(value, expected, atol=1e-4, rtol=1e-3, msg=name)


@pytest.mark.parametrize("dropout", [0.0, 0.2, 0.5])
def test_inputs_are_dropped(dropout: float) -> None:
    """A share of them, the others made larger; anew each time, and the same from one seed."""
    drop = dropping(dropout, torch.Generator().manual_seed(3))
    again = dropping(dropout, torch.Generator().manual_seed(3))
    drawn = [drop(torch.ones(200, 50)) for _ in range(2)]
    for factors in drawn:
        kept = factors > 0
        assert kept.float().mean() == pytest.approx(1 - dropout, abs=0.02)
        torch.testing.assert_close(
            factors[kept], torch.full_like(factors[kept], 1 / (1 - dropout))
        )
        assert torch.equal(again(torch.ones(200, 50)), factors)
    assert torch.equal(*drawn) == (dropout == 0.0)


def test_first_parameters() -> None:
    """From the seed alone, torch's own random numbers untouched; the unknown word is 0."""
    torch.manual_seed(9)
    expected = torch.rand(3)
    torch.manual_seed(9)
    one, same, other = (Network.empty(WORDS, SMALL) for _ in range(3))
    for each, seed in ((one, 1), (same, 1), (other, 2)):
        initialise(each, seed)
    assert torch.equal(torch.rand(3), expected)
    for name, value in one.named_parameters():
        assert torch.equal(value, same.get_parameter(name))
        assert ("bias" in name) == (not value.any())
        assert "bias" in name or not torch.equal(value, other.get_parameter(name))
    assert not one.text.embedding.weight[:2].any()
    bound = (6 / (SMALL.embedding + SMALL.hidden)) ** 0.5
    assert 0.8 * bound < one.text.cell.weight_ih_l0.abs().max() <= bound
