"""BLEU against sacrebleu, coco-caption's published numbers and a slow twin."""

import random
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu import sentence_bleu
from sacrebleu.metrics import BLEU as SACRE

from records import outputs
from refless.data.records import Outputs
from refless.extensions.metrics.bleu import BLEU, SentenceBLEU
from refless.extensions.metrics.references import notes
from refless.metrics.protocol import averaged
from refless.registry.errors import UsageError
from refusals import bad_input

WORDS = ["a", "b", "c", "d", "cat's", "1.5", "&quot;", "The", "dog,", "!"]
SMOOTHINGS = [
    ("exp", None),
    ("none", None),
    ("floor", None),
    ("floor", 0.3),
    ("add-k", None),
]
TOKENIZERS = {
    "13a": "13a",
    "intl": "intl",
    "zh": "zh",
    "char": "char",
    "words": "none",
}  # theirs
PIECES = [
    "yes",
    "Yes",
    "no",
    "a.b",
    "1,5",
    "&amp;",
    "-\n",
    " ",
    "",
    "-",
    "\u20ac5",
    "e\u0301",
    "\u4e2d\u6587",
    "\u3002",
    "\u65e5",
    "\uac00",
    "\u3000",
    "\x1c",
    "\U0001f98a",
]
SHORT = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


def corpus(rng, n_references=None):
    """A random corpus of short texts; 1 to 4 references an item unless a number is given."""

    def text():
        return " ".join(rng.choices(WORDS, k=rng.choice([0, 1, 2, 3, 4, 5, 6, 8])))

    n = rng.randint(1, 6)
    references = []
    for _ in range(n):
        many = n_references or rng.randint(1, 4)
        references.append([text() for _ in range(many)])
    copied = [rng.choice(row) if rng.random() < 0.3 else text() for row in references]
    return outputs(copied, references)


def streams(found):
    """The references stream by stream, padded with None, as sacrebleu takes them."""
    return [list(stream) for stream in zip_longest(*found.references)]


@pytest.mark.parametrize(("smooth", "value"), [*SMOOTHINGS, ("add-k", 0.5)])
@pytest.mark.parametrize("n_references", [None, 1, 3])
def test_equals_sacrebleu(smooth, value, n_references) -> None:
    """Corpus and sentence scores on 18 x 30 random corpora; sacrebleu is the oracle."""
    rng = random.Random(f"{smooth}{value}{n_references}")
    for round_ in range(30):
        order = rng.choice([1, 2, 4, 5])
        lower = bool(round_ % 2)
        found = corpus(rng, n_references)
        ours = BLEU(order=order, smooth=smooth, value=value, lowercase=lower).score(
            found
        )
        theirs = SACRE(
            max_ngram_order=order,
            smooth_method=smooth,
            smooth_value=value,
            lowercase=lower,
        )
        single = SACRE(
            max_ngram_order=order,
            smooth_method=smooth,
            smooth_value=value,
            lowercase=lower,
            effective_order=True,
        )
        expected = theirs.corpus_score(list(found.texts), streams(found)).score
        assert ours.corpus == pytest.approx(expected, abs=1e-9)
        for text, references, score in zip(
            found.texts, found.references, ours.segments, strict=True
        ):
            expected = single.sentence_score(text, list(references)).score
            assert score == pytest.approx(expected, abs=1e-9)


@given(
    text=SHORT,
    references=st.lists(SHORT, min_size=1, max_size=3),
    tokenize=st.sampled_from(sorted(TOKENIZERS)),
    smoothing=st.sampled_from(SMOOTHINGS),
    lower=st.booleans(),
)
@settings(max_examples=500)
def test_segments_equal_sentence_bleu(
    text, references, tokenize, smoothing, lower
) -> None:
    """Empty texts, one word, CJK, blanks of all kinds; sacrebleu is the oracle."""
    smooth, value = smoothing
    metric = BLEU(tokenize=tokenize, smooth=smooth, value=value, lowercase=lower)
    ours = metric.score(outputs([text], [references])).segments[0]
    theirs = sentence_bleu(
        text,
        references,
        smooth_method=smooth,
        smooth_value=value,
        lowercase=lower,
        tokenize=TOKENIZERS[tokenize],
    )
    assert ours == pytest.approx(theirs.score, abs=1e-9)


@pytest.mark.parametrize("metric", [BLEU(), SentenceBLEU(), SentenceBLEU(smooth="exp")])
def test_a_short_output_that_is_its_reference_has_100(metric) -> None:
    """One word has no bigram to be wrong about: sacrebleu 2.6 `sentence_bleu("yes", ["yes"])`."""
    assert metric.score(outputs(["yes"], [["yes"]])).segments[0] == pytest.approx(100)


def test_corpus_scores_count_every_order() -> None:
    """A corpus of one word has 0 however right it is, as in sacrebleu's `corpus_bleu`."""
    assert BLEU().score(outputs(["yes"], [["yes"]])).corpus == 0


@pytest.mark.parametrize("name", ["13a", "intl", "zh", "char"])
def test_tokenizers_are_sacrebleus(name) -> None:
    """Texts with space at the end, entities and Chinese give sacrebleu's numbers."""
    texts = ["Hello, &quot;world&quot; 1.5-\n", "中文 句子 test."]
    references = [["Hello, world 1.5", 'Hello, "world" 1.5'], ["中文句子 test!"]]
    found = outputs(texts, references)
    expected = SACRE(tokenize=name).corpus_score(texts, streams(found)).score
    assert BLEU(tokenize=name).score(found).corpus == pytest.approx(expected, abs=1e-9)


def grams_of(tokens, n):
    """The n-grams of a text, each as often as it occurs."""
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def coco_by_hand(found, order):
    """coco-caption's bleu_scorer, written out: counts with tiny constants, closest length."""
    length = reference_length = 0
    guess = [0] * order
    correct = [0] * order
    for text, references in zip(found.texts, found.references, strict=True):
        tokens = text.split()
        others = [r.split() for r in references]
        length += len(tokens)
        reference_length += min((abs(len(o) - len(tokens)), len(o)) for o in others)[1]
        for n in range(1, order + 1):
            grams = grams_of(tokens, n)
            guess[n - 1] += len(grams)
            theirs = [grams_of(other, n) for other in others]
            for gram in set(grams):
                held = [known.count(gram) for known in theirs]
                correct[n - 1] += min(grams.count(gram), max(held))
    product = 1.0
    for n in range(order):
        product *= (correct[n] + 1e-15) / (guess[n] + 1e-9)
    ratio = (length + 1e-15) / (reference_length + 1e-9)
    return 100 * product ** (1 / order) * (np.exp(1 - 1 / ratio) if ratio < 1 else 1)


@given(seed=st.integers(0, 10**6), order=st.integers(1, 4))
def test_coco_variant_equals_its_definition(seed, order) -> None:
    """Corpus statistics with coco-caption's constants (pycocoevalcap/bleu/bleu_scorer.py)."""
    found = corpus(random.Random(seed))
    got = BLEU(order=order, tokenize="words", smooth="coco").score(found).corpus
    assert got == pytest.approx(coco_by_hand(found, order), rel=1e-9, abs=1e-12)


def test_shape_of_references_is_checked() -> None:
    """Every misuse is told apart, and the item is named."""
    texts = ("a", "b", "c")
    for references, message in [
        ((), "output '1' has no references"),
        ((("a",), (), ("c",)), "output '2' has an empty list of references"),
        ((("a",), "b", ("c",)), "references of output '2' are one string"),
        ((("a", "b", "c"), ("d", "e", "f")), "stream by stream"),
        ((("a",), ("b",)), "3 outputs but 2 lists"),
    ]:
        found = Outputs(ids=("1", "2", "3"), texts=texts, references=references)
        with bad_input(message):
            BLEU().score(found)
    with bad_input("no outputs"):
        BLEU().score(Outputs(ids=(), texts=()))


def test_parameters_are_checked() -> None:
    """Values that cannot be honoured are refused at once."""
    for wrong in [
        {"order": 0},
        {"tokenize": "13b"},
        {"smooth": "more"},
        {"smooth": "exp", "value": 1.0},
        {"smooth": "floor", "value": -1.0},
    ]:
        with pytest.raises(UsageError):
            BLEU(**wrong)


def test_notes_tell_copies() -> None:
    """Outputs that are their own references are a note, not an error."""
    copies = outputs(["a b", "c"], [["a b"], ["x", "c"]])
    assert "every output is one of its own references (1 of 2" in notes(copies)[0]
    assert notes(outputs(["a b", "c"], [["a"], ["x"]])) == ()


def test_bleu_plus_one_by_hand() -> None:
    """BLEU+1: matches 2/3, (1+1)/(2+1); brevity exp(1 - 4/3)."""
    found = outputs(["a b x"], [["a b c d"]])
    plain = SentenceBLEU(order=2, tokenize="words").score(found)
    precision = np.sqrt(2 / 3 * 2 / 3)
    assert plain.corpus == pytest.approx(100 * precision * np.exp(1 - 4 / 3))


def test_averages_leave_undefined_out() -> None:
    """NaN segments count neither in the sum nor in the number."""
    scores = averaged(np.array([1.0, np.nan, 4.0]))
    assert scores.corpus == 2.5
    assert scores.statistics.tolist() == [[1, 1], [0, 0], [4, 1]]


def test_sentence_bleu_is_averaged() -> None:
    """The corpus score is the mean of segments, also out of re-summed statistics."""
    found = corpus(random.Random(3))
    scores = SentenceBLEU().score(found)
    assert scores.corpus == pytest.approx(scores.segments.mean())
    assert scores.combine(scores.statistics.sum(axis=0)) == pytest.approx(scores.corpus)


@given(seed=st.integers(0, 10**6))
def test_resampling_re_sums(seed) -> None:
    """Statistics of some rows, added up, give the score of an own run over those rows."""
    rng = random.Random(seed)
    found = corpus(rng)
    rows = rng.choices(range(len(found)), k=len(found))
    scores = BLEU(order=2).score(found)
    again = BLEU(order=2).score(found.take(rows))
    assert scores.combine(scores.statistics[rows].sum(axis=0)) == pytest.approx(
        again.corpus
    )


def test_signature_tells_settings_apart() -> None:
    """Whatever changes a number is in the signature."""
    metrics = [
        BLEU(),
        BLEU(order=2),
        BLEU(tokenize="words"),
        BLEU(lowercase=True),
        BLEU(smooth="none"),
        BLEU(smooth="floor"),
        BLEU(smooth="floor", value=0.2),
        SentenceBLEU(),
    ]
    assert len({str(metric.signature()) for metric in metrics}) == len(metrics)
    assert str(BLEU(smooth="floor").signature()) == str(
        BLEU(smooth="floor", value=0.1).signature()
    )
