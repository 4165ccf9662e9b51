"""rate: a page on which people rate, and one on which their owner sees what is known so far."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from importlib.util import find_spec
from ipaddress import ip_network
from itertools import chain, combinations
from os import PathLike, fspath
from typing import Annotated, Any

from refless.commands.compare.claims import RACE
from refless.commands.estimating import DEFAULT, chosen
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Files,
    Many,
    Names,
    Natural,
    OutputColumns,
    OutputReading,
    OutputRows,
    RatedRows,
    RowFilter,
    Rows,
    Seed,
    Share,
    SkipBad,
    command,
    names_in,
    words_of,
)
from refless.commands.rows import outputs_of, tell, told_pool
from refless.commands.warnings import note, silenced
from refless.data.records import Outputs, Texts
from refless.data.rows import rating_rows, rows_of
from refless.data.tables import dimension_of
from refless.data.tables.partly_rated import read_partly
from refless.estimators import ESTIMATORS
from refless.extensions.serve.planned import FEWEST, items_answered
from refless.extensions.serve.project import Project, labelling_project, project_of
from refless.extensions.serve.result import LOCAL, Ask, RateResult, Task, Where
from refless.registry.dialect import called
from refless.registry.errors import (
    InputError,
    MissingExtraError,
    RefLessError,
    UsageError,
)
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.registry.spec import spec_of
from refless.registry.version import __version__

MOST_STEPS = 11  # buttons of a scale
ENDING = ".ratings.sqlite"

Copy = Annotated[str | None, About(panel="Service", metavar="FILE")]
Host = Annotated[str, About(panel="Service", metavar="ADDRESS")]
Port = Annotated[int, About("", at_least=1, at_most=65535), About(panel="Service")]


@command
def rate(
    outputs: Argument,
    *,
    rated: Files = None,
    scale: Annotated[tuple[float, float], About(metavar="MIN MAX")] = (1.0, 5.0),
    dimension: Annotated[Names, About(metavar="NAME", kind=Many)] = None,
    ask: Ask = "rating",
    per_item: Natural = 1,
    overlap: Share[float] = 0.1,
    repeat: Share[float] = 0.05,
    audit: Share[float] = 0.5,
    raters: int = 1,
    estimator: Chosen = DEFAULT,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    trust_proxy: Annotated[
        str | None, About(panel="Service", metavar="ADDRESS")
    ] = None,
    database: Annotated[str | None, About(panel="Service", metavar="FILE|URL")] = None,
    backup: Copy = None,
    restore: Copy = None,
    project: Annotated[str | None, About(metavar="FILE")] = None,
    seed: Seed = 0,
    columns: OutputColumns = None,
    reading: OutputReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
) -> RateResult:
    """Serve a page on which people rate outputs, and one that shows what is known so far.

    For example: refless rate outputs.csv --scale 1 5

    Prints a personal link for the owner and for each rater, and serves until Ctrl-C. Raters see
    texts alone: not who wrote them, what others said, or what is estimated. Each key press is on
    disk before it is acknowledged; start the same command again to go on.

    Args:
        outputs: Files of outputs.
        rated: Files of texts that were rated before. They teach the estimates, and count in no
            mean or difference.
        scale: Lowest and highest rating, whole numbers.
        dimension: What is rated, such as fluency, or fluency=1..3 on a scale of its own;
            repeatable. Without it: quality.
        ask: For a rating of each output, the better one of each pair of systems' answers to an
            item, or the best of all answers to an item.
        per_item: Ratings that each item needs, by different people.
        overlap: Share of the items that every rater is shown, to see how far they agree.
        repeat: Share of what a rater is shown that they rated before, to see if they still agree.
        audit: Share of what is shown that is drawn at random; the rest teaches the estimator
            most. Means and comparisons rest on the former: with planned looks give 1.
        raters: Personal links that are printed; the owner's page makes more.
        host: Address to listen on; 0.0.0.0 for all, behind a proxy with TLS.
        port: Port to listen on.
        trust_proxy: Address or network of the proxy with TLS, whose X-Forwarded headers are then
            believed. Cookies are Secure if it says https.
        database: Where ratings are kept: a file of SQLite, or postgresql://USER@HOST/NAME. Without
            it: beside the outputs.
        backup: Copy the database to this file, whole, and end; also while it is being served.
        restore: Put this backup in the place of the database, which is kept as FILE.before, and
            end.
        project: File (TOML or JSON) of what raters are told: title, guidelines, consent, questions,
            labels of the scale, how texts are shown, gold items; or a labelling configuration of
            Label Studio (XML), which has the scale, too.
    """
    rows = OutputRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
    )
    named = dict(map(dimension_of, names_in(dimension)))
    page = Project()
    dimensions = tuple(named)
    if project is not None and project.endswith(".xml"):
        page, scale, dimensions = labelling_project(project, dimensions)
    elif project is not None:
        page = project_of(project)
    scales = {name: own for name, own in named.items() if own is not None}
    task = Task(
        ask=ask, scale=scale, scales=scales, dimensions=dimensions or ("quality",), seed=seed,
        per_item=per_item, overlap=overlap, repeat=repeat, audit=audit, project=page,
    )  # fmt: skip
    _check(task)
    check_served(host)
    if rated is not None and len(task.dimensions) > 1:
        raise UsageError(
            f"{called('rated')} has ratings of one thing, so it would teach every "
            "dimension the same; "
            f"name one {called('dimension')}, or leave {called('rated')} out"
        )
    texts = _outputs(outputs, rows)
    if not any(text.strip() for text in texts.texts):
        raise InputError("there is nothing to rate", remedy="give outputs with texts")
    _note_rated(outputs, rows)
    _check_project(task, texts, project or "")
    if page.looks and audit < 1:
        every = called("audit", 1)
        note(f"planned looks count random draws alone: {every} makes all ratings count")
    _check_proxy(trust_proxy)
    before = () if rated is None else apart(_rated(rated, rows, task), texts)
    return RateResult(
        outputs=texts,
        items=_items(texts, ask),
        rated=before,
        task=task,
        where=Where(
            host=host,
            port=port,
            proxy=trust_proxy or "",
            database=_database(database, outputs),
        ),
        estimator=spec_of(chosen(estimator), ESTIMATORS),
        raters=max(0, raters),
        backup=backup,
        restore=restore,
        signature=Signature("rate").plus(size=len(texts), seed=seed, v=__version__),
    )


def _outputs(outputs: Rows, rows: OutputRows) -> Outputs:
    """The outputs; each of several files is a system, unless a column names them."""
    if len(words_of(outputs)) < 2:
        return outputs_of(outputs, rows)
    read = read_partly(outputs, rows.to_reading())
    tell(read)
    return read.texts


def check_served(host: str) -> None:
    """Raises MissingExtraError without the extra; says so where others can reach the service."""
    needed = ("starlette", "uvicorn", "sqlalchemy", "itsdangerous", "filelock")
    if not all(map(find_spec, needed)):
        raise MissingExtraError("a service", "serve")
    if host not in LOCAL:
        note(
            f"listening on {host}, so that others can reach it, unencrypted: outside a network "
            "that you trust put a proxy with TLS before it, and its address in the place of the "
            "one that is printed"
        )


def _note_rated(outputs: Rows, rows: OutputRows) -> None:
    """Says so if outputs in files have ratings already, which nobody who rates again will see."""
    if "-" in words_of(outputs) or isinstance(outputs, Texts):
        return
    rated = 0
    with silenced(), suppress(RefLessError):
        read = read_partly(outputs, rows.to_reading(), system=None)
        column = (*read.columns.get("rating", ()), "rating")[0]
        rated = len(read.place)
    if rated:
        note(
            f"{counted(rated, 'output')} of {len(read.texts)} have a rating already, and are asked "
            f"again; {called('where', f'{column}=')} leaves them out"
        )


def _check_proxy(address: str | None) -> None:
    """Raises UsageError for what is neither an address nor a network."""
    try:
        ip_network(address or "::1")
    except ValueError:
        problem = "--trust-proxy needs an address or a network, such as 127.0.0.1 or 10.1.0.0/24"
        raise UsageError(f"{problem}; got {address}") from None


def _check(task: Task) -> None:
    """Raises UsageError for a scale without buttons, and for a dimension without a name."""
    for low, high in (task.scale, *task.scales.values()):
        integral = all(math.isfinite(end) and end == int(end) for end in (low, high))
        if not integral or not low < high < low + MOST_STEPS:
            raise UsageError(
                f"{called('scale')} needs two whole numbers, the lower one first, for at most "
                f"{MOST_STEPS} "
                f"buttons; got {low:g} {high:g}"
            )
    if not all(name.strip() and len(name) <= 100 for name in task.dimensions):
        raise UsageError(f"{called('dimension')} needs a name")


def _check_project(task: Task, texts: Outputs, path: str) -> None:
    """Raises InputError for words about a dimension or a rating that nobody is asked for."""
    rated = task.dimensions if task.ask == "rating" else ()
    steps = [str(step) for step in dict.fromkeys(chain(*map(task.steps_of, rated)))]
    points = []
    for name in rated:
        points += [f"{name}={step}" for step in task.steps_of(name)]
    project = task.project
    if project.adjudicate and not steps:
        remedy = f"leave out {called('ask')}"
        raise InputError("adjudicate is about ratings", path=path, remedy=remedy)
    _check_until(project, texts, path, rated=bool(steps))
    gold = project.gold
    checks: tuple[tuple[str, Iterable[str], Sequence[str]], ...] = (
        ("labels", project.labels, [*steps, *points]),
        ("questions", project.questions, task.dimensions),
        ("gold", [item.id for item in gold], texts.ids if steps else []),
        ("gold", [f"{item.answer:g}" for item in gold], steps),
        ("gold", [item.dimension for item in gold], ["", *task.dimensions]),
    )
    for name, words, offered in checks:
        unknown = [word for word in words if word not in offered]
        if unknown:
            problem = f"{name} has {unknown[0]!r}, which is not asked"
            names = ", ".join([*filter(None, offered)][:20]) or "none"
            raise InputError(problem, path=path, remedy=f"it may have {names}")


def _check_until(project: Project, texts: Outputs, path: str, *, rated: bool) -> None:
    """Raises InputError for a goal that these outputs, or ratings and choices, cannot reach."""
    goal = project.until
    _check_looks(project, texts, path)
    fits = goal.startswith("win rate") is not rated
    if not goal or (fits and len({*texts.systems}) > 1):
        return
    problem = f"until is {goal!r}, which these outputs and this question cannot tell"
    remedy = (
        "it compares systems, so give outputs of several; ratings take 'difference known to "
        "0.2' or \"every system's mean to 0.15\", with looks 'difference shown' or 'best known' "
        "too; choices take 'win rate known to 0.1'"
    )
    raise InputError(problem, path=path, remedy=remedy)


def _check_looks(project: Project, texts: Outputs, path: str) -> None:
    """Raises InputError for planned looks that nothing ends, or for which there are few items."""
    goal = project.until
    ends = goal in {"difference shown", RACE} or goal.startswith("difference known")
    if bool(project.looks) is not ends and (project.looks or goal == RACE):
        problem = f"looks is {project.looks}, and until is {goal!r}"
        remedy = (
            "looks = 5 goes with until = 'difference shown', 'best known', or "
            "'difference known to 0.2'"
        )
        raise InputError(problem, path=path, remedy=remedy)
    if not project.looks:
        return
    items = items_answered(rows_of(texts), {*texts.systems})
    if items < FEWEST * project.looks:
        problem = (
            f"{counted(items, 'item')} that all systems answered are too few for "
            f"{project.looks} looks"
        )
        raise InputError(problem, path=path, remedy=f"plan {items // FEWEST} or fewer")


def _items(outputs: Outputs, ask: str) -> tuple[tuple[int, ...], ...]:
    """Texts, or pairs of an item's texts, or all of each item; UsageError if there are none."""
    if ask == "rating":
        return tuple((i,) for i, text in enumerate(outputs.texts) if text.strip())
    groups: dict[str, list[int]] = {}
    for i, label in enumerate(outputs.items or outputs.sources):
        groups.setdefault(label, []).append(i)
    several = [group for group in groups.values() if len(group) > 1]
    if not several:
        raise UsageError(
            f"{called('ask', ask)}: no item has several outputs; items are told by the "
            "column item, else "
            "by the source"
        )
    if ask == "best":
        return tuple(map(tuple, several))
    pairs = [combinations(group, 2) for group in several]
    return tuple(chain(*pairs))


def _rated(rated: Rows, rows: OutputRows, task: Task) -> list[dict[str, Any]]:
    """Rows of rated texts, a rating each."""
    options = {field.name: getattr(rows, field.name) for field in fields(rows)}
    scale = task.scale_of(task.dimensions[0])
    rows_read = rating_rows(told_pool(rated, RatedRows(**options, scale=scale)).pool)
    highest = max(row["rating"] for row in rows_read)
    if highest < scale[1]:
        note(
            f"nothing was rated above {highest:g} before, and raters are asked from "
            f"{scale[0]:g} to {scale[1]:g}: {called('scale')} says another scale"
        )
    return rows_read


def apart(
    rated: Sequence[Mapping[str, Any]], outputs: Outputs
) -> tuple[Mapping[str, Any], ...]:
    """Rows of rated texts that pass for no output: they teach estimates, and no more.

    Whoever rated them may be stricter than the raters of this round.
    """
    ids = {*outputs.ids}
    texts = {*outputs.texts}
    rows: list[Mapping[str, Any]] = []
    for row in rated:
        own = dict(row)
        is_output = row["text"] in texts
        if is_output or row["id"] in ids:
            own["id"] = f"rated {row['id']}"
        if is_output and row.get("system"):
            own["system"] = f"{row['system']}, rated before"
        rows.append(own)
    return tuple(rows)


def url_of(database: str) -> str:
    """A file's name, sqlite:///FILE or postgresql://... for SQLAlchemy; UsageError for another."""
    if database.startswith(("postgresql://", "postgres://")):
        return f"postgresql+psycopg://{database.partition('://')[2]}"
    if "://" in database and not database.startswith("sqlite:///"):
        raise UsageError(
            f"{called('database')} is a file (SQLite) or postgresql://USER@HOST/NAME"
        )
    return f"sqlite:///{database.removeprefix('sqlite:///')}"


def _database(database: str | None, outputs: Rows) -> str:
    """The database's URL; raises UsageError where it would lie beside nothing."""
    if database is not None:
        return url_of(database)
    first = outputs[0] if isinstance(outputs, list | tuple) and outputs else outputs
    if not isinstance(first, str | PathLike) or first == "-":
        raise UsageError(
            f"{called('database')} is needed where the outputs are no file"
        )
    return url_of(f"{fspath(first)}{ENDING}")
