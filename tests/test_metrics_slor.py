"""SLOR and WP-SLOR: fluency by a language model, without references."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import jsonl, rated_rows, run
from refless.data.records import Outputs, numbered
from refless.metrics.references import METRICS, metric_of
from refless.metrics.references.slor import SLOR
from refless.registry.errors import InputError, UsageError
from refless.text.embed import LanguageModel
from tiny_encoder import tiny_encoder
from tiny_language_model import tiny_language_model

TEXTS = ("the fox is quick .", "fox the the", "", "a dog was slow . the dog is a fox .")
TOKENS = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(-20, 0)), max_size=6),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny language model."""
    return tiny_language_model(tmp_path_factory.mktemp("models") / "tiny")


def outputs(*texts: str, **more: object) -> Outputs:
    return Outputs(ids=numbered(len(texts)), texts=texts, **more)  # type: ignore[arg-type]


def by_token(folder: str, ids: list[int]) -> list[float]:
    """The slow twin: ln p of each token after the mark of the beginning, one pass a token."""
    import torch
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(folder).eval()
    found = []
    for i in range(1, len(ids)):
        with torch.inference_mode():
            logits = network(torch.tensor([ids[:i]])).logits[0, -1].double()
        found.append(float(torch.log_softmax(logits, dim=0)[ids[i]]))
    return found


def test_by_hand() -> None:
    """Two texts of known tokens: a is 3 of 4 tokens, b 1 of 4."""
    scored = outputs(
        "a a", "a b", tokens=(("a", "a"), ("a", "b")), logprobs=((-1.0, -2.0), (-0.5, -3.0))
    )
    found = SLOR().score(scored).segments
    a, b = math.log(3 / 4), math.log(1 / 4)
    assert found == pytest.approx([(-1 - 2 - 2 * a) / 2, (-0.5 - 3 - a - b) / 2], abs=1e-12)


def test_each_token_as_one_by_one(model: str) -> None:
    """The log-probabilities are those that a pass for each token gives."""
    mark = 1
    for ids, known in LanguageModel(model=model).logprobs(TEXTS):
        assert known == pytest.approx(by_token(model, [mark, *ids.tolist()]), abs=1e-4)
    [(ids, _), *_] = LanguageModel(model=model).logprobs(["the fox zebra"])
    assert ids.tolist() == [2, 4, 0]


def test_a_long_text_in_windows(tmp_path: Path, model: str) -> None:
    """As long a past as half a window is left to every token, and no token is lost or doubled."""
    short = tiny_language_model(tmp_path / "short", positions=6)
    text = " ".join(["the fox is quick . a dog was slow ."] * 3)
    [(ids, known)] = LanguageModel(model=short).logprobs([text])
    read = [1, *ids.tolist()]
    assert len(known) == len(ids) == 30
    for place in range(1, len(read)):
        window = max(0, -(-(place - 5) // 3)) * 3
        assert known[place - 1] == pytest.approx(
            by_token(short, read[window : place + 1])[-1], abs=1e-4
        )


def test_without_a_mark_the_first_token_does_not_count(tmp_path: Path) -> None:
    """Nothing says how probable it is."""
    bare = tiny_language_model(tmp_path / "bare", marked=False)
    [(ids, known), (none, _)] = LanguageModel(model=bare).logprobs(["the fox is", "fox"])
    assert ids.tolist() == [4, 6]
    assert known == pytest.approx(by_token(bare, [2, 4, 6]), abs=1e-4)
    assert len(none) == 0


def test_tokens_are_counted_in_a_corpus(model: str, tmp_path: Path) -> None:
    """One is added to each count; the vocabulary has 11 tokens."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the the fox\nthe dog\n", encoding="utf-8")
    scored = outputs("the slow")
    found = SLOR(model=model, corpus=str(corpus)).score(scored).segments
    [(_, known)] = LanguageModel(model=model).logprobs(["the slow"])
    alone = [math.log(4 / 16), math.log(1 / 16)]
    assert found[0] == pytest.approx(np.mean(known - alone))
    assert "counts:corpus.txt" in str(SLOR(model=model, corpus=str(corpus)).signature())
    assert "counts:outputs" in str(SLOR(model=model).signature())


def test_a_text_without_tokens_has_no_score(model: str) -> None:
    """NaN, and it does not count in the mean."""
    found = SLOR(model=model).score(outputs(*TEXTS))
    assert np.isnan(found.segments).tolist() == [False, False, True, False]
    assert found.corpus == pytest.approx(np.nanmean(found.segments))


@given(rows=TOKENS, seed=st.integers(0, 9))
def test_the_order_of_outputs_changes_nothing(
    rows: list[list[tuple[str, float]]], seed: int
) -> None:
    """Nor does their number of copies change one text beside another of the same tokens."""
    order = np.random.default_rng(seed).permutation(len(rows))
    tokens = [tuple(token for token, _ in row) for row in rows]
    known = [tuple(value for _, value in row) for row in rows]
    scored = outputs(*map(" ".join, tokens), tokens=tuple(tokens), logprobs=tuple(known))
    found, again = (SLOR().score(one) for one in (scored, scored.take(order)))
    assert np.array_equal(found.segments[order], again.segments, equal_nan=True)
    assert np.array_equal([found.corpus], [again.corpus], equal_nan=True)


def test_an_encoder_is_no_language_model(tmp_path: Path) -> None:
    """A BERT's tokens see later ones; a corpus needs a model."""
    with pytest.raises(
        UsageError, match=r"tokens see those that come later|holds no language model"
    ):
        SLOR(model=tiny_encoder(tmp_path / "bert")).score(outputs("the fox"))
    with pytest.raises(UsageError, match="needs a model"):
        metric_of("slor:corpus=x.txt")
    with pytest.raises(InputError, match="--column logprobs"):
        SLOR().score(outputs("the fox"))
    assert METRICS["slor"] is SLOR


def spoken(*known: float, text: str = "a b") -> dict[str, object]:
    tokens = [{"token": t, "logprob": p} for t, p in zip(text.split(), known, strict=True)]
    return {"text": text, "logprobs": {"content": tokens}}


def test_columns_of_a_file(tmp_path: Path) -> None:
    """Objects of chat services, numbers beside tokens, and JSON in cells of CSV."""
    objects = jsonl(tmp_path / "o.jsonl", [spoken(-1, -2), spoken(-3, 0, text="b b")])
    ran = run(
        "metric", objects, "-m", "slor", "--column", "logprobs=logprobs.content", "--format=json"
    )
    first = json.loads(ran.out)
    flat = tmp_path / "o.csv"
    flat.write_text('text,p,t\na b,"[-1, -2]","[""a"", ""b""]"\nb b,"[-3, 0]","[""b"", ""b""]"\n')
    ran = run(
        "metric",
        str(flat),
        "-m",
        "slor",
        "--column=logprobs=p",
        "--column=tokens=t",
        "--format=json",
    )
    second = json.loads(ran.out)
    assert first["items"] == second["items"]
    assert first["items"][1]["scores"]["slor"] == pytest.approx(-1.5 - math.log(3 / 4))


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ([{"token": "a", "logprob": 0.3}], "0.3 is no log-probability"),
        ([{"token": "a"}], "None is no log-probability"),
        ([-1.0], "tokens"),
        ("no list", "tokens"),
    ],
)
def test_columns_that_hold_something_else(tmp_path: Path, cell: object, found: str) -> None:
    """The line and the column are named."""
    rows = jsonl(tmp_path / "o.jsonl", [{"text": "a", "p": cell}])
    ran = run("metric", rows, "-m", "slor", "--column", "logprobs=p")
    assert (ran.code, "o.jsonl, line 1, column 'p'" in ran.err) == (2, True)
    assert found in ran.err


def test_beside_people(model: str, tmp_path: Path) -> None:
    """`judge` says whether it agrees with them."""
    rated = jsonl(tmp_path / "r.jsonl", rated_rows())
    ran = run("judge", rated, "-m", f"slor:model={model}", "--format", "json")
    assert ran.code == 0
    assert "slor" in ran.out
