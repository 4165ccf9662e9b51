"""Parameters that functions and command line share, each declared once with its line of help."""

import difflib
import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from refless.commands.config import config_of
from refless.commands.declared import (
    COLUMNS,
    CONFIG,
    READING,
    RESULT,
    Declared,
    Flag,
    Many,
    Parameter,
    is_open,
    parameters_of,
)
from refless.commands.warnings import collecting, note
from refless.data.tables import Columns, Reading, one_of, parse_rating_map, scale_of
from refless.data.tables.columns import SEVERAL
from refless.estimators import ESTIMATORS, estimator_of
from refless.files.untrusted import MOST_BYTES, is_folder
from refless.registry.errors import UsageError
from refless.registry.spec import About, spec_of
from refless.report.result import Result

__all__ = ["COLUMNS", "RESULT", "About", "Declared", "Flag", "Many", "Parameter", "parameters_of"]

Rows = Any  # files, a data frame, columns, dicts: whatever `refless.data.tables` reads
Names = str | Sequence[str] | None  # one or several
Folder = str | PathLike[str]
R = TypeVar("R", bound=Result)


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
        item_column: Column of the item, which several systems answered. Without it: item,
            prompt_id, else the source.
        source_column: Column of the source. Without it: source, prompt, input, question, context,
            mr.
        system_column: Column of the system. Without it: system, model, version.
        task_column: Column of the task. Without it: task.
        input_format: csv, excel, label-studio ... Without it: by name and content.
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

    def given(self) -> dict[str, Any]:
        """What is not as usual, by name."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: value for name, (value, usual) in values.items() if value != usual}

    def reading(self, **columns: Any) -> Reading:
        """How to read: the columns that flags name, whatever they are, and more by role."""
        flags = [one.name for one in fields(self) if one.name.endswith("_column")]
        own = {name.removesuffix("_column"): getattr(self, name) for name in flags}
        own |= {role: names_in(own[role]) for role in SEVERAL if role in own}
        return Reading(
            columns=Columns(**own | columns),
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
            pattern: 'rater*'. Without it: rating, human, human_rating, human_score, annotation,
            label, stars, preference, feedback.
        annotator_column: Column of the annotator. Without it: annotator, rater, worker, user.
        time_column: Column of the time of each rating. Without it: timestamp, rated_at.
        rating_map: Numbers for rating words: up=1,down=0.
        scale: Lowest and highest rating; maps ratings to [0, 1].
        dimension: Which of several things that were rated is read: fluency, a question, a scorer, a
            column of ratings; fluency=1..5 has its scale. Repeatable, or a pattern, for validate
            and score.
        dimension_column: Column that says what was rated. Without it: dimension.
        label_config: Labelling configuration of Label Studio (XML), which has the scale.
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
    dimension: Annotated[Read[Names], Flag(metavar="NAME", kind=Many)] = None
    dimension_column: Rare[Column] = None
    label_config: Annotated[Rare[Read[str | None]], Flag(metavar="FILE")] = None
    aggregate: Rare[Read[Literal["mean", "median"]]] = "mean"

    def reading(self, **columns: Any) -> Reading:
        """How to read, with more columns by role."""
        words = self.rating_map
        dimension, own = one_of(names_in(self.dimension))
        scale = None if self.scale is None else scale_of(self.scale)
        return replace(
            # zero-argument super() does not know the class that slots made anew
            OutputRows.reading(self, **columns),
            scale=scale if own is None else own,
            dimension=dimension,
            label_config=self.label_config,
            aggregate=self.aggregate,
            rating_map=parse_rating_map(words) if isinstance(words, str) else words,
        )


Natural = Annotated[int, About("", at_least=1)]
Share = Annotated[T, About("", at_least=0, at_most=1)]
Seed = Annotated[
    int, About("Seed of all that is drawn; 0 is a seed.", at_least=0), Flag(panel=RESULT)
]
Resamples = Annotated[  # the outermost 2.5 % of 40 are one
    int, About("Bootstrap resamples behind intervals.", at_least=40), Flag(panel=RESULT)
]
TheseItems = Annotated[
    bool,
    Flag(
        help="The items in the file are the whole question, as a fixed test set is: the answer is "
        "not about other items like them.",
        panel=RESULT,
    ),
]
Looks = Annotated[
    Literal["one", "any"],
    Flag(
        help="any: intervals hold however often you look while ratings arrive. one: for one look.",
        panel=RESULT,
    ),
]
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
        help="gp, bleu-neighbors or ratpred, with parameters if any: gp:max_sd=0.2. 'refless list "
        "estimators' lists them.",
        names=("--estimator",),
        metavar="ESTIMATOR",
        kind=str,
    ),
]
Model = Annotated[
    Folder | None,
    Flag(
        help="File of 'refless fit' or 'refless train': an estimator with its rated texts, which "
        "need not be read again.",
        metavar="FILE",
        kind=str | None,
    ),
]
SavedAs = Annotated[
    Folder,
    Flag(
        help="File of the fitted estimator, which ends in .safetensors; one that is there already "
        "is replaced in one step.",
        metavar="FILE",
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
LogprobsColumn = Annotated[
    Column,
    Flag(
        hidden=True,
        help="Column of log-probabilities for slor: a list for each text of {token, logprob}, "
        "or of numbers with --tokens-column.",
    ),
]
TokensColumn = Annotated[Column, Flag(hidden=True, help="Column of the tokens: lists of strings.")]


def names_in(names: Names) -> tuple[str, ...]:
    """One name or several as a tuple."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function: what it was given, as a command line can say it again.

    Attributes:
        name: of the function; parameters: those it has; values: of these, by name.
    """

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
    name = one.longest
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
        return spec_of(estimator_of(value), ESTIMATORS)
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return fspath(value) if isinstance(value, PathLike) else str(value)


_call: ContextVar[Call] = ContextVar("call")


def this_call() -> Call:
    """The call that is running."""
    return _call.get()


def command(function: Callable[..., R]) -> Callable[..., R]:
    """A function whose groups of parameters are taken one by one, by keyword.

    It also takes `config`, a file whose values stand for parameters that are not given. Its result
    knows what was noticed on the way, and the command line that does the same.
    """
    own = inspect.signature(function)
    hints = get_type_hints(function)
    groups = {name: hints[name] for name in own.parameters if is_dataclass(hints[name])}
    signature = own.replace(parameters=_flat(own, groups))

    @wraps(function)
    def run(*args: Any, config: Folder | None = None, **values: Any) -> R:
        with collecting() as told:
            call = _called(function, signature, args, values, config)
            for one in call.parameters:
                one.check(call.values.get(one.name))
            given = dict(call.values)
            for name, group in groups.items():
                given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
            token = _call.set(call)
            try:
                result = function(**given)
            finally:
                _call.reset(token)
        return replace(result, notes=tuple(told), command=call.line())

    last = inspect.Parameter(CONFIG.name, inspect.Parameter.KEYWORD_ONLY, default=None)
    shown = sorted([*signature.parameters.values(), last], key=is_open)
    run.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return run


def _called(
    function: Callable[..., object],
    signature: inspect.Signature,
    args: Sequence[Any],
    values: Mapping[str, Any],
    config: Folder | None,
) -> Call:
    """The call, with what a file of settings says of parameters that are not given."""
    name, parameters = function.__name__, parameters_of(function)
    if config is not None:
        found = config_of(fspath(config), name, parameters)
        given = {*signature.bind_partial(*args).arguments, *values}
        used = {key: value for key, value in found.values.items() if key not in given}
        words = [
            word for one in parameters if one.name in used for word in _words(one, used[one.name])
        ]
        note(f"from {found.path}: {shlex.join(words) or 'nothing that changes this'}")
        values = {**values, **used}
    others = [one.name for one in signature.parameters.values() if is_open(one)]
    _check_names(name, [] if others else [*values], [one.name for one in parameters])
    bound = signature.bind(*args, **values)
    bound.apply_defaults()
    known = dict(bound.arguments)
    for more in others:
        known |= known.pop(more)
    return Call(name, parameters, known)


def _check_names(function: str, given: Sequence[str], known: Sequence[str]) -> None:
    """Raises TypeError, as Python does, for a keyword that is none of the function's."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean '{near[0]}'?" if near else f"help(refless.{function}) lists all"
            raise TypeError(f"refless.{function}() has no parameter '{name}'; {remedy}")


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
    return sorted([*plain, *more], key=is_open)  # what takes any others comes last


def check_folder(folder: Folder) -> Path:
    """The folder.

    Raises:
        UsageError: there is none.
    """
    if not is_folder(folder):
        raise UsageError(f"there is no folder '{folder}'; make it first")
    return Path(folder)
