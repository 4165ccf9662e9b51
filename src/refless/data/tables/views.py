"""Rows from anywhere as rated texts, as outputs, as both, or with scores: views of one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from refless.data.human import order_of_outputs
from refless.data.records import Outputs, RatedPool, Texts, as_outputs, picked
from refless.data.tables.cells import name_of_cell, references_of_cells, weights_of_cell
from refless.data.tables.columns import (
    flagged,
    listed,
    missing,
    naming,
    scores_among,
)
from refless.data.tables.memory import Rows
from refless.data.tables.rated import (
    Keys,
    PoolRead,
    Rated,
    by_text,
    keys_of,
    keys_of_unrated,
    rated_of,
    sorted_pool,
    sorted_read,
)
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.roles import ROLES, Columns, Kind
from refless.data.tables.spellings import folded
from refless.data.tables.table import Merged, Read, RowTable, read_table
from refless.registry.arrays import FloatArray, IntArray, Names, Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

T = TypeVar("T", bound=Texts)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutputsRead(Read):
    """Outputs and what there is to say about how they were read.

    Attributes:
        outputs: the outputs.
    """

    outputs: Outputs


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoredRead(PoolRead):
    """Rated texts with scores, and what there is to say about how they were read.

    Attributes:
        pool: the rated texts, which keep no scores; texts are "" if the files have none.
        outputs: the same as outputs, with their references and weights if any.
        scores: by column, [n]; NaN if a cell is blank.
        numbers: by role (`logprob`, `length`), the same, if there is such a column.
        labels, rationales: [n] values of these columns, or empty.
        unrated: the rows that nobody rated, with their scores; unrated_group: [m] values of the
            group column there, or empty; unrated_rows: see `first_rows`.
        slices: [n] values of further columns, by name.
        texts: whether the files have texts.
    """

    outputs: Outputs
    scores: dict[str, FloatArray]
    texts: bool
    numbers: dict[str, FloatArray]
    labels: Strings = ()
    unrated: Outputs
    unrated_group: Strings = ()
    unrated_rows: IntArray
    rationales: Strings = ()
    slices: Mapping[str, Strings] = field(default_factory=dict)


def read_pool(
    rows: Rows, reading: Reading = PLAIN, *, in_order: bool = False
) -> PoolRead:
    """The rated texts in rows from anywhere; a RatedPool passes through.

    Rows merge into one text on an id or, if an annotator column exists and no id, on task,
    system, source, item and text; otherwise one row is one text. Rows without a rating are left
    out, as long as any row has one.

    Args:
        rows: files (`-` is standard input), one after the other, a data frame, a mapping of
            columns or a list of dicts.
        reading: which column is what, the scale and how to read files.
        in_order: whether texts are sorted by content, so that the order of rows changes no number;
            else they stand as they came.

    Raises:
        InputError: what docs/errors.md lists, with its place and column.
        UsageError: settings that cannot be honoured.
        MissingExtraError: Parquet without pyarrow.
    """
    if isinstance(rows, RatedPool):
        check_made_with(rows, reading)
        pool = with_scores(rows, reading.columns.score, "rated texts")
        places = np.arange(len(pool))
        read = PoolRead(pool=pool, first=tuple(places.tolist()))
        return sorted_read(read, places) if in_order else read
    table = read_table(rows, reading, "rated")
    return _rated(table, reading, in_order=in_order).read


def _rated(
    table: RowTable, reading: Reading, *, in_order: bool = True, both: bool = False
) -> Rated:
    """The rated texts of a table, sorted or as they came."""
    rated = rated_of(table, reading, both=both)
    return sorted_pool(table, rated) if in_order else rated


def read_outputs(
    rows: Rows, reading: Reading = PLAIN, *, apart: bool = False, in_order: bool = False
) -> OutputsRead:
    """The outputs in rows from anywhere; Outputs pass through, a RatedPool gives its texts.

    Rows with one id and equal contents are one output. So are, without ids, rows of one task,
    system, source, item and text where each is a rating by an annotator. Under `skip_bad` a bad
    row keeps its place with the text "" and `bad` set.

    Args:
        rows: as for `read_pool`.
        reading: which column is what and how to read files.
        apart: whether each row is an output of its own, also if two have one id.
        in_order: as for `read_pool`.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`.
    """
    if isinstance(rows, RatedPool | Outputs):
        outputs = as_outputs(rows) if isinstance(rows, RatedPool) else rows
        outputs = with_scores(outputs, reading.columns.score, "outputs")
        read = OutputsRead(outputs=outputs, first=tuple(range(len(outputs))))
        return sorted_outputs(read) if in_order else read
    table = read_table(rows, reading, "outputs")
    keys = (
        None if apart else keys_of(table, several=are_ratings(table, reading.columns))
    )
    read = outputs_of_rows(table, range(len(table)), table.roles.notes, keys)
    return sorted_outputs(read) if in_order else read


def read_both(
    rows: Rows, reading: Reading = PLAIN, *, in_order: bool = False
) -> tuple[PoolRead, OutputsRead]:
    """The rated texts among the rows, and as outputs those that nobody has rated.

    A text is rated if any row of it is. Texts without ids are named by the number of their row, so
    that no id is given twice. Arguments and errors are those of `read_pool`; that nothing is rated,
    or everything, is an InputError, too.
    """
    table = read_table(rows, reading, "both", needed=("text",))
    if not table.roles.all("rating"):
        header = [*table.rows.header]
        scores = reading.columns.score
        raise missing(
            "rating",
            header,
            table.rows.name,
            f", or give the rated texts with {called('rated')}",
            scores,
        )
    rated = _rated(table, reading, in_order=in_order, both=True)
    if not rated.unrated:
        remedy = (
            "leave the rating of texts to estimate blank, or give the rated texts with "
        )
        remedy += called("rated")
        problem = "every text has a rating, so there is none to estimate"
        raise InputError(problem, path=table.rows.name, remedy=remedy)
    read = outputs_of_rows(table, rated.unrated, (), keys_of_unrated(table))
    read = sorted_outputs(read) if in_order else read
    if "id" in table.names:
        return rated.read, read
    ids = tuple(str(row + 1) for row in rated.groups.first)
    ids_of_outputs = tuple(str(row + 1) for row in read.first)
    pool = replace(rated.read.pool, ids=ids)
    outputs = replace(read.outputs, ids=ids_of_outputs)
    return replace(rated.read, pool=pool), replace(read, outputs=outputs)


def read_scored(
    rows: Rows, reading: Reading = PLAIN, kind: Kind = "both"
) -> ScoredRead:
    """The rated texts in rows from anywhere with their columns of scores; texts are not needed.

    Rows of one text must agree in their scores. Texts are sorted by content, rated or not.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`; a score that is no number.
    """
    if isinstance(rows, RatedPool | Outputs):
        raise UsageError(
            f"{type(rows).__name__} has no columns of scores; give rows that have"
        )
    table = runs_apart(read_table(rows, reading, kind, ("rating",)))
    check_told_apart(table)
    columns = metric_columns(table, range(len(table)))
    read, groups, unrated = _rated(table, reading)
    roles = {role: table.roles.column(role) for role in ("logprob", "length")}
    numbers = {name: role for role, name in roles.items() if name is not None}
    slices = {
        name: table.rows.checked(name, name_of_cell)
        for name in table.roles.all("slice")
    }

    def by_text(column: Sequence[float | None]) -> FloatArray:
        return np.array([column[row] for row in groups.first], dtype=np.float64)

    pool = read.pool.with_scores(())
    usable = [row for row in unrated if row not in table.rows.bad]
    unrated_outputs = sorted_outputs(
        outputs_of_rows(table, usable, (), keys_of_unrated(table))
    )
    return ScoredRead(
        pool=pool,
        outputs=replace(as_outputs(pool), **_of_texts(columns, groups)),
        scores={
            n: by_text(column) for n, column in table.scores.items() if n not in numbers
        },
        texts="text" in table.roles.columns,
        numbers={role: by_text(table.scores[name]) for name, role in numbers.items()},
        labels=table.picked("label", groups),
        rationales=table.picked("rationale", groups),
        slices=_of_texts(slices, groups),
        unrated=unrated_outputs.outputs,
        unrated_group=unrated_outputs.group,
        unrated_rows=unrated_outputs.first_rows,
        notes=read.notes,
        skipped=read.skipped,
        n_skipped=read.n_skipped,
        group=read.group,
        first_rows=read.first_rows,
        first=read.first,
        columns=table.roles.columns,
    )


def check_told_apart(table: RowTable) -> None:
    """Raises InputError if neither texts nor names say which ratings by annotators are of one."""
    telling = {"id", "item", "source"} & table.names.keys()
    if "annotator" in table.names and not telling and not table.roles.column("text"):
        item, id_, text = map(naming, ("item", "id", "text"))
        raise InputError(
            "there are annotators, but neither texts nor ids to tell which rows are one text",
            path=table.rows.name,
            remedy=f"name a column with {id_}, {item} or {text}",
        )


def runs_apart(table: RowTable) -> RowTable:
    """A column of scores a run, where rows of one text are the runs of its judge."""
    runs = table.names.get("run")
    ids = table.names.get("id")
    if runs is None:
        return table
    if ids is None:
        remedy = (
            f"name a column of ids, equal in all runs of a text, with {naming('id')}"
        )
        raise InputError(
            "there are runs, but no ids", path=table.rows.name, remedy=remedy
        )
    scores: dict[str, list[float | None]] = {}
    for name, column in table.scores.items():
        by_run: dict[tuple[str, str], float | None] = {}
        for row, score in enumerate(column):
            if by_run.setdefault((ids[row], runs[row]), score) != score:
                text = listed([ids[row]])
                judge_run = listed([runs[row]])
                problem = f"id {text} has two {name} scores in run {judge_run}"
                raise table.rows.fault(row, problem, "give each run of a text one row")
        for run in sorted({*runs}):
            scores[f"{name} {run}"] = [by_run.get((key, run)) for key in ids]
    return replace(table, scores=scores)


def are_ratings(table: RowTable, columns: Columns) -> bool:
    """Whether there are columns of ratings and of annotators, so that outputs have several rows."""
    header = {*table.rows.header}
    header |= {folded(name) for name in header}
    return all(
        not header.isdisjoint((*flagged(columns, role), *ROLES[role].names))
        for role in ("rating", "annotator")
    )


def outputs_of_rows(
    table: RowTable, rows: Sequence[int], notes: Names, keys: Keys
) -> OutputsRead:
    """The outputs on some rows; errors as of `read_outputs`.

    Args:
        table: all rows; rows: numbers of those that are outputs.
        notes: what there is to say already.
        keys: [n] rows with equal ones are one output; None if each is one.
    """
    columns = metric_columns(table, rows)
    bad = [row for row in rows if row in table.rows.bad]
    table = _with_place_holders(table, bad) if bad else table
    groups = table.merged(rows, keys, columns)
    outputs = Outputs(
        **table.about(groups),
        **_of_texts(columns, groups),
        bad=tuple(row in table.rows.bad for row in groups.first) if bad else (),
    )
    notes = (*notes, *table.merged_note(groups))
    summary = table.summary(groups, notes, bad, "kept as empty place holders")
    return OutputsRead(outputs=outputs, **summary)


def sorted_outputs(read: OutputsRead) -> OutputsRead:
    """The same outputs in canonical order."""
    order = order_of_outputs(read.outputs, read.group)
    return replace(read, outputs=read.outputs.take(order), **by_text(read, order))


def metric_columns(
    table: RowTable, rows: Sequence[int]
) -> dict[str, list[tuple[Any, ...]]]:
    """[n] what metrics read besides the text, on some rows: references and their weights."""
    columns: dict[str, list[tuple[Any, ...]]] = {}
    references = table.cells("reference")
    weights = table.cells("weight")
    if references:
        columns["references"] = [()] * len(table)
    if references and weights:
        columns["weights"] = [()] * len(table)
    for row in rows if columns else ():
        role = "reference"
        try:
            texts = references_of_cells([cells[row] for cells in references])
            role = "weight"
            if weights:
                columns["weights"][row] = weights_of_cell(weights[0][row], len(texts))
            columns["references"][row] = texts
        except InputError as fault:
            table.rows.refuse(row, fault.found, fault.remedy, table.roles.column(role))
    return columns


def _of_texts(columns: Mapping[str, list[Any]], groups: Merged) -> dict[str, Any]:
    """Columns by row as columns by text."""
    return {name: picked(column, groups.first) for name, column in columns.items()}


def _with_place_holders(table: RowTable, bad: Sequence[int]) -> RowTable:
    """Bad rows without texts; their place stands for an id or item that they lack."""
    texts = [*table.texts]
    needed = {
        role: [*names]
        for role, names in table.names.items()
        if ROLES[role].filled == "always"
    }
    for row in bad:
        texts[row] = ""
        for column in needed.values():
            place = f"{table.rows.part(row).name}:{table.rows.lines[row]}"
            column[row] = column[row] or place
    return replace(table, texts=texts, names={**table.names, **needed})


def with_scores(texts: T, names: Names, noun: str) -> T:
    """Texts with the scores that flags name, or with all that they have if none do.

    Names may be patterns. Texts without any scores are a UsageError, a name that is none of theirs
    is an InputError.
    """
    if not names:
        return texts
    if not texts.score_names:
        flags = called("score_column", [*names])
        raise UsageError(f"the {noun} keep no scores; make them again with {flags}")
    return texts.with_scores(scores_among(names, texts.score_names, f"the {noun}"))


def check_made_with(
    pool: RatedPool, reading: Reading, noun: str = "rated pool"
) -> None:
    """Raises UsageError if rated texts were made with other settings than are asked for."""
    if reading.scale is not None and reading.scale != pool.scale:
        flag = called("scale")
        scale = f"no {flag}" if pool.scale is None else called("scale", pool.scale)
        raise UsageError(
            f"the {noun} was made with {scale}; leave {flag} out, or make another"
        )
    if reading.lower:
        raise UsageError(
            f"the {noun} has its ratings as they are; make it with {called('lower_is_better')}"
        )
    if reading.columns.group is not None:
        raise UsageError(
            f"the {noun} has no column '{reading.columns.group}' to group by"
        )
