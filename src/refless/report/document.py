"""A report as plain data: one document, which terminal, Markdown and HTML show each their way."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from refless.report.templates import rendered


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
    """A chart with its data; `charts` and `pictures` make it.

    Attributes:
        template: the drawing's file name; values: what fills it in.
        caption: what it shows, and how to read it.
        table: its data; None where a table of the page holds it.
        keys: the legend.
    """

    template: str
    values: dict[str, object]
    caption: str
    table: Table | None = None
    keys: tuple[Key, ...] = ()

    @property
    def svg(self) -> str:
        """The drawing as safe SVG, made when a page shows it: text and JSON need none."""
        return rendered("refless.report", self.template, **self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what follows it, in this order; without a title it continues the one before.

    Attributes:
        lines: paragraphs; one that begins with two spaces is a command line.
        figures: charts, in HTML alone; one that draws the section's own table folds it away.
        table: a table.
        warning: whether it is to be said before all else.
        folded: whether a page folds it away, among the numbers.
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    table: Table | None = None
    warning: bool = False
    folded: bool = False


ALL = Section(
    lines=(
        "Ranges are 95 % intervals. All numbers: --format text, or a page: -o page.html",
    ),
    folded=True,
)
State = Literal["yes", "no", "with", "open"]
OPEN = "Cannot be told yet"  # what cards of that state say
SIGNS: dict[State, str] = {"yes": "yes", "no": "NO", "with": "if", "open": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One question with its answer, on a page or a line of a terminal.

    Attributes:
        topic: a word or two that stand for the question; question: one that yes and no answer.
        state: yes, no, with a condition, or open; label: the same in words.
        answer: in at most 20 words.
        rests: what it rests on; further: how many more ratings would decide it.
        unfit: what it may not be used for; advice: what to do now; command: the line that does it.
        figures: pictures that show it.
    """

    topic: str
    question: str
    state: State
    label: str
    answer: str
    rests: str = ""
    further: str = ""
    unfit: str = ""
    advice: str = ""
    command: str = ""
    figures: tuple[Figure, ...] = ()

    @property
    def remarks(self) -> dict[str, str]:
        """The ratings that would decide it, and what it is not for, by their titles."""
        remarks = {"More ratings": self.further, "Not for": self.unfit}
        return {title: remark for title, remark in remarks.items() if remark}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputShown:
    """One answer to an item, beside those of other systems.

    Attributes:
        text: what it wrote; people, judge, estimate: numbers, None if there is none.
        why: what the judge said of it, or "".
        disputed: whether its raters are far apart.
    """

    text: str
    people: float | None
    judge: float | None
    estimate: float | None
    why: str = ""
    disputed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Outputs of systems item by item, which a page shows side by side.

    Attributes:
        systems: names of the columns; judge: name of the scores, "" without them.
        apart: from where on judge and people are far apart, 0 in other units.
        percent: whether ratings are passes.
        items: name or source of each item; answers: [n][system], None where it has none.
        doubt: whether estimates are not shown to help on single outputs.
        first: the order at first, by its name in the template; "" for the first that there is.
    """

    systems: tuple[str, ...]
    judge: str
    apart: float
    percent: bool
    items: tuple[str, ...]
    answers: tuple[tuple[OutputShown | None, ...], ...]
    doubt: bool
    first: str = ""

    def has(self, number: str) -> bool:
        """Whether any output has a number: people, judge or estimate."""
        outputs = chain.from_iterable(self.answers)
        return any(getattr(one, number, None) is not None for one in outputs)

    @property
    def disputed(self) -> bool:
        """Whether the raters of any output are far apart."""
        outputs = chain.from_iterable(self.answers)
        return any(one is not None and one.disputed for one in outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One report.

    Attributes:
        title: its heading, in HTML alone.
        verdict: the one sentence at the top; of a document with cards their answers stand there.
        notes: what it rests on; beside cards folded away.
        sections: all the rest; warnings among them are shown first.
        signatures: what made the numbers.
        command: the command line that made the report, in HTML alone.
        cards: questions with their answers, before all sections.
        outputs: texts side by side, in HTML alone.
    """

    title: str = ""
    verdict: str = ""
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    signatures: tuple[str, ...] = ()
    command: str = ""
    cards: tuple[Card, ...] = ()
    outputs: SideBySide | None = None


def folded(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections as numbers that a page folds away."""
    return tuple(replace(section, folded=True) for section in sections)


def shortened(document: Document) -> Document:
    """The document with its cards, one table and the warnings; unchanged without cards."""
    if not document.cards:
        return document
    sections = [part for part in document.sections if not part.folded]
    if len(document.cards) == 1 and not sections:
        sections += [part for part in document.sections if part.table][:1]
    return replace(document, sections=(*sections, ALL), notes=(), signatures=())


def plain(document: Document) -> Iterable[Section]:
    """The document as text and Markdown show it, in the order of a page; notes come last.

    Figures are left out, and sections of nothing else.
    """
    cards = document.cards
    sections = [part for part in document.sections if part.lines or part.table]
    notes = [Section(lines=document.notes)] if document.notes else []
    yield from (part for part in sections if part.warning)
    if document.verdict:
        yield Section(lines=(document.verdict,))
    if len(cards) == 1:
        yield Section(lines=(cards[0].answer,))
        if cards[0].rests:
            yield Section(lines=(cards[0].rests,))
    if not cards:
        yield from notes
    yield from (part for part in sections if not (part.warning or part.folded))
    if len(cards) > 1:
        yield _answers(cards)
    for card in cards:
        if card.advice:
            yield _advice(card, card.topic if len(cards) > 1 else "Do now")
    yield from (replace(part, folded=False) for part in sections if part.folded)
    if cards:
        yield from notes
    for signature in document.signatures:
        yield Section(lines=(f"signature: {signature}",))


def _answers(cards: Iterable[Card]) -> Section:
    """The answers to several questions as a table."""
    rows = tuple((SIGNS[card.state], card.topic, card.answer) for card in cards)
    header = ("", "", "answer")
    return Section(table=Table(header=header, rows=rows, numeric=(False,) * 3))


def _advice(card: Card, lead: str) -> Section:
    """The line on what to do now, with the command that does it, and the card's remarks."""
    command = (f"  {line}" for line in card.command.splitlines())
    remarks = [f"{title}: {remark}" for title, remark in card.remarks.items()]
    return Section(lines=(f"{lead}: {card.advice}", *command, *remarks))
