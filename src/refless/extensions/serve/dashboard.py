"""The results so far, for the owner's page; the estimator looks at the ratings in a process."""

import asyncio
import json
import logging
import shlex
import shutil
import sys
import tempfile
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec

from refless.data.rows import rows_of
from refless.extensions.serve.acts import RATER, Rater
from refless.extensions.serve.assignment import DONE, SKIPPED
from refless.extensions.serve.exports import BEFORE, COMPARED, OUTPUTS
from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store
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
        self.acts = 0  # of raters, since the service began
        self._count_then = 0  # ratings at the last look
        self._acts_then = 0
        self._certify(self.looks[-1].get("certificate") if self.looks else None)

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
                grown = count >= self._count_then * 1.1 + 1
                stays = count < FEWEST or not (grown or resting)
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
        """Ratings so far, second ones too."""
        return self.store.assignment.ratings * len(self.store.task.dimensions)

    async def _look(self) -> None:
        """One look at each dimension; what it finds is kept, and what teaches most comes next."""
        results = await _run(self._job())
        latest = self.folder / f"shown-{COMPARED}"
        if (self.folder / COMPARED).exists():
            (self.folder / COMPARED).replace(latest)
        self.files[COMPARED] = latest
        self.commands = commands_of(
            self.store.task, self.estimator, self.files, results
        )
        look = {"n": max(part["n"] for part in results.values()), "dimensions": results}
        look["certificate"] = self.certificate or certificate(self.store.task, results)
        await asyncio.to_thread(self.store.keep_fit, look)
        self.looks.append(look)
        self._certify(look["certificate"])
        active = next(iter(results.values()))["active"]
        await asyncio.wrap_future(self.store.set_active(active))

    def rater_changed(self) -> None:
        """Somebody's link was revoked or made anew: a certificate that rests on them ends."""
        self._certify(self.certificate)
        self.touch(acts=1)

    def _revoked(self) -> list[str]:
        """Raters who have no link now."""
        return [rater.name for rater in self.store.raters() if rater.link < 0]

    def _certify(self, last: Look | None) -> None:
        """Ends the round where it reached what it was to end by; another goal is another round."""
        parts = [*last["dimensions"].values()] if last else []
        raters = set().union(*(part.get("raters", ()) for part in parts))
        holds = last is not None and last["until"] == self.project.until
        revoked = raters & {*self._revoked()}
        self.certificate = last if holds and not revoked else None
        self.store.ended = self.certificate is not None
        self.files.pop(CERTIFICATE, None)
        if self.certificate:
            file = self.folder / CERTIFICATE
            file.write_text(json.dumps(last, indent=1), encoding="utf-8")
            self.files[CERTIFICATE] = file

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
                "revoked": self._revoked(),
            }
        )

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


def commands_of(
    task: Task, estimator: str, files: Iterable[str], look: Look
) -> list[str]:
    """The commands that give the numbers of the systems, from the files on the page."""
    rated = task.ask == "rating"
    words = ["refless", "compare", OUTPUTS if rated else COMPARED]
    for name in files if rated else ():
        words += ["--rated", name] if name not in {OUTPUTS, CERTIFICATE} else []
    options = ["--estimator", estimator] if rated and estimator != "gp" else []
    options += ["--seed", str(task.seed)] if rated and task.seed else []
    several = len(task.dimensions) > 1
    commands = []
    for name in (name for name, part in look.items() if part["systems"]):
        scale = (
            ["--scale", *(f"{end:g}" for end in task.scale_of(name))] if rated else []
        )
        choice = ["--dimension", name] if several else []
        commands.append(shlex.join([*words, *scale, *options, *choice]))
    return commands


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
    """The certificates that ended the round, of each dimension; None if one has none yet."""
    reached = {name: part.get("certificate") for name, part in results.items()}
    if not all(reached.values()):
        return None
    return {
        "until": task.project.until,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "confidence": 0.95,
        "method": "intervals of the items drawn at random that hold together and however often "
        "one looks: asymptotic confidence sequences (Robbins 1970), Bonferroni",
        "dimensions": reached,
    }


async def until(change: asyncio.Event, patience: float, breath: float = BREATH) -> None:
    """Returns after a change, or so many seconds, and not before it has taken breath."""
    await asyncio.sleep(breath)
    with suppress(TimeoutError):
        await asyncio.wait_for(change.wait(), patience)


async def _run(job: bytes) -> Look:
    """A look in a process of its own, which yields to people's requests; or LookFailedError."""
    process: Any = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "refless.extensions.serve.analysis_worker",
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
