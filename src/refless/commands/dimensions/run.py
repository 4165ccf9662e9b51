"""One command for each of several dimensions (fluency, coherence ...), and its results as one."""

import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refless.commands.dimensions.result import ByDimension, ScoreByDimension, ValidateByDimension
from refless.commands.parameters import names_in
from refless.commands.warnings import note, overheard
from refless.data.tables import SeveralDimensionsError, dimension_of
from refless.registry.errors import InputError, UsageError
from refless.registry.signature import Signature
from refless.report.result import Result

COMMANDS = ("validate", "score")
OF_ONE = ("best_of", "fallback_below", "min_coverage", "min_mean")  # what one dimension decides
Command = Callable[..., Result]
Values = Mapping[str, Any]


def by_dimension(function: Command, *args: Any, **values: Any) -> ByDimension:
    """The results of `refless.validate` or `refless.score` for each dimension of the ratings.

    Args:
        function: one of the two.
        args, values: what it takes; rows are read once for each dimension. `dimension` may name
            several, or patterns; without it there is a result for each that the rows name.

    Raises:
        UsageError: another function, rows without dimensions, a gate, `best_of`.
        InputError: as of the function.
    """
    if getattr(function, "__name__", "") not in COMMANDS:
        raise UsageError(f"by_dimension takes refless.{' or refless.'.join(COMMANDS)}")
    given = {**inspect.signature(function).bind_partial(*args).arguments, **values}
    found = whole_or_by_dimension(function, given)
    if isinstance(found, ByDimension):
        return found
    if asked := names_in(values.get("dimension")):
        return _joined(function, given, {dimension_of(asked[0])[0]: found}, [])
    remedy = "dimension=['fluency', 'coherence'] names their columns"
    raise UsageError(f"the ratings do not say of which dimension they are; {remedy}")


def whole_or_by_dimension(function: Command, values: Values) -> Result:
    """The result of a command; of those that can, one of all dimensions where there are several.

    Raises:
        UsageError: several dimensions and a gate, or `best_of`.
        InputError: several dimensions in what can be read once.
    """
    with overheard() as said:
        try:
            return function(**values)
        except SeveralDimensionsError as several:
            if function.__name__ not in COMMANDS:
                raise
            _check(values, several)
            found = several
    return _joined(function, values, _results(function, values, found), said)


def _check(values: Values, several: SeveralDimensionsError) -> None:
    """Raises UsageError or InputError for what cannot be done for several dimensions at once."""
    for name in OF_ONE:
        if values.get(name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} is for one dimension; {several}")
    lists = [rows if isinstance(rows, list | tuple) else [rows] for rows in values.values()]
    if not several.asked and any(
        isinstance(one, str) and one == "-" for rows in lists for one in rows
    ):
        again = "choose one with --dimension NAME, or save it as a file: it can be read only once"
        raise InputError(several.found, path=several.path, remedy=again) from several


def _results(
    function: Command, values: Values, several: SeveralDimensionsError
) -> dict[str, Result]:
    """The results by dimension; those that cannot be read are told, unless they were asked for."""
    found: dict[str, Result] = {}
    faults: dict[str, InputError] = {}
    for name in several.names:
        mine = {**values, "dimension": [name]}
        try:
            with overheard(silent=True):
                found[dimension_of(name)[0]] = function(**mine)
        except SeveralDimensionsError as more:  # of a pattern
            found |= _results(function, mine, more)
        except InputError as fault:
            if several.asked:
                raise
            faults[name] = fault
    if not found:
        raise next(iter(faults.values()))
    for name, why in faults.items():
        note(f"{name} is left out: {why}")
    return found


def _joined(
    function: Command, values: Values, found: Mapping[str, Result], said: list[str]
) -> ByDimension:
    """The results as one; notes of all of them are told once, others with their dimension."""
    kinds: dict[str, Any] = {"score": ScoreByDimension, "validate": ValidateByDimension}
    with overheard() as more:
        for line in dict.fromkeys(line for one in found.values() for line in one.notes):
            whose = [name for name, one in found.items() if line in one.notes]
            if line not in said:
                note(line if len(whose) == len(found) else f"{', '.join(whose)}: {line}")
    joined: ByDimension = kinds[function.__name__](
        results=found,
        signature=Signature(function.__name__).plus(dimensions=tuple(found)),
        notes=(*said, *more),
        command=_line(next(iter(found.values())).command, names_in(values.get("dimension"))),
    )
    return joined


def _line(command: str, asked: Sequence[str]) -> str:
    """The command line of one dimension as that of all that were asked for."""
    words = shlex.split(command)
    if "--dimension" in words:
        at = words.index("--dimension")
        words[at : at + 2] = [word for name in asked for word in ("--dimension", name)]
    return shlex.join(words)
