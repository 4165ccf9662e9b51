"""Pairs of texts of which people said which is better: TRL, HelpSteer 2, Arena, plain tables.

Each choice becomes two rated rows of one item: 1 for the text that was preferred, 0 for the other,
and 0.5 each for a tie.
"""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from refless.data.choices import SCALE, item_of
from refless.data.tables.cells import shown
from refless.data.tables.columns import ALIASES, Columns, flagged, matches
from refless.data.tables.exports.format import (
    About,
    Entry,
    Export,
    Reader,
    at,
    items,
    name_in,
    python_in,
    text_in,
)
from refless.data.tables.source import Row
from refless.registry.errors import InputError

TITLE, NAME = "preference pairs", "preference-pairs"
TEXTS = ("output", "text", "response", "answer", "completion", "candidate", "conversation")
ENDS = (("_a", "_b"), ("_1", "_2"))
STRENGTH, NEITHER = "preference_strength", -100
WINNERS = ("winner", "preferred", "preference", STRENGTH)
FIRST = {"a", "1", "first", "left", "model_a", "model_1", "output_a", "output_1"}
SECOND = {"b", "2", "second", "right", "model_b", "model_2", "output_b", "output_2"}
TIES = {"tie", "tied", "both", "same", "equal", "draw", "tie (bothbad)", "both_bad", "bothbad"}
ASKED = "\n\nAssistant:"  # of strings that hold a whole dialogue
AS_THEY_ARE = ("group", "task")  # roles whose columns, if a flag names them, are read as they are


class Sides(NamedTuple):
    """Which columns are what: the two texts, who won, and the ends of names of the two sides."""

    first: str
    second: str
    winner: str | None
    ends: tuple[str, str]


def sides_in(row: Mapping[str, object]) -> Sides | None:
    """The columns of pairs; None where there are none."""
    if "chosen" in row and "rejected" in row:
        return Sides("chosen", "rejected", None, ("_chosen", "_rejected"))
    winner = next((name for name in WINNERS if name in row), None)
    for text in TEXTS if winner else ():
        for a, b in ENDS:
            if text + a in row and text + b in row:
                return Sides(text + a, text + b, winner, (a, b))
    return None


def is_pairs(row: Mapping[str, object]) -> bool:
    """Preference pairs."""
    return sides_in(row) is not None


def read_pairs(about: About) -> Reader:
    """Reads each choice between two texts as two rated rows.

    Raises:
        InputError: if outputs are read, which pairs are not.
    """
    if not about.rated:
        found = "preference pairs are rated texts: they say which of two is better"
        remedy = "give them with --rated, or --input-format jsonl to read plain rows as outputs"
        raise InputError(found, path=about.path, remedy=remedy)
    columns, left, about.notes.scale = about.reading.columns, about.notes.left_out, SCALE

    def read(row: Row) -> Entry | InputError | None:
        sides = sides_in(row)
        if sides is None:
            remedy = "give two texts and who won, such as output_a, output_b and winner"
            return InputError("no pair of texts", remedy=remedy)
        own = _of_role(row, columns, "source")
        source, first, second = _texts(row, sides, sourced=own is not None)
        if first == second and first is not None:
            left["choices between two equal texts"] += 1
            return None
        record = _record(row, columns, source if own is None else text_in(own))
        both = [_side(row, sides, place, columns) for place in (0, 1)]
        both[0][_name(columns, "text")], both[1][_name(columns, "text")] = first, second
        systems = [one.get(_name(columns, "system")) for one in both]
        if nameless := [name for name in systems if isinstance(name, list | dict)]:
            problem = f"{shown(nameless[0])} is not a name"
            return InputError(problem, remedy="names must be strings or numbers")
        winners = [_winner(word, sides, systems) for word in _votes(row, sides)]
        left["choices of neither text"] += winners.count(NEITHER)
        known = [word for word in winners if word != NEITHER]
        if wrong := [word for word in known if not isinstance(word, float)]:
            remedy = "write a or b (1 or 2 where the columns end so), tie, or the system's name"
            found = f"who won is not understood: {wrong[0]!s:.60}"
            return InputError(found, remedy=remedy, column=sides.winner)
        rated = [side for won in known for side in _rated(both, won, record, columns)]
        return Entry(record, rated) if rated else None

    return read


def _rated(both: list[Row], won: object, record: Row, columns: Columns) -> Iterator[Row]:
    """The two rated rows of a choice; who judges the same pair rates the same rows."""
    names = [_name(columns, role) for role in ("source", "text", "system")]
    keys = [repr([record.get(names[0]), *(one.get(name) for name in names[1:])]) for one in both]
    item = item_of(keys)
    for side, key, rating in zip(both, keys, (won, 1.0 - float(str(won))), strict=True):
        name = f"{item}, {1 + sorted(keys).index(key)}"
        own = {"item": item, "id": name, "rating": rating}
        yield side | {_name(columns, role): value for role, value in own.items()}


def _name(columns: Columns, role: str) -> str:
    """The column in which a role is looked for."""
    return next(iter(flagged(columns, role)), role)


def _record(row: Row, columns: Columns, source: str | None) -> Row:
    """What both rows share: the source, who chose, and the columns that flags name."""
    annotator = _of_role(row, columns, "annotator", "judge")
    values = {"source": source or None, "annotator": annotator}
    record = {_name(columns, role): value for role, value in values.items() if value is not None}
    named = {name for role in AS_THEY_ARE for name in flagged(columns, role)}
    return record | {name: row[name] for name in named & row.keys()}


def _side(row: Row, sides: Sides, place: int, columns: Columns) -> Row:
    """The system and the scores of one of the two texts."""
    end = sides.ends[place]
    word = end.removeprefix("_")
    ends, begins = f"{{}}{end}", f"{word}_{{}}"
    side: Row = {}
    for name in row:
        for base in (name.removesuffix(end), name.removeprefix(f"{word}_")):
            if base != name and any(matches(base, score) for score in columns.score):
                side[base] = row[name]
    roles = (columns.system,) if columns.system else ALIASES["system"]
    system = _first(row, [form.format(role) for form in (ends, begins) for role in roles])
    return side if system is None else side | {_name(columns, "system"): system}


def _texts(row: Row, sides: Sides, *, sourced: bool) -> tuple[str | None, object, object]:
    """What both texts begin with, None for nothing, and the two texts."""
    a, b = (_turns(row.get(name)) for name in sides[:2])
    if isinstance(a, list) and isinstance(b, list):
        same = _shared(a, b)
        return text_in(a[:same]) if same else None, text_in(a[same:]), text_in(b[same:])
    if sourced or not (isinstance(a, str) and isinstance(b, str)):
        return None, a, b
    cut, begin = _cut(a, b)
    return a[:cut].strip() or None, a[begin:].strip(), b[begin:].strip()


def _turns(cell: object) -> object:
    """A chat that is written as JSON as a list; all else as it is."""
    if isinstance(cell, str) and cell.startswith("[{"):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell


def _shared(a: list[object], b: list[object]) -> int:
    """Turns that two chats begin with; each keeps one at least."""
    most = max(0, min(len(a), len(b)) - 1)
    return next((i for i in range(most) if a[i] != b[i]), most)


def _cut(a: str, b: str) -> tuple[int, int]:
    """Where the prompt ends that two strings begin with, and where the texts begin.

    It ends with its last line, or before the assistant speaks.
    """
    most = min(len(a), len(b))
    same = next((i for i in range(most) if a[i] != b[i]), most)
    cut = a.rfind(ASKED, 0, same)
    if cut >= 0:
        return cut, cut + len(ASKED)
    cut = a.rfind("\n", 0, same) + 1
    return cut, cut


def _votes(row: Row, sides: Sides) -> Iterator[object]:
    """What each person said; of HelpSteer 2 one by one if that is there."""
    if sides.winner is None:
        yield "tie" if str(row.get("tie")).strip().casefold() == "true" else "a"
        return
    each = row.get("all_preferences_unprocessed")
    strengths = [at(python_in(one), "strength") for one in items(python_in(each))]
    known = [one for one in strengths if one is not None]
    yield from known or [row.get(sides.winner)]


def _winner(word: object, sides: Sides, systems: list[object]) -> object:
    """1, 0.5 or 0 of the first; `NEITHER`; what is not understood stays as it is."""
    if sides.winner == STRENGTH and isinstance(word, int | float) and word == word:
        return NEITHER if word == NEITHER else 0.5 if word == 0 else float(word < 0)
    whole = int(word) if isinstance(word, float) and word.is_integer() else word
    name = (name_in(whole) or "").strip().casefold()
    if name in {"1", "2"} and sides.ends != ("_1", "_2"):
        return repr(word)  # of a and b, is 1 the first, or true?
    called = [(name_in(system) or "").casefold() for system in systems]
    for value, names, system in ((1.0, FIRST, called[0]), (0.0, SECOND, called[1])):
        if name in names or (name and name == system and called[0] != called[1]):
            return value
    return 0.5 if name in TIES else repr(word)


def _of_role(row: Row, columns: Columns, role: str, *more: str) -> object:
    named = getattr(columns, role)
    return _first(row, (named,) if named else (*ALIASES[role], *more))


def _first(row: Row, names: tuple[str, ...] | list[str]) -> object:
    return next((row[name] for name in names if row.get(name) is not None), None)


KNOWN = ("text", "rating", "source", "system", "annotator", "id", "item")
PAIRS = Export(title=TITLE, looks_like=is_pairs, start=read_pairs, roles=KNOWN)
