"""Rows from anywhere as one table: which column is what, every value checked, rows of one text."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from refless.data.records import COLUMNS, numbered, picked, scored
from refless.data.tables.cells import each_once, json_in_cell, name_of_cell, shown
from refless.data.tables.columns import (
    Roles,
    check_columns,
    flagged_names,
    keeping,
    listed,
    named_here,
    naming,
    roles_of,
)
from refless.data.tables.conditions import (
    conditions_in,
    is_mark,
    leave_out,
    leave_out_invalid,
)
from refless.data.tables.dimensions import of_one_dimension
from refless.data.tables.each_file import in_one_column
from refless.data.tables.load_columns import Gathered, gather
from refless.data.tables.names import are_models, notes_on, pseudonyms
from refless.data.tables.ratings import (
    WordMap,
    blanks_of,
    marks_fault,
    percents_read,
    score_words,
    spelled,
)
from refless.data.tables.reading import Reading
from refless.data.tables.returned import with_returned
from refless.data.tables.roles import ROLES, Kind, roles_in
from refless.data.tables.shared_ids import with_items
from refless.data.tables.unread import check_one_hot, unread_note
from refless.registry.arrays import IntArray, Names, Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError
from refless.registry.plural import counted

FAULTS_KEPT = 20
KINDS_SHOWN = 3  # things found in bad rows that a note counts
Values = Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Read:
    """Notes on the reading of rows.

    Attributes:
        notes: sentences for standard error.
        skipped: what was wrong with the first bad rows.
        n_skipped: number of bad rows.
        group: [n] values of the group column, or empty.
        first_rows: [n] number of each text's first row; empty if rows of one system are in several
            files, whose order tells nothing; first: [n] the same in any case.
        columns: role -> what the rows call its columns.
        files: [n] the file of each text; empty of one file.
    """

    notes: Strings = ()
    skipped: tuple[InputError, ...] = ()
    n_skipped: int = 0
    group: Strings = ()
    first_rows: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    first: tuple[int, ...] = ()
    columns: Mapping[str, Strings] = field(default_factory=dict)
    files: Strings = ()

    @property
    def listed(self) -> IntArray:
        """[n] the texts in the order of their rows, in which people read about them."""
        return np.argsort(np.array(self.first, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Merged:
    """Rows grouped into texts.

    Attributes:
        rows: [m] numbers of the usable rows, in file order.
        text: [m] the text each belongs to, counted in order of first appearance.
        first: [n] each text's first row.
    """

    rows: Sequence[int]
    text: IntArray
    first: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RowTable:
    """Checked values by row; bad rows have place holders. Rated texts and outputs are views of it.

    Attributes:
        rows: as they were gathered, with the bad ones among them.
        roles: which column plays which role.
        texts: [n] texts, "" if none are needed or there.
        names: role -> [n] ids, sources, systems, annotators ...
        scores: column -> [n] scores that somebody else gave and other numbers, None if a cell is
            blank.
        raters: column of ratings -> [n] annotators, where each such column has its own.
    """

    rows: Gathered
    roles: Roles
    texts: list[str]
    names: dict[str, list[str]]
    scores: dict[str, list[float | None]]
    raters: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def unusable(self) -> InputError:
        """The error for rows of which none can be used: it quotes the first fault."""
        first = next(iter(self.rows.bad.values()))
        return InputError(
            "no usable row is left", path=self.rows.name, remedy=str(first)
        )

    def cells(self, role: str) -> list[list[object]]:
        """The columns of a role as they were gathered."""
        return [self.rows.columns[name] for name in self.roles.all(role)]

    def merged(
        self,
        rows: Sequence[int],
        keys: Sequence[Hashable] | None,
        values: Values = MappingProxyType({}),
    ) -> Merged:
        """Rows with equal keys as one text; without keys each row is its own.

        Rows of one text that differ in what is about the text, or in further values [n] by name,
        are an InputError that names both.
        """
        if keys is None:
            return Merged(
                rows=rows, text=np.arange(len(rows), dtype=np.int64), first=rows
            )
        index: dict[Hashable, int] = {}
        text = np.fromiter(
            (index.setdefault(keys[row], len(index)) for row in rows),
            np.int64,
            len(rows),
        )
        _, places = np.unique(text, return_index=True)
        groups = Merged(rows=rows, text=text, first=[rows[i] for i in places])
        if len(places) < len(rows):
            agreed = {
                role for role in self.names if ROLES[role].of in {"place", "any"}
            } - {"id"}
            names = {role: self.names[role] for role in self.names if role in agreed}
            scores = {f"{name} scores": column for name, column in self.scores.items()}
            self._check_agreement(
                groups, {"text": self.texts, **names, **scores, **values}
            )
        return groups

    def _check_agreement(self, groups: Merged, columns: Values) -> None:
        firsts = [groups.first[text] for text in groups.text.tolist()]
        for role, column in columns.items():
            for row, first in zip(groups.rows, firsts, strict=True):
                if column[row] != column[first]:
                    ids = self.names.get("id")
                    who = "one text" if ids is None else f"id {listed([ids[row]])}"
                    roles = role if role.endswith("s") else f"{role}s"
                    place = self.rows.place(first, beside=row)
                    problem = f"{who} has two {roles}: here and on {place}"
                    remedy = f"give each text its own id, or make the {roles} equal"
                    if role.endswith(" scores"):
                        remedy += "; of runs of one judge: refless judge --runs"
                    if role == "text" and "system" not in self.names:
                        remedy += self.rows.as_versions
                    raise self.rows.fault(row, problem, remedy)

    def picked(self, role: str, groups: Merged) -> Strings:
        """[n] a role's value for each text, or empty if there is no such column."""
        column = self.names.get(role)
        return () if column is None else picked(column, groups.first)

    def about(self, groups: Merged) -> dict[str, Any]:
        """The columns that rated texts and outputs share; texts without ids are counted.

        Sources stand in for items that are not there.
        """
        columns = {
            name: self.picked(name.removesuffix("s"), groups) for name in COLUMNS
        }
        columns["texts"] = picked(self.texts, groups.first)
        columns["ids"] = columns["ids"] or numbered(len(groups.first))
        columns["items"] = columns["items"] or columns["sources"]
        first = groups.first
        scores = {name: picked(score, first) for name, score in self.scores.items()}
        return {**columns, **scored(scores)}

    def summary(
        self, groups: Merged, notes: Names, bad: Sequence[int], fate: str
    ) -> dict[str, Any]:
        """The fields of a `Read`: the notes, the rows that were merged, the fate of bad rows."""
        faults = [self.rows.bad[row] for row in bad]
        kinds = Counter(fault.found for fault in faults).most_common()
        counts = [f"{n} {result}" for result, n in kinds[:KINDS_SHOWN]]
        counts += ["..."] if len(kinds) > KINDS_SHOWN else []
        said = f"{counted(len(bad), 'bad row')} {fate}: {', '.join(counts)}"
        of_bad = (said,) if bad else ()
        return {
            "notes": (*notes, *of_bad),
            "skipped": tuple(faults[:FAULTS_KEPT]),
            "n_skipped": len(bad),
            "group": self.picked("group", groups),
            "first_rows": self.first_rows(groups),
            "first": tuple(groups.first),
            "files": self.rows.names_of(groups.first),
        }

    def first_rows(self, groups: Merged) -> IntArray:
        """[n] number of each text's first row; empty if files divide the rows of a system."""
        if len(self.rows.parts) > 1:
            systems = self.names.get("system", [""] * len(self))
            if len({*zip(systems, self.rows.files, strict=True)}) > len({*systems}):
                return np.zeros(0, dtype=np.int64)
        return np.array(groups.first, dtype=np.int64)

    def merged_note(self, groups: Merged) -> Strings:
        """A note on the number of rows that are one text, if some were merged."""
        n = len(groups.first)
        m = len(groups.rows)
        on = "id" if "id" in self.names else "task, system, source, item and text"
        return (f"{m} rows merged into {counted(n, 'text')} on {on}",) if n < m else ()


def read_table(
    rows: object, reading: Reading, kind: Kind, needed: Names = ("text", "rating")
) -> RowTable:
    """The rows of files or of memory, with texts, names and scores checked; errors of `read_pool`.

    Columns may play the roles of this kind of file; those `needed` among them must be there.
    """
    roles = roles_in(kind)
    check_columns(reading.columns, roles)
    conditions = conditions_in(reading.where)
    names = [condition.column for condition in conditions]
    if reading.dimension is not None and "rating" in roles:
        names.append(reading.dimension)
    keep = keeping(reading.columns, roles, names)
    gathered = gather(rows, lambda name: keep(name) or is_mark(name), reading, names)
    leave_out(gathered, conditions)
    leave_out_invalid(gathered, reading.columns)
    chosen = _roles(gathered, reading, roles, needed)
    notes = _read_percents(gathered, chosen, reading)
    notes += with_returned(gathered, chosen, kind)
    chosen = replace(chosen, notes=(*chosen.notes, *notes))
    table = _checked(gathered, chosen, reading.score_map)
    if reading.columns.annotator is None and table.roles.all("rating"):
        _check_people(
            {*chain(table.names.get("annotator", ()), *table.raters.values())}, table
        )
    return table


def _read_percents(rows: Gathered, roles: Roles, reading: Reading) -> list[str]:
    """Numbers for percents in columns of ratings and scores, with a note on each column."""
    notes = []
    for name in (*roles.all("rating"), *roles.all("score")):
        numbers, example = percents_read(
            rows.columns[name], in_percent=reading.in_percent
        )
        if example:
            rows.columns[name] = numbers
            notes.append(f"{rows.name}: column '{name}': {example}")
    return notes


def _roles(gathered: Gathered, reading: Reading, roles: Names, needed: Names) -> Roles:
    """The columns by role; raises InputError if a needed one is not there."""
    columns = reading.columns
    named = gathered.conditional.union(flagged_names(columns))
    notes = in_one_column(gathered, named)
    header = tuple(gathered.header)
    if reading.beside_rated or reading.beside_outputs:
        columns, roles = named_here(reading, roles, header)
    if "rating" in roles:
        check_one_hot(gathered, columns)
        columns = of_one_dimension(gathered, replace(reading, columns=columns), roles)
    try:
        chosen = roles_of(
            columns, roles, header, gathered.name, needed, gathered.known, gathered.fits
        )
    except InputError as fault:
        omissions = chain(*(notes.omissions() for _, notes in gathered.notes))
        sentences = [sentence for _, sentence in gathered.sentences]
        remedy = "; ".join([fault.remedy, *omissions, *sentences])
        raise InputError(fault.found, path=fault.path, remedy=remedy) from fault
    for path, imported in gathered.notes:
        notes += imported.lines(path)
    notes += [f"{path}: {sentence}" for path, sentence in gathered.sentences]
    notes += [*chosen.notes, *unread_note(gathered, chosen, columns)]
    return replace(chosen, notes=tuple(notes))


def _checked(rows: Gathered, roles: Roles, score_map: WordMap) -> RowTable:
    names = {
        role: rows.checked(column, cell)
        for role, (column, *_) in roles.columns.items()
        if (cell := ROLES[role].cell) is not None
    }
    texts = names.pop("text", None)
    who = {
        name: rows.checked(column, name_of_cell)
        for name, column in roles.raters.items()
    }
    people, of_people = pseudonyms(names.get("annotator") or [*chain(*who.values())])
    if "annotator" in names:
        names["annotator"] = people
    raters = {
        name: people[i * len(rows) : (i + 1) * len(rows)] for i, name in enumerate(who)
    }
    notes = [*roles.notes, *of_people, *notes_on(names, people, rows.files, roles)]
    roles = with_items(roles, names, texts or ())
    of_numbers = [role for role in roles.columns if ROLES[role].of == "number"]
    numbers = roles.all(*of_numbers)
    table = RowTable(
        rows=rows,
        roles=replace(roles, notes=tuple(notes)),
        texts=texts or [""] * len(rows),
        names=names,
        scores={name: numbers_of(rows, name, score_map) for name in numbers},
        raters=raters,
    )
    _check_gaps(table)
    return table


def _check_gaps(table: RowTable) -> None:
    """Refuses rows without an id or item, or without what other rows say: their system or source.

    Sources count only if they stand for the items.
    """
    rows = table.rows
    for role, values in table.names.items():
        record = ROLES[role]
        column = table.roles.column(role)
        counts = any(values) and not (role == "source" and "item" in table.names)
        if record.filled == "always" or (record.filled == "alike" and counts):
            for row in [row for row, value in enumerate(values) if not value]:
                if record.filled == "always" or column in rows.part(row).columns:
                    has_task = role == "source" and "instruction" in rows.header
                    one = "instruction" if has_task else "NAME"
                    remedy = f"give every row its {role} (merged cells leave all but the first "
                    remedy += f"blank), or name another column with {naming(role, one)}"
                    rows.refuse(row, f"no {role}", remedy, column)


def _check_people(names: set[str], table: RowTable) -> None:
    """Raises InputError where all annotators are called as language models are."""
    if are_models(names):
        problem = (
            f"the annotators are models by their names: {listed(sorted(names), 3)}"
        )
        column = table.roles.column("annotator") or "annotator"
        remedy = "give ratings by people; a judge's scores are read with "
        remedy += f"{called('score_column')}. If these are people, say so: "
        remedy += naming("annotator", column)
        raise InputError(problem, path=table.rows.name, remedy=remedy)


def numbers_of(
    rows: Gathered,
    column: str,
    score_map: WordMap = None,
    *,
    everywhere: bool = True,
) -> list[float | None]:
    """A column of finite numbers, None if a cell is blank; other cells make bad rows.

    Words are the numbers of the map; see `score_words` for others.

    Raises:
        InputError: a file without that column, if it has to be everywhere.
    """
    for part in rows.parts:
        if everywhere and column not in part.columns:
            remedy = "add it to every file; blank cells are scores that are missing"
            raise InputError(
                f"there is no column '{column}'", path=part.name, remedy=remedy
            )
    cells = rows.columns[column]
    if marks := marks_fault(cells):
        row, problem, remedy = marks
        raise rows.fault(row, problem, remedy, column)
    blank = blanks_of(score_map)
    spellings = [None if word in blank else word for word in each_once(spelled, cells)]
    meanings, remedy = score_words({*spellings} - {None}, score_map)
    numbers: list[float | None] = []
    for row, value in enumerate(spellings):
        value = None if value is None else meanings.get(value, value)
        number = value if isinstance(value, float) and math.isfinite(value) else None
        if number is None and value is not None:
            inner = json_in_cell(cells[row])
            if isinstance(inner, dict) and inner:
                name = f"{column}.{next(iter(inner))}"
                remedy = f"name what is inside, as in {called('score_column', name)}"
            problem = f"score {shown(cells[row])} is not a number"
            rows.refuse(row, problem, remedy, column)
        numbers.append(number)
    return numbers
