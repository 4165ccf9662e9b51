"""What a judge may be used for, its numbers, and where it is wrong: the parts of its report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from refless.commands.judge.audit import RATINGS, Audit
from refless.commands.judge.numbers import NUMBERS
from refless.commands.judge.repeated import Runs, ScoreChange
from refless.data.human import unscaled
from refless.data.records import RatedPool
from refless.evaluation.uses import PURPOSES, Use
from refless.registry.plural import counted
from refless.report.document import Section, Stored, Table, TextStore
from refless.report.wording import (
    clipped,
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
    "correct": "with labels",
    "unknown": "cannot be told",
}
LEGEND = "Yes and no need the whole interval on one side of the bar."
NOTHING = Estimate(value=math.nan)
CLIPPED = 200  # letters of a rationale in a table
NAME, NAMED = 30, 20  # columns of a terminal for a name; slices that are named
MOST_SLICES = 28  # of more, the clearest are in the table


def use_of(audit: Audit) -> str:
    """One sentence on what a judge may be used for, for what not, and what cannot be told."""
    ratings = counted(audit.n, "rating")
    by = {
        answer: [
            use
            for use in audit.uses
            if use.answer == answer and not use.estimate.undefined
        ]
        for answer in ANSWERS
    }
    parts = []
    if by["yes"]:
        parts.append(f"use {audit.name} to {_listed(by['yes'])}")
    if by["no"]:
        parts.append(f"do not use {audit.name} to {_listed(by['no'], 'or')}")
    if by["correct"]:
        off = by["correct"][0]
        parts.append(
            f"{off.purpose} only with ratings beside it: it is {_too(off.estimate, audit)}"
        )
    if by["unknown"]:
        unknown = _listed(by["unknown"], "or")
        parts.append(f"whether it may {unknown} cannot be told from {ratings}")
    if not parts:
        parts.append(f"what {audit.name} may be used for cannot be told from {ratings}")
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _listed(uses: Sequence[Use], last: str = "and") -> str:
    *names, end = [use.purpose for use in uses]
    return f"{', '.join(names)} {last} {end}" if names else end


def _too(bias: Estimate, audit: Audit) -> str:
    """`1.40 [1.10, 1.71] too kind`."""
    low, high = bias.interval
    value = abs(bias.value)
    ends = sorted((abs(low), abs(high)))
    kind = "too kind" if bias.value > 0 else "too strict"
    if audit.passing is not None:
        return f"{kind}, by {percent(value)} [{percent(ends[0])}, {percent(ends[1])}] of all rows"
    return f"{with_interval(value, ends)} {kind}"


def matrix_section(audits: Sequence[Audit]) -> Section:
    """What each of several judges may be used for."""
    names = labels([audit.name for audit in audits], NAME)
    rows = tuple(
        (names[audit.name], *(ANSWERS[use.answer] for use in audit.uses))
        for audit in audits
    )
    header = ("May it", *(PURPOSES[use.purpose].short for use in audits[0].uses))
    table = Table(header=header, rows=rows, numeric=(False,) * len(header))
    return Section(title="Uses", table=table, lines=(LEGEND,))


def uses_section(audit: Audit) -> Section:
    """Each use of a judge, with the number that the answer rests on."""
    uses = [use for use in audit.uses if not use.estimate.undefined]
    rows = tuple(
        (
            PURPOSES[use.purpose].short,
            ANSWERS[use.answer],
            _cell(use.estimate),
            _bar(use),
            str(use.needed or "-"),
        )
        for use in uses
    )
    if not rows:
        return Section(
            title="Uses", lines=("These ratings do not tell what it may be used for.",)
        )
    header = (
        f"May {clipped(audit.name, 16)}",
        "answer",
        "number [95 %]",
        "bar",
        "ratings",
    )
    table = Table(header=header, rows=rows, numeric=(False, False, True, False, True))
    measures = "; ".join(
        f"{PURPOSES[use.purpose].short}: {_title(use)}" for use in uses
    )
    more = "Ratings: about how many would tell, if these do not."
    line = f"The numbers: {measures}. {LEGEND} {more}"
    return Section(title="Uses", table=table, lines=(line,))


def _bar(use: Use) -> str:
    """What a number is held against: a distance, or a least value."""
    if PURPOSES[use.purpose].within:
        return f"within {use.bar:.3g}"
    return f"at least {use.bar:g}"


def _title(use: Use) -> str:
    """What people call the number that a use rests on."""
    number = NUMBERS.get(use.measure)
    return use.measure if number is None else number.title


def audit_sections(audit: Audit) -> tuple[Section, ...]:
    """A judge's numbers, its corrected means, its slices, and what is not claimed."""
    people = {
        name: each for name, each in audit.annotator.items() if not each.undefined
    }
    rows = tuple(
        (
            NUMBERS[name].title,
            _cell(each),
            *((_cell(people.get(name, NOTHING)),) if people else ()),
            str(each.n),
        )
        for name, each in audit.measures.items()
        if not each.undefined
    )
    reasons: dict[str, list[str]] = {}
    for name, each in audit.measures.items():
        if each.undefined:
            reasons.setdefault(each.undefined, []).append(NUMBERS[name].title)
    undefined = [
        f"{', '.join(names)}: undefined, {why}." for why, names in reasons.items()
    ]
    usual = (
        f"Its most frequent score is {audit.usual:g}, in {percent(audit.usual_share)} of all "
        f"{counted(audit.n + audit.unlabelled, 'row')}."
    )
    if people:
        usual += " One annotator: each against the mean of the others."
    header = ("", "value [95 %]", *(("one annotator",) if people else ()), "rows")
    return (
        Section(
            title=audit.name,
            lines=(usual, *undefined),
            table=Table(header=header, rows=rows),
        ),
        *_confusion(audit.table, several=bool(audit.annotator)),
        *_means(audit),
        *_slices(audit),
        Section(title=f"What is not claimed of {audit.name}", lines=audit.refusals),
    )


def _cell(estimate: Estimate) -> str:
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
    if len(audit.means) < 2:
        return ()
    what = "Share of passes" if audit.passing is not None else "Mean rating"
    order = sorted(audit.means, key=lambda name: name != audit.first)
    means = [audit.means[name] for name in order]
    values = with_intervals(
        [mean.value for mean in means], [mean.interval for mean in means]
    )
    reasons = [mean.undefined for mean in means]
    rows = tuple(zip(order, values, reasons, strict=True))
    every = counted(audit.rows, "row")
    rated = audit.means[RATINGS].n
    header = ("method", "value [95 %]", "why no interval")
    numeric = (False, True, False)
    table = Table(header=header, rows=rows, numeric=numeric)
    to_print = "the first line is the one to print"
    if not audit.first:
        to_print = "none is the one to print: see what is not claimed"
    line = f"Of all {every}, {rated} of them rated; {to_print}."
    return (
        Section(
            title=f"{what} of all rows by {audit.name}", table=table, lines=(line,)
        ),
    )


def _slices(audit: Audit) -> tuple[Section, ...]:
    lines = []
    if audit.few:
        more = f" and {len(audit.few) - NAMED} more" if len(audit.few) > NAMED else ""
        named = ", ".join(audit.few[:NAMED])
        lines.append(f"Fewer than 10 ratings, not tested: {named}{more}.")
    if not audit.slices:
        return (
            (Section(title=f"Where {audit.name} errs", lines=(*lines,)),)
            if lines
            else ()
        )
    slices = audit.slices[:MOST_SLICES]
    names = labels([part.name for part in slices], NAME)
    gaps = [part.gap for part in slices]
    rows = tuple(
        zip(
            [names[part.name] for part in slices],
            [str(part.n) for part in slices],
            numbers([part.error for part in slices]),
            with_intervals([gap.value for gap in gaps], [gap.interval for gap in gaps]),
            [p_value(part.p_holm) for part in slices],
            strict=True,
        )
    )
    differs = "Nowhere is its error shown to differ."
    if shown := [part.name for part in audit.slices if part.significant]:
        differs = f"Its error differs in: {', '.join(shown)}."
    legend = "Error: mean of score minus rating; gap: this minus that elsewhere; p after Holm."
    if len(audit.slices) > len(slices):
        lines.append(
            f"The {len(slices)} clearest of {len(audit.slices)} slices, smallest p first."
        )
    lines = [differs, legend, *lines]
    table = Table(header=("slice", "ratings", "error", "gap [95 %]", "p"), rows=rows)
    return (Section(title=f"Where {audit.name} errs", table=table, lines=(*lines,)),)


def runs_lines(runs: Runs) -> tuple[str, str]:
    """Whether a judge says the same twice, and what its runs bring together."""
    return (
        f"{runs.runs} runs over {counted(runs.n, 'row')}: not all the same on {_cell(runs.flips)} "
        f"of them; standard deviation from run to run {number(runs.sd)}."
    ), (
        f"{NUMBERS[runs.measure].title} with people: {_cell(runs.single)} by one run, "
        f"{_cell(runs.together)} by all {runs.runs} together."
    )


def drift_section(drifts: Mapping[str, ScoreChange]) -> tuple[Section, ...]:
    """What changed since before."""
    if not drifts:
        return ()
    rows = tuple(
        (name, str(drift.n), _cell(drift.change), _cell(drift.flips))
        for name, drift in drifts.items()
    )
    header = ("judge", "texts", "change of the mean [95 %]", "changed [95 %]")
    table = Table(header=header, rows=rows)
    return (Section(title="Change since the earlier scores", table=table),)


def chapter(audit: Audit, worst: Section) -> tuple[Section, ...]:
    """One of several judges on a page: all of it under its name, folded away."""
    first, *rest = uses_section(audit), *audit_sections(audit), worst
    titles = ["" if part.title == audit.name else part.title for part in rest]
    return (
        replace(first, title=audit.name, folded=True),
        *(
            replace(
                part, title="", lines=(*([f"{title}:"] if title else []), *part.lines)
            )
            for part, title in zip(rest, titles, strict=True)
        ),
    )


def worst_sections(
    audits: Sequence[Audit], pool: RatedPool, rationales: Sequence[str]
) -> tuple[TextStore, tuple[Section, ...]]:
    """The texts on which judges and people are farthest apart, and where they are stored."""
    human = unscaled(pool.human, pool.scale).tolist()
    rows = {name: row for row, name in enumerate(pool.ids)}
    every = dict.fromkeys(name for each in audits for name in each.worst)
    places = {name: place for place, name in enumerate(every)}
    stored = tuple(
        Stored(id=name, cells=(number(human[rows[name]]),), text=pool.texts[rows[name]])
        for name in places
    )
    store = TextStore(header=("people",), texts=stored, title="The texts shown here")
    sections = []
    for audit in audits:
        worst = [rows[name] for name in audit.worst]
        why = [
            (clipped(rationales[row], CLIPPED),) if rationales else () for row in worst
        ]
        cells = tuple(
            (pool.ids[row], number(human[row]), number(error), *reason)
            for row, error, reason in zip(worst, audit.errors, why, strict=True)
        )
        header = (
            "id",
            "people",
            "judge minus people",
            *(["why"] if rationales else []),
            "text",
        )
        line = "The rows on which judge and people are farthest apart."
        sections.append(
            Section(
                title=f"Worst disagreements of {audit.name}",
                lines=(line if cells else "They agree on every row.",),
                texts=tuple(places[name] for name in audit.worst),
                cells=cells,
                header=header,
            )
        )
    return store, tuple(sections)
