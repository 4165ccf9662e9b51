"""Dimensions: of several things that people rated in the same texts (fluency, coherence), one."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from refless.data.human import check_scale
from refless.data.records import Scale
from refless.data.tables.columns import ALIASES, Columns, check_header, is_pattern, listed, matches
from refless.data.tables.reading import Numbered, Reading, Row
from refless.registry.errors import InputError, UsageError

_WITH_SCALE = re.compile(r"(.+)=([^=]+)\.\.([^=]+)")


class SeveralDimensionsError(InputError):
    """Several dimensions where one is read.

    Attributes:
        names: of the dimensions, or what the user wrote for them.
    """

    def __init__(self, found: str, names: Sequence[str], path: str | None = None) -> None:
        self.names = tuple(names)
        super().__init__(found, path=path, remedy="choose one with --dimension NAME")


def dimension_of(given: str) -> tuple[str, Scale | None]:
    """A dimension's name and its scale, as in `fluency=1..5`; raises UsageError for a wrong one."""
    result = _WITH_SCALE.fullmatch(given)
    if result is None:
        return given, None
    try:
        scale = float(result[2]), float(result[3])
    except ValueError:
        return given, None
    check_scale(scale)
    return result[1], scale


def columns_for(reading: Reading) -> tuple[str, ...]:
    """The columns, or patterns of columns, that tell a rating's dimension or are one."""
    column = reading.columns.dimension or ALIASES["dimension"][0]
    return (column,) if reading.dimension is None else (column, reading.dimension)


def is_dimension(name: str, dimension: str | None) -> bool:
    """Whether a dimension is one of those asked for; all are where none is."""
    return (
        dimension is None
        or name == dimension
        or (is_pattern(dimension) and matches(name, dimension))
    )


def of_dimension(
    rows: Iterator[Numbered], reading: Reading, met: Counter[str], path: str, *, lines: bool
) -> Iterator[Numbered]:
    """The plain rows of the dimension that is asked for, and those that name none.

    Counts in `met` the ratings of each dimension. At the end raises InputError where some ratings
    have a dimension and another has none.
    """
    column, bare = columns_for(reading)[0], None
    for number, row in rows:
        cell = None if isinstance(row, InputError) else row.get(column)
        if cell is None or cell == "" or isinstance(row, InputError):
            if bare is None and not isinstance(row, InputError) and _is_rated(row, reading.columns):
                bare = number
            yield number, row
            continue
        name = str(cell)
        met[name] += _is_rated(row, reading.columns)
        if is_dimension(name, reading.dimension):
            yield number, row
    if bare is not None and met:
        place: dict[str, Any] = {"line" if lines else "row": bare, "column": column}
        remedy = "fill the column, or name another one with --column dimension=NAME"
        raise InputError("a rating without a dimension", path=path, remedy=remedy, **place)


def _is_rated(row: Row, columns: Columns) -> bool:
    rating = columns.rating or ALIASES["rating"]
    return any(
        value not in (None, "") and any(matches(name, entry) for entry in rating)
        for name, value in row.items()
    )


def with_dimension(
    reading: Reading, met: Counter[str], header: Sequence[str], path: str, *, is_export: bool
) -> Columns:
    """The columns, with that of the ratings where the dimension is a column.

    `met` has the ratings by dimension, as rows or tools name them.

    Raises:
        SeveralDimensionsError: more than one, or a pattern.
        InputError: a dimension that nobody rated, a dimension column that is not there.
    """
    columns, dimension = reading.columns, reading.dimension
    if columns.dimension is not None and not is_export:
        check_header((columns.dimension,), "dimension", header, path)
    if dimension is None:
        if len(met) > 1:
            raise _several(met, path)
        return columns
    wide = not met and not is_export and not columns.rating
    names = [entry for entry in (header if wide else met) if is_dimension(entry, dimension)]
    names = _outermost(names) if wide and is_pattern(dimension) else names
    others = "rating" in reading.lacking and not _is_rated(dict.fromkeys(header, "any"), columns)
    if others and wide and not names:
        return columns  # other rows are rated
    if not names:
        raise _none(dimension, met, header if wide else (), path)
    if is_pattern(dimension) and dimension not in names:
        raise _several({name: met[name] for name in names}, path)
    return replace(columns, rating=(dimension,)) if wide else columns


def _outermost(names: Sequence[str]) -> list[str]:
    """The names without those of what lies within another one: places of its list."""
    within = [f"{name}." for name in names]
    return [name for name in names if not any(name.startswith(entry) for entry in within)]


def _several(counts: dict[str, int] | Counter[str], path: str) -> SeveralDimensionsError:
    counts_text = ", ".join(f"'{name}' ({n})" if n else f"'{name}'" for name, n in counts.items())
    return SeveralDimensionsError(f"ratings of several dimensions: {counts_text}", [*counts], path)


def _none(dimension: str, met: Collection[str], header: Sequence[str], path: str) -> InputError:
    names = [name for name in met if name != "None"]
    remedy = f"the dimensions are {listed(names)}"
    if not names:
        remedy = "leave --dimension out: none has a name"
        if header:
            remedy += f", and no column has this one; the columns are {listed(header)}"
    return InputError(f"no ratings of a dimension '{dimension}'", path=path, remedy=remedy)


def one_of(words: Sequence[str]) -> tuple[str | None, Scale | None]:
    """The one dimension that is asked for and its scale; None for none, an error for several."""
    named = dict(map(dimension_of, words))
    if len(named) != len(words):
        raise UsageError(f"--dimension names one twice: {', '.join(words)}")
    if len(words) > 1:
        raise SeveralDimensionsError(f"several dimensions are asked for: {listed([*named])}", words)
    return next(iter(named.items()), (None, None))
