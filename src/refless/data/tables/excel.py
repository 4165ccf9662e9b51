"""Sheets of Excel workbooks -> rows; openpyxl reads them, row by row.

openpyxl is Python throughout, so that a damaged workbook raises where machine code may end the
process, and a cell far out makes no huge sheet.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from typing import Any

from refless.data.tables.cells import cell_of
from refless.data.tables.columns import Keep, listed
from refless.data.tables.reading import Numbered, Source
from refless.data.tables.streams import ABOVE, Place, check_names, members_of, opened
from refless.files.untrusted import check_foreign
from refless.registry.errors import InputError, MissingExtraError, RefLessError
from refless.registry.plural import counted

_MOST_ROWS = 1 << 20  # of a sheet, as Excel has it


@contextmanager
def excel(place: Place, _: Keep) -> Iterator[Source]:
    """The first sheet, or the one named behind `#`."""
    try:
        from openpyxl import load_workbook
    except ImportError as fault:
        raise MissingExtraError("Excel", "excel") from fault
    with opened(place) as stream, _faults_of(place.path):
        raw = stream if stream.seekable() else io.BytesIO(stream.read())
        members_of(raw, place)  # refuses what unpacks to too much
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # it prints some faults
            warnings.simplefilter("ignore")  # of styles and rules that it does not keep
            book = load_workbook(raw, read_only=True, data_only=True, keep_links=False)
        rows = _rows(_sheet(book, place), place.path)
        number, header = next(rows, (0, ()))
        if not number:
            raise InputError("the sheet is empty", path=place.path, remedy=_sheets(book))
        names = tuple("" if cell is None else str(cell).strip() for cell in header)
        check_names(names, place.path, number)
        yield Source(columns=names, rows=_named(rows, names, place.path), lines=False)


def _sheet(book: Any, place: Place) -> Any:  # noqa: ANN401 - openpyxl has no types
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if place.sheet and place.sheet not in sheets:
        raise InputError(f"no sheet '{place.sheet}'", path=place.path, remedy=_sheets(book))
    if not sheets:
        raise InputError("there is no sheet of cells", path=place.path)
    sheet = sheets[place.sheet] if place.sheet else next(iter(sheets.values()))
    sheet.reset_dimensions()  # what the file says of its size need not be so
    return sheet


def _sheets(book: Any) -> str:  # noqa: ANN401 - the same
    names = listed([sheet.title for sheet in book.worksheets])
    return f"name a sheet as in 'FILE.xlsx#SHEET'; the sheets are {names}"


def _rows(sheet: Any, path: str) -> Iterator[tuple[int, Sequence[object]]]:  # noqa: ANN401
    """Number and cells of each row that is not blank."""
    rows = sheet.iter_rows(values_only=True)
    for number in range(1, _MOST_ROWS + 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = next(rows, None)
        if row is None:
            return
        cells = [cell_of(cell) for cell in row]
        if any(cell is not None and str(cell).strip() for cell in cells):
            yield number, cells
    raise InputError(f"more than {_MOST_ROWS} rows in a sheet", path=path)


def _named(
    rows: Iterator[tuple[int, Sequence[object]]], names: Sequence[str], path: str
) -> Iterator[Numbered]:
    """Rows by the names of the header; what is wrong with the workbook further down is raised."""
    width = len(names)
    with _faults_of(path):
        for number, cells in rows:
            if any(cell is not None for cell in islice(cells, width, None)):
                problem = f"a cell beyond the {counted(width, 'column')} of the header"
                remedy = f"give its column a name, or empty it; {ABOVE}"
                yield number, InputError(problem, remedy=remedy)
            else:
                cells = [*cells, *[None] * (width - len(cells))]
                yield number, dict(zip(names, cells, strict=False))


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
        raise InputError(f"not an Excel workbook ({why})", path=path, remedy=remedy) from fault
