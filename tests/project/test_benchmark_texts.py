"""The benchmarks' texts: distinct, of their length, words by Zipf's law, the same everywhere."""

import hashlib
import importlib.util

import numpy as np
import pytest

from places import ROOT

SPEC = importlib.util.spec_from_file_location("texts", ROOT / "benchmarks" / "texts.py")
TEXTS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TEXTS)
simulated_texts = TEXTS.simulated_texts


def test_texts_for_benchmarks() -> None:
    """20,000 texts: nearly all distinct, near the length, words by Zipf's law."""
    texts = simulated_texts(20_000)
    assert len(texts) == 20_000
    assert len(set(texts)) > 19_900
    assert np.mean([len(text) for text in texts]) == pytest.approx(50, abs=3)
    words, counts = np.unique(" ".join(texts).split(), return_counts=True)
    assert len(words) > 4000
    ranked = np.sort(counts)[::-1]
    # Zipf: frequency falls about as 1 / rank
    assert ranked[9] / ranked[99] == pytest.approx(10, rel=0.4)


def test_texts_for_benchmarks_are_the_same_everywhere() -> None:
    """The first texts of seed 0, as first made; other seeds give others."""
    texts = simulated_texts(50)
    assert (
        hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16] == "fd7a0ade1256b399"
    )
    assert simulated_texts(50, seed=1) != texts
    assert simulated_texts(0) == ()
