"""The HTML report of `refless score`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.estimators import Estimator
from refless.records import IntArray
from refless.report.charts import Dot, Line, Mark, histogram, rows, scatter
from refless.report.coverage import coverage_chapter
from refless.report.nearest import comparison, nearest
from refless.report.page import Chapter, Figure, Key, Page, Store, Stored, caveats, interval
from refless.report.parts import Advice, advice_sections
from refless.report.plot import axis_over
from refless.report.trust import MOST_POINTS
from refless.report.verdict import estimator_name, worth
from refless.report.view import Table, clipped, number, with_interval
from refless.signature import Signature
from refless.studies.scoring import Scored

MOST_SYSTEMS = 30  # rows of the chart; the table has all
WHETHER = (
    "Whether these estimates deserve trust is another question: run 'refless validate' on the "
    "rated texts with the same settings."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a report needs beyond the numbers: the fitted estimator, the command line, the seed."""

    estimator: Estimator
    command: str
    seed: int


def scored_page(
    scored: Scored, signature: Signature, advice: Advice | None, evidence: Evidence
) -> Page:
    """The report of `refless score`."""
    estimator = evidence.estimator
    name, scale = estimator_name(signature), estimator.rated.scale
    shown = _shown(scored, evidence.seed)
    store = _store(scored, estimator, shown)
    outputs, mean = scored.outputs, scored.overall
    return Page(
        title=f"{name} on {len(outputs):,} outputs",
        verdict=worth(name, scored.overall, scale),
        notes=(WHETHER,),
        facts=(
            ("Mean estimate", number(mean.mean), interval(mean.interval)),
            ("Coverage", number(mean.coverage), f"{mean.n_scored:,} of {mean.n:,} outputs"),
            ("Rated texts", f"{len(estimator.rated):,}", "that estimates rest on"),
        ),
        advice=advice_sections(advice),
        chapters=(
            *_systems(scored),
            _estimates(scored, shown),
            coverage_chapter(outputs.texts, outputs.tasks, scored.estimates),
            caveats(),
        ),
        store=store,
        signature=str(signature),
        command=evidence.command,
    )


def _shown(scored: Scored, seed: int) -> IntArray:
    """Rows of the outputs in the scatter plot, in an order that is not that of the rows."""
    outputs = scored.outputs
    keys = list(zip(outputs.texts, outputs.ids, strict=True))
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    if len(order) <= MOST_POINTS:
        return order
    drawn = np.random.default_rng(seed).choice(len(order), MOST_POINTS, replace=False)
    return order[np.sort(drawn)]


def _store(scored: Scored, estimator: Estimator, shown: IntArray) -> Store:
    """The outputs that are shown, and after them the rated texts near to them."""
    rated, compare = estimator.rated, comparison(estimator)
    picked = shown.tolist()
    found = [*nearest(compare, [scored.outputs.texts[i] for i in picked], len(rated))]
    extra = dict.fromkeys(other for best in found for other, _ in best)
    places = {row: place for place, row in enumerate(extra, len(picked))}
    outputs = [
        _stored(scored, i, tuple((places[j], s) for j, s in best))
        for i, best in zip(picked, found, strict=True)
    ]
    neighbors = [
        Stored(
            id=f"rated {rated.ids[row]}",
            cells=(number(float(rated.truth[row])), "", "", ""),
            text=rated.texts[row],
        )
        for row in extra
    ]
    return Store(
        header=("people", "estimate", "support", "no estimate"),
        texts=(*outputs, *neighbors),
        title="The outputs, and the rated texts near to them",
        near=f"Nearest rated texts by {compare.name}",
    )


def _stored(scored: Scored, i: int, near: tuple[tuple[int, float], ...]) -> Stored:
    e = scored.estimates
    value = with_interval(float(e.values[i]), (float(e.low[i]), float(e.high[i])))
    cells = ("", value, str(e.support[i]), e.reasons[i])
    return Stored(id=e.ids[i], cells=cells, text=scored.outputs.texts[i], near=near)


def _systems(scored: Scored) -> tuple[Chapter, ...]:
    """Each system's mean estimate; the best one first."""
    if len(scored.systems) < 2:
        return ()
    ranked = sorted(
        scored.systems.items(),
        key=lambda pair: (math.isnan(pair[1].mean), -pair[1].mean, pair[0]),
    )
    lines = [Line(name=name, value=mean.mean, interval=mean.interval) for name, mean in ranked]
    lines = lines[:MOST_SYSTEMS]
    x = axis_over([end for line in lines for end in (line.value, *line.interval)], "mean estimate")
    label = "Mean estimate of each system: " + ", ".join(
        f"{line.name} {number(line.value)}" for line in lines
    )
    table = Table(
        header=("system", "mean estimate [95 %]", "coverage", "outputs"),
        rows=tuple(
            (
                clipped(name),
                with_interval(mean.mean, mean.interval),
                number(mean.coverage),
                f"{mean.n:,}",
            )
            for name, mean in ranked
        ),
        numeric=(False, True, True, True),
    )
    caption = (
        "Points are means, whiskers 95 % intervals for the mean rating that people would give. "
        "Systems whose intervals overlap are not told apart here."
    )
    figure = Figure(svg=rows(lines, x, label), caption=caption, table=table)
    return (Chapter(title="Systems", figures=(figure,)),)


def _estimates(scored: Scored, shown: IntArray) -> Chapter:
    """How estimates spread, and whether they are lengths in disguise."""
    values = scored.estimates.values
    lengths = [len(text) for text in scored.outputs.texts]
    mark = Mark(value=scored.overall.mean, style="c1", interval=scored.overall.interval)
    svg, counted = histogram(
        values,
        f"Estimates of {scored.overall.n_scored:,} outputs, mean {number(scored.overall.mean)}",
        x="estimate",
        y="outputs",
        marks=() if math.isnan(mark.value) else (mark,),
    )
    spread = Figure(
        svg=svg,
        caption="How many outputs have which estimate.",
        table=Table(header=("estimate", "outputs"), rows=counted, numeric=(False, True)),
        keys=(Key(name="mean, with its 95 % interval", style="mark c1"),),
    )
    dots = _dots(shown, values.tolist(), lengths)
    points = Figure(
        svg=scatter(
            dots,
            axis_over(values.tolist(), "estimate"),
            axis_over(lengths, "length in characters"),
            f"Scatter plot of {len(dots):,} outputs, estimate across and length upwards. Arrow "
            "keys go from text to text.",
            strip="none",
        ),
        caption="Estimate and length of each output: where all points lie on one line, estimates "
        "tell no more than length does.",
        linked=True,
    )
    return Chapter(title="The estimates", figures=(points, spread))


def _dots(shown: IntArray, values: Sequence[float], lengths: Sequence[int]) -> list[Dot]:
    return [
        Dot(x=values[i], y=float(lengths[i]), text=place) for place, i in enumerate(shown.tolist())
    ]
