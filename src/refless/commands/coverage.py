"""Where an estimator abstains: coverage by length and by task."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from refless.commands.advised import reasons_table
from refless.data.records import Estimates
from refless.report.charts import Line, row_chart
from refless.report.document import Figure, Section, Table
from refless.report.plot import Axis
from refless.report.wording import labels, number, with_interval
from refless.stats.intervals import UNDEFINED, Interval, quantile

GROUPS = 5  # of lengths, about equally large
MOST_TASKS = 20  # bars; the table has all
SHARE = Axis(
    label="share with an estimate", low=0, high=1, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1), step=0.2
)
Coverage = tuple[str, int, int]  # a group of texts, how many, how many with an estimate


def coverage_section(texts: Sequence[str], tasks: Sequence[str], estimates: Estimates) -> Section:
    """Coverage by length and by task, and why estimates are missing."""
    defined = estimates.defined.tolist()
    figures = [_figure(by_length(texts, defined), "Coverage by length in characters", "length")]
    if len(set(tasks)) > 1:
        figures.append(_figure(by_task(tasks, defined), "Coverage by task", "task"))
    n, reasons = len(texts), Counter(sorted(filter(None, estimates.reasons)))
    share = number(estimates.coverage)
    return Section(
        title="Where it abstains",
        lines=(f"Texts with an estimate: {sum(defined):,} of {n:,} (coverage {share}).",),
        figures=tuple(figures),
        table=reasons_table(reasons, n),
    )


def by_length(texts: Sequence[str], defined: Sequence[bool]) -> list[Coverage]:
    """Coverage of fifths of the texts, from the shortest on; equal lengths stay together."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    if not len(lengths):
        return []
    ends = np.unique(np.quantile(lengths, np.arange(1, GROUPS + 1) / GROUPS, method="higher"))
    place, scored = np.searchsorted(ends, lengths), np.array(defined)
    found = []
    for i in range(len(ends)):
        inside = lengths[place == i]
        name = f"{inside.min():,} to {inside.max():,}"
        if inside.min() == inside.max():
            name = f"{inside.min():,}"
        found.append((name, len(inside), int(scored[place == i].sum())))
    return found


def by_task(tasks: Sequence[str], defined: Sequence[bool]) -> list[Coverage]:
    """Coverage of each task, by name."""
    counts = Counter(tasks)
    scored = Counter(task for task, known in zip(tasks, defined, strict=True) if known)
    return [(name, counts[name], scored[name]) for name in sorted(counts)]


def share_interval(part: int, n: int) -> Interval:
    """95 % interval of a share (Wilson 1927); undefined without texts."""
    if n == 0:
        return UNDEFINED
    z = quantile(0.95)
    share, shrunk = part / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / shrunk
    half = z / shrunk * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _figure(found: Sequence[Coverage], caption: str, name: str) -> Figure:
    lines = [
        Line(name=group, value=part / n, interval=share_interval(part, n))
        for group, n, part in found
    ]
    names = labels([group for group, *_ in found], 40)
    table = Table(
        header=(name, "texts", "with an estimate", "coverage [95 %]"),
        rows=tuple(
            (names[group], f"{n:,}", f"{part:,}", with_interval(part / n, share_interval(part, n)))
            for group, n, part in found
        ),
    )
    return Figure(
        svg=row_chart(lines[:MOST_TASKS], SHARE, caption, filled=True),
        caption=f"{caption}; whiskers are 95 % intervals.",
        table=table,
    )
