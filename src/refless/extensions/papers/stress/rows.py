"""The result of a probe: rows of scores and changes, and a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass

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
        text: the sentence behind it, where a probe looked for one.
        in_references: how many items have the sentence among their references; None: not asked.
    """

    label: str
    score: float = NAN
    score_interval: Interval = UNDEFINED
    sd: float = NAN
    change: float = NAN
    change_interval: Interval = UNDEFINED
    share: float = NAN
    coverage: float = NAN
    text: str = ""
    in_references: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question to a metric or an estimator.

    Attributes:
        name: one of `plan.PROBES`.
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


def relative(row: Row, base: Row) -> float:
    """The change as a share of the first row's score; NaN where that is 0 or undefined."""
    before = base.score
    return row.change / abs(before) if before and before == before else NAN


def percent_of(value: float) -> str:
    """`54 %` of a share; one digit where it is small."""
    size = 100 * abs(value)
    return f"{size:.0f} %" if size >= 10 else f"{size:.1f} %"
