"""Probes of words, references and directions, on outputs whose answers are known."""

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from refless.data.records import Outputs, numbered
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.rouge import ROUGEL
from refless.extensions.papers.stress.material import StressItems, material_of
from refless.extensions.papers.stress.pairing import rounds, rows_of
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.probes import (
    frequent_probe,
    rare_probe,
    references_probe,
)
from refless.extensions.papers.stress.rows import Row, relative
from refless.extensions.papers.stress.run import stress
from refless.extensions.papers.stress.useless import useless_probe
from refless.metrics.protocol import Scores, averaged
from refless.registry.signature import Signature
from refusals import bad_input, bad_usage

FEW = StressPlan(resamples=100)
NOUNS = ("dog", "cat", "boat", "tree", "child", "horse", "river", "tower")
VERBS = ("sees", "finds", "likes", "paints", "leaves", "meets")


@dataclass(frozen=True)
class Counts:
    """A metric that counts a word, minus what is left of the text if `less`; NaN for empties."""

    name: ClassVar[str] = "counts"
    needs: ClassVar[tuple[str, ...]] = ("references",)
    word: str = "the"

    def score(self, outputs: Outputs) -> Scores:
        return averaged(
            np.array(
                [
                    float(text.split().count(self.word)) if text else np.nan
                    for text in outputs.texts
                ]
            )
        )

    def signature(self) -> Signature:
        return Signature(self.name).plus(word=self.word)

    @classmethod
    def missing(cls) -> str:
        return ""


def outputs_of(
    n: int = 60, systems: tuple[str, ...] = ("good", "poor"), seed: int = 0
) -> Outputs:
    """n items with three references each; `good` differs from the first in one word, `poor` in
    most."""
    rng = np.random.default_rng(seed)

    def sentence() -> list[str]:
        one, other = rng.choice(NOUNS, 2)
        return [
            "the",
            str(one),
            str(rng.choice(VERBS)),
            "the",
            str(other),
            "near",
            "here",
        ]

    references = []
    rows = []
    for _ in range(n):
        first = sentence()
        known = [first, [*first[:4], str(rng.choice(NOUNS)), *first[5:]], sentence()]
        references.append(tuple(" ".join(words) for words in known))
        poor = sentence()[::-1]
        rows.append({"good": " ".join(first), "poor": " ".join(poor)})
    return Outputs(
        ids=numbered(n * len(systems)),
        texts=tuple(row[name] for name, row in product(systems, rows)),
        systems=tuple(name for name, _ in product(systems, range(n))),
        items=tuple(f"i{k}" for _, k in product(systems, range(n))),
        references=tuple(references) * len(systems),
    )


@pytest.fixture(scope="module")
def material() -> StressItems:
    return material_of(outputs_of())


def test_leave_one_out_is_equation_1(material: StressItems) -> None:
    """The mean and the standard deviation of three scores, made by hand; systems too."""
    metric = BLEU(tokenize="words")
    probe = references_probe(metric, material, FEW)
    known = material.items.references
    people = []
    good = []
    for i in range(3):
        rest = tuple((*row[:i], *row[i + 1 :]) for row in known)
        for texts, scores in (
            ([row[i] for row in known], people),
            (material.systems["good"], good),
        ):
            outputs = Outputs(ids=numbered(60), texts=tuple(texts), references=rest)
            scores.append(metric.score(outputs).corpus)
    rows = {row.label: row for row in probe.rows}
    assert [rows["references"].score, rows["good"].score] == pytest.approx(
        [np.mean(people), np.mean(good)]
    )
    assert rows["references"].sd == pytest.approx(np.std(people))
    assert rows["good"].change == pytest.approx(np.mean(good) - np.mean(people))
    low, high = rows["good"].change_interval
    assert 0 < low < rows["good"].change < high
    assert probe.fooled
    assert "no 'human parity'" in probe.verdict


def test_people_above_a_poor_system() -> None:
    """Then the verdict says so."""
    probe = references_probe(
        BLEU(tokenize="words"), material_of(outputs_of(systems=("poor",))), FEW
    )
    assert probe.fooled is False
    assert probe.verdict.startswith("It prefers texts that people wrote")


def test_frequent_words_and_their_control(material: StressItems) -> None:
    """A metric that counts 'the' loses all of it with 'the', nothing with content words."""
    probe = frequent_probe(Counts(), material, FEW)
    rows = {row.label: row for row in probe.rows}
    assert rows["'the'"].score == 0
    assert rows["'the'"].share == pytest.approx(2 / 7)
    assert relative(rows["'the'"], probe.rows[0]) == -1
    assert rows["random content words"].change == 0
    assert rows["random content words"].share == pytest.approx(2 / 7, abs=0.01)
    assert probe.fooled
    assert "costs 100 %, replacing as many content words costs 0.0 %" in probe.verdict
    assert "rewards function words" in probe.verdict


def test_texts_without_words() -> None:
    """Nothing can be replaced in them, which is said."""
    outputs = Outputs(
        ids=numbered(3), texts=("...", "", "?"), references=(("!", "."),) * 3
    )
    found = stress(
        Counts(), material_of(outputs), StressPlan(probes=("frequent",)), label="x"
    )
    assert "no words" in found.skipped["frequent"]


def test_content_words_may_count_for_more(material: StressItems) -> None:
    """A metric that counts 'near'... is told apart from one that rewards function words."""
    probe = frequent_probe(Counts(word="dog"), material, FEW, ("the",))
    assert probe.fooled is False
    assert "as they should" in probe.verdict


def test_rare_words_by_frequency(material: StressItems) -> None:
    """Thresholds count in the training set that is given; a swap is a row of its own."""
    train = dict.fromkeys(("the", "near", "here", *NOUNS), 50)
    more = {"thresholds": (30, 1), "swaps": {"dog": "cat"}}
    probe = rare_probe(ROUGEL(), material, train, FEW, **more)
    labels = [row.label for row in probe.rows]
    assert labels == [
        "first reference",
        "fewer than 30 times",
        "fewer than 1 times",
        "dog -> cat",
    ]
    assert probe.rows[1].share == pytest.approx(1 / 7)
    assert probe.rows[1].score == probe.rows[2].score < probe.rows[0].score
    known = rare_probe(
        ROUGEL(), material, {**train, **dict.fromkeys(VERBS, 1)}, FEW, **more
    )
    assert known.rows[2].share == 0
    assert known.rows[2].change == 0


def test_rare_verdict_compares_with_the_share(material: StressItems) -> None:
    """A judge that never looks at rare words is fooled; without rare words there is no verdict."""
    train = dict.fromkeys(("the", "near", "here", *NOUNS), 50)
    assert rare_probe(Counts(), material, train, FEW, thresholds=(30,)).fooled
    everything = {**train, **dict.fromkeys(VERBS, 50)}
    assert (
        rare_probe(Counts(), material, everything, FEW, thresholds=(30,)).fooled is None
    )
    assert "references" in rare_probe(Counts(), material, None, FEW).about


def test_outputs_of_no_use(material: StressItems) -> None:
    """BLEU falls for all of them; a count of a word sees no shuffling, and is told so."""
    probe = useless_probe(BLEU(tokenize="words"), material, FEW)
    assert probe.fooled is False
    assert probe.verdict == "A lower score shows each of them."
    probe = useless_probe(Counts(), material, FEW)
    assert probe.fooled
    assert probe.verdict.startswith("No lower score shows: ")
    assert "shuffled" in probe.verdict


def test_interval_of_a_mean_change_is_the_known_one() -> None:
    """Near mean +- 1.96 s / sqrt(n), the normal approximation, for paired differences."""
    rng = np.random.default_rng(3)
    before = rng.normal(size=400)
    after = before + rng.normal(0.2, 0.5, size=400)
    rows = rows_of(
        (Row(label="before"), rounds(averaged(before))),
        [(Row(label="after"), rounds(averaged(after)))],
        StressPlan(resamples=2_000),
    )
    apart = after - before
    half = 1.96 * apart.std(ddof=1) / 20
    assert rows[1].change == pytest.approx(apart.mean())
    assert rows[1].change_interval == pytest.approx(
        (apart.mean() - half, apart.mean() + half), abs=0.1 * half
    )


def test_change_is_on_what_both_could_score() -> None:
    """Outputs without a score on either side are left out of the change, and counted."""
    before = np.array([1.0, 2.0, np.nan, 4.0])
    after = np.array([2.0, np.nan, 9.0, 5.0])
    rows = rows_of(
        (Row(label="before"), rounds(averaged(before))),
        [(Row(label="after"), rounds(averaged(after)))],
        FEW,
    )
    assert rows[1].change == pytest.approx(1.0)
    assert (rows[0].coverage, rows[1].coverage) == (0.75, 0.75)
    assert rows[1].score == pytest.approx((2 + 9 + 5) / 3)


def test_seed_is_heard_and_signed() -> None:
    """Another seed draws other words; the signature says which."""
    material = material_of(outputs_of(40))
    metric = BLEU(tokenize="words")
    plans = [StressPlan(probes=("frequent",), seed=seed) for seed in (0, 1)]
    one, other = (stress(metric, material, plan, label="bleu") for plan in plans)
    assert one.probes[0].rows[-1].score != other.probes[0].rows[-1].score
    assert "seed:1" in str(other.signature)


def test_what_cannot_be_run_is_said() -> None:
    """One reference, no training set, no ratings: three reasons."""
    outputs = outputs_of(10, ("good",))
    single = replace(outputs, references=tuple(row[:1] for row in outputs.references))
    found = stress(BLEU(), material_of(single), FEW, label="bleu")
    assert [*found.skipped] == ["references", "sentence", "stuffing"]
    assert [probe.name for probe in found.probes] == ["frequent", "rare", "useless"]


def test_material_sorts_items_and_systems() -> None:
    """Items not all systems answered, and rows that could not be read, are left out and counted."""
    outputs = Outputs(
        ids=("1", "2", "3", "4"),
        texts=("x", "y", "z", ""),
        systems=("s", "t", "s", "t"),
        items=("a", "a", "b", "b"),
        references=(("r",),) * 4,
        bad=(False, False, False, True),
    )
    found = material_of(outputs)
    assert found.systems == {"s": ("x",), "t": ("y",)}
    assert (len(found.items), found.dropped) == (1, 2)
    with bad_input("answered by all"):
        material_of(
            Outputs(
                ids=("1", "2"), texts=("x", "y"), systems=("s", "t"), items=("a", "b")
            )
        )


def test_settings_that_cannot_be() -> None:
    """Unknown probes."""
    with bad_usage("no probe 'x'"):
        StressPlan(probes=("x",))
