"""A report as one HTML file that opens offline: no request leaves it."""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import count

from refless.report.document import Document, OutputShown, Section, SideBySide, plain
from refless.report.templates import readable, rendered

LETTERS = 12_000_000  # of all texts side by side
IN_A_NOTEBOOK = "& { padding: 0.5rem; font-size: 0.95rem; overflow-wrap: anywhere; }"
SHORTEST = 300  # letters that each of them keeps


def as_html(document: Document) -> str:
    """The whole file."""
    style = _resource("report.css")
    script = ""
    rows: list[dict[str, object]] = []
    if document.cards:
        style += _resource("cards.css")
    if document.outputs is not None:
        style += _resource("outputs.css")
        script = _resource("outputs.js")
        rows = _rows_of(document.outputs)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return rendered(
        "refless.report",
        "report.html",
        document=document,
        chapters=_chapters(document.sections),
        style=style,
        script=script,
        policy=policy,
        rows=rows,
        place=count(1).__next__,
    )


def as_fragment(document: Document, notes: Sequence[str]) -> str:
    """The document for a notebook: its cards in a style of their own, all else folded away.

    Without cards it is text and tables, without any style.
    """
    made = repr((document.title, document.command, document.signatures))
    return rendered(
        "refless.report",
        "fragment.html",
        document=document,
        sections=[*plain(document)],
        notes=notes,
        name=hashlib.sha256(made.encode()).hexdigest()[:8],
        style=_scoped(_resource("report.css") + _resource("cards.css")),
        place=count(1).__next__,
    )


def _scoped(style: str) -> str:
    """The style sheet for what is inside our own element, which stands for the whole page."""
    inside = re.sub(r"^( *)(?::root|body)( {)", r"\1&\2", style, flags=re.MULTILINE)
    inside = inside.replace("{ :root {", "{ & {")
    return f".refless {{\n{inside}\n{IN_A_NOTEBOOK}\n}}"


def _rows_of(outputs: SideBySide) -> list[dict[str, object]]:
    """The rows of outputs as the page's script reads them; texts are cut where they fill a page."""
    n_texts = len(outputs.items) * (1 + len(outputs.systems))
    longest = max(SHORTEST, LETTERS // max(n_texts, 1))
    rows = []
    for item, answers in zip(outputs.items, outputs.answers, strict=True):
        shown = [_as_list(answer, longest) for answer in answers]
        rows.append({"item": readable(item[:longest]), "answers": shown})
    return rows


def _as_list(answer: OutputShown | None, longest: int) -> list[object] | None:
    """Text, numbers, reason, dispute; None of a version without an answer."""
    if answer is None:
        return None
    text = readable(answer.text[:longest])
    why = readable(answer.why[:longest])
    numbers = (answer.people, answer.judge, answer.estimate)
    disputed = [True] if answer.disputed else []
    return [text, *numbers, why, *disputed]


def _resource(name: str) -> str:
    return (
        files("refless.report").joinpath("templates", name).read_text(encoding="utf-8")
    )


def _hash(text: str) -> str:
    """The source that the content security policy lets in: this text and no other."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _chapters(sections: Iterable[Section]) -> list[list[Section]]:
    """Each section with a title, and those without one that continue it."""
    chapters: list[list[Section]] = []
    for section in sections:
        if section.warning:
            continue
        if section.title or not chapters:
            chapters.append([])
        chapters[-1].append(section)
    return chapters
