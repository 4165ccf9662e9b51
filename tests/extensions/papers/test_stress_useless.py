"""Outputs of failing systems in the place of good ones: does an estimate or a guard show it?"""

import numpy as np
from benchmarks.simulate import simulate

import refless
from refless.data.records import Outputs
from refless.extensions.papers.stress.material import material_of
from refless.extensions.papers.stress.useless import REFUSAL, useless, warns

KINDS = [
    "refusal",
    "empty",
    "truncated",
    "shuffled",
    "repeated",
    "another item's answer",
]
POOL = simulate(240, seed=3).pool
RATED = [
    {"source": POOL.sources[i], "text": POOL.texts[i], "rating": 1 + 4 * POOL.human[i]}
    for i in range(160)
]
HONEST = [{"source": POOL.sources[i], "text": POOL.texts[i]} for i in range(160, 240)]


def result_of(estimator: str) -> refless.StressResult:
    return refless.stress(
        HONEST,
        rated=RATED,
        estimator=estimator,
        scale=(1, 5),
        probe=["useless"],
        resamples=200,
    )


def test_each_kind_is_shown() -> None:
    """The Gaussian process reads sources: another item's answer is lower, guards see the rest."""
    (probe,) = result_of("gp").stressed[0].probes
    assert probe.fooled is False
    assert " Estimates alone do not show: " in probe.verdict
    labels = [row.label for row in probe.rows]
    assert [label.removesuffix(" (a guard warns)") for label in labels[1:]] == KINDS
    assert labels[0] == "outputs"
    assert all(label.endswith(" (a guard warns)") for label in labels[1:-1])
    assert probe.rows[-1].change_interval[1] < 0


def test_what_no_estimate_and_no_guard_shows() -> None:
    """Neighbours read no sources."""
    (probe,) = result_of("bleu-neighbors").stressed[0].probes
    assert probe.fooled is True
    assert (
        probe.verdict
        == "Neither a lower estimate nor a guard shows: another item's answer."
    )
    assert (
        probe.rows[1].change > 0
    )  # refusals have higher estimates, and only the guard stops them


def test_the_kinds() -> None:
    """There are as many texts as outputs; nobody keeps an own answer; halves are of words."""
    outputs = Outputs(
        ids=("a", "b", "c"), texts=("one two three four", "five six", "seven")
    )
    found = useless(outputs, 0)
    assert [*found] == KINDS
    assert all(len(texts) == 3 for texts in found.values())
    assert found["truncated"] == ("one two", "five", "seven")
    assert found["refusal"] == (REFUSAL,) * 3
    assert len({*found["repeated"]}) == 1
    assert all(
        a != b
        for a, b in zip(outputs.texts, found["another item's answer"], strict=True)
    )


def test_outputs_that_a_guard_warns_of_test_nothing() -> None:
    """The outputs themselves have to be of the kind of the rated texts."""
    odd = [{**row, "text": "x" * 300 + str(i)} for i, row in enumerate(HONEST)]
    (probe,) = (
        refless.stress(
            odd, rated=RATED, estimator="gp", scale=(1, 5), probe=["useless"]
        )
        .stressed[0]
        .probes
    )
    assert probe.fooled is not False
    texts = tuple(str(row["text"]) for row in odd)
    outputs = Outputs(ids=tuple(map(str, np.arange(len(texts)))), texts=texts)
    assert warns(material_of(outputs).outputs(), POOL)
