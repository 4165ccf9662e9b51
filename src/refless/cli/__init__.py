"""The command line: the only place that prints or sets an exit status.

Exit status: 0 done, 1 internal error, 2 wrong usage or input, 3 a gate failed, 4 a gate could not
be decided.
"""

from __future__ import annotations

import sys

import typer

from refless.cli.demo import demo
from refless.cli.explain import explain
from refless.cli.index import index
from refless.cli.options import takes_groups
from refless.cli.score import score
from refless.cli.validate import validate
from refless.errors import RefLessError
from refless.version import __version__

app = typer.Typer(
    name="refless",
    help="Judge generated text by what people have already rated.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (score, explain, validate, index, demo):
    app.command()(takes_groups(command))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"refless {__version__}")
        raise typer.Exit


@app.callback()
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
    """Runs the command line; turns refless's own errors into a message and exit status 2."""
    try:
        app()
    except RefLessError as error:
        sys.stdout.flush()
        sys.stderr.write(f"refless: error: {error}\n")
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone; there is nobody to tell
        sys.exit(0)
