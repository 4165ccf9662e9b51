"""The results so far, for the owner's page; the estimator looks at the ratings in a process."""

import asyncio
import json
import logging
import shlex
import shutil
import sys
import tempfile
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec

from refless.commands.compare.certificate import (
    METHODS,
    Certificate,
    CertifiedStudy,
    TakenLook,
)
from refless.commands.compare.claims import RACE
from refless.data.rows import rows_of
from refless.extensions.serve.acts import RATER, Rater
from refless.extensions.serve.assignment import DONE, SKIPPED
from refless.extensions.serve.exports import BEFORE, CERTIFIED, COMPARED, OUTPUTS
from refless.extensions.serve.items import kept_in
from refless.extensions.serve.planned import Round
from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store
from refless.registry.plural import counted
from refless.report.export import as_jsonl

Look = dict[str, Any]  # what one look told
Rows = Sequence[Mapping[str, Any]]
log = logging.getLogger("refless")
FEWEST = 10  # ratings, before which nothing is looked at
PATIENCE = 60.0  # seconds between two looks at most, where something changed
REST = 10.0  # seconds without an act, after which what changed is looked at
LEFT_OPEN = 10  # times the median, beyond which a rater was away
CERTIFICATE = "certificate.json"
BREATH = 1.0  # seconds between two looks at least


class LookFailedError(Exception):
    """A look's process failed; says by what, and quotes no text."""


class Live:
    """Tells the owner's pages when something changed, and what there is."""

    def __init__(
        self, store: Store, estimator: str, rated: Rows = (), model: Path | None = None
    ) -> None:
        self.store = store
        self.estimator = estimator
        self.rated = rated
        self.model = model
        self.ended = False
        self.project = store.task.project
        self.looks = store.fits()
        self.change = asyncio.Event()  # the next one
        self.folder = Path(tempfile.mkdtemp(prefix="refless-compared-"))
        self._clean = weakref.finalize(
            self, shutil.rmtree, self.folder, ignore_errors=True
        )
        self.files = written(store, rated, self.folder)
        self.commands: list[str] = []  # that give the systems' numbers, after a look
        self.certificate: Look | None = None
        self.acts = 0  # of raters, since the service began
        self._count_then = 0  # ratings at the last look
        self._acts_then = 0
        self._show_compared()
        self._certify()

    def touch(self, acts: int = 0) -> None:
        """Something changed; raters did something, if so many acts."""
        self.acts += acts
        waited = self.change
        self.change = asyncio.Event()
        waited.set()

    def end(self) -> None:
        """Lets whoever waits go, and removes the files that were compared."""
        self.ended = True
        self._clean()
        self.touch()

    async def watch(self) -> None:
        """Looks again at a tenth more ratings, or at any change when all are at rest."""
        while not self.ended:
            change = self.change
            newer = self.acts != self._acts_then
            await until(change, REST if newer else PATIENCE)
            try:
                count = self._count()
                resting = newer and not change.is_set()
                stays = count < FEWEST or not (self._grown(count) or resting)
                if self.ended or stays:  # type: ignore[redundant-expr]
                    continue
                self._count_then = count
                self._acts_then = self.acts
                await self._look()
            except Exception as fault:  # noqa: BLE001 - a look that failed is no reason to stop
                why = (
                    fault
                    if isinstance(fault, LookFailedError)
                    else type(fault).__name__
                )
                log.warning("the estimator could not look at the ratings: %s", why)
            self.touch()

    def _count(self) -> int:
        """Ratings so far, without second ones."""
        return self.store.assignment.ratings * len(self.store.task.dimensions)

    async def _look(self) -> None:
        """One look at each dimension; what it finds is kept, and what teaches most comes next."""
        results = await _run(self._job())
        look: Look = {"n": max(part["n"] for part in results.values())}
        look |= {"dimensions": results, "certificate": None}
        if not self.certificate:
            look["certificate"] = certificate(self.store.task, results)
        if look["certificate"]:
            look["certified"] = self._written(CERTIFIED)
        if self.project.looks and (self.folder / COMPARED).exists():
            look["compared"] = self._written(COMPARED)
        await asyncio.to_thread(self.store.keep_fit, look, dropped_in(results))
        self.looks.append(look)
        self._show_compared()
        self._certify()
        active = next(iter(results.values()))["active"]
        await asyncio.wrap_future(self.store.set_active(active))

    def _written(self, name: str) -> str:
        """The content of a file that a look has written."""
        return (self.folder / name).read_text(encoding="utf-8")

    def _latest(self, name: str) -> Look:
        """The latest look that has something of this name; empty if none has."""
        having = (look for look in reversed(self.looks) if look.get(name))
        return next(having, {})

    def _show_compared(self) -> None:
        """The ratings of the latest comparison, with its commands; planned looks are kept."""
        file = self.folder / COMPARED
        latest = self._latest("compared")
        if latest:
            file.write_text(latest["compared"], encoding="utf-8")
        if file.exists():
            shown = self.folder / f"shown-{COMPARED}"
            self.files[COMPARED] = file.replace(shown)
            self.commands = commands_of(self.looks[-1]["dimensions"])

    def _grown(self, count: int) -> bool:
        """Whether there are a tenth more ratings, or enough for the next planned look."""
        last = self.looks[-1]["dimensions"] if self.looks else {}
        needed = [part["needed"] for part in last.values() if part.get("needed")]
        further: float = min([self._count_then * 0.1 + 1, *needed])
        return count >= self._count_then + further

    def rater_changed(self) -> None:
        """Somebody's link was revoked or made anew: a certificate that rests on them ends."""
        self._certify()
        self.touch(acts=1)

    def put_back(self, system: str) -> None:
        """Raters are asked about a dropped system again: a certificate without it ends."""
        self.store.put_back(system)
        self._certify()
        self.touch(acts=1)

    def _revoked(self) -> list[str]:
        """Raters who have no link now."""
        return [rater.name for rater in self.store.raters() if rater.link < 0]

    def _certify(self) -> None:
        """Ends the round by its latest certificate, if that still holds."""
        look = self._latest("certificate")
        last: Look = look.get("certificate", {})
        self.certificate = last if last and self._holds(last) else None
        self.store.ended = self.certificate is not None
        for name in (CERTIFICATE, CERTIFIED):
            self.files.pop(name, None)
        if self.certificate:
            content = {
                CERTIFICATE: json.dumps(last, indent=1),
                CERTIFIED: look.get("certified", ""),
            }
            for name, text in content.items():
                self.files[name] = self.folder / name
                self.files[name].write_text(text, encoding="utf-8")

    def _holds(self, last: Look) -> bool:
        """Whether a certificate is of this goal, its raters have links, and no system came back."""
        studies = [*last["dimensions"].values()]
        raters = set().union(*(study["raters"] for study in studies))
        kept = set().union(*(study.get("kept", ()) for study in studies))
        revoked = raters & {*self._revoked()}
        same: bool = last["until"] == self.project.until
        return same and not revoked and kept == {*self._kept()}

    def _job(self) -> bytes:
        """The settings of a look, as JSON; it reads the rest from the database."""
        return msgspec.json.encode(
            {
                "url": self.store.database.url,
                "estimator": self.estimator,
                "rated": self.rated,
                "model": str(self.model or ""),
                "folder": str(self.folder),
                "gold": self.project.gold,
                "until": self.project.until,
                "looks": self.project.looks,
                "rounds": self._rounds(),
                "kept": self._kept(),
                "ended": self.certificate is not None,
                "revoked": self._revoked(),
            }
        )

    def _kept(self) -> list[str]:
        """The systems that were dropped and put back."""
        return self.store.database.read(kept_in)

    def _rounds(self) -> Look:
        """The planned looks that were taken, by dimension."""
        last = self.looks[-1]["dimensions"] if self.looks else {}
        return {name: part["round"] for name, part in last.items() if part.get("round")}

    def _race(self) -> list[Look]:
        """The standing of each system in a race, by dimension."""
        if self.project.until != RACE:
            return []
        kept = self._kept()
        rows = []
        for name, part in self._rounds().items():
            dropped = msgspec.convert(part, Round).dropped(())
            for system in sorted({*self.store.outputs.systems}):
                row = {"dimension": name, "system": system, "standing": "left"}
                if system in dropped:
                    row["standing"] = standing_of(system, *dropped[system])
                if system in dropped and system in kept:
                    row["standing"] += "; put back"
                rows.append(row | {"retired": system in self.store.retired})
        return rows

    def state(self) -> Look:
        """The content of the page, without reading ratings from the database."""
        assignment = self.store.assignment
        everybody = self.store.raters()
        raters = [self._rater(rater) for rater in everybody if rater.role == RATER]
        shows_files = self.commands or self.certificate
        look: Look = self.looks[-1] if self.looks else {"n": 0, "dimensions": {}}
        return {
            "count": self._count(),
            "looked": look["n"],
            "before": len(self.rated),
            "rated": assignment.rated,
            "items": len(self.store.items),
            "drawn": assignment.audited,
            "disputed": len(assignment.disputed),
            "dimensions": look["dimensions"],
            "certificate": self.certificate,
            "commands": self.commands,
            "readers": readers_of(self.store.task),
            "race": self._race(),
            "agreements": agreements_of(self.store.task, look["dimensions"]),
            "files": [*self.files] if shows_files else [],
            "raters": raters,
        }

    def _rater(self, rater: Rater) -> Look:
        """The progress of a rater, and the seconds an item takes them (median of the latest)."""
        states = self.store.assignment.states(rater.id)
        seconds = self.store.seconds.get(rater.id)
        return {
            "id": rater.id,
            "name": rater.name,
            "note": rater.note,
            "active": rater.link > 0,
            "done": states[DONE],
            "skipped": states[SKIPPED],
            "pace": round(median(seconds), 1) if seconds else None,
            "hourly": self._hourly(rater, seconds) if seconds else None,
        }

    def _hourly(self, rater: Rater, seconds: Collection[float]) -> float | None:
        """Pay an hour, at the mean pace; of an item that was left open, ten times the median."""
        limit = LEFT_OPEN * median(seconds)
        states = self.store.assignment.states(rater.id)
        n = states[DONE] + states[SKIPPED] + self.store.left(rater.id)
        time = n * fmean(min(pause, limit) for pause in seconds)
        return 3600 * self.project.pay / time if time else None


def written(store: Store, rated: Rows, folder: Path) -> dict[str, Path]:
    """Writes the files that are compared, beside the ratings: outputs, and texts rated before.

    Texts have items in all of them or in none, where their source is their item.
    """
    files = {OUTPUTS: rows_of(store.outputs) if store.task.ask == "rating" else []}
    files[BEFORE] = []
    for row in rated:
        label = row.get("source") or row.get("id", "")
        labelled = {"item": label, **row}
        if not store.outputs.items:
            del labelled["item"]
        files[BEFORE].append(labelled)
    for name, content in files.items():
        (folder / name).write_text(as_jsonl(content), encoding="utf-8")
    return {name: folder / name for name, content in files.items() if content}


def dropped_in(results: Look) -> list[str]:
    """The systems that were dropped in every dimension."""
    dropped = [
        {*msgspec.convert(part["round"], Round).dropped(())}
        for part in results.values()
        if part.get("round")
    ]
    return sorted(set.intersection(*dropped)) if len(dropped) == len(results) else []


def standing_of(system: str, number: int, look: TakenLook) -> str:
    """The look at which a system was dropped, and the system that it is behind."""
    items = counted(look.items, "item")
    behind = look.dropped[system]
    return f"dropped at look {number}, after {items} ({look.at}): worse than {behind}"


def commands_of(look: Look) -> list[str]:
    """The commands that give the numbers of the systems, from the files on the page."""
    return [part["command"] for part in look.values() if part["systems"]]


def readers_of(task: Task) -> list[str]:
    """The commands that read the exported ratings, one a dimension where these are named."""
    command = "refless ratings.jsonl"
    if task.scales or len(task.dimensions) > 1:
        lines = []
        for name in task.dimensions:
            low, high = task.scale_of(name)
            lines.append(f"{command} --dimension '{name}={low:g}..{high:g}'")
        return lines
    low, high = task.scale
    return [f"{command} --scale {low:g} {high:g}" if task.ask == "rating" else command]


def agreements_of(task: Task, look: Look) -> list[str]:
    """The commands that give alpha, from the exported ratings before anybody decided."""
    file = "first.jsonl" if task.project.adjudicate else "ratings.jsonl"
    several = len(task.dimensions) > 1
    commands = []
    for name, part in look.items():
        if part.get("alpha") is None:
            continue
        ends = [f"{end:g}" for end in task.scale_of(name)]
        words = ["refless", "judge", file, "--scale", *ends]
        if several:
            words += ["--dimension", name]
        commands.append(shlex.join(words))
    return commands


def certificate(task: Task, results: Look) -> Look | None:
    """The certificate that ends the round, with the study of each dimension; None if one has none.

    `certified.jsonl` has the ratings on which it rests.
    """
    studies = {name: part.get("certificate") for name, part in results.items()}
    if not all(studies.values()):
        return None
    ends = Certificate(
        until=task.project.until,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        method=METHODS["planned" if task.project.looks else "any"],
        dimensions=msgspec.convert(studies, dict[str, CertifiedStudy]),
    )
    content: Look = msgspec.json.decode(msgspec.json.encode(ends))
    return content


async def until(change: asyncio.Event, patience: float, breath: float = BREATH) -> None:
    """Returns after a change, or so many seconds, and not before it has taken breath."""
    await asyncio.sleep(breath)
    with suppress(TimeoutError):
        await asyncio.wait_for(change.wait(), patience)


async def _run(job: bytes) -> Look:
    """A look in a process of its own, which yields to people's requests; or LookFailedError."""
    process: Any = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "refless.extensions.serve.look_process",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        # and it stays open: a look ends when its input does
        process.stdin.write(job + b"\n")
        out, err = await asyncio.gather(process.stdout.read(), process.stderr.read())
        await process.wait()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        last = (err.decode("utf-8", "replace").strip().split("\n") or [""])[-1]
        raise LookFailedError(last.partition(":")[0])  # what follows may quote a text
    results: Look = msgspec.json.decode(out)
    return results
