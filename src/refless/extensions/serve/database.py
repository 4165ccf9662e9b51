"""A rating database, SQLite or PostgreSQL: opened, locked, written by one thread."""

import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy import Connection

from refless.extensions.serve.schema import VERSION, make_tables
from refless.files.untrusted import is_file
from refless.registry.dialect import called
from refless.registry.errors import (
    InputError,
    MissingExtraError,
    RefLessError,
    UsageError,
)

T = TypeVar("T")
log = logging.getLogger("refless")
# what it says, we say in a line
logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
AWAY = (sa.exc.DBAPIError, ConnectionError)  # a database that is not there now
Job = Callable[[Connection], T]
Waiting = tuple[Job[Any], Future[Any]]
MOST_AT_ONCE = 200  # jobs of one transaction
LOCK = 7_350_533  # of PostgreSQL: one server a database
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "busy_timeout=5000",
    "foreign_keys=ON",
)
TRY_LOCK = sa.text("SELECT pg_try_advisory_lock(:key)")
UNLOCK = sa.text("SELECT pg_advisory_unlock(:key)")
PRIVATE = (
    0o600  # the key of all links is in a database; SQLite gives its log the same mode
)


class Database:
    """Reads from any thread; writes from one, which commits what waits for it together.

    A write is done, whatever happens to the machine, when its future is.

    Attributes:
        lost: commits that failed, with all that waited for them.
    """

    _lock: FileLock | Connection | None  # of PostgreSQL the connection that also writes

    def __init__(self, url: str) -> None:
        self.url = url
        self.lost = 0
        self._down = False
        self.engine = engine_of(url)
        self._jobs: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._lock = None
        try:
            self._lock = self._sole()
            with connected(url), self.engine.begin() as connection:
                check_schema(connection, url)
        except BaseException:
            self._unlock()
            raise
        work = copy_context()  # its messages speak of flags, as its caller's do
        self._thread = threading.Thread(
            target=work.run, args=(self._work,), name="writer", daemon=True
        )
        self._thread.start()

    def write(self, job: Job[T]) -> Future[T]:
        """The job's return value, once it is on disk; a job that raises leaves nothing behind."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()  # a caller that is gone cancels nothing
        self._jobs.put((job, future))
        return future

    def read(self, job: Job[T]) -> T:
        """The job's return value."""
        with self.engine.connect() as connection:
            return job(connection)

    def close(self) -> None:
        """Ends after the writes that wait."""
        self._jobs.put(None)
        self._thread.join()
        self._unlock()

    def _unlock(self) -> None:
        if isinstance(self._lock, Connection):
            # without this, PostgreSQL keeps the lock until it sees that we are gone
            with suppress(sa.exc.SQLAlchemyError, ConnectionError):
                self._lock.execute(UNLOCK, {"key": LOCK})
            self._lock.close()
        elif self._lock is not None:
            self._lock.release()
        self.engine.dispose()

    def _sole(self) -> Any:  # noqa: ANN401 - of a file, or a connection
        """Holds a lock while it is open; raises UsageError where another process has it."""
        path = file_of(self.url)
        if path is None:
            with connected(self.url):
                connection = self.engine.connect()
            with connection.begin():  # the lock outlives it
                mine = connection.execute(TRY_LOCK, {"key": LOCK}).scalar()
            if not mine:
                connection.close()
                raise _not_alone()
            return connection
        with connected(self.url):
            return sole_file(path)

    @contextmanager
    def _begun(self) -> Iterator[Connection]:
        """A transaction of the writer, with the lock, which PostgreSQL forgets as it restarts."""
        mine = self._lock
        if not isinstance(mine, Connection):
            with self.engine.begin() as connection:
                yield connection
            return
        if mine.closed or mine.invalidated:
            mine.close()
            try:
                self._lock = mine = self._sole()
            except RefLessError as fault:  # which is no fault of a request
                raise ConnectionError(str(fault)) from fault
        try:
            with mine.begin():
                yield mine
        except BaseException:
            if not mine.invalidated:
                mine.connection.rollback()  # of a commit that failed nothing stays
            raise

    def _work(self) -> None:
        while (first := self._jobs.get()) is not None:
            batch = [first]
            last = False
            while len(batch) < MOST_AT_ONCE and not self._jobs.empty():
                job = self._jobs.get()
                last = job is None
                if job is None:
                    break
                batch.append(job)
            self._commit(batch)
            if last:
                return

    def _commit(self, batch: list[Waiting]) -> None:
        """Runs jobs in one transaction, each in a savepoint; tells them after the commit."""
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            with self._begun() as connection:
                for job, future in batch:
                    # a fifth of begin_nested's time
                    connection.exec_driver_sql("SAVEPOINT job")
                    try:
                        done.append((future, job(connection), None))
                    except Exception as fault:
                        if connection.invalidated:
                            raise
                        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT job")
                        done.append((future, None, fault))
                    connection.exec_driver_sql("RELEASE SAVEPOINT job")
        except Exception as fault:  # noqa: BLE001 - nothing of it was kept
            done = [(future, None, fault) for _, future in batch]
            self.lost += 1
            # a line for each time that the database goes, not for each request
            if not self._down:
                log.warning("ratings are not saved: %s", str(fault).split("\n")[0])
            self._down = True
        else:
            self._down = False
        for future, value, error in done:
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)


def file_of(url: str) -> Path | None:
    """The file of SQLite; None for a server."""
    return (
        Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:///") else None
    )


def sole_file(path: Path) -> FileLock:
    """The lock of the database's only server, whatever it calls the database.

    Raises:
        UsageError: another server has it, or the database has a second name, beside which a second
            lock and log would lie.
    """
    path = path.resolve()
    if path.exists() and path.stat().st_nlink > 1:
        raise UsageError(
            f"{path} has a hard link; a database has one name: copy it to another"
        )
    lock = FileLock(f"{path}.lock", timeout=0, mode=PRIVATE)
    try:
        lock.acquire()
    except Timeout:
        raise _not_alone() from None
    os.close(private(path, os.O_CREAT | os.O_RDWR))
    for file in (
        path,
        *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm")),
    ):
        if file.exists() and file.stat().st_mode & 0o077:  # such as a copy
            file.chmod(PRIVATE)
    return lock


def private(path: str | Path, flags: int) -> int:
    """Opens a file that, if it is new, is its owner's alone from the first moment."""
    return os.open(path, flags, PRIVATE)


@contextmanager
def connected(url: str) -> Iterator[None]:
    """Faults of a database that cannot be reached, as ours."""
    try:
        yield
    except (sa.exc.DatabaseError, sqlite3.Error, OSError) as fault:
        reason = str(getattr(fault, "orig", None) or fault).strip().split("\n")[0]
        hidden = sa.make_url(url).render_as_string(hide_password=True)
        problem = f"the database cannot be opened ({reason})"
        remedy = f"check that it can be written; {called('restore', 'FILE')} goes back to a backup"
        raise InputError(problem, path=hidden, remedy=remedy) from fault


def engine_of(url: str) -> sa.Engine:
    """An engine that begins each transaction of SQLite as a writer or reader of its own."""
    if file_of(url) is None:
        try:
            return sa.create_engine(url, pool_pre_ping=True, hide_parameters=True)
        except ModuleNotFoundError as fault:
            raise MissingExtraError("PostgreSQL", "postgresql") from fault
        except (
            sa.exc.ArgumentError,
            ValueError,
        ) as fault:  # which may quote a password
            raise UsageError(
                f"{called('database')} is no address of PostgreSQL; see --help"
            ) from fault
    engine = sa.create_engine(url, hide_parameters=True)

    @sa.event.listens_for(engine, "connect")
    def _connect(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = threading.current_thread().name == "writer"
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def check_schema(connection: Connection, url: str) -> None:
    """Makes the tables of a new database; InputError for one that another version made."""
    if file_of(url) is not None:
        check_integrity(connection.exec_driver_sql)
    version = make_tables(connection)
    if version != VERSION:
        hidden = sa.make_url(url).render_as_string(hide_password=True)
        problem = f"another refless made this database (schema {version})"
        raise InputError(
            problem,
            path=hidden,
            remedy=f"use that one, or name another {called('database')}",
        )


def back_up(url: str, target: Path) -> None:
    """A whole copy of a SQLite database as it is at one moment, also while it is written to.

    Raises:
        UsageError: no SQLite database, or a file that is there already.
        InputError: no such database, or a copy that cannot be written.
    """
    _copy(_file_of(url, "backup", "pg_dump"), target)


def restore(url: str, backup: Path) -> Path:
    """Puts a backup in the place of a SQLite database; where that database is now.

    Raises:
        UsageError: no SQLite database, one that is being served, or an earlier one in the way.
        InputError: a backup that cannot be read.
    """
    path = _file_of(url, "restore", "pg_restore").resolve()
    copy, before = (path.with_name(path.name + end) for end in (".new", ".before"))
    if before.exists():
        raise UsageError(f"{before} is there already; move it elsewhere")
    with connected(url):
        lock = sole_file(path)
    with lock:
        _copy(backup, copy)
        # a log that stayed would be read into the backup
        for end in (
            "-shm",
            "-wal",
            "",
        ):
            part = path.with_name(path.name + end)
            if part.exists():
                part.rename(f"{before}{end}")
        copy.rename(path)
    return before


def _file_of(url: str, option: str, instead: str) -> Path:
    """The file of SQLite, which an option needs; UsageError for a server, with what does it."""
    path = file_of(url)
    if path is None:
        problem = f"{called(option)} is for SQLite files; for PostgreSQL use {instead}"
        raise UsageError(problem)
    return path


def _copy(path: Path, target: Path) -> None:
    """A new file with all of a database."""
    if not is_file(path):
        raise InputError(
            "no such database", path=str(path), remedy="check the file's name"
        )
    if target.exists():
        raise UsageError(f"{target} is there already; name another file")
    with connected(f"sqlite:///{path}"), closing(sqlite3.connect(path)) as source:
        check_integrity(source.execute)  # so that what fails below is the copy's fault
        try:
            os.close(private(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            with closing(sqlite3.connect(target)) as copy:
                source.backup(copy)
        except (sqlite3.Error, OSError) as fault:
            problem = f"the copy cannot be written ({fault})"
            raise InputError(
                problem, path=str(target), remedy="name another file"
            ) from fault


def check_integrity(execute: Callable[[str], Any]) -> None:
    """Raises DatabaseError for a SQLite database that is damaged, as beside a foreign log."""
    (report,) = execute("PRAGMA integrity_check(1)").fetchone()
    if report != "ok":
        raise sqlite3.DatabaseError(f"it is damaged: {report}")


def _not_alone() -> UsageError:
    """The error for a database that another process serves."""
    return UsageError(
        "another refless rate serves this database; end it first, or name another with "
        f"{called('database')}"
    )
