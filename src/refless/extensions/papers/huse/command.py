"""huse: quality and diversity in one number."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from refless.commands.parameters import (
    RATED_ROLES,
    Argument,
    ColumnRoles,
    Dimension,
    LowerIsBetter,
    RatedReading,
    RatedRows,
    RatingScale,
    RowFilter,
    Rows,
    Seed,
    SkipBad,
    about_columns,
    command,
)
from refless.commands.rows import tell
from refless.commands.warnings import note
from refless.data.human import human_ratings
from refless.data.tables import ScoredRead, read_scored
from refless.extensions.papers.huse.result import HuseResult
from refless.extensions.papers.huse.study import PARTS
from refless.extensions.papers.huse.study import huse as huse_of
from refless.registry.arrays import BoolArray, FloatArray
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__

HUMAN_LABELS = ("human", "person", "people", "reference")

LABELLED_ROLES = (*RATED_ROLES, "logprob", "length", "label")
LabelledColumns = Annotated[ColumnRoles, about_columns("rating=score", LABELLED_ROLES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRows(RatedRows):
    """The same with what a model thinks of each text, and whose it is."""

    roles: ClassVar[tuple[str, ...]] = LABELLED_ROLES


@command
def huse(
    rated: Argument,
    *,
    human_label: str | None = None,
    neighbors: int = 15,
    exact_ties: bool = False,
    seed: Seed = 0,
    columns: LabelledColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
) -> HuseResult:
    """Quality and diversity of a model in one number (HUSE).

    For example: refless huse rated.csv --scale 1 5

    1 where a classifier that sees ratings and the model's log-probabilities cannot tell its texts
    from people's, 0 where it always can; HUSE-Q for quality alone, HUSE-D for diversity.

    Args:
        rated: Files of rated texts by people and by one model.
        human_label: What the column of the role label says of a person's text. Without it: human,
            person, people, reference.
        neighbors: Neighbours that vote.
        exact_ties: Let distances that differ by rounding count as equal; the paper's do not.
    """
    rows = LabelledRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
    )
    read = _read(rated, rows)
    human = _is_human(read, human_label)
    lengths = _lengths(read)
    pool = read.pool
    # In the raters' units: which distances tie, as the paper has it, changes with the units.
    result = huse_of(
        human_ratings(pool.ratings, len(pool)),
        read.numbers["logprob"],
        lengths,
        human,
        neighbors=neighbors,
        exact_ties=exact_ties,
        seed=seed,
    )
    ties = "exact" if exact_ties else "float"
    drawn = {"ci": f"jack-{PARTS}", "seed": seed}
    signed = _signature(read, human, lengths, {"k": neighbors, "ties": ties, **drawn})
    return HuseResult(human=result, signature=signed)


def _read(rated: Rows, rows: LabelledRows) -> ScoredRead:
    read = read_scored(rated, rows.to_reading(), "huse")
    tell(read)
    if "logprob" not in read.numbers:
        first = rated[0] if isinstance(rated, list) else rated
        named = called("columns", {"logprob": "NAME"})
        raise InputError(
            "no column for the log-probability",
            path=first if isinstance(first, str) else None,
            remedy=f"name it with {named}: HUSE needs what the model thinks of each text",
        )
    return read


def _is_human(read: ScoredRead, label: str | None) -> BoolArray:
    """[n] whether a person wrote the text, by the label column, else by the system."""
    labels = read.labels or read.pool.systems
    if not labels:
        raise UsageError(
            "which texts did people write? Name the column that tells with "
            f"{called('columns', {'label': 'NAME'})} or "
            f"{called('columns', {'system': 'NAME'})}"
        )
    names = sorted(set(labels))
    people = [
        name
        for name in names
        if (
            name == label
            if label is not None
            else name.strip().casefold() in HUMAN_LABELS
        )
    ]
    if len(people) != 1:
        quoted = ", ".join(f"'{name}'" for name in names[:10])
        raise UsageError(
            f"which texts did people write? The labels are {quoted}: name the one for people with "
            f"{called('human_label')}"
        )
    if len(names) > 2:
        raise UsageError(
            f"HUSE compares one model with people; there are {len(names) - 1} models here"
        )
    return np.array([name == people[0] for name in labels], dtype=np.bool_)


def _lengths(read: ScoredRead) -> FloatArray:
    if "length" in read.numbers:
        return read.numbers["length"]
    if not read.texts:
        raise UsageError(
            f"how long are the texts? Name the column with {called('columns', {'length': 'NAME'})}"
        )
    note("lengths are the numbers of words of the texts")
    return np.array(
        [max(1, len(text.split())) for text in read.pool.texts], dtype=np.float64
    )


def _signature(
    read: ScoredRead, human: BoolArray, lengths: FloatArray, settings: dict[str, object]
) -> Signature:
    columns = (read.pool.human, read.numbers["logprob"], lengths, human)
    return Signature("huse").plus(
        **settings,
        scale=read.pool.scale,
        data=digest_of([column.tolist() for column in columns]),
        size=len(read.pool),
        v=__version__,
    )
