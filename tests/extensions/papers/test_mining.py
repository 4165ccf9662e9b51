"""Reference mining: the formula, determinism, the way to raters and back."""

import json
import random
import sys
from itertools import chain, product

import numpy as np
import pytest

from command_line import run
from refless.data.records import Outputs
from refless.extensions.metrics.delta import DeltaBLEU
from refless.extensions.papers.mining import (
    Candidate,
    MessageTriple,
    for_raters,
    mine,
    weight_of,
    weighted,
)
from refless.registry.errors import InputError, MissingExtraError
from refusals import bad_input, bad_usage
from rows import read_jsonl

WORDS = ["how", "are", "you", "fine", "thanks", "rain", "sun", "laps", "five", "more"]


def triples(n, seed):
    """n random triples of short texts."""
    rng = random.Random(seed)

    def text():
        return " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))

    return [
        MessageTriple(id=f"t{i}", context=text(), message=text(), response=text())
        for i in range(n)
    ]


def bm25(texts, query, k1=1.5, b=0.75):
    """Lucene's BM25 by hand: idf = ln(1 + (N - df + 0.5) / (df + 0.5))."""
    split = [text.split() for text in texts]
    mean = np.mean([len(tokens) for tokens in split])
    scores = np.zeros(len(texts))
    for token in query.split():
        df = sum(token in tokens for tokens in split)
        idf = np.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        for i, tokens in enumerate(split):
            count = tokens.count(token)
            scores[i] += idf * count / (count + k1 * (1 - b + b * len(tokens) / mean))
    return scores


def test_scores_follow_the_formula() -> None:
    """Sordoni et al. (2015): d(message) (alpha d(response) + (1 - alpha) epsilon), d = BM25."""
    corpus = triples(40, 1)
    seed = MessageTriple(
        id="s", context="c", message="how are you", response="fine thanks"
    )
    messages = bm25([t.message for t in corpus], seed.message)
    responses = bm25([t.response for t in corpus], seed.response)
    scores = messages * (0.5 * responses + 0.5 * 0.1)
    got = mine([seed], corpus, 5, "words")
    mined = [c for c in got if c.kind == "mined"]
    score = {t.id: s for t, s in zip(corpus, scores, strict=True)}
    expected = sorted(scores, reverse=True)[:5]
    assert [score[c.origin] for c in mined] == pytest.approx(expected, rel=1e-5)


def test_shape_of_what_is_mined() -> None:
    """The seed's own response, up to 15 others, no text twice, and the message parroted back."""
    corpus = triples(200, 2)
    got = mine(corpus[:3], corpus)
    for seed in corpus[:3]:
        own = [c for c in got if c.item == seed.id]
        assert (own[0].kind, own[0].response) == ("original", seed.response)
        assert (own[-1].kind, own[-1].response) == ("parrot", seed.message)
        assert [c.kind for c in own[1:-1]] == ["mined"] * 15
        assert len({c.response for c in own}) == len(own)
        assert {(c.context, c.message) for c in own} == {(seed.context, seed.message)}


def test_nothing_alike_mines_nothing() -> None:
    """A message that shares no word has its own response and the parrot only; nothing fails."""
    seed = MessageTriple(id="s", context="", message="zebra", response="zoo")
    got = mine([seed], triples(5, 3))
    assert [c.kind for c in got] == ["original", "parrot"]
    empty = [MessageTriple(id="e", context="", message="", response="")]
    assert [c.kind for c in mine([seed], empty)] == ["original", "parrot"]
    with pytest.raises(InputError):
        mine([], triples(5, 3))


def test_parameters_are_checked() -> None:
    """Negative counts are refused."""
    with bad_usage("n must be 0 or more"):
        mine(triples(2, 1), triples(5, 1), -1)


def test_weights_of_ratings() -> None:
    """(r - 3) / 2 on 1..5, ends at -1 and +1 on any scale."""
    assert [weight_of(r) for r in (1, 2, 3, 4, 5)] == [-1, -0.5, 0, 0.5, 1]
    assert [weight_of(r, (0, 100)) for r in (0, 50, 100)] == [-1, 0, 1]
    with bad_input("rating 6 is outside 1 to 5"):
        weight_of(6)


def test_raters_order_hides_origins() -> None:
    """Ids count the shuffled rows; the order depends on the seed and on nothing else."""
    corpus = triples(60, 5)
    found = mine(corpus[:4], corpus)
    out = for_raters(found, 1)
    assert [c.id for c in out] == [str(i) for i in range(1, len(found) + 1)]
    assert for_raters(found[::-1], 1) == out
    assert for_raters(found, 2) != out
    kinds = [c.kind for c in out]
    assert kinds != sorted(kinds)


def test_back_as_weighted_references() -> None:
    """The original first, then by weight; unrated ones are left out; unknown ids are an error."""
    found = [
        Candidate(
            id=str(i), item="s", context="c", message="m", response=text, kind=kind
        )
        for i, (text, kind) in enumerate(
            [("bad", "mined"), ("own", "original"), ("good", "mined"), ("m", "parrot")]
        )
    ]
    (row,) = weighted(found, {"0": 1, "1": 4, "2": 5})
    assert row.references == ("own", "good", "bad")
    assert row.weights == (0.5, 1, -1)
    outputs = Outputs(
        ids=("s",),
        texts=("good",),
        references=(row.references,),
        weights=(row.weights,),
    )
    assert DeltaBLEU(order=1).score(outputs).corpus == pytest.approx(100)
    with bad_input("'9' was rated but is not in the key"):
        weighted(found, {"9": 3})


def refless(*arguments, status=0):
    """The command, with the exit status that it has to have."""
    ran = run("mine", *arguments)
    assert ran.code == status, ran.err
    return ran


def rows_of(path):
    """The objects of a JSONL file."""
    return read_jsonl(path.read_text("utf-8"))


def test_command_goes_out_and_back(tmp_path) -> None:
    """Seeds by rating, files for raters without origins, ratings back as weights."""
    corpus = triples(50, 6)
    lines = [
        {"id": t.id, "context": t.context, "message": t.message, "response": t.response}
        for t in corpus
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    rated = [{**line, "rating": 5 if i % 2 else 2} for i, line in enumerate(lines[:6])]
    (tmp_path / "seeds.jsonl").write_text("\n".join(map(json.dumps, rated)), "utf-8")
    flags = ["--seeds", tmp_path / "seeds.jsonl", "--min-rating", 4, "-n", 3]
    ran = refless(tmp_path / "corpus.jsonl", *flags, "--out-dir", tmp_path)
    assert "3 of 6 triples have a mean rating of at least 4" in ran.err
    raters = rows_of(tmp_path / "raters.jsonl")
    assert {*chain.from_iterable(raters)} == {
        "id",
        "context",
        "message",
        "response",
    }
    assert len(rows_of(tmp_path / "key.jsonl")) == len(raters)

    back = [
        {**row, "annotator": name, "rating": 1 + (int(row["id"]) + k) % 5}
        for (k, name), row in product(enumerate("xyz"), raters)
    ]
    (tmp_path / "back.jsonl").write_text("\n".join(map(json.dumps, back)), "utf-8")
    ran = refless("--ratings", tmp_path / "back.jsonl", "--out-dir", tmp_path)
    found = rows_of(tmp_path / "references.jsonl")
    assert [row["item"] for row in found] == ["t1", "t3", "t5"]
    assert all(np.abs(row["weights"]).max() <= 1 for row in found)
    assert sum(len(row["references"]) for row in found) == len(raters)
    assert found[0]["references"][0] == corpus[1].response
    assert "0 responses were not rated" in ran.line

    second = ("--ratings", tmp_path / "back.jsonl", "--out-dir", tmp_path)
    ran = refless(*second, "--read", "max-bytes=99", status=2)
    assert "back.jsonl" in ran.err
    assert "--read max-bytes" in ran.err
    flags += ["--out-dir", tmp_path, "--read", "max-bytes=99"]
    assert "seeds.jsonl" in refless(tmp_path / "corpus.jsonl", *flags, status=2).err

    back[0]["response"] += " changed"
    (tmp_path / "back.jsonl").write_text(json.dumps(back[0]), "utf-8")
    ran = refless("--ratings", tmp_path / "back.jsonl", "--out-dir", tmp_path, status=2)
    assert "has another response than in the key" in ran.err


def test_command_misuse(tmp_path) -> None:
    """Missing halves of the two steps are told."""
    assert "no folder" in refless("--out-dir", tmp_path / "no", status=2).err
    assert "FILE and --seeds" in refless("--out-dir", tmp_path, status=2).err
    no_bytes = ["x", "--seeds", "y", "--read", "max-bytes=0", "--out-dir", tmp_path]
    assert "--read max-bytes must be 1 or more" in refless(*no_bytes, status=2).err
    both = ["x", "--ratings", "y", "--out-dir", tmp_path]
    assert "second step" in refless(*both, status=2).err


def test_without_bm25s_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else in refless needs it."""
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(
        MissingExtraError, match=r"Mining needs an extra: .*'\.\[papers\]'"
    ):
        mine(triples(1, 0), triples(9, 1), 5, "words")
