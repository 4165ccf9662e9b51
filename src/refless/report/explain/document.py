"""The report of `refless explain`: one estimate and its evidence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from refless.estimators import Explanation
from refless.human import unscaled
from refless.nouns import counted
from refless.records import Neighbor, Reason, Scale
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.wording import (
    REASONS,
    clipped,
    estimator_name,
    in_units,
    number,
    on_scale,
    with_interval,
)
from refless.signature import Signature
from refless.stats.intervals import Interval


def explanation_document(
    text: str,
    found: Explanation,
    signature: Signature,
    scale: Scale | None,
    most: int,
    command: str = "",
    room: int | None = None,
) -> Document:
    """The report of `refless explain`.

    Args:
        text: what was estimated; found: its estimate and evidence.
        signature: of the estimator.
        scale: of the ratings.
        most: rows of evidence.
        command: the command line.
        room: characters of a rated text to show; None for what fits a terminal.
    """
    ends = found.low, found.high
    value = f"Estimate {with_interval(found.estimate, ends)}."
    if found.reason:
        value = f"No estimate ({found.reason}): {REASONS.get(found.reason, '')}."
    else:
        value += on_scale(found.estimate, ends, scale)
    return Document(
        title=f"One text explained by {estimator_name(signature)}",
        verdict=value,
        notes=(f'"{clipped(text, 200)}"', _count(found, signed=signature.name == "gp")),
        sections=_evidence(found, scale, most, room, signed=signature.name == "gp"),
        signatures=(str(signature),),
        command=command,
    )


def _count(found: Explanation, *, signed: bool) -> str:
    """How many rated texts it rests on."""
    texts = counted(found.size, "rated text")
    if signed:
        return f"Each of {texts} has a share; all shares sum to 1."
    return f"{found.support} of {texts} {'is' if found.support == 1 else 'are'} similar enough."


def _evidence(
    found: Explanation, scale: Scale | None, most: int, room: int | None, *, signed: bool
) -> tuple[Section, ...]:
    """The rated texts behind the estimate; with shares where these have a sign."""
    room = room or (34 if signed else 42)
    ratings = unscaled(np.array([n.rating for n in found.neighbors[:most]]), scale)
    rows = tuple(
        (
            *((f"{n.share:+.3f}",) if signed else ()),
            number(n.similarity),
            number(rating),
            clipped(n.id, 10),
            f"{clipped(n.text, room)}\n{clipped('shares ' + ', '.join(map(repr, n.shared)), room)}",
        )
        for n, rating in zip(found.neighbors[:most], ratings.tolist(), strict=True)
    )
    if not rows:
        return ()
    table = Table(
        header=(
            *(("share",) if signed else ()),
            *("similarity", "rating", "id", "rated text, and what both hold"),
        ),
        rows=rows,
        numeric=(*((True,) if signed else ()), True, True, False, False),
    )
    order = "largest share first" if signed else "most similar first"
    more = found.support - len(rows)
    rest = (Section(lines=(f"{more} more: raise --most.",)),) if more > 0 else ()
    return (Section(title=f"Evidence, {order}", table=table), *rest)


@dataclass(frozen=True, kw_only=True)
class EstimateInScale:
    """The estimate in the raters' units."""

    scale: Scale
    estimate: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class ExplainRecord(Record):
    """The rated texts behind one estimate.

    Attributes:
        interval: 95 %, for the mean rating that people would give.
        reason: empty where there is an estimate.
        support: rated texts that the estimate rests on; size: those they were drawn from.
        in_scale: null without a scale.
        neighbors: most similar first, or those with the largest share.
    """

    command: Literal["explain"] = "explain"
    signature: Signed
    text: str
    estimate: float
    interval: Interval
    reason: Reason
    support: Count
    size: Count
    in_scale: EstimateInScale | None
    neighbors: tuple[Neighbor, ...]


def explanation_record(
    text: str, found: Explanation, signature: Signature, scale: Scale | None
) -> ExplainRecord:
    """The object of `refless explain --format json`."""
    ends, scaled = (found.low, found.high), None
    if scale is not None:
        value, (low, high) = in_units(found.estimate, ends, scale)
        scaled = EstimateInScale(scale=scale, estimate=value, interval=(low, high))
    return record(
        ExplainRecord, found, text=text, signature=str(signature), interval=ends, in_scale=scaled
    )


def explanation_rows(found: Explanation) -> Rows:
    """One row a rated text behind the estimate."""
    return [
        {**asdict(neighbor), "shared": " | ".join(neighbor.shared), "text": neighbor.text}
        for neighbor in found.neighbors
    ]
