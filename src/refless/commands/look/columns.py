"""Which column is what? A card for columns that may have a role which none has by its name."""

from collections.abc import Callable
from dataclasses import replace

from refless.commands.look.asked import Asked, refused
from refless.commands.look.result import ROLE_NAMES, LookResult
from refless.data.tables.proposed import renaming
from refless.registry.arrays import Strings
from refless.registry.errors import InputError
from refless.registry.plural import first_of
from refless.report.document import Card

TOPIC = "columns"
QUESTION = "Which column is what?"
MOST_NAMED = 3


def which_is_which(asked: Asked, look: Callable[..., LookResult]) -> list[Card]:
    """The card, with the line that reads the columns so; none if nothing is guessed.

    Args:
        asked: the rows; look: the function of the command.
    """
    guesses = asked.seen.proposed
    if not guesses:
        return _of_versions(asked.seen.beside)
    names = [
        f"'{name}' may be the {ROLE_NAMES.get(role, role)}"
        for role, name in guesses.items()
    ]
    found = f"{', '.join(names)}; no usual name tells"
    remedy = "if that is what they are, read them so."
    card = refused(TOPIC, QUESTION, InputError(found, remedy=remedy))
    columns = {**(asked.options["columns"] or {}), **guesses}
    line = asked.line(look, columns=columns).replace(" look ", " ", 1)
    return [replace(card, command=line)]


def _of_versions(names: Strings) -> list[Card]:
    """The card where several columns hold texts that may be those of one version each."""
    if len(names) < 2:
        return []
    called = first_of([f"'{name}'" for name in names], MOST_NAMED)
    found = f"{called} may be texts of one version each"
    fault = InputError(found, remedy=f"{renaming(names[-1])}.")
    return [refused(TOPIC, QUESTION, fault)]
