"""Rows -> pairs of texts of which people said which is better."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from refless.data.preferences import Pairs, pairs_of
from refless.data.records import Texts
from refless.data.tables.cells import counted, name_of_cell, source_of_cell, text_of_cell
from refless.data.tables.exports.preferences import NAME, is_pairs
from refless.data.tables.formats import format_of
from refless.data.tables.load_columns import Gathered, gather
from refless.data.tables.memory import Rows, paths_of, table_in_memory
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.streams import STDIN, Place, check_encoding, raw_of
from refless.data.tables.validate_rows import Read, numbers_of, pseudonyms
from refless.files.untrusted import is_file, workbook_of
from refless.registry.errors import InputError

UNKNOWN = "write a or b (1 or 2 where the columns end so), tie, or the name of the system"
CELLS: dict[str, Callable[[object], str]] = {
    "text_a": text_of_cell,
    "text_b": text_of_cell,
    "source": source_of_cell,
    "id": name_of_cell,
    "annotator": name_of_cell,
    "system_a": name_of_cell,
    "system_b": name_of_cell,
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairsRead(Read):
    """Pairs and what there is to say about how they were read."""

    pairs: Pairs


def holds_pairs(rows: Rows, reading: Reading = PLAIN) -> bool:
    """Whether rows say which of two texts is better, by the first file's or row's columns.

    Standard input and pipes can be read only once: there the reading's format has to say so.

    Raises:
        InputError: a file that cannot be read.
    """
    if isinstance(rows, Pairs) or reading.format is not None:
        return isinstance(rows, Pairs) or reading.format == NAME
    if isinstance(rows, Texts):
        return False
    paths = paths_of(rows)
    if paths is None:
        return is_pairs(_first_of(rows))
    file = workbook_of(paths[0])[0] if paths else STDIN
    if not is_file(file):
        return False
    check_encoding(reading.encoding)
    raw = raw_of(file, reading.max_bytes)
    return format_of(Place(path=paths[0], raw=raw, reading=reading, keep=lambda _: True)) == NAME


def _first_of(rows: Rows) -> Mapping[str, object]:
    """The first row of what lies in memory, or its columns."""
    if not isinstance(rows, Mapping | list | tuple) and not hasattr(rows, "columns"):
        return {}
    _, table = table_in_memory(rows, lambda _: False)
    first = dict.fromkeys(table.columns) if table.columns else next(table.rows, (0, {}))[1]
    return first if isinstance(first, dict) else {}


def read_pairs(rows: Rows, reading: Reading = PLAIN) -> PairsRead:
    """The pairs in rows from anywhere; Pairs pass through.

    Two equal texts, and choices of neither text, are left out and counted.

    Args:
        rows: as for `read_pool`, each with two texts and who won.
        reading: which column is the source, the annotator, the id; scores of others are columns
            whose names end as those of the texts do: `judge_a` and `judge_b` for `judge`.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`.
    """
    if isinstance(rows, Pairs):
        return PairsRead(pairs=rows)
    table = gather(rows, lambda _: True, replace(reading, pairs=True, format=NAME))
    columns = {name: table.checked(name, check) for name, check in CELLS.items()}
    won = _outcomes(table)
    scores = _scores(table, reading.columns.score)
    texts = [*zip(columns["text_a"], columns["text_b"], strict=True)]
    good = [row for row in range(len(table)) if row not in table.bad]
    kept = [row for row in good if texts[row][0] != texts[row][1]]
    if not kept:
        remedy = "at least one choice between two different texts is needed"
        raise InputError("there are no pairs", path=table.name, remedy=remedy)
    annotators, notes = pseudonyms(columns["annotator"])
    source = columns["source"]
    named = [*zip(columns["system_a"], columns["system_b"], strict=True)]
    pairs = pairs_of(
        [((source[row], texts[row][0]), (source[row], texts[row][1])) for row in kept],
        [won[row] for row in kept],
        ids=[columns["id"][row] or str(table.lines[row]) for row in kept],
        annotators=[annotators[row] for row in kept] if any(annotators) else (),
        systems=[named[row] for row in kept] if any(map(any, named)) else (),
        scores=[scores[row] for row in kept] if scores else (),
        score_names=tuple(sorted(reading.columns.score)),
    )
    return PairsRead(pairs=pairs, **_told(table, notes, len(good) - len(kept)))


def _outcomes(table: Gathered) -> list[float]:
    """1, 0.5 or 0 of the first text; NaN on bad rows."""
    found = []
    for row, won in enumerate(table.columns.get("winner", [None] * len(table))):
        known = isinstance(won, float) and won in (0.0, 0.5, 1.0)
        if not known and row not in table.bad:
            table.refuse(row, f"who won is not understood: {won!r:.60}", UNKNOWN, "winner")
        found.append(float(won) if isinstance(won, float) and known else math.nan)
    return found


def _scores(
    table: Gathered, names: tuple[str, ...]
) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """[n of table] the scores of the two texts, by name; NaN where there is none."""
    sides = []
    for side in "ab":
        columns = [f"score_{side}.{name}" for name in sorted(names)]
        for name, column in zip(sorted(names), columns, strict=True):
            if column not in table.columns:
                remedy = (
                    f"call the two columns {name}_a and {name}_b (or as those of the texts end)"
                )
                raise InputError(
                    f"no scores '{name}' of both texts", path=table.name, remedy=remedy
                )
        each = [numbers_of(table, column, everywhere=False) for column in columns]
        sides.append(
            [tuple(math.nan if x is None else x for x in row) for row in zip(*each, strict=True)]
        )
    return [*zip(*sides, strict=True)] if names else []


def _told(table: Gathered, notes: tuple[str, ...], equal: int) -> dict[str, Any]:
    said = [line for path, told in table.told for line in told.lines(path)]
    if equal:
        said.append(f"{counted(equal, 'choice')} between two equal texts left out")
    if table.bad:
        said.append(f"{counted(len(table.bad), 'bad row')} skipped")
    skipped = tuple(table.errors.values())
    return {"notes": (*said, *notes), "skipped": skipped, "n_skipped": len(table.bad)}
