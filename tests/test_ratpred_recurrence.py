"""The recurrent unit for many networks against torch's own, and against its derivatives."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from refless.estimators.ratpred.recurrence import last_state  # noqa: E402

M, T, B, E, H = 3, 7, 4, 5, 6


def units() -> list["torch.nn.GRU"]:
    torch.manual_seed(0)
    return [torch.nn.GRU(E, H).double() for _ in range(M)]


def stacked(grus: list["torch.nn.GRU"], name: str) -> "torch.Tensor":
    parts = [getattr(gru, name).detach() for gru in grus]
    whole = torch.stack([p.t() if p.ndim == 2 else p[None] for p in parts])
    return whole.clone().requires_grad_()


def test_values_and_gradients_are_torchs() -> None:
    """Sequences of every length, several networks: the same states and the same gradients."""
    grus = units()
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    w, u, b, c = (stacked(grus, name) for name in names)
    x = torch.randn(M, T, B, E, dtype=torch.float64)
    lengths = torch.randint(1, T + 1, (M, B))
    padding = torch.arange(T)[None, :, None] >= lengths[:, None, :]
    gates = torch.baddbmm(b, x.view(M, T * B, E), w).view(M, T, B, 3 * H)
    ours = last_state(gates, u, c, padding)
    packed = [
        torch.nn.utils.rnn.pack_padded_sequence(x[m], lengths[m], enforce_sorted=False)
        for m in range(M)
    ]
    theirs = torch.stack([gru(p)[1][0] for gru, p in zip(grus, packed, strict=True)])
    torch.testing.assert_close(ours, theirs)
    pull = torch.randn(M, B, H, dtype=torch.float64)
    (ours * pull).sum().backward()
    (theirs * pull).sum().backward()
    for name, value in zip(names, (w, u, b, c), strict=True):
        for m, gru in enumerate(grus):
            expected = getattr(gru, name).grad
            found = value.grad[m].t() if expected.ndim == 2 else value.grad[m, 0]
            torch.testing.assert_close(found, expected)


def test_derivatives_are_the_differences() -> None:
    """The written-out gradient against finite differences."""
    torch.manual_seed(1)
    padding = torch.zeros(2, 3, 2, dtype=torch.bool)
    padding[0, 2, 1] = True
    parts = (torch.randn(2, 3, 2, 6), torch.randn(2, 2, 6), torch.randn(2, 1, 6))
    inputs = tuple(part.double().requires_grad_() for part in parts)
    assert torch.autograd.gradcheck(lambda g, u, c: last_state(g, u, c, padding), inputs)


def test_an_empty_sequence_says_nothing() -> None:
    """All padding: the state stays 0, and nothing flows back."""
    gates = torch.randn(1, 3, 2, 6, requires_grad=True)
    state = last_state(
        gates, torch.randn(1, 2, 6), torch.randn(1, 1, 6), torch.ones(1, 3, 2, dtype=torch.bool)
    )
    state.sum().backward()
    assert not state.any()
    assert not gates.grad.any()
