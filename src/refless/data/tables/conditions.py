"""Rows that count: the user's conditions, and rows that their tool marks as invalid."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from refless.data.tables.cells import each_once, shown
from refless.data.tables.columns import check_header, flagged_names, listed
from refless.data.tables.load_columns import Gathered
from refless.data.tables.ratings import spelled
from refless.data.tables.roles import Columns
from refless.data.tables.spellings import WHO, at_any_place, folded
from refless.registry.arrays import Names
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted

ANY = "*"
_MOST_WORDS = 12  # that a column of statuses has
_SHOWN = 10
_INVALID = (
    "rejected discarded cancelled canceled ignored skipped draft spam deleted invalid"
)
_INVALID_WORDS = {*_INVALID.split(), "timed-out", "timed_out", "returned", "expired"}
# Qualtrics; 1, 2 and 8 in its codes
_PREVIEWS = {"preview", "survey preview", "survey test"}
_CHECKS = (
    "bad_ref,bad-ref,bad ref,badref,chk,ctrl,control,catch,trap,attention check,attention_check,"
    "quality control,test question,gold"
)
_CONTROLS = {*_CHECKS.split(",")}
_MODELS = {"llm", "ai", "model", "machine", "code", "llm_judge"}
_YES: set[str | float] = {"true", "yes", 1.0}
_YES_OR_NO = {*_YES, "false", "no", 0.0, "nan", "none", "null"}
_AMBIGUOUS = {"control", "gold"}  # also arms of experiments, and references
_MOST_CONTROLS = 0.25  # of the rows, if what is called so are control items
# of orders, tickets and the like a status says nothing about the rating
_OF = "assignments?|annotations?|answer|approval|completion|hit|judgements?|judgments?|label|labels"
_OF += "|participant|questionnaire|ratings?|records?|responses?|results?|review|session|submission"
_OF += "|survey|tasks?|work|worker"
# what the last words of a column's name say -> its values that make a row invalid
_MARKS: dict[str, set[str | float]] = {
    rf"(.*[:.])?((.*_)?({_OF})_?)?(status|state)": {*_INVALID_WORDS, *_PREVIEWS},
    r"response_?type|distribution_?channel": {*_PREVIEWS, "spam"},
    r"(.*_)?(item|segment|question|task)_?type": {*_CONTROLS, "bad"},
    r"type": {*_CONTROLS},
    rf"(.*[_.])?({'|'.join(WHO)})_?(kind|type)": {*_MODELS},
    r"(was_|is_|_)?(cancell?ed|discarded|rejected|ignored|skipped|draft)": _YES,
    r"(is_|_)?(preview|golden?|control|control_item|attention_check|tainted)": _YES,
}


class Condition(NamedTuple):
    """A column, and the value that its rows have, or do not have."""

    column: str
    value: str
    equal: bool

    def __str__(self) -> str:
        return f"{self.column}{'=' if self.equal else '!='}{self.value}"

    def keeps(self, cell: object) -> bool:
        """Whether a row with this cell counts; numbers are equal if they are as numbers."""
        return self.value == ANY or (spelled(cell) == spelled(self.value)) is self.equal


def conditions_in(texts: Sequence[str]) -> tuple[Condition, ...]:
    """Conditions such as `status=approved` and `type!=control`; UsageError for other texts."""
    conditions = []
    for text in texts:
        column, equals, value = text.partition("=")
        equal = not column.endswith("!")
        if not equals or not column.removesuffix("!").strip():
            raise UsageError(
                f"{called('where')} needs COLUMN=VALUE or COLUMN!=VALUE, got '{text}'"
            )
        conditions.append(
            Condition(column.removesuffix("!").strip(), value.strip(), equal)
        )
    return tuple(conditions)


def is_mark(name: str) -> bool:
    """Whether a column of this name may mark rows as invalid."""
    return any(re.fullmatch(pattern, folded(name)) for pattern in _MARKS)


def marked(name: str, cells: Sequence[object]) -> list[int]:
    """The rows that a tool's column marks as invalid; none if it marks all, or has many words.

    What may name an arm of an experiment as well must be a small part.
    """
    values = each_once(spelled, cells)
    words = {value for value in values if value is not None}
    marks = [bad for mark, bad in _MARKS.items() if re.fullmatch(mark, folded(name))]
    invalid = set().union(*marks)
    if len(words) > _MOST_WORDS:
        return []
    rows = [row for row, value in enumerate(values) if value in invalid]
    if invalid == _YES and words - _YES_OR_NO:  # counts
        return []
    words_of_invalid = {values[row] for row in rows}
    is_ambiguous = (
        folded(name) in {*_AMBIGUOUS, "rejected"} or words_of_invalid <= _AMBIGUOUS
    )
    most = _MOST_CONTROLS * len(cells) if is_ambiguous else len(cells)
    return rows if len(rows) < most else []


def marked_note(name: str, cells: Sequence[object], column: str = "") -> str:
    """The sentence on what was left out because of a tool's column, and how it is kept.

    Args:
        name: of the column, `*` standing for places in a list; cells: those of rows left out.
        column: one of several at these places.
    """
    counts = Counter(str(cell) for cell in cells)
    values = ", ".join(f"{n} '{value}'" for value, n in counts.most_common())
    every_row = called("where", f"{column or name}=*")
    return f"left out: rows whose {name} is {values} ({every_row} keeps them)"


def condition_note(condition: Condition, n: int, of: int) -> str:
    """The sentence on the number of rows that a condition leaves out."""
    by = called("where", str(condition))
    return f"left out: {n} of {counted(of, 'row')} by {by}"


def values_seen(cells: Sequence[object]) -> str:
    """The values of a column, for messages."""
    words = dict.fromkeys(shown(cell).strip("'") for cell in cells if cell is not None)
    return listed([*words], _SHOWN)


def leave_out(rows: Gathered, conditions: Sequence[Condition]) -> None:
    """Drops rows that do not meet the conditions.

    Raises:
        InputError: a condition on a column that is not there, or that leaves nothing.
    """
    for condition in conditions:
        check_header([condition.column], called("where"), [*rows.header], rows.name)
        cells = rows.columns[condition.column]
        dropped = {row for row, cell in enumerate(cells) if not condition.keeps(cell)}
        if len(dropped) == len(rows):
            problem = f"no row is left by {called('where', str(condition))}"
            seen = f"the values of '{condition.column}' are {values_seen(cells)}"
            raise InputError(problem, path=rows.name, remedy=seen)
        note = condition_note(condition, len(dropped), len(rows))
        rows.conditional.add(condition.column)
        rows.sentences.append((rows.name, note))
        rows.without(dropped)


def leave_out_invalid(rows: Gathered, columns: Columns) -> None:
    """Drops rows that their own tool marks as invalid, in a column that no flag names."""
    named = rows.conditional.union(flagged_names(columns))
    named |= {at_any_place(name) for name in named}
    marks = [name for name in rows.columns if is_mark(name)]
    marks = [name for name in marks if named.isdisjoint({name, at_any_place(name)})]
    in_lists = [name for name in marks if at_any_place(name) != name]
    _blank_marked(rows, in_lists)
    for name in marks:
        cells = rows.columns[name]
        invalid = marked(name, cells) if name not in in_lists else []
        if invalid:
            note = marked_note(name, [cells[row] for row in invalid])
            rows.conditional.add(name)
            rows.sentences.append((rows.name, note))
            rows.without({*invalid})


def _blank_marked(rows: Gathered, marks: Names) -> None:
    """Blanks the objects in lists that their own tool marks as invalid: `ratings.0.status`."""
    lists: dict[str, list[str]] = {}
    for name in marks:
        lists.setdefault(at_any_place(name), []).append(name)
    for pattern, names in lists.items():
        cells = [*product(names, range(len(rows)))]
        invalid = marked(pattern, [rows.columns[name][row] for name, row in cells])
        places = [cells[i] for i in invalid]
        words = [rows.columns[name][row] for name, row in places]
        for name, row in places:
            within = f"{name.rpartition('.')[0]}."
            for column, cells_of in rows.columns.items():
                if column.startswith(within):
                    cells_of[row] = None
        if words:
            rows.conditional.update(names)
            rows.sentences.append((rows.name, marked_note(pattern, words, names[0])))
