"""The HTML report of `refless meta`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from refless.report.charts import Line, rows
from refless.report.meta import Found, meta_view
from refless.report.page import Chapter, Figure, Page, page_of_view
from refless.report.parts import title
from refless.report.plot import axis_over
from refless.report.verdict import annotator_interval
from refless.report.view import Table, clipped, number, with_interval
from refless.studies.meta import Level

MOST_ROWS = 30  # of the chart; the table has all
NAMED = 3  # metrics in the verdict
ANNOTATOR = "one annotator"


def meta_page(found: Found, command: str) -> Page:
    """The report: who agrees with people, and whether better than the others.

    Args:
        found: what `refless meta` shows.
        command: the command line.
    """
    people = _annotator(found)
    charts = [
        _figure(level, found.meta.measure, name, yardstick)
        for level, name, yardstick in (
            (found.meta.segments, "single texts", people),
            (found.meta.systems, "systems", ()),
        )
        if level.metrics
    ]
    chapters = (Chapter(title="Agreement with people", figures=tuple(charts)),) if charts else ()
    view = meta_view(found)
    return page_of_view(
        view,
        title=f"{len(found.scores)} metrics on {len(found.pool):,} rated texts",
        verdict=nearest_to_people(found.meta.segments, found.meta.measure),
        command=command,
        chapters=chapters,
    )


def nearest_to_people(level: Level, measure: str) -> str:
    """One sentence on which metrics agree best with people, as far as tests can tell."""
    known = [one for one in level.metrics if not math.isnan(getattr(one, measure))]
    if not known:
        return f"On these {level.n:,} texts no metric can be compared with people."
    top, name = known[0], title(measure)
    value = with_interval(getattr(top, measure), top.intervals[measure])
    start = f"On these {level.n:,} texts {top.name} agrees best with people, {name} {value}"
    if not top.intervals[measure][0] > 0:
        start = (
            f"On these {level.n:,} texts no metric shows agreement with people that chance could "
            f"not explain; {top.name} comes nearest, {name} {value}"
        )
    others = [one for one in level.best if one != top.name]
    if len(known) == 1:
        return f"{start}."
    if not others:
        return f"{start}, significantly better than every other."
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    return f"{start}; it is not told apart from {', '.join(others[:NAMED])}{more}."


def _annotator(found: Found) -> tuple[Line, ...]:
    """One average annotator against the mean of the others."""
    people, measure = found.left_out, found.meta.measure
    if people is None:
        return ()
    spread = annotator_interval(people, measure)
    return (Line(name=ANNOTATOR, value=people.average[measure], interval=spread),)


def _figure(level: Level, measure: str, name: str, yardstick: Sequence[Line]) -> Figure:
    lines = [
        Line(name=one.name, value=getattr(one, measure), interval=one.intervals[measure])
        for one in level.metrics
    ]
    shown = [*yardstick, *lines][:MOST_ROWS]
    shown_as = f"{title(measure)} over {name}"
    x = axis_over([0.0, *(end for one in shown for end in (one.value, *one.interval))], shown_as)
    label = f"{shown_as}: " + ", ".join(f"{one.name} {number(one.value)}" for one in shown)
    table = Table(
        header=("metric", f"{title(measure)} [95 %]"),
        rows=tuple((clipped(one.name), with_interval(one.value, one.interval)) for one in shown),
        numeric=(False, True),
    )
    caption = (
        f"{shown_as}, {level.n:,} of them, with 95 % intervals. Metrics are judged on the same "
        "rows: tests in the tables tell apart what overlapping intervals do not."
    )
    return Figure(svg=rows(shown, x, label), caption=caption, table=table)
