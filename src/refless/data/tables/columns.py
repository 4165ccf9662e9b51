"""Which column plays which role: the user's flags first, then the aliases."""

import difflib
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any

from refless.data.tables.cells import json_in_cell
from refless.data.tables.spellings import at_any_place, folded, numbered, raters_beside, says_who
from refless.registry.errors import InputError, UsageError

ALIASES: dict[str, tuple[str, ...]] = {
    "text": (
        "text",
        "output",
        "response",
        "completion",
        "answer",
        "reply",
        "candidate",
        "assistant",
    ),
    "rating": (
        *("rating", "human", "human_rating", "human_score"),
        *("annotation", "label", "stars", "preference", "feedback"),
    ),
    "source": ("source", "prompt", "input", "question", "context", "mr"),
    "system": ("system", "model", "version"),
    "annotator": ("annotator", "rater", "worker", "user"),
    "time": ("timestamp", "rated_at"),
    "id": ("id",),
    "item": ("item", "prompt_id"),
    "task": ("task",),
    "reference": ("reference", "references"),
    "weight": ("weight", "weights"),
    "logprob": ("logprob", "log_prob", "log_probability", "modelprobability"),
    "length": ("length", "n_tokens", "lengthofutterance"),
    "label": ("label", "human", "is_human"),
    "probability": ("probability", "inclusion_probability"),
    "dimension": ("dimension",),
    "rationale": ("rationale", "reason", "explanation", "justification"),
    "run": ("run", "epoch"),
}
CRITERIA = frozenset(  # names of what may tell several ratings of a text apart
    {
        *("criterion", "criteria", "aspect", "metric", "question", "turn", "attribute", "facet"),
        *("trait", "rubric", "item_name", "question_text", "rating_type", "score_name", "key"),
        *("category", "name"),
    }
)
VAGUE = {"category", "name", "key"}  # of these a glimpse is enough
CHATS = {"messages", "conversation", "conversations", "chat", "dialogue", "dialog", "turns"}
OF_SENTENCES = {"user": "source"}  # what a column is if it holds sentences, and not names
LAST = {"version", "prompt_id", "user", "assistant"}  # where no other alias of the role is there
UNCLEAR = ("score", "scores", "quality", "*_score", "judge*", "gpt*", "llm*")  # or people's?
OF_RATINGS = ("rating", "annotator", "time", "probability")
OF_ROWS = ("id", "system", "task")  # roles that outputs to be estimated may lack
SHARED = ("text", "id", "item", "source", "system", "task", "group", "score")
POOL_ROLES = (*SHARED, "rating", "annotator", "time")
OWN = ("reference", "weight")  # what metrics read besides the text
OUTPUT_ROLES = (*SHARED, *OWN)
BOTH_ROLES = (*POOL_ROLES, *OWN)
HUSE_ROLES = (*POOL_ROLES, "logprob", "length", "label")
JUDGED_ROLES = (*BOTH_ROLES, "rationale", "slice")
COMPARED_ROLES = (*POOL_ROLES, "probability")
SUMMARIES = frozenset(
    {*("avg", "average", "mean", "median", "std", "sd", "stdev", "sum", "total", "variance")}
)
_IN_LIST = re.compile(r"(.+?)\.\d+(\..+)?")
Keep = Callable[[str], bool]
Fits = Callable[[str, str, Mapping[str, Sequence[str]]], bool]
NEEDED = ("text", "rating")
# roles that several columns, or a pattern, may have
SEVERAL = ("rating", "reference", "score", "slice")
TELLS = "'{}' holds ratings: as a score it would tell what is held out"
PLACES = ("id", "item", "source", "system", "task")  # one column may be several of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The user's column flags; None or () looks for the aliases.

    Several rating columns mean one annotator a column, several reference columns one reference a
    column; a pattern such as `rater*` names all that match. A dotted name such as `scores.fluency`
    is what an object holds. `group` and `score` (of another tool) have no alias; `dimension`, which
    tells what was rated, and `mix`, how much a row counts, are no roles.
    Roles that a kind of file does not have (ratings of outputs, references of a rated pool) are not
    looked up there, so that one set of flags serves both.
    """

    text: str | None = None
    rating: tuple[str, ...] = ()
    annotator: str | None = None
    time: str | None = None
    id: str | None = None
    item: str | None = None
    source: str | None = None
    system: str | None = None
    task: str | None = None
    reference: tuple[str, ...] = ()
    weight: str | None = None
    group: str | None = None
    score: tuple[str, ...] = ()
    logprob: str | None = None
    length: str | None = None
    label: str | None = None
    probability: str | None = None
    dimension: str | None = None
    rationale: str | None = None
    run: str | None = None
    slice: tuple[str, ...] = ()
    mix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Columns by role: each a tuple of names, empty where the files have none.

    Of several columns of ratings each may have one of `raters` beside it: annotators by row.
    """

    columns: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]
    looked_up: tuple[str, ...] = ()
    raters: Mapping[str, str] = field(default_factory=dict)

    def asked(self, role: str) -> bool:
        """Whether a column of the role was looked for."""
        return role in self.looked_up

    def column(self, role: str) -> str | None:
        """The single column of a role, or None."""
        return next(iter(self.columns.get(role, ())), None)

    def all(self, role: str) -> tuple[str, ...]:
        """Every column of a role."""
        return self.columns.get(role, ())


def flagged(columns: Columns, role: str) -> tuple[str, ...]:
    """The columns that a user's flag names for a role."""
    value = getattr(columns, role)
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def flagged_names(columns: Columns) -> list[str]:
    """All columns, and patterns of columns, that the user's flags name."""
    return [name for column in fields(columns) for name in flagged(columns, column.name)]


def check_columns(columns: Columns, roles: Sequence[str]) -> None:
    """Raises UsageError for flags that contradict each other."""
    for role in SEVERAL:
        names = flagged(columns, role)
        if len(set(names)) != len(names):
            raise UsageError(f"{flag_of(role)} names a column twice: {', '.join(names)}")
    for score in columns.score:
        if any(score == rating or score.startswith(f"{rating}.") for rating in columns.rating):
            raise UsageError(TELLS.format(score))
    if "annotator" in roles and len(columns.rating) > 1 and columns.annotator is not None:
        raise UsageError(
            "with several columns of ratings each is an annotator; drop --column annotator"
        )


def keeping(columns: Columns, roles: Sequence[str], more_names: Sequence[str] = ()) -> Keep:
    """Tells which of a file's columns are read: those that may play a role, and further names."""
    flags = {role: flagged(columns, role) for role in roles}
    names = {name for flag in flags.values() for name in flag}
    open_roles = [role for role in roles if not flags[role] or role in OF_ROWS]
    aliases = {alias for role in open_roles for alias in usual_names(role)}
    aliases |= CRITERIA - VAGUE if "rating" in roles else set()
    aliases |= CHATS if "text" in open_roles else set()
    patterns = [name for role in SEVERAL for name in flags.get(role, ()) if is_pattern(name)]
    patterns += [*more_names, *outer(columns, more_names)]
    who = "annotator" in open_roles and "rating" in roles
    return lambda name: (
        name in names
        or folded(name) in aliases
        or (who and says_who(name))
        or any(matches(name, text) for text in patterns)
    )


def usual_names(role: str) -> set[str]:
    """The names under which a role is looked for, folded."""
    return {*ALIASES.get(role, ()), *(name for name, of in OF_SENTENCES.items() if of == role)}


def reading_all(names: Sequence[str]) -> str:
    """What reads all of some columns of ratings, and what one."""
    every = " ".join(shlex.join(["--column", f"rating={name}"]) for name in names)
    alone = shlex.join(["--column", f"rating={names[0]}"])
    return f"read all, an annotator a column, with {every}; or one alone with {alone}"


def unclear(header: Sequence[str]) -> list[str]:
    """The columns whose names leave open if a judge gave the scores or people the ratings."""
    return [
        name
        for name in header
        if folded(name) not in ALIASES["rating"]
        and any(matches(folded(name), column) for column in UNCLEAR)
    ]


def named_here(
    columns: Columns, roles: Sequence[str], header: Sequence[str], lacking: Sequence[str]
) -> tuple[Columns, list[str]]:
    """The flags and roles without those of `lacking` whose flags name columns of other rows alone.

    What is no rating may have another of its usual names here.
    """
    absent = {
        role
        for role in lacking
        if (names := flagged(columns, role))
        and not any(column == name or matches(column, name) for name in names for column in header)
    }
    unset: dict[str, Any] = dict.fromkeys(absent.difference(OF_RATINGS))
    return replace(columns, **unset), [role for role in roles if role not in absent - {*unset}]


def outer(columns: Columns, names: Sequence[str] = ()) -> list[str]:
    """The columns, or patterns of columns, in which dotted names look for others: `a` of `a.b`."""
    dotted = [name for name in (*flagged_names(columns), *names) if "." in name]
    return [*dict.fromkeys(name.partition(".")[0] for name in dotted)]


def with_nested(row: dict[str, object], within: Sequence[str]) -> dict[str, object]:
    """A row with what its objects and lists hold beside them, by dotted names.

    Places in lists count from 0: `choices.0.text`.

    Names of columns come before dotted names that are equal. Only columns `within` are opened.
    """
    result: dict[str, object] = {}
    stack = [pair for pair in row.items() if any(matches(pair[0], column) for column in within)]
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
    roles: Sequence[str],
    header: Sequence[str],
    path: str,
    needed: Sequence[str],
    known: Collection[str],
    fits: Fits,
) -> Roles:
    """The columns of each role, and notes on those that were found by alias.

    Roles that are `known` have columns that are called as they are, whatever else could be it.
    A usual name counts if what the column holds `fits` the role, beside the roles chosen before.

    Raises:
        InputError: a flag that names no column, two candidates for one role, a needed one missing.
    """
    patterns = {role: flagged(columns, role) for role in SEVERAL if role in roles}
    flags = {role: _expanded(names, role, header, path) for role, names in patterns.items()}
    columns = replace(columns, **dict[str, Any](flags))
    check_columns(columns, roles)
    chosen: dict[str, tuple[str, ...]] = {}
    phrases = []
    for role in roles:
        names = flagged(columns, role)
        if names:
            check_header(names, role, header, path)
        elif role != "annotator" or len(chosen.get("rating", ())) < 2:
            fitting = [name for name in header if fits(role, name, chosen)]
            is_known = role in known and role in header
            names = (role,) if is_known else _by_alias(columns, roles, role, fitting, path)
            phrases += [f"{role} from '{name}'" for name in names if name not in known]
        if names:
            chosen[role] = names
    for role in needed:
        if role in roles and role not in chosen:
            if scores := [name for name in columns.score if name.casefold() == role]:
                remedy = f"if it does not, name the {role}s with {flag_of(role)}=NAME"
                raise UsageError(f"{TELLS.format(scores[0])}; {remedy}")
            raise missing(role, header, path, scores=columns.score)
    if "reference" not in chosen and chosen.pop("weight", ()) and columns.weight is not None:
        remedy = "name the references with --column reference=NAME"
        raise InputError("there are weights but no references", path=path, remedy=remedy)
    several = chosen.get("rating", ())[1:] if "annotator" in roles else ()
    raters = raters_beside(chosen["rating"], header) if several else {}
    whose = dict.fromkeys(at_any_place(name) for name in raters.values())
    phrases += [f"annotators from {listed([*whose])}"] if whose else []
    notes = [f"{path}: {', '.join(phrases)}"] if phrases else []
    notes += [] if raters else _places_note(several, header, path)
    return Roles(columns=chosen, notes=tuple(notes), looked_up=tuple(roles), raters=raters)


def _places_note(ratings: Sequence[str], header: Sequence[str], path: str) -> list[str]:
    """What is said of ratings in lists of objects that name nobody."""
    lists = [match[1] for match in map(_IN_LIST.fullmatch, ratings) if match]
    places = [name for name in lists if name in header]
    return [f"{path}: each place in '{places[0]}' counts as one annotator"] if places else []


def missing(
    role: str, header: Sequence[str], path: str, more: str = "", scores: Sequence[str] = ()
) -> InputError:
    """The error where no column has a needed role; `scores` are named, `more` is a remedy."""
    problem = f"no column for the {role}: none is called {', '.join(ALIASES[role])}"
    remedy = f"name it with {flag_of(role)}=NAME (in Python Columns({role}=NAME))"
    remedy += ", one text a row" if role == "text" else ""
    if role == "rating" and (names := numbered(header, ALIASES["rating"])):
        remedy = reading_all(names)
    elif role == "rating":
        remedy += "; repeat it, or give a pattern such as 'rater*', for one annotator a column"
        if names := [name for name in unclear(header) if name not in scores]:
            problem += f"; {listed(names)} may be a judge's scores or people's"
            remedy += "; or a judge's scores with --score-column"
    if role == "text" and any(name.casefold().endswith("id") for name in header):
        remedy += "; or join the file of texts first, in pandas: texts.merge(ratings, on='id')"
    remedy += f"{more}; the columns are {listed(header)}"
    return InputError(problem, path=path, remedy=remedy)


def is_pattern(name: str) -> bool:
    """Whether a flag's word stands for all columns that match."""
    return "*" in name or "?" in name


def matches(name: str, pattern: str) -> bool:
    """As in a shell, but that brackets are brackets."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))


def _expanded(names: Sequence[str], role: str, header: Sequence[str], path: str) -> tuple[str, ...]:
    """The columns that a flag's words stand for: themselves, or in file order what matches."""
    result: list[str] = []
    for name in names:
        alone = name in header or not is_pattern(name)
        columns = [name] if alone else [column for column in header if matches(column, name)]
        if role == "rating" and not alone:  # a mean of annotators is none of them
            columns = [column for column in columns if not _is_summary(column)] or columns
        if not columns:
            problem = f"no column matches '{name}' ({flag_of(role)})"
            raise InputError(problem, path=path, remedy=f"the columns are {listed(header)}")
        result += columns
    return tuple(dict.fromkeys(result))


def _is_summary(name: str) -> bool:
    return not SUMMARIES.isdisjoint(re.split(r"[_.]", folded(name)))


def scores_among(names: Sequence[str], header: Sequence[str], path: str) -> Sequence[str]:
    """The score columns that a user's flags stand for; raises InputError if there is none."""
    result = _expanded(names, "score", header, path)
    check_header(result, "score", header, path)
    return result


def flag_of(role: str) -> str:
    """The flag that names a role's column."""
    flags = {"group": "--group", "where": "--where", "on": "--on", "score": "--score-column"}
    return flags.get(role, f"--column {role}")


def _by_alias(
    columns: Columns, roles: Sequence[str], role: str, header: Sequence[str], path: str
) -> tuple[str, ...]:
    """The column with an alias of the role: of those that no flag names, else of shared ones.

    The group and slices may be any column, and one may say in several ways where a text belongs. A
    column that is spelled exactly as an alias wins over other cases.
    """
    shared = ("group", "slice", *(PLACES if role in PLACES else ()))
    flags = {flag: flagged(columns, flag) for flag in roles}
    used = {name for names in flags.values() for name in names}
    unshared = {name for flag, names in flags.items() if flag not in shared for name in names}
    hidden = ALIASES["label"] if role == "rating" and "label" in roles else ()
    aliases = usual_names(role).difference(hidden)
    for excluded in (used, unshared):
        free = [name for name in header if name not in excluded]
        exact = aliases.intersection(free)
        result = [name for name in free if name in exact or folded(name) in aliases - exact]
        result = [name for name in result if folded(name) not in LAST] or result
        if len(result) > 1:
            remedy = f"choose one with {flag_of(role)}=NAME (in Python Columns({role}=NAME))"
            problem = f"more than one column could be the {role}: {listed(result)}"
            raise InputError(problem, path=path, remedy=remedy)
        if result:
            break
    return tuple(result)


def check_header(names: Iterable[str], role: str, header: Sequence[str], path: str) -> None:
    """Raises InputError for a flag that names a column that is not there."""
    for name in names:
        if name not in header:
            alike = [column for column in header if column.casefold() == name.casefold()]
            near = alike or difflib.get_close_matches(name, header, n=1)
            remedy = f"did you mean '{near[0]}'? The columns" if near else "the columns"
            remedy += f" are {listed(header)}"
            raise InputError(
                f"there is no column '{name}' ({flag_of(role)})", path=path, remedy=remedy
            )


def listed(names: Sequence[str], limit: int = 40) -> str:
    """Names in quotes, cut after so many."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(f"'{name}'" for name in names[:limit]) + more
