"""CIDEr-D: coco-caption, a slow twin, real data."""

import math
from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from records import outputs_of_items
from refless.data.records import Outputs, numbered
from refless.extensions.metrics.cider import CIDErD
from refless.metrics.protocol import METRICS
from refless.registry.errors import UsageError

TEXT = st.lists(st.sampled_from(["a", "fox", "is", "quick", "a"]), max_size=9).map(
    " ".join
)
ITEMS = st.lists(
    st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=2, max_size=5
)
Items = list[tuple[str, list[str]]]


def slow_cider(items: Items) -> list[float]:
    """CIDEr-D by its definition (Vedantam et al. 2015, equation 3), times 10."""

    def grams(text: str, n: int) -> Counter[tuple[str, ...]]:
        words = text.split()
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    def cosine(
        a: dict[tuple[str, ...], float], b: dict[tuple[str, ...], float]
    ) -> float:
        norms = math.hypot(*a.values()) * math.hypot(*b.values())
        return (
            sum(min(v, b[g]) * b[g] for g, v in a.items() if g in b) / norms
            if norms
            else 0.0
        )

    def near(text: str, other: str) -> float:
        apart = grams(text, 2).total() - grams(other, 2).total()
        return math.exp(-(apart**2) / (2 * 6.0**2))

    scores = []
    for text, known in items:
        total = 0.0
        for n in range(1, 5):
            df: Counter[tuple[str, ...]] = Counter()
            for _, many in items:
                df.update({*chain.from_iterable(grams(s, n) for s in many)})

            def vector(
                text: str, n: int = n, df: Counter[tuple[str, ...]] = df
            ) -> dict[tuple[str, ...], float]:
                counts = grams(text, n)
                return {
                    g: c * math.log(len(items) / max(1, df[g]))
                    for g, c in counts.items()
                }

            pairs = (near(text, s) * cosine(vector(text), vector(s)) for s in known)
            total += sum(pairs) / len(known) / 4
        scores.append(10 * total)
    return scores


@given(ITEMS)
def test_cider_d_is_coco_captions(items: Items) -> None:
    """pycocoevalcap's Cider, segments and corpus."""
    cider = pytest.importorskip("pycocoevalcap.cider.cider", reason="no pycocoevalcap")
    assume(any(any(many) for _, many in items))  # it cannot do without any word
    known = {i: list(many) for i, (_, many) in enumerate(items)}
    texts = {i: [text] for i, (text, _) in enumerate(items)}
    mean, each = cider.Cider().compute_score(known, texts)
    found = CIDErD().score(outputs_of_items(items))
    assert found.segments == pytest.approx(each, abs=1e-9)
    assert found.corpus == pytest.approx(mean, abs=1e-9)


@given(ITEMS)
def test_cider_d_is_its_definition(items: Items) -> None:
    """Clipped, with a penalty on length."""
    found = CIDErD().score(outputs_of_items(items)).segments
    assert found == pytest.approx(slow_cider(items), abs=1e-9)


def test_by_hand() -> None:
    """Unigrams only: each word stands in one item of two, so idf is log 2 throughout.

    "fox fox" against "fox": the count 2 is clipped to 1, which halves the cosine of 1, and the
    lengths differ by one bigram.
    """
    outputs = outputs_of_items([("fox fox", ["fox"]), ("dog", ["dog"])])
    wanted = [10 * 0.5 * math.exp(-1 / 72), 10]
    assert CIDErD(order=1).score(outputs).segments == pytest.approx(wanted)


def test_a_single_item_has_no_score() -> None:
    """Nothing in it is rarer than anything else: NaN, not 0."""
    outputs = outputs_of_items([("a fox", ["a fox"])])
    found = CIDErD().score(outputs)
    assert np.isnan(found.segments).all()
    assert math.isnan(found.corpus)


def test_settings() -> None:
    """Case, tokens and order; all of them signed."""
    outputs = outputs_of_items([("The Fox", ["the fox"]), ("Dog.", ["a dog ."])])
    assert CIDErD().score(outputs).corpus == 0.0
    assert (
        CIDErD(lowercase=True, tokenize="13a", order=2).score(outputs).segments.min()
        > 1
    )
    signed = "cider-d|order:4|sigma:6|tok:words|lower:no|df:references|v:"
    assert str(CIDErD().signature()).startswith(signed)
    assert METRICS["cider-d"] is CIDErD
    assert CIDErD.missing() == ""


def test_bad_parameters() -> None:
    """Each with its reason."""
    for wrong in ({"sigma": 0.0}, {"sigma": math.nan}, {"order": 0}, {"tokenize": "x"}):
        with pytest.raises(UsageError):
            CIDErD(**wrong)  # type: ignore[arg-type]


def test_systems_in_one_file_score_as_each_alone() -> None:
    """Frequencies are counted once an item, however many systems answered it."""
    references = (
        ("a fox is quick", "the quick fox"),
        ("a dog is slow",),
        ("birds sing today",),
    )
    one = ("a fox is here", "the dog", "birds sing")
    other = ("no", "a dog is slow", "sing birds")
    alone = CIDErD().score(Outputs(ids=numbered(3), texts=one, references=references))
    for items in ((), ("1", "2", "3", "1", "2", "3")):
        both = Outputs(
            ids=numbered(6),
            texts=one + other,
            references=references * 2,
            systems=("A",) * 3 + ("B",) * 3,
            items=items,
        )
        assert_allclose(CIDErD().score(both).segments[:3], alone.segments)


@given(
    st.lists(
        st.tuples(st.sampled_from("xyz"), TEXT, st.lists(TEXT, min_size=1, max_size=2)),
        min_size=2,
        max_size=6,
    ),
    st.permutations(range(6)),
)
def test_an_item_is_all_its_rows_references(
    rows: list[tuple[str, str, list[str]]], order: list[int]
) -> None:
    """Rows of one item with other references: their union is the document, in any order."""

    def scored(
        rows: list[tuple[str, str, list[str]]], *, union: bool = False
    ) -> np.ndarray:
        union_of: dict[str, set[str]] = {}
        for item, _, many in rows:
            union_of.setdefault(item, set()).update(many)
        every = {item: sorted(references) for item, references in union_of.items()}
        if union:  # rows that nobody scores teach every item's references
            rows = [(item, "", many) for item, many in every.items()] + rows
        found = (
            CIDErD()
            .score(
                Outputs(
                    ids=numbered(len(rows)),
                    texts=tuple(text for _, text, _ in rows),
                    references=tuple(tuple(many) for _, _, many in rows),
                    items=tuple(item for item, _, _ in rows),
                )
            )
            .segments
        )
        return found[len(every) :] if union else found

    known = scored(rows)
    taught = scored(rows, union=True)
    moved = [i for i in order if i < len(rows)]
    assert_allclose(known, taught, atol=1e-12)
    assert_allclose(scored([rows[i] for i in moved]), known[moved], atol=1e-12)


def test_one_item_of_two_systems_has_no_score() -> None:
    """Nothing in a single item is rarer than anything else."""
    both = Outputs(
        ids=numbered(2),
        texts=("a", "b"),
        references=(("a b",),) * 2,
        systems=("A", "B"),
    )
    assert np.isnan(CIDErD().score(both).segments).all()
