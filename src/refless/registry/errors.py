"""Every exception that refless raises on purpose.

RefLessError
|-- UsageError          a parameter or a flag that cannot be honoured
|-- InputError          outside data that cannot be used: place, column, found, remedy
`-- MissingExtraError   an optional dependency that is not installed
"""

from typing import Any

from refless.registry.version import INSTALLED_FROM


class RefLessError(Exception):
    """The root of the tree; the command line turns it into a message and exit status 2."""

    def __reduce__(self) -> tuple[Any, ...]:
        """The error for another process, with the message that was made here."""
        return _again, (type(self), self.args, self.__dict__)


def _again(
    kind: type[RefLessError], args: tuple[Any, ...], values: dict[str, Any]
) -> RefLessError:
    """An error of another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error


class UsageError(RefLessError, ValueError):
    """A parameter or a flag that cannot be honoured."""


class RefLessWarning(UserWarning):
    """A warning for users; the command line shows it among the notes."""


class InputError(RefLessError, ValueError):
    """Outside data that cannot be used.

    Args:
        found: what was found, as a sentence without a full stop.
        remedy: what the user can do; it ends that sentence.
        path: the file, `-` for standard input, or what was given instead (`the data frame`).
        line: line in the file, counted from 1 (for CSV the line on which the row starts).
        row: number of the row, counted from 1, where there are no lines (data frames, Parquet).
        column: name of the column.
    """

    def __init__(
        self,
        found: str,
        *,
        remedy: str = "",
        path: str | None = None,
        line: int | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        self.found = found
        self.remedy = remedy
        self.path = path
        self.line = line
        self.row = row
        self.column = column
        super().__init__(self._message())

    def _message(self) -> str:
        places = {"line {}": self.line, "row {}": self.row, "column '{}'": self.column}
        parts = [
            form.format(value) for form, value in places.items() if value is not None
        ]
        place = ", ".join([self.path, *parts] if self.path else parts)
        text = f"{place}: {self.found}" if place else self.found
        return f"{text}; {self.remedy}." if self.remedy else f"{text}."


class MissingExtraError(RefLessError, ImportError):
    """An optional dependency that is not installed; the message is the line that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(
            f"{feature} needs an extra: pip install '{INSTALLED_FROM}[{extra}]'"
            f"{' in a clone of refless' if INSTALLED_FROM == '.' else ''}"
        )
