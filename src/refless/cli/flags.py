"""Functions as commands: their parameters become flags."""

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from refless.cli.console import say
from refless.cli.output import Format, check_beside, is_folder_name, show
from refless.commands import function_of
from refless.commands.declared import RESULT, parameters_of
from refless.registry.dialect import command_line, dialect
from refless.registry.errors import UsageError
from refless.registry.spec import Parameter
from refless.report.result import Result

TABLE = dict[str, Any]
NUMBERS = (int, float, bool, tuple[float, float])
PLAIN = (str, list[str], *NUMBERS)  # what flags can hold
SHOWN = Annotated[
    Format, typer.Option(help="Format of standard output.", rich_help_panel=RESULT)
]
OUT = "-o"
SAVED = (
    "Also write FILE (.json .jsonl .csv .parquet .md, .html for a report), or TOOL:FILE for "
    "another tool; repeatable."
)
CSV_SAFE = Annotated[
    bool,
    typer.Option(
        "--csv-safe",
        help="In CSV, put ' before cells that a spreadsheet would take for a formula.",
        rich_help_panel=RESULT,
    ),
]


def command_of(name: str) -> Any:  # noqa: ANN401 - click's own
    """A command with its flags; its module is loaded."""
    function = function_of(name)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    with command_line(flags_of(function)):
        alone.command(name, cls=PlainCommand, help=help_of(function))(
            as_command(function)
        )
    command: Any = typer.main.get_command(alone)
    parameters = parameters_of(function)
    command.texts = {"out", *(p.name for p in parameters if p.kind not in NUMBERS)}
    return command


def _converted(flag: Any, is_text: bool, ctx: Any, value: Any) -> Any:  # noqa: ANN401 - click's own
    """The value as typer converts it; texts and defaults stay: for these it would load pydantic."""
    missing = value is None and flag.required
    if missing or not (is_text or _is_default(ctx, flag.name)):
        return type(flag).process_value(flag, ctx, value)
    return value


def _is_default(ctx: Any, name: str) -> bool:  # noqa: ANN401 - click's own
    source = ctx.get_parameter_source(name)
    return getattr(source, "name", "") == "DEFAULT"


class PlainCommand(TyperCommand):
    """A command whose help is plain text in groups: what draws boxes takes 0.1 s to load."""

    texts: Collection[str] = ()  # flags that hold text

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's own
        """Parses as its base does."""
        if [*args] == ["--help"] or [*args] == ["-h"]:
            typer.echo(ctx.get_help())
            ctx.exit()
        _, _, given = self.make_parser(ctx).parse_args(args=[*args])
        flags: list[Any] = self.get_params(ctx)
        for flag in flags:
            if given.count(flag) > 1 and not (flag.multiple or flag.is_flag):
                name = max(flag.opts, key=len)
                say(f"{name} was given twice: the last one counts")
            flag.process_value = partial(_converted, flag, flag.name in self.texts)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - click's own
        """Each flag, below the heading of its group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            panel = getattr(option, "rich_help_panel", None) or "Options"
            line = option.get_help_record(ctx)
            if line is not None:
                groups.setdefault(panel, []).append(line)
        for panel, lines in groups.items():
            with formatter.section(panel):
                formatter.write_dl(lines)


def as_command(function: Callable[..., Result]) -> Callable[..., None]:
    """A function for typer: it takes the flags that are there, calls, and shows the result."""
    parameters = parameters_of(function)
    folder = next((p for p in parameters if OUT in p.flags), None)
    own = [parameter for parameter in parameters if parameter is not folder]

    def run(_context: typer.Context, **values: Any) -> None:  # noqa: ANN401 - whatever flags hold
        arguments: dict[str, Any] = {}
        for parameter in own:
            name = parameter.name
            if _is_default(_context, name):
                continue
            arguments[name] = values[name]
            if parameter.kind == TABLE:
                arguments[name] = _by_name(parameter.longest, values[name])
        files = values["out"] or []
        with command_line(flags_of(function), files):
            if folder is not None and (folders := [*filter(is_folder_name, files)]):
                files = check_beside(
                    folders, files, values["format"], values["csv_safe"]
                )
                arguments[folder.name] = folders[0]
            make = partial(function, **arguments)
            show(function.__name__, make, values["format"], files, values["csv_safe"])

    keyword = inspect.Parameter.KEYWORD_ONLY
    flags = [
        *map(_flag, own),
        inspect.Parameter("_context", keyword, annotation=typer.Context),
        inspect.Parameter("format", keyword, default=Format.BRIEF, annotation=SHOWN),
        inspect.Parameter("out", keyword, default=None, annotation=_saved(folder)),
        inspect.Parameter("csv_safe", keyword, default=False, annotation=CSV_SAFE),
    ]
    run.__signature__ = inspect.Signature(flags)  # type: ignore[attr-defined]
    run.__annotations__ = {flag.name: flag.annotation for flag in flags}
    return run


def _saved(folder: Parameter | None) -> Any:  # noqa: ANN401 - typer's own type
    """The flag of files that are written, and of a folder, where a command writes one."""
    lines = [SAVED] if folder is None else [SAVED, f"FOLDER/: {folder.about.help}"]
    option = typer.Option(
        OUT,
        "--out",
        help=dialect(" ".join(lines)),
        rich_help_panel=RESULT,
        metavar="FILE",
        show_default=False,
    )
    return Annotated[list[str] | None, option]


def _flag(parameter: Parameter) -> inspect.Parameter:
    """A parameter of the function as typer reads it."""
    missing = parameter.default is MISSING
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if missing else parameter.default,
        annotation=Annotated[_kind(parameter), _typer(parameter)],
    )


def flags_of(function: Callable[..., Result]) -> dict[str, str]:
    """The flag of each parameter by its name; for a word of the command line what stands for it."""
    return {
        parameter.name: _metavar(parameter)
        if parameter.about.argument
        else parameter.longest
        for parameter in parameters_of(function)
    }


def _metavar(parameter: Parameter) -> str:
    """The placeholder of a word of the command line in help and messages: FILE, or its name."""
    files = "FILE" if parameter.kind == list[str] else parameter.name.upper()
    return parameter.about.metavar or files


def help_of(function: Callable[..., Result]) -> str:
    """The docstring without its arguments, which help lists, and each paragraph on one line."""
    doc = inspect.cleandoc(inspect.unwrap(function).__doc__ or "")
    parts = dialect(doc.partition("\n\nArgs:\n")[0]).split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def _kind(parameter: Parameter) -> Any:  # noqa: ANN401 - any type
    """The type as typer knows it; what it does not know is text."""
    kind = parameter.kind if parameter.kind in PLAIN else str
    kind = list[str] if parameter.kind == TABLE else kind
    return kind | None if parameter.optional else kind


def _by_name(flag: str, words: Sequence[str]) -> dict[str, str | list[str]]:
    """NAME=VALUE of each word, with all values of a name; UsageError for any other word."""
    values: dict[str, list[str]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise UsageError(f"{flag} needs NAME=VALUE, got '{word}'")
        values.setdefault(name, []).append(value)
    return {
        name: texts[0] if len(texts) == 1 else texts for name, texts in values.items()
    }


def _typer(parameter: Parameter) -> Any:  # noqa: ANN401 - typer's own type
    """The flag, or the word, as typer has it."""
    about = parameter.about
    names = parameter.flags
    line = dialect(about.help)
    files = "FILE" if parameter.kind == list[str] else None
    metavar = about.metavar or "|".join(about.choices) or files
    if about.argument:
        dots = "..." if metavar and parameter.kind == list[str] else ""
        metavar = metavar and f"{metavar}{dots}"
        return typer.Argument(help=line, metavar=metavar, show_default=False)
    if parameter.kind is bool:
        name = names[0].removeprefix("--")
        off = "" if parameter.default is False else f"/--no-{name}"
        names = (f"--{name}{off}",)
    return typer.Option(
        *names,
        help=line,
        metavar=metavar,
        rich_help_panel=about.panel or None,
        show_default=not isinstance(parameter.default, bool | None),
    )
