"""Estimators and other tools' scorers in the shape of a metric, so that every probe takes them."""

import json
import math
import shlex
import subprocess
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.estimators import Estimator
from refless.metrics.protocol import Metric, Scores, averaged
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature

SHOWN = 300  # characters of what a scorer wrote before it failed
UNDEFINED_SCORES = {"nan", "null", "none", "na", ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated(Metric):
    """A fitted estimator as a metric that needs no references; the score is the mean estimate."""

    name: ClassVar[str] = "estimator"
    needs: ClassVar[tuple[str, ...]] = ()

    estimator: Estimator

    def score(self, outputs: Outputs) -> Scores:
        """The estimates; NaN where the estimator abstains."""
        return averaged(self.estimator.predict(outputs))

    def signature(self) -> Signature:
        """The estimator's."""
        return self.estimator.signature()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer(Metric):
    """Any command that reads outputs as JSONL on stdin and writes a score a line.

    A line has `id`, `text`, and where the outputs have them `references` and `source`. A score is a
    number, or nan (null, none, na) where there is none. The corpus score is the mean.

    Attributes:
        command: the command line, split as a shell would; no shell runs it.
    """

    name: ClassVar[str] = "scorer"
    needs: ClassVar[tuple[str, ...]] = ()

    command: str

    def score(self, outputs: Outputs) -> Scores:
        """One run of the command over all outputs.

        Raises:
            UsageError: no such command.
            InputError: it crashed, wrote another number of lines than it was given, or something
                that is no number.
        """
        rows = [json.dumps(_line(outputs, i)) + "\n" for i in range(len(outputs))]
        lines = self._run("".join(rows))
        if len(lines) != len(outputs):
            raise InputError(
                f"the scorer '{self.command}' wrote {counted(len(lines), 'line')} for "
                f"{counted(len(outputs), 'output')}",
                remedy="it must write exactly one score a line, and notes to stderr",
            )
        return averaged(
            np.array([self._number(line, i) for i, line in enumerate(lines, 1)])
        )

    def _run(self, rows: str) -> list[str]:
        """The lines that the command writes if it reads these rows."""
        try:
            words = shlex.split(self.command)
        except ValueError as fault:
            raise UsageError(
                f"{called('scorer', self.command)} cannot be split: {fault}"
            ) from fault
        if not words:
            raise UsageError(f"{called('scorer')} needs a command")
        try:
            done = subprocess.run(
                words, input=rows, capture_output=True, text=True, check=False,
                encoding="utf-8", errors="replace",
            )  # fmt: skip
        except OSError as fault:
            raise UsageError(
                f"the scorer '{self.command}' cannot run: {fault.strerror}"
            ) from fault
        if done.returncode:
            wrote = done.stderr.strip()[-SHOWN:] or "nothing on stderr"
            raise InputError(
                f"the scorer '{self.command}' ended with status {done.returncode}: {wrote}",
                remedy="it must read JSONL on stdin, write a score a line and end with status 0",
            )
        return done.stdout.splitlines()

    def _number(self, line: str, place: int) -> float:
        word = line.strip().lower()
        try:
            value = math.nan if word in UNDEFINED_SCORES else float(word)
        except ValueError:
            value = math.inf
        if math.isinf(value):
            raise InputError(
                f"the scorer '{self.command}' wrote '{line.strip()[:40]}'",
                path="its stdout",
                line=place,
                remedy="a line must be one finite number, or nan",
            )
        return value

    def signature(self) -> Signature:
        """The command."""
        return Signature(self.name).plus(command=self.command)


def _line(outputs: Outputs, i: int) -> dict[str, object]:
    return {
        "id": outputs.ids[i],
        "text": outputs.texts[i],
        **({"references": list(outputs.references[i])} if outputs.references else {}),
        **({"source": outputs.sources[i]} if outputs.sources else {}),
    }
