"""Sequences without padding against the padded twin, and products in bfloat16 against float32."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from refless.compiled.gates import narrowed, open_gates  # noqa: E402
from refless.estimators.ratpred.encoders import one_by_one, side_by_side  # noqa: E402
from refless.estimators.ratpred.network import (  # noqa: E402
    SIDES,
    Batch,
    forward,
    initial,
    stacked,
)
from refless.estimators.ratpred.settings import Settings  # noqa: E402

SMALL = Settings(embedding=5, hidden=4, layers=1)
WORDS = {"source": 7, "text": 9}


def members(count: int, settings: Settings = SMALL) -> dict[str, "torch.Tensor"]:
    generator = torch.Generator().manual_seed(3)
    return stacked([initial(WORDS, settings, generator) for _ in range(count)])


def filled(lengths: list[list[int]], words: int) -> "torch.Tensor":
    """Ids [m, t, b] with sequences of these lengths."""
    steps = max(1, *map(max, lengths))
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(1, words, (len(lengths), steps, len(lengths[0])), generator=generator)
    ids[torch.arange(steps)[None, :, None] >= torch.tensor(lengths)[:, None, :]] = 0
    return ids


def both(batch: Batch, p: dict, settings: Settings, encode) -> tuple:
    """Predictions and the gradients of their sum."""
    leaves = {name: value.clone().requires_grad_() for name, value in p.items()}
    values = forward(leaves, batch, settings, encode)
    return values, torch.autograd.grad((values * values).sum(), list(leaves.values()))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda m: st.integers(1, 5).flatmap(
            lambda b: st.tuples(
                *[
                    st.lists(st.lists(st.integers(0, 6), min_size=b, max_size=b), min_size=m,
                             max_size=m)
                    for _ in SIDES
                ]
            )
        )
    )
)  # fmt: skip
def test_values_and_gradients_are_the_padded_ones(lengths: tuple) -> None:
    """Sequences of every length, empty ones included, several networks."""
    count = len(lengths[0])
    lengths = lengths[0], (lengths[1] * count)[:count]
    batch = Batch(*(filled(rows, WORDS[side]) for side, rows in zip(SIDES, lengths, strict=True)))
    for network in (SMALL, replace(SMALL, bidirectional=True)):
        p = members(count, network)
        found, gradients = both(batch, p, network, one_by_one(network))
        expected, slow = both(batch, p, network, side_by_side(network))
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
        for name, one, other in zip(p, gradients, slow, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4, msg=name)


def test_the_tangent_is_near() -> None:
    """Lambert's fraction against the library's tangent, over all numbers that matter."""
    x = np.linspace(-30, 30, 200_001).astype(np.float32)
    state = np.zeros((1, len(x)), dtype=np.float32)
    still = np.zeros((1, 3 * len(x)), dtype=np.float32)
    still[0, len(x) : 2 * len(x)] = -30.0  # nothing of the old state stays
    still[0, 2 * len(x) :] = x
    biases = np.zeros(4 * len(x), dtype=np.float32)
    empty = [np.empty((1, k * len(x)), dtype=np.float32) for k in (1, 1, 1, 2)]
    open_gates(0, 1, 0, still, np.zeros_like(still), biases, state, *empty)
    np.testing.assert_allclose(state[0], np.tanh(x.astype(np.float64)), atol=4e-7)


def test_narrow_numbers_are_the_librarys() -> None:
    """Bit for bit those to which torch rounds, ties and tiny numbers included."""
    bits = np.random.default_rng(0).integers(0, 0x7F7F0000, 100_000, dtype=np.uint32)
    bits[: len(bits) // 4] &= np.uint32(0xFFFF8000)  # ties, and numbers that need no rounding
    values = bits.view(np.float32).reshape(100, -1)
    values[::2] *= -1
    out = np.empty(values.shape, dtype=np.uint16)
    narrowed(values, out)
    expected = torch.from_numpy(values).bfloat16().view(torch.uint16).numpy()
    np.testing.assert_array_equal(out, expected)


def test_networks_that_are_done_are_left_out() -> None:
    """Nothing is drawn for them, and no gradient flows into them."""
    drawn = []

    def factors(member: int, shape: tuple[int, ...]) -> "torch.Tensor":
        drawn.append(member)
        return torch.ones(shape)

    p = {name: value.requires_grad_() for name, value in members(3).items()}
    tokens = filled([[3, 1], [2, 2], [1, 4]], 9)
    one_by_one(SMALL, factors, [False, True, False])(p, "text", tokens).sum().backward()
    assert drawn == [0, 2]
    moved = p["text.forward.state"].grad.abs().amax(dim=(1, 2)) > 0
    assert moved.tolist() == [True, False, True]


@pytest.mark.parametrize("layers", [0, 1])
def test_products_in_bfloat16_are_near(layers: int) -> None:
    """Eight bits of mantissa: within a few hundredths, gradients in the same direction."""
    wide = Settings(embedding=40, hidden=30, layers=layers, narrow=True)
    p = members(2, wide)
    batch = Batch(filled([[6, 3, 1], [2, 2, 5]], 7), filled([[4, 4, 2], [8, 1, 3]], 9))
    exact_settings = replace(wide, narrow=False)
    exact, straight = both(batch, p, exact_settings, side_by_side(exact_settings))
    near, bent = both(batch, p, wide, one_by_one(wide))
    torch.testing.assert_close(near, exact, atol=0.03, rtol=0.03)
    assert (near - exact).abs().max() > 1e-4
    for name, one, other in zip(p, bent, straight, strict=True):
        alike = torch.nn.functional.cosine_similarity(one.flatten(), other.flatten(), dim=0)
        assert alike > 0.99, name
