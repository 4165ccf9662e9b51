"""The view and the report's chapter of `refless score --best-of`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refless.records import Scale
from refless.report.charts import Line, rows
from refless.report.page import Chapter, Figure, Page, interval
from refless.report.parts import Advice, signature_section
from refless.report.plot import axis_over
from refless.report.scores import (
    ALL_ITEMS,
    ENDS,
    estimate_of,
    row_of,
    scored_view,
    summary_sections,
)
from refless.report.view import Cell, Section, Table, View, clipped, number, with_interval
from refless.signature import Signature
from refless.studies.best_of import BestOf, Choice
from refless.studies.scoring import Scored

CAUTION = (
    "The highest of several noisy estimates can be too kind to what is chosen (the winner's "
    "curse): the real gain may be smaller than the difference. Have people rate some of the chosen."
)
NO_CHOICE = "There was nothing to choose: no {} has two outputs with an estimate."
TITLE = "The best output of each {}"


def best_of_view(
    scored: Scored,
    best: BestOf,
    signature: Signature,
    scale: Scale | None,
    advice: Advice | None,
) -> View:
    """The view of `refless score --best-of`: that of `refless score`, its rows one an item."""
    plain = scored_view(scored, signature, scale, advice)
    return View(
        json={**plain.json, "best_of": _as_dict(scored, best)},
        rows=[_row(scored, choice) for choice in best.choices],
        sections=(
            *summary_sections(scored, scale, advice),
            replace(_means(best), title=TITLE.format(best.by)),
            *_fallback(best),
            *_items(scored, best),
            signature_section(signature),
        ),
    )


def with_best_of(page: Page, scored: Scored, best: BestOf) -> Page:
    """The report of `refless score` with what was chosen before everything else."""
    chosen = best.chosen
    fact = (f"Best of each {best.by}", number(chosen.mean), interval(chosen.interval))
    return replace(
        page, facts=(*page.facts, fact), chapters=(_chapter(scored, best), *page.chapters)
    )


def _as_dict(scored: Scored, best: BestOf) -> dict[str, object]:
    return {
        "by": best.by,
        "n": best.chosen.n,
        "n_chosen": best.chosen.n_scored,
        "n_tied": best.n_tied,
        "n_fallback": best.n_fallback,
        "fallback_below": best.fallback_below,
        "mean": best.chosen.mean,
        "mean_interval": list(best.chosen.interval),
        "random_mean": best.random.mean,
        "random_mean_interval": list(best.random.interval),
        "difference": best.difference,
        "difference_interval": list(best.difference_interval),
        "caution": CAUTION,
        "items": [_item(scored, choice) for choice in best.choices],
    }


def _item(scored: Scored, choice: Choice) -> dict[str, object]:
    return {
        "item": choice.item,
        **_chosen(scored, choice.best),
        "candidates": len(choice.rows),
        "n_scored": choice.n_scored,
        "reasons": choice.reasons,
        "fallback": choice.fallback,
    }


def _chosen(scored: Scored, i: int | None) -> dict[str, object]:
    if i is None:
        return {**dict.fromkeys(("id", "text", "estimate")), "interval": [None, None]}
    estimates = scored.estimates
    return {
        "id": estimates.ids[i],
        "text": scored.outputs.texts[i],
        "estimate": float(estimates.values[i]),
        "interval": [float(estimates.low[i]), float(estimates.high[i])],
    }


def _row(scored: Scored, choice: Choice) -> dict[str, Cell]:
    """The chosen output as `refless score` has it, and its item; empty where there is none."""
    cells: Mapping[str, Cell]
    if choice.best is None:
        cells = {**dict.fromkeys(row_of(scored, choice.rows[0])), "reason": _reasons(choice)}
    else:
        cells = row_of(scored, choice.best)
    return {
        "item": choice.item,
        **cells,
        "candidates": len(choice.rows),
        "n_scored": choice.n_scored,
        "fallback": choice.fallback,
    }


def _reasons(choice: Choice) -> str:
    return ", ".join(choice.reasons)


def _table(best: BestOf) -> Table:
    means = {
        f"best of each {best.by}": (best.chosen.mean, best.chosen.interval),
        "one at random": (best.random.mean, best.random.interval),
        "difference": (best.difference, best.difference_interval),
    }
    cells = tuple((name, with_interval(*mean)) for name, mean in means.items())
    return Table(header=("", "mean estimate [95 %]"), rows=cells, numeric=(False, True))


def _means(best: BestOf) -> Section:
    """What choosing promises; no table where there was nothing to choose."""
    if all(choice.n_scored < 2 for choice in best.choices):
        return Section(lines=(_how(best), NO_CHOICE.format(best.by)))
    return Section(lines=(_how(best), CAUTION), table=_table(best))


def _how(best: BestOf) -> str:
    n = sum(len(choice.rows) for choice in best.choices)
    tied = f" In {best.n_tied} {best.by}s several are equal." if best.n_tied else ""
    return (
        f"{best.chosen.n_scored} chosen from {n} outputs for {best.chosen.n} {best.by}s: the "
        f"highest estimate of each, of equal ones the earliest row.{tied}"
    )


def _fallback(best: BestOf) -> tuple[Section, ...]:
    """How many items fall back, and why."""
    missing = best.chosen.n - best.chosen.n_scored
    why = (
        []
        if best.fallback_below is None
        else [f"best estimate below {best.fallback_below:g}: {best.n_fallback - missing}"]
    )
    if not why and not missing:
        return ()
    why.append(f"no estimate: {missing}")
    line = f"Fallback: {best.n_fallback} of {best.chosen.n} {best.by}s ({', '.join(why)})."
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
    texts = scored.outputs.texts
    cells = tuple(
        (
            clipped(choice.item, 12),
            "-" if choice.best is None else clipped(scored.outputs.ids[choice.best], 10),
            _reasons(choice) if choice.best is None else estimate_of(scored, choice.best),
            str(len(choice.rows)),
            "yes" if choice.fallback else "no",
            "-" if choice.best is None else clipped(texts[choice.best], 20),
        )
        for choice in some
    )
    header = (by, "id", "estimate", "of", "fallback", "text")
    return Table(header=header, rows=cells, numeric=(False, False, False, True, False, False))


def _chapter(scored: Scored, best: BestOf) -> Chapter:
    means = _means(best)
    return Chapter(
        title=TITLE.format(best.by),
        lines=means.lines,
        figures=() if means.table is None else (_figure(best, means.table),),
        sections=(*_fallback(best), *_items(scored, best)),
    )


def _figure(best: BestOf, table: Table) -> Figure:
    lines = [
        Line(name=f"best of each {best.by}", value=best.chosen.mean, interval=best.chosen.interval),
        Line(name="one at random", value=best.random.mean, interval=best.random.interval),
    ]
    x = axis_over([end for line in lines for end in (line.value, *line.interval)], "mean estimate")
    label = "Mean estimate: " + ", ".join(f"{line.name} {number(line.value)}" for line in lines)
    difference = with_interval(best.difference, best.difference_interval)
    return Figure(
        svg=rows(lines, x, label),
        caption="Points are means, whiskers 95 % intervals for the mean rating that people would "
        f"give. The difference is {difference}: judge by it, and not by whether whiskers overlap, "
        f"as both stand on the same {best.by}s.",
        table=table,
    )
