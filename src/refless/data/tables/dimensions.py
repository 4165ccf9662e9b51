"""Dimensions: of several things that people rated in the same texts (fluency, coherence), one."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from refless.data.human import check_scale
from refless.data.records import Scale
from refless.data.tables.columns import (
    Roles,
    check_header,
    flag_of,
    flagged_names,
    is_dimension,
    listed,
    matches,
    naming,
    roles_of,
)
from refless.data.tables.load_columns import Gathered
from refless.data.tables.reading import Reading
from refless.data.tables.roles import ROLES, Columns, are_texts, n_within
from refless.data.tables.spellings import folded, stem
from refless.registry.arrays import Names
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

MOST_CRITERIA = 30
# names of columns that say when a text was rated again
_TIMES = "session round occasion wave batch day date time repetition"
OCCASIONS = {*_TIMES.split()}
MOST_WAYS = 4  # to choose a dimension that an error writes out
_WITH_SCALE = re.compile(r"(.+)=([^=]+)\.\.([^=]+)")


class SeveralDimensionsError(InputError):
    """Several dimensions where one is read.

    Attributes:
        names: of the dimensions, or what the user wrote for them.
    """

    def __init__(self, found: str, names: Names, path: str | None = None) -> None:
        self.names = tuple(names)
        ways = [called("dimension", name) for name in self.names[:MOST_WAYS]]
        super().__init__(
            found, path=path, remedy=f"choose one with {' or '.join(ways)}"
        )


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


def of_one_dimension(rows: Gathered, reading: Reading, roles: Names) -> Columns:
    """The columns, of the ratings of one dimension; rows of other dimensions are left out.

    A dimension is a value of a column that tells what was rated, a name that a tool's export gives,
    or a column of ratings.

    Raises:
        SeveralDimensionsError: more than one, or a pattern.
        InputError: a dimension that nobody rated, a dimension column that is not there, a rating
            without a dimension, several criteria within one dimension.
    """
    columns = reading.columns
    dimension = reading.dimension
    ratings = [name for name in rows.columns if _is_rating(name, columns)]
    column = _column(rows, columns, roles, ratings)
    counts: Mapping[str, int] = rows.dimensions or _counts(rows, column, ratings)
    is_column = not (counts or rows.notes or columns.rating or dimension is None)
    if is_column:
        counts = dict.fromkeys(rows.header, 0)
    names = [name for name in counts if is_dimension(name, dimension)]
    names = _outermost(names) if is_column else names
    others_are_rated = is_column and reading.beside_rated and not ratings
    if not names and (dimension is None or others_are_rated):
        return columns
    if not names:
        raise _none(str(dimension), () if is_column else [*counts], rows)
    if dimension not in names and (dimension is not None or len(names) > 1):
        raise _several({name: counts[name] for name in names}, rows.name, column)
    if is_column:
        return replace(columns, rating=(str(dimension),))
    if column is not None and len(counts) > 1:
        cells = enumerate(rows.columns[column])
        rows.without(
            {
                row
                for row, cell in cells
                if not _is_blank(cell) and str(cell) != dimension
            }
        )
    return replace(columns, dimension=column)


def _is_blank(cell: object) -> bool:
    return cell is None or cell == ""


def _is_rating(name: str, columns: Columns) -> bool:
    """Whether a flag names a column as ratings, or without such a flag its own name does."""
    if columns.rating:
        return any(matches(name, entry) for entry in columns.rating)
    return folded(name) in ROLES["rating"].words


def _column(
    rows: Gathered, columns: Columns, roles: Names, ratings: Names
) -> str | None:
    """The column that tells what was rated: by a flag, by its name, or as ratings differ in it."""
    role = ROLES["dimension"]
    header = [*rows.header]
    if columns.dimension is not None and not rows.notes:
        check_header((columns.dimension,), flag_of("dimension"), header, rows.name)
    words = [columns.dimension] if columns.dimension in rows.columns else role.words
    filled = [name for name in rows.columns if name in words or folded(name) in words]
    filled = [name for name in filled if not all(map(_is_blank, rows.columns[name]))]
    free = {*rows.columns}.difference(flagged_names(columns)) if ratings else set()
    weak = [name for name in header if name in free and folded(name) in role.weak]
    for name in weak:
        places = roles_of(columns, roles, header, rows.name, (), rows.known, rows.fits)
        if _tells_apart(rows, places, name, filled):
            filled.append(name)
    if ratings and not filled and not rows.notes:
        _check_melted(rows, columns, roles)
    if len(filled) > 1:
        problem = f"ratings of several dimensions would be pooled: by {listed(filled)}"
        where = called("where", f"{filled[1]}=VALUE")
        remedy = f"choose a value of all but one, such as {where}"
        raise InputError(problem, path=rows.name, remedy=remedy)
    return next(iter(filled), None)


def _check_melted(rows: Gathered, columns: Columns, roles: Names) -> None:
    """Raises InputError if one unlisted column tells ratings of a text by one rater apart."""
    header = [*rows.header]
    try:
        chosen = roles_of(columns, roles, header, rows.name, (), rows.known, rows.fits)
    except InputError:  # which is raised again with all that there is to say
        return
    if not chosen.all("annotator"):
        return
    used = {*flagged_names(columns), *chosen.all(*chosen.columns)}
    unlisted = [
        name for name in header if name not in used and stem(name) not in OCCASIONS
    ]
    telling = [name for name in unlisted if _tells_apart(rows, chosen, name, ())]
    if len(telling) != 1:
        return
    name = telling[0]
    values = [*dict.fromkeys(str(cell) for cell in rows.seen(name))]
    one = called("dimension", values[0])
    problem = (
        f"one annotator has several ratings of a text: '{name}' is {listed(values, 5)}"
    )
    remedy = f"choose with {naming('dimension', name)} {one}"
    raise InputError(problem, path=rows.name, remedy=remedy)


def _counts(rows: Gathered, column: str | None, ratings: Names) -> Counter[str]:
    """The number of rated rows of each dimension; raises InputError for one without."""
    counts = Counter[str]()
    bare = []
    cells = [rows.columns[rating] for rating in ratings]
    for row, cell in enumerate(rows.columns[column] if column is not None else ()):
        is_rated = any(not _is_blank(ratings_of[row]) for ratings_of in cells)
        if not _is_blank(cell):
            counts[str(cell)] += is_rated
        elif is_rated:
            bare.append(row)
    if bare and counts:
        remedy = f"fill the column, or name another one with {naming('dimension')}"
        raise rows.fault(bare[0], "a rating without a dimension", remedy, column)
    return counts


def _tells_apart(rows: Gathered, roles: Roles, name: str, more: Names) -> bool:
    """Whether most rows of one text, system, annotator (and more) differ in a column of few values.

    A few words, such as 'yes', are the text of many outputs, so they tell nothing without an id, an
    item or a source.
    """
    items = roles.all("id", "item", "source")
    about = (*roles.all("annotator", "system", "text"), *items)
    keys = [column for column in about if column != name]
    keys += more
    if {*items}.isdisjoint(keys) and not are_texts(
        rows.seen(roles.column("text") or "")
    ):
        return False
    cells = rows.all(name)
    groups = [*zip(*map(rows.all, keys), strict=False)]
    apart = [n_values > 1 for n_values in n_within(groups, cells)]
    return len({*map(str, cells)}) <= MOST_CRITERIA and sum(apart) > len(apart) / 2


def _outermost(names: Names) -> list[str]:
    """The names without those of what lies within another one: places of its list."""
    within = tuple(f"{name}." for name in names)
    return [name for name in names if not name.startswith(within)]


def _several(counts: Mapping[str, int], path: str, column: str | None) -> InputError:
    """The error for more than one dimension; it names a column that was not called so."""
    counts_text = ", ".join(
        f"{listed([name])} ({n})" if n else listed([name]) for name, n in counts.items()
    )
    place = "" if column in (None, *ROLES["dimension"].words) else f" in '{column}'"
    found = f"ratings of several dimensions{place}: {counts_text}"
    return SeveralDimensionsError(found, [*counts], path)


def _none(dimension: str, dimensions: Names, rows: Gathered) -> InputError:
    """The error for a dimension that nobody rated and that is no column."""
    remedy = f"the dimensions are {listed(dimensions)}"
    if not dimensions:
        columns = listed([*rows.header])
        remedy = f"leave {called('dimension')} out: none has a name, and no column has this one; "
        remedy += f"the columns are {columns}"
    return InputError(
        f"no ratings of a dimension '{dimension}'", path=rows.name, remedy=remedy
    )


def one_of(words: Names) -> tuple[str | None, Scale | None]:
    """The one dimension that is asked for and its scale; None for none, an error for several."""
    named = dict(map(dimension_of, words))
    if len(named) != len(words):
        raise UsageError(f"{called('dimension')} names one twice: {', '.join(words)}")
    if len(words) > 1:
        raise SeveralDimensionsError(
            f"several dimensions are asked for: {listed([*named])}", words
        )
    return next(iter(named.items()), (None, None))
