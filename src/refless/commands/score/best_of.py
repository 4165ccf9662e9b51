"""What `refless score --best-of` chose, as sections of the report of `refless score`."""

from collections.abc import Sequence

from refless.commands.texts import estimate_or_reason
from refless.evaluation.best_of import BestOf, Choice
from refless.evaluation.scoring import Scored
from refless.registry.plural import counted
from refless.report.document import Section, Table
from refless.report.wording import clipped

MOST_ITEMS = 20  # shown


def best_of_sections(scored: Scored, best: BestOf) -> tuple[Section, ...]:
    """What falls back, and what was chosen."""
    return (_how(best), *_fallback(best), *_items(scored, best))


def _how(best: BestOf) -> Section:
    """How many were chosen from how many."""
    n, items = sum(len(choice.rows) for choice in best.choices), len(best.choices)
    tied = f" In {counted(best.n_tied, best.by)} several are equal." if best.n_tied else ""
    how = (
        f"{best.n_scored} chosen from {counted(n, 'output')} for {counted(items, best.by)}: the "
        f"highest estimate of each, of equal ones the earliest row.{tied} 'refless validate "
        f"--group {best.by}' tells what such a choice is worth."
    )
    if all(choice.n_scored < 2 for choice in best.choices):
        how = f"There was nothing to choose: no {best.by} has two outputs with an estimate."
    return Section(title=f"The best output of each {best.by}", lines=(how,))


def _fallback(best: BestOf) -> tuple[Section, ...]:
    """How many items fall back, and why."""
    items = len(best.choices)
    missing = items - best.n_scored
    below = best.fallback_below
    few = best.n_fallback - missing
    why = [] if below is None else [f"best estimate below {below:g}: {few}"]
    if not why and not missing:
        return ()
    why.append(f"no estimate: {missing}")
    line = f"Fallback: {best.n_fallback} of {counted(items, best.by)} ({', '.join(why)})."
    return (Section(lines=(line,)),)


def _items(scored: Scored, best: BestOf) -> tuple[Section, ...]:
    """The first items, and how to have all."""
    if not best.choices:
        return ()
    table = _items_table(scored, best.choices[:MOST_ITEMS], best.by)
    more = len(best.choices) - MOST_ITEMS
    lines = (f"{more:,} more: add -o best.csv",) if more > 0 else ()
    return (Section(title="Chosen", table=table, lines=lines),)


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
