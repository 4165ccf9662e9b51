"""What `refless score --best-of` chose, as sections of the report of `refless score`."""

from collections.abc import Sequence

from refless.commands.texts import estimate_or_reason
from refless.evaluation.best_of import BestOf, Choice
from refless.evaluation.scoring import Scored
from refless.registry.plural import counted
from refless.report.charts import Line, row_chart
from refless.report.document import Figure, Section, Table
from refless.report.wording import clipped, with_interval

ALL_ITEMS, ENDS = 20, 5  # up to so many are all shown, else so many of the lowest and the highest
CAUTION = (
    "The highest of several noisy estimates tends to be too high (the winner's curse): the real "
    "gain may be smaller than the difference. Have people rate some of the chosen outputs."
)


def best_of_sections(scored: Scored, best: BestOf) -> tuple[Section, ...]:
    """What choosing promises, what falls back, and what was chosen."""
    return (_means(best), *_fallback(best), *_items(scored, best))


def _means(best: BestOf) -> Section:
    """What choosing promises; no numbers where there was nothing to choose."""
    title = f"The best output of each {best.by}"
    if all(choice.n_scored < 2 for choice in best.choices):
        nothing = f"There was nothing to choose: no {best.by} has two outputs with an estimate."
        return Section(title=title, lines=(_how(best), nothing))
    lines = [
        Line(
            name=f"best of each {best.by}",
            value=best.chosen.mean,
            interval=best.chosen.mean_interval,
        ),
        Line(name="one at random", value=best.random.mean, interval=best.random.mean_interval),
        Line(name="difference", value=best.difference, interval=best.difference_interval),
    ]
    table = Table(
        header=("", "mean estimate [95 %]"),
        rows=tuple((line.name, with_interval(line.value, line.interval)) for line in lines),
    )
    caption = (
        "Points are means, whiskers 95 % intervals for the mean rating that the same raters "
        "would give. "
        f"The difference is {table.rows[2][1]}: look at it, and not at whether whiskers overlap, "
        f"as both stand on the same {best.by}s."
    )
    svg = row_chart(lines[:2], "mean estimate", "Mean estimate")
    figure = Figure(svg=svg, caption=caption, table=table)
    return Section(title=title, lines=(_how(best), CAUTION), figures=(figure,), table=table)


def _how(best: BestOf) -> str:
    n = sum(len(choice.rows) for choice in best.choices)
    tied = f" In {counted(best.n_tied, best.by)} several are equal." if best.n_tied else ""
    return (
        f"{best.chosen.n_scored} chosen from {counted(n, 'output')} for "
        f"{counted(best.chosen.n, best.by)}: the highest estimate of each, of equal ones the "
        f"earliest row.{tied}"
    )


def _fallback(best: BestOf) -> tuple[Section, ...]:
    """How many items fall back, and why."""
    missing = best.chosen.n - best.chosen.n_scored
    below = best.fallback_below
    few = best.n_fallback - missing
    why = [] if below is None else [f"best estimate below {below:g}: {few}"]
    if not why and not missing:
        return ()
    why.append(f"no estimate: {missing}")
    line = f"Fallback: {best.n_fallback} of {counted(best.chosen.n, best.by)} ({', '.join(why)})."
    return (Section(lines=(line,)),)


def _items(scored: Scored, best: BestOf) -> tuple[Section, ...]:
    """All items, or those without a choice and the ends of the others."""
    if not best.choices:
        return ()
    if len(best.choices) <= ALL_ITEMS:
        return (Section(title="Chosen", table=_items_table(scored, best.choices, best.by)),)
    values = scored.estimates.values
    ranked = sorted(
        (choice for choice in best.choices if choice.best is not None),
        key=lambda choice: values[choice.best],
    )
    ends = {
        "Without a choice": [choice for choice in best.choices if choice.best is None][:ENDS],
        "Lowest of the chosen": ranked[:ENDS],
        "Highest of the chosen": ranked[: -ENDS - 1 : -1],
    }
    return (
        *(
            Section(title=name, table=_items_table(scored, some, best.by))
            for name, some in ends.items()
            if some
        ),
        Section(lines=("All of them: add -o best.csv",)),
    )


def _items_table(scored: Scored, some: Sequence[Choice], by: str) -> Table:
    rows = tuple(
        (
            clipped(choice.item, 12),
            *_chosen(scored, choice),
            str(len(choice.rows)),
            "yes" if choice.fallback else "no",
            "-" if choice.best is None else clipped(scored.outputs.texts[choice.best], 20),
        )
        for choice in some
    )
    header = (by, "id", "estimate", "of", "fallback", "text")
    return Table(header=header, rows=rows, numeric=(False, False, False, True, False, False))


def _chosen(scored: Scored, choice: Choice) -> tuple[str, str]:
    """The chosen output's id and estimate, or why there is none."""
    if choice.best is None:
        return "-", ", ".join(choice.reasons)
    shown = estimate_or_reason(scored.estimates, choice.best)
    return clipped(scored.outputs.ids[choice.best], 10), shown
