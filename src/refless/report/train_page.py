"""The HTML report of `refless train`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from refless.records import FloatArray
from refless.report.charts import Series, cloud, curves, whole
from refless.report.page import Chapter, Figure, Key, Page, caveats, interval
from refless.report.parts import measure
from refless.report.plot import Axis, axis_over
from refless.report.train import (
    Course,
    Trained,
    agreement_section,
    courses,
    curve_table,
    use_section,
)
from refless.report.verdict import FEWEST
from refless.report.view import Table, number
from refless.stats.intervals import UNDEFINED

MOST_POINTS = 2_000  # texts in the chart; more are drawn from at random
MOST_KNOTS = 40  # passes of a curve whose points are drawn
HALF = 0.5  # what the axis of correlations reaches at least: less would blow up noise
LATE = 0.1  # share of the passes, the last ones, in which the best pass suggests that more may help
KIND = (
    "These texts also chose the pass to keep, which flatters it. With the estimator ratpred, "
    "'refless validate' judges every rated text by networks that have not seen it; they are of "
    "the published size and schedule, whatever was asked for here."
)
CHOICE = (
    "After each pass a network judges the texts kept aside, and its pass with the highest "
    "Pearson + Spearman is kept. It is judged alone, before its estimates are brought to the level "
    "of the ratings and clipped, so these correlations differ a little from those above."
)
KEPT = Key(name="the pass that was kept", style="mark c3")
MADE = Key(name="passes that learned from made errors too", style="bar band c2")


def train_page(trained: Trained, command: str) -> Page:
    """The report: how the model agrees with people on the texts kept aside, and how it got there.

    Args:
        trained: the model.
        command: the command line.
    """
    networks = courses(trained.model)
    found = trained.agreement
    table = replace(agreement_section(trained), title="", lines=())
    return Page(
        title=f"RatPred trained on {trained.size:,} rated texts",
        verdict=train_verdict(trained),
        notes=(KIND, *_off_the_level(trained)),
        facts=_facts(trained, networks),
        chapters=(
            Chapter(title="Agreement with people on the texts kept aside", sections=(table,)),
            *_against_truth(trained),
            _curve_chapter(trained, networks),
            Chapter(title="To use the model", sections=(use_section(trained),)),
            caveats(),
        ),
        signature=str(trained.signature.plus(ci=found.interval_method)),
        command=command,
    )


def train_verdict(trained: Trained) -> str:
    """One sentence on how the model agrees with people on the texts kept aside."""
    found, name = trained.agreement, _name(trained)
    if found.n < FEWEST:
        return (
            f"{found.n} rated texts kept aside are too few to tell how well {name} agrees with "
            "people; 'refless validate' is the test."
        )
    start = f"On the {found.n:,} rated texts kept aside {name}"
    low, high = found.intervals["spearman"]
    if math.isnan(low):
        why = found.undefined.get("spearman", "their agreement has no interval")
        return f"{start} cannot be compared with people: {why}."
    if high < 0:
        said = "ranks texts against people's ratings"
    elif low <= 0:
        said = "shows no agreement with people that chance could not explain"
    else:
        said = "agrees with people"
    return (
        f"{start} {said}, Spearman {measure(found, 'spearman')}; that is a little too kind, and "
        "'refless validate' is the test."
    )


def _off_the_level(trained: Trained) -> tuple[str, ...]:
    """That errors are as large as a constant's, where they are."""
    found = trained.agreement
    constant = float(np.var(trained.model.development[0])) if found.n else math.nan
    if found.intervals["mse"][1] < constant or math.isnan(found.mse):
        return ()
    said = (
        f"Its mean squared error, {measure(found, 'mse')}, is not clearly lower than that of "
        f"giving every text the mean rating, {number(constant, 4)}: it may rank texts, but its "
        "estimates are no ratings to rely on."
    )
    return (said,)


def _name(trained: Trained) -> str:
    members = len(courses(trained.model))
    return "the network" if members == 1 else f"the mean of {members} networks"


def _facts(trained: Trained, networks: Sequence[Course]) -> tuple[tuple[str, str, str], ...]:
    found, first = trained.agreement, networks[0]
    kept = (
        ("Kept pass", str(first.kept + 1), f"of {len(first.passes):,}")
        if len(networks) == 1
        else ("Networks", str(len(networks)), "whose mean is the estimate")
    )
    return (
        ("Spearman", number(found.spearman), interval(found.intervals["spearman"])),
        ("Pearson", number(found.pearson), interval(found.intervals["pearson"])),
        ("Mean squared error", number(found.mse, 4), interval(found.intervals["mse"], 4)),
        kept,
    )


def _against_truth(trained: Trained) -> tuple[Chapter, ...]:
    """What the model says of the texts kept aside, and what people gave."""
    truth, values = _drawn(trained.model.development, trained.seed)
    if len(truth) == 0:
        return ()
    units = "0 to 1" if trained.model.about["scale"] else "in the raters' units"
    caption = "The texts kept aside; where several fall together the point is larger."
    if trained.model.range.precision is not None:
        caption += " Estimates are rounded to the steps of the ratings."
    if len(truth) < trained.agreement.n:
        caption += f" {len(truth):,} of {trained.agreement.n:,} texts, drawn at random."
    svg = cloud(
        values,
        truth,
        axis_over(values.tolist(), f"estimate, {units}"),
        axis_over(truth.tolist(), f"mean rating by people, {units}"),
        f"Scatter plot of {len(truth):,} texts kept aside, estimate across and mean rating "
        f"upwards. Spearman {measure(trained.agreement, 'spearman')}.",
    )
    keys = (Key(name="texts", style="dot"), Key(name="estimate = rating", style="mark c2"))
    figure = Figure(svg=svg, caption=caption, table=_places(values, truth), keys=keys)
    return (Chapter(title="Estimate against truth", figures=(figure,)),)


def _drawn(development: FloatArray, seed: int) -> FloatArray:
    """[2, n] truth and estimate of the texts in the chart."""
    n = development.shape[1]
    if n <= MOST_POINTS:
        return development
    order = np.lexsort(development)
    return development[:, np.random.default_rng(seed).permutation(order)[:MOST_POINTS]]


def _places(values: FloatArray, truth: FloatArray) -> Table:
    places, counts = np.unique(np.stack([values, truth]), axis=1, return_counts=True)
    return Table(
        header=("estimate", "people", "texts"),
        rows=tuple(
            (number(value), number(people), str(count))
            for (value, people), count in zip(places.T.tolist(), counts.tolist(), strict=True)
        ),
        numeric=(True, True, True),
    )


def _curve_chapter(trained: Trained, networks: Sequence[Course]) -> Chapter:
    """Each network pass by pass, all on the same axes."""
    most = max(len(course.passes) for course in networks)
    passes = whole(axis_over([1.0, float(most)], "pass"))
    found = [0.0, HALF, *_all(networks, "pearson"), *_all(networks, "spearman")]
    correlations = axis_over(found, "correlation, texts kept aside")
    losses = axis_over([0.0, *_all(networks, "loss")], "training loss")
    figures = []
    for i, course in enumerate(networks, 1):
        name = f"Network {i}" if len(networks) > 1 else "The network"
        figures.append(_agreement_figure(course, name, passes, correlations))
        figures.append(_loss_figure(course, name, passes, losses))
    return Chapter(
        title="Pass by pass", lines=(CHOICE, *_outlook(trained, networks)), figures=tuple(figures)
    )


def _outlook(trained: Trained, networks: Sequence[Course]) -> tuple[str, ...]:
    """Whether more passes may do better."""
    late = [
        course
        for course in networks
        if len(course.passes) - course.synthetic == trained.model.settings.passes
        and course.kept + 1 > (1 - LATE) * len(course.passes)
    ]
    if not late:
        return ()
    where = "" if len(networks) == 1 else f" of {len(late)} of {len(networks)} networks"
    return (f"The best pass{where} is among the last: more passes (--passes) may do better.",)


def _all(networks: Sequence[Course], name: str) -> list[float]:
    return [value for course in networks for value in _values(course, name)]


def _values(course: Course, name: str) -> list[float]:
    """One number of each pass, NaN where undefined."""
    return [math.nan if told[name] is None else float(told[name]) for told in course.passes]


def _agreement_figure(course: Course, name: str, x: Axis, y: Axis) -> Figure:
    kept = course.passes[course.kept]
    caption = (
        f"{name} kept pass {kept['number']} of {len(course.passes):,}: Pearson "
        f"{number(kept['pearson'])}, Spearman {number(kept['spearman'])} on the texts kept aside."
    )
    keys = (Key(name="Pearson", style="line c0"), Key(name="Spearman", style="line c1"))
    return Figure(
        svg=_curves(course, ("pearson", "spearman"), x, y, f"Correlations by pass. {caption}"),
        caption=caption,
        table=curve_table(course, range(len(course.passes))),
        keys=(*keys, KEPT, *_made(course)),
    )


def _loss_figure(course: Course, name: str, x: Axis, y: Axis) -> Figure:
    loss = _values(course, "loss")
    caption = (
        f"{name}'s loss on what it learns from, mean over a pass: {number(loss[0])} at first, "
        f"{number(loss[-1])} in the end."
    )
    rows = tuple((str(i), number(value)) for i, value in enumerate(loss, 1))
    return Figure(
        svg=_curves(course, ("loss",), x, y, f"Training loss by pass. {caption}"),
        caption=caption,
        table=Table(header=("pass", "loss"), rows=rows, numeric=(True, True)),
        keys=(Key(name="loss", style="line c0"), KEPT, *_made(course)),
    )


def _curves(course: Course, names: Sequence[str], x: Axis, y: Axis, label: str) -> str:
    """Some numbers of each pass as lines, with the pass that was kept and those with errors."""
    places = [float(told["number"]) for told in course.passes]
    few = len(places) <= MOST_KNOTS
    series = [
        Series(x=places, y=_values(course, name), style=f"c{i}", knots=few)
        for i, name in enumerate(names)
    ]
    made = (0.5, course.synthetic + 0.5) if course.synthetic else UNDEFINED
    return curves(series, x, y, label, at=places[course.kept], shaded=made)


def _made(course: Course) -> tuple[Key, ...]:
    return (MADE,) if course.synthetic else ()
