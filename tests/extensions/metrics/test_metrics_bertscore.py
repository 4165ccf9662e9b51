"""BERTScore against references."""

import sys
from itertools import chain

import numpy as np
import pytest

from refless.data.records import Outputs, numbered
from refless.extensions.metrics.bertscore import BERTScore
from refless.metrics.bertscore import Matched, f_scores, random_baseline
from refless.metrics.protocol import METRICS
from refless.registry.errors import MissingExtraError
from refless.text.embed import Encoder, loading
from refusals import bad_input, bad_usage

OUTPUTS = Outputs(
    ids=numbered(4),
    texts=("the fox is quick", "a dog", "", "zebra the"),
    references=(
        ("the dog is quick .", "a fox"),
        ("a dog",),
        ("the fox",),
        ("the fox was slow", "a dog", "a dog"),
    ),
)


def pair(model: str, output: str, reference: str) -> float:
    """F of one pair, embedded by itself."""
    found = Encoder(model=model).embed([output, reference])
    texts = Matched(found)
    x, s = (texts.texts(found.rows[i : i + 1]) for i in (0, 1))
    return float(f_scores(x[0], x[1], *s)[0])


def test_the_best_reference_counts(model: str) -> None:
    """Segment by segment out of single pairs; a text without words scores 0."""
    found = BERTScore(model=model).score(OUTPUTS)
    wanted = []
    for text, known in zip(OUTPUTS.texts, OUTPUTS.references, strict=True):
        wanted.append(max(pair(model, text, reference) for reference in known))
    assert found.segments == pytest.approx(wanted, abs=1e-5)
    assert found.segments[1] == pytest.approx(1.0, abs=1e-5)
    assert found.segments[2] == 0.0
    assert found.corpus == pytest.approx(np.mean(wanted), abs=1e-5)


def test_rescaling(model: str) -> None:
    """(F - b) / (1 - b), b from random pairs of the references."""
    raw = BERTScore(model=model).score(OUTPUTS).segments
    known = sorted({*chain.from_iterable(OUTPUTS.references)})
    texts = Matched(Encoder(model=model).embed(known))
    base = random_baseline(texts, range(len(known)))
    drawn = BERTScore(model=model, baseline="random").score(OUTPUTS).segments
    assert drawn == pytest.approx((raw - base) / (1 - base), abs=1e-4)


def test_the_order_of_rows_changes_nothing(model: str) -> None:
    """Reversed rows give reversed scores, to the last bit."""
    turned = Outputs(
        ids=OUTPUTS.ids, texts=OUTPUTS.texts[::-1], references=OUTPUTS.references[::-1]
    )
    metric = BERTScore(model=model, baseline="random")
    first = metric.score(OUTPUTS).segments
    second = metric.score(turned).segments
    assert first.tolist() == second[::-1].tolist()


def test_signatures(model: str) -> None:
    """Model, its content, layer, baseline."""
    plain = str(BERTScore(model=model, layer=1).signature())
    assert plain.startswith("bertscore|model:tiny|sha:")
    assert "|layer:1|baseline:none|v:" in plain
    drawn = str(BERTScore(model=model, baseline="random").signature())
    assert "|layer:3|baseline:random-1000|baseline-seed:0|v:" in drawn
    assert METRICS["bertscore"] is BERTScore


def test_what_is_missing_is_said(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model, no references, no library."""
    with bad_usage("needs a model"):
        BERTScore().score(OUTPUTS)
    with bad_input("no references"):
        BERTScore(model=model).score(Outputs(ids=("1",), texts=("a",)))
    assert BERTScore.missing() == ""
    monkeypatch.setattr(
        "refless.extensions.metrics.bertscore.find_spec", lambda name: None
    )
    assert "'.[neural]'" in BERTScore.missing()
    loading.described.cache_clear()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"'\.\[neural\]'"):
        BERTScore(model=model).score(OUTPUTS)
