"""Pairs of texts of which people said which is better: TRL, HelpSteer 2, Arena, plain tables.

Each choice becomes two rated rows of one item: 1 for the text that was preferred, 0 for the other,
and 0.5 each for a tie.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count
from typing import NamedTuple

from refless.data.choices import SCALE, item_of
from refless.data.tables.cells import name_of_cell, text_of_cell
from refless.data.tables.columns import flagged, is_dimension, matches
from refless.data.tables.exports.format import (
    Entry,
    Export,
    Reader,
    ReaderRequest,
    at,
    items,
    name_in,
    python_in,
    text_in,
)
from refless.data.tables.ratings import spelled
from refless.data.tables.reading import Row
from refless.data.tables.roles import ROLES, Columns
from refless.data.tables.spellings import folded
from refless.registry.dialect import called
from refless.registry.errors import InputError

TITLE = "preference pairs"
NAME = "preference-pairs"
TEXTS = (
    "output",
    "text",
    "response",
    "answer",
    "completion",
    "candidate",
    "conversation",
)
ENDS = (("_a", "_b"), ("_1", "_2"))
STRENGTH = "preference_strength"
NEITHER = -100
STRENGTHS: dict[float, float] = {NEITHER: NEITHER, 0: 0.5}  # of others the sign counts
ALPACA_EVAL = ("preference", ("_1", "_2"))  # from 1, the first, to 2
WINNERS = ("winner", "preferred", "preference", STRENGTH)
ONE_HOT = {"winner_model_a", "winner_model_b"}  # columns of 0 and 1
OUTCOMES = {*ONE_HOT, "winner_tie"}
FIRST = {"a", "1", "first", "left", "model_a", "model_1", "output_a", "output_1"}
SECOND = {"b", "2", "second", "right", "model_b", "model_2", "output_b", "output_2"}
TIES = {
    "tie",
    "tied",
    "both",
    "same",
    "equal",
    "draw",
    "tie_(bothbad)",
    "both_bad",
    "bothbad",
}
_SIDE = re.compile(r"[a-z]+_([ab12])")  # response a
ASKED = "\n\nAssistant:"  # of strings that hold a whole dialogue
# roles whose columns, if a flag names them, are read as they are
AS_THEY_ARE = (
    "group",
    "task",
)


class Sides(NamedTuple):
    """Columns of pairs: the two texts, who won, and the ends of names of the two sides.

    Votes on systems alone have no texts: `has_texts` is false, and both systems have columns.
    """

    first: str
    second: str
    winner: str | None
    ends: tuple[str, str]
    has_texts: bool = True


def sides_in(row: Mapping[str, object]) -> Sides | None:
    """The columns of pairs, whose names are folded; None where there are none."""
    if "chosen" in row and "rejected" in row:
        return Sides("chosen", "rejected", None, ("_chosen", "_rejected"))
    winner = next((name for name in WINNERS if name in row), None)
    for text in TEXTS if winner else ():
        for a, b in ENDS:
            if text + a in row and text + b in row:
                return Sides(text + a, text + b, winner, (a, b))
    for system in ROLES["system"].names if winner else ():
        for a, b in ENDS:
            if system + a in row and system + b in row:
                return Sides(system + a, system + b, winner, (a, b), has_texts=False)
    return None


def is_pairs(row: Mapping[str, object]) -> bool:
    """Preference pairs, however their columns are spelled."""
    return sides_in(_with_folded(row)) is not None


def _with_folded(row: Mapping[str, object]) -> Row:
    """A row that has its cells under folded names, too: `Response A` is `response_a`.

    Of columns such as `winner_model_a` and `winner_tie` the one that is 1 says who won.
    """
    cells = {folded(name): cell for name, cell in row.items()}
    if cells.keys() >= ONE_HOT:
        ones = [
            name for name in cells if name in OUTCOMES and spelled(cells[name]) == 1
        ]
        cells["winner"] = ones[0].removeprefix("winner_") if len(ones) == 1 else None
    return {**cells, **row}


def read_pairs(about: ReaderRequest) -> Reader:
    """Reads each choice between two texts as two rated rows.

    Raises:
        InputError: if outputs are read, which pairs are not.
    """
    if not about.rated:
        problem = "preference pairs are rated texts: they say which of two is better"
        as_rows = called("reading", {"format": "jsonl"})
        remedy = f"give them with {called('rated')}, or {as_rows} to read plain rows as outputs"
        raise InputError(problem, path=about.path, remedy=remedy)
    about.notes.scale = SCALE
    places = map(f"{about.path}:{{}}".format, count(1))
    return lambda row: _entry(row, about, next(places))


def _of_both(row: Row, columns: Columns, source: str | None) -> Row:
    """The cells that both texts of a choice share."""
    who = _of_role(row, columns, "annotator", "user", "judge")
    usual = {
        _name(columns, "source"): source or None,
        _name(columns, "annotator"): ", ".join(map(str, items(who))) or who,
    }
    names = {*chain(*(flagged(columns, role) for role in AS_THEY_ARE))}
    shared: Row = {name: value for name, value in usual.items() if value is not None}
    return shared | {name: row[name] for name in names & row.keys()}


def _entry(row: Row, about: ReaderRequest, place: str) -> Entry | InputError | None:
    """A choice with two rated rows for each vote; a fault of either text is one of the choice.

    What votes without texts are about is the row, at this place, unless an id or item names it.
    """
    columns = about.reading.columns
    left_out = about.notes.left_out
    criteria = {
        name: cell
        for name, cell in row.items()
        if folded(name) in ROLES["dimension"].weak
    }
    row = _with_folded(row)
    sides = sides_in(row)
    if sides is None:
        remedy = "give two texts and who won, such as output_a, output_b and winner"
        return InputError("no pair of texts", remedy=remedy)
    source = _of_role(row, columns, "source")
    criteria = {name: cell for name, cell in criteria.items() if cell != source}
    if not sides.has_texts and source is None:
        item = _of_role(row, columns, "item", "question_id", "id")
        source = place if item is None else str(item)
    prompt, *texts = _texts(row, sides, sourced=source is not None)
    if texts[0] == texts[1] and texts[0] is not None:
        left_out["choices between two equal texts"] += 1
        return None
    shared = _of_both(row, columns, prompt if source is None else text_in(source))
    record = shared | criteria
    pair = [
        _side(row, end, text, columns)
        for end, text in zip(sides.ends, texts, strict=True)
    ]
    if not sides.has_texts:
        for side in pair:
            del side[_name(columns, "text")]
    checked = ("text", "system") if sides.has_texts else ("system",)
    if fault := _fault(pair, columns, checked):
        return fault
    systems = [side.get(_name(columns, "system")) for side in pair]
    votes = [_winner(word, sides, systems) for word in _votes(row, sides)]
    left_out["choices of neither text"] += votes.count(NEITHER)
    votes = [vote for vote in votes if vote != NEITHER]
    if wrong := [vote for vote in votes if not isinstance(vote, float)]:
        remedy = (
            "write a or b (1 or 2 where the columns end so), tie, or the system's name"
        )
        problem = f"who won is not understood: {wrong[0]!s:.60}"
        return InputError(problem, remedy=remedy, column=sides.winner)
    ratings = [*chain(*(_rated(pair, vote, record, columns) for vote in votes))]
    return _entry_of(record, ratings, row.get(_name(columns, "dimension")), about)


def _entry_of(
    record: Row, ratings: list[Row], dimension: object, about: ReaderRequest
) -> Entry | None:
    """The ratings of a choice, if there are any and they are of the dimension that is read."""
    if dimension in (None, ""):
        return Entry(record, ratings) if ratings else None
    if not is_dimension(str(dimension), about.reading.dimension):
        about.notes.dimensions[str(dimension)] += len(ratings)
        return None
    return Entry(record, [rating | {"dimension": dimension} for rating in ratings])


def _fault(
    pair: list[Row], columns: Columns, roles: Sequence[str]
) -> InputError | None:
    """The fault of the text or the system of either side, if there is one."""
    checks = {"text": text_of_cell, "system": name_of_cell}
    for role in roles:
        for side in pair:
            try:
                checks[role](side.get(_name(columns, role)))
            except InputError as fault:
                return InputError(
                    fault.found, remedy=fault.remedy, column=_name(columns, role)
                )
    systems = [side.get(_name(columns, "system")) for side in pair]
    if sum(system in (None, "") for system in systems) == 1:
        remedy = "name the systems of both texts, or of neither"
        return InputError("no system", remedy=remedy, column=_name(columns, "system"))
    return None


def _rated(
    pair: list[Row], vote: object, record: Row, columns: Columns
) -> Iterator[Row]:
    """The two rated rows of a choice; who judges the same pair rates the same rows."""
    source, *of_side = (_name(columns, role) for role in ("source", "text", "system"))
    keys = [repr([record.get(source), *map(side.get, of_side)]) for side in pair]
    item = item_of(keys)
    for side, key, rating in zip(
        pair, keys, (vote, 1.0 - float(str(vote))), strict=True
    ):
        name = f"{item}, {1 + sorted(keys).index(key)}"
        values = {"item": item, "id": name, "rating": rating}
        yield side | {_name(columns, role): value for role, value in values.items()}


def _name(columns: Columns, role: str) -> str:
    """The column in which a role is looked for."""
    return next(iter(flagged(columns, role)), role)


def _side(row: Row, end: str, text: object, columns: Columns) -> Row:
    """One of the two texts with its system and its scores, whose names end or begin as its own."""
    begin = f"{end.removeprefix('_')}_"
    spellings = {folded(score): score for score in columns.score}
    side: Row = {}
    for name, cell in row.items():
        for base in (name.removesuffix(end), name.removeprefix(begin)):
            is_score = any(matches(base, score) for score in spellings)
            if base != name and is_score:
                side[spellings.get(base, base)] = cell
    roles = (folded(columns.system),) if columns.system else ROLES["system"].names
    names = [f"{role}{end}" for role in roles] + [f"{begin}{role}" for role in roles]
    if (system := _first(row, names)) is not None:
        side[_name(columns, "system")] = system
    return side | {_name(columns, "text"): text}


def _texts(
    row: Row, sides: Sides, *, sourced: bool
) -> tuple[str | None, object, object]:
    """The prompt with which both texts begin, None for no prompt, and the two texts."""
    a = _turns(row.get(sides.first))
    b = _turns(row.get(sides.second))
    if isinstance(a, list) and isinstance(b, list):
        count = _shared(a, b, max(0, min(len(a), len(b)) - 1))  # each keeps one turn
        return (
            text_in(a[:count]) if count else None,
            text_in(a[count:]),
            text_in(b[count:]),
        )
    if sourced or not (isinstance(a, str) and isinstance(b, str)):
        return None, a, b
    cut, begin = _cut(a, b)
    return a[:cut].strip() or None, a[begin:].strip(), b[begin:].strip()


def _turns(cell: object) -> object:
    """A chat that is written as JSON as a list; all else as it is."""
    if isinstance(cell, str) and cell.startswith("[{"):
        with suppress(ValueError, RecursionError):
            return json.loads(cell)
    return cell


def _shared(a: Sequence[object], b: Sequence[object], limit: int) -> int:
    """Turns or characters that both begin with, at most so many."""
    return next((i for i in range(limit) if a[i] != b[i]), limit)


def _cut(a: str, b: str) -> tuple[int, int]:
    """The end of the shared prompt, with a line or before the assistant, and the texts' start."""
    count = _shared(a, b, min(len(a), len(b)))
    cut = a.rfind(ASKED, 0, count)
    if cut >= 0:
        return cut, cut + len(ASKED)
    cut = a.rfind("\n", 0, count) + 1
    return cut, cut


def _votes(row: Row, sides: Sides) -> Iterator[object]:
    """The vote of each person; of HelpSteer 2 one by one if they are there."""
    if sides.winner is None:
        yield "tie" if str(row.get("tie")).strip().casefold() == "true" else "a"
        return
    people = items(python_in(row.get("all_preferences_unprocessed")))
    strengths = [at(python_in(preference), "strength") for preference in people]
    yield from [n for n in strengths if n is not None] or [row.get(sides.winner)]


def _winner(word: object, sides: Sides, systems: list[object]) -> object:
    """1, 0.5 or 0 of the first; `NEITHER`; what is not understood stays as it is."""
    if sides.winner == STRENGTH and isinstance(word, int | float) and word == word:
        return STRENGTHS.get(word, float(word < 0))
    read = spelled(word)
    is_alpaca_eval = (sides.winner, sides.ends) == ALPACA_EVAL
    if is_alpaca_eval and isinstance(read, float) and 1 < read < 2:
        return 2 - read
    number = int(word) if isinstance(word, float) and word.is_integer() else word
    name = (name_in(number) or "").strip().casefold()
    side_name = folded(name)
    if name in {"1", "2"} and sides.ends != ("_1", "_2"):
        return repr(word)  # of a and b, is 1 the first, or true?
    first, second = [(name_in(system) or "").casefold() for system in systems]
    if name not in {first, second} and (side := _SIDE.fullmatch(side_name)):
        side_name = side[1]
    are_told_apart = bool(name) and first != second
    if side_name in FIRST or (are_told_apart and name == first):
        return 1.0
    if side_name in SECOND or (are_told_apart and name == second):
        return 0.0
    return 0.5 if side_name in TIES else repr(word)


def _of_role(row: Row, columns: Columns, role: str, *more: str) -> object:
    named = getattr(columns, role)
    return _first(row, (named,) if named else (*ROLES[role].words, *more))


def _first(row: Row, names: Sequence[str]) -> object:
    return next((row[name] for name in names if row.get(name) is not None), None)


KNOWN = ("text", "rating", "source", "system", "annotator", "id", "item")
PAIRS = Export(title=TITLE, looks_like=is_pairs, start=read_pairs, roles=KNOWN)
