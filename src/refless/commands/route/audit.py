"""The audit of a licence while it is used: does the promise still hold?

Of the texts that a judge decided alone some are rated. The evidence against the promise is how much
likelier their errors are under a larger share than under the promised one, in the mean over all
larger shares alike. If the promise holds, it ever reaches 1 / LEVEL with the chance LEVEL at most,
however often one looks (Ville 1939; Robbins 1970).
"""

import math
from dataclasses import dataclass

LEVEL = 0.05


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


def audited(n: int, wrong: int, at_most_wrong: float, sides: int = 2) -> AuditedSide:
    """The audit of one side.

    Args:
        n, wrong: texts and errors among them, each text drawn at random from those decided.
        at_most_wrong: as promised; sides: audits that share the chance of a false alarm.
    """
    evidence = evidence_of(n, wrong, at_most_wrong)
    return AuditedSide(
        n=n, wrong=wrong, evidence=evidence, broken=evidence >= sides / LEVEL
    )


def evidence_of(n: int, wrong: int, share: float) -> float:
    """The mean over p in [share, 1] of the likelihood of p, over that of the share.

    The integral of p^k (1 - p)^(n - k) from the share on is the upper tail of a beta distribution.
    """
    from scipy.special import betaincc, betaln

    right = n - wrong
    tail = float(betaincc(wrong + 1, right + 1, share))
    log_mean = float(betaln(wrong + 1, right + 1)) - math.log1p(-share)
    log_share = wrong * math.log(share) + right * math.log1p(-share)
    return tail * math.exp(min(log_mean - log_share, 700.0))
