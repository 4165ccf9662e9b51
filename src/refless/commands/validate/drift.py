"""Raters who differ from the others, and what changes over time, in words and as a table."""

from collections.abc import Sequence

from refless.data.records import Scale
from refless.evaluation.drift import Drift, Rater, Trend
from refless.report.document import Section, Table
from refless.report.wording import labels, number, p_value, percent

OVER_TIME = (
    "Ratings {} over time: by {} from the first to the last, on the same texts and each rater by "
    "itself. Rate some early texts again."
)
ERRORS = (
    "Beside the estimates ratings {} over time, by {} from the first to the last: raters, systems "
    "or texts have changed, and estimates of new texts may be as far off."
)
LEVEL = 0.01  # of a test, as several are made
NAMED, MOST_ROWS = 3, 500  # raters in a sentence, in the table
FEWEST = 3  # raters: of two, one follows less because the other follows more
READ = (
    "Each rater beside the others on the same texts. Level: how much higher. Agreement: Pearson's "
    "correlation with the mean of the others. Follows: by how much the ratings rise where the mean "
    "of a text rises by 1, and p of following it no less than the others do. Same: share of the "
    "commonest rating. Drift: change from the first rating of all to the last. p-values are those "
    "of exchanging the ratings of a text among its raters, corrected over raters (Holm)."
)


def drifted(found: Drift, scale: Scale | None) -> tuple[str, ...]:
    """What is shown of raters and time, a sentence each; nothing where nothing is."""
    unit = 1.0 if scale is None else scale[1] - scale[0]
    lines = (
        _astray(found.raters),
        _levels(found.raters, unit),
        _drifting(found.raters, unit),
        _trend(found.over_time, unit, OVER_TIME),
        _trend(found.errors, unit, ERRORS),
    )
    return tuple(line for line in lines if line)


def drift_sections(found: Drift, scale: Scale | None, *, whole: bool) -> tuple[Section, ...]:
    """What is shown; all raters in a table too, if the whole is asked for."""
    lines = drifted(found, scale)
    table = _table(found.raters, scale) if whole and found.raters else None
    if not lines and table is None:
        return ()
    told = _told(found, scale) if whole else ()
    read = (READ,) if table is not None else ()
    return (Section(title="Raters and time", lines=(*lines, *told, *read), table=table),)


def _astray(raters: Sequence[Rater]) -> str:
    some = sorted((one for one in raters if one.follows_p < LEVEL), key=lambda one: one.follows_p)
    if not some or len(raters) < FEWEST:
        return ""
    names = _names([(one, _follows(one)) for one in some], len(raters))
    return (
        f"Raters who use less of the scale than the others to tell texts apart: {names}. In "
        "brackets: how much their ratings rise where the mean of a text rises by 1. Look at them "
        "before you rely on the means."
    )


def _follows(one: Rater) -> str:
    return "one number" if one.same == 1 else number(one.follows, 2)


def _levels(raters: Sequence[Rater], unit: float) -> str:
    some = sorted((one for one in raters if one.level_p < LEVEL), key=lambda one: -abs(one.level))
    if not some:
        return ""
    names = _names([(one, _signed(unit * one.level)) for one in some], len(raters))
    return (
        f"Raters who rate higher or lower than the others on the same texts, in their units: "
        f"{names}. Where not all rate the same texts, that is in the texts' means too."
    )


def _drifting(raters: Sequence[Rater], unit: float) -> str:
    some = sorted((one for one in raters if one.drift_p < LEVEL), key=lambda one: -abs(one.drift))
    if not some:
        return ""
    names = _names([(one, _signed(unit * one.drift)) for one in some], len(raters))
    return f"Raters who change over time beside the others, from first to last: {names}."


def _trend(found: Trend | None, unit: float, said: str) -> str:
    if found is None or not found.p < LEVEL:
        return ""
    way = "rise" if found.change > 0 else "fall"
    return said.format(way, number(abs(unit * found.change), 2))


def _told(found: Drift, scale: Scale | None) -> tuple[str, ...]:
    """Both trends as they are, shown or not."""
    unit = 1.0 if scale is None else scale[1] - scale[0]
    trends = {"Ratings beside the others'": found.over_time, "Ratings less estimates": found.errors}
    return tuple(
        f"{name} change by {_signed(unit * one.change)} from the first to the last of "
        f"{one.n:,} (p {p_value(one.p)})."
        for name, one in trends.items()
        if one is not None
    )


def _signed(value: float) -> str:
    return f"+{number(value, 2)}" if value > 0 else number(value, 2)


def _names(some: Sequence[tuple[Rater, str]], n: int) -> str:
    """`w3 (0.02), w7 (0.11) and 4 more, of 93 raters`."""
    shown = labels([one.name for one, _ in some], 20)
    parts = [f"{shown[one.name]} ({value})" for one, value in some[:NAMED]]
    left = len(some) - len(parts)
    more = f" and {left} more" if left else ""
    return f"{', '.join(parts)}{more}, of {n} raters"


def _table(raters: Sequence[Rater], scale: Scale | None) -> Table:
    """A row a rater; times only where they are known."""
    unit = 1.0 if scale is None else scale[1] - scale[0]
    timed = any(one.drift == one.drift for one in raters)
    shown = labels([one.name for one in raters], 40)
    header = ("rater", "ratings", "level", "p", "agreement", "follows", "p", "spread", "same")
    rows = [
        (
            shown[one.name],
            f"{one.n:,}",
            _signed(unit * one.level),
            p_value(one.level_p),
            number(one.agreement, 2),
            number(one.follows, 2),
            p_value(one.follows_p),
            number(unit * one.spread, 2),
            percent(one.same),
            *((_signed(unit * one.drift), p_value(one.drift_p)) if timed else ()),
        )
        for one in raters[:MOST_ROWS]
    ]
    return Table(header=(*header, *(("drift", "p") if timed else ())), rows=tuple(rows))
