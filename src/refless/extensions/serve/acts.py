"""Raters, what they do as the page sends it, and what is refused."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from refless.extensions.serve.result import Task
from refless.extensions.serve.schema import TIE
from refless.registry.errors import RefLessError

OWNER = "owner"
RATER = "rater"
DECIDER = "decider"  # the name of the rater who decides where others differ
Key = Annotated[int, Meta(ge=0, lt=1 << 31)]
Word = Annotated[str, Meta(max_length=200)]


class Refused(RefLessError):  # noqa: N818 - what it says
    """A request that cannot be honoured; the message is for whoever sent it."""


class Conflict(Refused):
    """An event whose id was sent before with other content."""


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One act of a rater, as the page sends it.

    Attributes:
        uuid: made by the page, so that sending it again changes nothing.
        assigned: the signed name of what was shown; of `undone` that of the latest act, or none.
        value: the rating, or the place of the text that was chosen, as shown; -1 for neither.
        latency: milliseconds since the item was shown.
    """

    uuid: Annotated[str, Meta(pattern=r"^[0-9A-Za-z-]{8,64}$")]
    kind: Literal["rated", "skipped", "flagged", "undone"]
    assigned: Annotated[str, Meta(max_length=2000)] = ""
    dimension: Word = ""
    value: float | None = None
    reason: Annotated[str, Meta(max_length=500)] = ""
    latency: Key = 0


@dataclass(frozen=True, slots=True)
class Rater:
    """Somebody with a personal link; `link` is below 0 where it was revoked."""

    id: int
    name: str
    note: str
    role: str
    link: int


def check_repeated(before: Any, rater: int, content: str) -> None:  # noqa: ANN401 - a row
    """Raises Refused for another rater's event, and Conflict for other content than `before`.

    Args:
        before: the row of the event with the same id, if there is one.
        rater: who sent the event; content: its digest.
    """
    if before is None:
        return
    if before.rater != rater:
        raise Refused("this event is somebody else's")
    if json.loads(before.shown).get("content", content) != content:
        raise Conflict("this id was sent before, with other content")


def rated_value(event: Event, task: Task, sides: Sequence[int]) -> float | None:
    """The rating, or the place in its unit of the text that was chosen.

    Args:
        event: a rating; task: how raters are asked; sides: places of the texts, as shown.

    Raises:
        Refused: it is none of the ratings that were offered.
    """
    value = event.value
    offered: Sequence[float] = range(len(sides))
    if task.ask == "rating":
        offered = task.steps_of(event.dimension)
    elif task.ask == "pair":
        offered = [*offered, TIE]
    if value not in offered:
        raise Refused(f"the rating must be one of {', '.join(map(str, offered))}")
    if task.ask == "rating" or value is None or value == TIE:
        return value
    return sides[int(value)]
