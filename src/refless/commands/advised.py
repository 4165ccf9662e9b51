"""What to do where too many texts have no estimate, and why they have none."""

from collections.abc import Mapping
from dataclasses import dataclass

from refless.report.document import Section, Table
from refless.report.wording import REASONS, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to do where too many texts have no estimate.

    Attributes:
        reason: why there are so few, in a sentence.
        command: the line that runs the Gaussian process, or None where that cannot help either.
    """

    reason: str
    command: str | None


def advice_sections(advice: Advice | None) -> tuple[Section, ...]:
    """The first thing to say where too many texts have no estimate."""
    if advice is None:
        return ()
    better = ("This estimator has no such limits:", f"  {advice.command}")
    return (Section(lines=(advice.reason, *(better if advice.command else ())), warning=True),)


def reasons_table(reasons: Mapping[str, int], n: int) -> Table | None:
    """How many of n texts have no estimate, and why; None where all have one."""
    rows = tuple(
        (reason, str(count), percent(count / n), REASONS.get(reason, ""))
        for reason, count in reasons.items()
    )
    header = ("reason", "texts", "share", "meaning")
    numeric = (False, True, True, False)
    return Table(header=header, rows=rows, numeric=numeric) if rows else None


def reasons_sections(reasons: Mapping[str, int], n: int) -> tuple[Section, ...]:
    """The same under a heading; nothing where all have an estimate."""
    table = reasons_table(reasons, n)
    return () if table is None else (Section(title="Without an estimate", table=table),)
