"""A disk that is full while raters rate: nothing that was acknowledged is lost, nothing is doubled.

A small file system of its own where root may mount; else SQLite's own limit, by which it says the
same (SQLITE_FULL).
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store
from serving import client, joined, opened, outputs, posted, rows_of

Filling = tuple[
    Callable[[], None], Callable[[], None]
]  # fills the disk, and makes room again


@contextmanager
def _disk(folder: Path) -> Iterator[Path]:
    """A file system of 3 MiB."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _filler(disk: Path) -> Filling:
    def fill() -> None:
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        (disk / "filler").write_bytes(b"0" * max(0, free - 40_000))

    return fill, (disk / "filler").unlink


def _limit(store: Store) -> Filling:
    pages = [8]

    @sa.event.listens_for(store.database.engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(
            f"PRAGMA max_page_count={pages[0]}"
        )  # or what there is, if more

    def free() -> None:
        pages[0] = 1 << 20

    return lambda: None, free


@pytest.mark.parametrize("mounted", [False, True])
def test_full_disk(tmp_path: Path, mounted: bool) -> None:
    """503 while there is no room, to every rating; the same ratings are kept once there is."""
    with _disk(tmp_path) if mounted else _folder(tmp_path) as folder:
        url = f"sqlite:///{folder / 'a.sqlite'}"
        task = Task(overlap=0.0, repeat=0.0)
        store = opened(url, task, outputs(300))
        rater = store.add_rater("")
        fill, free = _filler(folder) if mounted else _limit(store)
        acknowledged: dict[str, int] = {}
        with client(store) as web:
            headers = joined(web, store, rater)
            unit = web.get("/rate/next").json()["unit"]
            fill()
            for k in range(300):
                sent = posted("rated", unit, value=k % 5 + 1)
                answer = web.post("/rate/events", json=sent, headers=headers)
                if answer.status_code != 200:
                    break
                acknowledged[unit["texts"][0]] = k % 5 + 1
                unit = answer.json()["next"]
            refused = [
                web.post("/rate/events", json=sent, headers=headers) for _ in range(3)
            ]
            assert {one.status_code for one in (answer, *refused)} == {503}
            assert {
                row["text"]: row["rating"] for row in rows_of(store)
            } == acknowledged
            free()
            for _ in range(2):
                assert (
                    web.post("/rate/events", json=sent, headers=headers).status_code
                    == 200
                )
            acknowledged[unit["texts"][0]] = int(sent["value"])
        assert len(rows_of(store)) == len(acknowledged)
        store.close()
        store = opened(url, task, outputs(300))
        assert {row["text"]: row["rating"] for row in rows_of(store)} == acknowledged
        store.close()


@contextmanager
def _folder(folder: Path) -> Iterator[Path]:
    yield folder
