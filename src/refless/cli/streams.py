"""Standard streams that are closed, full, or left by who read them."""

import os
import sys
from typing import TextIO

from refless.registry.errors import UsageError


def open_missing() -> None:
    """Gives standard input and error that are closed a place where nothing is read or kept.

    Else the next file that is opened would take their number, and what libraries write there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
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
