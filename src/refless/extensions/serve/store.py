"""Ratings in a database: items, raters and links, what is shown, and every act as an event."""

import json
import random
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import msgspec
import sqlalchemy as sa
from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import Connection, insert, select

from refless.data.records import Outputs
from refless.extensions.serve import schema as sql
from refless.extensions.serve.acts import (
    DECIDER,
    OWNER,
    RATER,
    Conflict,
    Event,
    Rater,
    Refused,
)
from refless.extensions.serve.adjudication import TURN, decided
from refless.extensions.serve.assignment import DONE, OPEN, SKIPPED, Assignment, Pick
from refless.extensions.serve.database import Database
from refless.extensions.serve.result import Task
from refless.extensions.serve.schema import TIE, assigned, fits, items, raters, settings
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.signature import digest_of

FIXED = ("ask", "scale", "scales", "dimensions", "seed")  # which no later run changes
CONSENT = "consent of "  # a rater's number, among the settings
PACED = 50  # latest items of a rater that tell how long one takes
View = dict[str, Any]  # what the page is told
Holds = tuple[
    dict[str, float], bool
]  # ratings by dimension, and whether an item was skipped


class Store:
    """The ratings of one file of outputs."""

    def __init__(
        self, url: str, outputs: Outputs, units: Sequence[tuple[int, ...]], task: Task
    ) -> None:
        self.task = task
        self.project = task.project
        self.outputs = outputs
        self.ended = False  # whether enough is known, and nobody is asked any more
        self.seconds: dict[
            int, deque[float]
        ] = {}  # that each rater took for the latest items
        self._raters: dict[int, Rater] = {}  # what was read of them; empty to read anew
        self._reading = (
            threading.Lock()
        )  # so that what was read before a change is not kept
        self._joining = threading.Lock()
        order = [*range(len(units))]
        random.Random(task.seed).shuffle(order)  # noqa: S311 - a sample, no secret
        self.units = [units[i] for i in order]  # by the audit's order
        self.names = [" / ".join(outputs.ids[i] for i in unit) for unit in self.units]
        self.database = Database(url)
        self._sound = 0  # commits that had failed when the items were read
        try:
            self.secret = self.database.write(self._prepared).result()
            self.assignment = self.database.read(self._assignment)
            self.database.read(self._paced)
            self.consents = self.database.read(self._agreed)
        except BaseException:
            self.database.close()
            raise

    def close(self) -> None:
        """Ends after what waits to be written."""
        self.database.close()

    def raters(self) -> list[Rater]:
        """Everybody who was given a link."""
        columns = [getattr(raters.c, name) for name in Rater.__slots__]
        query = select(*columns).order_by(raters.c.id)
        return self.database.read(lambda db: [Rater(*row) for row in db.execute(query)])

    def rater(self, key: int) -> Rater | None:
        """The rater of a number."""
        with self._reading:
            if key not in self._raters:
                self._raters = {rater.id: rater for rater in self.raters()}
            return self._raters.get(key)

    def add_rater(self, note: str, role: str = RATER) -> Rater:
        """A rater with a pseudonym and a link of their own."""

        def job(db: Connection) -> Rater:
            where = raters.c.name != DECIDER
            number = db.execute(select(sa.func.count()).where(where)).scalar_one()
            return self._added(
                db, OWNER if role == OWNER else f"r{number:02}", note, role
            )

        return self.database.write(job).result()

    def _added(
        self, db: Connection, name: str, note: str = "", role: str = RATER
    ) -> Rater:
        link = 1 + secrets.randbelow(1 << 30)  # a restored database gives out ids again
        row = {
            "name": name,
            "note": note,
            "role": role,
            "link": link,
            "joined": time.time(),
        }
        key = db.execute(insert(raters).returning(raters.c.id), row).scalar_one()
        return Rater(key, name, note, role, link)

    def joined(self, person: str) -> Rater:
        """The rater of a person, whose pseudonym begins the note; made at the first time."""
        start = person.partition(",")[0]
        with self._joining:  # so that two openings at once make no two raters
            by_note = {rater.note.partition(",")[0]: rater for rater in self.raters()}
            return by_note.get(start) or self.add_rater(person)

    def revoke(self, rater: Rater) -> None:
        """Links and sessions of the rater are worth nothing from now on."""
        self._relinked(rater, -abs(rater.link))

    def renew(self, rater: Rater) -> Rater:
        """The rater with a new link, which is valid; those before are not."""
        return self._relinked(rater, abs(rater.link) + 1)

    def _relinked(self, rater: Rater, link: int) -> Rater:
        change = sa.update(raters).where(raters.c.id == rater.id).values(link=link)
        self.database.write(lambda db: db.execute(change).close()).result()
        with self._reading:
            self._raters = {}
        return replace(rater, link=link)

    def next_unit(self, rater: int) -> Future[View]:
        """What the rater is to rate, kept for them for a while; `unit` None where all is done."""
        return self.database.write(
            lambda db: self._guarded(db, lambda: self._next(db, rater))
        )

    def unit_at(self, rater: int, position: int) -> Future[View]:
        """What the rater saw at a place of their order, with what they said of it."""

        def job(db: Connection) -> View:
            where = (assigned.c.rater == rater) & (assigned.c.position == position)
            row = db.execute(select(assigned).where(where)).one_or_none()
            if row is None:
                raise Refused("you were shown nothing there")
            return self._view(db, row)

        return self.database.write(job)

    def save(self, rater: int, event: Event, session: str = "") -> Future[View]:
        """Keeps an event; tells what now holds of its item, and what comes next."""
        return self.database.write(
            lambda db: self._guarded(db, lambda: self._saved(db, rater, event, session))
        )

    def agree(self, rater: int) -> Future[None]:
        """Records that a rater agreed to the text of consent."""
        row = {"name": f"{CONSENT}{rater}", "value": json.dumps(time.time())}

        def job(db: Connection) -> None:
            if rater not in self.consents:
                db.execute(insert(settings), row)
                self.consents.add(rater)

        return self.database.write(job)

    def _agreed(self, db: Connection) -> set[int]:
        names = db.execute(
            select(settings.c.name).where(settings.c.name.startswith(CONSENT))
        )
        return {int(row.name.removeprefix(CONSENT)) for row in names}

    def keep_fit(self, found: Mapping[str, Any]) -> None:
        """Keeps what the ratings were worth at this moment."""
        row = {"at": time.time(), "found": json.dumps(found)}
        self.database.write(lambda db: db.execute(insert(fits), row).close()).result()

    def fits(self) -> list[View]:
        """What was kept of that, in order."""
        query = select(fits.c.found).order_by(fits.c.id)
        return self.database.read(
            lambda db: [json.loads(row[0]) for row in db.execute(query)]
        )

    def set_active(self, places: Sequence[int]) -> Future[None]:
        """Which items teach the estimator most."""
        return self.database.write(
            lambda _: setattr(self.assignment, "active", tuple(places))
        )

    def _guarded(self, db: Connection, run: Any) -> View:  # noqa: ANN401 - a function
        """Runs; after what failed half-way or was not kept, items are first read anew."""
        if self._sound != self.database.lost:
            self.assignment = self._assignment(db)
            self._sound = self.database.lost
        try:
            result: View = run()
        except Refused:
            raise
        except BaseException:
            self._sound = -1
            raise
        return result

    def _prepared(self, db: Connection) -> str:
        """Writes the items and how they are asked about, or checks them; the secret of links."""
        settled = {name: json.dumps(getattr(self.task, name)) for name in FIXED}
        rows = [self._item(place) for place in range(len(self.units))]
        settled["items"] = digest_of(
            [range(len(rows)), [json.dumps(row) for row in rows]]
        )
        stored = {row.name: row.value for row in db.execute(select(settings))}
        if "items" not in stored:
            db.execute(insert(items), rows)
            stored = {**settled, "secret": secrets.token_hex(32)}
            db.execute(
                insert(settings), [{"name": k, "value": v} for k, v in stored.items()]
            )
        remedy = (
            f"name another with {called('database')}, or give what it was made with"
        )
        if settled["items"] != stored["items"]:
            raise UsageError(f"this database is about other outputs; {remedy}")
        for name in FIXED:
            if settled[name] != stored[name]:
                raise UsageError(
                    f"this database was made with {name} {stored[name]}, now it is "
                    f"{settled[name]}; {remedy}"
                )
        project = self.project
        gold = [
            k
            for k, name in enumerate(self.names, 1)
            if name in {g.id for g in project.gold}
        ]
        for name, value in (("adjudicate", project.adjudicate), ("gold", gold)):
            db.execute(
                sa.delete(settings).where(settings.c.name == name)
            )  # a run may change it
            db.execute(insert(settings), {"name": name, "value": json.dumps(value)})
        if project.adjudicate and not self._decider(db):
            self._added(db, DECIDER)
        return str(stored["secret"])

    def _decider(self, db: Connection) -> int | None:
        """The number of the rater who decides, if there is one."""
        query = select(raters.c.id).where(raters.c.name == DECIDER)
        return db.execute(query).scalar()

    def _item(self, place: int) -> View:
        """The row of an item."""
        unit = self.units[place]
        outputs = self.outputs
        systems = outputs.systems or ("",) * len(outputs)
        texts = [{"id": outputs.ids[i], "system": systems[i], "text": outputs.texts[i]}
                 for i in unit]  # fmt: skip
        about = {
            name: getattr(outputs, f"{name}s") for name in ("source", "item", "task")
        }
        shared = {
            name: column[unit[0]] if column else None for name, column in about.items()
        }
        return {
            "id": place + 1,
            "name": self.names[place],
            "texts": json.dumps(texts),
            **shared,
        }

    def _assignment(self, db: Connection) -> Assignment:
        active = self.assignment.active if hasattr(self, "assignment") else ()
        practice, gold = (
            tuple(self.names.index(item.id) for item in self.project.gold
                  if item.practice is first and item.id in self.names)
            for first in (True, False)
        )  # fmt: skip
        sizes = [*map(len, self.units)]
        assignment = Assignment(
            self.task, sizes, active, practice, gold, self._decider(db)
        )
        for row in db.execute(select(assigned).order_by(assigned.c.id)):
            assignment.note(
                row.rater, row.item - 1, row.round, row.state, row.until, row.stream
            )
        if self.project.adjudicate:
            for item in range(1, len(self.units) + 1):
                self._dispute(db, assignment, item)
        return assignment

    def _dispute(self, db: Connection, assignment: Assignment, item: int) -> None:
        """Notes whether raters differ on an item that nobody has decided."""
        place = item - 1
        several = assignment.done[place] > 1 and place not in assignment.standards
        rows = db.execute(sql.OF_ITEM, {"item": item}).all() if several else ()
        differ, verdict = decided(rows, self.project.adjudicate)
        if differ and not verdict:
            assignment.disputed.add(place)
        else:
            assignment.disputed.discard(place)

    def _paced(self, db: Connection) -> None:
        for row in reversed(
            db.execute(sql.LATEST, {"last": self.task.dimensions[-1]}).all()
        ):
            self._took(row.rater, json.loads(row.shown)["latency"])

    def _took(self, rater: int, latency: float) -> None:
        self.seconds.setdefault(rater, deque(maxlen=PACED)).append(latency / 1000)

    def _next(self, db: Connection, rater: int) -> View:
        """What the rater has open; more is picked up to what the project wants ahead."""
        rows: list[tuple[Any, Holds | None]] = []
        if self.assignment.states(rater)[OPEN]:
            where = (assigned.c.rater == rater) & (assigned.c.state == OPEN)
            query = select(assigned).where(where).order_by(assigned.c.position)
            opened = db.execute(query.limit(1 + self.project.ahead))
            rows += [(row, None) for row in opened]
        while len(rows) <= self.project.ahead and not self.ended:
            if (pick := self.assignment.pick(rater, time.time())) is None:
                break
            rows.append((self._assign(db, rater, pick), ({}, False)))
        views = [self._view(db, row, holds) for row, holds in rows]
        first = views[0] if views else {"unit": None, "progress": self._progress(rater)}
        return {**first, "ahead": [view["unit"] for view in views[1:]]}

    def _assign(self, db: Connection, rater: int, pick: Pick) -> Any:  # noqa: ANN401 - a row
        """Records that a rater is shown something."""
        until = time.time() + self.project.lease
        new = {
            "rater": rater, "item": pick.item + 1, "round": pick.round, "until": until,
            "position": self.assignment.shown(rater), "sides": json.dumps(pick.sides),
            "stream": pick.stream, "probability": pick.probability, "state": OPEN,
        }  # fmt: skip
        self.assignment.note(rater, pick.item, pick.round, OPEN, until, pick.stream)
        return db.execute(sql.SHOW, new).one()

    def _signer(self, db: Connection, rater: int) -> URLSafeSerializer:
        """Signs what a rater is shown; a rater of the same number who joined later has another."""
        joined = db.execute(
            select(raters.c.joined).where(raters.c.id == rater)
        ).scalar()
        return URLSafeSerializer(self.secret, salt=f"shown {rater} {joined}")

    def _named(self, db: Connection, rater: int, name: str) -> Any:  # noqa: ANN401 - a row
        """The row of what was shown, by its signed name.

        A database that was restored may know nothing of it, or have it with other sides; the
        rater saw what is signed.
        """
        try:
            pick = Pick(*self._signer(db, rater).loads(name))
        except BadData:
            raise Refused("you were not asked this") from None
        key = {"rater": rater, "item": pick.item + 1, "round": pick.round}
        row = db.execute(sql.NAMED, key).one_or_none()
        if row is None:
            return self._assign(db, rater, pick)
        sides = json.dumps(pick.sides)
        turned = row.sides != sides
        return (
            db.execute(sql.TURNED, {"key": row.id, "now": sides}).one()
            if turned
            else row
        )

    def _saved(self, db: Connection, rater: int, event: Event, session: str) -> View:
        before = db.execute(sql.EVENT, {"uuid": event.uuid}).one_or_none()
        if before is not None and before.rater != rater:
            raise Refused("this event is somebody else's")
        content = digest_of([[msgspec.json.encode(event).decode()]])
        if (
            before is not None
            and json.loads(before.shown).get("content", content) != content
        ):
            raise Conflict("this id was sent before, with other content")
        row = self._about(db, rater, event, before)
        holds = None
        if before is None:
            values = self._checked(db, event, row)
            circumstances = {
                "session": session,
                "latency": event.latency,
                "content": content,
            }
            db.execute(
                sql.ACT,
                {"uuid": event.uuid, "assigned": row.id, "at": time.time(),
                 "shown": json.dumps(circumstances), **values},
            )  # fmt: skip
            row, holds = self._settled(db, row, event)
        answer = self._view(db, row, holds)
        answer["saved"] = event.uuid
        if row.state != OPEN and event.kind != "undone":
            following = self._next(db, rater)
            answer |= {"next": following["unit"], "ahead": following["ahead"]}
        return answer

    def _practised(self, place: int, rated: Iterable[str]) -> View:
        """Which practice item this is, and its right answers to what was `rated`."""
        practice = self.assignment.practice
        if place not in practice:
            return {}
        answers = [
            f"The right answer is {gold.answer:g}. {gold.why}".strip()
            for gold in self.project.gold
            if gold.id == self.names[place]
            and (gold.dimension or next(iter(rated), "")) in rated
        ]
        number = practice.index(place) + 1
        return {
            "practice": f"Practice {number} of {len(practice)}",
            "told": " ".join(answers),
        }

    def _about(self, db: Connection, rater: int, event: Event, before: Any) -> Any:  # noqa: ANN401 - rows
        """What an event is about, which may have been sent `before`."""
        if before is not None:
            return db.execute(sql.SHOWN, {"key": before.assigned}).one()
        undone = event.kind == "undone"
        row = (
            None
            if undone and not event.assigned
            else self._named(db, rater, event.assigned)
        )
        if not undone:
            return row
        last = db.execute(sql.latest_act(rater)).one_or_none()
        if last is None or (row is not None and row.id != last.assigned):
            raise Refused("there is nothing to undo")
        return db.execute(sql.SHOWN, {"key": last.assigned}).one()

    def _checked(self, db: Connection, event: Event, row: Any) -> View:  # noqa: ANN401
        """The columns of an event; raises Refused for a rating that was not offered."""
        reason = event.reason.replace("\0", "")  # which PostgreSQL cannot hold
        plain = {"kind": event.kind, "dimension": "", "value": None, "reason": reason,
                 "undoes": None}  # fmt: skip
        if event.kind == "undone":
            return {**plain, "undoes": db.execute(sql.latest_act(row.rater)).one().uuid}
        if event.kind != "rated":
            return plain
        if event.dimension not in self.task.dimensions:
            raise Refused("there is no such dimension")
        sides = json.loads(row.sides)
        value = event.value
        if self.task.ask == "rating":
            offered: Sequence[float] = self.task.steps_of(event.dimension)
        else:
            offered = [*range(len(sides)), *([TIE] if self.task.ask == "pair" else [])]
        if value not in offered:
            raise Refused(f"the rating must be one of {', '.join(map(str, offered))}")
        if self.task.ask != "rating" and value is not None and value != TIE:
            value = sides[int(value)]
        before = event.dimension in self._values(db, row)[0]
        kind = "changed" if before else "rated"
        return {**plain, "kind": kind, "dimension": event.dimension, "value": value}

    def _settled(self, db: Connection, row: Any, event: Event) -> tuple[Any, Holds]:  # noqa: ANN401
        """What became of the item by the events there are now; its lease begins anew."""
        values, skipped = holds = self._values(db, row)
        complete = len(values) == len(self.task.dimensions)
        state = SKIPPED if skipped else DONE if complete else OPEN
        until = time.time() + self.project.lease
        self.assignment.note(
            row.rater, row.item - 1, row.round, state, until, row.stream
        )
        disputed = (
            row.item - 1 in self.assignment.disputed
        )  # which one rating more does not settle
        if self.project.adjudicate and not (
            disputed and row.state == OPEN and not row.round
        ):
            self._dispute(db, self.assignment, row.item)
        if state == DONE and row.state == OPEN:
            self._took(row.rater, event.latency)
        return db.execute(
            sql.SETTLE, {"key": row.id, "now": state, "then": until}
        ).one(), holds

    def _values(self, db: Connection, row: Any) -> Holds:  # noqa: ANN401
        """What now holds of an item: ratings by dimension as stored, and whether it was skipped."""
        rows = db.execute(sql.HOLDS, {"key": row.id}).all()
        values = {
            entry.dimension: entry.value for entry in rows if entry.kind != "skipped"
        }
        return values, any(entry.kind == "skipped" for entry in rows)

    def _view(self, db: Connection, row: Any, holds: Holds | None = None) -> View:  # noqa: ANN401
        """What the page shows of an item: texts alone, nothing of who wrote or estimated them."""
        values, skipped = holds or self._values(db, row)
        sides = json.loads(row.sides)
        which = self.units[row.item - 1]
        if self.task.ask != "rating":
            values = {
                k: v if v == TIE else sides.index(int(v)) for k, v in values.items()
            }
        chance = row.probability and float(
            row.probability
        )  # SQLite may return 1 for 1.0
        pick = (row.item - 1, row.round, row.stream, chance, sides)
        unit = {
            "assigned": self._signer(db, row.rater).dumps(pick),
            "position": row.position,
            "source": self.outputs.sources[which[0]] if self.outputs.sources else "",
            "texts": [self.outputs.texts[which[side]] for side in sides],
            "values": values,
            "skipped": skipped,
            "open": row.state == OPEN,
            **self._practised(row.item - 1, values),
        }
        if row.round == TURN:
            rows = db.execute(sql.OF_ITEM, {"item": row.item}).all()
            first = [r for r in rows if not r.round and r.kind != "skipped"]
            unit["before"] = {
                name: sorted(r.value for r in first if r.dimension == name)
                for name in self.task.dimensions
            }
        return {"unit": unit, "progress": self._progress(row.rater)}

    def _progress(self, rater: int) -> dict[str, int]:
        states = self.assignment.states(rater)
        skipped = states[SKIPPED]
        return {
            "done": states[DONE] + skipped,
            "skipped": skipped,
            "left": self.left(rater),
        }

    def left(self, rater: int) -> int:
        """Items that this rater may still be shown: none after the end."""
        return 0 if self.ended else self.assignment.left(rater)
