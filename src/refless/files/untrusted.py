"""Files that others wrote: how much of them is read, and what their faults become.

Whatever the system raises while something is read or written becomes an error of refless here and
nowhere else: `ours` is used where a file is opened, and once more around the whole command line.
"""

import csv
import glob
import gzip
import io
import json
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refless.registry.dialect import Blank, called
from refless.registry.errors import InputError, RefLessError

MOST_BYTES = 1 << 32  # 4 GiB: most bytes that one file may hold, unpacked
GZIP = b"\x1f\x8b"
AGAIN = "copy or download the file again"
NO_MEMORY = (
    "there is not enough memory for this: give fewer or shorter texts, or a machine "
    "with more"
)


def ours(fault: BaseException, path: str | None = None) -> RefLessError | None:
    """The refless error for an operating-system exception, or None."""
    if isinstance(fault, EOFError):
        return InputError("the gzip data is truncated", path=path, remedy=AGAIN)
    if isinstance(fault, gzip.BadGzipFile | zlib.error):
        return InputError(
            f"the gzip data is damaged ({fault})", path=path, remedy=AGAIN
        )
    if isinstance(fault, OSError):
        why = fault.strerror or str(fault)
        if path is not None:
            return InputError(f"the file cannot be read ({why})", path=path)
        return InputError(
            why, path=None if fault.filename is None else str(fault.filename)
        )
    if isinstance(fault, MemoryError) or "not enough memory" in str(fault)[:200]:
        return RefLessError(NO_MEMORY)  # the text is torch's, which raises RuntimeError
    return None


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Faults of a file that is read, as InputErrors that name it; JSON and UTF-8 among them."""
    name = os.fspath(path)
    try:
        yield
    except RefLessError:
        raise
    except UnicodeDecodeError as fault:
        problem = f"byte 0x{fault.object[fault.start]:02x} at offset {fault.start} is not UTF-8"
        raise InputError(problem, path=name, remedy="save the file as UTF-8") from fault
    except RecursionError as fault:
        raise InputError("this is nested too deep", path=name, remedy=AGAIN) from fault
    except json.JSONDecodeError as fault:
        problem = f"not JSON: {fault.msg} (position {fault.colno})"
        raise InputError(problem, path=name, line=fault.lineno, remedy=AGAIN) from fault
    except (OSError, EOFError, zlib.error) as fault:
        raise ours(fault, name) or fault from fault
    except (csv.Error, ValueError) as fault:  # a cell or a number that is too long
        raise InputError(f"this cannot be read ({fault})", path=name) from fault


def check_foreign(fault: BaseException) -> None:
    """Raises again what no library of others can be blamed for: interrupts, too little memory.

    Libraries in Rust panic with a class of their own, which is no Exception.
    """
    is_interrupt = not isinstance(fault, Exception)
    if is_interrupt and type(fault).__name__ != "PanicException":
        raise fault
    error = ours(fault)
    if error is not None and not isinstance(error, InputError):  # no memory
        raise fault


def json_of(path: Path) -> Any:  # noqa: ANN401 - whatever the file says
    """The content of a JSON file; raises InputError if there is none in UTF-8."""
    with reading(path):
        return json.loads(path.read_bytes())


def json_in(path: Path, kind: type[Any]) -> Any:  # noqa: ANN401 - whatever the file says
    """The content of a JSON file, a dict or a list as asked; it is empty if there is no file."""
    content = json_of(path) if is_file(path) else kind()
    if not isinstance(content, kind):
        raise InputError(f"a JSON {kind.__name__} is needed here", path=str(path))
    return content


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file of this name; also of names that no file can have."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises for a name that is too long


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a folder of this name; also of names that no folder can have."""
    return os.path.isdir(path)  # noqa: PTH112 - the same


def workbook_of(path: str) -> tuple[str, str]:
    """The file and the sheet that `FILE.xlsx#SHEET` names; any other path and ""."""
    file, _, sheet = path.rpartition("#")
    named = file.lower().endswith((".xlsx", ".xlsm")) and not is_file(path)
    return (file, sheet) if named else (path, "")


def matching(path: str) -> list[str]:
    """The files that a pattern such as `ratings/*.jsonl` names, sorted; else the path itself."""
    try:
        if not glob.has_magic(path) or os.path.lexists(path):
            return [path]
        return sorted(glob.glob(path, recursive=True)) or [path]  # noqa: PTH207
    except (OSError, ValueError, RecursionError):  # a text that no file can be called
        return [path]


def is_device(path: str) -> bool:
    """Whether this is a disk, /dev/zero or the like, which may never end; a terminal is none."""
    mode = os.stat(path).st_mode  # noqa: PTH116 - as above
    if not stat.S_ISCHR(mode):
        return stat.S_ISBLK(mode)
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return not file.isatty()


class Limited(io.RawIOBase):
    """A stream that refuses to give more bytes than so many."""

    def __init__(self, stream: Any, path: str, most: int) -> None:  # noqa: ANN401 - any stream
        self.stream = stream
        self.path = path
        self.most = most
        self.read_so_far = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - as its base has it
        """Raises InputError where there is too much."""
        piece = self.stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self.read_so_far += len(piece)
        if self.read_so_far > self.most:
            raise too_large(self.path, self.most)
        return len(piece)


def too_large(path: str, most: int) -> InputError:
    """The error for a file of more bytes than are read."""
    remedy = f"if that is meant, read more with {called('reading', {'max-bytes': Blank('N')})}"
    return InputError(
        f"the file holds more than {most} bytes, unpacked", path=path, remedy=remedy
    )
