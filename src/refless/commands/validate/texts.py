"""The rated texts in a report: each with its neighbours, as points, and the worst misses."""

import math
from collections.abc import Sequence

import numpy as np

from refless.commands.texts import HEADER, drawn, estimate_cells, nearest
from refless.data.human import canonical_order
from refless.data.records import Estimates, RatedPool
from refless.estimators import Estimator
from refless.estimators.protocol import rows_in
from refless.evaluation.validation import Validation, codes
from refless.metrics.matching import hold_out
from refless.registry.arrays import IntArray
from refless.registry.plural import counted
from refless.report.charts import Dot, chart
from refless.report.document import Figure, Key, Section, Store, Stored
from refless.report.plot import Axis, axis_over
from refless.report.wording import measure, number

MISSES = 10


def store_of(
    pool: RatedPool, estimates: Estimates, estimator: Estimator, labels: Sequence[str], seed: int
) -> tuple[Store, dict[int, int]]:
    """The texts that are shown, each with its neighbours, and the place of each row.

    Args:
        pool: the rated texts; estimates: of each, held out.
        estimator: with its parameters; it need not be fitted.
        labels: [n] what was held out together.
        seed: of the texts that are drawn where there are many.
    """
    shown = _shown(pool, seed).tolist()
    rows = list(dict.fromkeys([*shown, *_worst(pool, estimates)]))
    drawn_texts = estimator.drawn(pool)
    rated = rows_in(pool, drawn_texts).tolist()
    held, compare = codes(labels), estimator.similarity(drawn_texts)
    texts = [pool.texts[i] for i in rows]
    found = nearest(compare, texts, len(rated), hold_out(held[rows], held[rated]))
    near = {i: [(rated[j], s) for j, s in best] for i, best in zip(rows, found, strict=True)}
    extra = (other for best in list(near.values()) for other, _ in best)
    places = {row: place for place, row in enumerate(dict.fromkeys([*rows, *extra]))}
    stored = tuple(
        Stored(
            id=pool.ids[row],
            cells=(number(float(pool.human[row])), *estimate_cells(estimates, row)),
            text=pool.texts[row],
            near=tuple((places[other], s) for other, s in near.get(row, [])),
        )
        for row in places
    )
    title = "The rated texts" if len(stored) == len(pool) else "Rated texts shown here"
    nearest_by = f"Nearest rated texts by {compare.name}"
    return Store(header=HEADER, texts=stored, title=title, near=nearest_by), places


def _shown(pool: RatedPool, seed: int) -> IntArray:
    """Rows of the texts in the scatter plot, in canonical order."""
    return drawn(canonical_order(pool), seed)


def _worst(pool: RatedPool, estimates: Estimates) -> list[int]:
    """Rows of the texts whose estimates are farthest from the human rating."""
    errors = np.abs(estimates.values - pool.human)
    known = [i for i in canonical_order(pool).tolist() if not math.isnan(errors[i])]
    return sorted(known, key=lambda i: -errors[i])[:MISSES]


def scatter_section(result: Validation, places: dict[int, int], seed: int) -> Section:
    """Estimate against human rating, text by text.

    Args:
        result: the numbers.
        places: the place of each row among the stored texts.
        seed: as for `store_of`.
    """
    pool, values = result.pool, result.estimates.values
    shown = _shown(pool, seed).tolist()
    units = "0 to 1" if pool.scale else "in the raters' units"
    dots = [Dot(x=float(values[i]), y=float(pool.human[i]), text=places[i]) for i in shown]
    x = axis_over(values.tolist(), f"estimate, {units}")
    y = axis_over(pool.human.tolist(), f"mean rating by people, {units}")
    said = (
        f"Scatter plot of {counted(len(dots), 'text')}, estimate across and mean rating upwards. "
        f"Spearman {measure(result.estimator, 'spearman')}. Arrow keys go from text to text."
    )
    none = any(math.isnan(dot.x) for dot in dots)
    keys = (
        Key(name="a text", style="dot"),
        *((Key(name="without an estimate", style="dot none"),) if none else ()),
        Key(name="estimate = rating", style="mark c2"),
    )
    caption = f"Each text, estimated without {left_out(result)}.{_ends(x, y)}"
    if len(dots) < len(pool):
        caption += f" {len(dots):,} of {counted(len(pool), 'text')}, drawn at random."
    svg = chart(x, y, said, dots=dots, diagonal=True, strip="none")
    figure = Figure(svg=svg, caption=caption, keys=keys, linked=True)
    return Section(title="Estimate against human rating", figures=(figure,))


def left_out(result: Validation) -> str:
    """What a text's estimate does not rest on."""
    group = result.signature.get("heldout") or "id"
    return "its own rating" if group == "id" else f"the ratings of its {group}"


def _ends(x: Axis, y: Axis) -> str:
    """That the axes differ, where they do."""
    if (x.low, x.high) == (y.low, y.high):
        return ""
    less = ": estimates spread less than ratings" if x.high - x.low < y.high - y.low else ""
    return f" The axes have different ends{less}."


def worst_section(result: Validation, places: dict[int, int]) -> Section:
    """The texts whose estimates are farthest from what people gave."""
    pool, values = result.pool, result.estimates.values
    worst = _worst(pool, result.estimates)
    cells = []
    for i in worst:
        numbers = (pool.human[i], values[i], values[i] - pool.human[i])
        cells.append((pool.ids[i], *(number(float(value)) for value in numbers)))
    line = "The largest differences between estimate and mean rating."
    return Section(
        title="Worst misses",
        lines=(line if worst else "No text has an estimate.",),
        texts=tuple(places[i] for i in worst),
        cells=tuple(cells),
        header=("id", "people", "estimate", "difference", "text"),
    )
