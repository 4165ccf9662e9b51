"""Functions as commands: their parameters become flags."""

import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.core import TyperCommand

from refless.cli.output import Format, show
from refless.commands import function_of
from refless.commands.dimensions import whole_or_by_dimension
from refless.commands.parameters import RESULT, Many, Parameter, parameters_of
from refless.registry.errors import UsageError
from refless.report.result import Result

PLAIN = (str, int, float, bool, list[str], tuple[float, float])  # what flags can hold
MOVED = {  # what were flags once, and how an estimator takes each now
    "--encoder": "gp:encoder=FOLDER",
    "--ignore-source": "gp:use_source=no",
    "--kernel": "bleu-neighbors:kernel=rouge-l",
    "--layer": "gp:encoder=FOLDER,layer=6",
    "--max-fraction": "bleu-neighbors:max_fraction=0.5",
    "--max-sd": "gp:max_sd=0.2",
    "--min-neighbors": "bleu-neighbors:min_neighbors=2",
    "--orders": "bleu-neighbors:kernel=(bleu*:orders=1-4)",
    "--power": "bleu-neighbors:weights=kernel,power=2",
    "--rarity": "bleu-neighbors:kernel=(bleu*:rarity=yes)",
    "--subsample": "bleu-neighbors:subsample=0.5",
    "--tau": "bleu-neighbors:tau=0.1",
    "--tokenize": "bleu-neighbors:kernel=(bleu*:tokenize=words)",
    "--weights": "bleu-neighbors:weights=kernel",
}


class Command(TyperCommand):
    """A command that knows where the parameters of estimators have gone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's own
        """Raises UsageError for a flag that is now a parameter of an estimator."""
        try:
            return super().parse_args(ctx, args)
        except Exception as fault:
            flag = getattr(fault, "option_name", "")
            takes = any("--estimator" in one.opts for one in self.params)
            if type(fault).__name__ != "NoSuchOption" or flag not in MOVED or not takes:
                raise
            said = shlex.join(["--estimator", MOVED[flag]])
            raise UsageError(
                f"no flag {flag}: parameters go with the estimator: {said}; 'refless list "
                "estimators' lists them"
            ) from None


SHOWN = Annotated[Format, typer.Option(help="Format of standard output.", rich_help_panel=RESULT)]
SAVED = Annotated[
    list[str] | None,
    typer.Option(
        "-o",
        "--out",
        help="Also write FILE (.json .jsonl .csv .parquet .md, .html for a report), or "
        "TOOL:FILE for another tool; repeatable.",
        rich_help_panel=RESULT,
        metavar="FILE",
        show_default=False,
    ),
]
CSV_SAFE = Annotated[
    bool,
    typer.Option(
        "--csv-safe",
        help="In CSV, put ' before cells that a spreadsheet would take for a formula.",
        rich_help_panel=RESULT,
        hidden=True,
    ),
]


def command_of(name: str) -> Any:  # noqa: ANN401 - click's own
    """A command with its flags; its module is loaded."""
    function, alone = function_of(name), typer.Typer(add_completion=False)
    told, rare = help_of(function), rare_of(function)
    alone.command(name, cls=Command, help=told, epilog=rare)(as_command(function))
    return typer.main.get_command(alone)


def as_command(function: Callable[..., Result]) -> Callable[..., None]:
    """A function for typer: it takes the flags that are there, calls, and shows the result."""

    def run(_context: typer.Context, **values: Any) -> None:  # noqa: ANN401 - whatever flags hold
        shown, saved = values.pop("format"), values.pop("out") or []
        csv_safe = values.pop("csv_safe")
        given = {
            name: value
            for name, value in values.items()
            if getattr(_context.get_parameter_source(name), "name", "") != "DEFAULT"
        }
        make = partial(whole_or_by_dimension, function, given)
        show(function.__name__, make, shown, saved, csv_safe)

    keyword = inspect.Parameter.KEYWORD_ONLY
    flags = [
        inspect.Parameter(
            one.name,
            keyword,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=Annotated[_kind(one.kind), _typer(one)],
        )
        for one in parameters_of(function)
    ]
    flags += [
        inspect.Parameter("_context", keyword, annotation=typer.Context),
        inspect.Parameter("format", keyword, default=Format.TEXT, annotation=SHOWN),
        inspect.Parameter("out", keyword, default=None, annotation=SAVED),
        inspect.Parameter("csv_safe", keyword, default=False, annotation=CSV_SAFE),
    ]
    run.__signature__ = inspect.Signature(flags)  # type: ignore[attr-defined]
    run.__annotations__ = {flag.name: flag.annotation for flag in flags}
    return run


def help_of(function: Callable[..., Result]) -> str:
    """The docstring without its arguments, which help lists, and each paragraph on one line."""
    parts = inspect.cleandoc(function.__doc__ or "").partition("\n\nArgs:\n")[0].split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def rare_of(function: Callable[..., Result]) -> str:
    """A line on the flags that help does not list."""
    rare = [one.longest for one in parameters_of(function) if one.flag.hidden]
    return f"Seldom needed, in docs/command-line.md: {', '.join([*rare, '--csv-safe'])}."


def _kind(kind: Any) -> Any:  # noqa: ANN401 - any type
    """The type as typer knows it; what it does not know is text."""
    if get_origin(kind) in (UnionType, Union) and NoneType in get_args(kind):
        (plain,) = (one for one in get_args(kind) if one is not NoneType)
        return _kind(plain) | None
    return kind if kind in PLAIN and get_origin(kind) is not Literal else str


def _typer(one: Parameter) -> Any:  # noqa: ANN401 - typer's own type
    flag = one.flag
    metavar = flag.metavar or ("FILE" if one.kind in (list[str], Many) else None)
    if flag.argument:
        metavar = metavar and f"{metavar}..."
        return typer.Argument(help=flag.help, metavar=metavar, show_default=False)
    names = one.flags
    if one.kind in (bool, bool | None):
        name = names[0].removeprefix("--")
        names = (f"--{name}",) if one.default is False else (f"--{name}/--no-{name}",)
    return typer.Option(
        *names,
        help=flag.help,
        metavar=metavar,
        rich_help_panel=flag.panel or None,
        show_default=one.default is not None and not isinstance(one.default, bool),
        hidden=flag.hidden,
    )
