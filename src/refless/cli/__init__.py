"""The command line: parses, calls a function of the application, shows its result.

Exit status: 0 done, 1 internal error, 2 wrong usage or input, 3 a gate failed, 4 a gate could not
be decided, 130 interrupted.
"""

import gc
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from refless.cli import console
from refless.cli.console import say, warned
from refless.commands import COMMANDS
from refless.files.untrusted import is_file, ours
from refless.loops import compiling
from refless.registry.errors import RefLessError
from refless.registry.offered import blamed
from refless.registry.sanitize import printable
from refless.registry.version import __version__

COMPILING = "compiling loops, once on this machine: it may take half a minute"
DONE = 0
INTERNAL_ERROR = 1
WRONG_INPUT = 2
INTERRUPTED = 130
CREATED = 1_000_000  # objects, before what can be freed is looked for
OUR_FAULT = (
    "refless: internal error: this is a fault of refless, not of your input. Please report it "
    f"with the lines above and this one: refless {__version__}, Python {sys.version.split()[0]}\n"
)
THEIR_FAULT = (
    "refless: internal error: this is a fault of the package '{}', which adds to refless. Please "
    "report it to its authors with the lines above, or uninstall it.\n"
)


class Commands(TyperGroup):
    """The group of all commands, whose help is plain text: what draws boxes takes 0.1 s to load.

    What is wrong with a command line is said without commands to the terminal.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's own
        """Parses as its base does; without a command, shows help or looks at the file."""
        if not args and not ctx.resilient_parsing:
            args = ["--help"]
        return super().parse_args(ctx, _with_command(args))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - click's own
        """Usage, what it is for, options, commands."""
        super(TyperGroup, self).format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Each command with its first sentence, whole, in groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in COMMANDS.items():
            groups.setdefault(command.group, []).append((name, command.sentence))
        for group, lines in groups.items():
            with formatter.section(group):
                formatter.write_dl(lines)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - click's own
        """The command with its own flags: its module is loaded."""
        name, commands, words = super().resolve_command(ctx, args)
        if commands is None:
            return name, commands, words
        # takes longer to load than all of --help
        from refless.cli.flags import command_of

        return name, command_of(str(name)), words

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - click's own
        """The context of its base; messages of errors are printable."""
        with _printable():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's own
        """Runs the command; messages of errors are printable."""
        with _printable():
            return super().invoke(ctx)


def _with_command(args: list[str]) -> list[str]:
    """The words with the command `look`, and a page, if they begin with a file."""
    first = args[0] if args else "-"
    is_word = first in COMMANDS or first.startswith("-")
    if is_word or not (is_file(first) or Path(first).suffix):
        return args
    page = ["-o", f"{Path(first).stem}-refless.html"]
    told_otherwise = {"-o", "--out", "--format", "--help", "-h"} & {*args}
    if told_otherwise or not os.access(".", os.W_OK):
        page = []
    return ["look", *page, *args]


@contextmanager
def _printable() -> Iterator[None]:
    try:
        yield
    except Exception as fault:
        if hasattr(fault, "format_message"):  # it is shown by typer
            fault.message = printable(fault.message, keep="\n")  # type: ignore[attr-defined]
        raise


def app(first: str = "") -> typer.Typer:
    """The commands, each with its first sentence; the one that is asked for is loaded.

    Where the first word is one, options of the group are not read: that loads pydantic.
    """
    own_options = first not in COMMANDS
    commands = typer.Typer(
        name="refless",
        cls=Commands,
        add_completion=own_options,
        add_help_option=own_options,
        help="Judge generated text by what people have already rated.",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    commands.callback()(_root)
    for name, command in COMMANDS.items():
        commands.command(name, help=command.sentence)(_unasked)
    return commands


def _unasked() -> None:
    """Stands for a command in the list of all."""


def _version(value: bool) -> None:
    if value:
        typer.echo(f"refless {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False,  # noqa: FBT003
        "--version",
        callback=_version,
        is_eager=True,
        help="Show the version.",
    ),
) -> None:
    pass


def main() -> None:
    """Runs the command line; turns exceptions into a message and an exit status."""
    # numba would load colorama, which writes an escape code to the terminal at the very end
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    # modules stay: looking among them for what can be freed takes a tenth of a short command
    gc.set_threshold(CREATED)
    console.open_missing()
    warnings.showwarning = warned
    if sys.stderr.isatty():
        compiling.append(lambda: say(COMPILING))
    try:
        sys.exit(guarded(_ran))
    finally:
        console.finish()


def _ran() -> None:
    console.check_output()
    app(*sys.argv[1:2])()


def guarded(run: Callable[[], Any]) -> int:
    """Runs something; the exit status of how it ended, with a message where that was an error."""
    try:
        run()
    except RefLessError as error:
        say(f"error: {error}")
        return WRONG_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        if end.code == INTERNAL_ERROR and console.reader_left():
            return DONE
        raise
    except Exception as fault:  # noqa: BLE001 - whatever it is, it is said whose fault it is
        of_system = ours(fault)
        if of_system is not None:
            say(f"error: {of_system}")
            return WRONG_INPUT
        console.write_error(_internal_error(fault))
        return INTERNAL_ERROR
    return DONE


def _internal_error(fault: Exception) -> str:
    """The traceback, and whose fault it is: of a package that adds to refless, or ours."""
    lines = "".join(traceback.format_exception(fault))
    package = blamed(fault)
    verdict = THEIR_FAULT.format(package) if package else OUR_FAULT
    return printable(lines, keep="\n") + verdict
