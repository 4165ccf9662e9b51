"""What compare promises of further ratings, and how often it is kept."""

from __future__ import annotations

import numpy as np
import pytest

from refless.data.records import Outputs, Residuals
from refless.evaluation.comparing import Pair, compared
from refless.evaluation.entries import Field
from refless.registry.arrays import FloatArray
from refless.stats.assurance import USUAL, chance_shown

ITEMS = 300


def pair_of(first: FloatArray, second: FloatArray, rated: int) -> Pair:
    """Two systems on the same items, of which the first so many are rated."""
    n = len(first)
    human = np.concatenate([first, second])
    human[np.arange(2 * n) % n >= rated] = np.nan
    items = tuple(f"i{i:04}" for i in range(n))
    outputs = Outputs(
        ids=tuple(map(str, range(2 * n))),
        texts=tuple(f"text {i}" for i in range(2 * n)),
        systems=("a",) * n + ("b",) * n,
        items=items * 2,
    )
    nothing = np.full(2 * n, np.nan)
    field = Field(outputs=outputs, human=human, estimates=nothing, probability=nothing)
    return compared(field, Residuals(values=np.zeros(0)), ["a", "b"]).pairs[0]


def test_promises_are_kept() -> None:
    """Of 600 pairs that differ as is usual: four times out of five, and as often as it is said.

    With the power of the difference as it looks, .54 to .72 were kept, and of those of which all
    ratings were to show nothing 29 to 36 % were shown.
    """
    rng = np.random.default_rng(7)
    kept, promised, after = [], [], []
    for _ in range(600):
        gaps, first = rng.normal(USUAL * rng.normal(), 1.0, ITEMS), rng.normal(size=ITEMS)
        looked = pair_of(first, first + gaps, 20)
        if looked.shown:
            continue
        promised.append(looked.chance)
        after.append(pair_of(first, first + gaps, ITEMS).shown)
        if looked.needed is not None:
            kept.append(pair_of(first, first + gaps, looked.needed).shown)
    assert len(kept) > 50
    assert np.mean(kept) == pytest.approx(0.8, abs=0.1)
    assert np.mean(after) == pytest.approx(np.mean(promised), abs=0.05)


def test_the_chance_by_drawing() -> None:
    """The closed form is the share of drawn studies that show a difference."""
    rng = np.random.default_rng(0)
    prior, now, then, value = 0.09, 1 / 20, 1 / 80, 0.3
    truth = rng.normal(0, np.sqrt(prior), 1_000_000)
    final = truth + rng.normal(0, np.sqrt(then), len(truth))
    looked = final + rng.normal(0, np.sqrt(now - then), len(truth))
    alike = np.abs(looked - value) < 0.01
    shown = np.abs(final) > 1.99045 * np.sqrt(then)
    half = 1.99045 * np.sqrt(then)
    found = chance_shown(value, now, then, prior, half, more=True)
    assert found == pytest.approx(shown[alike].mean(), abs=0.02)
    anew = truth + rng.normal(0, np.sqrt(now), len(truth))
    alike = np.abs(anew - value) < 0.01
    found = chance_shown(value, now, then, prior, half, more=False)
    assert found == pytest.approx(shown[alike].mean(), abs=0.02)
    assert chance_shown(0.9, now, now, prior, 2.093 * np.sqrt(now), more=True) > 0.999


def test_what_is_known_already() -> None:
    """A difference that is shown needs no more ratings; with no rating there is nothing to say."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=40)
    shown = pair_of(first, first + 3 + 0.1 * rng.normal(size=40), 20)
    assert shown.needed == 20
    assert shown.chance == pytest.approx(1.0)
    unknown = pair_of(first, first + 1, 0)
    assert unknown.needed is None
    assert np.isnan(unknown.chance)


def misjudged(rng: np.random.Generator, effects: FloatArray) -> tuple[Field, Residuals]:
    """Two systems that estimates misjudge so, 100 items of which 25 are rated, nobody knows why."""
    n, kept = 100, rng.permutation(100)[:25]
    estimates, noise = rng.normal(size=(2, 2, n))
    human = np.full((2, n), np.nan)
    human[:, kept] = (estimates + effects[:, None] + noise)[:, kept]
    systems = np.repeat(["a", "b"], n)
    outputs = Outputs(
        ids=tuple(map(str, range(2 * n))),
        texts=("",) * (2 * n),
        systems=tuple(systems.tolist()),
        items=tuple(f"i{i:03}" for i in range(n)) * 2,
    )
    field = Field(
        outputs=outputs,
        human=human.ravel(),
        estimates=estimates.ravel(),
        probability=np.full(2 * n, np.nan),
        drawn=False,
    )
    errors = (human - estimates)[:, kept].ravel()
    named = tuple(np.repeat(["a", "b"], 25).tolist())
    return field, Residuals(values=errors, systems=named, afar=errors)


def test_two_systems_of_unknown_selection() -> None:
    """Two systems tell little of how far systems are misjudged: intervals know that.

    200 runs; with a variance between systems that two of them can deny they held .90.
    """
    rng, held = np.random.default_rng(3), 0
    for _ in range(200):
        effects = 0.2 * rng.normal(size=2)
        field, errors = misjudged(rng, effects - effects.mean())
        (pair,) = compared(field, errors, ["a", "b"]).pairs
        assert pair.method == "estimates"
        low, high = pair.difference.interval
        held += low <= effects[1] - effects[0] <= high
    assert held >= 0.93 * 200
