"""Which column is what? A card for columns that may have a role which none has by its name."""

from collections.abc import Callable
from dataclasses import replace

from refless.commands.look.asked import Asked, refused
from refless.commands.look.result import ROLE_NAMES, LookResult
from refless.registry.errors import InputError
from refless.report.document import Card


def which_is_which(asked: Asked, look: Callable[..., LookResult]) -> list[Card]:
    """The card, with the line that reads the columns so; none if nothing is guessed.

    Args:
        asked: the rows; look: the function of the command.
    """
    guesses = asked.seen.proposed
    if not guesses:
        return []
    names = [
        f"'{name}' may be the {ROLE_NAMES.get(role, role)}"
        for role, name in guesses.items()
    ]
    found = f"{', '.join(names)}; no usual name tells"
    remedy = "if that is what they are, read them so."
    card = refused("columns", "Which column is what?", InputError(found, remedy=remedy))
    columns = {**(asked.options["columns"] or {}), **guesses}
    return [replace(card, command=asked.line(look, columns=columns))]
