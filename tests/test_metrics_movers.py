"""Word and sentence mover's similarity."""

import math
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from refless.data.records import Outputs, numbered
from refless.extensions.papers.movers import Movers, movers_distance
from refless.metrics.references import METRICS
from refless.registry.errors import InputError, MissingExtraError, UsageError
from refless.registry.signature import Signature
from tiny_encoder import tiny_encoder

WITH_POT = pytest.mark.skipif(find_spec("ot") is None, reason="POT is not installed")
VECTORS = "fox 0 0\ndog 3 4\ncat 0 1\nrun 6 8\nthe 100 100\n"


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    """Word vectors in the plane."""
    path = tmp_path / "plane.txt"
    path.write_text(VECTORS, encoding="utf-8")
    return str(path)


def score(metric: Movers, text: str, *references: str) -> float:
    """The score of one output."""
    return metric.score(Outputs(ids=("1",), texts=(text,), references=(references,))).corpus


@WITH_POT
def test_words_by_hand(vectors: str) -> None:
    """Halves of "fox dog" onto "fox run": fox stays, dog moves 5 to run: 0.5 * 5 = 2.5.

    The other plan, fox to run (10) and dog to fox (5), costs 7.5.
    """
    metric = Movers(vectors=vectors)
    assert score(metric, "fox dog", "fox run") == pytest.approx(math.exp(-2.5))
    # a third of "fox fox dog" against the halves of "fox dog": 1/6 moves by 5
    assert score(metric, "fox fox dog", "fox dog") == pytest.approx(math.exp(-5 / 6))
    assert score(metric, "dog fox", "fox dog") == pytest.approx(1.0)


@WITH_POT
def test_sentences_by_hand(vectors: str) -> None:
    """Means (1.5, 2) of two words and (0, 1) of one, against (0, 0) of one word.

    2/3 * 2.5 + 1/3 * 1 = 2.
    """
    metric = Movers(variant="sms", vectors=vectors)
    assert score(metric, "Fox dog. Cat!", "fox") == pytest.approx(math.exp(-2))


@WITH_POT
def test_words_and_sentences_by_hand(vectors: str) -> None:
    """Weights fox 1, dog 1, their mean 2, all of 4, onto fox and its sentence, both at (0, 0).

    (0 + 5 + 2 * 2.5) / 4 = 2.5.
    """
    metric = Movers(variant="s+wms", vectors=vectors)
    assert score(metric, "fox dog", "fox") == pytest.approx(math.exp(-2.5))


@WITH_POT
def test_the_distance_is_the_cheapest_plan() -> None:
    """Against all assignments of three points onto three, each of weight 1/3."""
    from itertools import permutations

    rng = np.random.default_rng(0)
    for _ in range(10):
        x, s = rng.normal(size=(2, 3, 2))
        weights = np.full(3, 1 / 3)
        plans = (np.linalg.norm(x - s[list(p)], axis=1).mean() for p in permutations(range(3)))
        assert movers_distance((x, weights), (s, weights)) == pytest.approx(min(plans))


@WITH_POT
def test_the_best_reference_counts(vectors: str) -> None:
    """The highest similarity; a reference without known words does not count."""
    metric = Movers(vectors=vectors)
    assert score(metric, "fox", "dog", "cat") == pytest.approx(math.exp(-1))
    assert score(metric, "fox", "unknown words", "dog") == pytest.approx(math.exp(-5))
    assert score(metric, "fox", "dog", "unknown words") == pytest.approx(math.exp(-5))


@WITH_POT
def test_a_text_without_known_words_has_no_score(vectors: str) -> None:
    """NaN, not 0; the mean is over the others."""
    outputs = Outputs(ids=numbered(2), texts=("unknown", "fox"), references=(("fox",), ("cat",)))
    found = Movers(vectors=vectors).score(outputs)
    assert np.isnan(found.segments[0])
    assert found.corpus == pytest.approx(math.exp(-1))


@WITH_POT
def test_stop_words(vectors: str, tmp_path: Path) -> None:
    """Left out by default, kept with `none`, the user's own from a file."""
    assert score(Movers(vectors=vectors), "the fox", "fox") == pytest.approx(1.0)
    kept = Movers(vectors=vectors, stop_words="none")
    assert score(kept, "the fox", "fox") == pytest.approx(math.exp(-math.sqrt(2) * 50))
    path = tmp_path / "stop.txt"
    path.write_text("dog\nthe\n", encoding="utf-8")
    own = Movers(vectors=vectors, stop_words=str(path))
    assert score(own, "the fox dog", "fox") == pytest.approx(1.0)
    with pytest.raises(InputError, match="no such file"):
        score(Movers(vectors=vectors, stop_words=str(tmp_path / "none")), "fox", "fox")


@pytest.mark.parametrize("variant", ["wms", "sms", "s+wms"])
def test_encoders(tmp_path: Path, variant: str) -> None:
    """Word pieces of an encoder, without its own marks."""
    model = tiny_encoder(tmp_path / "tiny")
    metric = Movers(variant=variant, model=model)
    assert score(metric, "the fox. a dog", "the fox. a dog") == pytest.approx(1.0, abs=1e-5)
    assert 0 < score(metric, "the fox", "a dog is slow") < 1
    assert f"movers|variant:{variant}|split:naive|model:tiny|" in str(metric.signature()).replace(
        "%2B", "+"
    )


def test_signatures(vectors: str, tmp_path: Path) -> None:
    """Vectors, their content and the stop words."""
    signed = Movers(vectors=vectors).signature()
    assert Signature.parse(str(signed)) == signed
    assert str(signed).startswith("movers|variant:wms|split:naive|vectors:plane.txt|sha:")
    assert signed.get("stop") == "english"
    path = tmp_path / "stop.txt"
    path.write_text("dog\n", encoding="utf-8")
    assert "|stop:stop.txt|stop-sha:" in str(
        Movers(vectors=vectors, stop_words=str(path)).signature()
    )
    assert METRICS["movers"] is Movers


def test_bad_parameters(vectors: str) -> None:
    """Each with its reason; neither vectors nor a model is noticed where they are needed."""
    for wrong in (
        {"variant": "x"},
        {"vectors": vectors, "model": "m"},
        {"vectors": vectors, "layer": 1},
        {"model": "m", "stop_words": "english"},
    ):
        with pytest.raises(UsageError):
            Movers(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="word vectors or a model"):
        score(Movers(), "fox", "fox")
    with pytest.raises(UsageError, match="word vectors or a model"):
        Movers().signature()


def test_a_missing_library_is_named(vectors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """POT."""
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(MissingExtraError, match=r"'\.\[movers\]'"):
        score(Movers(vectors=vectors), "fox", "fox")
    monkeypatch.setattr("refless.extensions.papers.movers.find_spec", lambda name: None)
    assert "'.[movers]'" in Movers.missing()
