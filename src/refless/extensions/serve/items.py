"""The items of a round: texts that are shown together, and how the database keeps them."""

import json
import random
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, insert, select

from refless.data.records import Outputs, picked
from refless.extensions.serve.result import Task
from refless.extensions.serve.schema import items, settings
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.signature import digest_of

RETIRED = "retired"  # settings: systems that were dropped, and those put back
KEPT = "kept"
FIXED = ("ask", "scale", "scales", "dimensions", "seed")  # which no later run changes


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Items in the audit's order, which is random.

    Attributes:
        outputs: the texts of all items.
        units: [n] rows of an item's texts: one, two of a pair, or several to choose from.
        names: [n] the ids of these texts.
        blocks: [n] number of what each text answers, if systems are compared by it; else ().
    """

    outputs: Outputs
    units: Sequence[tuple[int, ...]]
    names: Sequence[str]
    blocks: Sequence[int] = ()

    @classmethod
    def shuffled(
        cls, outputs: Outputs, units: Sequence[tuple[int, ...]], task: Task
    ) -> "Items":
        """Items in an order that the seed determines; answers of several systems go by item."""
        order = [*range(len(units))]
        random.Random(task.seed).shuffle(order)  # noqa: S311 - a sample, no secret
        several = task.ask == "rating" and len({*outputs.systems}) > 1
        blocks: tuple[int, ...] = ()
        if task.project.looks or several:
            labels = outputs.items or outputs.sources or outputs.ids
            places: dict[str, int] = {}
            for i in order:
                places.setdefault(labels[units[i][0]], len(places))
            order.sort(key=lambda i: places[labels[units[i][0]]])
            blocks = tuple(places[labels[units[i][0]]] for i in order)
        shuffled = [units[i] for i in order]
        names = [" / ".join(picked(outputs.ids, unit)) for unit in shuffled]
        return cls(outputs, shuffled, names, blocks)

    def __len__(self) -> int:
        return len(self.units)

    def row(self, place: int) -> dict[str, Any]:
        """The row of an item in the database."""
        unit = self.units[place]
        first = unit[0]
        texts = [self._text(i) for i in unit]
        row = {
            "id": place + 1,
            "name": self.names[place],
            "texts": json.dumps(texts),
        }
        for name in ("source", "item", "task"):
            values = getattr(self.outputs, f"{name}s")
            row[name] = values[first] if values else None
        return row

    def _text(self, i: int) -> dict[str, str]:
        systems = self.outputs.systems
        return {
            "id": self.outputs.ids[i],
            "system": systems[i] if systems else "",
            "text": self.outputs.texts[i],
        }

    def places_of_systems(self, names: Collection[str]) -> frozenset[int]:
        """The places of texts that these systems wrote."""
        systems = self.outputs.systems
        return frozenset(
            place
            for place, unit in enumerate(self.units)
            if names and systems[unit[0]] in names
        )

    def places(self, names: Iterable[str]) -> tuple[int, ...]:
        """The places of items that are among these, in the order of their names."""
        return tuple(self.names.index(name) for name in names if name in self.names)


def settle(db: Connection, round_items: Items, task: Task) -> str:
    """The secret of links; writes the items and how raters are asked, or checks them.

    Raises:
        UsageError: the database is about other outputs, or was made with other settings.
    """
    rows = [round_items.row(place) for place in range(len(round_items))]
    contents = [json.dumps(row) for row in rows]
    settled = {name: json.dumps(getattr(task, name)) for name in FIXED}
    settled["items"] = digest_of([range(len(rows)), contents])
    settled["plan"] = task.project.plan
    stored = settings_in(db)
    if "items" not in stored:
        stored = settled | {"secret": secrets.token_hex(32)}
        db.execute(insert(items), rows)
        for name, value in stored.items():
            _write(db, name, value)
    _check_settings(settled, stored)
    places = round_items.places(gold.id for gold in task.project.gold)
    gold = sorted({place + 1 for place in places})
    chosen = {"adjudicate": task.project.adjudicate, "gold": gold}
    for name, choice in chosen.items():
        keep_setting(db, name, json.dumps(choice))  # a run may change it
    return str(stored["secret"])


def settings_in(db: Connection) -> dict[str, str]:
    """The settings of a database: what raters are asked, the secret, who agreed."""
    return {row.name: row.value for row in db.execute(select(settings))}


def _write(db: Connection, name: str, value: str) -> None:
    db.execute(insert(settings), {"name": name, "value": value})


def keep_setting(db: Connection, name: str, value: str) -> None:
    """Writes a setting in the place of an earlier one."""
    db.execute(sa.delete(settings).where(settings.c.name == name))
    _write(db, name, value)


def retired_in(db: Connection) -> list[str]:
    """The systems that were dropped, and that nobody is asked about."""
    return _systems(db, RETIRED)


def kept_in(db: Connection) -> list[str]:
    """The systems that were put back, whatever later looks show."""
    return _systems(db, KEPT)


def retire(db: Connection, dropped: Collection[str], back: str = "") -> bool:
    """Whether other systems are retired now: those dropped, but for all that were put back.

    Args:
        dropped: systems; back: another one that is put back, if any.
    """
    kept = {*kept_in(db), back} - {""}
    retired = sorted({*dropped} - kept)
    if retired == retired_in(db):
        return False
    keep_setting(db, KEPT, json.dumps(sorted(kept)))
    keep_setting(db, RETIRED, json.dumps(retired))
    return True


def _systems(db: Connection, name: str) -> list[str]:
    """The systems that a setting lists; none if it was never written."""
    names: list[str] = json.loads(settings_in(db).get(name, "[]"))
    return names


def _check_settings(settled: Mapping[str, str], stored: Mapping[str, str]) -> None:
    """Raises UsageError if a database was made for other outputs, or with other settings."""
    remedy = f"name another with {called('database')}, or give what it was made with"
    plan = stored.get("plan", "")
    if settled["plan"] != plan:
        raise UsageError(
            f"this database was made with {plan or 'no looks planned'}, now it is "
            f"{settled['plan'] or 'no looks planned'}; {remedy}"
        )
    if settled["items"] != stored["items"]:
        raise UsageError(f"this database is about other outputs; {remedy}")
    for name in FIXED:
        if settled[name] != stored[name]:
            raise UsageError(
                f"this database was made with {name} {stored[name]}, now it is "
                f"{settled[name]}; {remedy}"
            )
