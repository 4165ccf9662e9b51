"""Static embeddings: tables with a vector a token, as model2vec and WordLlama lay them out."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from command_line import jsonl, run
from refless.data.human import pool_of
from refless.data.records import Outputs, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.metrics.protocol import METRICS
from refless.registry.errors import InputError, UsageError
from refless.text.embed import BUILT_IN, Encoder
from refless.text.embed.loading import folder_of
from refless.text.embed.static import StaticTable, static_files, static_table
from refusals import bad_usage

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
safetensors = pytest.importorskip(
    "safetensors.numpy", reason="safetensors is not installed"
)

WORDS = ("[UNK]", "the", "fox", "dog")
TABLE = np.array([[9, 9], [3, 0], [0, 4], [-3, 4]], dtype=np.float32)
WHERE = {  # the table's and the tokenizer's place; what else the folder holds
    "model2vec": ("model", "tokenizer", "config.json", {"model_type": "model2vec"}),
    "sentence-transformers": (
        "0_StaticEmbedding/model",
        "0_StaticEmbedding/tokenizer",
        "modules.json",
        [
            {
                "type": "sentence_transformers.models.StaticEmbedding",
                "path": "0_StaticEmbedding",
            }
        ],
    ),
    "WordLlama": (
        "weights/l2_256",
        "tokenizers/l2_tokenizer_config",
        "config/x.json",
        {},
    ),
}


def word_level(words: tuple[str, ...] = WORDS) -> Any:
    """A tokenizer of whole words."""
    places = {word: i for i, word in enumerate(words)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(places, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return made


def saved(
    folder: Path, tensors: Any = None, tokenizer: Any = None, how: str = "model2vec"
) -> str:
    """A folder of static embeddings."""
    table, words, other, said = WHERE[how]
    name = "embeddings" if how == "model2vec" else "embedding.weight"
    for path in (table, words, other):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    kept = {name: TABLE} if tensors is None else tensors
    safetensors.save_file(kept, folder / f"{table}.safetensors")
    (tokenizer or word_level()).save(str(folder / f"{words}.json"))
    (folder / other).write_text(json.dumps(said))
    return str(folder)


@pytest.mark.parametrize("how", WHERE)
def test_a_sentence_is_the_mean_of_its_known_tokens(tmp_path: Path, how: str) -> None:
    """By hand, in three layouts: (3, 0) and (0, 4) have the direction (0.6, 0.8)."""
    folder = saved(tmp_path, how=how)
    found = Encoder(model=folder).sentences(
        ["The fox", "fox wolf the", "", "wolf", "the dog"]
    )
    wanted = [[0.6, 0.8], [0.6, 0.8], [0, 0], [0, 0], [0, 1]]
    assert_allclose(found, wanted, atol=1e-7)
    assert found.dtype == np.float32
    assert Encoder(model=folder).sentences([]).shape == (0, 2)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int8])
def test_kinds_of_numbers(tmp_path: Path, kind: Any) -> None:
    """The numbers count, not how many bytes they take."""
    folder = saved(tmp_path, {"embeddings": TABLE.astype(kind)})
    assert_allclose(Encoder(model=folder).sentences(["the fox"]), [[0.6, 0.8]])


def test_mapping_and_weights_of_model2vec(tmp_path: Path) -> None:
    """Four tokens share two rows; `the` counts 3 times (1, 0), `fox` 4 and `dog` 8 times (0, 1)."""
    tensors = {
        "embeddings": np.array([[0, 1], [1, 0]], dtype=np.float16),
        "mapping": np.array([0, 1, 0, 0]),
        "weights": np.array([1.0, 3.0, 4.0, 8.0]),
    }
    found = Encoder(model=saved(tmp_path, tensors)).sentences(
        ["the fox", "the the dog", "dog"]
    )
    assert_allclose(found, [[0.6, 0.8], [0.6, 0.8], [0, 1]], atol=1e-7)


def test_the_unknown_token_of_other_tokenizers(tmp_path: Path) -> None:
    """Unigram names its place; one without any has none."""
    scored = [("<?>", 0.0), ("a", -1.0), ("b", -1.0)]
    known = tokenizers.Tokenizer(tokenizers.models.Unigram(scored, unk_id=0))
    table = {"embeddings": np.array([[5, 5], [3, 0], [0, 4]], dtype=np.float32)}
    folder = saved(tmp_path / "unigram", table, known)
    assert_allclose(Encoder(model=folder).sentences(["axb"]), [[0.6, 0.8]])
    pairs = tokenizers.Tokenizer(tokenizers.models.BPE({"x": 0, "a": 1, "b": 2}, []))
    folder = saved(tmp_path / "bpe", table, pairs)
    assert_allclose(Encoder(model=folder).sentences(["ab"]), [[0.6, 0.8]])


def test_nothing_is_cut_or_padded(tmp_path: Path) -> None:
    """Whatever the tokenizer's file says; far more tokens than are added up at a time."""
    words = word_level()
    words.enable_truncation(2)
    words.enable_padding(pad_id=3, pad_token="dog", length=8)
    folder = saved(tmp_path, tokenizer=words)
    n = 2_048
    found = Encoder(model=folder).sentences(["the the fox", "the " * n + "fox " * n])
    assert_allclose(found, [[6 / 52**0.5, 4 / 52**0.5], [0.6, 0.8]], atol=1e-7)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Drawn vectors and weights of 16 dimensions for four tokens."""
    rng = np.random.default_rng(0)
    drawn = {"embeddings": rng.normal(size=(4, 16)), "weights": rng.uniform(size=4)}
    return saved(tmp_path_factory.mktemp("static"), drawn)


@settings(max_examples=40)
@given(
    texts=st.lists(
        st.lists(st.sampled_from([*WORDS, "wolf"])).map(" ".join), max_size=8
    )
)
def test_a_text_has_its_vector_alone_and_among_others(
    large: str, texts: list[str]
) -> None:
    """To the last bit, in any order; the same as added up token by token."""
    found = Encoder(model=large).sentences(texts)
    order = random.Random(0).sample(range(len(texts)), len(texts))
    again = Encoder(model=large).sentences([texts[i] for i in order])
    assert_array_equal(again, found[order])
    held = safetensors.load_file(Path(large) / "model.safetensors")
    for text, vector in zip(texts, found, strict=True):
        tokens = [WORDS.index(word) for word in text.split() if word in WORDS[1:]]
        total = sum(
            (held["embeddings"][i] * held["weights"][i] for i in tokens), np.zeros(16)
        )
        wanted = total / np.linalg.norm(total) if tokens else total
        assert_allclose(vector, wanted, atol=1e-6)


def test_neither_torch_nor_transformers_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two small libraries are, which every installation has."""
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    assert Encoder(model=saved(tmp_path)).sentences(["the fox"]).shape == (1, 2)


def test_the_signature_follows_table_and_tokenizer(tmp_path: Path) -> None:
    """Name, content of both files and pooling; no layer."""
    folder = saved(tmp_path / "mine")
    first = Encoder(model=folder).sentence_settings()
    assert (first["model"], first["pooling"], "layer" in first) == (
        "mine",
        "mean",
        False,
    )
    saved(tmp_path / "mine", {"embeddings": TABLE + 1})
    second = Encoder(model=folder).sentence_settings()
    assert_allclose(Encoder(model=folder).sentences(["the"]), [[4, 1] / np.sqrt(17)])
    saved(
        tmp_path / "mine",
        {"embeddings": TABLE + 1},
        word_level(("[UNK]", "fox", "the", "dog")),
    )
    third = Encoder(model=folder).sentence_settings()
    assert len({one["sha"] for one in (first, second, third)}) == 3
    with bad_usage("holds static embeddings, which have no layers"):
        Encoder(model=folder, layer=1).sentences(["the"])


def test_metrics_of_layers_refuse_them(tmp_path: Path) -> None:
    """BERTScore compares tokens in their contexts."""
    metric = METRICS["bertscore"](model=saved(tmp_path))
    with bad_usage(r"holds static embeddings; .*transformers is needed here"):
        metric.score(
            Outputs(ids=("1",), texts=("the fox",), references=(("the dog",),))
        )


DAMAGED: dict[str, dict[str, Any]] = {
    "no table": {"other": TABLE},
    "an encoder's": {"embeddings": TABLE, "encoder.layer.0": TABLE},
    "one axis": {"embeddings": TABLE[0]},
    "no rows": {"embeddings": TABLE[:0]},
    "whole numbers of eight bytes as weights of another length": {
        "embeddings": TABLE,
        "weights": np.ones(3),
    },
    "too few rows": {"embeddings": TABLE[:3]},
    "no number": {"embeddings": np.where(TABLE == 9, np.nan, TABLE)},
    "too large": {"embeddings": TABLE.astype(np.float64) * 1e39},
    "bytes": {"embeddings": TABLE.astype(np.uint8)},
    "mapping beyond": {"embeddings": TABLE, "mapping": np.array([0, 1, 2, 4])},
    "mapping below": {"embeddings": TABLE, "mapping": np.array([0, 1, 2, -1])},
    "mapping of fractions": {
        "embeddings": TABLE,
        "mapping": np.array([0.0, 1.0, 2.0, 3.0]),
    },
    "weights without end": {
        "embeddings": TABLE,
        "weights": np.array([1, 1, np.inf, 1]),
    },
}


def refused(folder: str) -> None:
    """One clear error, on one line, that names the folder."""
    with pytest.raises((InputError, UsageError)) as caught:
        Encoder(model=folder).sentences(["the fox"])
    assert "\n" not in str(caught.value)
    assert Path(folder).name in str(caught.value)


@pytest.mark.parametrize("what", DAMAGED)
def test_tables_that_are_none(tmp_path: Path, what: str) -> None:
    """Names, shapes, kinds and ranges of tensors."""
    refused(saved(tmp_path / "mine", DAMAGED[what]))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"\xff"),
        ("config.json", b"[]"),
        ("model.safetensors", b""),
        ("model.safetensors", b"\xff" * 99),
        ("model.safetensors", b"\x02\0\0\0\0\0\0\0{}"),
        ("other.safetensors", b""),
        ("tokenizer.json", b"{"),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", b'{"model": {"type": "WordLevel", "vocab": 5}}'),
        ("modules.json", b'[{"type": "sentence_transformers.models.Dense"}]'),
        ("modules.json", b"{}"),
    ],
)
def test_damaged_folders(tmp_path: Path, name: str, content: bytes) -> None:
    """Each part, damaged, or asking for more than a mean."""
    folder = saved(tmp_path / "mine")
    (tmp_path / "mine" / name).write_bytes(content)
    refused(folder)


def test_merges_dropped_at_random_are_refused(tmp_path: Path) -> None:
    """One text would have many vectors."""
    drawn = tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], dropout=0.5)
    folder = saved(tmp_path, {"embeddings": TABLE}, tokenizers.Tokenizer(drawn))
    with bad_usage(r"drops merges at random \(dropout\); set that to null"):
        Encoder(model=folder).sentences(["ab"])


def test_a_tokenizer_that_lacks_its_unknown_token(tmp_path: Path) -> None:
    """It reads texts of known words alone; the library's own error is no traceback."""
    folder = saved(
        tmp_path / "mine", tokenizer=word_level(("[unk]", "the", "fox", "dog"))
    )
    assert_allclose(Encoder(model=folder).sentences(["the fox"]), [[0.6, 0.8]])
    with bad_usage(r"mine' holds no embeddings that can be read: WordLevel"):
        Encoder(model=folder).sentences(["the wolf"])


def test_a_table_without_a_tokenizer(tmp_path: Path) -> None:
    """It is said, also where both are in folders of their own."""
    folder = saved(tmp_path / "mine", how="WordLlama")
    (tmp_path / "mine" / "tokenizers" / "l2_tokenizer_config.json").unlink()
    with bad_usage(r"has a table of vectors and no tokenizer\.json"):
        Encoder(model=folder).sentences(["the fox"])


def test_texts_without_known_tokens_are_judged(large: str, tmp_path: Path) -> None:
    """The process has an estimate with a deviation for them, fitted with some of them."""
    rng = np.random.default_rng(0)
    drawn = [" ".join(rng.choice([*WORDS[1:], "wolf"], 3)) for _ in range(80)]
    texts = [*drawn[:40], "wolf", "wolf wolf"]
    sources = [*drawn[40:], "wolf", "the"]
    ratings = [text.count("fox") / 3 for text in texts]
    pool = pool_of(texts, ratings, sources=sources)
    gp = GaussianProcess(encoder=large).fit(pool)
    for found in (
        gp.estimate(as_outputs(pool)),
        GaussianProcess(encoder=large).held_out(pool),
    ):
        assert np.isfinite(found.values).all()
        assert (found.sd > 0).all()
    signed = gp.signature()
    assert "meaning,source_meaning,relevance" in str(signed)
    assert (signed.get("pooling"), signed.get("layer")) == ("mean", None)
    assert signed.get("sha") == Encoder(model=large).sentence_settings()["sha"]
    columns = zip(texts, sources, ratings, strict=True)
    rows = [
        {"text": text, "source": source, "rating": rating}
        for text, source, rating in columns
    ]
    path = jsonl(tmp_path / "rated.jsonl", rows)
    ran = run(
        "validate", path, "--format", "json", "--estimator", f"gp:encoder={large}"
    )
    assert f"sha={signed.get('sha')}" in ran.json["signature"].replace(":", "=")


PARTS = st.sampled_from(
    ["the", "fox", "The", "42", ",", "é", "語", "\n", "", "<s>", "▁"]
)


@pytest.fixture(scope="module")
def built_in() -> StaticTable:
    """The table at hand."""
    folder = folder_of(BUILT_IN)
    files = static_files(folder)
    assert files is not None
    return static_table(folder, files)


@given(st.lists(st.lists(PARTS, max_size=8).map(" ".join) | st.text(max_size=12)))
@example(
    [
        "a" * 600,
        "dog " * 200,
        "  ",
        " ▁ x",
        "<unk> the",
        "\ud800éॐ語ꙮ\U00020000",
    ]
)
def test_the_table_at_hand_reads_texts_as_its_tokenizer_does(
    built_in: StaticTable, texts: list[str]
) -> None:
    """Bit for bit, in any order."""
    wanted = replace(built_in, pairs=None).totals(texts)
    assert_array_equal(built_in.totals(texts), wanted)
    assert_array_equal(built_in.totals(texts[::-1]), wanted[::-1])


def test_every_token_as_a_word_merges_as_by_its_tokenizer(
    built_in: StaticTable,
) -> None:
    """Those of all lengths and scripts; many become others."""
    tokenizer = tokenizers.Tokenizer.from_file(str(built_in.tokenizer))
    words = [*tokenizer.get_vocab()]
    wanted = replace(built_in, pairs=None).totals(words)
    assert_array_equal(built_in.totals(words), wanted)
