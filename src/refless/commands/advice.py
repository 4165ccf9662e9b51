"""Why an estimator has no answer for many texts, in the user's terms, and what to run instead."""

import math
from dataclasses import dataclass

import numpy as np

from refless.commands.advised import Advice
from refless.commands.estimating import DEFAULT
from refless.commands.parameters import this_call
from refless.data.records import Estimates, Outputs
from refless.estimators import ESTIMATORS, Estimator
from refless.registry.plural import counted
from refless.registry.spec import spec_of

FEWEST = 20  # rated texts
NEXT_TO_NOTHING = 0.01  # of pairs pass tau
LIMIT = 1 / 3  # above this share without an estimate, it is the first thing to say


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """What is known about missing estimates.

    Attributes:
        share: of the outputs, without an estimate.
        main: the commonest reason.
        mean_length: characters of an output, on average.
        passing: share of pairs of output and rated text that pass the threshold.
        near: rated texts that pass for an output of that commonest reason, on average.
        rated: number of rated texts.
    """

    share: float
    main: str
    mean_length: float
    passing: float
    near: float
    rated: int

    @property
    def serious(self) -> bool:
        """Whether more than a third of the outputs have no estimate."""
        return self.share > LIMIT

    def sentence(self, tau: float) -> str:
        """Why so few have an estimate, for people."""
        start = f"{100 * self.share:.0f} % of the texts have no estimate: "
        length = f"your texts average {self.mean_length:,.0f} characters"
        few = f"{self.near:.1f} of {counted(self.rated, 'rated text')} on average, too few to go by"
        if math.isnan(tau):
            few = "fewer rated texts than a model needs"
        causes = {
            "too-uncertain": "they are less certain than was asked for.",
            "too-many": f"{length}; {100 * self.passing:.0f} % of pairs pass tau {tau:g}, "
            "so nothing is near.",
            "too-few": f"{length}; {few}."
            if math.isnan(tau)
            else f"{length}; those without an estimate pass tau {tau:g} with {few}.",
            "too-short": f"{length}, most fewer tokens than the highest n-gram order; "
            "bleu*:orders=1-2 lowers it.",
            "empty": "most of them are empty.",
            "bad-row": "most of their rows could not be read.",
        }
        return start + causes.get(self.main, self.main)


def abstention(outputs: Outputs, estimates: Estimates, rated: int) -> Abstention:
    """Describes the missing estimates of outputs judged by so many rated texts."""
    missing = [reason for reason in estimates.reasons if reason]
    lengths = [len(text) for text in outputs.texts]
    main = max(sorted(set(missing)), key=missing.count, default="")
    support = [
        n for n, why in zip(estimates.support, estimates.reasons, strict=True) if why == main
    ]
    pairs = max(1, len(outputs) * rated)
    return Abstention(
        share=len(missing) / max(1, len(outputs)),
        main=main,
        mean_length=float(np.mean(lengths)) if lengths else 0.0,
        passing=float(estimates.support.sum()) / pairs,
        near=float(np.mean(support)) if support else 0.0,
        rated=rated,
    )


def advice_on(
    estimator: Estimator, outputs: Outputs, estimates: Estimates, rated: int
) -> Advice | None:
    """Why more than a third of the texts have no estimate, and the command that may do better.

    Args:
        estimator: what made the estimates.
        outputs, estimates: the texts and what was said of them.
        rated: rated texts that each was judged by.
    """
    missing = abstention(outputs, estimates, rated)
    if not missing.serious:
        return None
    near = (
        missing.rated >= FEWEST
        and missing.main in {"too-many", "too-few"}
        and missing.passing > NEXT_TO_NOTHING
    )
    other = spec_of(estimator, ESTIMATORS).partition(":")[0] != DEFAULT
    call = this_call()
    other = other and call.values.get("model") is None  # which has its own estimator
    better = call.line(estimator=DEFAULT) if near and other else None
    return Advice(reason=missing.sentence(estimator.threshold), command=better)
