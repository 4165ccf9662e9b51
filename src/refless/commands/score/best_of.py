"""What `refless score --best-of` chose, as sections of the report of `refless score`."""

from collections.abc import Sequence

from refless.commands.texts import estimate_or_reason
from refless.evaluation.best_of import BestOf, Choice
from refless.evaluation.scoring import Scored
from refless.registry.plural import counted
from refless.report.document import Section, Table
from refless.report.wording import clipped

ALL_ITEMS, ENDS = 20, 5  # up to so many are all shown, else so many of the lowest and the highest


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
