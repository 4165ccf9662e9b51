"""Pairs of texts of which people said which is better: TRL, HelpSteer 2, Arena, plain tables.

Each choice becomes two rated rows of one item: 1 for the text that was preferred, 0 for the other,
and 0.5 each for a tie.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, count, product
from typing import NamedTuple

from refless.data.choices import SCALE, item_of
from refless.data.tables.cells import name_of_cell, text_of_cell
from refless.data.tables.columns import (
    flagged,
    is_dimension,
    is_pattern,
    listed,
    matches,
    unclear,
)
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
from refless.data.tables.ratings import BLANKS, spelled
from refless.data.tables.reading import Row
from refless.data.tables.roles import ROLES, Columns
from refless.data.tables.spellings import folded
from refless.registry.arrays import Strings
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
_WINS = re.compile(
    r"(?:.*_)?(?:winner|better|preferred|preference|vote|choice|verdict)"
    r"(?:_(?:response|answer|output|text|model))?\??"
)
ONE_HOT = {"winner_model_a", "winner_model_b"}  # columns of 0 and 1
OUTCOMES = {*ONE_HOT, "winner_tie"}
_FIRST = "a a>b a>>b 1 first left model_a model_1 output_a output_1"
FIRST = {*_FIRST.split()}
_SECOND = "b b>a b>>a 2 second right model_b model_2 output_b output_2"
SECOND = {*_SECOND.split()}
_TIES = (
    "tie tied a=b both same equal draw tie_(bothbad) both_bad bothbad both_good neither "
    "no_preference about_the_same equally_good"
)
TIES = {*_TIES.split()}
_HOW_MUCH = re.compile(  # in `a is much better`, of which only the side counts
    "(?:^|_)(?:a_bit|a_little|a_lot|is|much|far|slightly|somewhat|clearly|significantly|strongly"
    "|better|prefer|preferred|wins?)(?=_|$)"
)
_SIDE = re.compile(r"[a-z]+_([ab12])")  # response a
SIDE = re.compile(r"(.+)[_ -]([a-z]|v?\d+|old|new)", re.IGNORECASE)  # output_v1
ASKED = "\n\nAssistant:"  # of strings that hold a whole dialogue
# roles whose columns, if a flag names them, are read as they are
AS_THEY_ARE = (
    "group",
    "task",
)
CHECKS = (("text", text_of_cell), ("system", name_of_cell))


class Sides(NamedTuple):
    """Columns of pairs: the two texts, who won, and the ends of names of the two sides.

    Votes on systems alone have no texts: `has_texts` is false, and both systems have columns.
    Columns of texts may be called by `systems`: output_old and output_new.
    """

    first: str
    second: str
    winner: str | None
    ends: tuple[str, str]
    has_texts: bool = True
    systems: tuple[str, ...] = ("", "")


def sides_in(names: Collection[str]) -> Sides | None:
    """The columns of pairs, whose names are folded; None where there are none."""
    if "chosen" in names and "rejected" in names:
        return Sides("chosen", "rejected", None, ("_chosen", "_rejected"))
    winners = [name for name in WINNERS if name in names]
    told = {folded(name) for name in names if _WINS.fullmatch(folded(name))}
    told.difference_update(unclear([*names]))
    winners += told if len(told) == 1 else ()
    winner = next(iter(winners), None)
    stems = (*TEXTS, *ROLES["system"].names) if winner else ()
    for stem, (a, b) in product(stems, ENDS):
        if stem + a in names and stem + b in names:
            has_texts = stem in TEXTS
            return Sides(stem + a, stem + b, winner, (a, b), has_texts=has_texts)
    return _by_systems(names, winner) if winner else None


def _by_systems(names: Collection[str], winner: str) -> Sides | None:
    """The columns of two texts that are called by their systems; None if there are others."""
    sides = [side for side in map(SIDE.fullmatch, names) if side]
    texts = [side for side in sides if side[1] in ROLES["text"].names]
    if len(texts) != 2 or texts[0][1] != texts[1][1]:
        return None
    a, b = texts
    ends = (a[0].removeprefix(a[1]), b[0].removeprefix(b[1]))
    return Sides(a[0], b[0], winner, ends, systems=(a[2], b[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Places of a choice in rows with certain columns, and in its rated rows.

    Attributes:
        folded: each column with its folded name: `Response A` is `response_a`.
        one_hot: whether columns such as `winner_model_a` are 1 if they won.
        sides: the pair of texts; None if there is none.
        criteria: columns of what was rated; as_they_are: of both texts, read as they are.
        sought: by role, the columns that may have it for both texts.
        scores: by side, names of scores with their columns; systems: columns of its system.
        to: by role, the column of rated rows; checks: of texts, if there are any, and systems.
    """

    folded: tuple[tuple[str, str], ...]
    one_hot: bool
    sides: Sides | None
    criteria: Strings
    as_they_are: Strings
    sought: dict[str, Strings]
    scores: tuple[tuple[tuple[str, str], ...], ...]
    systems: tuple[Strings, ...]
    to: dict[str, str]
    checks: tuple[tuple[str, Callable[[object], str]], ...]

    def unfolded(self, row: Row) -> Row:
        """The cells under folded names, too, and the winner of one of several columns."""
        cells = {name: row[column] for name, column in self.folded}
        if self.one_hot:
            won = [name for name in OUTCOMES if spelled(cells.get(name)) == 1]
            cells["winner"] = won[0].removeprefix("winner_") if len(won) == 1 else None
        return {**cells, **row}


def _layout(header: Strings, columns: Columns) -> _Layout:
    """The layout of rows with these columns, for a user's flags."""
    pairs = tuple((folded(name), name) for name in header)
    one_hot = {name for name, _ in pairs} >= ONE_HOT
    names = dict.fromkeys(name for name, _ in pairs)
    names |= dict.fromkeys(["winner"] if one_hot else [])
    names |= dict.fromkeys(header)
    sides = sides_in(names)
    ends = sides.ends if sides else ()
    as_they_are = {*chain(*(flagged(columns, role) for role in AS_THEY_ARE))}
    return _Layout(
        folded=pairs,
        one_hot=one_hot,
        sides=sides,
        criteria=tuple(n for word, n in pairs if word in ROLES["dimension"].weak),
        as_they_are=tuple(as_they_are & names.keys()),
        sought={
            "source": _sought(names, columns, "source"),
            "item": _sought(names, columns, "item", "question_id", "id"),
            "annotator": _sought(names, columns, "annotator", "user", "judge"),
        },
        scores=tuple(_scores(names, end, columns) for end in ends),
        systems=tuple(_systems(names, end, columns) for end in ends),
        to={role: _name(columns, role) for role in ROLES},
        checks=CHECKS if sides is None or sides.has_texts else CHECKS[1:],
    )


def _sought(names: Collection[str], columns: Columns, role: str, *more: str) -> Strings:
    """Columns in which a role is looked for: the one that a flag names, or the usual ones."""
    words = flagged(columns, role) or (*ROLES[role].words, *more)
    return tuple(word for word in words if word in names)


def _name(columns: Columns, role: str) -> str:
    """The column in which a role is looked for."""
    return next(iter(flagged(columns, role)), role)


def _scores(
    names: Collection[str], end: str, columns: Columns
) -> tuple[tuple[str, str], ...]:
    """Scores of one of the two texts with their columns, whose names end or begin as its own."""
    begin = f"{end.removeprefix('_')}_"
    spellings = {folded(score): score for score in columns.score}
    scores = {}
    for name in names:
        for base in (name.removesuffix(end), name.removeprefix(begin)):
            is_score = any(matches(base, score) for score in spellings)
            if base != name and is_score:
                scores[spellings.get(base, base)] = name
    return tuple(scores.items())


def _systems(names: Collection[str], end: str, columns: Columns) -> Strings:
    """Columns that may name the system of one of the two texts."""
    begin = f"{end.removeprefix('_')}_"
    roles = (folded(columns.system),) if columns.system else ROLES["system"].names
    words = [f"{role}{end}" for role in roles] + [f"{begin}{role}" for role in roles]
    return tuple(word for word in words if word in names)


def is_pairs(row: Mapping[str, object]) -> bool:
    """Preference pairs, however their columns are spelled."""
    return _layout(tuple(row), Columns()).sides is not None


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

    @cache
    def layout(header: Strings) -> _Layout:
        columns = about.reading.columns
        layout = _layout(header, columns)
        if sides := layout.sides:
            _check_scores(layout, sides.ends, columns.score, about.path)
        return layout

    return lambda row: _entry(row, layout(tuple(row)), about, next(places))


def _check_scores(layout: _Layout, ends: Strings, scores: Strings, path: str) -> None:
    """Raises InputError for a score that is to be read, and has no column of each side."""
    of_sides = [dict(of_side) for of_side in layout.scores]
    for name in scores:
        if not is_pattern(name) and any(name not in of_side for of_side in of_sides):
            wanted = " and ".join(f"'{name}{end}'" for end in ends)
            columns = listed([column for _, column in layout.folded])
            remedy = f"each text needs its own '{name}'; the columns are {columns}"
            raise InputError(f"there are no columns {wanted}", path=path, remedy=remedy)


def _of_both(row: Row, layout: _Layout, source: str | None) -> Row:
    """The cells that both texts of a choice share."""
    who = _first(row, layout.sought["annotator"])
    usual = {
        layout.to["source"]: source or None,
        layout.to["annotator"]: ", ".join(map(str, items(who))) or who,
    }
    shared: Row = {name: value for name, value in usual.items() if value is not None}
    return shared | {name: row[name] for name in layout.as_they_are}


def _entry(
    row: Row, layout: _Layout, about: ReaderRequest, place: str
) -> Entry | InputError | None:
    """A choice with two rated rows for each vote; a fault of either text is one of the choice.

    What votes without texts are about is the row, at this place, unless an id or item names it.
    """
    left_out = about.notes.left_out
    sides = layout.sides
    if sides is None:
        remedy = "give two texts and who won, such as output_a, output_b and winner"
        return InputError("no pair of texts", remedy=remedy)
    row = layout.unfolded(row)
    source = _first(row, layout.sought["source"])
    criteria = {name: row[name] for name in layout.criteria if row[name] != source}
    if not sides.has_texts and source is None:
        item = _first(row, layout.sought["item"])
        source = place if item is None else str(item)
    prompt, *texts = _texts(row, sides, sourced=source is not None)
    if texts[0] == texts[1] and texts[0] is not None:
        left_out["choices between two equal texts"] += 1
        return None
    shared = _of_both(row, layout, prompt if source is None else text_in(source))
    record = shared | criteria
    pair = _sides(row, layout, sides.systems, texts if sides.has_texts else ())
    if fault := _fault(pair, layout):
        return fault
    systems = [side.get(layout.to["system"]) for side in pair]
    words = [*_votes(row, sides)]
    said = [word for word in words if spelled(word) not in {None, *BLANKS}]
    left_out["pairs without a vote"] += len(words) - len(said)
    votes = [_winner(word, sides, systems) for word in said]
    left_out["choices of neither text"] += votes.count(NEITHER)
    known = [vote for vote in votes if isinstance(vote, float)]
    wrong = [vote for vote in votes if vote != NEITHER and vote not in known]
    if wrong:
        remedy = (
            "write a or b (1 or 2 where the columns end so), tie, or the system's name"
        )
        if all(systems):
            remedy = f"write {', '.join(map(str, systems))} or tie"
        problem = f"who won is not understood: {wrong[0]!s:.60}"
        return InputError(problem, remedy=remedy, column=sides.winner)
    ratings = [*chain(*(_rated(pair, vote, record, layout.to) for vote in known))]
    return _entry_of(record, ratings, row.get(layout.to["dimension"]), about)


def _sides(
    row: Row, layout: _Layout, usual: Strings, texts: Sequence[object]
) -> list[Row]:
    """The two sides with their scores, systems and texts, as far as there are any."""
    pair = []
    for scores, systems, one in zip(layout.scores, layout.systems, usual, strict=True):
        side = {name: row[column] for name, column in scores}
        system = _first(row, systems) or one
        if system:
            side[layout.to["system"]] = system
        pair.append(side)
    for side, text in zip(pair, texts, strict=False):
        side[layout.to["text"]] = text
    return pair


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


def _fault(pair: list[Row], layout: _Layout) -> InputError | None:
    """The fault of the text or the system of either side, if there is one."""
    for role, check in layout.checks:
        column = layout.to[role]
        names = (column, column)
        if role == "text" and layout.sides is not None:
            names = (layout.sides.first, layout.sides.second)
        for side, name in zip(pair, names, strict=True):
            try:
                check(side.get(column))
            except InputError as fault:
                return InputError(fault.found, remedy=fault.remedy, column=name)
    systems = [side.get(column) for side in pair]
    if sum(system in (None, "") for system in systems) == 1:
        remedy = "name the systems of both texts, or of neither"
        return InputError("no system", remedy=remedy, column=column)
    return None


def _rated(
    pair: list[Row], vote: float, record: Row, to: Mapping[str, str]
) -> Iterator[Row]:
    """The two rated rows of a choice; who judges the same pair rates the same rows."""
    source = record.get(to["source"])
    keys = [
        repr([source, side.get(to["text"]), side.get(to["system"])]) for side in pair
    ]
    item = item_of(keys)
    numbers = (1 + (keys[0] > keys[1]), 1 + (keys[1] > keys[0]))
    ratings = (vote, 1.0 - vote)
    for side, number, rating in zip(pair, numbers, ratings, strict=True):
        name = f"{item}, {number}"
        yield side | {to["item"]: item, to["id"]: name, to["rating"]: rating}


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
    number = int(read) if isinstance(read, float) and read.is_integer() else word
    name = (name_in(number) or "").strip().casefold()
    side_name = _HOW_MUCH.sub("", folded(name)).strip("_")
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


def _first(row: Row, names: Sequence[str]) -> object:
    for name in names:
        cell = row.get(name)
        if cell is not None:
            return cell
    return None


KNOWN = ("text", "rating", "source", "system", "annotator", "id", "item")
PAIRS = Export(title=TITLE, looks_like=is_pairs, start=read_pairs, roles=KNOWN)
