"""What is known so far, for the owner's page; the estimator looks at the ratings in a process."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import sqlalchemy as sa

from refless.nouns import counted
from refless.service.exports import ratings_of, repeats_of, texted
from refless.service.schema import CURRENT_ROWS
from refless.service.store import RATER, Rater, Store

Rows = Sequence[Mapping[str, Any]]
log = logging.getLogger("refless")
COUNT = sa.text("SELECT count(*) FROM current_ratings WHERE kind <> 'skipped'")
FEWEST = 10  # ratings, before which nothing is looked at
PATIENCE = 60.0  # seconds between two looks at most, where something changed
BREATH = 1.0  # seconds between two looks at least


class LookFailedError(Exception):
    """A look's process failed; says by what, and quotes no text."""


class Live:
    """Tells the owner's pages when something changed, and what there is.

    Attributes:
        model: a folder in which the latest fitted estimator lies, if there is one.
    """

    def __init__(
        self, store: Store, estimator: str, rated: Rows = (), model: Path | None = None
    ) -> None:
        self.store, self.estimator, self.rated, self.model = store, estimator, rated, model
        self.ended = False
        self.looks = store.fits()
        self.change = asyncio.Event()  # the next one
        self._seen = 0  # ratings at the last look

    def touch(self) -> None:
        """Something changed."""
        waited, self.change = self.change, asyncio.Event()
        waited.set()

    def end(self) -> None:
        """Lets whoever waits go."""
        self.ended = True
        self.touch()

    async def watch(self) -> None:
        """Looks at the ratings again whenever a tenth more of them are there, until the end."""
        while not self.ended:
            await until(self.change, PATIENCE)
            try:
                count = await asyncio.to_thread(self._count)
                if self.ended or count < FEWEST or count < self._seen * 1.1 + 1:
                    continue
                self._seen = count
                await self._look()
            except Exception as fault:  # noqa: BLE001 - a look that failed is no reason to stop
                why = fault if isinstance(fault, LookFailedError) else type(fault).__name__
                log.warning("the estimator could not look at the ratings: %s", why)
            self.touch()

    def _count(self) -> int:
        return int(self.store.database.read(lambda one: one.execute(COUNT).scalar_one()))

    async def _look(self) -> None:
        """One look at each dimension; what it finds is kept, and what teaches most comes next."""
        found = {}
        for name in self.store.asked.dimensions:
            found[name] = await _run(await asyncio.to_thread(self._job, name))
        look = {"n": max(one["n"] for one in found.values()), "dimensions": found}
        await asyncio.to_thread(self.store.keep_fit, look)
        self.looks.append(look)
        active = next(iter(found.values()))["active"]
        await asyncio.wrap_future(self.store.set_active(active))

    def _job(self, dimension: str) -> bytes:
        """What a look needs to know, as JSON."""
        store, asked = self.store, self.store.asked
        first = dimension == asked.dimensions[0]

        def of(rows: Rows) -> Rows:
            return [row for row in rows if row.get("dimension", dimension) == dimension]

        outputs = [texted(store, i) for unit in store.units for i in unit]
        job = {
            "ask": asked.ask,
            "items": len(store.units),
            "scale": asked.scale,
            "estimator": self.estimator,
            "seed": asked.seed,
            "ratings": of(ratings_of(store)),
            "audit": of(ratings_of(store, audit=True)),
            "repeats": repeats_of(store, dimension),
            "odd": self.looks[-1]["dimensions"][dimension].get("odd") if self.looks else None,
            "rated": [*of(self.rated)],
            "outputs": outputs if asked.ask == "rating" else [],
            "model": str(self.model) if self.model is not None and first else "",
        }
        return json.dumps(job).encode()

    def found(self) -> dict[str, Any]:
        """What the page shows."""
        rows = self.store.database.read(lambda one: one.execute(CURRENT_ROWS).all())
        rated = [row for row in rows if row.kind != "skipped"]
        items, of = len({row.item for row in rated}), len(self.store.units)
        raters = [self._rater(one, rows) for one in self.store.raters() if one.role == RATER]
        look: dict[str, Any] = self.looks[-1] if self.looks else {"n": 0, "dimensions": {}}
        many = len(self.store.asked.dimensions) > 1
        before = f", and {len(self.rated):,} given before" if look["n"] and self.rated else ""
        return {
            "state": f"{counted(len(rated), 'rating')} of {items:,} of {of:,} items; estimates "
            f"from {look['n']:,} ratings{before}.",
            "facts": [
                ["items rated", f"{items:,}", f"of {of:,}"],
                ["drawn by lot", f"{self.store.assignment.audited():,}", "rated or skipped"],
                ["raters", str(sum(one["done"] > 0 for one in raters)), f"of {len(raters)} asked"],
                *(
                    fact
                    for name, one in look["dimensions"].items()
                    for fact in facts_of(one, f"{name}: " if many else "")
                ),
            ],
            "said": [
                f"{name}: {line}" if many else line
                for name, one in look["dimensions"].items()
                for line in one["said"]
            ],
            "systems": [
                {**pair, "second": f"{name}: {pair['second']}" if many else pair["second"]}
                for name, one in look["dimensions"].items()
                for pair in one["systems"]
            ],
            "curve": [point for one in self.looks for point in _point(one)],
            "raters": raters,
        }

    def _rater(self, one: Rater, rows: Sequence[Any]) -> dict[str, Any]:
        """How far a rater is, and how long an item takes them (median)."""
        mine = [row for row in rows if row.rater == one.id]
        times: dict[int, float] = {}
        for row in mine:
            latency = json.loads(row.shown)["latency"] / 1000
            times[row.assigned] = max(latency, times.get(row.assigned, 0.0))
        skipped = sum(row.kind == "skipped" for row in mine)
        return {
            "id": one.id,
            "name": one.name,
            "note": one.note,
            "active": one.link > 0,
            "done": len(times) - skipped,
            "skipped": skipped,
            "pace": round(median(times.values()), 1) if times else None,
        }


async def until(change: asyncio.Event, patience: float, breath: float = BREATH) -> None:
    """Returns after a change, or so many seconds, and not before it has taken breath."""
    await asyncio.sleep(breath)
    with suppress(TimeoutError):
        await asyncio.wait_for(change.wait(), patience)


def facts_of(look: Mapping[str, Any], before: str) -> list[list[str]]:
    """The numbers of a look: name, value, and what to make of it."""
    found = []
    for name, title, more in (
        ("spearman", "held-out agreement", "Spearman of estimates"),
        ("alpha", "raters agree", "Krippendorff's alpha"),
    ):
        if (value := look.get(name)) is not None:
            low, high = look[f"{name}_interval"]
            ends = "" if low is None else f" [{low:.2f}, {high:.2f}]"
            found.append([f"{before}{title}", f"{value:.2f}", f"{more}{ends}"])
    if (covered := look.get("coverage")) is not None:
        found.append([f"{before}with an estimate", f"{covered:.0%}", "of the rated texts"])
    if look.get("repeats"):
        told = f"of {counted(look['repeats'], 'second rating')}"
        found.append([f"{before}the same again", f"{look['same']:.0%}", told])
    return found


def _point(look: Mapping[str, Any]) -> list[list[float]]:
    """The look's place on the curve; nothing where nothing was estimated."""
    one = next(iter(look["dimensions"].values()))
    if one.get("spearman") is None:
        return []
    return [[look["n"], one["spearman"], *one["spearman_interval"]]]


async def _run(job: bytes) -> dict[str, Any]:
    """A look in a process of its own, which yields to people's requests.

    Raises:
        LookFailedError: it failed.
    """
    nice = () if sys.platform == "win32" else ("nice", "-n", "10")
    process = await asyncio.create_subprocess_exec(
        *nice, sys.executable, "-m", "refless.service.looking",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await process.communicate(job)
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        last = (err.decode("utf-8", "replace").strip().split("\n") or [""])[-1]
        raise LookFailedError(last.partition(":")[0])  # what follows may quote a text
    found: dict[str, Any] = json.loads(out)
    return found
