"""Columns that nobody reads: they are named; one that looks as much like the answer is refused."""

import re
from collections.abc import Iterator, Sequence

from refless.data.tables.columns import (
    ALIASES,
    Columns,
    Roles,
    flag_of,
    flagged_names,
    folded,
    listed,
    matches,
    numbered,
    reading_all,
    stem,
    unclear,
)
from refless.data.tables.load_columns import Gathered
from refless.data.tables.ratings import BLANKS, PAIRED, spelled
from refless.registry.errors import InputError

SHOWN = 8  # names in the sentence
ENOUGH = 3  # items that tell which of two columns differs between systems
WORDS = 3  # of a text, on average at least
UNCERTAIN = ("text", "answer", "reply", "candidate")  # names of outputs, and of what is no output
OF_OUTPUTS = frozenset(
    {
        *("prediction", "predicted", "generation", "generated", "summary", "hypothesis"),
        *("translation", "assistant", "output", "response", "completion"),
    }
)
NO_OUTPUT = frozenset({"gold", "reference", "expected", "target", "ideal", "correct", "human"})
_PLACE = re.compile(r"(?<=\.)\d+(?=\.)")


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
    scores = [name for name in unclear(unread) if roles.all("rating")]
    names = [*scores, *dict.fromkeys(_PLACE.sub("*", name) for name in unread)]
    if names:
        remedy = "; --score-column reads a judge's scores, in commands that have it"
        shown = listed([*dict.fromkeys(names)], SHOWN)
        yield f"{rows.name}: left unread: {shown}{remedy if scores else ''}"


def _unread(rows: Gathered, roles: Roles, columns: Columns) -> list[str]:
    """Columns that no role and no flag has, without those that are opened by dotted names."""
    used = {*flagged_names(columns), *(name for role in roles.columns for name in roles.all(role))}
    if rows.dimensions:
        used.add(columns.dimension or ALIASES["dimension"][0])
    names = [name for name in rows.header if name and not any(matches(name, n) for n in used)]
    opened = {name.rpartition(".")[0] for name in rows.header if "." in name}
    return [name for name in names if name not in opened]


def _check_ratings(rows: Gathered, roles: Roles, unread: Sequence[str]) -> None:
    """Raises InputError for numbered columns of further ratings, or where only such are there."""
    chosen = roles.all("rating")
    stems = {stem(name) for name in chosen} or ALIASES["rating"]
    more = [name for name in numbered(unread, stems) if _holds_ratings(rows.seen(name))]
    if more:
        several = ", ".join(f"'{name}'" for name in more)
        beside = f"{several} beside '{chosen[0]}'" if chosen else several
        problem = f"ratings in several columns, of which some would be left unread: {beside}"
        raise InputError(problem, path=rows.name, remedy=reading_all((*chosen, *more)))


def _holds_ratings(cells: Sequence[object]) -> bool:
    """Whether all cells that are not blank are numbers or words for ratings; not if all are."""
    words = {word for word in map(spelled, cells) if word is not None and word not in BLANKS}
    return bool(words) and all(isinstance(word, float) or word in PAIRED for word in words)


def _check_texts(rows: Gathered, roles: Roles, unread: Sequence[str]) -> None:
    """Raises InputError where another column of texts may hold what the systems wrote."""
    chosen = roles.column("text") or ""
    known = {alias for role in ALIASES for alias in ALIASES[role]}
    others = [name for name in unread if folded(name) not in known]
    others = [name for name in others if _holds_texts(rows.seen(name))]
    differ = [name for name in others if _differs_instead(rows, roles, chosen, name)]
    if differ:
        why = f": '{chosen}' is the same for all systems of an item, {listed(differ)} is not"
    else:
        uncertain = folded(chosen) in UNCERTAIN
        differ = [name for name in others if uncertain and _called_output(name)]
        why = ""
    if differ:
        names = [*differ, chosen]
        commands = " or ".join(f"{flag_of('text')}={name}" for name in names)
        problem = f"more than one column could be the text: {listed(names)}{why}"
        raise InputError(problem, path=rows.name, remedy=f"choose with {commands}")


def _called_output(name: str) -> bool:
    words = {*re.split(r"[_.]", folded(name))}
    return not words.isdisjoint(OF_OUTPUTS) and words.isdisjoint(NO_OUTPUT)


def _holds_texts(cells: Sequence[object]) -> bool:
    """Whether the cells are strings of several words."""
    filled = [cell for cell in cells if cell not in (None, "")]
    texts = [cell for cell in filled if isinstance(cell, str)]
    n_words = sum(len(text.split()) for text in texts)
    return 0 < len(texts) == len(filled) and n_words >= WORDS * len(texts)


def _differs_instead(rows: Gathered, roles: Roles, chosen: str, other: str) -> bool:
    """Whether systems that share an item share the chosen column too, but not the other one."""
    system = roles.column("system")
    item = roles.column("item") or roles.column("source") or chosen
    if system is None:
        return False
    groups: dict[str, list[tuple[str, str, str]]] = {}
    columns = [rows.seen(name) for name in (item, system, chosen, other)]
    for key, *cells in zip(*columns, strict=False):
        groups.setdefault(repr(key), []).append((repr(cells[0]), repr(cells[1]), repr(cells[2])))
    shared = [group for group in groups.values() if len({cells[0] for cells in group}) > 1]
    same = [len({cells[1] for cells in group}) == 1 for group in shared]
    differ = [len({cells[2] for cells in group}) > 1 for group in shared]
    n_rows = sum(map(len, shared))
    return (
        len(shared) >= ENOUGH
        and n_rows >= len(columns[0]) / 2
        and sum(same) >= 0.9 * len(shared)
        and sum(differ) >= 0.5 * len(shared)
    )
