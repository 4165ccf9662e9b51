"""A report as plain data: chapters of paragraphs, tables and figures, and the texts they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refless.report.view import Section, Table, View, number


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One entry of a figure's legend: a name, and the class that draws it (`c0`, `c1` ...)."""

    name: str
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart with its data.

    Attributes:
        svg: the drawing, as safe SVG (`charts` makes it).
        caption: what it shows, and how to read it.
        table: its data; empty where the texts' own table holds it.
        keys: the legend.
        linked: whether its points are texts, shown when a point is hovered or focused.
    """

    svg: str
    caption: str
    table: Table | None = None
    keys: tuple[Key, ...] = ()
    linked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A row that points at a stored text: its cells, then the text itself."""

    text: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A heading and what follows it, in this order.

    Attributes:
        lines: paragraphs; points: a list; figures; sections: tables and lines of a view.
        misses: rows on stored texts, under `miss_header`, whose last column is the text.
    """

    title: str
    lines: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    sections: tuple[Section, ...] = ()
    misses: tuple[Miss, ...] = ()
    miss_header: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One text, stored once.

    Attributes:
        id: its name.
        cells: numbers of its own, under the store's header.
        text: the whole text; the page clips it.
        near: the texts to show beside it, as (place in the store, similarity).
    """

    id: str
    cells: tuple[str, ...]
    text: str
    near: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The texts of a report.

    Attributes:
        header: names of the cells.
        texts: each text once.
        title: what they are.
        near: what `Stored.near` are, for the panel beside a chart.
        rating: name of the cell that holds what people gave.
    """

    header: tuple[str, ...]
    texts: tuple[Stored, ...]
    title: str
    near: str = "Nearest rated texts"
    rating: str = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One report.

    Attributes:
        title: its heading.
        verdict: the one sentence at the top.
        notes: what it rests on.
        facts: numbers that stand out: a name, the value, more about it.
        advice: what is to be said before all else.
        chapters: the rest.
        store: the texts.
        signature, command: what made the numbers, and the line that made the report.
    """

    title: str
    verdict: str
    signature: str
    command: str
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str, str], ...] = ()
    advice: tuple[Section, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    store: Store | None = None


def interval(ends: Sequence[float], digits: int = 3) -> str:
    """`95 % interval 0.193 to 0.440`, or that there is none."""
    low, high = ends
    if low != low:
        return "no interval"
    return f"95 % interval {number(low, digits)} to {number(high, digits)}"


def page_of_view(
    view: View,
    *,
    title: str,
    verdict: str,
    command: str,
    chapters: Sequence[Chapter] = (),
    notes: Sequence[str] = (),
) -> Page:
    """The report of any result: chapters of its own, after them the sections of its view.

    Args:
        view: the result, as every other format shows it.
        title: the heading.
        verdict: one sentence on what it means.
        command: the command line that made it.
        chapters: figures and what else belongs to it.
        notes: what the verdict rests on.
    """
    signed = str(view.json.get("signature", ""))
    plain = [
        section for section in view.sections if section.lines != (f"signature: {signed}",)
    ]  # its own line at the end of the page
    first = [section for section in plain if section.warning]
    rest = tuple(section for section in plain if not section.warning)
    return Page(
        title=title,
        verdict=verdict,
        signature=signed,
        command=command,
        notes=tuple(notes),
        advice=tuple(first),
        chapters=(*chapters, Chapter(title="The numbers", sections=rest), caveats()),
    )


def caveats() -> Chapter:
    """What no number here shows (Caglayan et al. 2020, section 6)."""
    return Chapter(
        title="What the numbers do not show",
        points=(
            (
                "That a system writes as well as people do. Agreement with annotators, even better "
                "than one annotator's, is about ranking these texts; it is no human parity."
            ),
            (
                "That a small difference matters. Where intervals overlap, or one is missing, take "
                "two numbers for equal and collect more ratings."
            ),
            (
                "That a high correlation is enough. A correlation is an average over these texts: "
                "it can hide texts that are badly wrong, and texts written to please a metric."
            ),
            (
                "That it carries over. Other tasks, systems, lengths or annotators need ratings of "
                "their own; validate with --group system or source says how much is lost."
            ),
            "That people agree, or are right. The truth here is the mean of these ratings.",
        ),
    )
