"""What is known so far, for the owner's page; the estimator looks at the ratings in a process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from statistics import median
from typing import Any

from refless.nouns import counted
from refless.service.schema import CURRENT_ROWS
from refless.service.store import RATER, Rater, Store

BREATH = 1.0  # seconds between two looks at least


class Live:
    """Tells the owner's pages when something changed, and what there is."""

    def __init__(self, store: Store) -> None:
        self.store, self.ended = store, False
        self._changed = asyncio.Event()

    def touch(self) -> None:
        """Something changed."""
        self._changed.set()

    def end(self) -> None:
        """Lets whoever waits go."""
        self.ended = True
        self._changed.set()

    async def changed(self, patience: float) -> None:
        """Returns when something has changed, or after so many seconds."""
        await asyncio.sleep(BREATH)
        try:
            await asyncio.wait_for(self._changed.wait(), patience)
        except TimeoutError:
            return
        if not self.ended:
            self._changed.clear()

    def found(self) -> dict[str, Any]:
        """What the page shows."""
        rows = self.store.database.read(lambda one: one.execute(CURRENT_ROWS).all())
        rated = [row for row in rows if row.kind != "skipped"]
        items, of = len({row.item for row in rated}), len(self.store.units)
        raters = [self._rater(one, rows) for one in self.store.raters() if one.role == RATER]
        return {
            "state": f"{counted(len(rated), 'rating')} of {items:,} of {of:,} items.",
            "facts": [
                ["items rated", f"{items:,}", f"of {of:,}"],
                ["drawn by lot", f"{self.store.assignment.audited():,}", "rated or skipped"],
                ["raters", str(sum(one["done"] > 0 for one in raters)), f"of {len(raters)} asked"],
            ],
            "said": [],
            "systems": [],
            "curve": [],
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
