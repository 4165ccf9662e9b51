"""What a probe says: rows of scores and changes, and a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refless.registry.signature import Signature
from refless.stats.intervals import UNDEFINED, Interval

NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a probe.

    Attributes:
        label: what was scored.
        score: its score; NaN where undefined.
        score_interval: 95 %, from a bootstrap over items; NaN where there is none.
        sd: standard deviation over repetitions, such as the reference that was left out.
        change, change_interval: from the probe's first row, on the outputs that both could score.
        share: of words that were replaced.
        coverage: share of outputs that have a score.
        texts: the sentences behind it, where a probe looked for some.
        in_references: how many items have the sentence among their references; None: not asked.
        expected: +1 or -1 where the right direction of the change is known, else 0.
        note: what else there is to say.
    """

    label: str
    score: float = NAN
    score_interval: Interval = UNDEFINED
    sd: float = NAN
    change: float = NAN
    change_interval: Interval = UNDEFINED
    share: float = NAN
    coverage: float = NAN
    texts: tuple[str, ...] = ()
    in_references: int | None = None
    expected: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question to a metric or an estimator.

    Attributes:
        name: `references`, `frequent`, `rare`, `sentence`, `direction`, `useless`,
            `stuffing`.
        about: what was done, as a sentence.
        rows: what came out.
        verdict: what follows from it, as a sentence.
        fooled: whether it failed; None where that cannot be told.
    """

    name: str
    about: str
    rows: tuple[Row, ...]
    verdict: str
    fooled: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stressed:
    """All probes of one metric, estimator or scorer.

    Attributes:
        skipped: why probes could not be run, by name.
    """

    label: str
    signature: Signature
    probes: tuple[Probe, ...]
    skipped: Mapping[str, str]


def changes(base: Row, rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with their change from the first one's score."""
    return tuple(replace(row, change=row.score - base.score) for row in rows)


def relative(row: Row, base: Row) -> float:
    """The change as a share of the first row's score; NaN where that is 0 or undefined."""
    before = base.score
    return row.change / abs(before) if before and before == before else NAN


def percent_of(value: float) -> str:
    """`54 %` of a share; one digit where it is small."""
    size = 100 * abs(value)
    return f"{size:.0f} %" if size >= 10 else f"{size:.1f} %"
