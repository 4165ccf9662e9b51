"""Charts of threshold sweeps and learning curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.records import FloatArray
from refless.report.charts import Mark, Series, curves
from refless.report.page import Chapter, Figure, Key
from refless.report.plot import axis_over
from refless.report.view import Table, number, with_interval
from refless.studies.learning_curve import Forecast, LearningCurve
from refless.studies.thresholds import FEWEST_TEXTS, Thresholds

AXES = {
    "tau": "tau, least similarity of a neighbour",
    "min_neighbors": "a, fewest neighbours",
    "max_fraction": "b, largest share of neighbours",
}
SPEARMAN = Key(name="Spearman, with its 95 % interval", style="line c0")
COVERAGE = Key(name="coverage", style="line c1")
ANNOTATOR = Key(name="one average annotator's Spearman", style="mark c2")
IN_FORCE = Key(name="setting in force", style="mark c3")


@dataclass(frozen=True, slots=True)
class _Cut:
    """One axis of a grid, with the other two held at the setting in force; NaN on few texts."""

    name: str
    x: FloatArray
    spearman: FloatArray
    low: FloatArray
    high: FloatArray
    coverage: FloatArray
    mse: FloatArray
    at: float


def thresholds_chapter(
    found: Thresholds, setting: tuple[float, float, float], human: float = math.nan
) -> Chapter:
    """What each threshold does while the others stay as they are.

    Args:
        found: the grid.
        setting: tau, a, b in force; the nearest point of the grid stands for them.
        human: Spearman of one average annotator, NaN without a yardstick.
    """
    cuts = [
        cut
        for axis in range(3)
        if len(_axes(found)[axis]) > 1
        for cut in [_cut(found, axis, setting)]
    ]
    better = int(((found.spearman > human) & (found.n_scored >= FEWEST_TEXTS)).sum())
    settings = found.spearman.size
    lines = [
        (
            "Each chart varies one threshold and leaves the others as they are. Choosing the best "
            "point of these charts and reporting it for the same texts would flatter it."
        )
    ]
    if not math.isnan(human):
        lines.append(
            f"{better:,} of {settings:,} combinations of tau, a and b have a higher Spearman than "
            f"one average annotator, on {FEWEST_TEXTS} texts or more."
        )
    return Chapter(
        title="Other thresholds",
        lines=tuple(lines),
        figures=tuple(_cut_figure(c, human) for c in cuts),
    )


def _axes(found: Thresholds) -> tuple[FloatArray, FloatArray, FloatArray]:
    return found.taus, found.min_neighbors.astype(np.float64), found.max_fractions


def _cut(found: Thresholds, axis: int, setting: tuple[float, float, float]) -> _Cut:
    axes = _axes(found)
    places = [
        int(np.argmin(np.abs(values - value))) for values, value in zip(axes, setting, strict=True)
    ]

    index: list[int | slice] = [*places]
    index[axis] = slice(None)
    enough = found.n_scored[tuple(index)] >= FEWEST_TEXTS

    def along(grid: FloatArray) -> FloatArray:
        return np.where(enough, grid[tuple(index)], math.nan)

    return _Cut(
        name=AXES.get(found.axes[axis], found.axes[axis]),
        x=axes[axis],
        spearman=along(found.spearman),
        low=along(found.spearman_interval[..., 0]),
        high=along(found.spearman_interval[..., 1]),
        coverage=found.coverage[tuple(index)],
        mse=along(found.mse),
        at=setting[axis],
    )


def _cut_figure(cut: _Cut, human: float) -> Figure:
    x = axis_over([*cut.x.tolist(), cut.at], cut.name)
    y = axis_over([0.0, 1.0, *cut.spearman.tolist()], "Spearman, coverage")
    series = [
        Series(x=cut.x.tolist(), y=cut.coverage.tolist(), style="c1"),
        Series(
            x=cut.x.tolist(),
            y=cut.spearman.tolist(),
            style="c0",
            low=cut.low.tolist(),
            high=cut.high.tolist(),
        ),
    ]
    short = cut.name.partition(",")[0]
    label = f"Spearman and coverage against {short}"
    table = Table(
        header=(short, "Spearman [95 %]", "MSE", "coverage"),
        rows=tuple(
            (f"{at:g}", with_interval(rho, (low, high)), number(mse, 4), number(share))
            for at, rho, low, high, mse, share in zip(
                *(column.tolist() for column in (cut.x, cut.spearman, cut.low, cut.high)),
                *(column.tolist() for column in (cut.mse, cut.coverage)),
                strict=True,
            )
        ),
        numeric=(True, True, True, True),
    )
    keys = (SPEARMAN, COVERAGE, *(() if math.isnan(human) else (ANNOTATOR,)), IN_FORCE)
    level = None if math.isnan(human) else Mark(value=human, style="c2")
    svg = curves(series, x, y, label, level=level, at=cut.at)
    return Figure(svg=svg, caption=f"{label}, which is now {cut.at:g}.", table=table, keys=keys)


def learning_chapter(found: LearningCurve, human: float = math.nan) -> Chapter:
    """How agreement grows with the number of rated texts, and what more would bring.

    Args:
        found: the curve.
        human: Spearman of one average annotator, NaN without a yardstick.
    """
    lines = [
        (
            f"Each point is the mean over {found.repetitions} random subsets of the rated texts, "
            "the band one standard deviation to each side."
        )
    ]
    names = [name for name in ("spearman", "mse") if name in found.mean]
    lines += [_outlook(found.forecast[name], name, found.more) for name in names]
    figures = tuple(_learning_figure(found, name, human) for name in names)
    return Chapter(title="More rated texts", lines=tuple(lines), figures=figures)


def _outlook(found: Forecast, name: str, more: int) -> str:
    title, digits = {"spearman": ("Spearman", 3), "mse": ("mean squared error", 4)}[name]
    if math.isnan(found.value):
        return f"What {more:,} more rated texts would do to the {title} cannot be told from these."
    gain = with_interval(found.gain, found.gain_interval, digits)
    value = with_interval(found.value, found.interval, digits)
    return (
        f"With {more:,} more rated texts the curve would reach a {title} of {value}, a change of "
        f"{gain}. That is an extrapolation, no measurement."
    )


def _learning_figure(found: LearningCurve, name: str, human: float) -> Figure:
    title, digits = {"spearman": ("Spearman", 3), "mse": ("mean squared error", 4)}[name]
    sizes: list[float] = found.sizes.astype(np.float64).tolist()
    mean, sd = found.mean[name], found.sd[name]
    ends = mean - sd, mean + sd
    if name == "spearman":
        ends = np.clip(ends[0], -1, 1), np.clip(ends[1], -1, 1)
    ranked = name == "spearman" and not math.isnan(human)
    level = Mark(value=human, style="c2") if ranked else None
    wanted = [0.0, *_finite(ends[0]), *_finite(ends[1]), *([human] if ranked else [])]
    series = [_series(sizes, mean, ends)]
    label = f"{title} against the number of rated texts"
    svg = curves(
        series,
        axis_over([0.0, *sizes], "rated texts"),
        axis_over(wanted, title),
        label,
        level=level,
    )
    coverage = found.mean.get("coverage", np.full(len(sizes), math.nan))
    table = Table(
        header=("rated texts", f"{title}, mean", "standard deviation", "coverage, mean"),
        rows=tuple(
            (f"{size:,.0f}", number(m, digits), number(s, digits), number(c))
            for size, m, s, c in zip(
                sizes, mean.tolist(), sd.tolist(), coverage.tolist(), strict=True
            )
        ),
        numeric=(True, True, True, True),
    )
    first = Key(name=f"{title}, mean ± one standard deviation", style="line c0")
    keys = (first, *((ANNOTATOR,) if ranked else ()))
    return Figure(svg=svg, caption=f"{label}.", table=table, keys=keys)


def _series(
    sizes: Sequence[float], mean: FloatArray, ends: tuple[FloatArray, FloatArray]
) -> Series:
    return Series(x=sizes, y=mean.tolist(), style="c0", low=ends[0].tolist(), high=ends[1].tolist())


def _finite(values: FloatArray) -> list[float]:
    return [value for value in values.tolist() if math.isfinite(value)]
