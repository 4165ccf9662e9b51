"""A report as one HTML file that opens offline: no request leaves it."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib.resources import files

from refless.report.document import Document, Section, plain
from refless.report.templates import escaped, rendered

CLIP = 400  # characters of a text that the page keeps
ROOM = 1_800_000  # bytes that all texts together may take
BYTES = 1_000  # of one text


def as_html(document: Document) -> str:
    """The whole file."""
    style = _resource("report.css")
    script = _resource("report.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    n = len(document.store.texts) if document.store else 0
    return rendered(
        "refless.report",
        "report.html",
        document=document,
        chapters=_chapters(document.sections),
        clip=clip,
        room=min(BYTES, ROOM // max(1, n)),
        style=style,
        script=script,
        policy=policy,
    )


def as_fragment(document: Document, notes: Sequence[str] = ()) -> str:
    """The text and tables of a document for a notebook, without any style of their own."""
    sections = [*plain(document)]
    return rendered("refless.report", "fragment.html", sections=sections, notes=notes)


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
        if section.warning or section.opening:
            continue
        if section.title or not chapters:
            chapters.append([])
        chapters[-1].append(section)
    return chapters


def clip(text: str, room: int) -> str:
    """The text escaped, at most 400 characters of it and so many bytes; an ellipsis if cut."""
    start = text[:CLIP]
    safe = escaped(start)
    while len(safe.encode()) > room:
        start = start[: len(start) * room // len(safe.encode())]
        safe = escaped(start)
    return safe if len(start) == len(text) else safe + "…"
