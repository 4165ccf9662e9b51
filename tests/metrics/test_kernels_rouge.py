"""The ROUGE-L kernel, and the sums that kernels without postings share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from published import huse_pool
from refless.estimators.neighbors import BLEUNeighbors
from refless.metrics.kernels.dense import Dense
from refless.metrics.kernels.rouge import RougeL
from refless.metrics.matching import Work, hold_out
from refless.registry.arrays import FloatArray
from refless.text.tokenize import tokenizer
from refusals import bad_usage
from slow_twins import table

WORDS = st.sampled_from(["a", "fox", "is", "quick", "é"])
TEXT = st.lists(WORDS, max_size=12).map(" ".join)
LONG = st.lists(WORDS, min_size=60, max_size=140).map(
    " ".join
)  # more than one word of bits
TEXTS = st.lists(TEXT | LONG, max_size=5)


def common(x: list[str], s: list[str]) -> int:
    """Length of the longest common subsequence, by the textbook's table."""
    row = [0] * (len(s) + 1)
    for token in x:
        before = row
        row = [0]
        for j, other in enumerate(s, 1):
            row.append(before[j - 1] + 1 if token == other else max(before[j], row[-1]))
    return row[-1]


def rouge_l(output: str, rated: str, tokenize: str = "words") -> float:
    """ROUGE-L's F1, 2 LCS / (|x| + |s|), in [0, 1]; 0 if either text has no token."""
    split = tokenizer(tokenize)
    x = split(output)
    s = split(rated)
    if not x or not s:
        return 0.0
    return 2 * common(x, s) / (len(x) + len(s))


def twins(texts: list[str], rated: list[str]) -> FloatArray:
    """All similarities, by the definition."""
    return table(rouge_l, texts, rated)


def test_by_hand() -> None:
    """LCS "the is quick", 3 of 4 and 3 of 5 words: 2 * 3 / 9."""
    found = (
        RougeL().prepare(["the dog is very quick"]).similarities(["the fox is quick"])
    )
    assert found.tolist() == [[pytest.approx(6 / 9)]]


@given(TEXTS, TEXTS)
def test_similarities_equal_the_definition(texts: list[str], rated: list[str]) -> None:
    """Short and long texts, unknown words, empty texts."""
    found = RougeL().prepare(rated).similarities([*texts, "unknown fox words"])
    assert found[:-1].tolist() == twins(texts, rated).tolist()


@given(
    st.lists(TEXT, min_size=1, max_size=6),
    st.sampled_from([0.0, 0.06, 0.5, 1.0, 0.25, 2 / 3]),
    st.data(),
)
def test_sums_are_those_of_the_definition(
    rated: list[str], tau: float, data: st.DataObject
) -> None:
    """Counts and sums by an explicit loop, with groups held out, whatever the threads."""
    groups = st.lists(st.integers(-1, 2), min_size=len(rated), max_size=len(rated))
    own = np.array(data.draw(groups))
    theirs = np.array(data.draw(groups))
    values = np.arange(1, len(rated) + 1)
    prepared = RougeL().prepare(rated)
    held = hold_out(own, theirs)
    counts, sums = prepared.neighbor_sums(
        rated, values, tau, Work(held=held, threads=2)
    )
    for i, text in enumerate(rated):
        seen = [
            (rouge_l(text, other), int(value))
            for other, value, group in zip(rated, values, theirs, strict=True)
            if text and not (own[i] >= 0 and group == own[i])
        ]
        near = [value for similarity, value in seen if similarity >= tau - 1e-12]
        assert (counts[i], sums[i]) == (len(near), sum(near))


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row a block gives what all rows at once give; progress reaches the end."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["a", "b", "c", "d"], 5)) for _ in range(300)]
    prepared = RougeL().prepare(texts)
    values = np.arange(300)
    tau = 0.5
    whole = prepared.neighbor_sums(texts, values, tau, Work(threads=1))
    monkeypatch.setattr("refless.metrics.kernels.dense.BLOCK_PAIRS", 1)
    seen: list[float] = []
    split = prepared.neighbor_sums(
        texts, values, tau, Work(threads=3, progress=seen.append)
    )
    np.testing.assert_array_equal(whole, split)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_without_texts_there_are_no_similarities() -> None:
    """An empty pool, and no outputs."""
    assert RougeL().prepare([]).similarities(["a"]).shape == (1, 0)
    assert RougeL().prepare(["a"]).similarities([]).shape == (0, 1)


def test_lengths_and_evidence_are_words() -> None:
    """Words, and the stretches of them that two texts share."""
    prepared = RougeL().prepare(["a b"])
    assert isinstance(prepared, Dense)
    assert prepared.lengths(["", "a  b", "c"]).tolist() == [0, 2, 1]
    assert prepared.least == 1
    assert prepared.shared("the quick fox", "a quick fox") == ("quick fox",)


def test_the_published_experiment() -> None:
    """HUSE summarization with tau 0.06 (FACTS, BLEU Neighbors 4): 0.0227, 0.249, 0.945."""
    from scipy.stats import spearmanr

    pool = huse_pool()
    found = BLEUNeighbors(kernel="rouge-l").held_out(pool)
    human = pool.human[found.defined]
    predicted = found.values[found.defined]
    assert np.mean((human - predicted) ** 2) == pytest.approx(0.0227, abs=5e-4)
    assert spearmanr(human, predicted).statistic == pytest.approx(0.249, abs=5e-3)
    assert found.coverage == pytest.approx(0.945, abs=5e-3)


def test_the_estimator_takes_the_kernels_own_tau_and_settings() -> None:
    """0.06 and words; other tokens on request."""
    model = BLEUNeighbors(kernel="rouge-l")
    assert model.threshold == 0.06
    assert str(model.signature()).startswith(
        "bleu-neighbors|kernel:rouge-l|tok:words|tau:0.06|"
    )
    other = BLEUNeighbors(kernel="rouge-l:tokenize=13a", tau=0.5)
    assert str(other.signature()).startswith(
        "bleu-neighbors|kernel:rouge-l|tok:13a|tau:0.5|"
    )
    evidence = model.fit(["a b", "b c"] * 4, [1.0, 2.0] * 4).explain("b c")
    assert evidence.neighbors[0].shared == ("b c",)


@pytest.mark.parametrize(
    "kernel",
    [
        "rouge-l:orders=1-4",
        "rouge-l:clip=no",
        "meteor:tokenize=words",
        "bleu*:model=some-model",
        "bertscore:model=some-model,clip=yes",
        "bertscore",
        "nothing",
    ],
)
def test_a_parameter_that_a_kernel_ignores_is_refused(kernel: str) -> None:
    """Nothing is accepted and ignored."""
    with bad_usage(r"kernel|has no parameter"):
        BLEUNeighbors(kernel=kernel)
