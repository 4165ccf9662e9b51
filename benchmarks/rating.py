"""How fast `refless rate` saves; `python -m fuzz.kill_service` says what it keeps when killed.

python benchmarks/rating.py --raters 100 --pace 2 --minutes 5  # guidelines, gold, disputes
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

FAULTS = (OSError, asyncio.IncompleteReadError)


def outputs(folder: Path, n: int) -> Path:
    """Simulated outputs, as many as raters need."""
    from simulate import simulate

    pool = simulate(n, seed=1).pool
    names = ("id", "source", "system", "text")
    columns = zip(pool.ids, pool.sources, pool.systems, pool.texts, strict=True)
    path = folder / "outputs.jsonl"
    lines = (json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in columns)
    path.write_text("".join(lines), encoding="utf-8")
    return path


@dataclass
class Service:
    """`refless rate` as a process; `start_of`: of Python's command line."""

    words: list[str]
    port: int
    start_of: tuple[str, ...] = ("-m", "refless")
    links: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Returns when it listens."""
        command = [
            sys.executable,
            *self.start_of,
            "rate",
            *self.words,
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if match := re.fullmatch(r"(owner|rater r\d+): http://[^/]+(\S+)\n", line):
                self.links[match[1]] = match[2]
            if line.startswith("API token"):
                return
        raise RuntimeError("the service has ended")

    def kill(self) -> None:
        """As a power cut does it to a process."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def end(self) -> None:
        """As Ctrl-C does it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


@dataclass
class Rater:
    """Rates until told to stop; sends what was not acknowledged again, with its id."""

    port: int
    link: str
    pace: float = 0.0  # ratings a second; 0 is as fast as it goes
    stopped: bool = False
    acknowledged: dict[str, tuple[int, int]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.random = random.Random(self.link)

    async def run(self) -> None:
        """Joins, and rates whatever comes."""
        unit: Any = None
        if self.pace:  # nobody begins at the same moment
            await asyncio.sleep(self.random.uniform(0, 4) / self.pace)
        while not self.stopped:
            if not self.headers:
                await self._join()
            unit = unit or (await self._ask("GET", "/rate/next"))["unit"]
            if unit is None:
                return
            sent = {"uuid": uuid.uuid4().hex, "kind": "rated", "assigned": unit["assigned"],
                    "dimension": "quality", "value": self.random.randint(1, 5)}  # fmt: skip
            began = time.perf_counter()
            found = await self._ask("POST", "/rate/events", json.dumps(sent))
            took = time.perf_counter() - began
            if found.get("saved") == sent["uuid"]:
                self.acknowledged[sent["uuid"]] = (unit["position"], sent["value"])
                self.seconds.append(took)
            unit = found.get("next")
            if self.pace:
                await asyncio.sleep(
                    max(0.0, self.random.uniform(0.5, 1.5) / self.pace - took)
                )

    async def watch(self) -> None:
        """Reads what the owner's page is told, until it is cancelled."""
        await self._join()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"GET /owner/live HTTP/1.1\r\nhost: localhost\r\ncookie: "
                     f"{self.headers['cookie']}\r\n\r\n".encode())  # fmt: skip
        while await reader.read(1 << 16):
            pass

    async def probe(self) -> None:
        """Asks twenty times a second for what takes no work, until it is cancelled."""
        while True:
            began = time.perf_counter()
            await self._sent("GET", "/healthz", "")
            self.seconds.append(time.perf_counter() - began)
            await asyncio.sleep(0.05)

    async def _join(self) -> None:
        """A session, and the page's token."""
        answer = await self._sent("GET", self.link, "")
        cookie = re.search("set-cookie: ([^;]+)", answer[1])
        self.headers = {"cookie": cookie[1] if cookie else ""}
        token = re.search(
            'name="csrf" content="([0-9a-f]+)"', (await self._sent("GET", "/", ""))[2]
        )
        self.headers["x-csrf"] = token[1] if token else ""

    async def _ask(self, method: str, path: str, body: str = "") -> dict[str, Any]:
        status, _, text = await self._sent(method, path, body)
        if status != 200:
            self.refused.append(f"{status} {text[:200]!r}")
            return {"unit": None}
        found: dict[str, Any] = json.loads(text)
        return found

    async def _sent(self, method: str, path: str, body: str) -> tuple[int, str, str]:
        """Again until there is an answer: its status, head and body."""
        told = {**self.headers, "host": "localhost", "content-length": str(len(body))}
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in told.items())]
        request = "\r\n".join((*lines, "", body)).encode()
        while not self.stopped:
            try:
                if self.streams is None:
                    self.streams = await asyncio.open_connection("127.0.0.1", self.port)
                reader, writer = self.streams
                writer.write(request)
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = re.search("content-length: (\\d+)", head)
                text = await reader.readexactly(int(length[1]) if length else 0)
                return int(head.split()[1]), head, text.decode()
            except FAULTS:
                self.streams = None
                await asyncio.sleep(0.05)
        return 0, "", "stopped"


async def gathered(raters: list[Rater], work: Awaitable[None]) -> None:
    """All rate while the work is done, and end what they were saving."""
    rating = [asyncio.create_task(one.run()) for one in raters]
    await work
    for one in raters:
        one.stopped = True
    await asyncio.wait(rating, timeout=30)


def raters_of(service: Service, pace: float = 0.0) -> list[Rater]:
    """One for each link of a rater."""
    links = (link for name, link in service.links.items() if name != "owner")
    return [Rater(service.port, link, pace) for link in links]


def told(raters: list[Rater], database: Path) -> int:
    """What was acknowledged against what is there: exit status 1 where they differ."""
    with closing(sqlite3.connect(database)) as one:
        query = ("SELECT e.uuid, a.position, e.value, a.id FROM events e "
                 "JOIN assigned a ON a.id = e.assigned")  # fmt: skip
        rows = one.execute(query).fetchall()
        whole = one.execute("PRAGMA integrity_check").fetchone()[0]
    there = {name: (position, value) for name, position, value, _ in rows}
    sent = {name: said for one in raters for name, said in one.acknowledged.items()}
    lost = [name for name, said in sent.items() if there.get(name) != said]
    doubled = len(rows) - len({assigned for *_, assigned in rows})
    refused = [
        line for one in raters for line in one.refused if not line.startswith("0 ")
    ]
    print(f"{len(sent)} acknowledged, {len(rows)} there, {len(lost)} lost, {doubled} doubled, "
          f"{len(refused)} refused, integrity {whole}")  # fmt: skip
    print(*refused[:5], sep="\n")
    return int(bool(lost or doubled or refused or whole != "ok"))


def load(args: argparse.Namespace, folder: Path) -> int:
    """Many raters at their pace, while the estimator and the owner look; how long saving takes.

    Each item has two ratings, at random, so that a third rater decides about nearly half of them.
    """
    path = outputs(folder, args.items)
    project = folder / "project.json"
    with path.open(encoding="utf-8") as lines:
        gold = [
            {"id": json.loads(line)["id"], "answer": 3} for line in islice(lines, 20)
        ]
    rules = {"guidelines": "# How usable is it?", "render": "markdown", "adjudicate": 1}
    project.write_text(json.dumps({**rules, "gold": gold}), encoding="utf-8")
    words = [
        str(path),
        "--raters",
        str(args.raters),
        "--overlap",
        "0.001",
        "--per-item",
        "2",
    ]
    words += ["--project", str(project)]
    service = Service(words, _free_port())
    service.start()
    raters = raters_of(service, args.pace)
    empty = Rater(service.port, "")

    async def watched() -> None:
        owner = asyncio.create_task(Rater(service.port, service.links["owner"]).watch())
        probe = asyncio.create_task(empty.probe())
        await asyncio.sleep(60 * args.minutes)
        owner.cancel()
        probe.cancel()

    asyncio.run(gathered(raters, watched()))
    busy = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    service.end()
    took = [t for one in raters for t in one.seconds]
    spent = os.times()
    wall = 60 * args.minutes
    ours = spent.user + spent.system
    theirs = spent.children_user + spent.children_system
    print(f"{len(took) / wall:.0f} ratings a second; {percentiles(took)}")
    print(f"an answer without work meanwhile: {percentiles(empty.seconds)}")
    print(f"of a core: raters {ours / wall:.0%}, service with its looks {theirs / wall:.0%}; "
          f"load {busy} on {os.cpu_count()} cores")  # fmt: skip
    return told(raters, Path(f"{path}.ratings.sqlite"))


def percentiles(seconds: list[float]) -> str:
    """In milliseconds."""
    ordered = sorted(1000 * value for value in seconds)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "most": 1.0}
    parts = (
        f"{name} {ordered[int(at * (len(ordered) - 1))]:.1f} ms"
        for name, at in shares.items()
    )
    return ", ".join(parts)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=20)
    parser.add_argument(
        "--pace", type=float, default=2.0, help="ratings a second of each"
    )
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--items", type=int, default=60_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return load(args, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
