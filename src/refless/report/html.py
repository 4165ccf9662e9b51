"""A report as one HTML file that opens offline: no request leaves it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from string import Template

from refless.report.page import Chapter, Figure, Key, Miss, Page, Store, Stored
from refless.report.plot import tag, written
from refless.report.view import Section, Table

CLIP = 400  # characters of a text that the page keeps
ROOM = 1_800_000  # bytes that all texts together may take
MOST = 1_000  # bytes of one of them


def as_html(page: Page) -> str:
    """The whole file."""
    style, script = _part("report.css"), _part("report.js")
    chapters = [(f"part-{i}", chapter) for i, chapter in enumerate(page.chapters, 1)]
    body = [
        _head(page),
        _contents(chapters),
        "<main>",
        *(_chapter(chapter, name, page.store) for name, chapter in chapters),
        *([] if page.store is None else [_store(page.store)]),
        _origin(page),
        "</main>",
    ]
    return Template(_part("template.html")).substitute(
        title=written(f"{page.title}: refless"),
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        body="\n".join(body),
    )


def _part(name: str) -> str:
    return files("refless.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the content security policy lets in: this text and no other."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _head(page: Page) -> str:
    facts = "".join(
        f"<div><dt>{_prose(name)}</dt><dd>{_prose(value)}</dd><dd>{_prose(more)}</dd></div>"
        for name, value, more in page.facts
    )
    parts = [
        tag("h1", written(page.title)),
        tag("p", _prose(page.verdict), id="verdict"),
        *(tag("p", _prose(note), class_="note") for note in page.notes),
        *([f"<dl>{facts}</dl>"] if facts else []),
    ]
    if page.advice:
        inside = "".join(_section(section, "h3") for section in page.advice)
        parts.append(tag("aside", inside, class_="advice", aria_label="Advice"))
    return tag("header", "\n".join(parts))


def _prose(text: str) -> str:
    """Words of our own, in which a number and its percent sign stay on one line."""
    return written(text).replace(" %", "&nbsp;%")


def _contents(chapters: Sequence[tuple[str, Chapter]]) -> str:
    links = "".join(
        tag("li", tag("a", written(chapter.title), href=f"#{name}")) for name, chapter in chapters
    )
    return tag("nav", tag("ul", links), aria_label="Contents") if links else ""


def _chapter(chapter: Chapter, name: str, store: Store | None) -> str:
    parts = [tag("h2", written(chapter.title), id=f"{name}-title")]
    parts += [tag("p", _prose(line)) for line in chapter.lines]
    if chapter.points:
        parts.append(tag("ul", "".join(tag("li", _prose(point)) for point in chapter.points)))
    figures = [_figure(figure, store) for figure in chapter.figures]
    if figures:
        alone = len(figures) == 1
        parts.append(tag("div", "\n".join(figures), class_="figures" + (" alone" * alone)))
    parts += [_section(section, "h3") for section in chapter.sections]
    if chapter.misses:
        parts.append(_misses(chapter.misses, chapter.miss_header))
    return tag("section", "\n".join(parts), id=name, aria_labelledby=f"{name}-title")


def _section(section: Section, heading: str) -> str:
    parts = [tag(heading, written(section.title))] if section.title else []
    for line in section.lines:
        if line.startswith("  "):
            parts.append(_command(line.strip()))
        else:
            parts.append(tag("p", _prose(line)))
    if section.table is not None:
        parts.append(_table(section.table, section.title or "Table"))
    return "\n".join(parts)


def _command(line: str) -> str:
    return tag("pre", tag("code", written(line)), tabindex=0)


def _figure(figure: Figure, store: Store | None) -> str:
    keys = "".join(_key(key) for key in figure.keys)
    parts = [tag("ul", keys, class_="keys")] if keys else []
    if figure.linked:
        hint = "Point at a text, or press Tab and then the arrow keys, to read it here."
        near = "" if store is None else store.near
        panel = tag("div", tag("p", hint, class_="soft"), class_="panel", data_near=near)
        parts.append(tag("div", figure.svg + panel, class_="beside"))
    else:
        parts.append(figure.svg)
    parts.append(tag("figcaption", _prose(figure.caption)))
    if figure.table is not None:
        summary = tag("summary", "The numbers of this chart")
        parts.append(tag("details", summary + _table(figure.table, figure.caption)))
    elif store is not None:
        summary = tag("a", "The numbers of this chart and all texts", href="#texts")
        parts.append(tag("p", summary, class_="more"))
    return tag("figure", "\n".join(parts), class_="wide" if figure.linked else None)


def _key(key: Key) -> str:
    """A piece of the line that a legend's entry stands for."""
    shape = "dot" if key.style.startswith("dot") else "line"
    if shape == "dot":
        sign = tag("circle", cx=14, cy=7, r=4, class_=key.style)
    elif key.style.startswith("bar"):
        sign = tag("rect", x=4, y=1, width=20, height=12, class_=key.style)
    else:
        sign = tag("line", x1=1, x2=27, y1=7, y2=7, class_=key.style)
    drawn = tag("svg", sign, viewBox="0 0 28 14", aria_hidden="true")
    return tag("li", drawn + tag("span", _prose(key.name)))


def _table(table: Table, label: str) -> str:
    head = "".join(
        _cell(name, numeric, "th", scope="col")
        for name, numeric in zip(table.header, table.numeric, strict=True)
    )
    body = "".join(
        tag("tr", "".join(_cell(*cell) for cell in zip(row, table.numeric, strict=True)))
        for row in table.rows
    )
    return _scrolling(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>", label)


def _cell(text: str, numeric: bool, name: str = "td", **attributes: object) -> str:
    style = "number" if numeric else None
    content = written(text).replace("\n", "<br>")
    # an empty heading is no heading
    if not content:
        return "<td></td>"
    return tag(name, content, class_=style, **attributes)


def _scrolling(content: str, label: str) -> str:
    """What may be wider than the screen: a region of its own, which the keyboard can scroll."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=label)


def _misses(misses: Sequence[Miss], header: Sequence[str]) -> str:
    """Rows on stored texts; the script puts each text into its last cell."""
    head = "".join(tag("th", written(name), scope="col") for name in header)
    rows = []
    for miss in misses:
        first, *rest = miss.cells
        link = tag("a", written(first), href=f"#t{miss.text}")
        cells = "".join(tag("td", written(cell), class_="number") for cell in rest)
        text = f'<td class="text" dir="auto" data-text="{miss.text}"></td>'
        rows.append(tag("tr", tag("td", link) + cells + text))
    body = "".join(rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return tag("div", _scrolling(table, "Worst misses"), class_="misses")


def _store(store: Store) -> str:
    """Every text of the page, once; charts and other tables point here."""
    room = min(MOST, ROOM // max(1, len(store.texts)))
    columns = ("id", *store.header, "text")
    head = "".join(tag("th", written(name), scope="col") for name in columns)
    body = "\n".join(_stored(text, i, room) for i, text in enumerate(store.texts))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
    scrolled = _scrolling(table, store.title)
    summary = tag("summary", f"{written(store.title)} ({len(store.texts):,})")
    title = tag("h2", "The texts", id="texts-title")
    return tag(
        "section",
        f"{title}{tag('details', summary + scrolled)}",
        id="texts",
        aria_labelledby="texts-title",
        data_rating=store.header.index(store.rating) + 1,
    )


def _stored(stored: Stored, place: int, room: int) -> str:
    near = " ".join(f"{other} {similarity:.3f}" for other, similarity in stored.near)
    cells = "".join(tag("td", written(cell), class_="number") for cell in stored.cells)
    name = tag("th", written(stored.id), scope="row")
    text = f'<td class="text" dir="auto">{clip(stored.text, room)}</td>'
    return tag("tr", name + cells + text, id=f"t{place}", data_near=near or None)


def clip(text: str, room: int) -> str:
    """The text escaped, at most 400 characters of it and so many bytes; an ellipsis if cut."""
    kept = text[:CLIP]
    safe = written(kept)
    while len(safe.encode()) > room:
        kept = kept[: len(kept) * room // len(safe.encode())]
        safe = written(kept)
    return safe if len(kept) == len(text) else f"{safe}…"


def _origin(page: Page) -> str:
    title = tag("h2", "How these numbers came about", id="origin-title")
    said = [
        tag("p", "The command line:"),
        _command(page.command),
        tag("p", "The signature, which names everything that can change them:"),
        _command(page.signature),
    ]
    return tag("section", title + "".join(said), id="origin", aria_labelledby="origin-title")
