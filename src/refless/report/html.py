"""A report as one HTML file that opens offline: no request leaves it."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from string import Template

from refless.report.document import Document, Figure, Key, Section, Store, Stored, Table, plain
from refless.report.plot import tag, written

CLIP = 400  # characters of a text that the page keeps
ROOM = 1_800_000  # bytes that all texts together may take
MOST = 1_000  # bytes of one of them


def as_html(document: Document) -> str:
    """The whole file."""
    style, script = _part("report.css"), _part("report.js")
    parts = _parts(document.sections)
    body = [
        _head(document),
        _contents([sections[0].title for sections in parts]),
        "<main>",
        *(_titled(sections, i, document.store) for i, sections in enumerate(parts, 1)),
        *([] if document.store is None else [_store(document.store)]),
        _origin(document),
        "</main>",
    ]
    return Template(_part("template.html")).substitute(
        title=written(f"{document.title}: refless"),
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        body="\n".join(body),
    )


def as_fragment(document: Document, notes: Sequence[str] = ()) -> str:
    """The text and tables of a document for a notebook, without any style of their own."""
    parts = [f"<p><small>{written(note)}</small></p>" for note in notes]
    for section in plain(document):
        parts += [f"<h4>{written(section.title)}</h4>"] if section.title else []
        parts += [
            _command(line) if line.startswith(("  ", "signature: ")) else f"<p>{written(line)}</p>"
            for line in section.lines
        ]
        parts += [] if section.table is None else [_table(section.table, section.title)]
    return "".join(parts)


def _part(name: str) -> str:
    return files("refless.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the content security policy lets in: this text and no other."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _parts(sections: Iterable[Section]) -> list[list[Section]]:
    """Each section with a title, and those without one that continue it."""
    parts: list[list[Section]] = []
    for section in sections:
        if section.warning:
            continue
        if section.title or not parts:
            parts.append([])
        parts[-1].append(section)
    return parts


def _head(document: Document) -> str:
    facts = "".join(
        f"<div><dt>{_prose(name)}</dt><dd>{_prose(value)}</dd><dd>{_prose(more)}</dd></div>"
        for name, value, more in document.facts
    )
    advice = "".join(_section(one, document.store) for one in document.sections if one.warning)
    parts = [
        tag("h1", written(document.title)),
        *([tag("aside", advice, class_="advice", aria_label="Advice")] if advice else []),
        tag("p", _prose(document.verdict), id="verdict"),
        *(
            _command(note.strip())
            if note.startswith("  ")
            else tag("p", _prose(note), class_="note")
            for note in document.notes
        ),
        *([f"<dl>{facts}</dl>"] if facts else []),
    ]
    return tag("header", "\n".join(parts))


def _prose(text: str) -> str:
    """Words of our own, in which a number and its percent sign stay on one line."""
    return written(text).replace(" %", "&nbsp;%")


def _contents(titles: Sequence[str]) -> str:
    links = "".join(
        tag("li", tag("a", written(title), href=f"#part-{i}")) for i, title in enumerate(titles, 1)
    )
    return tag("nav", tag("ul", links), aria_label="Contents") if links else ""


def _titled(sections: Sequence[Section], number: int, store: Store | None) -> str:
    name = f"part-{number}"
    parts = [tag("h2", written(sections[0].title), id=f"{name}-title")]
    parts += [_section(section, store) for section in sections]
    return tag("section", "\n".join(parts), id=name, aria_labelledby=f"{name}-title")


def _section(section: Section, store: Store | None) -> str:
    """What a section holds below its title."""
    parts = [
        _command(line.strip()) if line.startswith("  ") else tag("p", _prose(line))
        for line in section.lines
    ]
    if section.points:
        parts.append(tag("ul", "".join(tag("li", _prose(point)) for point in section.points)))
    if section.figures:
        alone = " alone" * (len(section.figures) == 1)
        drawn = "\n".join(_figure(figure, store) for figure in section.figures)
        parts.append(tag("div", drawn, class_=f"figures{alone}"))
    if section.table is not None and all(section.table is not f.table for f in section.figures):
        parts.append(_table(section.table, section.title or "Table"))
    if section.texts:
        parts.append(_texts(section))
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
    if key.style.startswith("dot"):
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
        for name, numeric in zip(table.header, table.flush_right, strict=True)
    )
    rows = (
        tag("tr", "".join(_cell(*cell) for cell in zip(row, table.flush_right, strict=True)))
        for row in table.rows
    )
    return _scrolling(head, "".join(rows), label)


def _cell(text: str, numeric: bool, name: str = "td", **attributes: object) -> str:
    style = "number" if numeric else None
    content = written(text).replace("\n", "<br>")
    # an empty heading is no heading
    if not content:
        return "<td></td>"
    return tag(name, content, class_=style, **attributes)


def _scrolling(head: str, body: str, label: str) -> str:
    """A table may be wider than the screen: a region of its own, which the keyboard can scroll."""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)


def _names(header: Sequence[str]) -> str:
    return "".join(tag("th", written(name), scope="col") for name in header)


def _texts(section: Section) -> str:
    """Rows on stored texts; the script puts each text into its last cell."""
    rows = []
    for place, (first, *rest) in zip(section.texts, section.cells, strict=True):
        link = tag("a", written(first), href=f"#t{place}")
        cells = "".join(tag("td", written(cell), class_="number") for cell in rest)
        text = f'<td class="text" dir="auto" data-text="{place}"></td>'
        rows.append(tag("tr", tag("td", link) + cells + text))
    table = _scrolling(_names(section.header), "".join(rows), section.title)
    return tag("div", table, class_="misses")


def _store(store: Store) -> str:
    """Every text of the page, once; charts and other tables point here."""
    room = min(MOST, ROOM // max(1, len(store.texts)))
    body = "\n".join(_stored(text, i, room) for i, text in enumerate(store.texts))
    table = _scrolling(_names(("id", *store.header, "text")), f"\n{body}\n", store.title)
    summary = tag("summary", f"{written(store.title)} ({len(store.texts):,})")
    title = tag("h2", "The texts", id="texts-title")
    return tag(
        "section",
        title + tag("details", summary + table),
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


def _origin(document: Document) -> str:
    parts = [tag("h2", "How these numbers came about", id="origin-title")]
    if document.command:
        parts += [tag("p", "The command line:"), _command(document.command)]
    if document.signatures:
        which = (
            "signature, which names" if len(document.signatures) == 1 else "signatures, which name"
        )
        parts.append(tag("p", f"The {which} everything that can change them:"))
        parts += map(_command, document.signatures)
    return tag("section", "".join(parts), id="origin", aria_labelledby="origin-title")
