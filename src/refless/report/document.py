"""A report as plain data: one document, which terminal, Markdown and HTML show each their way."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from refless.registry.dialect import called
from refless.report.templates import Drawing
from refless.report.wording import clipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table for people; cells are text already.

    Attributes:
        header, rows: the cells.
        numeric: which columns are set flush right; all but the first unless it is given.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...] = ()

    @property
    def flush_right(self) -> tuple[bool, ...]:
        """`numeric`, or its default."""
        return self.numeric or (False, *[True] * (len(self.header) - 1))


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
        table: its data; None where the texts' own table holds it.
        keys: the legend.
        linked: whether its points are texts, shown when a point is hovered or focused.
    """

    svg: str | Drawing
    caption: str
    table: Table | None = None
    keys: tuple[Key, ...] = ()
    linked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what follows it, in this order; without a title it continues the one before.

    Attributes:
        lines: paragraphs; one that begins with two spaces is a command line.
        points: a list, in HTML alone.
        figures: charts, in HTML alone; one that draws the section's own table folds it away.
        table: a table.
        texts: places of stored texts; `cells` go before each, and `header` names all columns.
        warning: whether it is to be said before all else.
        opening: whether a page opens with it, beside the verdict.
        folded: whether a page folds it away below its title.
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    table: Table | None = None
    texts: tuple[int, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    header: tuple[str, ...] = ()
    warning: bool = False
    opening: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One text, stored once.

    Attributes:
        id: its name.
        cells: numbers of its own, under the store's header.
        text: the whole text; the page clips it.
    """

    id: str
    cells: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStore:
    """The texts of a report, each once.

    Attributes:
        header: names of the cells, that of what people gave first.
        title: what the texts are.
    """

    header: tuple[str, ...]
    texts: tuple[Stored, ...]
    title: str


State = Literal["yes", "no", "with", "open"]
SIGNS: dict[State, str] = {"yes": "yes", "no": "NO", "with": "if", "open": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One question with its answer, on a page or a line of a terminal.

    Attributes:
        topic: a word or two that stand for the question; question: one that yes and no answer.
        state: yes, no, with a condition, or open; label: the same in words.
        answer: in at most 20 words.
        rests: what it rests on; advice: what to do now; command: the line that does it.
        figures: pictures that show it.
    """

    topic: str
    question: str
    state: State
    label: str
    answer: str
    rests: str = ""
    advice: str = ""
    command: str = ""
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputShown:
    """One answer to an item, beside those of other systems.

    Attributes:
        text: what it wrote; people, judge, estimate: numbers, None if there is none.
    """

    text: str
    people: float | None
    judge: float | None
    estimate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Outputs of systems item by item, which a page shows side by side.

    Attributes:
        systems: names of the columns; judge: name of the scores, "" without them.
        apart: from where on judge and people are far apart; percent: whether ratings are passes.
        items: name or source of each item; answers: [n][system], None where it has none.
        doubt: whether estimates are not shown to help.
        file: where all texts are.
    """

    systems: tuple[str, ...]
    judge: str
    apart: float
    percent: bool
    items: tuple[str, ...]
    answers: tuple[tuple[OutputShown | None, ...], ...]
    doubt: bool
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One report.

    Attributes:
        title: its heading, in HTML alone.
        verdict: the one sentence at the top.
        notes: what it rests on.
        facts: numbers that stand out, in HTML alone: a name, the value, more about it.
        sections: all the rest; warnings among them are shown first.
        store: the texts, in HTML alone.
        signatures: what made the numbers.
        command: the command line that made the report, in HTML alone.
        cards: questions with their answers, before all sections.
        outputs: texts side by side, in HTML alone.
    """

    title: str = ""
    verdict: str = ""
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str, str], ...] = ()
    sections: tuple[Section, ...] = ()
    store: TextStore | None = None
    signatures: tuple[str, ...] = ()
    command: str = ""
    cards: tuple[Card, ...] = ()
    outputs: SideBySide | None = None


def plain(document: Document) -> Iterable[Section]:
    """The document as text and Markdown show it: warnings, verdict, notes, sections, signatures.

    Figures and lists are left out, and sections of nothing else; rows on texts become tables.
    """
    yield from (section for section in document.sections if section.warning)
    for lines in ((document.verdict,), document.notes):
        if any(lines):
            yield Section(lines=lines)
    for section in document.sections:
        if section.texts and document.store is not None:
            yield Section(title=section.title, lines=section.lines)
            yield Section(table=_with_texts(section, document.store))
        elif not section.warning and (section.lines or section.table):
            yield section
    yield from _of_cards(document.cards)
    yield from (
        Section(lines=(f"signature: {signature}",)) for signature in document.signatures
    )


def _of_cards(cards: Iterable[Card]) -> Iterable[Section]:
    """The answers as a table, then what to do now."""
    rows = tuple((SIGNS[card.state], card.topic, card.answer) for card in cards)
    if rows:
        header = ("", "", "answer")
        yield Section(table=Table(header=header, rows=rows, numeric=(False,) * 3))
    for card in cards:
        if card.advice:
            command = (f"  {card.command}",) if card.command else ()
            yield Section(lines=(f"{card.topic}: {card.advice}", *command))


def _with_texts(section: Section, store: TextStore) -> Table:
    """The rows on texts as a table, with the texts in its last column."""
    texts = [clipped(store.texts[place].text) for place in section.texts]
    rows = zip(section.cells, texts, strict=True)
    numbers = [True] * (len(section.header) - 2)
    return Table(
        header=section.header,
        rows=tuple((*cells, text) for cells, text in rows),
        numeric=(False, *numbers, False),
    )


def caveats() -> Section:
    """Limits of this report (Caglayan et al. 2020, section 6)."""
    return Section(
        title="What the numbers do not show",
        points=(
            (
                "That a system writes as well as people do. Agreement with annotators, even better "
                "than one annotator's, is about ranking these texts; it is no human parity."
            ),
            (
                "That a small difference matters, or that two numbers are equal. Where the "
                "interval of a difference contains 0, no difference is shown: collect more ratings."
            ),
            (
                "That a high correlation is enough. A correlation is an average over these texts: "
                "it can hide texts that are badly wrong, and texts written to please a metric."
            ),
            (
                "That it carries over. Other tasks, systems, lengths or annotators need ratings of "
                f"their own; validate with {called('group', 'system')} or source says how "
                "much is lost."
            ),
            "That people agree, or are right. The human rating here is the mean of these ratings.",
        ),
    )
