"""The view of `refless explain`."""

from __future__ import annotations

from collections.abc import Mapping

from refless.estimators import Explanation
from refless.records import Scale
from refless.report.parts import FORMAT, REASONS, signature_section
from refless.report.view import Cell, Section, Table, View, clipped, number, with_interval
from refless.signature import Signature


def explanation_view(
    text: str, found: Explanation, signature: Signature, scale: Scale | None, most: int
) -> View:
    """The view of `refless explain`."""
    rows: list[Mapping[str, Cell]] = [
        {
            "id": neighbor.id,
            "similarity": neighbor.similarity,
            "rating": neighbor.rating,
            "share": neighbor.share,
            "n_ratings": neighbor.n_ratings,
            "shared": " | ".join(neighbor.shared),
            "text": neighbor.text,
        }
        for neighbor in found.neighbors
    ]
    json = {
        "format": FORMAT,
        "command": "explain",
        "signature": str(signature),
        "text": text,
        "estimate": found.estimate,
        "interval": [found.low, found.high],
        "reason": found.reason,
        "support": found.support,
        "size": found.size,
        "in_scale": _in_scale(found, scale),
        "neighbors": [
            {**row, "shared": list(neighbor.shared)}
            for row, neighbor in zip(rows, found.neighbors, strict=True)
        ],
    }
    sections = _sections(text, found, signature, scale, most)
    shown = tuple(section for section in sections if section.lines or section.table)
    return View(json=json, rows=rows, sections=shown)


def _in_scale(found: Explanation, scale: Scale | None) -> dict[str, object] | None:
    if scale is None:
        return None
    low, high = scale
    raw = [value * (high - low) + low for value in (found.estimate, found.low, found.high)]
    return {"scale": [low, high], "estimate": raw[0], "interval": raw[1:]}


def _sections(
    text: str, found: Explanation, signature: Signature, scale: Scale | None, most: int
) -> tuple[Section, ...]:
    value = f"Estimate {with_interval(found.estimate, (found.low, found.high))}."
    if scale is not None:
        low, high = scale
        raw = [end * (high - low) + low for end in (found.estimate, found.low, found.high)]
        value += f" On the raters' scale {low:g} to {high:g}: {with_interval(raw[0], raw[1:], 2)}."
    signed = signature.name == "kriging"
    why = f"No estimate ({found.reason}): {REASONS.get(found.reason, '')}."
    lines = (
        f'"{clipped(text, 200)}"',
        why if found.reason else value,
        _count(found, signed),
    )
    room = 34 if signed else 42
    rows = tuple(
        (
            *((f"{n.share:+.3f}",) if signed else ()),
            number(n.similarity),
            number(n.rating),
            clipped(n.id, 10),
            f"{clipped(n.text, room)}\n{clipped('shares ' + ', '.join(map(repr, n.shared)), room)}",
        )
        for n in found.neighbors[:most]
    )
    header: tuple[str, ...] = ("similarity", "rating", "id", "rated text, and what both hold")
    numeric: tuple[bool, ...] = (True, True, False, False)
    if signed:
        header, numeric = ("share", *header), (True, *numeric)
    table = Table(header=header, rows=rows, numeric=numeric) if rows else None
    order = "largest share first" if signed else "most similar first"
    more = found.support - len(rows)
    rest = (f"{more} more: raise --most.",) if more > 0 and rows else ()
    return (
        Section(lines=lines),
        Section(title=f"Evidence, {order}", table=table),
        Section(lines=rest),
        signature_section(signature),
    )


def _count(found: Explanation, signed: bool) -> str:
    """How many rated texts it rests on."""
    if signed:
        return f"Each of {found.size} rated texts has a share; all shares sum to 1."
    return f"{found.support} of {found.size} rated texts are similar enough."
