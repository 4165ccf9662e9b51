"""The signature: everything that can change a number, written beside the number."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from refless.registry.errors import UsageError

_PLAIN = "*,+-._~@ "  # what stays readable besides letters and digits


@dataclass(frozen=True, slots=True)
class Signature:
    """A method's name and its settings, in order; text form `name|key:value|key:value`.

    The text is ASCII, values percent-escaped; `Signature.parse(str(s)) == s` for every s.
    """

    name: str
    settings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        pairs = (f"{_escape(key)}:{_escape(value)}" for key, value in self.settings)
        return "|".join((_escape(self.name), *pairs))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that prints as `text`.

        Raises:
            UsageError: a part without a colon, not ASCII, or escapes that spell no text.
        """
        if not text.isascii():
            raise UsageError(f"'{text}' is no signature: it is not ASCII")
        name, *parts = text.split("|")
        pairs = []
        for part in parts:
            key, colon, value = part.partition(":")
            if not colon:
                raise UsageError(f"'{part}' in a signature is not key:value")
            pairs.append((_unescape(key), _unescape(value)))
        return cls(_unescape(name), tuple(pairs))

    def plus(self, **settings: object) -> Signature:
        """A copy with more settings at its end; a key that is there already is replaced."""
        fresh = {key: setting(value) for key, value in settings.items()}
        settled = [(key, fresh.pop(key, value)) for key, value in self.settings]
        return Signature(self.name, (*settled, *fresh.items()))

    def get(self, key: str) -> str | None:
        """The value of a key, or None."""
        return dict(self.settings).get(key)


def setting(value: object) -> str:
    """A setting as signatures write it: yes/no, shortest floats, tuples with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")  # numpy's floats print their type
    if isinstance(value, tuple | list):
        return ",".join(map(setting, value))
    return str(value)


def _escape(text: str) -> str:
    return quote(text, safe=_PLAIN, errors="surrogatepass")


def _unescape(text: str) -> str:
    try:
        return unquote(text, errors="surrogatepass")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"'{text}' in a signature holds escapes that spell no text"
        ) from error


def digest_of(columns: Sequence[Sequence[object]]) -> str:
    """Twelve hexadecimal digits of the rows of these columns, whatever their order."""
    lines = sorted(map(repr, zip(*columns, strict=True)))
    return hashlib.sha256(
        "\n".join(lines).encode("utf-8", "surrogatepass")
    ).hexdigest()[:12]
