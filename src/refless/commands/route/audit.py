"""The audit of a licence while it is used: does the promise still hold?

Of the texts that a judge decided alone some are rated. The evidence against the promise is how much
likelier their errors are if the odds of an error are 2, 3 or 4 times as high as promised, in the
mean of the three; and then in the mean over what it passed, what it failed, and both together. If
the promise holds, it ever reaches ENOUGH with a chance of 5 % at most, however often one looks
(Ville 1939; Wald 1945).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

ENOUGH = 20.0  # 1 / .05
HIGHER = (2, 3, 4)  # times the odds


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSide:
    """Texts that a judge passed, or failed, alone and that people have rated since.

    Attributes:
        n, wrong: how many, and how many people decide otherwise.
        evidence: against the promise, a likelihood ratio; 1 says nothing.
    """

    n: int
    wrong: int
    evidence: float


def audited(n: int, wrong: int, at_most_wrong: float) -> AuditedSide:
    """The audit of some texts, each drawn at random from those decided.

    Args:
        n, wrong: texts and errors among them; at_most_wrong: as promised.
    """
    evidence = evidence_of(n, wrong, at_most_wrong)
    return AuditedSide(n=n, wrong=wrong, evidence=evidence)


def is_broken(audits: Iterable[AuditedSide]) -> bool:
    """Whether the audits of all sides show that the promise no longer holds."""
    evidence = [side.evidence for side in audits]
    return sum(evidence) / len(evidence) >= ENOUGH


def evidence_of(n: int, wrong: int, share: float) -> float:
    """The mean likelihood of an error's higher odds, over that of the promised share."""
    ratios = []
    for times in HIGHER:
        log_ratio = wrong * math.log(times) - n * math.log1p(share * (times - 1))
        ratios.append(math.exp(min(log_ratio, 700.0)))
    return sum(ratios) / len(ratios)
