"""A store on either database and a page's client, for tests of the rating service."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from benchmarks.rating import Service

from command_line import headlines, jsonl
from refless.data.records import Outputs
from refless.extensions.serve.access import Access
from refless.extensions.serve.acts import OWNER, Event, Rater
from refless.extensions.serve.exports import EXPORTS, Row, ratings_of, snapshot
from refless.extensions.serve.job import Job
from refless.extensions.serve.rate import url_of
from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store

BINARIES = Path("/usr/lib/postgresql/15/bin")
USER = "postgres"
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
RACE_SYSTEMS = 6
RACE_ITEMS = 12
RACE_LEVELS = (1, 1, 4, 4, 4, 4)  # the first two are rated lower than any other
DATABASES = ("sqlite", "postgresql")
SOON = "import refless.extensions.serve.dashboard as dashboard; dashboard.REST = 2.0"
# refless, which looks at ratings after two seconds without an act, and not after ten
HASTY = ("-c", f"{SOON}; from refless.cli import main; main()")
PORTS = count(10_000 + os.getpid() * 64 % 20_000)  # below those of clients


JOB = Job(
    ask="rating",
    items=50,
    scale=(1, 5),
    seed=0,
    estimator="gp",
    ratings=[],
    first=[],
    audit=[],
    rated=[],
    outputs=[],
    answers=[],
    gold={},
    repeats=[],
    revoked=[],
    until="",
    model="",
    folder="",
)


def outputs(n: int = 12, systems: int = 2) -> Outputs:
    """Headlines of several systems, so many an item; the first one would like to run."""
    texts = headlines(n)
    texts[0] = f"{texts[0]} {HOSTILE}"
    return Outputs(
        ids=tuple(f"o{i:02}" for i in range(n)),
        texts=tuple(texts),
        sources=tuple(f"source {i // systems} <b>" for i in range(n)),
        systems=tuple(f"SYS-{i % systems}" for i in range(n)),
        items=tuple(f"i{i // systems}" for i in range(n)),
    )


def opened(url: str, asked: Task | None = None, found: Outputs | None = None) -> Store:
    """A store of these outputs, each asked about alone, or in pairs."""
    asked = asked or Task()
    found = found or outputs()
    n = len(found)
    size = {"rating": 1, "pair": 2, "best": 3}[asked.ask]
    units = [tuple(range(i, i + size)) for i in range(0, n, size)]
    return Store(url, found, units, asked)


def event(kind: str, unit: dict[str, Any] | None = None, **more: Any) -> Event:
    """An act of the page; ratings are of quality unless it says more."""
    about = {} if unit is None else {"assigned": unit["assigned"]}
    dimension = {"dimension": "quality"} if kind == "rated" else {}
    given: dict[str, Any] = {
        "uuid": uuid.uuid4().hex,
        "kind": kind,
        **dimension,
        **about,
        **more,
    }
    return Event(**given)


def posted(
    kind: str, unit: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """The same as the page sends it."""
    made = event(kind, unit, **more)
    return {name: getattr(made, name) for name in made.__struct_fields__}


def rate_all(
    store: Store, rater: Rater, values: Sequence[float] = (1, 2, 3, 4, 5)
) -> int:
    """Rates whatever the rater is shown; how many ratings that were."""
    unit = store.next_unit(rater.id).result()["unit"]
    n = 0
    while unit is not None:
        for name in store.task.dimensions:
            value = float(values[n % len(values)])
            found = store.save(
                rater.id, event("rated", unit, dimension=name, value=value)
            ).result()
            n += 1
        unit = found["next"]
    return n


def exported(store: Store, name: str) -> bytes:
    """A file of the owner's page."""
    found = store.database.read(EXPORTS[name])
    return found.encode() if isinstance(found, str) else found


def rows_of(store: Store) -> list[Row]:
    """All ratings as exports have them."""
    return ratings_of(store.database.read(snapshot))


def client(store: Store) -> Any:
    """The application of a store, to be asked without a network."""
    from starlette.testclient import TestClient

    from refless.extensions.serve.app import rating_app

    return TestClient(rating_app(store), follow_redirects=False)


def joined(web: Any, store: Store, rater: Rater) -> dict[str, str]:
    """Opens a rater's link; headers for what changes something."""
    web.cookies.clear()
    assert web.get(f"/join/{Access(store).link(rater)}").status_code == 303
    (token,) = re.findall('name="csrf" content="([0-9a-f]+)"', web.get("/").text)
    return {"x-csrf": token}


def owner_of(store: Store) -> Rater:
    """The owner, made if need be."""
    return next(
        (one for one in store.raters() if one.role == OWNER), None
    ) or store.add_rater("", OWNER)


def begun(store: Store) -> tuple[int, dict[str, Any]]:
    """The number of a new rater, and the first item that they are shown."""
    rater = store.add_rater("").id
    return rater, store.next_unit(rater).result()["unit"]


def free_port() -> int:
    """A port on which nothing listens: none that another worker, or a client, is given."""
    for port in PORTS:
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            break
    return port


def race_in(folder: Path) -> tuple[list[Row], list[str]]:
    """Six systems' answers to twelve items, and the words that serve their race of two looks."""
    texts = headlines(RACE_SYSTEMS * RACE_ITEMS)
    rows: list[Row] = []
    for i, text in enumerate(texts):
        item, system = divmod(i, RACE_SYSTEMS)
        row = {"id": f"o{i:02}", "item": f"i{item}", "system": f"S{system}"}
        rows.append({**row, "text": text})
    outputs = jsonl(folder / "outputs.jsonl", rows)
    project = folder / "project.json"
    project.write_text('{"until": "best known", "looks": 2}', "utf-8")
    words = [outputs, "--project", project, "--estimator", "bleu-neighbors"]
    words += ["--audit", 1, "--overlap", 0, "--repeat", 0, "--raters", 3]
    return rows, [*map(str, words)]


def race_service(words: list[str]) -> Service:
    """The service of a race."""
    return Service(words, free_port(), HASTY)


def race_rating(row: Row) -> int:
    """The rating that each rater gives: a level of the system, and one more of each second text."""
    system = int(row["system"][1:])
    item = int(row["item"][1:])
    return RACE_LEVELS[system] + (item + system) % 2


@contextmanager
def postgresql() -> Iterator[str]:
    """A server of its own on a socket and a free port: the URL without a database's name.

    Its folder is none of pytest's, which only the user who runs the tests can read.

    Raises:
        FileNotFoundError: PostgreSQL is not installed.
    """
    if not (BINARIES / "initdb").exists():
        raise FileNotFoundError("needs PostgreSQL 15 (Debian: postgresql-15)")
    as_user = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []

    def run(*words: object) -> None:
        command = [*as_user, *map(str, words)]
        subprocess.run(command, check=True, capture_output=True, cwd="/")

    port = free_port()
    with tempfile.TemporaryDirectory(prefix="refless-pg-") as folder:
        if as_user:
            shutil.chown(folder, USER)
        data = Path(folder) / "data"
        run(
            BINARIES / "initdb",
            "-D",
            data,
            "-U",
            USER,
            "-A",
            "trust",
            "--no-sync",
            "-E",
            "UTF8",
        )
        settings = f"-p {port} -k {data} -c listen_addresses=127.0.0.1 -c fsync=off"
        control = (BINARIES / "pg_ctl", "-D", data, "-w", "-l", data / "log")
        run(*control, "-o", settings, "start")
        try:
            yield f"postgresql://{USER}@127.0.0.1:{port}/"
        finally:
            run(*control, "-m", "immediate", "stop")


def new_database(server: str) -> str:
    """A database of its own on a server: its URL."""
    import sqlalchemy as sa

    name = f"t{uuid.uuid4().hex}"
    engine = sa.create_engine(url_of(f"{server}postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as one:
        one.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return url_of(f"{server}{name}")


def cut_off(url: str) -> None:
    """Ends all connections to a database of a server, as its restart does."""
    import sqlalchemy as sa

    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
    with engine.connect() as connection:
        connection.execute(
            sa.text(f"{ends}current_database() AND pid <> pg_backend_pid()")
        )
    engine.dispose()


def told(live: Any, name: str) -> list[Any]:
    """Sentences (`said`) or rows of `systems` on the owner's page, of all dimensions."""
    return [
        *chain.from_iterable(look[name] for look in live.state()["dimensions"].values())
    ]
