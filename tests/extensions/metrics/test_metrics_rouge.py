"""ROUGE-L against references: rouge-score, coco-caption, real data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records import outputs_of_items
from refless.data.records import Outputs, numbered
from refless.extensions.metrics.rouge import ROUGEL
from refless.metrics.protocol import METRICS
from refless.registry.errors import UsageError
from refusals import bad_input

WORDS = st.lists(
    st.sampled_from(["a", "fox", "is", "quick", "not"]), min_size=1, max_size=9
)
TEXT = WORDS.map(" ".join)
ITEMS = st.lists(
    st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4
)
Items = list[tuple[str, list[str]]]


def test_by_hand() -> None:
    """LCS "the is quick": 3 of 4 and 3 of 5 words; the second reference shares 1 of 1."""
    outputs = Outputs(
        ids=("1",),
        texts=("the fox is quick",),
        references=(("the dog is very quick", "fox"),),
    )
    assert ROUGEL().score(outputs).corpus == pytest.approx(6 / 9)
    # coco-caption: the highest precision 3/4, the highest recall 1, beta 1.2
    wanted = (1 + 1.44) * 0.75 / (1 + 1.44 * 0.75)
    assert ROUGEL(variant="coco").score(outputs).corpus == pytest.approx(wanted)


@given(ITEMS)
def test_f1_is_rouge_scores(items: Items) -> None:
    """The rougeL F of rouge-score without a stemmer, the highest over references."""
    rouge_scorer = pytest.importorskip(
        "rouge_score.rouge_scorer", reason="no rouge-score"
    )
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    outputs = outputs_of_items(items)
    wanted = [
        scorer.score_multi(list(many), text)["rougeL"].fmeasure
        for text, many in zip(outputs.texts, outputs.references, strict=True)
    ]
    assert ROUGEL().score(outputs).segments == pytest.approx(wanted, abs=1e-9)


@given(ITEMS)
def test_coco_is_coco_captions(items: Items) -> None:
    """pycocoevalcap's Rouge, segments and corpus."""
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge", reason="no pycocoevalcap")
    outputs = outputs_of_items(items)
    known = {i: list(many) for i, many in enumerate(outputs.references)}
    mean, each = rouge.Rouge().compute_score(
        known, {i: [x] for i, x in enumerate(outputs.texts)}
    )
    found = ROUGEL(variant="coco").score(outputs)
    assert found.segments == pytest.approx(each, abs=1e-9)
    assert found.corpus == pytest.approx(mean, abs=1e-9)


def test_what_shares_nothing_scores_0() -> None:
    """No common word, no words at all, on either side."""
    outputs = Outputs(
        ids=numbered(3), texts=("a b", "", "a"), references=(("c",), ("a",), ("", " "))
    )
    for variant in ("f1", "coco"):
        found = ROUGEL(variant=variant).score(outputs)
        assert found.segments.tolist() == [0.0, 0.0, 0.0]


def test_statistics_add_up_to_the_corpus_score() -> None:
    """Resampling re-sums."""
    outputs = outputs_of_items([("a fox", ["a"]), ("b", ["c"]), ("d", ["d"])])
    found = ROUGEL().score(outputs)
    assert float(found.combine(found.statistics.sum(axis=0))) == found.corpus
    twice = found.combine(found.statistics[[0, 0, 2]].sum(axis=0))
    assert float(twice) == pytest.approx((2 * 2 / 3 + 1) / 3)


def test_case() -> None:
    """Kept by default."""
    outputs = Outputs(ids=("1",), texts=("The Fox",), references=(("the fox",),))
    assert ROUGEL().score(outputs).corpus == 0.0
    assert ROUGEL(lowercase=True).score(outputs).corpus == 1.0


def test_signatures() -> None:
    """Everything that changes a number."""
    assert str(ROUGEL().signature()).startswith(
        "rouge-l|tok:words|lower:no|variant:f1|v:"
    )
    coco = ROUGEL(tokenize="13a", lowercase=True, variant="coco")
    assert str(coco.signature()).startswith(
        "rouge-l|tok:13a|lower:yes|variant:coco|beta:1.2|v:"
    )
    assert METRICS["rouge-l"] is ROUGEL
    assert ROUGEL.missing() == ""


def test_bad_parameters_and_input() -> None:
    """Each with its reason."""
    for wrong in ({"variant": "x"}, {"tokenize": "x"}):
        with pytest.raises(UsageError):
            ROUGEL(**wrong)  # type: ignore[arg-type]
    with bad_input("no references"):
        ROUGEL().score(Outputs(ids=("1",), texts=("a",)))
