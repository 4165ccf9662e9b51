"""Charts of threshold sweeps and learning curves."""

import math

import numpy as np

from refless.evaluation.learning_curve import Forecast, LearningCurve
from refless.evaluation.thresholds import FEWEST_TEXTS, Thresholds
from refless.registry.arrays import FloatArray
from refless.report.charts import Mark, Series, curves
from refless.report.document import Figure, Key, Section, Table
from refless.report.plot import axis_over
from refless.report.wording import number, with_interval

SHOWN = {"spearman": ("Spearman", 3), "mse": ("mean squared error", 4)}
AXES = {
    "tau": "tau, least similarity of a neighbour",
    "min_neighbors": "a, fewest neighbours",
    "max_fraction": "b, largest share of neighbours",
}
SPEARMAN = Key(name="Spearman, with its 95 % interval", style="line c0")
COVERAGE = Key(name="coverage", style="line c1")
ANNOTATOR = Key(name="one average annotator's Spearman", style="mark c2")
IN_FORCE = Key(name="setting in force", style="mark c3")


def thresholds_section(
    found: Thresholds, setting: tuple[float, float, float], human: float = math.nan
) -> Section:
    """What each threshold does while the others stay as they are.

    Args:
        found: the grid.
        setting: tau, a, b in force; the nearest point of the grid stands for them.
        human: Spearman of one average annotator, NaN without a yardstick.
    """
    varied = [axis for axis, values in enumerate(_axes(found)) if len(values) > 1]
    lines = [
        (
            "Each chart varies one threshold and leaves the others as they are. The best point of "
            "these charts does better here than it would on other texts: do not report it."
        )
    ]
    if not math.isnan(human):
        better = int(((found.spearman > human) & (found.n_scored >= FEWEST_TEXTS)).sum())
        lines.append(
            f"{better:,} of {found.spearman.size:,} combinations of tau, a and b have a higher "
            f"Spearman than one average annotator, on {FEWEST_TEXTS} texts or more; that is a "
            "count, and no test of any of them."
        )
    return Section(
        title="Other thresholds",
        lines=tuple(lines),
        figures=tuple(_varied(found, axis, setting, human) for axis in varied),
    )


def _axes(found: Thresholds) -> tuple[FloatArray, FloatArray, FloatArray]:
    return found.taus, found.min_neighbors.astype(np.float64), found.max_fractions


def _varied(
    found: Thresholds, axis: int, setting: tuple[float, float, float], human: float
) -> Figure:
    """One axis of the grid, the other two held at the setting in force."""
    axes, at = _axes(found), setting[axis]
    index: list[int | slice] = [
        int(np.argmin(np.abs(values - value))) for values, value in zip(axes, setting, strict=True)
    ]
    index[axis] = slice(None)
    cut, x = tuple(index), axes[axis].tolist()
    enough = found.n_scored[cut] >= FEWEST_TEXTS
    grids = (found.spearman, *np.moveaxis(found.spearman_interval, -1, 0), found.mse)
    rho, low, high, mse = (np.where(enough, grid[cut], math.nan).tolist() for grid in grids)
    coverage = found.coverage[cut].tolist()
    name = AXES.get(found.axes[axis], found.axes[axis])
    short = name.partition(",")[0]
    label = f"Spearman and coverage against {short}"
    rows = zip(x, rho, zip(low, high, strict=True), mse, coverage, strict=True)
    table = Table(
        header=(short, "Spearman [95 %]", "MSE", "coverage"),
        rows=tuple(
            (f"{value:g}", with_interval(r, ends), number(error, 4), number(share))
            for value, r, ends, error, share in rows
        ),
        numeric=(True, True, True, True),
    )
    keys = (SPEARMAN, COVERAGE, *(() if math.isnan(human) else (ANNOTATOR,)), IN_FORCE)
    svg = curves(
        [
            Series(x=x, y=coverage, style="c1"),
            Series(x=x, y=rho, style="c0", low=low, high=high),
        ],
        axis_over([*x, at], name),
        axis_over([0.0, 1.0, *rho], "Spearman, coverage"),
        label,
        level=None if math.isnan(human) else Mark(value=human, style="c2"),
        at=at,
    )
    return Figure(svg=svg, caption=f"{label}, which is now {at:g}.", table=table, keys=keys)


def learning_section(found: LearningCurve, human: float = math.nan) -> Section:
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
    names = [name for name in SHOWN if name in found.mean]
    lines += [_outlook(found.forecast[name], name, found.more) for name in names]
    figures = tuple(_learning_figure(found, name, human) for name in names)
    return Section(title="More rated texts", lines=tuple(lines), figures=figures)


def _outlook(found: Forecast, name: str, more: int) -> str:
    title, digits = SHOWN[name]
    if math.isnan(found.value):
        return f"These ratings cannot tell what {more:,} more would do to the {title}."
    gain = with_interval(found.gain, found.gain_interval, digits)
    value = with_interval(found.value, found.interval, digits)
    return (
        f"With {more:,} more rated texts the curve would reach a {title} of {value}, a change of "
        f"{gain}. That is extrapolated, not measured."
    )


def _learning_figure(found: LearningCurve, name: str, human: float) -> Figure:
    title, digits = SHOWN[name]
    sizes: list[float] = found.sizes.astype(np.float64).tolist()
    mean, sd = found.mean[name], found.sd[name]
    ends = mean - sd, mean + sd
    if name == "spearman":
        ends = np.clip(ends[0], -1, 1), np.clip(ends[1], -1, 1)
    ranked = name == "spearman" and not math.isnan(human)
    level = Mark(value=human, style="c2") if ranked else None
    wanted = [0.0, *_finite(ends[0]), *_finite(ends[1]), *([human] if ranked else [])]
    low, high = (end.tolist() for end in ends)
    series = [Series(x=sizes, y=mean.tolist(), style="c0", low=low, high=high)]
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


def _finite(values: FloatArray) -> list[float]:
    return [value for value in values.tolist() if math.isfinite(value)]
