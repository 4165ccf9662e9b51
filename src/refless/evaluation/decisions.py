"""Decisions by a judge's scores alone, and what is left to people."""

from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray, StringArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Scores from `pass_from` on pass, and up to `fail_to` fail; NaN if none does."""

    pass_from: float
    fail_to: float

    @property
    def sides(self) -> tuple[str, ...]:
        """The decisions that are made alone."""
        ends = {"pass": self.pass_from, "fail": self.fail_to}
        return tuple(name for name, end in ends.items() if end == end)

    def decisions(self, scores: FloatArray) -> StringArray:
        """[n] `pass`, `fail` or `person`, as which missing scores (NaN) count too."""
        below = np.where(scores <= self.fail_to, "fail", "person")
        return np.where(scores >= self.pass_from, "pass", below)
