"""Parameters that functions and command line share, each declared once with its line of help."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import wraps
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from refless.application.notes import collecting
from refless.errors import UsageError
from refless.outside import MOST_BYTES, is_folder

if TYPE_CHECKING:
    from refless.report.result import Result
    from refless.tables import Reading

COLUMNS, READING, RESULT = "Columns", "Reading", "Result"
FEWEST_RESAMPLES = 40  # the outermost 2.5 % of them are then one

Rows = Any  # files, a data frame, columns, dicts: whatever `refless.tables` reads
Names = str | Sequence[str] | None  # one or several
Folder = str | PathLike[str]
Many = list[str] | None  # what the command line takes for rows and for several names
R = TypeVar("R", bound="Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """How a parameter appears on the command line.

    Attributes:
        help: one sentence; without it, what the docstring says of the parameter.
        names: its flags; without any, the parameter's name with dashes.
        metavar: what stands for its value.
        panel: the heading under which help lists it.
        hidden: works, but help does not list it.
        argument: has no flag: it is a word of the command line.
        kind: what the command line takes, where functions take more; the parameter's own type.
    """

    help: str = ""
    names: tuple[str, ...] = ()
    metavar: str = ""
    panel: str = ""
    hidden: bool = False
    argument: bool = False
    kind: Any = None


@dataclass(frozen=True, slots=True)
class Declared:
    """Parameters that another class declares, taken by keyword.

    Attributes:
        module, name: where the class is; it is loaded when its parameters are asked for.
        without: parameters that are not taken.
        hidden: parameters that work, but that help does not list.
    """

    module: str
    name: str
    without: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, each with the help that its class gives it."""
        from refless.spec import About, written

        kind = getattr(import_module(self.module), self.name)
        hints = get_type_hints(kind, include_extras=True)
        found = []
        for field in fields(kind):
            about = next((a for a in get_args(hints[field.name]) if isinstance(a, About)), None)
            if about is None or field.name in self.without:
                continue
            flag = Flag(help=about.help, panel="Network", hidden=field.name in self.hidden)
            plain, default = get_args(hints[field.name])[0], field.default
            if isinstance(default, tuple):
                plain, default = str, written(default)
            found.append(Parameter(name=field.name, flag=flag, kind=plain, default=default))
        return tuple(found)


Argument = Annotated[Rows, Flag(argument=True, kind=list[str])]
Files = Annotated[Rows, Flag(kind=Many)]
Several = Annotated[Names, Flag(kind=Many)]
Column = Annotated[str | None, Flag(panel=COLUMNS, metavar="NAME")]
SeveralColumns = Annotated[Names, Flag(panel=COLUMNS, metavar="NAME", kind=Many)]
T = TypeVar("T")
Rare = Annotated[T, Flag(hidden=True)]
Read = Annotated[T, Flag(panel=READING)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRows:
    """How rows of outputs are read, and which column is what.

    Attributes:
        text_column: Column of the text. Without it: text, output, response, completion, answer,
            candidate.
        id_column: Column of the id, which names one text. Without it: id.
        item_column: Column of the item, which several systems answered. Without it: item, else the
            source.
        source_column: Column of the source. Without it: source, prompt, input, question, context,
            mr.
        system_column: Column of the system. Without it: system, model.
        task_column: Column of the task. Without it: task.
        input_format: jsonl, csv, tsv, parquet or text. Without it: by name and content.
        encoding: Encoding of text files.
        quoting: Whether quotes enclose cells. Without it: in CSV, not in TSV.
        max_bytes: Most bytes that one file of rows may hold, unpacked.
        skip_bad: Skip and count bad rows instead of stopping.
    """

    text_column: Column = None
    id_column: Column = None
    item_column: Column = None
    source_column: Column = None
    system_column: Column = None
    task_column: Rare[Column] = None
    input_format: Annotated[Rare[Read[str | None]], Flag(metavar="FORMAT")] = None
    encoding: Rare[Read[str]] = "utf-8"
    quoting: Rare[Read[bool | None]] = None
    max_bytes: Rare[Read[int]] = MOST_BYTES
    skip_bad: Read[bool] = False

    def reading(self, **columns: Any) -> Reading:
        """How to read, with more columns by role."""
        from refless.tables import Columns, Reading

        named = Columns(
            text=self.text_column,
            id=self.id_column,
            item=self.item_column,
            source=self.source_column,
            system=self.system_column,
            task=self.task_column,
        )
        return Reading(
            columns=replace(named, **columns),
            encoding=self.encoding,
            quoting=self.quoting,
            skip_bad=self.skip_bad,
            format=self.input_format,
            max_bytes=self.max_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedRows(OutputRows):
    """The same for rated texts, or for both.

    Attributes:
        rating_column: Column of the ratings; for one annotator a column repeat it, or give a
            pattern: 'rater*'. Without it: rating, score, quality, label, feedback.
        annotator_column: Column of the annotator. Without it: annotator, rater, worker, user.
        time_column: Column of the time of each rating. Without it: timestamp, rated_at.
        rating_map: Numbers for rating words: up=1,down=0.
        scale: Lowest and highest rating; maps ratings to [0, 1].
        aggregate: What stands for several ratings of one text: their mean or median.
    """

    rating_column: SeveralColumns = None
    annotator_column: Column = None
    time_column: Rare[Column] = None
    rating_map: Annotated[
        Rare[Read[str | Mapping[str, float] | None]],
        Flag(metavar="WORD=NUMBER,...", kind=str | None),
    ] = None
    scale: Annotated[Read[tuple[float, float] | None], Flag(metavar="MIN MAX")] = None
    aggregate: Annotated[Rare[Read[str]], Flag(metavar="mean|median")] = "mean"

    def reading(self, **columns: Any) -> Reading:
        """How to read, with more columns by role."""
        from refless.tables import parse_rating_map, scale_of

        if self.aggregate not in {"mean", "median"}:
            raise UsageError(f"--aggregate must be mean or median, got '{self.aggregate}'")
        words = self.rating_map
        told = {"annotator": self.annotator_column, "time": self.time_column}
        named = {"rating": names_in(self.rating_column), **told}
        return replace(
            # zero-argument super() does not know the class that slots made anew
            OutputRows.reading(self, **{**named, **columns}),
            scale=None if self.scale is None else scale_of(self.scale),
            aggregate="median" if self.aggregate == "median" else "mean",
            rating_map=parse_rating_map(words) if isinstance(words, str) else words,
        )


Seed = Annotated[int, Flag(help="Seed of all that is drawn; 0 is a seed.", panel=RESULT)]
Resamples = Annotated[int, Flag(help="Bootstrap resamples behind intervals.", panel=RESULT)]
Threads = Annotated[
    int | None,
    Flag(
        help="Threads. Without it: all cores. No number depends on it, but for the seventh digit "
        "of what torch computes."
    ),
]
Chosen = Annotated[
    Any,  # a specification, or an estimator
    Flag(
        help="gp, bleu-neighbors or ratpred, with parameters if any: gp:max_sd=0.2. 'refless "
        "estimators' lists them.",
        names=("--estimator",),
        metavar="ESTIMATOR",
        kind=str,
    ),
]
Metrics = Annotated[
    Names,
    Flag(
        help="A metric, with parameters if any: bleu:order=2,smooth=exp. Repeatable.",
        names=("-m", "--metric"),
        metavar="METRIC",
        kind=Many,
    ),
]
ReferenceColumns = Annotated[
    SeveralColumns,
    Flag(help="Column of the references; repeatable. Without it: reference, references."),
]
WeightColumn = Annotated[
    Column, Flag(help="Column of the references' weights. Without it: weight, weights.")
]


def names_in(names: Names) -> tuple[str, ...]:
    """One name or several as a tuple."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def check_drawing(seed: int, resamples: int = FEWEST_RESAMPLES) -> None:
    """Raises UsageError for a seed or a number of resamples that cannot be used."""
    if seed < 0:
        raise UsageError(f"--seed must be 0 or more, got {seed}")
    if resamples < FEWEST_RESAMPLES:
        raise UsageError(
            f"--resamples must be {FEWEST_RESAMPLES} or more, got {resamples}: a 95 % interval "
            "needs as many"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a function: its name, flag, type and default."""

    name: str
    flag: Flag
    kind: Any
    default: Any

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that set it."""
        return self.flag.names or (f"--{self.name.strip('_').replace('_', '-')}",)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function: what it was given, as a command line can say it again."""

    name: str
    parameters: tuple[Parameter, ...]
    values: Mapping[str, Any]

    def line(self, **changes: Any) -> str:
        """The command line of this call, or of one with other values."""
        words: list[str] = []
        values = {**self.values, **changes}
        for one in self.parameters:
            words += _words(one, values.get(one.name, one.default))
        return shlex.join(["refless", self.name, *words])


def _words(one: Parameter, value: Any) -> list[str]:
    """What sets a parameter to a value; nothing for its default."""
    if one.flag.argument:
        return words_of(value)
    if value is None or (type(value) is type(one.default) and value == one.default):
        return []
    name = max(one.flags, key=len)
    if isinstance(value, bool):
        return [name if value else f"--no-{name.removeprefix('--')}"]
    if one.kind == Many:
        return [word for said in words_of(value) for word in (name, said)]
    if isinstance(value, list | tuple) and one.kind is not str:
        return [name, *map(_said, value)]
    if isinstance(value, Mapping):
        return [name, ",".join(f"{word}={_said(number)}" for word, number in value.items())]
    return [name, _said(value)]


def words_of(value: Any) -> list[str]:
    """One or several paths, names or specifications as words; FILE for rows from elsewhere."""
    if value is None:
        return []
    given = list(value) if isinstance(value, list | tuple) else [value]
    if all(isinstance(one, str | PathLike) or hasattr(one, "fit") for one in given):
        return [_said(one) for one in given]
    return ["FILE"]


def _said(value: Any) -> str:
    if hasattr(value, "fit"):
        from refless.estimators import ESTIMATORS
        from refless.spec import spec_of

        return spec_of(value, ESTIMATORS)
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return fspath(value) if isinstance(value, PathLike) else str(value)


_call: ContextVar[Call] = ContextVar("call")


def this_call() -> Call:
    """The call that is running."""
    return _call.get()


def parameters_of(function: Callable[..., object]) -> tuple[Parameter, ...]:
    """The parameters of a function, those of its groups one by one."""
    found: list[Parameter] = []
    own, hints = told_of(function.__doc__), _hints(inspect.unwrap(function), include_extras=True)
    for name, one in inspect.signature(inspect.unwrap(function)).parameters.items():
        if _open(one):
            found += get_args(hints[name])[1].parameters()
        elif is_dataclass(hints[name]):
            group: Any = hints[name]
            inner = get_type_hints(group, include_extras=True)
            told = told_of(*(kind.__doc__ for kind in group.__mro__))
            found += [
                _parameter(field.name, inner[field.name], field.default, told)
                for field in fields(group)
            ]
        else:
            default = MISSING if one.default is inspect.Parameter.empty else one.default
            found.append(_parameter(name, hints[name], default, own))
    return tuple(found)


def _parameter(name: str, hint: Any, default: Any, told: Mapping[str, str]) -> Parameter:
    kind, *flags = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    given: dict[str, Any] = {"help": told.get(name, "")}
    for flag in flags:
        said = {field.name: getattr(flag, field.name) for field in fields(Flag)}
        given |= {name: value for name, value in said.items() if value}
    flag = Flag(**given)
    return Parameter(name=name, flag=flag, kind=flag.kind or kind, default=default)


def told_of(*docs: str | None) -> dict[str, str]:
    """What docstrings say of each name under `Args` or `Attributes`."""
    found: dict[str, str] = {}
    for doc in docs:
        parts = re.split("\n(?:Args|Attributes):\n", inspect.cleandoc(doc or ""))
        entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", "".join(parts[1:]), re.MULTILINE)
        found |= {name: " ".join(text.split()) for name, text in entries}
    return found


def command(function: Callable[..., R]) -> Callable[..., R]:
    """A function whose groups of parameters are taken one by one, by keyword.

    Its result knows what was noticed on the way, and the command line that does the same.
    """
    own = inspect.signature(function)
    hints = _hints(function)
    groups = {name: hints[name] for name in own.parameters if is_dataclass(hints[name])}
    others = next((one.name for one in own.parameters.values() if _open(one)), "")
    signature = own.replace(parameters=_flat(own, groups))

    @wraps(function)
    def run(*args: Any, **values: Any) -> R:
        bound = signature.bind(*args, **values)
        bound.apply_defaults()
        given = dict(bound.arguments)
        given |= given.pop(others, {})
        call = Call(function.__name__, parameters_of(function), dict(given))
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        token = _call.set(call)
        try:
            with collecting() as told:
                result = function(**given)
        finally:
            _call.reset(token)
        return replace(result, notes=tuple(told), command=call.line())

    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _hints(function: Callable[..., object], *, include_extras: bool = False) -> dict[str, Any]:
    """The types of its parameters; that of its result is loaded only when it is called."""
    own = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    names = inspect.unwrap(function).__globals__
    return get_type_hints(SimpleNamespace(__annotations__=own), names, None, include_extras)


def _open(one: inspect.Parameter) -> bool:
    """Whether a parameter takes any others by keyword."""
    return one.kind is inspect.Parameter.VAR_KEYWORD


def _flat(own: inspect.Signature, groups: Mapping[str, Any]) -> list[inspect.Parameter]:
    """The function's own parameters as they are, those of groups by keyword."""
    plain = [one for name, one in own.parameters.items() if name not in groups]
    more = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=kinds[field.name],
        )
        for group in groups.values()
        for kinds in [get_type_hints(group)]
        for field in fields(group)
    ]
    return sorted([*plain, *more], key=_open)  # what takes any others comes last


def check_folder(folder: Folder) -> Path:
    """The folder.

    Raises:
        UsageError: there is none.
    """
    if not is_folder(folder):
        raise UsageError(f"there is no folder '{folder}'; make it first")
    return Path(folder)
