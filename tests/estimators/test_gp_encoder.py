"""The Gaussian process with an encoder: sentence vectors, their kernels, what they make it see."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from command_line import jsonl, run
from refless.data.human import pool_of
from refless.data.records import RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.estimators.gp.features import KernelInputs, inputs_of
from refless.estimators.gp.kernels import TEXT, WIDTH, learned
from refless.registry.arrays import FloatArray
from refless.stats.correlation import spearman
from refless.stats.scaling import NormalRanks
from refless.text.embed import BUILT_IN, Encoder, encoder
from refusals import bad_usage
from tiny_encoder import LAYERS, WORDS

TEXTS = ["the fox is quick", "a dog", "the fox is quick", "", "the dogs was slow ."]


def states(model: str, text: str, layer: int = LAYERS) -> FloatArray:
    """[tokens, dimensions] of one text, straight from transformers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    with torch.no_grad():
        read = tokenizer(text, return_tensors="pt")
        network = AutoModel.from_pretrained(model).eval()
        return np.asarray(
            network(**read, output_hidden_states=True).hidden_states[layer][0]
        )


def unit(vector: FloatArray) -> FloatArray:
    return vector / np.linalg.norm(vector)


def pooled(model: str, folder: Path, **said: Any) -> str:
    """A copy of the model that says how tokens' vectors become one."""
    shutil.copytree(model, folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))
    return str(folder)


@pytest.mark.parametrize("layer", [1, LAYERS])
def test_a_sentence_is_the_mean_of_its_tokens(model: str, layer: int) -> None:
    """All tokens, the model's own marks too, brought to length 1."""
    found = Encoder(model=model, layer=layer).sentences(TEXTS)
    wanted = [unit(states(model, text, layer).mean(axis=0)) for text in TEXTS]
    assert_allclose(found, wanted, atol=1e-6)
    assert Encoder(model=model).sentences([]).shape == (0, 16)


def test_the_model_says_how_to_pool(model: str, tmp_path: Path) -> None:
    """The first token's vector where it says so; another way is refused."""
    mean = pooled(
        model,
        tmp_path / "m",
        pooling_mode_mean_tokens=True,
        word_embedding_dimension=16,
    )
    assert_allclose(
        Encoder(model=mean).sentences(TEXTS),
        Encoder(model=model).sentences(TEXTS),
        atol=1e-6,
    )
    first = pooled(model, tmp_path / "c", pooling_mode_cls_token=True)
    wanted = [unit(states(model, text)[0]) for text in TEXTS]
    assert_allclose(Encoder(model=first).sentences(TEXTS), wanted, atol=1e-6)
    newer = pooled(model, tmp_path / "n", pooling_mode="cls", embedding_dimension=16)
    assert_allclose(
        Encoder(model=newer).sentences(TEXTS),
        Encoder(model=first).sentences(TEXTS),
        atol=1e-6,
    )
    last = pooled(model, tmp_path / "l", pooling_mode="lasttoken")
    with bad_usage("makes sentences by lasttoken"):
        Encoder(model=last).sentences(TEXTS)
    dense = pooled(model, tmp_path / "d", pooling_mode="mean")
    modules = [{"type": "sentence_transformers.models.Dense"}]
    (Path(dense) / "modules.json").write_text(json.dumps(modules))
    with bad_usage("makes sentences by Dense, mean"):
        Encoder(model=dense).sentences(TEXTS)
    other = pooled(model, tmp_path / "x", pooling_mode_max_tokens=True)
    with bad_usage(
        "makes sentences by pooling_mode_max_tokens; only by mean or cls",
    ):
        Encoder(model=other).sentences(TEXTS)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_long_texts_are_cut(model: str, tmp_path: Path, pooling: str) -> None:
    """Texts are cut after four tokens if the model says so, marks included; else after 24."""
    folder = pooled(model, tmp_path / "short", pooling_mode=pooling)
    (Path(folder) / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    cut, alike = Encoder(model=folder).sentences(["the fox is quick the", "the fox"])
    assert_array_equal(cut, alike)
    assert Encoder(model=folder).sentence_settings()["tokens"] == 4
    long, full = Encoder(model=model).sentences(["fox " * 60, "fox " * 22])
    assert_array_equal(long, full)
    assert Encoder(model=model).sentence_settings()["tokens"] == 24


def test_vectors_are_remembered_up_to_a_number(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same vectors from memory, of the last ones; progress ends at 1."""
    monkeypatch.setattr(encoder, "_SENTENCES", {})
    shares: list[float] = []
    first = Encoder(model=model).sentences(TEXTS, shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
    shares.clear()
    again = Encoder(model=model).sentences([*TEXTS, "slow"], shares.append)
    assert_array_equal(again[:-1], first)
    assert shares == [1.0]
    monkeypatch.setattr(encoder, "REMEMBERED", 3)
    Encoder(model=model).sentences(TEXTS)
    assert [len(known) for known in encoder._SENTENCES.values()] == [3]


def of(inputs: KernelInputs, name: str, i: int) -> FloatArray:
    return np.asarray(inputs.columns[name][i], dtype=np.float64)


def test_kernels_are_bells_over_distances(model: str) -> None:
    """Pair by pair; the width is the root mean square of the distances of all pairs."""
    texts = [" ".join(WORDS[i : i + 1 + i % 3]) for i in range(8)]
    sources = [" ".join(WORDS[i % 4 : i % 4 + 2]) for i in range(8)]
    inputs = inputs_of(texts, sources, encode=Encoder(model=model).sentences)
    names = ("meaning", "source_meaning", "relevance")
    kernels = [learned(name, inputs)[0] for name in names]
    points = [kernel.points(inputs) for kernel in kernels]
    found = [
        kernel.between(at, at[:3]) for kernel, at in zip(kernels, points, strict=True)
    ]
    for name, near in zip(names[:2], found[:2], strict=True):
        vectors = np.array([of(inputs, name, i) for i in range(8)])
        squares = np.square(vectors[:, None] - vectors[None]).sum(axis=2)
        wanted = np.exp(-0.5 * squares / squares.mean())[:, :3]
        assert_allclose(near, wanted, atol=1e-5)
    cosines = [
        of(inputs, "meaning", i) @ of(inputs, "source_meaning", i) for i in range(8)
    ]
    relevance = inputs.columns["relevance"]
    assert_allclose(relevance[:, 0], cosines, atol=1e-6)
    ranked = NormalRanks.of(relevance).mapped(relevance)[:, 0]
    gaps = np.subtract.outer(ranked, ranked[:3]) / WIDTH
    assert_allclose(found[2], np.exp(-0.5 * gaps**2), atol=1e-9)


def relevant(model: str, n: int) -> RatedPool:
    """Texts rated by their cosine with their source."""
    rng = np.random.default_rng(0)
    words = [word for word in WORDS if word.isalpha()]
    drawn = [" ".join(rng.choice(words, 3)) for _ in range(2 * n)]
    texts = drawn[:n]
    sources = drawn[n:]
    inputs = inputs_of(texts, sources, encode=Encoder(model=model).sentences)
    return pool_of(texts, inputs.columns["relevance"][:, 0].tolist(), sources=sources)


def test_relevance_is_seen(model: str) -> None:
    """The relation of texts to their sources, which no count of words tells."""
    pool = relevant(model, 160)
    rated = pool.take(np.arange(120))
    fresh = pool.take(np.arange(120, 160))
    with_model, without = (
        GaussianProcess(encoder=which).fit(rated) for which in (model, None)
    )
    seen, unseen = (
        one.estimate(as_outputs(fresh)).values for one in (with_model, without)
    )
    assert spearman(fresh.human, seen) > 0.95
    assert spearman(fresh.human, unseen) < 0.9
    held = with_model.held_out(rated).values
    assert spearman(rated.human, held) > 0.95
    again = pickle.loads(pickle.dumps(with_model.fit(rated)))
    assert_array_equal(again.estimate(as_outputs(fresh)).values, seen)


def test_without_sources_texts_alone_are_compared(model: str) -> None:
    """Neither sources nor relevance are among the kernels; the signature names the encoder."""
    pool = relevant(model, 30)
    signed = GaussianProcess(encoder=model, use_source=False).fit(pool).signature()
    assert signed.get("k") == ",".join((*TEXT, "meaning"))
    assert (signed.get("layer"), signed.get("pooling")) == (str(LAYERS), "mean")
    assert signed.get("sha") == Encoder(model=model).settings()["sha"]
    assert GaussianProcess(encoder=None).fit(pool).signature().get("sha") is None


def test_explanations(model: str) -> None:
    """Shares of rated texts sum to 1."""
    pool = relevant(model, 60)
    gp = GaussianProcess(encoder=model).fit(pool)
    found = gp.explain(take_one(pool, 0), hide=pool.ids[0])
    assert sum(neighbor.share for neighbor in found.neighbors) == pytest.approx(1.0)


def take_one(pool: RatedPool, row: int) -> Any:
    return as_outputs(pool.take(np.array([row])))


def test_a_table_of_vectors_is_there() -> None:
    """Without a download; it knows that words are near which share no letter."""
    pool = pool_of([f"text {i}" for i in range(12)], [*range(12)])
    signed = GaussianProcess().fit(pool).signature()
    assert (signed.get("model"), signed.get("sha")) == (BUILT_IN, "f102d53f152c")
    assert "meaning" in str(signed.get("k"))
    doctor, physician, bread = Encoder(model=BUILT_IN).sentences(
        ["doctor", "physician", "bread"]
    )
    assert doctor @ physician > 0.6 > 0.3 > doctor @ bread


def test_the_command_line_takes_an_encoder(model: str, tmp_path: Path) -> None:
    """In the specification, and in the signature of what is printed; a wrong one is named."""
    pool = relevant(model, 40)
    rows = zip(pool.texts, pool.sources, pool.human.tolist(), strict=True)
    jsonl(
        tmp_path / "rated.jsonl",
        [
            {"text": text, "source": source, "rating": rating}
            for text, source, rating in rows
        ],
    )
    flags = ("--format", "json", "--estimator")
    ran = run("validate", tmp_path / "rated.jsonl", *flags, f"gp:encoder={model}")
    assert "meaning,source_meaning,relevance" in ran.json["signature"]
    ran = run("validate", tmp_path / "rated.jsonl", *flags, "gp:encoder=nowhere")
    assert ran.refuses("'nowhere' is neither a folder nor in Hugging Face's cache")
