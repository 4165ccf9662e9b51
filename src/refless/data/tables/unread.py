"""Columns that nobody reads: they are named; one that looks as much like the answer is refused."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, product

import numpy as np

from refless.data.tables.cells import each_once
from refless.data.tables.columns import (
    Roles,
    flagged_names,
    listed,
    matches,
    naming,
    reading_all,
    unclear,
)
from refless.data.tables.load_columns import Gathered
from refless.data.tables.ratings import BLANKS, PAIRED, spelled
from refless.data.tables.roles import (
    ROLES,
    Cells,
    Columns,
    are_texts,
    n_within,
    names_of,
)
from refless.data.tables.spellings import at_any_place, folded, numbered, stem
from refless.registry.arrays import Names
from refless.registry.dialect import called
from refless.registry.errors import InputError

# names of what several outputs come from
_TOGETHER = re.compile(
    "(chat|conversation|dialog|dialogue|doc|document|session|thread)(_id)?"
)

_ONE = {1.0, "true"}
MOST_NAMES = 8  # names in the sentence
ENOUGH = 3  # items that tell which of two columns differs between systems
_OUTPUTS = (
    "prediction predicted generation generated summary hypothesis translation assistant output "
    "outputs response completion"
)
OF_OUTPUTS = frozenset(_OUTPUTS.split())
NO_OUTPUT = frozenset(
    {"gold", "reference", "expected", "target", "ideal", "correct", "human"}
)


def unread_note(rows: Gathered, roles: Roles, columns: Columns) -> Iterator[str]:
    """A sentence on the columns that are not read, if there are any.

    Raises:
        InputError: one of them looks as much like the ratings or the texts as what is read.
    """
    unread = _unread(rows, roles, columns)
    if roles.asked("rating") and not columns.rating and "rating" not in rows.known:
        _check_ratings(rows, roles, unread)
    if roles.column("text") and columns.text is None and "text" not in rows.known:
        _check_texts(rows, roles, unread)
    scores = unclear(unread) if roles.all("rating") else []
    if unread:
        names = dict.fromkeys([*scores, *map(at_any_place, unread)])
        sentences = [f"left unread: {listed([*names], MOST_NAMES)}"]
        if scores:
            sentences.append(
                f"{called('score_column', scores[0])} reads a judge's scores, in commands that "
                "have it"
            )
        sentences += [
            f"rows of one '{name}' may depend on each other: intervals know it with "
            f"{called('group', name)}, in commands that have it"
            for name in unread
            if _TOGETHER.fullmatch(folded(name)) and _repeats(rows.seen(name))
        ]
        for role, name in product(roles.looked_up, unread):
            if not rows.fits(role, name, roles.columns):
                remedy = _remedy(role, name)
                sentences.append(f"'{name}' does not look like the {role}; {remedy}")
        yield f"{rows.name}: {'; '.join(sentences)}"


def _repeats(cells: Sequence[object]) -> bool:
    """Whether some of the cells are equal, and not all."""
    return 1 < len({*map(str, cells)}) < len(cells)


def _remedy(role: str, name: str) -> str:
    """The remedy that has a column read in a role that its values do not fit."""
    if role == "probability":  # compare alone looks for it
        return f"'{ROLES[role].words[0]}' would be read, whatever it holds"
    return f"{naming(role, name)} reads it so"


def _unread(rows: Gathered, roles: Roles, columns: Columns) -> list[str]:
    """Columns that no role and no flag has, without those that are opened by dotted names."""
    # whose patterns leave some out
    flags = {*flagged_names(replace(columns, rating=()))}
    used = {*flags, *roles.all(*roles.columns)}
    used |= {*roles.raters.values(), *rows.conditional, *rows.known}
    if rows.dimensions:
        used.add("dimension")
    names = [
        name for name in rows.header if name and not any(matches(name, n) for n in used)
    ]
    opened = {name.rpartition(".")[0] for name in rows.header if "." in name}
    return [name for name in names if name not in opened]


def check_one_hot(rows: Gathered, columns: Columns) -> None:
    """Raises InputError for one rating in several columns of 0 and 1, such as `rating_1`."""
    flagged = [
        name for name in rows.header if any(matches(name, n) for n in columns.rating)
    ]
    names = flagged or numbered([*rows.header], ROLES["rating"].words)
    words = [each_once(spelled, rows.seen(name)) for name in names]
    counts = {sum(word in _ONE for word in row) for row in zip(*words, strict=False)}
    if len(names) > 2 and counts == {1} and {*chain(*words)} <= {*_ONE, 0.0, "false"}:
        problem = (
            f"one rating in several columns: of {listed(names)} one is 1 in each row"
        )
        remedy = "write a column 'rating' that says which"
        raise InputError(problem, path=rows.name, remedy=remedy)


def _check_ratings(rows: Gathered, roles: Roles, unread: Names) -> None:
    """Raises InputError for numbered columns of further ratings, or where only such are there."""
    chosen = roles.all("rating")
    stems = {stem(name) for name in chosen} or ROLES["rating"].words
    siblings = [
        name for name in numbered(unread, stems) if hold_ratings(rows.seen(name))
    ]
    if siblings:
        several = listed(siblings)
        columns_said = f"{several} beside '{chosen[0]}'" if chosen else several
        problem = f"ratings in several columns, of which some would be left unread: {columns_said}"
        raise InputError(
            problem, path=rows.name, remedy=reading_all((*chosen, *siblings))
        )


def hold_ratings(cells: Cells) -> bool:
    """Whether all cells that are not blank are numbers or words for ratings; not if all are."""
    words = {*map(spelled, cells)} - {None, *BLANKS}
    return bool(words) and all(
        isinstance(word, float) or word in PAIRED for word in words
    )


def _check_texts(rows: Gathered, roles: Roles, unread: Names) -> None:
    """Raises InputError where another column of texts may hold what the systems wrote."""
    chosen = roles.column("text") or ""
    aliases = names_of(role for role in ROLES if role != "dimension")
    unnamed = (name for name in unread if folded(name) not in aliases)
    texts = [name for name in unnamed if are_texts(rows.seen(name))]
    differing = [name for name in texts if _differs_instead(rows, roles, chosen, name)]
    if differing:
        why = f": '{chosen}' is the same for all systems of an item, {listed(differing)} is not"
    else:
        uncertain = folded(chosen) not in OF_OUTPUTS
        differing = [name for name in texts if uncertain and is_called_output(name)]
        differing = [
            name
            for name in differing
            if not _contains(rows.seen(name), rows.seen(chosen))
        ]
        why = ""
    if differing:
        names = [*differing, chosen]
        commands = " or ".join(naming("text", name) for name in names)
        problem = f"more than one column could be the text: {listed(names)}{why}"
        raise InputError(problem, path=rows.name, remedy=f"choose with {commands}")


def is_called_output(name: str) -> bool:
    """Whether a word of the name is one for outputs, and none is for what they should be."""
    words = {*re.split(r"[_.]", folded(name))}
    return not words.isdisjoint(OF_OUTPUTS) and words.isdisjoint(NO_OUTPUT)


def _contains(cells: Cells, texts: Cells) -> bool:
    """Whether most cells are a text with something around it: a raw form of the same output."""
    pairs = [
        (str(cell), str(text).strip()) for cell, text in zip(cells, texts, strict=False)
    ]
    return sum(text in cell for cell, text in pairs) > len(pairs) / 2


def _differs_instead(rows: Gathered, roles: Roles, chosen: str, name: str) -> bool:
    """Whether systems that share an item share the chosen column too, but not the other one."""
    system = roles.column("system")
    item = roles.column("item") or roles.column("source") or chosen
    if system is None:
        return False
    items = rows.seen(item)
    sizes = np.array(n_within(items, range(len(items))))
    n_systems, n_chosen, n_different = (
        np.array(n_within(items, rows.seen(column)))
        for column in (system, chosen, name)
    )
    shared = n_systems > 1
    return bool(
        shared.sum() >= ENOUGH
        and sizes[shared].sum() >= len(items) / 2
        and (n_chosen[shared] == 1).mean() >= 0.9
        and (n_different[shared] > 1).mean() >= 0.5
    )
