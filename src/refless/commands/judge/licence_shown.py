"""The parts of a judge's report about what it may decide alone."""

from collections.abc import Sequence
from dataclasses import replace

from refless.commands.judge.audit import Audit
from refless.commands.judge.licence import Licence
from refless.registry.plural import counted
from refless.report.charts import Line, row_chart
from refless.report.document import Section, Table
from refless.report.wording import exact_percent, labels, number, percent
from refless.stats.intervals import UNDEFINED

TITLE = "Without a person"
NAME = 22  # columns of a terminal
AXIS = "share of all rows that the judge decides"


def licence_sections(licence: Licence | None) -> tuple[Section, ...]:
    """The share that one judge would decide under other promises; nothing without a licence."""
    if licence is None or not licence.curve:
        return ()
    line = (
        f"A text passes if people's mean rating is at least {licence.passing:g}. Each line of the "
        "table holds by itself."
    )
    rows = []
    drawn = []
    for point in licence.curve:
        risk = exact_percent(point.at_most_wrong)
        thresholds = (number(point.pass_from), number(point.fail_to))
        rows.append((risk, *thresholds, percent(point.decided)))
        drawn.append(
            Line(name=f"at most {risk}", value=point.decided, interval=UNDEFINED)
        )
    header = ("at most wrong", "passes from", "fails up to", "decides")
    table = Table(header=header, rows=tuple(rows), numeric=(True,) * 4)
    label = f"{AXIS}, by how many may be wrong"
    caption = f"The {AXIS}, if so many of these may be wrong."
    figure = replace(row_chart(drawn, AXIS, label, caption, zero=True), table=table)
    return (Section(title=TITLE, lines=(line,), table=table, figures=(figure,)),)


def licences_section(audits: Sequence[Audit]) -> tuple[Section, ...]:
    """The licences of several judges, which hold together."""
    licences = {audit.name: audit.licence for audit in audits if audit.licence}
    if not licences:
        return ()
    names = labels([*licences], NAME)
    rows = []
    for name, licence in licences.items():
        thresholds = (licence.passes.threshold, licence.fails.threshold)
        decided = percent(1 - licence.people)
        needed = str(licence.needed or "-")
        rows.append((names[name], *map(number, thresholds), decided, needed))
    header = ("judge", "passes from", "fails up to", "decides", "ratings")
    table = Table(header=header, rows=tuple(rows))
    promise = next(iter(licences.values())).promise
    share = exact_percent(promise.at_most_wrong)
    sure = exact_percent(promise.sure)
    line = (
        f"Of the texts that a judge decides either way at most {share} are wrong, with {sure} "
        f"confidence for {counted(promise.judges, 'judge')} together. "
        "Ratings: about how many should do, if it may decide nothing."
    )
    return (Section(title=TITLE, lines=(line,), table=table),)
