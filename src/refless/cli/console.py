"""Standard streams: notes, warnings, progress; a terminal or none; closed, full or left ones."""

import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from refless.registry.errors import RefLessWarning, UsageError
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
def progress(work: str) -> Iterator[Callable[[float], None] | None]:
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
    # without a total it shows that something is done
    task = bar.add_task(work, total=None)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.start()
    try:
        yield lambda share: bar.update(task, total=1.0, completed=share)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


def open_missing() -> None:
    """Gives standard input and error that are closed a place where nothing is read or kept.

    Else the next file that is opened would take their number, and what libraries write there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # takes the lowest number that is free: this one
            os.open(os.devnull, os.O_RDWR)
    for name, mode in (("stdin", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def check_output() -> None:
    """Raises UsageError where standard output is closed: before any work is done."""
    if getattr(sys, "stdout", None) is None:
        raise UsageError(
            "standard output is closed, and results are written there; open it, or throw them away "
            "with >/dev/null"
        )


def write_output(text: str) -> None:
    """Writes to standard output; a reader who has gone, as `head` does, is no error.

    Raises:
        UsageError: it takes no more.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as fault:
        _silence(sys.stdout)
        raise UsageError(f"standard output: {fault.strerror}") from None


def write_error(text: str) -> None:
    """Writes to standard error; where nothing can be written, nobody can be told."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def reader_left() -> bool:
    """Whether typer or rich met a closed pipe, by what each then puts in its place."""
    if type(sys.stdout).__name__ == "PacifyFlushWrapper":
        return True
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(os.devnull))  # noqa: PTH116
    except (OSError, ValueError):  # made up, as in tests
        return False


def finish() -> None:
    """Lets nothing be left that Python would fail to write when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if getattr(stream, "flush", None) is not None:
                stream.flush()
        except OSError:
            _silence(stream)


def _silence(stream: TextIO) -> None:
    """Whatever is still to be written there goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
