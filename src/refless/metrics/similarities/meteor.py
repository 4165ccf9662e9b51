"""METEOR of a text (hypothesis) against its best reference.

Two implementations: METEOR 1.5 (Denkowski and Lavie 2014) in the jar that pycocoevalcap brings,
where Java is, and NLTK's METEOR, where WordNet is. They are different metrics; signatures tell
which one made a number.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from typing import Literal

import numpy as np

from refless.registry.arrays import FloatArray
from refless.registry.errors import MissingExtraError, UsageError

Implementation = Literal["jar", "nltk"]
STATISTICS = 23  # numbers that the jar counts for a pair, all of them sums
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75  # METEOR 1.5's parameters for English
STAGES = np.array([1.0, 0.6, 0.8, 0.6])  # weights of exact, stem, synonym and paraphrase matches


def implementation(wanted: Implementation | None = None) -> Implementation:
    """What computes METEOR here: the jar, else NLTK.

    Raises:
        MissingExtraError: neither package is installed.
        UsageError: a package is there, but not what it needs (Java, WordNet).
    """
    reasons = {"jar": _jar_lacks(), "nltk": _nltk_lacks()}
    for name, reason in reasons.items():
        if not reason and wanted in {None, name}:
            return "jar" if name == "jar" else "nltk"
    asked = [reasons[wanted]] if wanted else list(reasons.values())
    if all(reason == "extra" for reason in asked):
        raise MissingExtraError("METEOR", "meteor")
    told = "; ".join(reason for reason in asked if reason != "extra")
    raise UsageError(f"METEOR cannot run here: {told}")


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


def settings_of(which: Implementation) -> dict[str, object]:
    """What belongs in a signature."""
    if which == "jar":
        return {"impl": "meteor-1.5", "lang": "en", "norm": True}
    return {"impl": f"nltk-{version('nltk')}", "tok": "words"}


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
    jar = _jar()
    if jar is None:
        raise MissingExtraError("METEOR", "meteor")
    return _Engine(jar)


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


def nltk_meteor(text: str, references: Sequence[str]) -> float:
    """NLTK's METEOR of a text against its best reference, on words."""
    from nltk.translate.meteor_score import meteor_score as score

    return float(score([reference.split() for reference in references], text.split()))


def meteor(
    texts: Sequence[str], references: Sequence[Sequence[str]], which: Implementation
) -> FloatArray:
    """[texts] METEOR in [0, 1] of each text against its best reference."""
    if which == "jar":
        return meteor_score(meteor_statistics(texts, references))
    pairs = zip(texts, references, strict=True)
    return np.array([nltk_meteor(text, known) for text, known in pairs], dtype=np.float64)
