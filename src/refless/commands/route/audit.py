"""The audit of a licence while it is used: does the promise still hold?

Of the texts that a judge decided alone some are rated. The evidence against the promise is how much
likelier their errors are if the odds of an error are 2, 3 or 4 times as high as promised, in the
mean of the three. If the promise holds, it ever reaches 1 / LEVEL with the chance LEVEL at most,
however often one looks (Ville 1939; Wald 1945).
"""

import math
from dataclasses import dataclass

LEVEL = 0.05
HIGHER = (2, 3, 4)  # times the odds


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSide:
    """Texts that a judge passed, or failed, alone and that people have rated since.

    Attributes:
        n, wrong: how many, and how many people decide otherwise.
        evidence: against the promise, a likelihood ratio; 1 says nothing.
        broken: whether it is enough to say that the promise no longer holds.
    """

    n: int
    wrong: int
    evidence: float
    broken: bool


def audited(n: int, wrong: int, at_most_wrong: float, sides: int) -> AuditedSide:
    """The audit of one side.

    Args:
        n, wrong: texts and errors among them, each text drawn at random from those decided.
        at_most_wrong: as promised; sides: licensed ones, which share the chance of a false alarm.
    """
    evidence = evidence_of(n, wrong, at_most_wrong)
    return AuditedSide(
        n=n, wrong=wrong, evidence=evidence, broken=evidence >= sides / LEVEL
    )


def evidence_of(n: int, wrong: int, share: float) -> float:
    """The mean likelihood of an error's higher odds, over that of the promised share."""
    ratios = []
    for times in HIGHER:
        log_ratio = wrong * math.log(times) - n * math.log1p(share * (times - 1))
        ratios.append(math.exp(min(log_ratio, 700.0)))
    return sum(ratios) / len(ratios)
