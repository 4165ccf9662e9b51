"""Why an estimator has no answer for many texts, in the user's terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.records import Estimates, Outputs

LIMIT = 1 / 3  # above this share without an estimate, it is the first thing to say


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """What is known about missing estimates.

    Attributes:
        share: of the outputs, without an estimate.
        main: the commonest reason.
        mean_length: characters of an output, on average.
        passing: share of pairs of output and rated text that pass the threshold.
    """

    share: float
    main: str
    mean_length: float
    passing: float

    @property
    def serious(self) -> bool:
        """Whether more than a third of the outputs have no estimate."""
        return self.share > LIMIT

    def sentence(self, tau: float) -> str:
        """Why so few have an estimate, for people."""
        start = f"{self.share:.0%} of the texts have no estimate: "
        length = f"your texts average {self.mean_length:,.0f} characters"
        pairs = f"{self.passing:.0%} of pairs pass tau {tau:g}"
        causes = {
            "too-many": f"{length}; {pairs}, so nothing is near.",
            "too-few": f"{length}; only {pairs}: these texts share little with the rated ones.",
            "too-short": f"{length}, most fewer tokens than the highest n-gram order.",
            "empty": "most of them are empty.",
            "bad-row": "most of their rows could not be read.",
        }
        return start + causes.get(self.main, self.main)


def abstention(outputs: Outputs, estimates: Estimates, rated: int) -> Abstention:
    """Describes the missing estimates of outputs judged by so many rated texts."""
    missing = [reason for reason in estimates.reasons if reason]
    lengths = [len(text) for text in outputs.texts]
    pairs = max(1, len(outputs) * rated)
    return Abstention(
        share=len(missing) / max(1, len(outputs)),
        main=max(sorted(set(missing)), key=missing.count, default=""),
        mean_length=float(np.mean(lengths)) if lengths else 0.0,
        passing=float(estimates.support.sum()) / pairs,
    )
