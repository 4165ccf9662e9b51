"""Kills `refless rate` while raters rate: nothing acknowledged is lost, doubled or elsewhere.

Each life of the service is some tens of acts of four raters, all of whom wait for an answer when
the kill comes, and send what was not acknowledged again, as the page does. After some lives the
exports must be what the raters did.

python -m fuzz.kill_service --kills 1000 [--server postgresql://USER@HOST/]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from fuzz.forks import Budget, Found, campaign, command, ended, fork, jsonl

RATERS = 4
ITEMS = 1000
LIVES = 20  # of a database, before its ratings are compared
ROUNDS = 15  # answers to each rater in a life, at most
IN_START = 0.1  # share of lives that are killed before they listen
PATIENCE = 120.0  # seconds in which a service listens
GONE = (OSError, HTTPException)
Act = dict[str, Any]
LINK = re.compile(r"^rater (r\d+): http://[^/]+(\S+)$", re.MULTILINE)


class Rater:
    """One browser: an act that waits until it is acknowledged, and what then must be kept."""

    def __init__(self, name: str, link: str, drawn: random.Random) -> None:
        self.name = name
        self.link = link
        self.random = drawn
        self.headers: dict[str, str] = {}
        self.unit: Any = None
        self.waiting: Act | None = None
        self.about = ""  # the text of what waits
        self.last: tuple[str, str] | None = None  # what may be undone, and its text
        self.acknowledged: dict[str, tuple[str, str, float | None]] = {}
        self.ratings: dict[str, float] = {}  # by text

    def connect(self, port: int) -> None:
        """Opens the page, by the link for the first time."""
        self.connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        if not self.headers:
            joined = self._asked("GET", self.link)[0]
            cookie = str(joined.getheader("set-cookie")).partition(";")[0]
            self.headers = {"cookie": cookie}
            page = self._asked("GET", "/")[1].decode()
            (token,) = re.findall('name="csrf" content="([0-9a-f]+)"', page)
            self.headers["x-csrf"] = token
        if self.unit is None and self.waiting is None:
            self.unit = json.loads(self._asked("GET", "/rate/next")[1])["unit"]

    def _asked(self, method: str, path: str) -> tuple[Any, bytes]:
        self.connection.request(method, path, headers=self.headers)
        answer = self.connection.getresponse()
        return answer, answer.read()

    def send(self) -> None:
        """Sends what waits, else something new, and waits for no answer."""
        self.waiting = self.waiting or self._drawn()
        body = json.dumps(self.waiting)
        self.connection.request("POST", "/rate/events", body, self.headers)

    def _drawn(self) -> Act:
        """Mostly a rating of what is shown; seldom a skip, or the last rating undone."""
        kind = self.random.choices(("rated", "skipped", "undone"), (8, 1, 1))[0]
        if kind == "undone" and self.last is not None:
            assigned, self.about = self.last
        else:
            assigned = self.unit["assigned"]
            self.about = self.unit["texts"][0]
            kind = "rated" if kind == "undone" else kind
        act: Act = {"uuid": uuid.uuid4().hex, "kind": kind, "assigned": assigned}
        if kind == "rated":
            act |= {"dimension": "quality", "value": self.random.randint(1, 5)}
        return act

    def hear(self, found: Found) -> None:
        """Reads the answer: the act is acknowledged, and what is shown next."""
        answer = self.connection.getresponse()
        text = answer.read().decode()
        found.hold(f"status {answer.status}", holds=answer.status == 200, told=text)
        act = self.waiting
        if answer.status != 200 or act is None:
            return
        told = json.loads(text)
        found.hold("another act", holds=told["saved"] == act["uuid"], told=text)
        value = act.get("value")
        self.acknowledged[act["uuid"]] = (act["kind"], self.about, value)
        self.waiting = None
        self.last = None
        if act["kind"] == "undone":
            self.ratings.pop(self.about)
            self.unit = told["unit"]
            return
        self.unit = told["next"]
        if act["kind"] == "rated":
            self.ratings[self.about] = float(act["value"])
            self.last = (act["assigned"], self.about)


class Place:
    """One database, the service on it, and who rates."""

    def __init__(self, folder: Path, url: str, drawn: random.Random) -> None:
        self.url = url
        self.random = drawn
        self.said = folder / "said.txt"
        self.port = _free_port()
        texts: list[dict[str, object]] = [
            {"id": f"o{i}", "text": f"Text {i}."} for i in range(ITEMS)
        ]
        self.words = (
            "rate", jsonl(folder / "outputs.jsonl", texts), "--port", self.port,
            "--database", url, "--raters", RATERS, "--repeat", 0, "--per-item", 2,
        )  # fmt: skip
        self.raters: list[Rater] = []
        self.slowest = 0.0  # seconds until the service listened
        self.pace = 0.02  # seconds that the last round of answers took

    def life(self, found: Found, *, kill: bool) -> int:
        """Starts the service, has it rated on, and kills it; its exit status."""
        self.said.write_text("")
        service = fork(self._served)
        if kill and self.slowest > 0 and self.random.random() < IN_START:
            time.sleep(self.random.uniform(0, self.slowest))
            self._kill(service)
        elif self._listens(service, found):
            for rater in self.raters:
                rater.connect(self.port)
            self._rated(service, found, kill=kill)
            for rater in self.raters:
                rater.connection.close()
        return ended(service)

    def _served(self) -> int:
        os.setpgid(
            0, 0
        )  # with its looks, which a kill of it alone would leave to load up
        return command(self.words, self.said)

    def _kill(self, service: int) -> None:
        """Kills the service, with its looks."""
        os.kill(service, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(service, signal.SIGKILL)

    def _listens(self, service: int, found: Found) -> bool:
        """Whether the service begins; its links are then known."""
        begun = time.monotonic()
        while "API token" not in self.said.read_text():
            late = time.monotonic() - begun > PATIENCE
            gone = os.waitid(os.P_PID, service, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if late or gone is not None:
                found.hold("no start", holds=False, told=self.said.read_text())
                return False
            time.sleep(0.005)
        self.slowest = max(self.slowest, time.monotonic() - begun)
        self.raters = self.raters or [
            Rater(name, link, self.random)
            for name, link in LINK.findall(self.said.read_text())
        ]
        return True

    def _rated(self, service: int, found: Found, *, kill: bool) -> None:
        """Lets raters rate, and ends the service: by a kill while all of them wait."""
        for _ in range(self.random.randrange(ROUNDS) if kill else 1):
            begun = time.monotonic()
            self._sent()
            for rater in self.raters:
                rater.hear(found)
            self.pace = time.monotonic() - begun
        if not kill:
            os.kill(service, signal.SIGINT)
            return
        self._sent()
        time.sleep(self.random.uniform(0, self.pace))
        self._kill(service)
        for rater in self.raters:
            with suppress(*GONE):  # what was answered before is acknowledged
                rater.hear(found)

    def _sent(self) -> None:
        for rater in self.raters:
            rater.send()

    def check(self, found: Found) -> None:
        """The exports are what the raters did."""
        from refless.extensions.serve.database import check_integrity, engine_of
        from refless.extensions.serve.exports import EXPORTS
        from refless.extensions.serve.rate import url_of

        engine = engine_of(url_of(self.url))
        with engine.connect() as db:
            if self.url.startswith("sqlite"):
                check_integrity(db.exec_driver_sql)
            ratings, events = (
                [json.loads(line) for line in str(EXPORTS[name](db)).splitlines()]
                for name in ("ratings.jsonl", "events.jsonl")
            )
        engine.dispose()
        there = Counter((r["annotator"], r["text"], r["rating"]) for r in ratings)
        wanted = Counter(
            (rater.name, text, value)
            for rater in self.raters
            for text, value in rater.ratings.items()
        )
        lost = [*(wanted - there)]
        more = [*(there - wanted)]
        found.hold("lost or wrong", holds=not lost, told=lost[:5])
        found.hold("doubled or wrong", holds=not more, told=more[:5])
        kept = {
            event["uuid"]: (
                event["annotator"],
                (event["kind"], f"Text {event['item'][1:]}.", event["value"]),
            )
            for event in events
        }
        acts = {
            name: (rater.name, act)
            for rater in self.raters
            for name, act in rater.acknowledged.items()
        }
        found.hold(
            "acts", holds=kept == acts, told=[*(kept.items() ^ acts.items())][:5]
        )
        found.hold("acts twice", holds=len(kept) == len(events))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def ready() -> None:
    """Loads here, once, what services need."""
    import uvicorn.lifespan.on
    import uvicorn.loops.auto  # noqa: F401

    import refless.cli
    import refless.extensions.serve.app
    import refless.extensions.serve.rate  # noqa: F401


def _database(folder: Path, server: str) -> str:
    """A new database: its URL."""
    if not server:
        return f"sqlite:///{folder / 'ratings.sqlite'}"
    import sqlalchemy as sa

    from refless.extensions.serve.rate import url_of

    name = f"k{uuid.uuid4().hex}"
    engine = sa.create_engine(url_of(f"{server}postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        db.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{server}{name}"


def kill_service(
    folder: Path, rng: random.Random, found: Found, budget: Budget, server: str
) -> None:
    """So many kills, on a new database each 20."""
    os.environ["TMPDIR"] = str(folder)  # what is killed tidies nothing up
    tempfile.tempdir = None
    acknowledged = 0
    while budget.left(found.executions):
        here = folder / str(found.executions)
        here.mkdir()
        place = Place(here, _database(here, server), rng)
        for _ in range(LIVES):
            status = place.life(found, kill=True)
            found.hold(f"ends with {status}", holds=status == -9)
            found.executions += 1
            if not budget.left(found.executions):
                break
        status = place.life(found, kill=False)
        found.hold(f"interrupted: {status}", holds=status == 0)
        place.check(found)
        acknowledged += sum(len(rater.acknowledged) for rater in place.raters)
        shutil.rmtree(here)
        kills = found.executions
        print(
            f"kill_service: {kills} kills, {acknowledged} acknowledged acts", flush=True
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Kills so many lives of the service."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--server", default="")
    own, rest = parser.parse_known_args(argv)

    def body(_: Path, rng: random.Random, found: Found, budget: Budget) -> None:
        with tempfile.TemporaryDirectory() as disk:  # where commits wait, as in use
            kill_service(Path(disk), rng, found, budget, own.server)

    return campaign("kill_service", rest, 1000, __doc__, body, ready)


if __name__ == "__main__":
    sys.exit(main())
