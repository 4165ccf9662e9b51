"""Which column plays which role: the user's flags first, then the aliases."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refless.errors import InputError, UsageError

ALIASES: dict[str, tuple[str, ...]] = {
    "text": ("text", "output", "response", "completion", "answer", "candidate"),
    "rating": ("rating", "score", "quality", "label", "feedback"),
    "source": ("source", "prompt", "input", "question", "context", "mr"),
    "system": ("system", "model"),
    "annotator": ("annotator", "rater", "worker", "user"),
    "id": ("id",),
    "item": ("item",),
    "task": ("task",),
    "reference": ("reference", "references"),
    "weight": ("weight", "weights"),
    "logprob": ("logprob", "log_prob", "log_probability", "modelprobability"),
    "length": ("length", "n_tokens", "lengthofutterance"),
    "label": ("label", "human", "is_human"),
}
SHARED = ("text", "id", "item", "source", "system", "task", "group")
POOL_ROLES = (*SHARED, "rating", "annotator")
OUTPUT_ROLES = (*SHARED, "reference", "weight")
SCORED_ROLES = (*POOL_ROLES, "score", "reference", "weight")
HUSE_ROLES = (*POOL_ROLES, "logprob", "length", "label")
NEEDED = ("text", "rating")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The user's column flags; None or () looks for the aliases.

    Several rating columns mean one annotator a column, several reference columns one reference a
    column. `group` and `score` (of another tool) have no alias. Roles that a kind of file does not
    have (ratings of outputs, references of a rated pool) are not looked up there, so that one set
    of flags serves both.
    """

    text: str | None = None
    rating: tuple[str, ...] = ()
    annotator: str | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Columns by role: each a tuple of names, empty where the files have none."""

    columns: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]

    def one(self, role: str) -> str | None:
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


def check_columns(columns: Columns, roles: Sequence[str]) -> None:
    """Raises UsageError for flags that contradict each other."""
    for role in ("rating", "reference", "score"):
        names = flagged(columns, role)
        if len(set(names)) != len(names):
            raise UsageError(f"--{role}-column names one column twice: {', '.join(names)}")
    if "annotator" in roles and len(columns.rating) > 1 and columns.annotator is not None:
        raise UsageError(
            "several --rating-column mean one annotator a column; drop --annotator-column"
        )


class Wanted:
    """Tells which of a file's columns may play a role, so that no others are kept."""

    def __init__(self, columns: Columns, roles: Sequence[str]) -> None:
        flags = [flagged(columns, role) for role in roles]
        self._names = {name for names in flags for name in names}
        self._folded = {
            alias
            for role, names in zip(roles, flags, strict=True)
            if not names
            for alias in ALIASES.get(role, ())
        }

    def __call__(self, name: str) -> bool:
        """Whether to keep the column of this name."""
        return name in self._names or name.casefold() in self._folded


def roles_of(
    columns: Columns,
    roles: Sequence[str],
    seen: Sequence[str],
    path: str,
    needed: Sequence[str] = NEEDED,
) -> Roles:
    """The columns of each role among those seen, and notes on what was found by alias.

    Args:
        columns: the user's flags.
        roles: what this kind of file has.
        seen: names of all columns, in file order.
        path: for the error messages.
        needed: which of the roles must be there.

    Raises:
        InputError: a flag that names no column, two candidates for one role, a needed one missing.
    """
    taken: dict[str, tuple[str, ...]] = {}
    said = []
    for role in roles:
        names = flagged(columns, role)
        if names:
            _check_seen(names, role, seen, path)
        elif role != "annotator" or len(taken.get("rating", ())) < 2:
            free = [name for name in seen if name not in _flagged_elsewhere(columns, roles, role)]
            names = _by_alias(role, free, path)
            said += [f"{role} from '{name}'" for name in names]
        if names:
            taken[role] = names
    for role in needed:
        if role in roles and role not in taken:
            raise _missing(role, seen, path)
    _check_one_role(taken, columns, path)
    _check_weight(taken, columns, path)
    return Roles(columns=taken, notes=(f"{path}: {', '.join(said)}",) if said else ())


def _flagged_elsewhere(columns: Columns, roles: Sequence[str], role: str) -> set[str]:
    """Columns that flags give to other roles: no alias takes these."""
    return {name for other in roles if other != role for name in flagged(columns, other)}


def _check_one_role(taken: dict[str, tuple[str, ...]], columns: Columns, path: str) -> None:
    """Raises InputError for a column that two roles would take by their aliases."""
    found = [
        (role, n) for role, names in taken.items() for n in names if not flagged(columns, role)
    ]
    for i, (role, name) in enumerate(found):
        for other, same in found[:i]:
            if name == same:
                raise InputError(
                    f"column '{name}' could be the {other} and the {role}",
                    path=path,
                    remedy=f"name the right ones with --{other}-column and --{role}-column",
                )


def _by_alias(role: str, seen: Sequence[str], path: str) -> tuple[str, ...]:
    """The one column with an alias of the role; one spelled exactly wins over other cases."""
    aliases = ALIASES.get(role, ())
    exact = [name for name in seen if name in aliases]
    found = exact or [name for name in seen if name.casefold() in aliases]
    if len(found) > 1:
        remedy = f"choose one with --{role}-column"
        raise InputError(
            f"more than one column could be the {role}: {listed(found)}", path=path, remedy=remedy
        )
    return tuple(found)


def _check_seen(names: Iterable[str], role: str, seen: Sequence[str], path: str) -> None:
    for name in names:
        if name in seen:
            continue
        folded = [other for other in seen if other.casefold() == name.casefold()]
        near = folded or difflib.get_close_matches(name, seen, n=1)
        remedy = f"did you mean '{near[0]}'? The columns" if near else "the columns"
        raise InputError(
            f"there is no column '{name}' (--{role}-column)",
            path=path,
            remedy=f"{remedy} are {listed(seen)}",
        )


def _missing(role: str, seen: Sequence[str], path: str) -> InputError:
    return InputError(
        f"no column for the {role}: it has none of the names {', '.join(ALIASES[role])}",
        path=path,
        remedy=f"name it with --{role}-column; the columns are {listed(seen)}",
    )


def _check_weight(taken: dict[str, tuple[str, ...]], columns: Columns, path: str) -> None:
    """Weights without references weigh nothing: an error if asked for, else left alone."""
    if "reference" not in taken and taken.pop("weight", ()) and columns.weight is not None:
        raise InputError(
            "there are weights but no references",
            path=path,
            remedy="name the references with --reference-column",
        )


def listed(names: Sequence[str], limit: int = 40) -> str:
    """Names in quotes, cut after so many."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(f"'{name}'" for name in names[:limit]) + more
