"""JSON values out of a stream, one after the other: only the one at hand is kept.

NaN and Infinity are numbers here, as some tools write them.
"""

import json
import re
from collections.abc import Iterator
from io import StringIO
from typing import TextIO

from refless.registry.errors import InputError

_CHUNK = 1 << 16
_UNFINISHED = 16  # characters of the longest token that may be cut in two
_BLANKS = re.compile(r"[ \t\r\n]*")
_ENDS = frozenset(" \t\r\n,]}")
_decode = json.JSONDecoder().raw_decode


class Values:
    """Reads a JSON text from left to right: values, items of arrays, names in objects."""

    def __init__(self, text: TextIO, path: str) -> None:
        self._text, self._path = text, path
        self._kept, self._at, self._lines = "", 0, 1

    def peek(self) -> str:
        """The next character that is no blank; "" at the end."""
        while True:
            blanks = _BLANKS.match(self._kept, self._at)
            self._at = self._at if blanks is None else blanks.end()
            if self._at < len(self._kept):
                return self._kept[self._at]
            if not self._more():
                return ""

    def value(self) -> object:
        """The next value as a whole; raises InputError for what is no JSON."""
        self.peek()
        while True:
            try:
                value, end = _decode(self._kept, self._at)
            except (ValueError, RecursionError) as fault:
                if self._may_go_on(fault) and self._more():
                    continue
                raise self._fault(fault) from fault
            whole = not isinstance(value, int | float) or self._kept[end : end + 1] in _ENDS
            if whole or not self._more():  # a number may go on
                self._at = end
                return value

    def items(self) -> Iterator[int]:
        """Stands before each item of an array, counted from 1, which the caller then reads."""
        self._take("[")
        number = 0
        while (number == 0 and self.peek() != "]") or self._another("]"):
            number += 1
            yield number
        self._take("]")

    def names(self) -> Iterator[str]:
        """Stands before the value of each name of an object, which the caller then reads."""
        self._take("{")
        first = True
        while (first and self.peek() != "}") or self._another("}"):
            first, name = False, self.value()
            self._take(":")
            yield str(name)
        self._take("}")

    def _another(self, end: str) -> bool:
        if self.peek() == end:
            return False
        self._take(",")
        return True

    def _take(self, mark: str) -> None:
        if (found := self.peek()) != mark:
            raise self._error(f"{found!r} where {mark!r} is needed" if found else "it is cut off")
        self._at += 1

    def _more(self) -> bool:
        """Reads on, as much again as is kept; False at the end."""
        self._lines += self._kept.count("\n", 0, self._at)
        left = self._kept[self._at :]
        more = self._text.read(max(_CHUNK, len(left)))
        self._kept, self._at = left + more, 0
        return bool(more)

    def _may_go_on(self, fault: Exception) -> bool:
        """Whether what stopped the decoder may be the end of what is kept, and no fault."""
        if not isinstance(fault, json.JSONDecodeError):
            return False
        return fault.msg.startswith("Unterminated") or fault.pos > len(self._kept) - _UNFINISHED

    def _fault(self, fault: Exception) -> InputError:
        if isinstance(fault, json.JSONDecodeError):
            self._at = fault.pos
            return self._error(fault.msg)
        return self._error("nested too deep" if isinstance(fault, RecursionError) else str(fault))

    def _error(self, found: str) -> InputError:
        line = self._lines + self._kept.count("\n", 0, self._at)
        remedy = "export or copy the file again"
        return InputError(f"not JSON: {found}", path=self._path, line=line, remedy=remedy)


def values_in(text: TextIO, path: str) -> Iterator[tuple[int, object]]:
    """Each item of one array, or each value of several, counted from 1."""
    values = Values(text, path)
    if values.peek() == "[":
        yield from ((number, values.value()) for number in values.items())
        if values.peek():
            raise InputError("there is more behind the array", path=path, remedy="remove it")
        return
    number = 0
    while values.peek():
        number += 1
        yield number, values.value()


def items_within(text: TextIO, path: str, name: str) -> Iterator[tuple[int, object]]:
    """Each item of the arrays of that name in an object, counted from 1."""
    values, number = Values(text, path), 0
    for one in values.names():
        if one != name or values.peek() != "[":
            values.value()
            continue
        for _ in values.items():
            number += 1
            yield number, values.value()


def first_object(head: str) -> dict[str, object]:
    """What the first object in the beginning of a JSON text holds, as far as the text goes.

    A list that is cut off has its first items, another value that is cut off is None.
    """
    values, found = Values(StringIO(head), ""), dict[str, object]()
    try:
        if values.peek() == "[":
            next(values.items(), None)
        for name in values.names():
            found[name] = None
            if values.peek() == "[":
                found[name] = whole = list[object]()
                whole.extend(values.value() for _ in values.items())
            else:
                found[name] = values.value()
    except InputError:
        pass
    return found
