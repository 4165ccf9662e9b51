"""The command line: the only place that prints or sets an exit status.

Exit status: 0 done, 1 internal error, 2 wrong usage or input, 3 a gate failed, 4 a gate could not
be decided.
"""

from __future__ import annotations

import os
import sys
import traceback

import typer

from refless.cli.demo import demo
from refless.cli.explain import explain
from refless.cli.huse import huse
from refless.cli.index import index
from refless.cli.meta import meta
from refless.cli.metric import metric
from refless.cli.mine import mine
from refless.cli.options import paragraphs, takes_groups
from refless.cli.score import score
from refless.cli.stress import stress
from refless.cli.train import train
from refless.cli.validate import validate
from refless.errors import RefLessError
from refless.version import __version__

INTERNAL_ERROR, WRONG_INPUT, INTERRUPTED = 1, 2, 130
OUR_FAULT = (
    "refless: internal error: this is a fault of refless, not of your input. Please report it "
    f"with the lines above and this one: refless {__version__}, Python {sys.version.split()[0]}\n"
)

app = typer.Typer(
    name="refless",
    help="Judge generated text by what people have already rated.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (score, explain, validate, index, metric, meta, huse, mine, stress, train, demo):
    app.command(help=paragraphs(command.__doc__ or ""))(takes_groups(command))


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
    """Runs the command line; turns exceptions into a message and an exit status."""
    # numba would load colorama, which writes an escape code to the terminal at the very end
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    try:
        app()
    except RefLessError as error:
        sys.stderr.write(f"refless: error: {error}\n")
        sys.exit(WRONG_INPUT)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception:  # noqa: BLE001 - whatever it is, it is our fault, and said so
        traceback.print_exc()
        sys.stderr.write(OUR_FAULT)
        sys.exit(INTERNAL_ERROR)
