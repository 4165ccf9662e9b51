"""Files, standard input and gzip as streams of decoded text, with every fault given a place."""

import codecs
import gzip
import io
import json
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from textwrap import shorten
from typing import Any, BinaryIO, cast

from refless.data.tables.reading import Reading
from refless.files.untrusted import (
    GZIP,
    Limited,
    check_foreign,
    is_device,
    is_folder,
    ours,
    too_large,
)
from refless.registry.dialect import called, dialect
from refless.registry.errors import InputError, UsageError

STDIN = "-"
TEXTS_ALONE = "texts alone are given as {'text': [...]}"
AGAIN = "export or copy the file again"
ABOVE = "or delete what stands above the header, such as a title"
ZIP = b"PK\x03\x04"
PACKED = {0, 8, 93}  # methods of zip files: stored, deflated, zstd
_HEAD = 1 << 16
_NOT_OF_FILES = {"idna", "punycode", "undefined"}  # codecs of text that no file is in
_AS_CSV = "export its table as CSV or JSON lines"
_AS_LINES = (
    "with pandas: pd.{}('FILE').to_json('FILE.jsonl', orient='records', lines=True)"
)
_BINARY = (  # how files begin that hold no text, what they are, and what to do
    (
        b"SQLite format 3\0",
        "a SQLite database",
        f"{_AS_CSV}: sqlite3 -header -csv FILE 'select ...'",
    ),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _AS_LINES.format("read_hdf")),
    (b"ARROW1\0\0", "an Arrow file (Feather)", _AS_LINES.format("read_feather")),
    (b"FEA1", "a Feather file", _AS_LINES.format("read_feather")),
    (b"\xff\xff\xff\xff", "a stream of Arrow", _AS_CSV),
    (b"PAR1", "a Parquet file", "pass `reading={'format': 'parquet'}`"),
    (
        ZIP,
        "a zip file or a workbook",
        "unpack it, or pass `reading={'format': 'excel'}`",
    ),
    (b"\xd0\xcf\x11\xe0", "an old file of Office", "save it as .xlsx"),
    (b"%PDF-", "a PDF", "export the rows that it was made from"),
    (b"BZh91AY&SY", "packed by bzip2", "unpack it first"),
    (b"\xfd7zXZ\0", "packed by xz", "unpack it first"),
    (b"(\xb5/\xfd", "packed by zstd", "unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"Rar!\x1a", "a RAR archive", "unpack it first"),
    (b"\x93NUMPY", "an array of NumPy", _AS_CSV),
    (b"<stata_dta>", "a Stata file", _AS_LINES.format("read_stata")),
    (b"$FL2", "an SPSS file", _AS_LINES.format("read_spss")),
    *(
        (b"\x80%c" % n, "a pickle", _AS_LINES.format("read_pickle"))
        for n in range(2, 6)
    ),
)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A file and how to read it.

    Attributes:
        path: as the user wrote it, `-` for standard input.
        raw: its bytes (standard input) or its path.
        reading: the settings.
        sheet: of a workbook; "" for the first.
    """

    path: str
    raw: bytes | Path
    reading: Reading
    sheet: str = ""

    @cached_property
    def values(self) -> list[object]:
        """The items of the array in a JSON file, or its one value; NaN and Infinity are numbers."""
        with text_of(self) as stream:
            text = stream.read().removeprefix("\ufeff")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as fault:
            raise _no_json(fault, text, self.path) from fault
        return value if isinstance(value, list) else [value]


def _no_json(fault: Exception, text: str, path: str) -> InputError:
    """The error for a text that is no JSON, with the line on which it ceases to be."""
    place = 0
    problem = "nested too deep" if isinstance(fault, RecursionError) else str(fault)
    if isinstance(fault, json.JSONDecodeError):
        place = fault.pos
        problem = fault.msg
        if problem == "Extra data":
            problem = "there is more behind the array or object"
        elif place >= len(text.rstrip()):
            problem = "it is cut off"
    line = text.count("\n", 0, place) + 1
    return InputError(f"not JSON: {problem}", path=path, line=line, remedy=AGAIN)


def raw_of(path: str, most: int) -> bytes | Path:
    """The file of a path, or the bytes of a stream that cannot be read twice (`-`, a pipe).

    Raises:
        InputError: no such file, a directory, a device, an empty file, more than `most` bytes.
    """
    if path == STDIN:
        piped = sys.stdin.buffer.read(most + 1)
        if not piped:
            raise InputError(
                "standard input is empty", path=path, remedy="pipe rows into it"
            )
        if len(piped) > most:
            raise too_large(path, most)
        return piped
    file = Path(path)
    if is_folder(path):
        raise InputError(
            "this is a directory",
            path=path,
            remedy=f"name the files in it, as in '{PurePath(path)}/*'; 'refless score' reads a "
            "folder of outputs",
        )
    if not os.path.exists(path):  # noqa: PTH110 - a text too long for a name is no error here
        remedy = "check the spelling and the folder"
        if len(path.split()) > 1 or not file.suffix:
            remedy += f" ({TEXTS_ALONE})"
        raise InputError(
            "no such file", path=shorten(path, 80, placeholder="..."), remedy=remedy
        )
    with _faults_of(path):
        if is_device(path):
            raise InputError("this is a device", path=path, remedy="name a file")
        raw = file if file.is_file() else _piped(file, most)
        size = len(raw) if isinstance(raw, bytes) else raw.stat().st_size
    if size == 0:
        raise InputError("the file is empty", path=path, remedy="give a file with rows")
    if size > most:
        raise too_large(path, most)
    return raw


def _piped(file: Path, most: int) -> bytes:
    with file.open("rb") as stream:
        return stream.read(most + 1)


@contextmanager
def _faults_of(path: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError, zlib.error) as fault:
        raise ours(fault, path) or fault from fault


@contextmanager
def opened(place: Place) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if they are gzip (known by content, not by name).

    Raises:
        InputError: an unreadable file, a `.gz` that is not gzip, truncated or damaged gzip, more
            bytes than are read.
    """
    raw = place.raw
    path = place.path
    with (
        _faults_of(path),
        io.BytesIO(raw) if isinstance(raw, bytes) else raw.open("rb") as packed,
    ):
        magic = packed.read(2)
        packed.seek(0)
        if magic != GZIP and path.endswith(".gz"):
            problem = "the name ends in .gz but this is not gzip"
            remedy = "rename or compress it"
            raise InputError(problem, path=path, remedy=remedy)
        if magic != GZIP:
            yield packed
            return
        with gzip.GzipFile(fileobj=packed) as stream:
            limited = Limited(stream, path, place.reading.max_bytes)
            yield cast("BinaryIO", io.BufferedReader(limited))


def check_encoding(encoding: str) -> None:
    """Raises UsageError unless the name is a text encoding that Python knows."""
    try:
        is_text = codecs.lookup(encoding).name not in _NOT_OF_FILES
        "".encode(encoding if is_text else "utf-8")
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise UsageError(
            f"{called('reading')} encoding '{encoding}' is not a text encoding"
        )


@contextmanager
def text_of(place: Place, *, newline: str | None = None) -> Iterator[io.TextIOWrapper]:
    r"""The decoded text of a file, without its byte order mark.

    Iterating it splits at \n, \r\n and lone \r, and nowhere else (not at U+2028 or U+0085).

    A `newline` of None turns line ends into \n, "" leaves them as they are. Bytes that are not in
    the encoding are an InputError with their place and the likely encoding.
    """
    head = beginning(place, 4096)
    for magic, kind, remedy in _BINARY:
        if head.startswith(magic):
            problem = f"this is {kind}, no table of text"
            raise InputError(problem, path=place.path, remedy=dialect(remedy))
    encoding = _encoding_of(place, head)
    try:
        with (
            opened(place) as stream,
            io.TextIOWrapper(stream, encoding=encoding, newline=newline) as text,
        ):
            yield text
    except UnicodeError as fault:
        raise _located(place, encoding, fault) from fault


def _encoding_of(place: Place, head: bytes) -> str:
    """The encoding of a file: what the user says, but UTF-16 where its mark is at the beginning.

    Raises:
        InputError: UTF-16 without its mark, if UTF-8 is to be read.
    """
    said = codecs.lookup(place.reading.encoding).name
    if said != "utf-8":
        return said
    if head.startswith(_UTF16):
        return "utf-16"
    if likely := _wide_encoding(head):
        remedy = f"if it is {likely}, pass {_named(likely)}"
        raise InputError("this is not UTF-8", path=place.path, line=1, remedy=remedy)
    return "utf-8-sig"


def beginning(place: Place, n: int) -> bytes:
    """The first bytes of a file, unpacked."""
    with opened(place) as stream:
        return stream.read(n)


def head_of(place: Place) -> str:
    """The first characters of a file, to tell its format by."""
    with text_of(place) as text:
        return text.read(_HEAD).removeprefix("\ufeff")


def members_of(raw: BinaryIO, place: Place, zipfile: Any = zipfile) -> Any:  # noqa: ANN401
    """A zip file, opened by the standard library or what stands in for it.

    Raises:
        InputError: no sound zip file, a way of packing that needs no bound on memory, one that says
            it unpacks to more bytes than are read. Members give no more bytes than they say.
    """
    remedy = "copy or export the file again"
    try:
        packed = zipfile.ZipFile(raw)
    except Exception as fault:  # whatever damage makes of it
        check_foreign(fault)
        problem = f"not a sound zip file ({fault})"
        raise InputError(problem, path=place.path, remedy=remedy) from fault
    members = packed.infolist()
    if strange := {member.compress_type for member in members} - PACKED:
        problem = f"a zip file packed in a way that is not read (method {min(strange)})"
        raise InputError(problem, path=place.path, remedy=remedy)
    if sum(member.file_size for member in members) > place.reading.max_bytes:
        raise too_large(place.path, place.reading.max_bytes)
    return packed


def check_names(names: Sequence[str], path: str, line: int | None = None) -> None:
    """Raises InputError for two columns of one name; columns without a name are left alone."""
    named = [name for name in names if name or line is None]
    if len({*named}) < len(named):
        name = next(name for name in named if named.count(name) > 1)
        problem = f"there are two columns '{name}'"
        raise InputError(problem, path=path, line=line, remedy="rename one of them")


def _wide_encoding(head: bytes) -> str | None:
    """UTF-16 without its mark, which can pass for UTF-8 with NULs; None for anything else."""
    even = head[::2].count(0)
    odd = head[1::2].count(0)
    # a stray NUL is a fault of one row, not another encoding
    if even + odd <= len(head) / 4:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _located(place: Place, encoding: str, fault: UnicodeError) -> InputError:
    """The error for undecodable bytes: line and byte offset if lines can be told as bytes."""
    path = place.path
    name = encoding.removesuffix("-sig")
    remedy = f"check {_named('NAME')}; without it UTF-8 is read"
    if name.startswith(("utf-16", "utf-32")):
        return InputError(f"this is not {name} ({fault})", path=path, remedy=remedy)
    with opened(place) as stream:
        raw = stream.read()
    try:
        raw.decode(name)
    except UnicodeDecodeError as bad:
        before = raw[: bad.start]
        line = raw[before.rfind(b"\n") + 1 :].partition(b"\n")[0]
        number = 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
        byte = f"byte 0x{raw[bad.start]:02x} at offset {bad.start}"
        remedy = _likely(line) if name == "utf-8" else remedy
        return InputError(
            f"{byte} is not {name}", path=path, line=number, remedy=remedy
        )
    return InputError(f"this is not {name} ({fault})", path=path)


def _named(name: str) -> str:
    """The option that names the encoding of files."""
    return called("reading", {"encoding": name})


def _likely(line: bytes) -> str:
    """The encoding to try for a line that is no UTF-8."""
    try:
        line.decode("cp1252")
    except UnicodeDecodeError:
        return f"if it is latin-1, pass {_named('latin-1')}"
    return f"if it is cp1252 (Windows), pass {_named('cp1252')}"
