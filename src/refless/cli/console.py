"""Standard error: notes, warnings, progress; and whether a terminal is there."""

import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from refless.cli.streams import write_error
from refless.registry.errors import RefLessWarning
from refless.registry.sanitize import printable

PATIENCE = 2.0  # seconds before a progress bar appears


def say(line: str) -> None:
    """One line on standard error."""
    write_error(f"refless: {printable(line)}\n")


def warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001 - Python's own signature
    line: str | None = None,
) -> None:
    """Ours as a note, others as Python shows them."""
    if issubclass(category, RefLessWarning):
        say(str(message))
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        write_error(printable(text, keep="\n"))


def width() -> int:
    """Columns of the terminal (or COLUMNS), from 60 to 160; 80 where there is none."""
    if not sys.stdout.isatty():
        return 80
    return max(60, min(shutil.get_terminal_size((80, 24)).columns, 160))


def colored() -> bool:
    """Whether standard output takes colours: a terminal, and no NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


@contextmanager
def progress(what: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error for work of more than two seconds; None without a terminal there.

    Yields:
        A function that takes the share that is done, in [0, 1].
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(file=sys.stderr), transient=True)
    task = bar.add_task(what, total=None)  # that something is done, until it is told how much
    timer = threading.Timer(PATIENCE, bar.start)
    timer.start()
    try:
        yield lambda share: bar.update(task, total=1.0, completed=share)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()
