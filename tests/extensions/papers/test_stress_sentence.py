"""The search for one sentence: corpus statistics against scoring one after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.rouge import ROUGEL
from refless.extensions.papers.stress import sentence
from refless.extensions.papers.stress.constant import ConstantBLEU
from refless.extensions.papers.stress.sentence import score_of, search
from refless.metrics.protocol import metric_of
from refusals import bad_input

FAST = (
    "bleu:tokenize=words,smooth=coco",
    "bleu:order=2,tokenize=words,smooth=none",
    "bleu:lowercase=yes",
    "bleu:tokenize=char,smooth=add-k",
)
WORDS = st.lists(st.sampled_from(["a", "b", "B", "c", "a.", "dd"]), max_size=7).map(
    " ".join
)


@pytest.mark.parametrize("spec", FAST)
@settings(max_examples=15)
@given(
    references=st.lists(
        st.lists(WORDS, min_size=1, max_size=3), min_size=2, max_size=5
    ),
    candidates=st.lists(WORDS, min_size=1, max_size=6),
)
def test_statistics_are_the_scores(
    spec: str, references: list[list[str]], candidates: list[str]
) -> None:
    """The fast way gives what the metric gives for a constant output, whatever repeats."""
    metric = metric_of(spec)
    assert isinstance(metric, BLEU)
    constant = ConstantBLEU(metric, references)
    fast = constant.scores(constant.read(candidates))
    slow = [score_of(metric, text, references) for text in candidates]
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9)


def drawn(n: int, seed: int, words: str = "abcdef") -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        " ".join(rng.choice(list(words), int(rng.integers(3, 8)))) for _ in range(n)
    ]


def test_order_and_repeats_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates in another order, twice, or in smaller blocks; ties go by the alphabet."""
    flat = drawn(30, 5)
    candidates = drawn(40, 6)
    references = [flat[2 * i : 2 * i + 2] for i in range(15)]
    metric = metric_of("bleu:order=2,tokenize=words,smooth=coco")
    found = search(metric, references, candidates)
    monkeypatch.setattr(sentence, "BLOCK", 7)
    other = search(metric, references[::-1], [*candidates[::-1], *candidates])
    assert found == other
    assert found.n_candidates == len({*candidates}) == found.n_scored


def test_shortlist_is_by_bleu(monkeypatch: pytest.MonkeyPatch) -> None:
    """ROUGE-L scores the three candidates that BLEU puts first, and says that it is no proof."""
    monkeypatch.setattr(sentence, "SHORTLIST", 3)
    flat = drawn(20, 8)
    candidates = sorted({*drawn(15, 9)})
    references = [flat[2 * i : 2 * i + 2] for i in range(10)]
    found = search(ROUGEL(), references, candidates)
    by_bleu = sorted(
        candidates, key=lambda t: -score_of(BLEU(tokenize="words"), t, references)
    )
    assert found.text in by_bleu[:3]
    assert (found.n_scored, found.n_candidates) == (3, len(candidates))
    assert found.score == max(score_of(ROUGEL(), t, references) for t in by_bleu[:3])


def test_weights_are_the_items_own() -> None:
    """Delta-BLEU: a sentence whose only match weighs -1 is not the best, whatever BLEU says."""
    references = [["a b", "c d"], ["a b", "c d"]]
    weights = [[-1.0, 1.0], [-1.0, 1.0]]
    metric = metric_of("delta-bleu:order=1,tokenize=words")
    found = search(metric, references, ["a b", "c d"], weights)
    assert found.text == "c d"


def test_says_whether_it_is_a_reference() -> None:
    """By item, case and spacing aside."""
    references = [["A dog runs", "x y"], ["a  dog runs", "a dog runs"], ["z", "w"]]
    found = search(metric_of("bleu:order=1,tokenize=words"), references, ["a dog runs"])
    assert found.in_references == 2


def test_what_cannot_be_searched() -> None:
    """No candidates, no references."""
    with bad_input("no sentence to try"):
        search(BLEU(), [["a"]], [])
    with bad_input("has no references"):
        search(BLEU(), [["a"], []], ["a"])


def test_a_hand_calculation() -> None:
    """Two items, 'a b' everywhere: BLEU-2 by hand.

    Unigrams 2 + 1 of 4, bigrams 1 + 0 of 2, lengths 4 against 2 + 3 (closest): brevity exp(-1/4).
    """
    references = [["a b"], ["a c d"]]
    metric = metric_of("bleu:order=2,tokenize=words,smooth=none")
    found = search(metric, references, ["a b", "c"])
    expected = 100 * np.exp(1 - 5 / 4) * np.sqrt(3 / 4 * 1 / 2)
    assert found.text == "a b"
    assert found.score == pytest.approx(expected, abs=1e-12)
