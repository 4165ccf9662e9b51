"""A gate lets no mean through that says nothing of what people would give."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from benchmarks.simulate import simulate

import refless
from refless.commands.score.gates import ALL_ALIKE, BELOW, UNPROVEN, gate
from refless.commands.score.guards import alike, beats_constant, more
from refless.data.records import Residuals
from refless.evaluation.groups import mean_of_others
from refless.evaluation.scoring import Mean
from refless.stats.fisher import Marked

Rows = list[dict[str, object]]
REFUSAL = "I'm sorry, but I can't help with that."
HALF = 200


def rows_of(which: slice, texts: Mapping[int, str] | None = None) -> Rows:
    """Rated rows of the simulated pool, or outputs if they get other texts."""
    pool = POOL
    rows: Rows = []
    for i in range(len(pool))[which]:
        row: dict[str, object] = {"source": pool.sources[i], "text": pool.texts[i]}
        rows.append(row | ({"rating": 1 + 4 * pool.human[i]} if texts is None else {}))
    return rows


POOL = simulate(2 * HALF, seed=8).pool
RATED = rows_of(slice(0, HALF))
HONEST = rows_of(slice(HALF, None), {})


def judged(
    outputs: Sequence[Mapping[str, object]], **more: object
) -> refless.ScoreResult:
    return refless.score(outputs, RATED, estimator="gp", scale=(1, 5), **more)


@pytest.mark.parametrize("least", [{"min_mean": 1.1}, {"min_coverage": 0.5}])
def test_refusals_do_not_pass(least: dict[str, float]) -> None:
    """Fifty refusals, whichever gate is asked for; the reason is one sentence."""
    refusals = [{**row, "text": REFUSAL} for row in HONEST[:50]]
    found = judged(refusals, **least)
    assert found.exit_status == 4
    assert found.gate.reason.startswith(
        "gate undecided: 50 of 50 (100 %) of the outputs"
    )
    assert ". " not in found.gate.reason
    assert found.gate.reason in found.notes


def test_an_estimator_that_knows_nothing_decides_nothing() -> None:
    """Ratings at random: neither high nor low says anything; too few estimates still fail."""
    rng = np.random.default_rng(0)
    rated = [{**row, "rating": int(rng.integers(1, 6))} for row in RATED]
    for least in (1.0, 5.0):
        found = refless.score(HONEST, rated, scale=(1, 5), min_mean=least)
        assert found.exit_status == 4
        assert "not shown to err less than a constant" in found.gate.reason
    odd = {"estimator": "bleu-neighbors:min_neighbors=1000", "min_coverage": 0.5}
    assert refless.score(HONEST, rated, scale=(1, 5), **odd).exit_status == 3


def test_one_estimate_for_all_does_not_pass() -> None:
    """Outputs that are one rated-like text have one estimate: none is told from another."""
    again = [{"source": f"q{i}", "text": HONEST[0]["text"]} for i in range(30)]
    assert judged(again, min_mean=1.0).exit_status == 4
    human = np.linspace(0, 1, 50)
    errors = Residuals(values=np.zeros(50), human=human)
    assert alike(np.array([0.587, 0.588, 0.5875, 0.587, 0.5872]), errors)
    assert not alike(np.linspace(0.5, 0.6, 9), errors)
    assert not alike(np.array([0.5, 0.5]), errors)  # two may agree by chance


def test_what_one_system_does_is_a_doubt() -> None:
    """A quarter of the outputs are refusals, all of one system."""
    mixed = [
        {**row, "system": "shy" if i % 4 == 0 else "frank"}
        for i, row in enumerate(HONEST)
    ]
    mixed = [
        {**row, "text": REFUSAL} if row["system"] == "shy" else row for row in mixed
    ]
    found = judged(mixed, min_mean=1.5)
    assert found.gate.verdict == "undecided"


def test_doubts_replace_what_passed() -> None:
    """A failure stays one, but for a mean of an estimator that knows nothing."""
    mean = Mean(mean=0.5, mean_interval=(0.4, 0.6), n=10, n_scored=10)

    def verdict(least: float, *doubts: str, covered: float | None = None) -> str:
        return gate(mean, least, covered, doubts).verdict

    assert verdict(0.3) == "passed"
    assert verdict(0.3, ALL_ALIKE) == verdict(0.3, UNPROVEN) == "undecided"
    assert verdict(0.7, ALL_ALIKE) == "failed"
    assert BELOW in gate(mean, 0.7, None).reason
    assert verdict(0.7, UNPROVEN) == "undecided"
    assert verdict(0.5, UNPROVEN) == "undecided"
    assert gate(mean, None, None, (UNPROVEN,)).verdict == ""


@pytest.mark.parametrize("skill", [0.0, 0.4])
def test_beating_a_constant_is_shown_as_often_as_it_is_so(skill: float) -> None:
    """Without skill in at most 5 % of pools, with a correlation of .4 in two thirds of them."""
    shown = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        items = rng.standard_normal(60)[:, None]
        human = (0.7 * items + 0.7 * rng.standard_normal((60, 3))).ravel()
        known = skill * human + np.sqrt(1 - skill**2) * rng.standard_normal(180)
        sources = tuple(f"s{i // 3}" for i in range(180))
        rest = mean_of_others(
            human, np.arange(180) // 3
        )  # as held-out estimates do, at best
        guess = rest + (skill or 0.1) * (
            known - rest
        )  # shrunk as the correlation asks for
        errors = Residuals(values=human - guess, human=human, sources=sources)
        shown += beats_constant(errors)
    assert shown <= 10 if skill == 0 else shown > 130


def test_copies_over_many_systems_are_said_of_all() -> None:
    """An error of all outputs is reported, also if few systems show it by themselves."""
    clear = Marked(n=330, count=99, usual=0.05, p=1e-9)
    weak = {f"m{i}": Marked(n=30, count=9, usual=0.05, p=0.2) for i in range(11)}
    assert more(clear, weak) == {"": clear}
    one = {**weak, "m3": Marked(n=30, count=25, usual=0.05, p=1e-6)}
    assert [*more(clear, one)] == ["", "m3"]
    every = dict.fromkeys(weak, Marked(n=30, count=25, usual=0.05, p=1e-6))
    assert [*more(clear, every)] == [""]
