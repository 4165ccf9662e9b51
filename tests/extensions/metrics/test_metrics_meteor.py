"""METEOR, as a metric and as a kernel: the jar, and its arithmetic."""

import random
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from published import dialogues
from refless.data.records import Outputs, numbered
from refless.estimators.neighbors import BLEUNeighbors
from refless.extensions.metrics.meteor import METEOR
from refless.metrics import meteor as arithmetic
from refless.metrics.kernels import KERNELS
from refless.metrics.meteor import Meteor, jar, meteor_score, meteor_statistics
from refless.metrics.protocol import METRICS
from refless.registry.errors import MissingExtraError, RefLessError
from refusals import bad_usage

VOCABULARY = "the a dog dogs runs run quick fast is was , . It's"
ODD = [
    "",
    " ",
    "|||",
    "a ||| b",
    "zwei Füchse\nlaufen",
    "\ud83d",
    "...",
    "don't (stop)!",
]


@pytest.fixture(scope="module")
def _jar() -> None:
    """Skips without Java and pycocoevalcap."""
    try:
        jar()
    except RefLessError as lacking:
        pytest.skip(str(lacking))


def some_items(n: int) -> Outputs:
    """Random sentences with one to three references; every fifth output is one of them."""
    rng = random.Random(0)

    def sentence() -> str:
        return " ".join(rng.choices(VOCABULARY.split(), k=rng.randint(1, 12)))

    counts = [rng.randint(1, 3) for _ in range(n)]
    known = [tuple(islice(iter(sentence, None), count)) for count in counts]
    texts = [many[-1] if i % 5 == 0 else sentence() for i, many in enumerate(known)]
    return Outputs(ids=numbered(n), texts=tuple(texts), references=tuple(known))


@pytest.mark.usefixtures("_jar")
def test_the_jar_is_coco_captions() -> None:
    """pycocoevalcap's Meteor: segments, and the corpus score out of our sums."""
    meteor = pytest.importorskip(
        "pycocoevalcap.meteor.meteor", reason="no pycocoevalcap"
    )
    outputs = some_items(60)
    peer = meteor.Meteor()
    peer.meteor_p.stderr.close()
    known = {i: list(many) for i, many in enumerate(outputs.references)}
    corpus, each = peer.compute_score(
        known, {i: [x] for i, x in enumerate(outputs.texts)}
    )
    found = METEOR().score(outputs)
    assert found.segments == pytest.approx(each, abs=1e-9)
    assert found.corpus == pytest.approx(corpus, abs=1e-9)
    peer.meteor_p.stdin.close()
    peer.meteor_p.wait()
    peer.meteor_p.stdout.close()
    halves = found.statistics[:30].sum(axis=0), found.statistics[30:].sum(axis=0)
    assert float(found.combine(halves[0] + halves[1])) == pytest.approx(
        corpus, abs=1e-9
    )


def test_the_score_by_hand() -> None:
    """ "the fox is quick ." against "the dog was quick .": the, quick, is/was match.

    Statistics as the jar prints them: 5 and 4 words, 3 and 2 of them function words; exact: 1
    content, 1 function word; synonyms: 1 content word; 1 chunk over 3 words. P = 1.6 / 2.25,
    R = 1.6 / 2, F = PR / (0.85 P + 0.15 R), times 1 - 0.6 (1/3)^0.2 = 0.40705.
    """
    counts = [*map(float, "54321111000011000000133")]
    assert meteor_score(np.array(counts)) == pytest.approx(0.4070518285694128)
    assert meteor_score(np.zeros((2, 23))).tolist() == [0.0, 0.0]


@pytest.mark.usefixtures("_jar")
@settings(max_examples=10)
@given(st.lists(st.text(max_size=12) | st.sampled_from(ODD), min_size=1, max_size=6))
def test_no_text_stops_the_jar(texts: list[str]) -> None:
    """Line breaks, separators and lone surrogates keep questions and answers in step."""
    found = meteor_score(
        meteor_statistics([*texts, "a fox"], [[x, "b"] for x in [*texts, "a fox"]])
    )
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()
    assert found[-1] == 1.0


@pytest.mark.usefixtures("_jar")
def test_dailydialog() -> None:
    """11.5 and 10.8 over all 6,740 contexts (FACTS, A Cautionary Tale 1)."""
    hred = METEOR().score(dialogues("hred")).corpus
    fixed = METEOR().score(dialogues("where do you want to go ?")).corpus
    assert 100 * hred == pytest.approx(11.5, abs=0.1)
    assert 100 * fixed == pytest.approx(10.8, abs=0.1)


@pytest.mark.usefixtures("_jar")
def test_the_kernel() -> None:
    """The output is the candidate, the rated text the reference; tau 0.18."""
    rated = ["the quick dog runs .", "a man", "the cat was fast"]
    outputs = ["the dog runs", "a quick man was fast"]
    found = Meteor().prepare(rated).similarities(outputs)
    for i, text in enumerate(outputs):
        known = Outputs(
            ids=numbered(3), texts=(text,) * 3, references=tuple((s,) for s in rated)
        )
        assert found[i] == pytest.approx(METEOR().score(known).segments)
    model = BLEUNeighbors(kernel="meteor", min_neighbors=1).fit(rated, [1.0, 2.0, 3.0])
    assert model.threshold == 0.18
    assert "|kernel:meteor|impl:meteor-1.5|lang:en|norm:yes|tau:0.18|" in str(
        model.signature()
    )
    assert model.estimate(["the quick dog runs"]).values[0] == 1.0


def test_without_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """pycocoevalcap has the jar."""
    monkeypatch.setattr(arithmetic, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"'\.\[meteor\]'"):
        METEOR().score(some_items(1))
    assert "'.[meteor]'" in METEOR.missing()


@pytest.mark.usefixtures("_jar")
def test_without_java_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The jar is there, and nothing that runs it."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    with bad_usage("METEOR cannot run here: it needs Java"):
        Meteor().prepare(["a text"])


def test_names() -> None:
    """Both the metric and the kernel."""
    assert METRICS["meteor"] is METEOR
    assert KERNELS["meteor"] is Meteor
