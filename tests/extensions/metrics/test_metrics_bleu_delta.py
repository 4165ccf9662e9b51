"""delta-BLEU: the author's example, the paper's properties, a slow twin."""

import math
import random
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from papers.delta_bleu import precisions_of_sums

from records import outputs
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.delta import VARIANTS, DeltaBLEU
from refless.registry.errors import UsageError
from refusals import bad_input

WEIGHTS = [-1.0, -0.5, -0.1, 0.0, 0.3, 0.6, 1.0]
REFERENCES = (  # the author's published example
    (
        "the food was delicious .",
        "it was tasty .",
        "it was good .",
        "it was ok .",
        "it didn't taste that bad",
        "it tasted terrible .",
    ),
    (
        "it was great .",
        "i enjoyed the music .",
        "i liked the music .",
        "it sounded ok .",
        "it wasn't that bad .",
        "it was awful .",
    ),
)
EXAMPLE_WEIGHTS = ((1, 0.7, 0.3, 0, -0.1, -1), (1, 0.6, 0.3, 0, -0.1, -1))


def some(rng, text):
    """One to five items of one to four texts each."""
    counts = [rng.randint(1, 4) for _ in range(rng.randint(1, 5))]
    return [list(islice(iter(text, None), count)) for count in counts]


def corpus(rng, weights=WEIGHTS):
    """A random corpus in which every output has a positively weighted reference."""

    def text():
        return " ".join(rng.choices("abcd", k=rng.randint(0, 7)))

    references = some(rng, text)
    rows = [rng.choices(weights, k=len(row)) for row in references]
    for row in rows:
        row[rng.randrange(len(row))] = rng.choice([w for w in weights if w > 0])
    texts = [rng.choice(row) if rng.random() < 0.3 else text() for row in references]
    return outputs(texts, references, rows)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("texts", "delta", "bleu", "precisions"),
    [
        (
            ("the food was quite good .", "the music was great ."),
            33.11,
            36.28,
            (77.3, 54.4, 28.6, 10.0),
        ),
        (
            ("the food tasted terrible .", "the music was awful ."),
            7.14,
            42.04,
            (32.0, 6.2, 4.2, 3.1),
        ),
    ],
)
def test_example_of_the_author(texts, delta, bleu, precisions, variant) -> None:
    """Order 4, 13a, exp: the four scores and the precisions printed with the author's code."""
    found = outputs(texts, REFERENCES, EXAMPLE_WEIGHTS)
    scores = DeltaBLEU(variant=variant).score(found)
    assert scores.corpus == pytest.approx(delta, abs=0.01)
    assert BLEU().score(found).corpus == pytest.approx(bleu, abs=0.01)
    shown = precisions_of_sums(scores.statistics.sum(axis=0))
    assert shown == pytest.approx(precisions, abs=0.051)


@given(
    seed=st.integers(0, 10**6),
    variant=st.sampled_from(VARIANTS),
    order=st.integers(1, 4),
)
def test_all_weights_one_is_bleu(seed, variant, order) -> None:
    """The paper's first property, exactly."""
    found = corpus(random.Random(seed), [1.0])
    ours = DeltaBLEU(variant=variant, order=order).score(found)
    bleu = BLEU(order=order).score(found)
    assert ours.corpus == bleu.corpus
    assert np.array_equal(ours.segments, bleu.segments)
    assert np.array_equal(ours.statistics, bleu.statistics)


@given(seed=st.integers(0, 10**6), variant=st.sampled_from(VARIANTS))
def test_best_reference_scores_100(seed, variant) -> None:
    """The paper's second property: the highest-weighted reference throughout gives 1."""
    rng = random.Random(seed)
    rows = some(rng, lambda: " ".join(rng.choices("abcdef", k=rng.randint(4, 9))))
    weights = [rng.choices(WEIGHTS, k=len(row)) for row in rows]
    for row in weights:
        row[0] = 1.0 if max(row) <= 0 else row[0]
    best = [row[int(np.argmax(w))] for row, w in zip(rows, weights, strict=True)]
    got = DeltaBLEU(variant=variant, smooth="none").score(outputs(best, rows, weights))
    assert got.corpus == pytest.approx(100)


@given(seed=st.integers(0, 10**6), variant=st.sampled_from(VARIANTS))
def test_one_scale_of_weights_makes_no_difference(seed, variant) -> None:
    """Halving every weight halves numerators and denominators alike."""
    found = corpus(random.Random(seed))
    halves = [np.array(row) / 2 for row in found.weights]
    half = outputs(found.texts, found.references, halves)
    metric = DeltaBLEU(variant=variant, smooth="none", order=2)
    assert metric.score(half).corpus == pytest.approx(metric.score(found).corpus)


def by_hand(found, order, variant):
    """Statistics as the equation says, n-gram by n-gram."""

    def grams(text, n):
        tokens = text.split()
        return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]

    rows = []
    for text, references, weights in zip(
        found.texts, found.references, found.weights, strict=True
    ):
        matched = []
        totals = []
        for n in range(1, order + 1):
            mine = grams(text, n)
            total = 0.0
            for gram in sorted(set(mine)):
                held = [
                    (w, grams(r, n).count(gram))
                    for r, w in zip(references, weights, strict=True)
                    if gram in grams(r, n)
                ]
                if held and variant == "equation":
                    total += max(w * min(mine.count(gram), c) for w, c in held)
                elif held:
                    most = max(c for _, c in held)
                    total += max(w for w, _ in held) * min(mine.count(gram), most)
            matched.append(total)
            totals.append(max(weights) * len(mine))
        length = len(text.split())
        closest = min(
            (abs(len(r.split()) - length), len(r.split())) for r in references
        )[1]
        rows.append([length, closest, *matched, *totals])
    return np.array(rows, dtype=float)


@given(
    seed=st.integers(0, 10**6),
    variant=st.sampled_from(VARIANTS),
    order=st.integers(1, 4),
)
def test_equals_its_slow_twin(seed, variant, order) -> None:
    """The compiled loop finds what the equation says."""
    found = corpus(random.Random(seed))
    metric = DeltaBLEU(order=order, tokenize="words", variant=variant)
    assert metric.score(found).statistics == pytest.approx(
        by_hand(found, order, variant)
    )


def test_variants_differ_where_an_ngram_repeats() -> None:
    """`a` twice: equation max(1 * 1, 0.5 * 2) = 1 of 2; code 1 * min(2, 2) = 2 of 2."""
    found = outputs(["a a"], [["a b", "a a"]], [[1, 0.5]])
    scores = {v: DeltaBLEU(order=1, variant=v).score(found).corpus for v in VARIANTS}
    assert scores == pytest.approx({"equation": 50.0, "code": 100.0})


def test_negative_order_counts_as_no_match() -> None:
    """Sum of unigrams 0.5 - 1 < 0 gives 0 although there are matches; a penalty, not an error."""
    found = outputs(["a b"], [["a", "b"]], [[0.5, -1]])
    assert DeltaBLEU(order=1).score(found).corpus == 0
    mixed = outputs(["a b", "c"], [["a", "b"], ["c"]], [[0.5, -1], [1]])
    # (0.5 - 1 + 1) / (0.5 * 2 + 1 * 1); lengths 3 and 1 + 1: no brevity penalty
    assert DeltaBLEU(order=1).score(mixed).corpus == pytest.approx(100 * 0.5 / 2)


def test_weights_that_cancel_are_nothing() -> None:
    """0.1 + 0.2 - 0.3 leaves rounding dust in floats, which must not count as a match."""
    found = outputs(["a b c"], [["a", "b", "c", "x"]], [[0.1, 0.2, -0.3, 1]])
    assert math.fsum([0.1, 0.2, -0.3]) != 0
    assert DeltaBLEU(order=1).score(found).corpus == 0


def test_weights_are_checked() -> None:
    """Missing weights, NaN and weights outside [-1, 1] name the item."""
    for weights, message in [
        ((), "output '1' has no weights"),
        (((1,), (1, 2)), "output '2' has a reference with weight 2"),
        (((1,), (1, float("nan"))), "output '2' has a reference with weight nan"),
        (((1,), (1,)), "output '2' has 2 references but 1 weights"),
        (((1,),), "2 outputs but 1 lists of weights"),
    ]:
        with bad_input(message):
            DeltaBLEU().score(outputs(["a", "b"], [["a"], ["b", "c"]], weights))


def test_items_without_positive_weight() -> None:
    """An error that names the first."""
    found = outputs(["a b", "b"], [["a b"], ["b", "c"]], [[1], [0, -1]])
    with bad_input("output '2' has no reference with a positive weight"):
        DeltaBLEU().score(found)


def test_more_weight_never_lowers_a_match() -> None:
    """Raising the weight of the only matched, not highest, reference raises the score."""
    scores = [
        DeltaBLEU(order=1).score(outputs(["a"], [["a", "x"]], [[w, 1]])).corpus
        for w in (-1, 0, 0.25, 0.5, 1)
    ]
    assert scores == pytest.approx([0, 0, 25, 50, 100])
    assert all(low <= high for low, high in pairwise(scores))


def test_variant_is_checked_and_signed() -> None:
    """The signature tells the variants apart."""
    with pytest.raises(UsageError):
        DeltaBLEU(variant="paper")
    assert DeltaBLEU().signature().get("variant") == "equation"
    assert str(DeltaBLEU(variant="code").signature()) != str(DeltaBLEU().signature())
