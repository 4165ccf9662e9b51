"""Section 6 of BLEU Neighbors, shown: the kernels by hand, the evaluators on the real data."""

import math
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from places import DATA, PAPERS
from published import huse_pool, needed, printed_by
from refless.data.human import canonical_order
from refless.metrics.kernels.bleu import bleu_star
from slow_twins import table

TEXTS = st.lists(st.text("abc d", min_size=4, max_size=20), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def limits() -> Iterator[ModuleType]:
    """The script, importable as when it is started."""
    sys.path.insert(0, str(PAPERS))
    import bleu_neighbors_limits

    yield bleu_neighbors_limits
    sys.path.remove(str(PAPERS))


@settings(max_examples=50)
@given(outputs=TEXTS, rated=TEXTS)
def test_without_weights_it_is_bleu_star(
    limits: ModuleType, outputs: list[str], rated: list[str]
) -> None:
    """The definition, spelled out, on any texts."""
    found = limits.WeightedBleu(weighted=False).prepare(rated).similarities(outputs)
    wanted = table(bleu_star, outputs, rated)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_weights_by_hand(limits: ModuleType) -> None:
    """Of three rated texts "ab" stands in two, the other n-grams of "abcd" in one, "de" in none.

    So they weigh log(4/3), log(4/2) and log(4/1). Of "abcde", "abcd1" has ab, bc, cd and lacks de;
    it has abc, bcd and lacks cde; it has abcd and lacks bcde. The lengths are equal.
    """
    rated = ["abcd1", "ab222", "33333"]
    found = limits.WeightedBleu().prepare(rated).similarities(["abcde"])
    often = math.log(4 / 3)
    once = math.log(2)
    never = math.log(4)
    bigrams = (often + 2 * once) / (often + 2 * once + never)
    trigrams = 1 / 2  # 2 log 2 of 2 log 2 + log 4
    fourgrams = 1 / 3
    expected = (bigrams * trigrams * fourgrams) ** (1 / 3)
    assert found[0] == pytest.approx([expected, 0, 0])


def test_stop_words_are_left_out(limits: ModuleType) -> None:
    """The words that stay are as they were."""
    assert limits.without_stop_words("The cat, and it was on the Mat!") == "cat, Mat!"


def test_other_halves_are_fooled_less(limits: ModuleType) -> None:
    """On HUSE: a generator that knows the evaluator's texts gains more than one that does not."""
    pool = huse_pool()
    ordered = pool.take(canonical_order(pool))
    known = limits.by_all(ordered, 1)
    unknown = limits.by_others(ordered, 1)
    gains = [
        np.nanmean(judged.stuffed) - np.nanmean(judged.honest)
        for judged in (known, unknown)
    ]
    assert gains[0] > 3 * gains[1] > 0
    assert known.coverage == 1.0
    assert 0 < unknown.coverage < 1


def test_it_prints_a_table_a_question() -> None:
    """HUSE by estimates, with its exit status; 2 without the data."""
    needed("huse-summarization/summary_clean.csv")
    printed = printed_by(
        "bleu_neighbors_limits.py", "--data", str(DATA), "--only", "huse"
    )
    assert printed.returncode == 0, printed.stderr
    assert "estimated, gp" in printed.stdout
    absent = printed_by(
        "bleu_neighbors_limits.py", "--data", "nowhere", "--only", "hacks"
    )
    assert (absent.returncode, absent.stdout) == (2, "")
