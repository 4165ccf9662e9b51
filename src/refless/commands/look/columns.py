"""A card for columns that may have a role which none has by its name."""

from collections.abc import Callable
from dataclasses import replace

from refless.commands.look.asked import Asked, refused
from refless.commands.look.result import ROLE_NAMES, LookResult
from refless.data.tables.columns import listed, reading_all
from refless.data.tables.proposed import renaming
from refless.registry.arrays import Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError
from refless.report.document import Card

TOPIC = "columns"
QUESTION = "Which column is what?"
MOST_NAMED = 3
MOST_CRITERIA = 8


def which_is_which(asked: Asked, look: Callable[..., LookResult]) -> list[Card]:
    """The card, with the line that reads the columns so; none if nothing is guessed.

    Args:
        asked: the rows; look: the function of the command.
    """
    guesses = asked.seen.proposed
    if asked.seen.ratings:
        return _of_ratings(asked, look)
    if not guesses or ("text" not in guesses and len(asked.seen.beside) > 1):
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


def _of_ratings(asked: Asked, look: Callable[..., LookResult]) -> list[Card]:
    """The card where several columns hold ratings, with the line that reads the first of them."""
    names = asked.seen.ratings
    found = f"{listed(names, MOST_CRITERIA)} may be people's ratings"
    remedy = f"if each is one thing that was rated, choose one with {called('dimension', names[0])}"
    remedy += f"; if each is a person, {reading_all(names)}"
    card = refused(TOPIC, QUESTION, InputError(found, remedy=remedy))
    guesses = {**(asked.options["columns"] or {}), **asked.seen.proposed}
    line = asked.line(look, columns=guesses or None, dimension=names[0])
    return [replace(card, command=line.replace(" look ", " ", 1))]


def _of_versions(names: Strings) -> list[Card]:
    """The card where several columns hold texts that may be those of one version each."""
    if len(names) < 2:
        return []
    found = f"{listed(names, MOST_NAMED)} may be texts of one version each"
    fault = InputError(found, remedy=f"{renaming(names[-1])}.")
    return [refused(TOPIC, QUESTION, fault)]
