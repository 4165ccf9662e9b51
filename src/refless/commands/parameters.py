"""Parameters that functions and command line share, each declared once with its line of help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from refless.commands.calls import Call, command, this_call, words_of
from refless.commands.declared import (
    COLUMNS,
    READING,
    RESULT,
    Many,
    parameters_of,
)
from refless.data.tables import Columns, Reading, one_of, parse_rating_map, scale_of
from refless.data.tables.columns import SEVERAL
from refless.files.untrusted import MOST_BYTES, is_folder
from refless.registry.errors import UsageError
from refless.registry.spec import About, Parameter

__all__ = [
    "COLUMNS",
    "RESULT",
    "About",
    "Call",
    "Flag",
    "Many",
    "Parameter",
    "command",
    "parameters_of",
    "this_call",
    "words_of",
]

Flag = About

Rows = Any  # files, a data frame, columns, dicts: whatever `refless.data.tables` reads
Names = str | Sequence[str] | None  # one or several
Folder = str | PathLike[str]
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
        help="Threads. Without it: all cores. Results do not depend on it, except for rounding in "
        "torch."
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


def check_folder(folder: Folder) -> Path:
    """The folder.

    Raises:
        UsageError: there is none.
    """
    if not is_folder(folder):
        raise UsageError(f"there is no folder '{folder}'; make it first")
    return Path(folder)
