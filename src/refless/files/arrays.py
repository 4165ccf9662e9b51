"""One file of arrays: safetensors, with facts as JSON in its metadata.

It is replaced in one step, so a run that is killed, a full disk and two writers leave the old file
or the new one. Arrays are mapped into memory. Whatever a file contains is checked for type, shape
and range, as it may be damaged, or made up by somebody else.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from refless.files.untrusted import is_file, is_folder
from refless.files.writing import write_atomic
from refless.registry.errors import InputError, UsageError

ENDING = ".safetensors"
METADATA = "__metadata__"
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
}
MOST_HEADER = 100_000_000  # bytes, as safetensors itself has it
Array = npt.NDArray[Any]
Arrays = dict[str, Array]
Facts = Mapping[str, Any]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class _Tensor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An array in the header of a file."""

    dtype: str
    shape: tuple[_Count, ...]
    data_offsets: tuple[_Count, _Count]


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raises UsageError for the name of a file that does not end in `.safetensors`."""
    if not is_saved(path):
        raise UsageError(
            f"the file's name must end in {ENDING}; got '{os.fspath(path)}'"
        )


def is_saved(path: object) -> bool:
    """Whether a path is that of a file of arrays, by its ending."""
    return isinstance(path, str | os.PathLike) and os.fspath(path).endswith(ENDING)


def write_arrays(
    path: str | os.PathLike[str], kind: str, facts: Facts, arrays: Mapping[str, Array]
) -> None:
    """Writes a file of arrays of the types in `DTYPES`; `kind` is what people call such a file.

    Raises:
        UsageError: another ending than `.safetensors`.
        InputError: a file that cannot be written; the old one is kept.
    """
    from safetensors.numpy import save

    check_ending(path)
    text = json.dumps(facts)
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata = {"refless": kind, "facts": text, "digest": _digest(text, contiguous)}
    write_atomic(os.fspath(path), save(contiguous, metadata))


def read_arrays(
    path: str | os.PathLike[str], kind: str, remedy: str
) -> tuple[dict[str, Any], Arrays]:
    """The facts and the arrays of a file, which are mapped copy-on-write.

    No such file, one of another kind and a damaged one are InputErrors with the remedy.
    """
    with damaged(path, kind, remedy):
        if is_folder(path):
            raise ValueError("this is a folder")
        if not is_file(path):
            raise ValueError("there is no such file")
        if Path(path).stat().st_size < 8:
            raise ValueError("the file is truncated")
        raw = np.asarray(np.memmap(path, np.uint8, mode="c"))
        size = int(raw[:8].view("<u8")[0])
        require(size <= min(MOST_HEADER, len(raw) - 8), "the header is cut off")
        header = msgspec.json.decode(
            raw[8 : 8 + size].tobytes(), type=dict[str, msgspec.Raw]
        )
        metadata = msgspec.json.decode(header.pop(METADATA, b"{}"), type=dict[str, str])
        require(metadata.get("refless") == kind, f"this is no {kind} of refless")
        text = metadata.get("facts", "")
        data = raw[8 + size :]
        arrays = {name: _array(name, data, entry) for name, entry in header.items()}
        is_intact = metadata.get("digest") == _digest(text, arrays)
        require(is_intact, "its content is not what was saved")
        return msgspec.convert(json.loads(text), dict[str, Any]), arrays


@contextmanager
def damaged(path: str | os.PathLike[str], kind: str, remedy: str) -> Iterator[None]:
    """Errors about what a file contains, as an InputError that names it and says what to do."""
    try:
        yield
    except (OSError, ValueError, OverflowError, MemoryError, RecursionError) as fault:
        why = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        message = f"the {kind} cannot be read ({why})"
        raise InputError(message, path=os.fspath(path), remedy=remedy) from fault


def _digest(facts: str, arrays: Mapping[str, Array]) -> str:
    """SHA-256 of facts and arrays with their names, types and shapes: damage is seen by it."""
    digest = sha256(facts.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _array(name: str, data: Array, entry: msgspec.Raw) -> Array:
    """An array in the data of a file; raises ValueError for one that cannot be there."""
    tensor = msgspec.json.decode(entry, type=_Tensor)
    require(tensor.dtype in DTYPES, f"{name} is of type {tensor.dtype[:20]}")
    dtype = np.dtype(DTYPES[tensor.dtype])
    (begin, end) = tensor.data_offsets
    size = math.prod(tensor.shape) * dtype.itemsize
    require(begin + size == end <= len(data), f"{name} lies outside of the file")
    require(begin % dtype.itemsize == 0, f"{name} begins between two numbers")
    return data[begin:end].view(dtype).reshape(tensor.shape)


def require(holds: bool, fault: str) -> None:
    """Raises ValueError with the fault unless something holds."""
    if not holds:
        raise ValueError(fault)


def array_of(
    arrays: Mapping[str, Array], name: str, shape: tuple[int, ...], dtype: str = "<f8"
) -> Array:
    """An array of this type and shape; raises ValueError for another one, or for none."""
    require(name in arrays, f"{name} is missing")
    array = arrays[name]
    require(array.dtype == np.dtype(dtype), f"{name} is of type {array.dtype}")
    require(array.shape == shape, f"{name} has the shape {array.shape}, not {shape}")
    return array


def json_array(value: object) -> Array:
    """A value as the bytes of its JSON; strings may contain any character."""
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def json_of(arrays: Mapping[str, Array], name: str, kind: Any) -> Any:  # noqa: ANN401
    """The value that `json_array` made, of this type; raises ValueError for another one."""
    require(name in arrays and arrays[name].ndim == 1, f"{name} is missing")
    return msgspec.convert(json.loads(arrays[name].tobytes()), kind)


def named(prefix: str, arrays: Mapping[str, Array]) -> Arrays:
    """The arrays, their names behind a prefix: a part of a file."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def part_of(arrays: Mapping[str, Array], prefix: str) -> Arrays:
    """The arrays that `named` gave this prefix."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def check_sorted(name: str, column: Sequence[str]) -> None:
    """Raises ValueError for strings that are not sorted, or that repeat one."""
    require(all(a < b for a, b in pairwise(column)), f"{name} are not sorted")


def check_within(name: str, array: Array, end: int) -> None:
    """Raises ValueError for a number below 0, or for `end` or more."""
    if len(array):
        inside = array.min() >= 0 and int(array.max()) < end
        require(bool(inside), f"{name} has a number outside 0 to {end - 1}")
