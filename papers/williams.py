"""Williams' test: is one of two correlations with the same column larger than the other?"""

import math
from dataclasses import dataclass

NAN = float("nan")
ONE = 1 - 1e-12  # columns that correlate this well are one


@dataclass(frozen=True, slots=True, kw_only=True)
class Williams:
    """The test of r(human, first) = r(human, second).

    Attributes:
        freedom: degrees of freedom, n - 3.
        t: above 0 where the first correlation is larger; NaN where undefined.
        p: two-sided.
        p_greater: one-sided, of the first being no larger than the second.
    """

    freedom: int
    t: float = NAN
    p: float = NAN
    p_greater: float = NAN


def williams(first: float, second: float, between: float, n: int) -> Williams:
    """Williams' t for two dependent correlations that share a column.

    Williams (1959), as Steiger (1980, equation 7) gives it and Graham and Baldwin (2014) brought it
    to metrics; the BLEU Neighbors paper uses it in section 5.6. It takes rows for independent and
    columns for normal; with ranks (Spearman) it is an approximation.

    Args:
        first, second: correlations of two columns with the human one.
        between: correlation of the two columns with each other.
        n: number of rows.

    Undefined with fewer than four rows, where a correlation is, or where the two columns are one.
    """
    freedom = n - 3
    known = not any(map(math.isnan, (first, second, between)))
    below = _below(first, second, between, n) if known and freedom > 0 else NAN
    if not below > 0:
        return Williams(freedom=freedom)
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / below)
    from scipy.special import stdtr

    return Williams(
        t=t,
        freedom=freedom,
        p=float(2 * stdtr(freedom, -abs(t))),
        p_greater=float(stdtr(freedom, -t)),
    )


def _below(first: float, second: float, between: float, n: int) -> float:
    """What stands under the root in the denominator; 0 where the columns are one."""
    if abs(between) >= ONE:
        return 0.0
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    # rounding can leave a determinant that is 0 a little below it
    return 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - between) ** 3
