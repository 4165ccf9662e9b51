"""Columns by role: the user's flags first, then the usual names."""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from refless.data.tables.cells import json_in_cell
from refless.data.tables.reading import Reading
from refless.data.tables.roles import ROLES, Columns, names_of
from refless.data.tables.spellings import (
    at_any_place,
    folded,
    numbered,
    raters_beside,
    says_who,
)
from refless.registry.arrays import Names, Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError, RefLessError, UsageError
from refless.registry.plural import first_of

_SUMMARIES = "avg average mean median std sd stdev sum total variance"
SUMMARIES = frozenset(_SUMMARIES.split())
PEOPLE = {"annotator", "expert", "human", "person", "rater", "user"}
LONGEST = 60  # characters of a name in a message
_IN_LIST = re.compile(r"(.+?)\.\d+(\..+)?")
Keep = Callable[[str], bool]
Fits = Callable[[str, str, Mapping[str, Names]], bool]
TELLS = "'{}' holds ratings: as a score it would tell what is held out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Columns by role: each a tuple of names, empty where the files have none.

    Of several columns of ratings each may have one of `raters` beside it: annotators by row.
    """

    columns: dict[str, Strings]
    notes: Strings
    looked_up: Strings = ()
    raters: Mapping[str, str] = field(default_factory=dict)

    def asked(self, role: str) -> bool:
        """Whether a column of the role was looked for."""
        return role in self.looked_up

    def column(self, role: str) -> str | None:
        """The single column of a role, or None."""
        return next(iter(self.columns.get(role, ())), None)

    def all(self, *roles: str) -> Strings:
        """Every column of one role, or of several."""
        return tuple(chain.from_iterable(self.columns.get(role, ()) for role in roles))


def flagged(columns: Columns, role: str) -> Strings:
    """The columns that a user's flag names for a role."""
    value = getattr(columns, role)
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def flagged_names(columns: Columns) -> list[str]:
    """All columns, and patterns of columns, that the user's flags name."""
    return [*chain.from_iterable(flagged(columns, role) for role in ROLES)]


def check_columns(columns: Columns, roles: Names) -> None:
    """Raises UsageError for flags that contradict each other."""
    for role in ROLES:
        names = flagged(columns, role)
        if len(set(names)) != len(names):
            raise UsageError(
                f"{flag_of(role)} names a column twice: {', '.join(names)}"
            )
    for score in columns.score:
        if any(
            score == rating or score.startswith(f"{rating}.")
            for rating in columns.rating
        ):
            raise UsageError(TELLS.format(score))
    if (
        "annotator" in roles
        and len(columns.rating) > 1
        and columns.annotator is not None
    ):
        raise UsageError(
            "with several columns of ratings each is an annotator; drop "
            f"{flag_of('annotator')}"
        )


def keeping(columns: Columns, roles: Names, more_names: Names = ()) -> Keep:
    """Tells which of a file's columns are read: those that may play a role, and further names."""
    looked_up = (*roles, "dimension") if "rating" in roles else roles
    flags = {role: flagged(columns, role) for role in looked_up}
    names = {*chain(*flags.values())}
    open_roles = [
        role for role in looked_up if not flags[role] or ROLES[role].of == "place"
    ]
    aliases = names_of(open_roles)
    aliases |= {*ROLES["text"].hints} if "text" in open_roles else set()
    patterns = [name for name in names if is_pattern(name)]
    patterns += [*more_names, *outer(columns, more_names)]
    who = "annotator" in open_roles
    return lambda name: (
        name in names
        or folded(name) in aliases
        or (who and says_who(name))
        or any(matches(name, text) for text in patterns)
    )


def reading_all(names: Names) -> str:
    """The parameters that read all of some columns of ratings, or one."""
    every = called("columns", {"rating": [*names]})
    alone = naming("rating", names[0])
    return f"read all, an annotator a column, with {every}; or one alone with {alone}"


def unclear(header: Names) -> list[str]:
    """The columns called as scores are, of which some names leave open if people gave them."""
    return [
        name
        for name in header
        if folded(name) not in ROLES["rating"].words
        and PEOPLE.isdisjoint(re.split(r"[\W_]+", folded(name)))
        and (says_score(name) or _is_hinted(name, "rating"))
    ]


def says_score(name: str) -> bool:
    """Whether a column is called as a judge or a metric is."""
    return _is_hinted(name, "score")


def _is_hinted(name: str, role: str) -> bool:
    return any(matches(folded(name), hint) for hint in ROLES[role].hints)


def named_here(
    reading: Reading, roles: Names, header: Names
) -> tuple[Columns, list[str]]:
    """The flags and roles of one of two sets of rows, without flags for columns of the other alone.

    Scores of texts may be in the outputs alone, and ratings in the rated rows. A role that is about
    texts may have another of its usual names here.
    """
    columns = reading.columns
    rated = reading.beside_outputs
    absent = set()
    for role in roles:
        names = flagged(columns, role)
        if names and not any(_any_matches(header, name) for name in names):
            absent.add(role)
    unset: dict[str, Any] = {role: None for role in absent if ROLES[role].of == "place"}
    if rated and "score" in absent:
        unset["score"] = ()
    ratings = {role for role in absent if ROLES[role].of == "rating" and not rated}
    return replace(columns, **unset), [role for role in roles if role not in ratings]


def outer(columns: Columns, names: Names = ()) -> list[str]:
    """The columns, or patterns of columns, in which dotted names look for others: `a` of `a.b`."""
    dotted = [name for name in (*flagged_names(columns), *names) if "." in name]
    return [*dict.fromkeys(name.partition(".")[0] for name in dotted)]


def with_nested(row: dict[str, object], within: Names) -> dict[str, object]:
    """A row with what its objects and lists hold beside them, by dotted names.

    Places in lists count from 0: `choices.0.text`.

    Names of columns come before dotted names that are equal. Only columns `within` are opened.
    """
    result: dict[str, object] = {}
    stack = [
        pair
        for pair in row.items()
        if any(matches(pair[0], column) for column in within)
    ]
    while stack:
        outer_name, value = stack.pop()
        value = json_in_cell(value)
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            inner = {f"{outer_name}.{name}": cell for name, cell in pairs}
            result |= inner
            stack += inner.items()
    return result | row


def roles_of(
    columns: Columns,
    roles: Names,
    header: Names,
    path: str,
    needed: Names,
    known: Collection[str],
    fits: Fits,
) -> Roles:
    """The columns of each role, and notes on those that were found by alias.

    Roles that are `known` have columns that are called as they are, whatever else could be it.
    A usual name counts if what the column holds `fits` the role, beside the roles chosen before.

    Raises:
        InputError: a flag that names no column, two candidates for one role, a needed one missing.
    """
    patterns = {role: flagged(columns, role) for role in roles if ROLES[role].several}
    flags = {
        role: _expanded(names, role, header, path) for role, names in patterns.items()
    }
    text = _only_text(columns.text, header, path) if "text" in roles else columns.text
    columns = replace(columns, **dict[str, Any](flags), text=text)
    check_columns(columns, roles)
    chosen: dict[str, Strings] = {}
    phrases = []
    for role in roles:
        names = _flagged_in(columns, role, header, chosen)
        if names:
            check_header(names, flag_of(role), header, path)
        elif role != "annotator" or len(chosen.get("rating", ())) < 2:
            fitting = [name for name in header if fits(role, name, chosen)]
            if role in known and role in header:
                names = (role,)
            else:
                names = _by_alias(columns, roles, role, fitting, path)
            phrases += [f"{role} from '{name}'" for name in names if name not in known]
        if names:
            chosen[role] = names
    for role in needed:
        if role in roles and role not in chosen:
            raise _lacking(role, columns.score, header, path)
    if "reference" not in chosen:
        weights = chosen.pop("weight", ())
        if weights and columns.weight is not None:
            remedy = f"name the references with {naming('reference')}"
            raise InputError(
                "there are weights but no references", path=path, remedy=remedy
            )
    several = chosen.get("rating", ())[1:] if "annotator" in roles else ()
    raters = raters_beside(chosen["rating"], header) if several else {}
    whose = dict.fromkeys(at_any_place(name) for name in raters.values())
    phrases += [f"annotators from {listed([*whose])}"] if whose else []
    notes = [f"{path}: {', '.join(phrases)}"] if phrases else []
    notes += [] if raters else _places_note(several, header, path)
    return Roles(
        columns=chosen, notes=tuple(notes), looked_up=tuple(roles), raters=raters
    )


def _flagged_in(
    columns: Columns, role: str, header: Names, chosen: Mapping[str, Strings]
) -> Strings:
    """The columns that flags name for a role; groups and slices may name a role for its column."""
    names = flagged(columns, role)
    if ROLES[role].of != "any":
        return names
    resolved: list[str] = []
    for name in names:
        resolved += [name] if name in header else chosen.get(name, (name,))
    return tuple(resolved)


def _lacking(role: str, scores: Names, header: Names, path: str) -> RefLessError:
    """The error for a needed role without a column, which may have been given as a score."""
    for score in scores:
        if score.casefold() == role:
            remedy = f"if it does not, name the {role}s with {naming(role)}"
            return UsageError(f"{TELLS.format(score)}; {remedy}")
    return missing(role, header, path, scores=scores)


def _places_note(ratings: Names, header: Names, path: str) -> list[str]:
    """A note on ratings in lists of objects that name nobody."""
    found = [match for match in map(_IN_LIST.fullmatch, ratings) if match]
    lists = sorted((match[1], match[0]) for match in found if match[1] in header)
    return [
        f"{path}: each place in '{name}' counts as one annotator; if only one is people's, name "
        f"it, as in {naming('rating', column)}"
        for name, column in lists[:1]
    ]


def missing(
    role: str, header: Names, path: str, more: str = "", scores: Names = ()
) -> InputError:
    """The error where no column has a needed role; `scores` are named, `more` is a remedy."""
    problem = f"no column for the {role}: none is called {', '.join(ROLES[role].names)}"
    remedy = f"name it with {naming(role)}"
    if role == "rating" and (names := numbered(header, ROLES["rating"].words)):
        remedy = reading_all(names)
    elif role == "rating":
        remedy += (
            "; repeat it, or give a pattern such as 'rater*', for one annotator a column; "
            f"{called('dimension', 'NAME')} reads one of several things that were rated; "
            "where nobody has rated yet, 'refless rate' asks people"
        )
        if names := [name for name in unclear(header) if name not in scores]:
            names = [name for name in names if not says_score(name)] or names
            problem += f"; {listed(names)} may be a judge's scores or people's"
            remedy += f"; or a judge's scores with {called('score_column')}"
    if role == "text":
        remedy += ", one text a row"
        if any(name.casefold().endswith("id") for name in header):
            remedy += "; or join the file of texts first, in pandas: texts.merge(ratings, on='id')"
    if "" in header:
        remedy += "; if a title stands above the names of the columns, delete it"
    remedy += f"{more}; the columns are {listed(header)}"
    return InputError(problem, path=path, remedy=remedy)


def is_pattern(name: str) -> bool:
    """Whether a flag's word stands for all columns that match."""
    return "*" in name or "?" in name


def matches(name: str, pattern: str) -> bool:
    """Whether a name is a pattern, or matches it as in a shell, but that brackets are brackets."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def _any_matches(names: Names, pattern: str) -> bool:
    """Whether any of the names matches a pattern."""
    return any(matches(name, pattern) for name in names)


def is_dimension(name: str, dimension: str | None) -> bool:
    """Whether a dimension is among those that are asked for; all are if none is."""
    return (
        dimension is None
        or name == dimension
        or (is_pattern(dimension) and matches(name, dimension))
    )


def _expanded(names: Names, role: str, header: Names, path: str) -> Strings:
    """The columns that a flag's words stand for: themselves, or in file order what matches."""
    result: list[str] = []
    for name in names:
        alone = name in header or not is_pattern(name)
        columns = (
            [name] if alone else [column for column in header if matches(column, name)]
        )
        if role == "rating" and not alone:  # a mean of annotators is none of them
            columns = [
                column for column in columns if not _is_summary(column)
            ] or columns
        if not columns:
            problem = f"no column matches '{name}' ({flag_of(role)})"
            raise InputError(
                problem, path=path, remedy=f"the columns are {listed(header)}"
            )
        result += columns
    return tuple(dict.fromkeys(result))


def _only_text(given: str | None, header: Names, path: str) -> str | None:
    """The only column that a flag's word for the text stands for."""
    names = _expanded(() if given is None else (given,), "text", header, path)
    if len(names) > 1:
        problem = f"more than one column could be the text: {listed(names)}"
        raise InputError(problem, path=path, remedy=f"choose one with {naming('text')}")
    return next(iter(names), None)


def _is_summary(name: str) -> bool:
    return not SUMMARIES.isdisjoint(re.split(r"[_.]", folded(name)))


def scores_among(names: Names, header: Names, path: str) -> Names:
    """The score columns that a user's flags stand for; raises InputError if there is none."""
    result = _expanded(names, "score", header, path)
    check_header(result, flag_of("score"), header, path)
    return result


def flag_of(role: str) -> str:
    """The parameter that names a role's column, as its reader writes it."""
    parameter = ROLES[role].parameter
    return called(parameter) if parameter else f"{called('columns')} {role}"


def naming(role: str, name: str = "NAME") -> str:
    """The parameter with the name of a role's column, as its reader writes both."""
    parameter = ROLES[role].parameter
    return called(parameter, name) if parameter else called("columns", {role: name})


def _by_alias(
    columns: Columns, roles: Names, role: str, header: Names, path: str
) -> Strings:
    """The column with a usual name of the role: of those that no flag names, else of shared ones.

    Groups and slices may be any column, and one may say in several ways where a text belongs. A
    column that is spelled exactly as a usual name wins over other cases.
    """
    record = ROLES[role]
    flags = {flag: flagged(columns, flag) for flag in (*roles, "dimension")}
    used = {*chain(*flags.values())}
    sharing = {"any", "place"} if record.of == "place" else {"any"}
    not_shared = [
        flag
        for flag in flags
        # what wrote a text is not what the text answers
        if ROLES[flag].of not in sharing or {flag, role} == {"system", "source"}
    ]
    unshared = {*chain.from_iterable(flags[flag] for flag in not_shared)}
    hidden = ROLES["label"].words if role == "rating" and "label" in roles else ()
    aliases = {*record.names}.difference(hidden)
    for excluded in (used, unshared):
        free = [name for name in header if name not in excluded]
        exact = aliases.intersection(free)
        result = [
            name for name in free if name in exact or folded(name) in aliases - exact
        ]
        result = [name for name in result if folded(name) not in record.weak] or result
        if len(result) > 1:
            remedy = f"choose one with {naming(role)}"
            problem = f"more than one column could be the {role}: {listed(result)}"
            raise InputError(problem, path=path, remedy=remedy)
        if result:
            break
    return tuple(result)


def check_header(names: Iterable[str], flag: str, header: Names, path: str) -> None:
    """Raises InputError for a flag that names a column that is not there."""
    for name in names:
        if name not in header:
            alike = [
                column for column in header if column.casefold() == name.casefold()
            ]
            near = alike or difflib.get_close_matches(name, header, n=1)
            remedy = f"did you mean '{near[0]}'? The columns" if near else "the columns"
            remedy += f" are {listed(header)}"
            raise InputError(
                f"there is no column '{name}' ({flag})", path=path, remedy=remedy
            )


def listed(names: Names, limit: int = 40) -> str:
    """Names in quotes, cut after so many, each after `LONGEST` characters."""
    quoted = [
        f"'{name}'" if len(name) <= LONGEST else f"'{name[:LONGEST]}...'"
        for name in names
    ]
    return first_of(quoted, limit)
