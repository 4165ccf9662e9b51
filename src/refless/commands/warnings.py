"""Notes and progress of a running function.

Notes end up in the result; whoever listens, as the command line does, hears them at once.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Share = Callable[[float], None] | None  # takes the share that is done, in [0, 1]
Bar = Callable[[str], AbstractContextManager[Share]]

FEWEST_GROUPS = 20  # with 10, a 95 % interval holds the truth about 9 times in 10
MANY_COPIES = 0.05  # of the texts

_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)
_listener: ContextVar[Callable[[str], None] | None] = ContextVar(
    "listener", default=None
)
_bar: ContextVar[Bar | None] = ContextVar("bar", default=None)


def note(line: str) -> None:
    """One thing that was noticed, as a sentence; "" says nothing."""
    notes = _notes.get()
    listener = _listener.get()
    if line and notes is not None:
        notes.append(line)
    if line and listener is not None:
        listener(line)


def note_few(count: int, group: str) -> None:
    """Says so where intervals, which draw whole groups, rest on too few to be trusted."""
    if 1 < count < FEWEST_GROUPS:
        few = f"with fewer than {FEWEST_GROUPS} they are too narrow"
        note(f"intervals are drawn over {count} {group}s; {few}")


def note_repeated(labels: Sequence[object], result: str) -> None:
    """Says so, and what results from it, where many texts have equal labels."""
    copies = sum(count for count in Counter(labels).values() if count > 1)
    if copies > MANY_COPIES * len(labels):
        note(f"{copies} of {len(labels)} texts occur more than once. {result}")


def progress(work: str) -> AbstractContextManager[Share]:
    """A bar for this work where somebody watches; it takes the share that is done."""
    bar = _bar.get()
    return nullcontext() if bar is None else bar(work)


@contextmanager
def collecting() -> Iterator[list[str]]:
    """The notes of what runs inside, in order."""
    notes: list[str] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


@contextmanager
def watched(listener: Callable[[str], None], bar: Bar) -> Iterator[None]:
    """Lets somebody hear notes at once and see how far the work is."""
    listener_token = _listener.set(listener)
    bar_token = _bar.set(bar)
    try:
        yield
    finally:
        _listener.reset(listener_token)
        _bar.reset(bar_token)


@contextmanager
def silenced() -> Iterator[list[str]]:
    """The notes of what runs inside, which nobody hears."""
    token = _listener.set(None)
    try:
        with collecting() as notes:
            yield notes
    finally:
        _listener.reset(token)
