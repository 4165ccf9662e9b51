"""METEOR of a text (hypothesis) against its best reference: a metric, and a kernel.

Two implementations: METEOR 1.5 (Denkowski and Lavie 2014) in the jar that pycocoevalcap brings,
where Java is, and NLTK's METEOR, where WordNet is. They are different metrics; signatures tell
which one made a number.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from threading import Lock, Thread
from typing import Annotated, ClassVar, Literal, cast

import numpy as np

from refless.data.records import Outputs
from refless.metrics.kernels.dense import Dense, Rows
from refless.metrics.references.protocol import Scores, averaged, check_references
from refless.registry.arrays import FloatArray
from refless.registry.errors import MissingExtraError, RefLessError, UsageError
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__

Implementation = Literal["jar", "nltk"]
STATISTICS = 23  # numbers that the jar counts for a pair, all of them sums
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75  # METEOR 1.5's parameters for English
STAGES = np.array([1.0, 0.6, 0.8, 0.6])  # weights of exact, stem, synonym and paraphrase matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Meteor:
    """METEOR in [0, 1] against the best reference, or of an output with each rated text.

    METEOR 1.5's corpus score is made of the summed statistics of all outputs, as in coco-caption;
    NLTK's is the mean over outputs.

    Attributes:
        implementation: `jar` or `nltk`; None takes what is there, the jar first.
    """

    name: ClassVar[str] = "meteor"
    needs: ClassVar[tuple[str, ...]] = ("references",)
    default_tau: ClassVar[float] = 0.18

    implementation: Annotated[
        Implementation | None, About("which METEOR; none: what is there, the jar first")
    ] = None

    def __post_init__(self) -> None:
        check(self)

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs.

        Raises:
            InputError: an output without references, or references in another shape.
            MissingExtraError, UsageError: there is nothing that computes METEOR.
        """
        check_references(outputs)
        if implementation(self.implementation) == "nltk":
            return averaged(meteor(outputs.texts, outputs.references, "nltk"))
        counts = meteor_statistics(outputs.texts, outputs.references)
        return Scores(
            segments=meteor_score(counts),
            corpus=float(meteor_score(counts.sum(axis=0))),
            statistics=counts,
            combine=meteor_score,
        )

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts, each the only reference of an output; nothing is computed yet.

        Raises:
            MissingExtraError, UsageError: there is nothing that computes METEOR.
        """
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=texts, which=implementation(self.implementation)),
            parallel=False,  # one Java process answers
        )

    def settings(self) -> dict[str, object]:
        """Which METEOR."""
        if implementation(self.implementation) == "jar":
            return {"impl": "meteor-1.5", "lang": "en", "norm": True}
        return {"impl": f"nltk-{version('nltk')}", "tok": "words"}

    def signature(self) -> Signature:
        """Which METEOR, and its settings."""
        return Signature(self.name).plus(**self.settings(), v=__version__)

    @classmethod
    def missing(cls) -> str:
        """What to install; "" where METEOR runs."""
        try:
            implementation()
        except RefLessError as lacking:
            return str(lacking)
        return ""


def _rows(texts: Sequence[str], *, rated: Sequence[str], which: Implementation) -> Rows:
    def block(begin: int, end: int) -> FloatArray:
        pairs = list(product(texts[begin:end], rated))
        scores = meteor([text for text, _ in pairs], [[reference] for _, reference in pairs], which)
        return scores.reshape(end - begin, len(rated))

    return block


def implementation(wanted: Implementation | None = None) -> Implementation:
    """What computes METEOR here: the jar, else NLTK.

    Raises:
        MissingExtraError: neither package is installed.
        UsageError: a package is there, but not what it needs (Java, WordNet).
    """
    reasons: dict[Implementation, str] = {"jar": _jar_lacks(), "nltk": _nltk_lacks()}
    for name, reason in reasons.items():
        if not reason and wanted in {None, name}:
            return name
    asked = [reasons[wanted]] if wanted else list(reasons.values())
    if all(reason == "extra" for reason in asked):
        raise MissingExtraError("METEOR", "meteor")
    obstacles = "; ".join(reason for reason in asked if reason != "extra")
    raise UsageError(f"METEOR cannot run here: {obstacles}")


def _jar_lacks() -> str:
    if _jar() is None:
        return "extra"
    return "" if shutil.which("java") else "METEOR 1.5 needs Java (no 'java' on the PATH)"


def _jar() -> Path | None:
    package = find_spec("pycocoevalcap")
    if package is None or not package.submodule_search_locations:
        return None
    jar = Path(package.submodule_search_locations[0]) / "meteor" / "meteor-1.5.jar"
    return jar if jar.is_file() else None


def _nltk_lacks() -> str:
    if find_spec("nltk") is None:
        return "extra"
    from nltk.data import find

    for name in ("corpora/wordnet", "corpora/wordnet.zip"):
        try:
            find(name)
        except LookupError:
            continue
        return ""
    return "NLTK's METEOR needs WordNet (python -m nltk.downloader wordnet)"


def meteor_statistics(texts: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
    """[texts, 23] what METEOR 1.5 counts of each text against its best reference.

    Rows add up to the statistics of all texts together; `meteor_score` makes scores of them.
    """
    scores = _engine().ask(texts, references)
    whole = (scores[:, 20] == 1) & (scores[:, 21:23] == scores[:, 0:2]).all(axis=1)
    scores[whole, 20] = 0.0  # a text matched as a whole is not fragmented, alone or in a sum
    return scores


def meteor_score(statistics: FloatArray) -> FloatArray:
    """[...] METEOR 1.5 out of [..., 23] statistics or sums of them, in [0, 1]."""
    words, functions = statistics[..., 0:2], statistics[..., 2:4]
    stages = statistics[..., 4:20].reshape(*statistics.shape[:-1], 4, 4)
    content, function = stages[..., 0:2], stages[..., 2:4]
    matched = (STAGES[:, None] * (DELTA * content + (1 - DELTA) * function)).sum(axis=-2)
    of = DELTA * (words - functions) + (1 - DELTA) * functions
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = np.moveaxis(matched / of, -1, 0)
        mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        chunks, matches = statistics[..., 20], statistics[..., 21:23]
        fragments = chunks / matches.mean(axis=-1)
        score = mean * (1 - GAMMA * fragments**BETA)
    scores: FloatArray = np.nan_to_num(score, nan=0.0)  # no match, or no words at all
    return scores


@cache
def _engine() -> _Engine:
    implementation("jar")
    return _Engine(cast("Path", _jar()))


class _Engine:
    """The jar as a process that answers a line for a line; one for the whole program."""

    def __init__(self, jar: Path) -> None:
        self._process = subprocess.Popen(
            ["java", "-Xmx2G", "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"],
            cwd=jar.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lock = Lock()
        atexit.register(self._close)

    def ask(self, texts: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
        """Statistics of every text, in order."""
        out = np.empty((len(texts), STATISTICS))
        with self._lock:
            writer = Thread(target=self._write, args=(texts, references), daemon=True)
            writer.start()
            for i in range(len(texts)):
                line = (self._process.stdout.readline() if self._process.stdout else b"").split()
                if len(line) != STATISTICS:
                    raise UsageError(
                        f"METEOR's Java program stopped at text {i + 1} of {len(texts)}; does "
                        "'java -version' work, and is there 2 GB of memory?"
                    )
                out[i] = np.array(line, dtype=np.float64)
            writer.join()
        return out

    def _write(self, texts: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        if self._process.stdin is None:
            return
        try:
            for text, reference in zip(texts, references, strict=True):
                parts = ("SCORE", *map(_plain, reference), _plain(text))
                line = " ||| ".join(parts) + "\n"
                self._process.stdin.write(line.encode("utf-8", "replace"))
            self._process.stdin.flush()
        except BrokenPipeError:  # the reader tells what happened
            return

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.kill()
        self._process.wait()


def _plain(text: str) -> str:
    """The text on one line, without the separator of the protocol."""
    return " ".join(text.replace("|||", " ").split())


def meteor(
    texts: Sequence[str], references: Sequence[Sequence[str]], which: Implementation
) -> FloatArray:
    """[texts] METEOR in [0, 1] of each text against its best reference; NLTK's splits at blanks."""
    if which == "jar":
        return meteor_score(meteor_statistics(texts, references))
    from nltk.translate.meteor_score import meteor_score as nltk_score

    scores = [
        nltk_score([reference.split() for reference in many], text.split())
        for text, many in zip(texts, references, strict=True)
    ]
    return np.array(scores, dtype=np.float64)
