"""The parts of a judge's report: its uses, its numbers, and where it is wrong."""

from collections.abc import Mapping, Sequence

from refless.commands.judge.audit import RATINGS, Audit, Slice
from refless.commands.judge.numbers import NUMBERS
from refless.commands.judge.repeated import Runs, ScoreChange
from refless.evaluation.uses import FILTER, PURPOSES, REPLACE, Use
from refless.registry.plural import counted, first_of
from refless.report.document import Section, Table
from refless.report.units import RatingUnits
from refless.report.wording import (
    labels,
    number,
    numbers,
    p_value,
    percent,
    with_interval,
    with_intervals,
)
from refless.stats.answers import Estimate
from refless.stats.verdicts import Confusion

ANSWERS = {
    "yes": "yes",
    "no": "no",
    "correct": "only with people's ratings beside it",
    "unknown": "cannot be told yet",
    f"{FILTER} yes": "only with a limit on errors",
}
NOTHING = Estimate()
NAME = 30  # columns of a terminal
NAMED = 20  # slices that are named
LINE = (
    "Scores in other units count as the ratings that they predict; intervals and p hold for the "
    "line that predicts scores from ratings too."
)
MOST_SLICES = 28  # of more, the clearest are in the table


def uses_section(audit: Audit) -> Section:
    """The uses of a judge in words: may it, and why."""
    title = f"What may {audit.name} be used for?"
    if audit.licence is not None and not audit.licence.undefined:
        title = f"What may {audit.name} be used for beyond its licence?"
    rows = [
        (
            PURPOSES[use.purpose].short,
            answer_of(use),
            _why(use, audit),
        )
        for use in audit.uses
    ]
    table = Table(
        header=("use", "may it", "why"), rows=tuple(rows), numeric=(False,) * 3
    )
    return Section(title=title, table=table)


def answer_of(use: Use) -> str:
    """Whether a judge may be put to a use, in words."""
    return ANSWERS.get(f"{use.purpose} {use.answer}", ANSWERS[use.answer])


def _why(use: Use, audit: Audit) -> str:
    """The number that an answer rests on, what is needed, and the ratings that would tell."""
    if use.estimate.undefined:
        return use.estimate.undefined
    units = RatingUnits(audit.passing is not None)
    value = use.estimate.value
    low, high = use.estimate.interval
    ends = units.ends((low, high), "to")
    if PURPOSES[use.purpose].within:
        off = f"{units.size(value)} too {'kind' if value > 0 else 'strict'}"
        why = f"{off} ({ends}); at most {units.size(use.bar)} accepted"
        if use.answer == "no":
            why += ", and no agreement with people is shown"
    elif use.purpose == REPLACE:
        far = "nearer to" if value > 0 else "further from"
        why = f"{units.size(value)} {far} the other raters than one of them ({ends})"
    else:
        number = NUMBERS.get(use.measure)
        title = use.measure if number is None else number.title
        why = f"{title} {cell(use.estimate)}; {use.bar:g} is needed"
        if use.purpose == FILTER and use.answer == "yes":
            why += "; its errors are not limited"
    if use.answer == "unknown" and use.needed:
        why += f"; about {counted(use.needed, 'rating')} would tell"
    return why


def audit_sections(audit: Audit) -> tuple[Section, ...]:
    """A judge's numbers, its corrected means, and its slices."""
    return (
        _numbers(audit),
        *_confusion(audit.table, several=bool(audit.annotator)),
        *_means(audit),
        *_slices(audit),
    )


def _numbers(audit: Audit) -> Section:
    """A judge's numbers, beside those of one annotator if there are any."""
    people = {
        name: estimate
        for name, estimate in audit.annotator.items()
        if not estimate.undefined
    }
    share = percent(audit.usual_share)
    every = counted(audit.n + audit.unlabelled, "row")
    usual = f"Its most frequent score is {audit.usual:g}, in {share} of all {every}."
    header = ["", "value [95 %]", "rows"]
    if people:
        usual += " One annotator: each against the mean of the others."
        header.insert(2, "one annotator")
    rows = []
    for name, estimate in audit.measures.items():
        if not estimate.undefined:
            cells = [NUMBERS[name].title, cell(estimate), str(estimate.n)]
            if people:
                cells.insert(2, cell(people.get(name, NOTHING)))
            rows.append(tuple(cells))
    table = Table(header=tuple(header), rows=tuple(rows))
    lines = (usual, *_undefined(audit.measures))
    return Section(title=audit.name, lines=lines, table=table)


def _undefined(measures: Mapping[str, Estimate]) -> list[str]:
    """The reasons why numbers are undefined, with the titles of these."""
    titles: dict[str, list[str]] = {}
    for name, estimate in measures.items():
        if estimate.undefined:
            titles.setdefault(estimate.undefined, []).append(NUMBERS[name].title)
    return [f"{', '.join(of)}: undefined, {why}." for why, of in titles.items()]


def cell(estimate: Estimate) -> str:
    """`0.316 [0.181, 0.440]`, as of `with_interval`."""
    return with_interval(estimate.value, estimate.interval)


def _confusion(table: Confusion | None, *, several: bool) -> tuple[Section, ...]:
    if table is None:
        return ()
    rows = (
        ("people pass", str(table.tp), str(table.fn)),
        ("people fail", str(table.fp), str(table.tn)),
    )
    table_of_two = Table(header=("", "judge passes", "judge fails"), rows=rows)
    line = "Rows are counted: people pass a row if their mean rating passes."
    return (Section(table=table_of_two, lines=(line,) if several else ()),)


def _means(audit: Audit) -> tuple[Section, ...]:
    """The mean of all rows by each method; of rated rows that do not stand for all, none."""
    if len(audit.means) < 2:
        return ()
    mean_of = "Share of passes" if audit.passing is not None else "Mean rating"
    title = f"{mean_of} of all rows by {audit.name}"
    every = counted(audit.rows, "row")
    line = f"Of all {every}, {audit.means[RATINGS].n} of them rated"
    if audit.to_rate:
        untold = f"{line}: no mean is told, as these are no random draw of all."
        return (Section(title=title, lines=(untold,)),)
    order = sorted(audit.means, key=lambda name: name != audit.first)
    means = [audit.means[name] for name in order]
    values = with_intervals(
        [mean.value for mean in means], [mean.interval for mean in means]
    )
    reasons = [mean.undefined for mean in means]
    rows = tuple(zip(order, values, reasons, strict=True))
    header = ("method", "value [95 %]", "why no interval")
    numeric = (False, True, False)
    table = Table(header=header, rows=rows, numeric=numeric)
    to_print = "the first line is the one to print" if audit.first else "none to print"
    return (Section(title=title, table=table, lines=(f"{line}; {to_print}.",)),)


def _slices(audit: Audit) -> tuple[Section, ...]:
    title = f"Where {audit.name} errs"
    untested = _untested(audit.few)
    if not audit.slices:
        return (Section(title=title, lines=untested),) if untested else ()
    significant = [part.name for part in audit.slices if part.significant]
    differs = "Nowhere is its error shown to differ."
    if significant:
        differs = f"Its error differs in: {', '.join(significant)}."
    legend = "Error: mean of score minus rating; gap: this minus that elsewhere; p after Holm."
    if not audit.same_units and audit.passing is None:
        legend = f"{legend} {LINE}"
    lines = [differs, legend, *untested]
    slices = audit.slices[:MOST_SLICES]
    if len(audit.slices) > len(slices):
        lines.append(
            f"The {len(slices)} clearest of {len(audit.slices)} slices, smallest p first."
        )
    table = _slice_table(slices)
    return (Section(title=title, table=table, lines=tuple(lines)),)


def _untested(names: Sequence[str]) -> tuple[str, ...]:
    """The slices with too few labels, if there are any."""
    if not names:
        return ()
    return (f"Fewer than 10 ratings, not tested: {first_of(names, NAMED)}.",)


def _slice_table(slices: Sequence[Slice]) -> Table:
    """Each slice with the judge's error there, and the gap to elsewhere."""
    names = labels([part.name for part in slices], NAME)
    errors = numbers([part.error for part in slices])
    gaps = with_intervals(
        [part.gap.value for part in slices], [part.gap.interval for part in slices]
    )
    rows = tuple(
        (names[part.name], str(part.n), error, gap, p_value(part.p_holm))
        for part, error, gap in zip(slices, errors, gaps, strict=True)
    )
    return Table(header=("slice", "ratings", "error", "gap [95 %]", "p"), rows=rows)


def runs_lines(runs: Runs) -> tuple[str, str]:
    """Whether a judge says the same twice, and what its runs bring together."""
    return (
        f"{runs.runs} runs over {counted(runs.n, 'row')}: not all the same on {cell(runs.flips)} "
        f"of them; standard deviation from run to run {number(runs.sd)}."
    ), (
        f"{NUMBERS[runs.measure].title} with people: {cell(runs.single)} by one run, "
        f"{cell(runs.together)} by all {runs.runs} together."
    )


def drift_section(drifts: Mapping[str, ScoreChange]) -> tuple[Section, ...]:
    """The change of each judge since the earlier scores."""
    if not drifts:
        return ()
    rows = tuple(
        (name, str(drift.n), cell(drift.change), cell(drift.flips))
        for name, drift in drifts.items()
    )
    header = ("judge", "texts", "change of the mean [95 %]", "changed [95 %]")
    table = Table(header=header, rows=rows)
    return (Section(title="Change since the earlier scores", table=table),)
