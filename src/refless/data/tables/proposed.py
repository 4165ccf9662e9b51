"""Guesses what columns are that no usual name tells: shown to people, never read unasked."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from refless.data.tables.columns import PEOPLE, says_score
from refless.data.tables.roles import Cells, are_names, are_written
from refless.data.tables.sides import patterns_of
from refless.data.tables.spellings import folded, of_one_rater, says_who
from refless.data.tables.unread import NO_OUTPUT, hold_ratings, is_called_output
from refless.registry.dialect import called

MOST_GRADES = 13  # A+ to F
MOST_RENAMED = 2  # columns in a sentence
MOST_VERSIONS = 5
# words in the names of columns, the first ones before others
SYSTEMS = (
    "system sys model version variant arm bot engine checkpoint release agent config "
    "generator"
)
RATINGS = (
    "rating overall human verdict rated ratings grade grades score quality helpful correct "
    "helpfulness correctness passed pass stars mark marks label satisfaction"
)
ITEMS = "item case doc document example sample question qid prompt id"
RATERS = "email"
ANSWERS = "answer reply antwort ausgabe"  # perhaps right ones, where others are called outputs
NO_TEXTS = "comment comments note notes remark remarks reason feedback"
NO_RATINGS = (
    "id nr no number index row n len length tokens words chars time latency cost date seed "
    "temperature turn order position std sd confidence average mean avg median dist wps"
)
JUDGES = frozenset({"judge", "metric"})

Columns = Mapping[str, Cells]


def proposed(
    columns: Columns, sources: Columns, known: Collection[str]
) -> dict[str, str]:
    """The column that each role may have which has none by its name.

    Args:
        columns: cells of the columns that nothing reads, by name; sources: of those that are
            read as inputs.
        known: roles that have a column.
    """
    guesses: dict[str, str] = {}
    for role, guess in _GUESSES.items():
        taken = guesses.values()
        left = {name: columns[name] for name in columns if name not in taken}
        if role not in known and (names := guess(left)):
            guesses[role] = names[0]
    versions = [name for name in _only([*sources]) if _are_versions(sources[name])]
    if versions and "system" not in known:
        guesses.setdefault("system", versions[0])
    if "system" not in {*known, *guesses} or {"item", "source"} & {*known}:
        guesses.pop("item", None)
    return guesses


def written(columns: Columns) -> list[str]:
    """The columns of many texts that are no remarks on others."""
    remarks = _called(columns, NO_TEXTS)
    texts = [name for name in columns if name not in remarks]
    return [name for name in texts if are_written(columns[name])]


def reading_versions(names: Sequence[str], header: Sequence[str]) -> str:
    """The parameters, or the names, by which texts and ratings of one version each are read."""
    if columns := patterns_of(names, header):
        every = called("columns", columns)
        return f"if each holds the texts of one version, read all with {every}"
    ends = range(1, MOST_RENAMED + 1)
    renamed = [
        f"'{name}' 'output_v{end}', its ratings 'rating_v{end}'"
        for name, end in zip(names, ends, strict=False)
    ]
    inputs = called("columns", {"source": names[0], "text": names[1]})
    return (
        f"if one is the input, as in {inputs}; if each holds the texts of one version, call "
        f"{'; '.join(renamed)}"
    )


def _texts(columns: Columns) -> list[str]:
    """The only column of many texts, or the only one called as outputs are."""
    texts = written(columns)
    outputs = [name for name in texts if is_called_output(name)]
    answers = [name for name in _called(texts, ANSWERS) if not _words(name) & NO_OUTPUT]
    return _only(outputs) or _only(answers) or _only(texts)


def ratings_among(columns: Columns) -> list[str]:
    """Columns of ratings, each by one person if they are called so; those called ratings first.

    Words that are no usual ratings count in columns of few values that are called ratings.
    """
    numbers = _called(columns, NO_RATINGS)
    free = {name: columns[name] for name in columns if name not in numbers}
    may = [name for name in free if hold_ratings(free[name])]
    people = [name for name in may if says_who(name) or of_one_rater(name)]
    if len(people) > 1:
        return people
    first = called_ratings(free)
    names = [name for name in dict.fromkeys([*first, *may]) if name not in people]
    by_people = [name for name in names if PEOPLE & _singular(name)]
    return by_people or [name for name in names if not JUDGES & _singular(name)]


def called_ratings(columns: Columns) -> list[str]:
    """The columns of few values that are called ratings, and not as a judge or a metric is."""
    names = [name for name in _called(columns, RATINGS) if _has_few(columns[name])]
    return [name for name in names if not says_score(name)]


def _raters(columns: Columns) -> list[str]:
    ratings = ratings_among(columns)
    taken = [
        name for name in columns if of_one_rater(name) and hold_ratings(columns[name])
    ]
    named = [name for name in columns if says_who(name)]
    raters = [name for name in named if name not in {*ratings, *taken}]
    return _repeating(columns, [*raters, *_called(columns, RATERS)])


def _systems(columns: Columns) -> list[str]:
    systems = _called(columns, SYSTEMS)
    return _repeating(columns, [name for name in systems if are_names(columns[name])])


def _items(columns: Columns) -> list[str]:
    return _repeating(columns, _called(columns, ITEMS))


_GUESSES: dict[str, Callable[[Columns], list[str]]] = {
    "text": _texts,
    "annotator": _raters,
    "rating": lambda columns: _only(ratings_among(columns)),
    "system": _systems,
    "item": _items,
}


def _only(names: list[str]) -> list[str]:
    return names if len(names) == 1 else []


def _words(name: str) -> set[str]:
    return {*re.split(r"[\W_]+", folded(name))}


def _singular(name: str) -> set[str]:
    """The words of a name, `expert` for `experts`."""
    return {word.removesuffix("s") for word in _words(name)}


def _called(columns: Collection[str], words: str) -> list[str]:
    """The columns with one of these words in their name, in the order of the words."""
    return [name for word in words.split() for name in columns if word in _words(name)]


def _repeating(columns: Columns, names: list[str]) -> list[str]:
    """Those of the columns that have several values, most of them more than once."""
    return [
        name
        for name in names
        if 1 < len({*map(str, columns[name])}) <= len(columns[name]) / 2
    ]


def _are_versions(cells: Cells) -> bool:
    """Whether what is read as inputs may name versions: few names, each many times."""
    n_names = len({*map(str, cells)})
    most = min(MOST_VERSIONS, len(cells) / 4)
    return are_names(cells) and 1 < n_names <= most


def _has_few(cells: Cells) -> bool:
    return len({*map(str, cells)}) <= MOST_GRADES and not are_written(cells)
