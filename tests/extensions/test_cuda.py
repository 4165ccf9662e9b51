"""A graphics card gives what the processor does; skipped where there is none."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("torch finds no graphics card", allow_module_level=True)

from numpy.testing import assert_allclose, assert_array_equal

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, as_outputs, numbered
from refless.estimators.gp import GaussianProcess
from refless.estimators.saved import load, save
from refless.extensions.metrics.bertscore import BERTScore
from refless.extensions.ratpred.estimator import RatPred
from refless.extensions.ratpred.model import model_in
from refless.metrics.bertscore import BertScore
from refless.text.embed import Encoder
from refusals import bad_usage
from tiny_encoder import LAYERS, WORDS

CLOSE = {"rtol": 0, "atol": 1e-5}
SMALL = {"embedding": 48, "hidden": 64, "epochs": 3, "synthetic_epochs": 1}


def texts(n: int, *, seed: int = 0) -> list[str]:
    """Texts of one to twelve words."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 13, size=n)
    return [" ".join(rng.choice(WORDS[:8], length)) for length in lengths]


def rated_texts(n: int = 60) -> RatedPool:
    """Texts rated by their length, and chance."""
    rng = np.random.default_rng(1)
    some = texts(n)
    ratings = [min(5.0, len(text) / 10) + rng.random() for text in some]
    return pool_of(some, ratings)


@pytest.mark.parametrize("layer", [0, 1, LAYERS])
def test_vectors_of_tokens(model: str, layer: int) -> None:
    """In float32, in several batches; two runs are equal."""
    some = texts(6_000)
    cpu = Encoder(model=model, layer=layer, device="cpu").embed(some)
    card = Encoder(model=model, layer=layer, device="cuda")
    found = card.embed(some)
    assert_allclose(
        found.vectors,
        cpu.vectors,
        **CLOSE,
    )
    assert_array_equal(
        found.vectors,
        card.embed(some).vectors,
    )


def test_vectors_of_sentences(model: str) -> None:
    """In float32 alike, in bfloat16 to two digits; no signature is another's."""
    some = texts(6_000, seed=2)
    cpu = Encoder(model=model, device="cpu")
    card = Encoder(model=model, device="cuda")
    half = Encoder(model=model, device="cuda", precision="bfloat16")
    wanted = cpu.sentences(some)
    assert_allclose(
        card.sentences(some),
        wanted,
        **CLOSE,
    )
    assert_allclose(
        half.sentences(some),
        wanted,
        atol=0.03,
    )
    assert card.sentence_settings() == {**cpu.sentence_settings(), "device": "cuda"}
    assert half.settings() == {**card.settings(), "precision": "bfloat16"}


def test_auto_takes_the_card(model: str) -> None:
    """The signature says so."""
    assert Encoder(model=model).settings()["device"] == "cuda"


def test_words_without_a_vector(model: str) -> None:
    """They are refused before they reach the card, which goes on working."""
    from refless.text.embed.encoder import _hidden
    from refless.text.embed.loading import network_of

    network = network_of(model, LAYERS, "cuda", "float32")
    with bad_usage("it has words without a vector"):
        _hidden(network, [[1, 99_999]], 0, LAYERS)
    assert Encoder(model=model, device="cuda").embed(["the fox"]).vectors.any()


def test_bertscore_as_a_kernel(model: str) -> None:
    """All pairs of 300 outputs and 200 rated texts; two runs are equal."""
    rated = texts(200, seed=3)
    outputs = [*texts(300, seed=4), "", "the zebra"]
    wanted = BertScore(model=model, device="cpu").prepare(rated).similarities(outputs)
    card = BertScore(model=model, device="cuda").prepare(rated)
    found = card.similarities(outputs)
    assert_allclose(
        found,
        wanted,
        **CLOSE,
    )
    assert_array_equal(
        found,
        card.similarities(outputs),
    )


def test_bertscore_with_references(model: str) -> None:
    """The metric too."""
    outputs = Outputs(
        ids=numbered(40),
        texts=tuple(texts(40, seed=5)),
        references=tuple((one,) for one in texts(40, seed=6)),
    )
    scores = [
        BERTScore(model=model, device=device).score(outputs)
        for device in ("cpu", "cuda")
    ]
    assert_allclose(
        scores[0].segments,
        scores[1].segments,
        **CLOSE,
    )


def test_the_gaussian_process(model: str, tmp_path: Path) -> None:
    """Its estimates, with amplitudes chosen anew, and from a file."""
    pool = rated_texts()
    asked = texts(50, seed=7)
    cpu = GaussianProcess(encoder=model, device="cpu").fit(pool)
    card = GaussianProcess(encoder=model, device="cuda").fit(pool)
    found = card.predict(asked)
    assert_allclose(
        found,
        cpu.predict(asked),
        atol=1e-3,
    )
    assert card.signature().get("device") == "cuda"
    save(
        card,
        tmp_path / "gp.safetensors",
    )
    again = load(tmp_path / "gp.safetensors")
    assert_allclose(
        again.predict(asked),
        found,
        atol=1e-9,
    )


def test_ratpred(tmp_path: Path) -> None:
    """It predicts where it was trained, from a file too; the same weights say the same."""
    pool = rated_texts(200)
    asked = as_outputs(pool)
    card = RatPred(**SMALL, device="cuda").fit(pool)
    assert card.trained.networks[0].device == "cuda"
    assert card.signature().get("device") == "cuda"
    found = card.predict(asked)
    assert_array_equal(found, RatPred(**SMALL, device="cuda").fit(pool).predict(asked))
    save(
        card,
        tmp_path / "net.safetensors",
    )
    opened = load(tmp_path / "net.safetensors")
    assert opened.trained.networks[0].device == "cuda"
    assert_array_equal(
        opened.predict(asked),
        found,
    )


def test_ratpred_on_either_device() -> None:
    """Equal weights say the same on both."""
    trained = RatPred(**SMALL, device="cuda").fit(rated_texts(200)).trained
    described = trained.described()
    about = dict(trained.about, signature="ratpred")
    moved = model_in({**described, "about": about}, trained.weights())
    assert moved.networks[0].device == "cpu"
    pairs = trained.reader.pairs((), texts(3_000, seed=8))
    assert_allclose(
        trained.predict(pairs),
        moved.predict(pairs),
        **CLOSE,
    )
