"""Columns that nobody reads: they are named; one that looks as much like the answer is refused."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from refless.data.tables.columns import (
    ALIASES,
    CRITERIA,
    OF_SENTENCES,
    Columns,
    Roles,
    flag_of,
    flagged_names,
    listed,
    matches,
    reading_all,
    unclear,
    usual_names,
)
from refless.data.tables.load_columns import Gathered
from refless.data.tables.ratings import BLANKS, PAIRED, spelled
from refless.data.tables.spellings import at_any_place, folded, numbered, stem
from refless.registry.errors import InputError

MOST_NAMES = 8  # names in the sentence
MOST_CRITERIA = 30
MOST_COMMANDS = 4
ENOUGH = 3  # items that tell which of two columns differs between systems
WORDS = 3  # of a text, on average more
LETTERS = 60  # of a text that is no name of a system or task, on average more
UNCERTAIN = ("text", "answer", "reply", "candidate")  # names of outputs, and of what is no output
OF_OUTPUTS = frozenset(
    {
        *("prediction", "predicted", "generation", "generated", "summary", "hypothesis"),
        *("translation", "assistant", "output", "response", "completion"),
    }
)
NO_OUTPUT = frozenset({"gold", "reference", "expected", "target", "ideal", "correct", "human"})


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
    if roles.all("rating"):
        _check_criteria(rows, roles, columns, unread)
    scores = unclear(unread) if roles.all("rating") else []
    if unread:
        names = dict.fromkeys([*scores, *map(at_any_place, unread)])
        sentences = [f"left unread: {listed([*names], MOST_NAMES)}"]
        if scores:
            sentences.append("--score-column reads a judge's scores, in commands that have it")
        sentences += [
            f"'{name}' does not look like the {role}; {_remedy(role, name)}"
            for role in roles.looked_up
            for name in unread
            if not fits(rows, role, name, roles.columns)
        ]
        yield f"{rows.name}: {'; '.join(sentences)}"


def _remedy(role: str, name: str) -> str:
    """What has a column read in a role that its values do not fit."""
    if role == "probability":  # compare alone looks for it
        return f"'{ALIASES[role][-1]}' would be read, whatever it holds"
    return f"{flag_of(role)}={name} reads it so"


def fits(rows: Gathered, role: str, name: str, chosen: Mapping[str, Sequence[str]]) -> bool:
    """Whether what a column holds fits a role that it has a usual name of.

    A column of sentences names no annotator, system or task. Chances of having been drawn to be
    rated are equal within a system, or within an item of several.
    """
    word = folded(name)
    if word not in usual_names(role):
        return True
    cells = rows.seen(name)
    if word in OF_SENTENCES:
        return _holds_texts(cells) == (OF_SENTENCES[word] == role)
    if role in {"annotator", "system", "task"}:
        n_letters = sum(len(cell) for cell in cells if isinstance(cell, str))
        return not (_holds_texts(cells) and n_letters > LETTERS * len(cells))
    if word == "probability":
        within = ("system", "item", "source")
        groups = [rows.seen(column) for other in within for column in chosen.get(other, ())]
        return not groups or any(_is_shared(cells, group) for group in groups)
    return True


def _is_shared(cells: Sequence[object], groups: Sequence[object]) -> bool:
    """Whether the cells that are filled are all equal, or equal in groups of which some repeat."""
    pairs = [(repr(group), str(cell)) for group, cell in zip(groups, cells, strict=False)]
    filled = [(group, cell) for group, cell in pairs if cell not in {"None", ""}]
    n_values = len({cell for _, cell in filled})
    n_groups = len({group for group, _ in filled})
    return n_values <= 1 or len({*filled}) == n_groups < len(filled)


def _unread(rows: Gathered, roles: Roles, columns: Columns) -> list[str]:
    """Columns that no role and no flag has, without those that are opened by dotted names."""
    flags = {*flagged_names(replace(columns, rating=()))}  # whose patterns leave some out
    used = {*flags, *(name for role in roles.columns for name in roles.all(role))}
    used |= {*roles.raters.values(), *rows.conditional, *rows.known}
    if rows.dimensions:
        used |= {columns.dimension or "", "dimension"}
    names = [name for name in rows.header if name and not any(matches(name, n) for n in used)]
    opened = {name.rpartition(".")[0] for name in rows.header if "." in name}
    return [name for name in names if name not in opened]


def _check_ratings(rows: Gathered, roles: Roles, unread: Sequence[str]) -> None:
    """Raises InputError for numbered columns of further ratings, or where only such are there."""
    chosen = roles.all("rating")
    stems = {stem(name) for name in chosen} or ALIASES["rating"]
    siblings = [name for name in numbered(unread, stems) if _holds_ratings(rows.seen(name))]
    if siblings:
        several = ", ".join(f"'{name}'" for name in siblings)
        columns_said = f"{several} beside '{chosen[0]}'" if chosen else several
        problem = f"ratings in several columns, of which some would be left unread: {columns_said}"
        raise InputError(problem, path=rows.name, remedy=reading_all((*chosen, *siblings)))


def _holds_ratings(cells: Sequence[object]) -> bool:
    """Whether all cells that are not blank are numbers or words for ratings; not if all are."""
    words = {word for word in map(spelled, cells) if word is not None and word not in BLANKS}
    return bool(words) and all(isinstance(word, float) or word in PAIRED for word in words)


def _check_texts(rows: Gathered, roles: Roles, unread: Sequence[str]) -> None:
    """Raises InputError where another column of texts may hold what the systems wrote."""
    chosen = roles.column("text") or ""
    aliases = {alias for role in ALIASES for alias in ALIASES[role]}
    texts = [name for name in unread if folded(name) not in aliases]
    texts = [name for name in texts if _holds_texts(rows.seen(name))]
    differing = [name for name in texts if _differs_instead(rows, roles, chosen, name)]
    if differing:
        why = f": '{chosen}' is the same for all systems of an item, {listed(differing)} is not"
    else:
        uncertain = folded(chosen) in UNCERTAIN
        differing = [name for name in texts if uncertain and _called_output(name)]
        differing = [
            name for name in differing if not _contains(rows.seen(name), rows.seen(chosen))
        ]
        why = ""
    if differing:
        names = [*differing, chosen]
        commands = " or ".join(f"{flag_of('text')}={name}" for name in names)
        problem = f"more than one column could be the text: {listed(names)}{why}"
        raise InputError(problem, path=rows.name, remedy=f"choose with {commands}")


def _check_criteria(rows: Gathered, roles: Roles, columns: Columns, unread: Sequence[str]) -> None:
    """Raises InputError where ratings of several criteria of a text would be pooled."""
    sources = [] if columns.source else list(roles.all("source"))
    for name in (*unread, *sources):
        if folded(name) in CRITERIA and _tells_apart(rows, roles, name):
            values = list(dict.fromkeys(str(cell) for cell in rows.all(name) if cell is not None))
            flag = flag_of("dimension")
            dimensions = [f"{flag}={name} --dimension '{value}'" for value in values]
            commands = " or ".join(dimensions[:MOST_COMMANDS])
            listed_values = f"'{name}' is {listed(values, MOST_NAMES)}"
            problem = f"ratings of several dimensions would be pooled: {listed_values}"
            raise InputError(problem, path=rows.name, remedy=f"choose one with {commands}")


def _tells_apart(rows: Gathered, roles: Roles, name: str) -> bool:
    """Whether most rows of one text, system and annotator differ in a column, one of few values.

    Turns of a conversation may differ in their texts, too. A few words, such as 'yes', are the text
    of many outputs, so they tell nothing without an id, an item or a source.
    """
    about = ["annotator", "system", "item", "source", "id", "text"]
    if folded(name) == "turn":
        about = about[: 4 if roles.column("item") or roles.column("source") else None]
    keys = [column for role in about for column in roles.all(role) if column != name]
    items = {column for role in ("id", "item", "source") for column in roles.all(role)}
    if items.isdisjoint(keys) and not _holds_texts(rows.seen(roles.column("text") or "")):
        return False
    groups: dict[str, list[str]] = {}
    for value, *key in zip(*(rows.all(column) for column in (name, *keys)), strict=False):
        groups.setdefault(repr(key), []).append(str(value))
    several = [values for values in groups.values() if len(values) > 1]
    apart = [values for values in several if len({*values}) > 1]
    n_values = len({value for values in groups.values() for value in values})
    return n_values <= MOST_CRITERIA and len(apart) > max(len(several), len(groups)) / 2


def _called_output(name: str) -> bool:
    words = {*re.split(r"[_.]", folded(name))}
    return not words.isdisjoint(OF_OUTPUTS) and words.isdisjoint(NO_OUTPUT)


def _contains(cells: Sequence[object], texts: Sequence[object]) -> bool:
    """Whether most cells are a text with something around it: a raw form of the same output."""
    pairs = [(str(cell), str(text).strip()) for cell, text in zip(cells, texts, strict=False)]
    return sum(text in cell for cell, text in pairs) > len(pairs) / 2


def _holds_texts(cells: Sequence[object]) -> bool:
    """Whether the cells are strings of several words."""
    filled = [cell for cell in cells if cell not in (None, "")]
    texts = [cell for cell in filled if isinstance(cell, str)]
    n_words = sum(len(text.split()) for text in texts)
    return 0 < len(texts) == len(filled) and n_words > WORDS * len(texts)


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
    shared_alike = [len({cells[1] for cells in group}) == 1 for group in shared]
    differing = [len({cells[2] for cells in group}) > 1 for group in shared]
    n_rows = sum(map(len, shared))
    return (
        len(shared) >= ENOUGH
        and n_rows >= len(columns[0]) / 2
        and sum(shared_alike) >= 0.9 * len(shared)
        and sum(differing) >= 0.5 * len(shared)
    )
