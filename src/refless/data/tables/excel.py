"""Sheets of Excel workbooks -> rows; openpyxl reads them, row by row.

openpyxl is Python throughout, so that a damaged workbook raises where machine code may end the
process, and a cell far out makes no huge sheet.
"""

import io
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from itertools import islice, repeat
from typing import Any

from refless.data.tables.cells import Unreadable, cell_of
from refless.data.tables.columns import Keep, listed, naming
from refless.data.tables.reading import NumberedRows, Reading, Source
from refless.data.tables.roles import ROLES
from refless.data.tables.spellings import folded
from refless.data.tables.streams import (
    ABOVE,
    Place,
    check_names,
    members_of,
    opened,
    raw_of,
)
from refless.files.untrusted import check_foreign, workbook_of
from refless.registry.arrays import Names, Strings
from refless.registry.errors import InputError, MissingExtraError, RefLessError
from refless.registry.plural import counted

SHEET = "sheet"  # the column of its name that a named sheet has
_MOST_ROWS = 1 << 20  # of a sheet, as Excel has it
_CHUNK = 1 << 20
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]+)(\d+):[A-Z]+(\d+)"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_LITERAL = re.compile(r'"[^"]*"|\\.|_.')  # what a number format shows as it stands
# 0.8, whether it is shown as 80 % or not
_SHARES = {
    *ROLES["probability"].names,
    *ROLES["weight"].names,
}
_UNSAVED = Unreadable("a formula without a saved value")
Cells = list[object]
# first row -> column and last row of each merged cell
Merged = dict[int, list[tuple[int, int]]]


class _Percent(float):
    """A share that its cell shows as percent."""


@contextmanager
def excel(place: Place, keep: Keep) -> Iterator[Source]:
    """The sheet named behind `#`, with a column of its name; else the first that can be read."""
    with _workbook(place) as load, _faults_of(place.path):
        book = load()
        title = _named(book, place) if place.sheet else _chosen(book, place, keep)
        merged, has_formulas = _marks_of(book[title])
        formulas = load(values=False)[title] if has_formulas else None
        rows = _rows(book[title], place.path, merged, formulas)
        number, header = next(rows, (0, []))
        if not number:
            raise InputError(
                "the sheet is empty", path=place.path, remedy=_sheets(book)
            )
        if number in merged:
            remedy = f"give each column its name in one cell of one row; {ABOVE}"
            problem = f"merged cells join the header, row {number}, with the row below"
            raise InputError(problem, path=place.path, remedy=remedy)
        names = _names_in(header)
        check_names(names, place.path, number)
        sentences = [] if place.sheet else [*_unread(book, title)]
        of_sheet = {SHEET: title} if place.sheet and SHEET not in names else {}
        cell = partial(
            _cell, in_percent=_in_percent(names, place, keep), sentences=sentences
        )
        content = _by_name(rows, names, place.path, keep, cell)
        content = (
            (n, row if isinstance(row, InputError) else row | of_sheet)
            for n, row in content
        )
        yield Source(
            columns=(*names, *of_sheet), rows=content, lines=False, sentences=sentences
        )


def sheets_of(path: str, reading: Reading, keep: Keep) -> list[str]:
    """The sheets that `FILE.xlsx#*` names, those with columns to read; any other path alone."""
    file, sheet = workbook_of(path)
    if sheet != "*":
        return [path]
    place = Place(path=file, raw=raw_of(file, reading.max_bytes), reading=reading)
    with _workbook(place) as load, _faults_of(file):
        book = load()
        readable = _readable(book, keep)
        if not readable:
            raise InputError(
                "no sheet has columns to read", path=path, remedy=_sheets(book)
            )
        return [f"{file}#{title}" for title in readable]


@contextmanager
def _workbook(place: Place) -> Iterator[Any]:
    """A loader of a workbook: with the values of its formulas, or with the formulas."""
    try:
        from openpyxl import load_workbook
    except ImportError as fault:
        raise MissingExtraError("Excel", "excel") from fault

    def load(*, values: bool = True) -> Any:  # noqa: ANN401 - openpyxl has no types
        # it prints some faults
        with (
            warnings.catch_warnings(),
            redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")  # of styles and rules that it does not keep
            book = load_workbook(
                raw, read_only=True, data_only=values, keep_links=False
            )
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what the file says of its size need not be so
        return book

    with opened(place) as stream:
        raw = stream if stream.seekable() else io.BytesIO(stream.read())
        with _faults_of(place.path):
            # refuses what unpacks to too much
            files = members_of(raw, place).namelist()
        if files and not any(name.startswith("xl/") for name in files):
            problem = (
                f"a zip file of {counted(len(files), 'file')}, and no Excel workbook"
            )
            remedy = (
                f"unpack it and name the files that are to be read: {listed(files, 5)}"
            )
            raise InputError(problem, path=place.path, remedy=remedy)
        yield load


def _named(book: Any, place: Place) -> str:  # noqa: ANN401
    if place.sheet not in {sheet.title for sheet in book.worksheets}:
        raise InputError(
            f"no sheet '{place.sheet}'", path=place.path, remedy=_sheets(book)
        )
    return place.sheet


def _chosen(book: Any, place: Place, keep: Keep) -> str:  # noqa: ANN401
    """The first sheet with several columns to read, else with one; else the first of all.

    Raises:
        InputError: no sheet of cells; two sheets whose columns to read are the same.
    """
    if not book.worksheets:
        raise InputError("there is no sheet of cells", path=place.path)
    readable = _readable(book, keep)
    tables = [title for title, names in readable.items() if len(names) > 1] or [
        *readable
    ]
    alike = [title for title in tables if readable[title] == readable[tables[0]]]
    if len(alike) > 1:
        file = place.path
        problem = f"sheets {listed(alike)} have the same columns: which are to be read?"
        remedy = f"'{file}#{alike[0]}' is one of them, '{file}#*' all; then 'sheet' is a column, "
        remedy += (
            f"and {naming('annotator', 'sheet')} says that each sheet is a person's"
        )
        raise InputError(problem, path=file, remedy=remedy)
    return next(iter(tables), str(book.worksheets[0].title))


def _readable(book: Any, keep: Keep) -> dict[str, set[str]]:  # noqa: ANN401
    """The columns that may be read of each sheet that has any, with rows below its header."""
    readable = {}
    for sheet in book.worksheets:
        beginning = [*islice(_rows(sheet, sheet.title), 2)]
        names = (
            {name for name in _names_in(beginning[0][1]) if keep(name)}
            if beginning
            else set()
        )
        if names and len(beginning) > 1:
            readable[str(sheet.title)] = names
    return readable


def _unread(book: Any, title: str) -> Iterator[str]:  # noqa: ANN401
    """A sentence on other sheets that have cells, if any do."""
    sheets = (sheet for sheet in book.worksheets if sheet.title != title)
    titles = [sheet.title for sheet in sheets if any(_rows(sheet, sheet.title))]
    if titles:
        name = f"'FILE.xlsx#{titles[0]}' names one, 'FILE.xlsx#*' all"
        yield f"sheet '{title}' is read; not read: {listed(titles)} ({name})"


def _sheets(book: Any) -> str:  # noqa: ANN401
    names = listed([sheet.title for sheet in book.worksheets])
    return (
        "name a sheet as in 'FILE.xlsx#SHEET', or all as in 'FILE.xlsx#*'; "
        f"the sheets are {names}"
    )


def _marks_of(sheet: Any) -> tuple[Merged, bool]:  # noqa: ANN401
    """The merged cells of several rows, and whether there are formulas; openpyxl tells neither."""
    merged: Merged = defaultdict(list)
    formulas = False
    tail = b""
    with sheet._get_source() as stream:  # noqa: SLF001 - the one name for the sheet's own file
        while chunk := stream.read(_CHUNK):
            text = tail + chunk
            formulas = formulas or bool(_FORMULA.search(text))
            end = max(text.rfind(b"<"), 0)
            tail = text[end:]
            for column, first, last in _MERGED.findall(text[:end]):
                if last != first:
                    merged[int(first)].append((_column_number(column), int(last)))
    return merged, formulas


def _column_number(letters: bytes) -> int:
    """The place of a column from 0: A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number - 1


def _names_in(header: Cells) -> Strings:
    return tuple("" if cell is None else str(cell).strip() for cell in header)


def _rows(
    sheet: Any,  # noqa: ANN401
    path: str,
    merged: Merged | None = None,
    formulas: Any = None,  # noqa: ANN401
) -> Iterator[tuple[int, Cells]]:
    """Number and cells of each row that is not blank, with merged cells in all their rows.

    Formulas are those of the same sheet: one that has no value is `Unreadable`.
    """
    rows = sheet.iter_rows()
    written = repeat(()) if formulas is None else formulas.iter_rows(values_only=True)
    covering: dict[int, tuple[int, object]] = {}
    for number in range(1, _MOST_ROWS + 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = next(rows, None)
            formula = next(written, ())
        if row is None:
            return
        cells = [_value(cell) for cell in row]
        for column, text in enumerate(formula[: len(cells)]):
            if cells[column] is None and text is not None:
                cells[column] = _UNSAVED
        for column, last in (merged or {}).get(number, ()):
            covering[column] = (last, cells[column] if column < len(cells) else None)
        if any(cell is not None and str(cell).strip() for cell in cells):
            yield number, _filled(cells, number, covering)
    raise InputError(f"more than {_MOST_ROWS} rows in a sheet", path=path)


def _value(cell: Any) -> object:  # noqa: ANN401
    """The value of a cell; a number that it shows as percent is marked as one."""
    value = cell_of(cell.value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (
        _Percent(cell.value)
        if is_number and "%" in _LITERAL.sub("", cell.number_format)
        else value
    )


def _filled(
    cells: Cells, number: int, covering: dict[int, tuple[int, object]]
) -> Cells:
    """The cells of a row with the merged ones that reach into it, by column."""
    for column, (last, cell) in covering.items():
        if number <= last:
            cells += [None] * (column + 1 - len(cells))
            cells[column] = cell
    return cells


def _in_percent(names: Names, place: Place, keep: Keep) -> set[str]:
    """The columns whose shares are percents, as the scale is: all that are read, but chances."""
    if not place.reading.in_percent:
        return set()
    chances = {place.reading.columns.probability, *_SHARES}
    return {
        name
        for name in names
        if keep(name) and chances.isdisjoint({name, folded(name)})
    }


def _cell(
    name: str, value: object, in_percent: Collection[str], sentences: list[str]
) -> object:
    """The value of a cell in a column; the first that is read as percent is said."""
    if not isinstance(value, _Percent):
        return value
    if name not in in_percent:
        return float(value)
    number = round(100 * float(value), 10)
    start = f"column '{name}': "
    if not any(line.startswith(start) for line in sentences):
        sentences.append(f"{start}a cell shown as {number:g} % is {number:g}")
    return number


def _by_name(
    rows: Iterator[tuple[int, Cells]],
    names: Names,
    path: str,
    keep: Keep,
    cell: Callable[[str, object], object],
) -> NumberedRows:
    """Rows by the names of the header; what is wrong with the workbook further down is raised."""
    width = len(names)
    with _faults_of(path):
        for number, cells in rows:
            cells = [*cells, *[None] * (width - len(cells))]
            row = {
                name: cell(name, value)
                for name, value in zip(names, cells, strict=False)
            }
            unsaved = [
                name for name, value in row.items() if value is _UNSAVED and keep(name)
            ]
            if any(value is not None for value in cells[width:]):
                problem = f"a cell beyond the {counted(width, 'column')} of the header"
                remedy = f"give its column a name, or empty it; {ABOVE}"
                yield number, InputError(problem, remedy=remedy)
            elif unsaved:
                remedy = "open the workbook in a spreadsheet and save it; values are saved then"
                yield (
                    number,
                    InputError(str(_UNSAVED), column=unsaved[0], remedy=remedy),
                )
            else:
                yield number, row


@contextmanager
def _faults_of(path: str) -> Iterator[None]:
    """Whatever openpyxl raises for a file that is no sound workbook, as InputErrors."""
    try:
        yield
    except (RefLessError, GeneratorExit):
        raise
    except BaseException as fault:
        check_foreign(fault)
        why = " ".join(str(fault).split())[:80] or type(fault).__name__
        remedy = "open it in a spreadsheet and save it as .xlsx, without a password"
        raise InputError(
            f"not an Excel workbook ({why})", path=path, remedy=remedy
        ) from fault
