"""Parameters that functions and command line share, each declared once with its line of help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from refless.commands.calls import Call, command, this_call, words_of
from refless.commands.declared import (
    COLUMNS,
    READING,
    RESULT,
    ByName,
    Many,
    parameters_of,
)
from refless.data.tables import Columns, Reading, one_of, parse_word_map, scale_of
from refless.data.tables.roles import ROLES, flags_of, roles_in
from refless.files.untrusted import MOST_BYTES, is_folder
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.from_file import Named
from refless.registry.spec import (
    About,
    Parameter,
    nearest,
    parameters_in,
    value_of,
    written,
)

__all__ = [
    "COLUMNS",
    "RESULT",
    "About",
    "Call",
    "Many",
    "Parameter",
    "command",
    "parameters_of",
    "this_call",
    "words_of",
]

Rows = Any  # files, a data frame, columns, dicts: whatever `refless.data.tables` reads
Names = str | Sequence[str] | None  # one or several
Folder = str | PathLike[str]
Rubric = Annotated[Folder | None, About(kind=str | None, metavar="FILE")]
Argument = Annotated[Rows, About(argument=True, kind=list[str])]
Files = Annotated[Rows, About(kind=Many)]
Several = Annotated[Names, About(kind=Many)]
T = TypeVar("T")
ColumnRoles = Annotated[
    Mapping[str, str | Sequence[str]] | None,
    About(names=("--column",), panel=COLUMNS, metavar="ROLE=NAME", kind=ByName),
]
OUTPUT_ROLES = tuple(
    role for role in roles_in("outputs") if ROLES[role].of in {"text", "place"}
)
RATED_ROLES = (*OUTPUT_ROLES, "rating", "annotator", "time", "dimension")


def about_columns(example: str, roles: Sequence[str]) -> About:
    """The help of a parameter that says which column plays which of some roles."""
    return About(
        f"Column that plays a role, if its name does not say so: {example}. Repeatable; roles: "
        f"{flags_of(*roles)}."
    )


OutputColumns = Annotated[ColumnRoles, about_columns("text=reply", OUTPUT_ROLES)]
RatedColumns = Annotated[ColumnRoles, about_columns("rating=score", RATED_ROLES)]
ReadingOptions = Annotated[
    Mapping[str, Any] | None,
    About(names=("--read",), panel=READING, metavar="OPTION=VALUE", kind=ByName),
]
OutputReading = Annotated[
    ReadingOptions,
    About(
        "How files are read: encoding=latin-1. Repeatable; options: format, encoding, quoting, "
        "max-bytes."
    ),
]
RatedReading = Annotated[
    ReadingOptions,
    About(
        "How files are read: encoding=latin-1. Repeatable; options: format, encoding, quoting, "
        "max-bytes, rating-map, score-map, label-config."
    ),
]
SkipBad = Annotated[
    bool, About("Skip and count bad rows instead of stopping.", panel=READING)
]
RowFilter = Annotated[
    Names,
    About(
        "Rows that count: status=approved, or type!=control. Repeatable. status=* keeps what a "
        "tool marks as invalid.",
        panel=READING,
        metavar="COLUMN=VALUE",
        kind=Many,
    ),
]
RatingScale = Annotated[
    tuple[float, float] | None,
    About(
        "Lowest and highest rating; maps ratings to [0, 1].",
        panel=READING,
        metavar="MIN MAX",
    ),
]
Dimension = Annotated[
    Names,
    About(
        "Which of several things that were rated is read: fluency, a question, a scorer, a column "
        "of ratings; fluency=1..5 has its scale.",
        panel=READING,
        metavar="NAME",
        kind=str | None,
    ),
]
LowerIsBetter = Annotated[
    Names,
    About(
        "A column of ratings or scores that is to be turned, verdicts too: errors, ranks; "
        "repeatable.",
        panel=COLUMNS,
        metavar="NAME",
        kind=Many,
    ),
]
ScoreColumn = Annotated[
    Names,
    About(
        "Column of scores that others gave the texts: an LLM judge, a metric; repeatable, or a "
        "pattern: 'judge*'. Higher need not mean better.",
        panel=COLUMNS,
        metavar="NAME",
        kind=Many,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """Options of reading files, by name in `--read OPTION=VALUE`."""

    format: Annotated[str | None, About("csv, excel, label-studio ...")] = None
    encoding: Annotated[str, About("encoding of text files")] = "utf-8"
    quoting: Annotated[bool | None, About("whether quotes enclose cells")] = None
    max_bytes: Annotated[int, About("most bytes that one file may hold, unpacked")] = (
        MOST_BYTES
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedOptions(FileOptions):
    """The same for files of rated texts."""

    rating_map: Annotated[
        str | Mapping[str, float] | None,
        About("numbers for rating words", kind=str | None),
    ] = None
    score_map: Annotated[
        str | Mapping[str, float] | None,
        About("numbers for words of scores", kind=str | None),
    ] = None
    label_config: Annotated[str | None, About("Label Studio's configuration")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRows:
    """Options of reading outputs, and their columns by role: parameters as a user gives them."""

    roles: ClassVar[tuple[str, ...]] = OUTPUT_ROLES
    options: ClassVar[type[FileOptions]] = FileOptions

    columns: ColumnRoles = None
    reading: ReadingOptions = None
    skip_bad: bool = False
    where: Names = None

    def __post_init__(self) -> None:
        columns_by_role(self.columns, self.roles)
        options_in(self.reading, self.options)

    def to_reading(self, **columns: Any) -> Reading:
        """The reading options: the columns that flags name, and more by role."""
        return Reading(
            columns=Columns(**columns_by_role(self.columns, self.roles) | columns),
            skip_bad=self.skip_bad,
            where=names_in(self.where),
            **options_in(self.reading, self.options),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedRows(OutputRows):
    """The same for rated texts, or for both."""

    roles: ClassVar[tuple[str, ...]] = RATED_ROLES
    options: ClassVar[type[FileOptions]] = RatedOptions

    scale: tuple[float, float] | None = None
    dimension: Names = None
    lower_is_better: Names = None

    def to_reading(self, **columns: Any) -> Reading:
        """The reading options, with more columns by role."""
        dimension, dimension_scale = one_of(names_in(self.dimension))
        scale = None if self.scale is None else scale_of(self.scale)
        # zero-argument super() does not know the class that slots made anew
        reading = OutputRows.to_reading(self, **columns)
        return replace(
            reading,
            scale=dimension_scale or scale,
            dimension=dimension,
            lower=names_in(self.lower_is_better),
        )


def columns_by_role(columns: Any, roles: Sequence[str]) -> dict[str, Any]:
    """The columns that a user names, by role: several for a role that may have them.

    Raises:
        UsageError: no such role, or several columns for a role that has one.
    """
    result: dict[str, Any] = {}
    for role, names in mapped(columns, "columns", "{'rating': 'score'}").items():
        if role not in roles:
            near = nearest(role, roles)
            listed = ", ".join(roles)
            raise UsageError(
                f"{called('columns')}: no role '{role}'{near}; there are {listed}"
            )
        several = names_in(names)
        if not ROLES[role].several and len(several) > 1:
            raise UsageError(
                f"{called('columns')}: {role} takes one column, got {', '.join(several)}"
            )
        if several:
            result[role] = several if ROLES[role].several else several[0]
    return result


def options_in(options: Any, kind: type[FileOptions]) -> dict[str, Any]:
    """The options of files that a user gives, by name.

    Raises:
        UsageError: no such option, or a value that it cannot have.
    """
    result: dict[str, Any] = {}
    parameters = parameters_in(kind)
    for option, value in mapped(options, "reading", "{'encoding': 'latin-1'}").items():
        name = option.replace("-", "_")
        place = f"{called('reading')}: {option}"
        if name not in parameters:
            names = [parameter.replace("_", "-") for parameter in parameters]
            near = nearest(option, names)
            listed = ", ".join(names)
            raise UsageError(
                f"{called('reading')}: no option '{option}'{near}; there are {listed}"
            )
        if isinstance(value, list | tuple):
            raise UsageError(
                f"{place} takes one value, got {', '.join(map(str, value))}"
            )
        result[name] = _option(parameters[name], value, place)
    return result


def _option(parameter: Parameter, value: Any, place: str) -> Any:
    """The value of one option, which a command line has as text."""
    is_map = parameter.name in {"rating_map", "score_map"}
    if isinstance(value, Mapping) and is_map:
        return value
    text = value if isinstance(value, str) else written(value)
    plain = value_of(parameter, text, place)
    parameter.check(plain, place)
    name = parameter.name.replace("_", "-")
    return parse_word_map(plain, name) if is_map and plain is not None else plain


def mapped(values: Any, name: str, example: str) -> Mapping[str, Any]:
    """Values by name, none of them if there are none; raises UsageError for anything else."""
    if values is None:
        return {}
    if isinstance(values, Mapping) and all(isinstance(key, str) for key in values):
        return values
    raise UsageError(f"{name} must be a mapping such as {example}; got {values!r}")


Natural = Annotated[int, About("", at_least=1)]
Share = Annotated[T, About("", at_least=0, at_most=1)]
Inside = Annotated[T, About("", above=0, below=1)]
Seed = Annotated[
    int,
    About("Seed of all that is drawn; 0 is a seed.", at_least=0),
    About(panel=RESULT),
]
Resamples = Annotated[  # the outermost 2.5 % of 40 are one
    int,
    About("Bootstrap resamples behind intervals.", at_least=40),
    About(panel=RESULT),
]
Group = Annotated[
    str | None,
    About(
        help="What is drawn, and held out, as a whole: id (each text alone), text (equal texts), "
        "item, source, system, task or a column's name. Without it: what items and sources connect."
    ),
]
TheseItems = Annotated[
    bool,
    About(
        help="The items in the file are the whole question, as a fixed test set is: the answer is "
        "not about other items like them.",
        panel=RESULT,
    ),
]
Looks = Annotated[
    Literal["one", "any"] | int | Sequence[int],
    About(
        help="one: intervals hold for one look. any: however often you look while ratings arrive. "
        "5: at five planned looks, equally far apart up to --of items. 20,45: at looks after so "
        "many rated items, of which this is the last; both need --of.",
        metavar="one|any|NUMBER",
        kind=str,
        panel=RESULT,
    ),
]
Threads = Annotated[
    int | None,
    About(
        help="Threads. Without it: all cores. Results do not depend on it, except for rounding in "
        "torch."
    ),
]
Chosen = Annotated[
    Any,  # a specification, or an estimator
    About(
        help="gp, bleu-neighbors or ratpred, with parameters if any: gp:max_sd=0.2. 'refless list "
        "estimators' lists them. mine.py:Class is your own.",
        names=("--estimator",),
        metavar="ESTIMATOR",
        kind=str,
    ),
]
Model = Annotated[
    Folder | None,
    About(
        help="File of 'refless fit' or 'refless train': an estimator with its rated texts, which "
        "need not be read again.",
        metavar="FILE",
        kind=str | None,
    ),
]
SavedAs = Annotated[
    Folder,
    About(
        help="File of the fitted estimator, which ends in .safetensors; one that is there already "
        "is replaced in one step.",
        metavar="FILE",
        kind=str,
    ),
]
Metrics = Annotated[
    Named,
    About(
        help="A metric, with parameters if any: bleu:order=2,smooth=exp, or your own function, "
        "mine.py:function. Repeatable.",
        names=("-m", "--metric"),
        metavar="METRIC",
        kind=Many,
    ),
]


def names_in(names: Names) -> tuple[str, ...]:
    """One name or several as a tuple."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def check_folder(folder: Folder) -> Path:
    """The folder.

    Raises:
        UsageError: there is none.
    """
    if not is_folder(folder):
        raise UsageError(f"there is no folder '{folder}'; make it first")
    return Path(folder)
