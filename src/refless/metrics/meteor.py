"""METEOR of a text (hypothesis) against its best reference, and as a kernel.

METEOR 1.5 (Denkowski and Lavie 2014), in the jar that pycocoevalcap brings, where Java is.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from threading import Lock, Thread
from typing import ClassVar

import numpy as np

from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray
from refless.registry.errors import MissingExtraError, UsageError

STATISTICS = 23  # numbers that the jar counts for a pair, all of them sums
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75  # METEOR 1.5's parameters for English
SETTINGS: dict[str, object] = {"impl": "meteor-1.5", "lang": "en", "norm": True}
# weights of exact, stem, synonym and paraphrase matches
STAGES = np.array([1.0, 0.6, 0.8, 0.6])


@dataclass(frozen=True, slots=True, kw_only=True)
class Meteor:
    """METEOR in [0, 1] of an output with each rated text."""

    name: ClassVar[str] = "meteor"
    default_tau: ClassVar[float] = 0.18

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts, each the only reference of an output; nothing is computed yet.

        Raises:
            MissingExtraError, UsageError: there is nothing that computes METEOR.
        """
        jar()
        rows = partial(_rows, rated=texts)
        # one Java process answers
        return Dense(size=len(texts), rows=rows, parallel=False)

    def settings(self) -> dict[str, object]:
        """The settings of METEOR."""
        return {**SETTINGS}


def _rows(texts: Sequence[str], *, rated: Sequence[str]) -> Rows:
    def block(begin: int, end: int) -> FloatArray:
        pairs = list(product(texts[begin:end], rated))
        outputs = [text for text, _ in pairs]
        references = [[reference] for _, reference in pairs]
        scores = meteor_score(meteor_statistics(outputs, references))
        return scores.reshape(end - begin, len(rated))

    return block


def jar() -> Path:
    """The jar of METEOR 1.5.

    Raises:
        MissingExtraError: pycocoevalcap is not installed.
        UsageError: there is no Java.
    """
    package = find_spec("pycocoevalcap")
    folders = (package and package.submodule_search_locations) or ()
    path = next(
        (Path(folder) / "meteor" / "meteor-1.5.jar" for folder in folders), None
    )
    if path is None or not path.is_file():
        raise MissingExtraError("METEOR", "meteor")
    if not shutil.which("java"):
        raise UsageError(
            "METEOR cannot run here: it needs Java (no 'java' on the PATH)"
        )
    return path


def meteor_statistics(
    texts: Sequence[str], references: Sequence[Sequence[str]]
) -> FloatArray:
    """[texts, 23] what METEOR 1.5 counts of each text against its best reference.

    Rows add up to the statistics of all texts together; `meteor_score` makes scores of them.
    """
    scores = _engine(jar()).ask(texts, references)
    identical = (scores[:, 20] == 1) & (scores[:, 21:23] == scores[:, 0:2]).all(axis=1)
    scores[identical, 20] = (
        0.0  # a text matched as a whole is not fragmented, alone or in a sum
    )
    return scores


def meteor_score(statistics: FloatArray) -> FloatArray:
    """[...] METEOR 1.5 out of [..., 23] statistics or sums of them, in [0, 1]."""
    words = statistics[..., 0:2]
    functions = statistics[..., 2:4]
    stages = statistics[..., 4:20].reshape(*statistics.shape[:-1], 4, 4)
    content = stages[..., 0:2]
    function = stages[..., 2:4]
    by_stage = DELTA * content + (1 - DELTA) * function
    matched = (STAGES[:, None] * by_stage).sum(axis=-2)
    of = DELTA * (words - functions) + (1 - DELTA) * functions
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = np.moveaxis(matched / of, -1, 0)
        mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        chunks = statistics[..., 20]
        matches = statistics[..., 21:23]
        fragments = chunks / matches.mean(axis=-1)
        score = mean * (1 - GAMMA * fragments**BETA)
    scores: FloatArray = np.nan_to_num(score, nan=0.0)  # no match, or no words at all
    return scores


@cache
def _engine(path: Path) -> _Engine:
    return _Engine(path)


class _Engine:
    """The jar as a process that answers a line for a line; one for the whole program."""

    def __init__(self, jar: Path) -> None:
        self._process = subprocess.Popen(
            [
                "java",
                "-Xmx2G",
                "-jar",
                jar.name,
                "-",
                "-",
                "-stdio",
                "-l",
                "en",
                "-norm",
            ],
            cwd=jar.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lock = Lock()
        atexit.register(self._close)

    def ask(
        self, texts: Sequence[str], references: Sequence[Sequence[str]]
    ) -> FloatArray:
        """Statistics of every text, in order."""
        out = np.empty((len(texts), STATISTICS))
        with self._lock:
            writer = Thread(target=self._write, args=(texts, references), daemon=True)
            writer.start()
            for i in range(len(texts)):
                line = (
                    self._process.stdout.readline() if self._process.stdout else b""
                ).split()
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
