"""Text that may be shown on a terminal: what could command it is written out instead."""

import re

# control characters, line ends of Unicode, what overrides the direction of text, lone surrogates
_COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str, keep: str = "") -> str:
    r"""The text with each character that could command a terminal as its escape: `\x1b`, `\u202e`.

    Args:
        text: what is shown.
        keep: characters that stay, such as line ends.
    """

    def escape(match: re.Match[str]) -> str:
        character = match[0]
        if character in keep:
            return character
        return character.encode("unicode_escape").decode()

    return _COMMANDS.sub(escape, text)
