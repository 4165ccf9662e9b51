"""A card for columns that may have a role which none has by its name."""

import re
from collections.abc import Callable
from dataclasses import replace

from refless.commands.look.asked import Asked, refused
from refless.commands.look.result import ROLE_NAMES, LookResult
from refless.data.tables.columns import listed
from refless.data.tables.overview import Overview
from refless.data.tables.proposed import reading_versions
from refless.data.tables.spellings import of_one_rater
from refless.registry.dialect import Blank, called
from refless.registry.errors import InputError
from refless.report.document import Card

TOPIC = "columns"
QUESTION = "Which column is what?"
MOST_NAMED = 3
PLACE = re.compile(r"\.\d+$")  # in a list


def which_is_which(asked: Asked, look: Callable[..., LookResult]) -> list[Card]:
    """The card, with the line that reads the columns so; none if nothing is guessed.

    Args:
        asked: the rows; look: the function of the command.
    """
    guesses = asked.seen.proposed
    ratings = asked.seen.ratings
    of_versions = "text" not in guesses and len(asked.seen.beside) > 1
    if not ratings and (of_versions or not guesses):
        return _of_versions(asked.seen)
    names = [
        f"'{name}' may be the {ROLE_NAMES.get(role, role)}"
        for role, name in guesses.items()
    ]
    remedy = "if that is what they are, read them so."
    more: dict[str, str] = {}
    columns = {**(asked.options["columns"] or {}), **guesses}
    if ratings and all(map(of_one_rater, ratings)):
        columns["rating"] = [*ratings]
        names.append(f"{listed(ratings)} may be ratings by one person each")
    elif ratings:
        things = [*dict.fromkeys(PLACE.sub(".*", name) for name in ratings)]
        names.append(f"{listed(things)} may be people's ratings")
        remedy = "if each is a thing that was rated, choose one, as below. If each is a person, "
        if len(things) <= MOST_NAMED:
            remedy += f"read all with {called('columns', {'rating': things})}."
        else:
            every = called("columns", {"rating": Blank("NAME")})
            remedy += f"read all, each with {every}."
        if things[0] in ratings:
            more["dimension"] = things[0]
        else:  # each place is a person
            columns["rating"] = things[0]
    found = f"{', '.join(names)}; no usual name tells"
    card = refused(TOPIC, QUESTION, InputError(found, remedy=remedy))
    line = asked.line(look, LookResult, columns=columns or None, **more).replace(
        " look ", " ", 1
    )
    return [replace(card, command=line)]


def _of_versions(seen: Overview) -> list[Card]:
    """The card where several columns hold texts that may be those of one version each."""
    if len(seen.beside) < 2:
        return []
    header = [column.name for column in seen.columns]
    found = f"{listed(seen.beside, MOST_NAMED)} may be texts of one version each"
    fault = InputError(found, remedy=f"{reading_versions(seen.beside, header)}.")
    return [refused(TOPIC, QUESTION, fault)]
