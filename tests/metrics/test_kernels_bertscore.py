"""BERTScore as a kernel: greedy matching, baselines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.estimators.neighbors import BLEUNeighbors
from refless.metrics import bertscore
from refless.metrics.bertscore import (
    BertScore,
    DeviceScores,
    Matched,
    f_scores,
    random_baseline,
)
from refless.registry.arrays import FloatArray
from refless.text.embed import Encoder
from refusals import bad_usage
from tiny_encoder import WORDS

TEXT = st.lists(st.sampled_from([*WORDS[:8], "zebra"]), max_size=7).map(" ".join)


def slow(x: FloatArray, wx: FloatArray, s: FloatArray, ws: FloatArray) -> float:
    """BERTScore's F of two texts, token by token."""
    if not wx.sum() or not ws.sum():
        return 0.0

    def share(a: FloatArray, weights: FloatArray, b: FloatArray) -> float:
        best = []
        for u in a:
            cosines = [u @ v / np.linalg.norm(u) / np.linalg.norm(v) for v in b]
            best.append(max(map(float, cosines)))
        return float(np.average(best, weights=weights))

    precision = share(x, wx, s)
    recall = share(s, ws, x)
    return 2 * precision * recall / (precision + recall)


@settings(max_examples=25)
@given(
    texts=st.lists(TEXT, min_size=1, max_size=4),
    rated=st.lists(TEXT, min_size=1, max_size=4),
)
def test_matching_equals_the_definition(
    model: str, texts: list[str], rated: list[str]
) -> None:
    """All pairs at once against loops over tokens; texts without a word score 0."""
    encoder = Encoder(model=model)
    mine, theirs = (Matched(encoder.embed(some)) for some in (texts, rated))
    for i in range(len(texts)):
        x = mine.texts(mine.embedded.rows[i : i + 1])
        found = f_scores(x[0], x[1], *theirs.texts(theirs.embedded.rows))
        for j in range(len(rated)):
            a = mine.embedded.of(i)
            b = theirs.embedded.of(j)
            wanted = slow(
                mine.embedded.vectors[a].astype(float),
                mine.weights[a],
                theirs.embedded.vectors[b].astype(float),
                theirs.weights[b],
            )
            assert found[j] == pytest.approx(wanted, abs=1e-5)


@settings(max_examples=25)
@given(
    texts=st.lists(TEXT, min_size=1, max_size=6),
    rated=st.lists(TEXT, min_size=1, max_size=6),
    cosines=st.integers(1, 200),
)
def test_all_texts_at_once(
    model: str, texts: list[str], rated: list[str], cosines: int
) -> None:
    """The same as `f_scores`, however many cosines fit on a card."""
    encoder = Encoder(model=model)
    mine = Matched(encoder.embed(texts))
    theirs = Matched(encoder.embed(rated))
    rows = np.unique(mine.embedded.rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bertscore, "COSINES", cosines)
        found = DeviceScores(mine, theirs, "cpu").between(rows)
    wanted = []
    for row in rows:
        vectors, weights, _ = mine.texts(np.array([row]))
        wanted.append(f_scores(vectors, weights, *theirs.every()))
    np.testing.assert_allclose(
        found,
        np.array(wanted),
        atol=1e-5,
    )


def test_by_hand() -> None:
    """Two tokens against one: best cosines 1 and 0.6, precision 0.8, recall 1."""
    x = np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32)
    s = np.array([[1.0, 0.0]], dtype=np.float32)
    found = f_scores(x, np.ones(2), s, np.ones(1), np.array([0, 1]))
    assert found.tolist() == [pytest.approx(2 * 0.8 / 1.8, abs=1e-6)]


def test_rescaled_and_clipped(model: str) -> None:
    """(F - b) / (1 - b) with b from random pairs of the rated texts; never below 0."""
    rated = ["the fox is quick", "a dog was slow .", "the dog", "fox"]
    prepared = BertScore(model=model).prepare(rated)
    encoder = Encoder(model=model)
    texts = Matched(encoder.embed(rated))
    base = random_baseline(texts, texts.embedded.rows.tolist())
    found = prepared.similarities([*rated, ""])
    assert np.diag(found) == pytest.approx(np.ones(4), abs=1e-6)
    assert found[-1].tolist() == [0.0] * 4
    assert found.min() == 0.0
    x = texts.texts(np.array([0]))
    raw = f_scores(x[0], x[1], *texts.texts(np.arange(4)))
    assert found[0] == pytest.approx(np.clip((raw - base) / (1 - base), 0, 1), abs=1e-6)


def test_random_pairs(model: str) -> None:
    """All pairs where they are few, drawn ones else, the same for the same seed."""
    texts = Matched(Encoder(model=model).embed(["the fox", "a dog", "slow"]))
    pairs = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        x = texts.texts(np.array([a]))
        s = texts.texts(np.array([b]))
        pairs.append(f_scores(x[0], x[1], *s)[0])
    assert random_baseline(texts, [2, 0, 1, 1]) == pytest.approx(np.mean(pairs))
    many = [f"{'the ' * (i % 7)}{'fox ' * (i // 7)}" for i in range(1, 60)]
    known = Matched(Encoder(model=model).embed(many))
    rows = known.embedded.rows.tolist()
    assert random_baseline(known, rows) == random_baseline(known, rows[::-1])
    with bad_usage("at least two"):
        random_baseline(texts, [1, 1])


def test_the_estimator_with_bertscore(model: str) -> None:
    """Tau 0.10; model, layer and baseline are in the signature."""
    rated = ["the fox is quick", "a dog was slow", "the dog", "fox", "a fox was quick"]
    estimator = BLEUNeighbors(kernel=BertScore(model=model, layer=2), min_neighbors=1)
    estimator.fit(rated, [5.0, 4.0, 3.0, 2.0, 1.0])
    signature = str(estimator.signature())
    assert estimator.threshold == 0.10
    assert "|kernel:bertscore|model:tiny|sha:" in signature
    assert "|layer:2|baseline:random-1000|baseline-seed:0|tau:0.1|" in signature
    evidence = estimator.explain("the fox is quick")
    assert evidence.neighbors[0].text == "the fox is quick"
    assert evidence.neighbors[0].similarity == pytest.approx(1.0, abs=1e-6)
