"""Charts of a training: estimate against human rating, and each network epoch by epoch."""

import math
from collections.abc import Sequence

import numpy as np

from refless.commands.texts import MOST_POINTS
from refless.extensions.ratpred.report.course import Course, Trained
from refless.registry.arrays import FloatArray
from refless.registry.plural import counted
from refless.report.charts import Dot, Mark, Series, chart
from refless.report.document import Figure, Key, Section, Table
from refless.report.plot import Axis, axis_over, whole_numbers
from refless.report.wording import measure, number
from refless.stats.intervals import UNDEFINED

SHOWN = 12  # epochs of a curve in its table
MOST_KNOTS = 40  # epochs of a curve whose points are drawn
SINGLE, LARGEST = 4.0, 14.0  # radius of a point of one text, and of the most texts
HALF = 0.5  # what the axis of correlations reaches at least: less would blow up noise
LATE = 0.1  # share of the epochs, the last ones, in which the best one suggests that more may help
CHOICE = (
    "After each epoch a network estimates the texts of the validation split, and its epoch with "
    "the highest Pearson + Spearman is kept. Each network is looked at alone, before its estimates "
    "are calibrated and clipped, so these correlations differ a little from those above."
)
KEPT = Key(name="the epoch that was kept", style="mark c3")
SYNTHETIC = Key(name="epochs that learned from synthetic errors too", style="bar band c2")


def scatter_section(trained: Trained) -> tuple[Section, ...]:
    """What the model says of the texts of the validation split, and what people gave."""
    human, values = _drawn(trained.model.validation, trained.seed)
    if len(human) == 0:
        return ()
    units = "0 to 1" if trained.model.about["scale"] else "in the raters' units"
    table, dots = _places(values, human)
    caption = "The texts of the validation split"
    several = len(table.rows) < len(human)
    caption += "; where several fall together the point is larger." if several else "."
    if trained.model.range.precision is not None and trained.signature.get("rounded") == "yes":
        caption += " Estimates are rounded to the steps of the ratings."
    if len(human) < trained.agreement.n:
        caption += f" {len(human):,} of {counted(trained.agreement.n, 'text')}, drawn at random."
    svg = chart(
        axis_over(values.tolist(), f"estimate, {units}"),
        axis_over(human.tolist(), f"mean rating by people, {units}"),
        f"Scatter plot of {counted(len(human), 'text')} of the validation split, "
        "estimate across and mean rating upwards. Spearman "
        f"{measure(trained.agreement, 'spearman')}.",
        dots=dots,
        diagonal=True,
    )
    keys = (Key(name="texts", style="dot"), Key(name="estimate = rating", style="mark c2"))
    figure = Figure(svg=svg, caption=caption, table=table, keys=keys)
    return (Section(title="Estimate against human rating", figures=(figure,)),)


def _drawn(validation: FloatArray, seed: int) -> FloatArray:
    """[2, n] human rating and estimate of the texts in the chart."""
    n = validation.shape[1]
    if n <= MOST_POINTS:
        return validation
    order = np.lexsort(validation)
    return validation[:, np.random.default_rng(seed).permutation(order)[:MOST_POINTS]]


def _places(values: FloatArray, human: FloatArray) -> tuple[Table, list[Dot]]:
    """Where texts are, with how many fall together: the area of a point tells it."""
    unique, counts = np.unique(np.stack([values, human]), axis=1, return_counts=True)
    places = [*zip(*unique.tolist(), counts.tolist(), strict=True)]
    radius = min(SINGLE, LARGEST / math.sqrt(counts.max()))
    dots = [Dot(x=x, y=y, radius=radius * math.sqrt(count)) for x, y, count in places]
    table = Table(
        header=("estimate", "people", "texts"),
        rows=tuple((number(value), number(people), str(count)) for value, people, count in places),
        numeric=(True, True, True),
    )
    return table, dots


def epochs_sections(trained: Trained, networks: Sequence[Course]) -> tuple[Section, ...]:
    """Each network epoch by epoch, all on the same axes."""
    most = max(len(course.epochs) for course in networks)
    axes = (
        whole_numbers(axis_over([1.0, float(most)], "epoch")),
        axis_over(
            [0.0, HALF, *_all(networks, "pearson"), *_all(networks, "spearman")],
            "correlation, validation split",
        ),
        axis_over([0.0, *_all(networks, "loss")], "training loss"),
    )
    opening = Section(title="Epoch by epoch", lines=(CHOICE, *_outlook(trained, networks)))
    return opening, *(_network(course, i, *axes) for i, course in enumerate(networks, 1))


def _network(course: Course, i: int, x: Axis, correlations: Axis, losses: Axis) -> Section:
    """One network: its charts, and a table of some epochs, the one that was kept among them."""
    n, kept, loss = len(course.epochs), course.epochs[course.kept], _values(course, "loss")
    places = {*np.linspace(0, n - 1, min(SHOWN, n)).astype(int).tolist(), course.kept}
    table = _table(course, sorted(places))
    every = table if len(places) == n else _table(course, range(n))
    agreement = (
        f"Epoch {kept['number']} of {n:,} was kept: Pearson {number(kept['pearson'])}, Spearman "
        f"{number(kept['spearman'])} on the validation split."
    )
    learning = (
        f"Loss on what the network learns from, mean over an epoch: {number(loss[0])} at first, "
        f"{number(loss[-1])} in the end."
    )
    figures = (
        _figure(course, ("pearson", "spearman"), correlations, agreement, x, every),
        _figure(course, ("loss",), losses, learning, x, every),
    )
    name = f"Network {i}: {counted(n, 'epoch')}"
    return Section(title=name, figures=figures, table=table)


def _outlook(trained: Trained, networks: Sequence[Course]) -> tuple[str, ...]:
    """Whether more epochs may do better."""
    late = [
        course
        for course in networks
        if len(course.epochs) - course.synthetic == trained.model.settings.epochs
        and course.kept + 1 > (1 - LATE) * len(course.epochs)
    ]
    if not late:
        return ()
    where = "" if len(networks) == 1 else f" of {len(late)} of {len(networks)} networks"
    return (f"The best epoch{where} is among the last: more epochs may do better.",)


def _all(networks: Sequence[Course], name: str) -> list[float]:
    return [value for course in networks for value in _values(course, name)]


def _values(course: Course, name: str) -> list[float]:
    """One number of each epoch, NaN where undefined."""
    return [math.nan if told[name] is None else float(told[name]) for told in course.epochs]


def _figure(
    course: Course, names: Sequence[str], y: Axis, caption: str, x: Axis, table: Table
) -> Figure:
    """Some numbers of each epoch as lines; the epoch that was kept and those with errors."""
    places = [float(told["number"]) for told in course.epochs]
    few = len(places) <= MOST_KNOTS
    series = [
        Series(x=places, y=_values(course, name), style=f"c{i}", knots=few)
        for i, name in enumerate(names)
    ]
    early = (0.5, course.synthetic + 0.5) if course.synthetic else UNDEFINED
    label = f"{y.label} by epoch. {caption}"
    marks = [
        Mark(value=math.nan, style="c2", interval=early),
        Mark(value=places[course.kept], style="c3"),
    ]
    svg = chart(x, y, label, series=series, marks=marks)
    drawn = (Key(name=name.capitalize(), style=f"line c{i}") for i, name in enumerate(names))
    shaded = (SYNTHETIC,) if course.synthetic else ()
    return Figure(svg=svg, caption=caption, table=table, keys=(*drawn, KEPT, *shaded))


def _table(course: Course, places: Sequence[int]) -> Table:
    """The epochs at some places of a course."""
    rows = tuple(
        (
            str(course.epochs[i]["number"]),
            "synthetic errors too" if course.epochs[i]["synthetic"] else "rated texts",
            number(course.epochs[i]["loss"]),
            number(course.epochs[i]["pearson"]),
            number(course.epochs[i]["spearman"]),
            "kept" if i == course.kept else "",
        )
        for i in places
    )
    header = ("epoch", "learned from", "loss", "Pearson", "Spearman", "")
    return Table(header=header, rows=rows, numeric=(True, False, True, True, True, False))
