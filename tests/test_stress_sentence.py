"""The search for one sentence: corpus statistics against scoring one after the other."""

import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.data.records import Outputs, numbered
from refless.extensions.papers.stress import sentence
from refless.extensions.papers.stress.sentence import constant_of, score_of, search, signed
from refless.metrics.references import Metric, metric_of
from refless.metrics.references.bleu import BLEU, SentenceBLEU
from refless.metrics.references.rouge import RougeL
from refless.registry.errors import InputError, UsageError

FAST = (
    "bleu:tokenize=words,smooth=coco",
    "bleu:order=2,tokenize=words,smooth=none",
    "bleu:lowercase=yes",
    "bleu:tokenize=char,smooth=add-k",
    "cider-d:tokenize=words",
    "cider-d:order=2,sigma=2,tokenize=13a,lowercase=yes",
)
WORDS = st.lists(st.sampled_from(["a", "b", "B", "c", "a.", "dd"]), max_size=7).map(" ".join)


@pytest.mark.parametrize("spec", FAST)
@settings(max_examples=15, deadline=None)
@given(
    references=st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=2, max_size=5),
    candidates=st.lists(WORDS, min_size=1, max_size=6),
)
def test_statistics_are_the_scores(
    spec: str, references: list[list[str]], candidates: list[str]
) -> None:
    """The fast way gives what the metric gives for a constant output, whatever repeats."""
    metric = metric_of(spec)
    constant = constant_of(metric, references)
    assert constant is not None
    fast = constant.scores(constant.read(candidates))
    slow = [score_of(metric, text, references) for text in candidates]
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9)


def best_of_set(metric: Metric, texts: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """The slow twin: each item has the set's sentence with its highest segment score."""
    judge = SentenceBLEU(tokenize="words") if isinstance(metric, BLEU) else metric
    n = len(references)
    scores = [judge.score(sentence.repeated(text, references)).segments for text in texts]
    chosen = []
    for i in range(n):
        best = 0
        for k in range(len(texts)):
            if scores[k][i] > scores[best][i] + 1e-7:  # in per cent
                best = k
        chosen.append(texts[best])
    outputs = Outputs(
        ids=numbered(n), texts=tuple(chosen), references=tuple(map(tuple, references))
    )
    return metric.score(outputs).corpus


def drawn(n: int, seed: int, words: str = "abcdef") -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list(words), int(rng.integers(3, 8)))) for _ in range(n)]


@pytest.mark.parametrize("spec", ["bleu:tokenize=words,smooth=coco", "cider-d:tokenize=words"])
@pytest.mark.parametrize("seed", range(3))
def test_sets_are_the_slow_twins(spec: str, seed: int) -> None:
    """Greedy sets of two and three: what trying every candidate and choosing by item gives."""
    flat, candidates = drawn(24, seed), sorted({*drawn(12, seed + 100)})
    references = [flat[3 * i : 3 * i + 3] for i in range(8)]
    metric = metric_of(spec)
    found = search(metric, references, candidates, largest_set=3)
    chosen = list(found.best[0].texts)
    for one in found.sets:
        scores = [best_of_set(metric, [*chosen, text], references) for text in candidates]
        assert one.score == pytest.approx(max(scores), abs=1e-9)
        chosen = list(one.texts)
        assert best_of_set(metric, chosen, references) == pytest.approx(max(scores), abs=1e-9)


def test_order_and_repeats_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates in another order, twice, or in smaller blocks; ties go by the alphabet."""
    flat, candidates = drawn(30, 5), drawn(40, 6)
    references = [flat[2 * i : 2 * i + 2] for i in range(15)]
    metric = metric_of("bleu:order=2,tokenize=words,smooth=coco")
    found = search(metric, references, candidates, largest_set=2)
    monkeypatch.setattr(sentence, "BLOCK", 7)
    other = search(metric, references[::-1], [*candidates[::-1], *candidates], largest_set=2)
    assert found == other
    assert found.n_candidates == len({*candidates}) == found.n_scored


def test_shortlist_is_by_bleu() -> None:
    """ROUGE-L scores the three candidates that BLEU puts first, and says that it is no proof."""
    flat, candidates = drawn(20, 8), sorted({*drawn(15, 9)})
    references = [flat[2 * i : 2 * i + 2] for i in range(10)]
    found = search(RougeL(), references, candidates, shortlist=3, top=5)
    by_bleu = sorted(candidates, key=lambda t: -score_of(BLEU(tokenize="words"), t, references))
    assert {one.texts[0] for one in found.best} == {*by_bleu[:3]}
    assert (found.exact, found.sets) == (False, ())
    assert found.best[0].score == max(score_of(RougeL(), t, references) for t in by_bleu[:3])
    assert "shortlist:3" in str(signed(RougeL(), found, shortlist=3))


def test_weights_are_the_items_own() -> None:
    """Delta-BLEU: a sentence whose only match weighs -1 is not the best, whatever BLEU says."""
    references = [["a b", "c d"], ["a b", "c d"]]
    weights = [[-1.0, 1.0], [-1.0, 1.0]]
    metric = metric_of("delta-bleu:order=1,tokenize=words")
    found = search(metric, references, ["a b", "c d"], weights=weights)
    assert found.best[0].texts == ("c d",)


def test_says_whether_it_is_a_reference() -> None:
    """By item, case and spacing aside."""
    references = [["A dog runs", "x y"], ["a  dog runs", "a dog runs"], ["z", "w"]]
    found = search(metric_of("bleu:order=1,tokenize=words"), references, ["a dog runs"])
    assert found.best[0].in_references == 2


def test_what_cannot_be_searched() -> None:
    """No candidates, no references, CIDEr of one item."""
    with pytest.raises(InputError, match="no sentence to try"):
        search(BLEU(), [["a"]], [])
    with pytest.raises(InputError, match="has no references"):
        search(BLEU(), [["a"], []], ["a"])
    with pytest.raises(UsageError, match="single item"):
        search(metric_of("cider-d"), [["a"]], ["a"])


def test_a_hand_calculation() -> None:
    """Two items, 'a b' everywhere: BLEU-2 by hand.

    Unigrams 2 + 1 of 4, bigrams 1 + 0 of 2, lengths 4 against 2 + 3 (closest): brevity exp(-1/4).
    """
    references = [["a b"], ["a c d"]]
    metric = metric_of("bleu:order=2,tokenize=words,smooth=none")
    found = search(metric, references, ["a b", "c"])
    expected = 100 * np.exp(1 - 5 / 4) * np.sqrt(3 / 4 * 1 / 2)
    assert found.best[0].texts == ("a b",)
    assert found.best[0].score == pytest.approx(expected, abs=1e-12)


def test_every_pair_of_a_tiny_pool() -> None:
    """Of two perfect sentences for two items the set of both is perfect, one alone is not."""
    references = [["the cat sat on the mat"], ["a dog ran in a park"]]
    pool = [row[0] for row in references] + ["the dog sat in the park"]
    found = search(metric_of("bleu:tokenize=words"), references, pool)
    assert found.sets[0].score == pytest.approx(100)
    assert {*found.sets[0].texts} <= {*pool}
    pairs = [best_of_set(BLEU(tokenize="words"), p, references) for p in product(pool, pool)]
    assert max(pairs) == pytest.approx(100)


def test_benchmark_runs() -> None:
    """A quick run: ours is the loop's, peak memory is named, 80 columns."""
    script = Path(__file__).parents[1] / "benchmarks" / "stress.py"
    command = [sys.executable, "-W", "error", str(script), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "FAULT" not in done.stdout
    assert "Peak memory" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
