"""Pairs of texts of which people said which is better: TRL, HelpSteer 2, Arena, plain tables.

A row becomes one of ours for each choice: source, text_a, text_b, winner, annotator, system_a,
system_b, and score_a.NAME, score_b.NAME of each column of scores.
"""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from refless.data.tables.columns import ALIASES, Columns
from refless.data.tables.exports.format import (
    About,
    Export,
    Found,
    Reader,
    at,
    items,
    name_in,
    python_in,
    text_in,
)
from refless.data.tables.table import Row
from refless.registry.errors import InputError

TITLE, NAME = "preference pairs", "preference-pairs"
REMEDY = (
    "'refless validate', 'compare', 'meta' and 'score OUTPUTS --rated PAIRS' read them (from a "
    "pipe with --input-format preference-pairs); here give texts with a rating each, or "
    "--input-format jsonl for plain rows"
)
TEXTS = ("output", "text", "response", "answer", "completion", "candidate", "conversation")
ENDS = (("_a", "_b"), ("_1", "_2"))
STRENGTH, NEITHER = "preference_strength", -100
WINNERS = ("winner", "preferred", "preference", STRENGTH)
FIRST = {"a", "1", "first", "left", "model_a", "model_1", "output_a", "output_1"}
SECOND = {"b", "2", "second", "right", "model_b", "model_2", "output_b", "output_2"}
TIES = {"tie", "tied", "both", "same", "equal", "draw", "tie (bothbad)", "both_bad", "bothbad"}
ASKED = "\n\nAssistant:"  # of strings that hold a whole dialogue


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


def refused(path: str) -> InputError:
    """The error where pairs are of no use."""
    found = "preference pairs say which of two texts is better, and rate neither"
    return InputError(found, path=path, remedy=REMEDY)


def check_rates(row: Mapping[str, object], path: str) -> None:
    """Raises InputError for columns of pairs, where others are needed."""
    if is_pairs(row):
        raise refused(path)


def read_pairs(about: About) -> Reader:
    """Reads the choices between two texts.

    Raises:
        InputError: where pairs are of no use.
    """
    if not about.reading.pairs:
        raise refused(about.path)
    columns, left = about.reading.columns, about.told.left_out

    def read(row: Row) -> Found | None:
        sides = sides_in(row)
        if sides is None:
            return Found({}, [])
        record = {**_texts(row, sides, columns), **_beside(row, sides, columns)}
        winners = [_winner(one, sides, record) for one in _said(row, sides)]
        left["choices of neither text"] += winners.count(NEITHER)
        known = [one for one in winners if one != NEITHER]
        return Found(record, [{"winner": one} for one in known]) if known else None

    return read


def _texts(row: Row, sides: Sides, columns: Columns) -> Row:
    """The source and the two texts; without a source it is what both texts begin with."""
    source = text_in(_of_role(row, columns, "source"))
    a, b = (_turns(row.get(name)) for name in sides[:2])
    if isinstance(a, list) and isinstance(b, list):
        same = _shared(a, b)
        shared = text_in(a[:same]) if same else None
        return _sided(source or shared, text_in(a[same:]), text_in(b[same:]))
    if source is None and isinstance(a, str) and isinstance(b, str):
        cut, begin = _cut(a, b)
        return _sided(a[:cut].strip() or None, a[begin:].strip(), b[begin:].strip())
    return _sided(source, a, b)


def _sided(source: str | None, a: object, b: object) -> Row:
    return {"source": source, "text_a": a, "text_b": b}


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


def _said(row: Row, sides: Sides) -> Iterator[object]:
    """What each person said; of HelpSteer 2 one by one where that is there."""
    if sides.winner is None:
        yield "tie" if str(row.get("tie")).strip().casefold() == "true" else "a"
        return
    each = row.get("all_preferences_unprocessed")
    strengths = [at(python_in(one), "strength") for one in items(python_in(each))]
    known = [one for one in strengths if one is not None]
    yield from known or [row.get(sides.winner)]


def _winner(said: object, sides: Sides, record: Row) -> object:
    """1, 0.5 or 0 of the first; `NEITHER`; what is not understood stays as it is."""
    if sides.winner == STRENGTH and isinstance(said, int | float) and said == said:
        return NEITHER if said == NEITHER else 0.5 if said == 0 else float(said < 0)
    whole = int(said) if isinstance(said, float) and said.is_integer() else said
    word = (name_in(whole) or "").strip().casefold()
    if word in {"1", "2"} and sides.ends != ("_1", "_2"):
        return said  # of a and b, is 1 the first, or true?
    names = [(name_in(record.get(name)) or "").casefold() for name in ("system_a", "system_b")]
    for value, known, name in ((1.0, FIRST, names[0]), (0.0, SECOND, names[1])):
        if word in known or (word and word == name and names[0] != names[1]):
            return value
    return 0.5 if word in TIES else said


def _beside(row: Row, sides: Sides, columns: Columns) -> Row:
    """Who chose, the pair's name, systems and scores of the two sides."""
    names = ("id", "pair_id", "question_id", "prompt_id")
    found = {"id": _first(row, (columns.id,) if columns.id else names)}
    found["annotator"] = _of_role(row, columns, "annotator", "judge")
    for side, end in zip("ab", sides.ends, strict=True):
        word = end.removeprefix("_")
        both = [f"{of}{end}" for of in ALIASES["system"]]
        both += [f"{word}_{of}" for of in ALIASES["system"]]
        found[f"system_{side}"] = _first(row, both)
        for name in columns.score:
            value = _first(row, (f"{name}{end}", f"{word}_{name}"))
            found[f"score_{side}.{name}"] = value
    return {name: value for name, value in found.items() if value is not None}


def _of_role(row: Row, columns: Columns, role: str, *more: str) -> object:
    named = getattr(columns, role)
    return _first(row, (named,) if named else (*ALIASES[role], *more))


def _first(row: Row, names: tuple[str, ...] | list[str]) -> object:
    return next((row[name] for name in names if row.get(name) is not None), None)


PAIRS = Export(title=TITLE, looks_like=is_pairs, start=read_pairs, known=())
