"""Decisions by a judge's scores alone, and what is left to people."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from refless.evaluation.labels import passed
from refless.registry.arrays import FloatArray, StringArray
from refless.stats.intervals import Interval

VOTES = "votes"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeInputs:
    """The input of a judge: its own scores, runs that vote, or texts and scores together.

    Attributes:
        columns: of scores.
        passing: by run, from where on its score is a vote for a pass; None if the score itself
            counts. Empty if no runs vote.
        estimator: specification of the estimator that reads texts and scores, or "".
        signature: of this estimator, with the rated texts from which it learns; scale: of these.
    """

    columns: tuple[str, ...]
    passing: Mapping[str, float | None] = field(default_factory=dict)
    estimator: str = ""
    signature: str = ""
    scale: Interval | None = None


def vote_shares(runs: FloatArray, passing: Iterable[float | None]) -> FloatArray:
    """[n] the share of runs that pass; runs without a score do not vote.

    Args:
        runs: [k, n] scores, NaN where there is none.
        passing: [k] from where on a score passes; None if the score itself counts.
    """
    votes = []
    for scores, bar in zip(runs, passing, strict=True):
        votes.append(scores if bar is None else passed(scores, bar))
    columns = np.stack(votes)
    given = (~np.isnan(columns)).sum(axis=0)
    sums: FloatArray = np.nansum(columns, axis=0)
    return sums / np.where(given > 0, given, np.nan)


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
