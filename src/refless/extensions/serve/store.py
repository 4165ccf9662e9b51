"""Ratings in a database: raters and links, items that are shown, and every act as an event."""

import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
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
    Event,
    Rater,
    Refused,
    check_repeated,
    rated_value,
)
from refless.extensions.serve.adjudication import TURN, decided, first_ratings
from refless.extensions.serve.assignment import DONE, OPEN, SKIPPED, Assignment, Pick
from refless.extensions.serve.database import Database
from refless.extensions.serve.items import (
    Items,
    retire,
    retired_in,
    settings_in,
    settle,
)
from refless.extensions.serve.result import Task
from refless.extensions.serve.schema import TIE, assigned, fits, raters, settings
from refless.registry.signature import digest_of

CONSENT = "consent of "  # a rater's number, among the settings
PACED = 50  # latest items of a rater that tell how long one takes
View = dict[str, Any]  # of an item, for the page
Holds = tuple[dict[str, float], bool]  # ratings by dimension; whether it was skipped


class Store:
    """The ratings of one file of outputs."""

    def __init__(
        self, url: str, outputs: Outputs, units: Sequence[tuple[int, ...]], task: Task
    ) -> None:
        self.task = task
        self.project = task.project
        self.outputs = outputs
        self.items = Items.shuffled(outputs, units, task)
        self.ended = False  # whether enough is known, and nobody is asked any more
        self.seconds: dict[int, deque[float]] = {}  # for each rater's latest items
        self._raters: dict[int, Rater] = {}  # by number; empty to read anew
        self._reading = threading.Lock()  # rows from before a change are not kept
        self._joining = threading.Lock()
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
            name = OWNER if role == OWNER else f"r{number:02}"
            return self._added(db, name, note, role)

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
        """The next item, reserved for the rater for a while; `unit` is None if all is done."""
        return self.database.write(
            lambda db: self._guarded(db, lambda: self._next(db, rater))
        )

    def unit_at(self, rater: int, position: int) -> Future[View]:
        """The item at a place of a rater's order, with their ratings."""

        def job(db: Connection) -> View:
            where = (assigned.c.rater == rater) & (assigned.c.position == position)
            row = db.execute(select(assigned).where(where)).one_or_none()
            if row is None:
                raise Refused("you were shown nothing there")
            return self._view(db, row)

        return self.database.write(job)

    def save(self, rater: int, event: Event, session: str = "") -> Future[View]:
        """Keeps an event; returns its item as it is now, and the next one."""
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
        agreed = (name for name in settings_in(db) if name.startswith(CONSENT))
        return {int(name.removeprefix(CONSENT)) for name in agreed}

    def keep_fit(self, fit: Mapping[str, Any], dropped: Collection[str] = ()) -> None:
        """Keeps the results of a look at the ratings, and asks no more about dropped systems."""
        row = {"at": time.time(), "found": json.dumps(fit)}

        def job(db: Connection) -> None:
            db.execute(insert(fits), row)
            if retire(db, dropped):
                self.assignment = self._assignment(db)

        self.database.write(job).result()

    def put_back(self, system: str) -> None:
        """Asks about a dropped system again, whatever later looks show."""

        def job(db: Connection) -> None:
            retire(db, self.retired, system)
            self.assignment = self._assignment(db)

        self.database.write(job).result()

    def fits(self) -> list[View]:
        """The results of all looks, in order."""
        query = select(fits.c.found).order_by(fits.c.id)
        return self.database.read(
            lambda db: [json.loads(row[0]) for row in db.execute(query)]
        )

    def set_active(self, places: Sequence[int]) -> Future[None]:
        """Sets the places of the items that teach the estimator most."""
        return self.database.write(
            lambda _: setattr(self.assignment, "active", tuple(places))
        )

    def _guarded(self, db: Connection, run: Any) -> View:  # noqa: ANN401 - a function
        """Runs; if a run failed half-way or was not kept, items are first read anew."""
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
        """The secret of links; the database then has the items, and who decides."""
        secret = settle(db, self.items, self.task)
        if self.project.adjudicate and not self._decider(db):
            self._added(db, DECIDER)
        return secret

    def _decider(self, db: Connection) -> int | None:
        """The number of the rater who decides, if there is one."""
        return db.scalar(select(raters.c.id).where(raters.c.name == DECIDER))

    def _assignment(self, db: Connection) -> Assignment:
        active = self.assignment.active if hasattr(self, "assignment") else ()
        gold = self.project.gold
        self.retired = frozenset(retired_in(db))  # systems that were dropped
        assignment = Assignment(
            self.task,
            [len(unit) for unit in self.items.units],
            active,
            practice=self.items.places(item.id for item in gold if item.practice),
            gold=self.items.places(item.id for item in gold if not item.practice),
            decider=self._decider(db),
            retired=self.items.places_of_systems(self.retired),
            blocks=self.items.blocks,
        )
        for row in db.execute(select(assigned).order_by(assigned.c.id)):
            assignment.note(
                row.rater, row.item - 1, row.round, row.state, row.until, row.stream
            )
        if self.project.adjudicate:
            for place in range(len(self.items)):
                self._dispute(db, assignment, place)
        return assignment

    def _dispute(self, db: Connection, assignment: Assignment, place: int) -> None:
        """Notes whether raters differ on an item that nobody has decided."""
        several = assignment.done[place] > 1 and place not in assignment.standards
        rows = db.execute(sql.OF_ITEM, {"item": place + 1}).all() if several else ()
        differ, verdict = decided(rows, self.project.adjudicate)
        if differ and not verdict:
            assignment.disputed.add(place)
        else:
            assignment.disputed.discard(place)

    def _paced(self, db: Connection) -> None:
        rows = db.execute(sql.LATEST, {"last": self.task.dimensions[-1]}).all()
        for row in reversed(rows):
            self._took(row.rater, json.loads(row.shown)["latency"])

    def _took(self, rater: int, latency: float) -> None:
        self.seconds.setdefault(rater, deque(maxlen=PACED)).append(latency / 1000)

    def _next(self, db: Connection, rater: int) -> View:
        """The item that a rater has open, and as many ahead of it as the project wants."""
        rows: list[tuple[Any, Holds | None]] = []
        if self.assignment.states(rater)[OPEN]:
            where = (assigned.c.rater == rater) & (assigned.c.state == OPEN)
            query = select(assigned).where(where).order_by(assigned.c.position)
            retired = self.assignment.retired
            opened = [row for row in db.execute(query) if row.item - 1 not in retired]
            rows += [(row, None) for row in opened[: 1 + self.project.ahead]]
        while len(rows) <= self.project.ahead and not self.ended:
            pick = self.assignment.pick(rater, time.time())
            if pick is None:
                break
            row = self._assign(db, rater, pick)
            rows.append((row, ({}, False)))
        views = [self._view(db, row, holds) for row, holds in rows]
        first = views[0] if views else {"unit": None, "progress": self._progress(rater)}
        return {**first, "ahead": [view["unit"] for view in views[1:]]}

    def _assign(self, db: Connection, rater: int, pick: Pick) -> Any:  # noqa: ANN401 - a row
        """Records that a rater is shown something."""
        until = time.time() + self.project.lease
        new = {
            "rater": rater,
            "item": pick.item + 1,
            "round": pick.round,
            "position": self.assignment.shown(rater),
            "sides": json.dumps(pick.sides),
            "stream": pick.stream,
            "probability": pick.probability,
            "until": until,
            "state": OPEN,
        }
        self.assignment.note(rater, pick.item, pick.round, OPEN, until, pick.stream)
        return db.execute(sql.SHOW, new).one()

    def _signer(self, db: Connection, rater: int) -> URLSafeSerializer:
        """Signs what a rater is shown; a rater of the same number who joined later has another."""
        query = select(raters.c.joined).where(raters.c.id == rater)
        joined = db.execute(query).scalar()
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
        if row.sides == sides:
            return row
        return db.execute(sql.TURNED, {"key": row.id, "now": sides}).one()

    def _saved(self, db: Connection, rater: int, event: Event, session: str) -> View:
        before = db.execute(sql.EVENT, {"uuid": event.uuid}).one_or_none()
        content = digest_of([[msgspec.json.encode(event).decode()]])
        check_repeated(before, rater, content)
        row = self._about(db, rater, event, before)
        holds = None
        if before is None:
            circumstances = {
                "session": session,
                "latency": event.latency,
                "content": content,
            }
            new = {
                "uuid": event.uuid,
                "assigned": row.id,
                "at": time.time(),
                "shown": json.dumps(circumstances),
            }
            db.execute(sql.ACT, new | self._checked(db, event, row))
            row, holds = self._settled(db, row, event)
        answer = self._view(db, row, holds)
        answer["saved"] = event.uuid
        if row.state != OPEN and event.kind != "undone":
            following = self._next(db, rater)
            answer |= {"next": following["unit"], "ahead": following["ahead"]}
        return answer

    def _practised(self, place: int, rated: Iterable[str]) -> View:
        """The number of a practice item, and its right answers to the dimensions `rated`."""
        practice = self.assignment.practice
        if place not in practice:
            return {}
        first = next(iter(rated), "")
        answers = []
        for gold in self.project.gold:
            dimension = gold.dimension or first
            if gold.id == self.items.names[place] and dimension in rated:
                answer = f"The right answer is {gold.answer:g}. {gold.why}"
                answers.append(answer.strip())
        number = practice.index(place) + 1
        name = f"Practice {number} of {len(practice)}"
        return {"practice": name, "told": " ".join(answers)}

    def _about(self, db: Connection, rater: int, event: Event, before: Any) -> Any:  # noqa: ANN401 - rows
        """The row of the item that an event is about; it may have been sent `before`."""
        if before is not None:
            return db.execute(sql.SHOWN, {"key": before.assigned}).one()
        undone = event.kind == "undone"
        row = None
        if event.assigned or not undone:
            row = self._named(db, rater, event.assigned)
        if not undone:
            return row
        last = db.execute(sql.latest_act(rater)).one_or_none()
        if last is None or (row is not None and row.id != last.assigned):
            raise Refused("there is nothing to undo")
        return db.execute(sql.SHOWN, {"key": last.assigned}).one()

    def _checked(self, db: Connection, event: Event, row: Any) -> View:  # noqa: ANN401
        """The columns of an event; raises Refused for a rating that was not offered."""
        reason = event.reason.replace("\0", "")  # which PostgreSQL cannot hold
        plain = {"kind": event.kind, "dimension": "", "reason": reason}
        if event.kind == "undone":
            last = db.execute(sql.latest_act(row.rater)).one()
            return plain | {"undoes": last.uuid}
        if event.kind != "rated":
            return plain
        if event.dimension not in self.task.dimensions:
            raise Refused("there is no such dimension")
        values, _ = self._values(db, row)
        kind = "changed" if event.dimension in values else "rated"
        value = rated_value(event, self.task, json.loads(row.sides))
        return plain | {"kind": kind, "dimension": event.dimension, "value": value}

    def _settled(self, db: Connection, row: Any, event: Event) -> tuple[Any, Holds]:  # noqa: ANN401
        """The row of an item after an event, and its ratings; its lease begins anew."""
        holds = self._values(db, row)
        state = self._state(holds)
        until = time.time() + self.project.lease
        place = row.item - 1
        self.assignment.note(row.rater, place, row.round, state, until, row.stream)
        disputed = place in self.assignment.disputed
        first_rating = row.state == OPEN and not row.round  # which settles no dispute
        if self.project.adjudicate and not (disputed and first_rating):
            self._dispute(db, self.assignment, place)
        if state == DONE and row.state == OPEN:
            self._took(row.rater, event.latency)
        change = {"key": row.id, "now": state, "then": until}
        return db.execute(sql.SETTLE, change).one(), holds

    def _state(self, holds: Holds) -> str:
        values, skipped = holds
        if skipped:
            return SKIPPED
        return DONE if len(values) == len(self.task.dimensions) else OPEN

    def _values(self, db: Connection, row: Any) -> Holds:  # noqa: ANN401
        """The current ratings of an item by dimension, as stored, and whether it was skipped."""
        rows = db.execute(sql.HOLDS, {"key": row.id}).all()
        values = {act.dimension: act.value for act in rows if act.kind != "skipped"}
        return values, any(act.kind == "skipped" for act in rows)

    def _view(self, db: Connection, row: Any, holds: Holds | None = None) -> View:  # noqa: ANN401
        """An item as the page shows it: texts alone, without who wrote or estimated them."""
        values, skipped = holds or self._values(db, row)
        sides = json.loads(row.sides)
        place = row.item - 1
        texts = self.items.units[place]
        sources = self.outputs.sources
        if self.task.ask != "rating":
            values = {
                name: value if value == TIE else sides.index(int(value))
                for name, value in values.items()
            }
        # SQLite may return 1 for 1.0
        chance = row.probability and float(row.probability)
        pick = (place, row.round, row.stream, chance, sides)
        unit = {
            "assigned": self._signer(db, row.rater).dumps(pick),
            "position": row.position,
            "source": sources[texts[0]] if sources else "",
            "texts": [self.outputs.texts[texts[side]] for side in sides],
            "values": values,
            "skipped": skipped,
            "open": row.state == OPEN,
        }
        unit |= self._practised(place, values)
        if row.round == TURN:
            rows = db.execute(sql.OF_ITEM, {"item": row.item})
            unit["before"] = first_ratings(rows, self.task.dimensions)
        return {"unit": unit, "progress": self._progress(row.rater)}

    def _progress(self, rater: int) -> dict[str, int]:
        states = self.assignment.states(rater)
        skipped = states[SKIPPED]
        done = states[DONE] + skipped
        return {"done": done, "skipped": skipped, "left": self.left(rater)}

    def left(self, rater: int) -> int:
        """Items that this rater may still be shown: none after the end."""
        return 0 if self.ended else self.assignment.left(rater)
