"""join: texts in one file and their ratings in another, as one file."""

from typing import Annotated

from refless.application.notes import note
from refless.application.parameters import Column, Flag, Rare, Read, Rows, command
from refless.nouns import counted
from refless.report.join import JoinResult
from refless.signature import Signature
from refless.tables import Columns, Reading, joined

Side = Annotated[Rows, Flag(argument=True, kind=str)]


@command
def join(
    outputs: Side,
    ratings: Side,
    *,
    on: Annotated[str | None, Flag(metavar="NAME|LEFT=RIGHT")] = None,
    annotator_column: Column = None,
    dimension_column: Column = None,
    encoding: Rare[Read[str]] = "utf-8",
    skip_bad: Read[bool] = False,
) -> JoinResult:
    """Join ratings with the texts that they are of, where these lie in two files.

    Writes a row a rating, with the columns of both; texts that nobody rated keep their row. Files
    of Langfuse, LangSmith and Phoenix are known by their content, and need no --on.

    Args:
        outputs: A file of texts, one a row.
        ratings: A file of ratings, one a row.
        on: The column that names the text in both, or OUTPUTS=RATINGS where it has two names.
            Without it: id.
        annotator_column: Column of the annotator, who rates a text once. Without it: annotator,
            rater, worker, user.
        dimension_column: Column that says what was rated. Without it: dimension.
        encoding: Encoding of text files.
        skip_bad: Skip bad rows instead of stopping.
    """
    columns = Columns(annotator=annotator_column, dimension=dimension_column)
    reading = Reading(columns=columns, encoding=encoding, skip_bad=skip_bad)
    found = joined(outputs, ratings, on, reading)
    for line in found.notes:
        note(line)
    if left := found.n_texts - found.n_rated:
        have = "has" if left == 1 else "have"
        note(f"{counted(left, 'text')} of {found.n_texts:,} {have} no rating")
    if left := found.n_ratings - found.n_matched:
        note(f"left out: {counted(left, 'rating')} of {found.n_ratings:,} without a text")
    signature = Signature("join").plus(on=found.on)
    return JoinResult(joined=found, signature=signature)
