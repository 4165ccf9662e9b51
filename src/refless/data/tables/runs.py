"""Rows of systems with scores by a judge or a metric, which nobody rated: runs to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from refless.data.records import Outputs, Scale, Texts, scored
from refless.data.tables.columns import missing, unclear
from refless.data.tables.memory import Rows, paths_of
from refless.data.tables.partly_rated import (
    PartlyRated,
    partly_rated,
    read_partly,
    with_systems,
)
from refless.data.tables.proposed import called_ratings
from refless.data.tables.ratings import means_errors, spelled, turned
from refless.data.tables.reading import Reading
from refless.data.tables.roles import ROLES
from refless.data.tables.spellings import folded
from refless.data.tables.table import Read, RowTable, read_table
from refless.registry.arrays import FloatArray, Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

VAGUE = {"category", "name", "key"}  # words for a dimension that mean much else
# columns that may say what a score is of
CLUES = {
    *ROLES["dimension"].weak,
    "scorer",
    "judge",
} - VAGUE
STANDARD_INPUT = (
    "which scores to compare cannot be told on standard input, which is read once"
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoredRuns(Read):
    """Outputs of systems with scores that nobody's ratings stand beside.

    Attributes:
        outputs: each row as one, with its scores, higher ones being better; texts are "" if the
            rows have none.
        scale: lowest and highest score, or None.
        ratings: columns that nothing reads and that may be people's ratings.
    """

    outputs: Outputs
    scale: Scale | None
    ratings: Strings = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """[n] the system of each output."""
        return self.outputs.systems


def read_compared(rows: Rows, reading: Reading) -> PartlyRated | ScoredRuns:
    """The outputs of systems with people's ratings or, if there are none, with scores alone.

    Scores are those of the columns that are named or, if there are no texts either, of columns
    that are called as a judge's scores are. Several rows of one item are runs.

    Raises:
        InputError: as `read_partly`; neither ratings nor scores.
        UsageError, MissingExtraError: as `read_partly`.
    """
    if isinstance(rows, Texts):
        return read_partly(rows, reading)
    table = read_table(rows, reading, "scored", ())
    if table.roles.all("rating"):
        return partly_rated(table, reading)
    scores = _scores_in(table)
    criteria = _criteria_in(table)
    if criteria or not table.roles.all("score"):
        if "-" in (paths_of(rows) or ()):
            raise InputError(STANDARD_INPUT, remedy="save it as a file, and give that")
        columns = replace(reading.columns, score=scores, slice=criteria)
        table = read_table(rows, replace(reading, columns=columns), "scored", ())
    table = with_systems(table, "", reading.columns)
    return _runs_of(replace(table, scores=_by_criterion(table)), reading)


def _scores_in(table: RowTable) -> tuple[str, ...]:
    """The columns of scores; raises InputError if there are none."""
    flags = table.roles.all("score")
    if flags:
        return flags
    names = [] if table.roles.column("text") else unclear([*table.rows.header])
    numeric = [name for name in names if _holds_numbers(table.rows.seen(name))]
    if not numeric:
        raise _no_rating(table)
    return tuple(numeric)


def _no_rating(table: RowTable) -> InputError:
    scores = table.roles.all("score")
    return missing("rating", [*table.rows.header], table.rows.name, scores=scores)


def _holds_numbers(cells: Sequence[object]) -> bool:
    return any(isinstance(spelled(cell), float) for cell in cells)


def _criteria_in(table: RowTable) -> tuple[str, ...]:
    """The columns that say what a score is of: rows of one system and item differ in them."""
    items = (
        table.names.get("item") or table.names.get("source") or table.names.get("id")
    )
    if items is None:
        return ()
    used = table.roles.all(*table.roles.columns)
    systems = table.names.get("system", [""] * len(table))
    keys = [*zip(systems, items, strict=True)]
    names = [
        name for name in table.rows.header if folded(name) in CLUES and name not in used
    ]
    return tuple(
        name
        for name in names
        if len({*zip(keys, map(str, table.rows.all(name)), strict=False)})
        > len({*keys})
    )


def _runs_of(table: RowTable, reading: Reading) -> ScoredRuns:
    """The usable rows, each an output with its scores."""
    names = {role: column for role, column in table.names.items() if role != "id"}
    names = names if "item" in names or "id" not in table.names else table.names
    table = replace(table, names=names)
    rows = [row for row in range(len(table)) if row not in table.rows.bad]
    if not rows:
        raise table.unusable()
    groups = table.merged(rows, None)
    outputs = Outputs(**table.about(groups))
    columns, turns = _higher_is_better(outputs, reading)
    notes = (*table.roles.notes, *turns)
    summary = table.summary(groups, notes, [*table.rows.bad], "skipped")
    return ScoredRuns(
        outputs=replace(outputs, **scored(columns)),
        scale=reading.scale,
        ratings=tuple(called_ratings(_unread(table))),
        columns=table.roles.columns,
        **summary,
    )


def _unread(table: RowTable) -> dict[str, Sequence[object]]:
    """The columns that no role has."""
    used = table.roles.all(*table.roles.columns)
    header = table.rows.header
    return {name: table.rows.seen(name) for name in header if name not in used}


def _higher_is_better(
    outputs: Outputs, reading: Reading
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """The scores by name, higher ones being better, and notes on names that mean errors.

    Raises:
        UsageError: a name to turn that is no column of scores.
    """
    columns = {name: outputs.score(name) for name in outputs.score_names}
    for name in reading.lower:
        if name not in columns:
            turn = called("lower_is_better", name)
            raise UsageError(f"{turn}: it is no {called('score_column')}")
        columns[name] = turned(columns[name], reading.scale)
    notes = [
        f"{name}: if lower is better, as the name says, {called('lower_is_better', name)} turns it"
        for name in columns
        if means_errors(name) and name not in reading.lower
    ]
    return columns, tuple(notes)


def _by_criterion(table: RowTable) -> dict[str, list[float | None]]:
    """[n] scores by column; a column for each criterion if rows differ in it."""
    criteria = table.roles.all("slice")
    if not criteria:
        return table.scores
    cells = [table.rows.columns[name] for name in criteria]
    criterion = [" ".join(map(str, row)) for row in zip(*cells, strict=True)]
    scores: dict[str, list[float | None]] = {}
    for name, column in table.scores.items():
        for value in sorted({*criterion}):
            title = f"{name} {value}" if len(table.scores) > 1 else value
            pairs = zip(column, criterion, strict=True)
            scores[title] = [score if of == value else None for score, of in pairs]
    return scores
